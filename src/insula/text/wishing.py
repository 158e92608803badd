"""The wishes in a message on how the user wants to be answered: told from their own plain words, without a model.

Three things are asked of a sentence: what of the manner of an answer it speaks of (`slots`), how it wishes (bids,
prefers, cannot read the other, is tired of it), and for how long. What is said of somebody else, quoted, supposed,
asked or mocked is no wish; what belongs to the one task at hand is one for now. The phrases stand in `wishing.json`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from insula.text.analysis import LANGUAGES, Analysis, analyse
from insula.text.force import (
    PIECE,
    Force,
    Sentence,
    bids,
    creates,
    force_of,
    is_none,
    is_of_a_thing,
    is_once,
    is_short,
    of_something_else,
    read,
)
from insula.text.grammar import UNSPACED
from insula.text.pasted import own_words
from insula.text.slots import Slot, says, slots

WORDS_CHARS = 160
"""Characters of a wish."""
SURE, SURER = 0.6, 0.95
"""Chances from which the meaning of a sentence makes a wish of it that its words do not; see `_needed`."""
UNLIKELY = 0.02
"""Chance below which its words alone make no standing wish."""
_LETTERS, _FEWEST = 4, 3
"""Letters of a part whose meaning is asked for, and words of one that names nothing of an answer."""
_FEW = 4
"""Words of a message that tell no language: then it is read in all."""
_BRIEF = 6
"""Words of a message whose language is rather that of the talk than what it seems."""
_OPENED = re.compile(r"(?<=:)(?:\s+|(?=[\"“„«「『‘]))|(?<=：)")
_COLONS, _QUOTES = (":", "："), ('"', "“", "„", "«", "»", "「", "『", "‘")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)


class Wish(NamedTuple):
    """What a person wants of the manner of answers."""

    words: str
    """As they said it."""
    slots: tuple[Slot, ...]
    """Empty where it is of something else."""
    force: Force
    lifts: bool = False
    """Whether it takes back what was wished before."""
    about: str = ""
    """What it holds for; empty: for everything."""


def parts(message: str, default: str = "en") -> tuple[str, ...]:
    """The parts of a message that may each be a wish; none where it may not be the user's own plain words."""
    own = own_words(message)
    found = _parts(analyse(own, default=default)) if own else ()
    return tuple(part for part in found if sum(map(str.isalpha, part)) >= _LETTERS)


def _parts(analysis: Analysis) -> Iterator[str]:
    for sentence in analysis.sentences:
        yield from (part.strip() for part in _OPENED.split(sentence.text) if part.strip())


@lru_cache(maxsize=512)
def wishes(
    message: str,
    default: str = "en",
    previous: str = "",
    response: str = "",
    meant: tuple[tuple[str, float], ...] = (),
) -> tuple[Wish, ...]:
    """What a message wishes of the manner of answers; nothing where it may not be the user's own plain words.

    Args:
        message: the user's.
        default: the language where the message is too short to tell.
        previous: the user's message before it; what it asked for may be what is wished otherwise.
        response: what came back.
        meant: of its parts, by their meaning, the chance that each is a standing wish; empty without an embedding.
    """
    own = own_words(message)
    if not own:
        return ()
    if any(says("forget_told", language).fullmatch(own.strip(" .!。！")) for language in LANGUAGES):
        return (Wish(own, (), "pointing", True),)
    analysis = analyse(own, default=default)
    words = len(own.split())
    sure = (default, analysis.language) if words <= _BRIEF else (analysis.language, default)
    told = [language for language in sure if language in LANGUAGES] or ["en"]
    brief = LANGUAGES if words <= _FEW else ()
    heard = (_heard(analysis, language, previous, response, dict(meant)) for language in dict.fromkeys((*told, *brief)))
    return next(filter(None, heard), ())


def unsettled(message: str, default: str = "en") -> tuple[Wish, ...]:
    """What the words of a message may wish, or take back, and leave open: each part that speaks of answers, and that
    its words neither take for a wish nor forbid to be one."""
    own = own_words(message)
    analysis = analyse(own, default=default)
    language = analysis.language if analysis.language in LANGUAGES else default
    said = [read(part, language) for part in _parts(analysis)] if own and language in LANGUAGES else []
    if any(one.says("sarcasm") for one in said):
        return ()
    heard = [one.words for one in wishes(message, default) if one.force != "weak"]
    open_ = (one for one in said if not any(one.text.strip() in words or words in one.text for words in heard))
    return tuple(_open(one) for one in open_ if _is_open(one))


def _is_open(one: Sentence) -> bool:
    """Whether a sentence speaks of answers, or takes something back, of no one text and of nobody else."""
    speaks = bool(one.slots) or one.any("lift", "stop", "dismiss", "name")
    return speaks and len(one.text) <= WORDS_CHARS and not (is_none(one) or is_once(one))


def _open(one: Sentence) -> Wish:
    return Wish(_bounded(one), one.slots, "weak", one.says("lift"), _about(one))


def _heard(
    analysis: Analysis, language: str, previous: str, response: str, meant: Mapping[str, float]
) -> tuple[Wish, ...]:
    """The wishes in a message, read in one language."""
    said_as = tuple(_parts(analysis))
    said = [read(part, language) for part in said_as]
    if any(one.says("sarcasm") for one in said):
        return ()
    found: list[Wish] = []
    for place, one in enumerate(said):
        before = said[place - 1] if place else None
        if found and before and _goes_on(one, before, found[-1]):
            found[-1] = found[-1]._replace(
                words=f"{found[-1].words} {one.text.strip()}", slots=found[-1].slots + one.slots
            )
        else:
            wish = _wish(one, analysis, previous) or _referring(one, before, response)
            chance = meant.get(said_as[place])
            wish = wish if chance is None else _by_meaning(one, wish, chance, previous)
            if wish := _under(before, one, wish):
                found.append(wish)
    return tuple(found)


def _under(head: Sentence | None, one: Sentence, wish: Wish | None) -> Wish | None:
    """A wish as what stands before a colon limits it: to one text ("Only for the poster: …"), or to who is quoted."""
    if wish is None or head is None or not head.text.endswith(_COLONS):
        return wish
    if one.text.startswith(_QUOTES) and not (bids(head) or head.any("target", "name", "modal", "want")):
        return None
    return wish._replace(force="once") if is_once(head) else wish


def _by_meaning(one: Sentence, wish: Wish | None, chance: float, previous: str) -> Wish | None:
    """What a sentence wishes by its words, with what its meaning says of it where that is sure."""
    if wish is not None and wish.force == "asked" and chance < UNLIKELY and not is_short(one):
        return None
    if wish is not None and wish.force == "standing":
        plain = one.any("general", "name") or (one.says("prefer") and one.says("target"))
        kept = chance >= UNLIKELY or is_short(one) or plain
        return wish if kept else wish._replace(force="asked") if one.slots else None
    if chance < _needed(one, wish) or (wish is not None and (wish.lifts or wish.force == "pointing")):
        return wish
    if one.says("creates") and not one.any("general", "target"):
        return wish
    if not one.slots and (one.says("others") or _is_bare(one) or not _is_of_answers(one)):
        return wish
    for_now = is_once(one) or bool(previous and creates(previous, one.language))
    if for_now or is_none(one) or one.says("lift") or is_of_a_thing(one):
        return wish
    return Wish(_bounded(one), one.slots, "standing", about=_about(one))


def _is_bare(one: Sentence) -> bool:
    """Whether a sentence is too short to wish anything that its words do not name."""
    return len(one.text) < _LETTERS if one.language in UNSPACED else len(one.text.split()) < _FEWEST


def _is_of_answers(one: Sentence) -> bool:
    """Whether a sentence that names nothing of an answer speaks of answers at all, of a habit, or of being called."""
    return one.any("target", "general", "stop", "name", "refer")


def _needed(one: Sentence, wish: Wish | None) -> float:
    """How sure its meaning must be: more where the words are of a liking, of no slot, or of something else to do."""
    doubtful = not one.slots or one.any("prefer", "hate", "only") or (wish is not None and wish.force == "once")
    return SURER if doubtful else SURE


def _goes_on(one: Sentence, before: Sentence, wish: Wish) -> bool:
    """Whether a sentence says more of what the one before it wished ("Stop giving me lists. I want paragraphs.")."""
    names = {slot.name for slot in wish.slots} & {slot.name for slot in before.slots}
    more = any(slot.name in names for slot in one.slots) and wish.force == "standing"
    fits = len(wish.words) + len(one.text) < WORDS_CHARS
    return more and fits and not (wish.lifts or one.any("once", "lift")) and not is_none(one)


def _wish(one: Sentence, analysis: Analysis, previous: str) -> Wish | None:
    if is_none(one):
        return None
    lifts = one.says("lift")
    force = force_of(one, analysis, previous) if one.slots else of_something_else(one, previous)
    if force is None and not (lifts or one.says("limits")):
        return None
    return Wish(_bounded(one), one.slots, force or "weak", lifts, _about(one))


# What a sentence wishes that speaks of no slot, or points at another one.


def _referring(one: Sentence, before: Sentence | None, response: str) -> Wish | None:
    """A sentence that makes standing what the one before it, or the response, was like ("Always do that")."""
    if one.slots or not one.says("refer") or one.any("once", "hypothetical", "others", "lift"):
        return None
    if not (one.says("general") or (before and before.any("prefer", "only") and one.any("modal", "want"))):
        return None
    if before and (before.slots or before.any("prefer", "only", "hate")):
        if before.any("others", "hypothetical"):
            return None
        return Wish(f"{before.text} {one.text}"[:WORDS_CHARS], before.slots, "standing")
    if len(_BULLET.findall(response)) > 1 and (layout := slots("bullet points", "en")):
        return Wish(f"{one.text} (bullet points)"[:WORDS_CHARS], layout, "standing")
    return None


def _about(one: Sentence) -> str:
    """What a wish is limited to ("when I ask about recipes"); nothing where it is of answers in general."""
    match = says("topic", one.language).search(one.text)
    return next((word for word in match.groupdict().values() if word), "").strip() if match else ""


def _bounded(one: Sentence) -> str:
    """The sentence, or the parts of it around its slots where it is too long."""
    text = one.text.strip()
    if len(text) <= WORDS_CHARS:
        return text
    start = min((slot.start for slot in one.slots), default=0)
    edges = [0, *(match.end() for match in PIECE.finditer(text, 0, start))]
    return text[edges[-1] :].strip()[:WORDS_CHARS]
