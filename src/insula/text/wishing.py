"""The wishes in a message on how the user wants to be answered: told from their own plain words, without a model.

Three things are asked of a sentence: what of the manner of an answer it speaks of (`slots`), how it wishes (bids,
prefers, cannot read the other, is tired of it), and for how long. What is said of somebody else, quoted, supposed,
asked or mocked is no wish; what belongs to the one task at hand is one for now. The phrases stand in `wishing.json`.
"""

import re
from collections.abc import Mapping
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
    is_none,
    is_once,
    is_short,
    of_something_else,
    read,
)
from insula.text.grammar import UNSPACED
from insula.text.pasted import own_words
from insula.text.slots import Slot, says, slots

Relation = Literal["same", "refines", "contradicts", "lifts", "unrelated"]
WORDS_CHARS = 160
"""Characters of a wish."""
SURE, SURER = 0.65, 0.85
"""Chances from which a sentence is a standing wish by its meaning: one that may be, and one in doubt; see `_needed`."""
TALE = 2
"""Sentences beside one that make of a message something that is told."""
PLAIN, BARE = 0.4, 0.15
"""The same of one that is nothing but what it wants, or says how to be called; of a bidding of few words alone."""
UNLIKELY = 0.02
"""Chance below which it wishes nothing."""
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
    meant: tuple[tuple[str, Relation], ...] = ()
    """What it makes, by its meaning, of the words of wishes that stand."""


def told_apart(analysis: Analysis) -> tuple[str, ...]:
    """The parts of a message that may each be a wish: its sentences, what is behind a colon apart."""
    return tuple(part.strip() for one in analysis.sentences for part in _OPENED.split(one.text) if part.strip())


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
    return Wish(_bounded(one), one.slots, "weak", one.says("lift"), _about(one))


def _heard(
    analysis: Analysis, language: str, previous: str, response: str, meant: Mapping[str, float]
) -> tuple[Wish, ...]:
    """The wishes in a message, read in one language."""
    said_as = told_apart(analysis)
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
            wish = wish if chance is None else _by_meaning(one, wish, chance, previous, len(said_as) - 1)
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


def _by_meaning(one: Sentence, wish: Wish | None, chance: float, previous: str, beside: int) -> Wish | None:
    """What a sentence wishes by its words, with what its meaning says of it, beside so many others."""
    if wish is not None and (wish.lifts or wish.force in ("pointing", "weak")):
        return wish
    if chance < _needed(one, wish, beside):
        return _unsure(one, wish, chance)
    if wish is not None and wish.force == "standing":
        return wish
    for_now = is_once(one) or bool(previous and creates(previous, one.language))
    if for_now or is_none(one) or one.says("lift"):
        return wish
    return Wish(_bounded(one), one.slots, "standing", about=_about(one))


def _unsure(one: Sentence, wish: Wish | None, chance: float) -> Wish | None:
    """What is left of a wish whose meaning does not say that it stands: one for now, if any."""
    if wish is None or wish.force == "once":
        return wish
    kept = one.slots and (wish.force == "standing" or chance >= UNLIKELY or is_short(one))
    return wish._replace(force="asked") if kept else None


def _needed(one: Sentence, wish: Wish | None, beside: int) -> float:
    """How sure its meaning must be: less where it bids for good, says how to be called or is nothing but what it wants;
    more where its words are for now, or name nothing of an answer amid what somebody tells."""
    if wish is None:
        return SURER if not one.slots and beside >= TALE else SURE
    if wish.force != "standing":
        return SURER if wish.force == "once" else SURE
    bidding = bids(one)
    if bidding and not beside and len(one.text.split()) <= _FEW and one.language not in UNSPACED:
        return BARE
    return PLAIN if is_short(one) or one.says("name") or (bidding and (one.says("general") or not beside)) else SURE


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
