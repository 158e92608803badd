"""What a message asks of the manner of answers: told from its user's own plain words, without a model.

A standing preference is a sentence that says so, by a word such as "always" on what it bids or likes, or by how its
writer wants to be called or spoken to (`force.force_of`). A request without such a word is one of the moment, which
stands if it is made again in another session. What is said of somebody else, quoted, supposed, asked or mocked is
none, nor is anything in a message that gives the assistant a role to play. The phrases stand in `wishing.json`.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from insula.text.analysis import LANGUAGES, Analysis, analyse
from insula.text.force import (
    PIECE,
    Force,
    Sentence,
    bids,
    creates,
    force_of,
    is_general,
    is_none,
    is_once,
    is_short,
    of_something_else,
    read,
    speaks_plainly,
)
from insula.text.grammar import UNSPACED
from insula.text.pasted import own_words
from insula.text.questions import asks
from insula.text.slots import Slot, says, slots

Relation = Literal["same", "refines", "contradicts", "lifts", "unrelated"]
WORDS_CHARS = 160
"""Characters of a wish."""
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
    stops: bool = False
    """Whether it bids to stop something: a preference for just that ends, even where nothing is wished for good."""
    plain: bool = True
    """Whether it speaks of the manner of answers alone; else it may hold for something only, and ends no other wish."""


def told_apart(analysis: Analysis) -> tuple[str, ...]:
    """The parts of a message that may each be a wish: its sentences, what is behind a colon apart."""
    return tuple(part.strip() for one in analysis.sentences for part in _OPENED.split(one.text) if part.strip())


@lru_cache(maxsize=512)
def wishes(
    message: str,
    default: str = "en",
    previous: str = "",
    response: str = "",
) -> tuple[Wish, ...]:
    """What a message wishes of the manner of answers; nothing where it may not be the user's own plain words.

    Args:
        message: the user's.
        default: the language where the message is too short to tell.
        previous: the user's message before it; what it asked for may be what is wished otherwise.
        response: what came back.
    """
    own = own_words(message)
    if not own or speaks_a_part(own):
        return ()
    if any(says("forget_told", language).fullmatch(own.strip(" .!。！")) for language in LANGUAGES):
        return (Wish(own, (), "pointing", True),)
    analysis = analyse(own, default=default)
    words = len(own.split())
    sure = (default, analysis.language) if words <= _BRIEF else (analysis.language, default)
    told = [language for language in sure if language in LANGUAGES] or ["en"]
    brief = LANGUAGES if words <= _FEW else ()
    heard = (_heard(analysis, language, previous, response) for language in dict.fromkeys((*told, *brief)))
    return next(filter(None, heard), ())


def speaks_a_part(message: str) -> bool:
    """Whether a message gives the assistant a role to play: what is wished in it is the role's."""
    return any(says("role", language).search(message.replace("’", "'")) for language in LANGUAGES)


def standing_wish(text: str, language: str) -> Wish:
    """A sentence that is known to state a preference for all answers, as a wish: of what, and whether of some only.

    Args:
        text: the sentence, or the clause.
        language: its language; of another than the eight no slot is read.
    """
    one = read(text, language if language in LANGUAGES else "en")
    return Wish(_bounded(one), one.slots, "standing", False, _about(one), one.says("stop"), speaks_plainly(one))


def form_of(text: str, language: str) -> Literal["general", "wanted", "bidden", ""]:
    """How a sentence that may mean a preference is put: as a bidding that holds always, as what holds always or its
    writer wants or likes, as a bidding, or as none, as is what supposes, asks, is somebody else's or of one answer, and
    what takes back."""
    one = read(text, language if language in LANGUAGES else "en")
    if is_none(one) or is_once(one) or one.says("lift"):
        return ""
    if is_general(one) or one.any("want", "prefer", "hate"):
        return "general" if is_general(one) and bids(one) else "wanted"
    return "bidden" if bids(one) else ""


def is_bare(wish: Wish) -> bool:
    """Whether a request is nothing but what it wants ("No emojis, please"), and so may be of this answer alone."""
    return wish.force == "asked" and any(
        is_short(read(says("please", language).sub(" ", wish.words), language)) for language in LANGUAGES
    )


def is_of_address(wish: Wish) -> bool:
    """Whether a wish is of how its writer is to be called or spoken to, or bids to speak a language."""
    names = {slot.name for slot in wish.slots}
    speaks = (
        says("speak", one).search(wish.words) if one in UNSPACED else says("speak", one).match(wish.words)
        for one in LANGUAGES
    )
    return not names.isdisjoint({"name", "formality"}) or ("language" in names and any(speaks))


def unsettled(message: str, default: str = "en") -> tuple[Wish, ...]:
    """What the words of a message may wish, or take back, and leave open: each part that speaks of answers, and that
    its words neither take for a wish nor forbid to be one."""
    own = own_words(message)
    analysis = analyse(own, default=default)
    language = analysis.language if analysis.language in LANGUAGES else default
    said = [read(part, language) for part in told_apart(analysis)] if own and language in LANGUAGES else []
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
    return Wish(_bounded(one), one.slots, "weak", one.says("lift"), _about(one), one.says("stop"), speaks_plainly(one))


def _heard(analysis: Analysis, language: str, previous: str, response: str) -> tuple[Wish, ...]:
    """The wishes in a message, read in one language."""
    said = [read(part, language) for part in told_apart(analysis)]
    if any(one.says("sarcasm") for one in said):
        return ()
    of_this_talk = any(one.says("talk") for one in said)
    found: list[Wish] = []
    for place, one in enumerate(said):
        before = said[place - 1] if place else None
        if found and before and _goes_on(one, before, found[-1]):
            found[-1] = found[-1]._replace(
                words=f"{found[-1].words} {one.text.strip()}", slots=found[-1].slots + one.slots
            )
        else:
            alone = not _asks_beside(one, analysis)
            wish = _referring(one, before, response) or _wish(one, before, previous, alone=alone)
            if wish and of_this_talk:
                wish = wish._replace(force="once")
            if wish := _under(before, one, wish):
                found.append(wish)
    return tuple(found)


def _under(head: Sentence | None, one: Sentence, wish: Wish | None) -> Wish | None:
    """A wish as what stands before a colon limits it: none of a text to work on ("Proofread: …") or of a quotation,
    and for now where it is of one text ("Only for the poster: …")."""
    if wish is None or head is None or not head.text.endswith(_COLONS):
        return wish
    speaks = head.slots or bids(head) or head.any("general", "target", "name", "modal", "want", "prefer", "hate")
    label = one.text.startswith(_QUOTES) or (len(head.text.split()) == 1 and head.language not in UNSPACED)
    if creates(head.text, head.language) or (not speaks and (label or is_none(head))):
        return None
    return wish._replace(force="once") if is_once(head) else wish


def _goes_on(one: Sentence, before: Sentence, wish: Wish) -> bool:
    """Whether a sentence says more of what the one before it wished ("Stop giving me lists. I want paragraphs.")."""
    names = {slot.name for slot in wish.slots} & {slot.name for slot in before.slots}
    more = any(slot.name in names for slot in one.slots) and wish.force == "standing"
    fits = len(wish.words) + len(one.text) < WORDS_CHARS
    return more and fits and not (wish.lifts or one.any("once", "lift")) and not is_none(one)


def _asks_beside(one: Sentence, analysis: Analysis) -> bool:
    """Whether the message asks or orders something else, too."""
    others = (ask.text.replace("’", "'") for ask in asks(analysis))
    return any(other not in one.text and one.text not in other and not slots(other, one.language) for other in others)


def _wish(one: Sentence, before: Sentence | None, previous: str, *, alone: bool) -> Wish | None:
    if is_none(one) or one.text.endswith(_COLONS):
        return None
    lifts, plain = one.says("lift"), speaks_plainly(one)
    force = force_of(one, previous, alone=alone) if one.slots else of_something_else(one)
    if one.says("means") and one.slots and plain and force != "standing":
        force = "weak"
    if before and is_short(one) and creates(before.text, one.language):
        force = "once"  # "Write a tweet. Never more than 20 words."
    if force is None and not lifts:
        return None
    return Wish(_bounded(one), one.slots, force or "weak", lifts, _about(one), one.says("stop"), plain)


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
