"""What the words of each part of a message show of whether it wishes anything, as numbers beside its meaning.

The patterns are those of `wishing.json`; what they weigh is fitted with the heads on the embedding, not decided here.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from insula.text.analysis import LANGUAGES, Analysis, analyse, detect
from insula.text.force import PIECE, Sentence, bids, creates, is_none, is_of_a_thing, is_once, is_short, read
from insula.text.grammar import UNSPACED
from insula.text.pasted import own_words
from insula.text.questions import asks
from insula.text.slots import OF_TEXT, says, slots
from insula.text.wishes import likeness
from insula.text.wishing import told_apart

SAID = (
    "general", "target", "prefer", "want", "hate", "only", "stop", "dont", "name", "directive", "modal", "once",
    "others", "refer", "lift", "sarcasm", "hypothetical", "creates", "negative", "negative_after", "turn",
    "forget_told", "tag", "limits", "topic", "own", "dismiss", "reported", "clause", "measured", "things", "limit",
    "why", "we",
)  # fmt: skip
"""Phrases of `wishing.json` that a part may hold."""
TURNS = ("lift", "limits", "turn", "dismiss", "general", "prefer", "want", "once", "others", "limit")
"""Those that tell what it makes of a wish that stands."""
FEWEST = 4
"""Letters of a part that is looked at."""
_MEASURES = frozenset({"temperature", "system", "clock", "emoji", "spelling", "formality"})
_LASTING = frozenset({"language", "code"})
_NAMED = OF_TEXT | {"code", "tool"}
_BRIEF, _LONG, _TENTH = 6, 30, 10
_QUOTE = re.compile('["“„«「『»”]')
_COLON = re.compile(r"[:：]\Z")
_ASKED = re.compile("[?？]")
_NUMBER = re.compile(r"\d+")


class Part(NamedTuple):
    """A part of a message, the language that it was read in, and what its words show."""

    text: str
    language: str
    marks: tuple[float, ...]


def marked(message: str, default: str = "en") -> tuple[Part, ...]:
    """The parts of a message that may each be a wish; none where it may not be the user's own plain words."""
    own = own_words(message)
    if not own:
        return ()
    analysis = analyse(own, default=default)
    long = len(own.split()) > _BRIEF or analysis.language in UNSPACED
    language = analysis.language if analysis.language in LANGUAGES and (long or default not in LANGUAGES) else default
    if language not in LANGUAGES:
        return ()
    texts = told_apart(analysis)
    said = [read(text, language) for text in texts]
    of_all = (any(one.says("sarcasm") for one in said), any(one.says("creates") for one in said))
    places = (place for place, text in enumerate(texts) if sum(map(str.isalpha, text)) >= FEWEST)
    return tuple(
        Part(texts[place], language, (*_shown(said[place], analysis), *map(float, of_all), *_placed(texts, place)))
        for place in places
    )


def _shown(one: Sentence, analysis: Analysis) -> tuple[float, ...]:
    names = {slot.name for slot in one.slots}
    beside = any(ask.text.replace("’", "'") not in one.text and one.text not in ask.text for ask in asks(analysis))
    shown = (
        *(one.says(what) for what in SAID),
        bids(one),
        is_none(one),
        is_once(one),
        is_short(one),
        bool(one.slots),
        any(not slot.affirmed or slot.value != slot.said or slot.value == "off" for slot in one.slots),
        any(slot.detail for slot in one.slots),
        "name" in names,
        bool(names & _MEASURES),
        bool(names & _LASTING),
        bool(one.slots) and is_of_a_thing(one),
        creates(one.text, one.language),
        beside,
    )
    return tuple(map(float, shown))


def _placed(texts: Sequence[str], place: int) -> tuple[float, ...]:
    """How a part is written, and where in its message it stands."""
    text = texts[place]
    placed = (
        _ASKED.search(text) is not None,
        _QUOTE.search(text) is not None,
        _COLON.search(text) is not None,
        place > 0 and _COLON.search(texts[place - 1]) is not None,
        len(texts) > 1,
        place > 0,
        place == len(texts) - 1,
        min(len(text.split()), _LONG) / _TENTH,
        _NUMBER.search(text) is not None,
        text.endswith("!"),
        len(PIECE.split(text)) > 1,
    )
    return tuple(map(float, placed))


class Between(NamedTuple):
    """What the words of a new sentence and of a wish that stands show of what the one makes of the other."""

    plain: tuple[float, ...]
    of_one_slot: tuple[float, ...]
    """What tells only where both are of one slot."""
    holds: bool
    """Whether the new one holds the name, or the tool, of the old one."""


def between(new: str, language: str, standing: str) -> Between:
    """What the words show of a new sentence, in its language, and of a wish that stands."""
    shared, opposed = likeness(new, standing)
    told = detect(standing, language)
    turned = (_turned(new, language), _turned(standing, told if told in LANGUAGES else language))
    number = bool(set(_NUMBER.findall(new)) - set(_NUMBER.findall(standing)))
    found = [says(what, language).search(new) is not None for what in TURNS]
    own = [slot.said for slot in slots(standing) if slot.name in _NAMED]
    asked = bool(_ASKED.search(new))
    length = (min(len(new), 200) / 100, min(len(new) / (len(standing) + 1), 9) / 3)
    other = turned[0] != turned[1]
    return Between(
        tuple(map(float, (shared, opposed, *turned, other, *found, number, asked, *length))),
        tuple(map(float, (found[0], found[1], other, shared, number))),
        any(name and name in new.casefold() for name in own),
    )


def _turned(text: str, language: str) -> bool:
    return any(says(what, language).search(text) for what in ("negative", "stop"))
