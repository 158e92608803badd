"""The wishes in a message on how the user wants to be answered: told from their own plain words, without a model.

Three things are asked of a sentence: what of the manner of an answer it speaks of (`slots`), how it wishes (bids,
prefers, cannot read the other, is tired of it), and for how long. What is said of somebody else, quoted, supposed,
asked or mocked is no wish; what belongs to the one task at hand is one for now. The phrases stand in `wishing.json`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from insula.text.analysis import LANGUAGES, Analysis, analyse
from insula.text.corrections import correction
from insula.text.grammar import UNSPACED
from insula.text.pasted import own_words
from insula.text.questions import asks
from insula.text.slots import Slot, says, slots

Force = Literal["standing", "asked", "once", "weak", "pointing"]
"""For good; for now, unless it is asked again; for this answer alone; only of what stands already, which it limits or
takes back; what was told last is to be told no more ("stop doing that")."""
WORDS_CHARS = 160
"""Characters of a wish."""
SURE, SURER = 0.6, 0.95
"""Chances from which the meaning of a sentence makes a wish of it that its words do not; see `_needed`."""
UNLIKELY = 0.02
"""Chance below which its words alone make no standing wish."""
_LETTERS, _FEWEST = 4, 3
"""Letters of a part whose meaning is asked for, and words of one that names nothing of an answer."""
_SHORT = 8
"""Words of a message that may be nothing but a wish ("Celsius please")."""
_WORD = 4
"""Characters of a part of a sentence that bids nothing by itself ("No")."""
_FEW = 4
"""Words of a message that tell no language: then it is read in all."""
_BRIEF = 6
"""Words of a message whose language is rather that of the talk than what it seems."""
_FACTUAL = frozenset({"diet", "currency", "tool"})
"""Slots of things that one also likes for themselves: only a bidding that holds always is a wish."""
_WORLDLY = frozenset({"language", "code", "example", "steps", "table", "level", "humour", "source", "reasons", "word"})
"""Slots of things that one also likes for themselves: a liking must be one of answers."""
_LASTING = frozenset({"language", "code"})
"""Of these what a bare bidding sets for good ("Answer in French.")."""
_MEASURES = frozenset({"temperature", "system", "clock", "emoji", "spelling", "formality"})
"""Slots of things that nobody wants but in answers."""
_OF_ADDRESS = frozenset({"name", "formality"})
_DEICTIC = re.compile(r"(?<!\w)(?:it|that|this|das|es|lo|la|ça|le|isso|lo|questo)(?!\w)", re.IGNORECASE)
_MARK = re.compile(r"[?？]\W*\Z|[か吗][。．]?\Z")
_PIECE = re.compile(r"[,;:.!?()，、；：。！？–—]|(?<!\w)(?:and|und|y|et|e|so|aber|but)(?!\w)")
_OF = re.compile(r"\s+(?:of|de|del|des|du|di|della|dei|von|vom|da|do)(?!\w)|\s+d'")
"""What makes of a slot a part of another thing ("listas de espera")."""
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


class _Sentence(NamedTuple):
    text: str
    language: str
    slots: tuple[Slot, ...]

    def says(self, what: str) -> bool:
        """Whether it holds a phrase of `wishing.json`."""
        return says(what, self.language).search(self.text) is not None

    def any(self, *what: str) -> bool:
        """Whether it holds one of several."""
        return any(map(self.says, what))


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


def _heard(
    analysis: Analysis, language: str, previous: str, response: str, meant: Mapping[str, float]
) -> tuple[Wish, ...]:
    """The wishes in a message, read in one language."""
    said_as = tuple(_parts(analysis))
    said = [_sentence(part, language) for part in said_as]
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


def _under(head: _Sentence | None, one: _Sentence, wish: Wish | None) -> Wish | None:
    """A wish as what stands before a colon limits it: to one text ("Only for the poster: …"), or to who is quoted."""
    if wish is None or head is None or not head.text.endswith(_COLONS):
        return wish
    if one.text.startswith(_QUOTES) and not (_bids(head) or head.any("target", "name", "modal", "want")):
        return None
    return wish._replace(force="once") if _is_once(head) else wish


def _by_meaning(one: _Sentence, wish: Wish | None, chance: float, previous: str) -> Wish | None:
    """What a sentence wishes by its words, with what its meaning says of it where that is sure."""
    if wish is not None and wish.force == "asked" and chance < UNLIKELY and not _is_short(one):
        return None
    if wish is not None and wish.force == "standing":
        kept = chance >= UNLIKELY or _is_short(one) or one.any("general", "name")
        return wish if kept else wish._replace(force="asked") if one.slots else None
    if chance < _needed(one, wish) or (wish is not None and (wish.lifts or wish.force == "pointing")):
        return wish
    if one.says("creates") and not one.any("general", "target"):
        return wish
    if not one.slots and (one.says("others") or _is_bare(one) or not _is_of_answers(one)):
        return wish
    for_now = _is_once(one) or bool(previous and _creates(previous, one.language))
    if for_now or _is_none(one) or one.says("lift"):
        return wish
    return Wish(_bounded(one), one.slots, "standing", about=_about(one))


def _is_bare(one: _Sentence) -> bool:
    """Whether a sentence is too short to wish anything that its words do not name."""
    return len(one.text) < _LETTERS if one.language in UNSPACED else len(one.text.split()) < _FEWEST


def _is_of_answers(one: _Sentence) -> bool:
    """Whether a sentence that names nothing of an answer speaks of answers at all, of a habit, or of being called."""
    return one.any("target", "general", "stop", "name", "refer")


def _needed(one: _Sentence, wish: Wish | None) -> float:
    """How sure its meaning must be: more where the words are of a liking, of no slot, or of something else to do."""
    doubtful = not one.slots or one.any("prefer", "hate", "only") or (wish is not None and wish.force == "once")
    return SURER if doubtful else SURE


def _goes_on(one: _Sentence, before: _Sentence, wish: Wish) -> bool:
    """Whether a sentence says more of what the one before it wished ("Stop giving me lists. I want paragraphs.")."""
    names = {slot.name for slot in wish.slots} & {slot.name for slot in before.slots}
    more = any(slot.name in names for slot in one.slots) and wish.force == "standing"
    fits = len(wish.words) + len(one.text) < WORDS_CHARS
    return more and fits and not (wish.lifts or one.any("once", "lift")) and not _is_none(one)


def _sentence(text: str, language: str) -> _Sentence:
    plain = text.replace("’", "'")
    return _Sentence(plain, language, slots(plain, language))


def _wish(one: _Sentence, analysis: Analysis, previous: str) -> Wish | None:
    if _is_none(one):
        return None
    lifts = one.says("lift")
    force = _force(one, analysis, previous) if one.slots else _of_something_else(one, previous)
    if force is None and not (lifts or one.says("limits")):
        return None
    return Wish(_bounded(one), one.slots, force or "weak", lifts, _about(one))


def _is_none(one: _Sentence) -> bool:
    """Whether a sentence supposes, asks, or speaks of somebody else."""
    if one.says("hypothetical") or _asks(one) or _is_own(one):
        return True
    first = min((slot.start for slot in one.slots), default=len(one.text))
    other = says("others", one.language).search(one.text)
    return other is not None and other.start() < first and not _bids_before(one, other.start())


def _is_own(one: _Sentence) -> bool:
    """Whether it tells what the user does themselves, or likes of the world ("I like lists in novels")."""
    bids = one.language not in UNSPACED and _bids(one)
    return one.says("own") and not bids and not one.any("target", "modal", "stop")


def _asks(one: _Sentence) -> bool:
    """Whether it asks to know something, and does not ask for something to be done ("… always, ok?")."""
    mark = _MARK.search(one.text)
    if not mark or one.says("modal"):
        return False
    tag = rf"(?:^|[\W_])(?:{says('tag', one.language).pattern})\W*$"
    return re.search(tag, one.text, re.IGNORECASE) is None


def _bids_before(one: _Sentence, place: int) -> bool:
    """Whether the user speaks for themselves before a place."""
    head = one._replace(text=one.text[:place])
    return head.any("prefer", "hate", "only", "want", "modal") or _bids(head)


def _bids(one: _Sentence) -> bool:
    """Whether a part of a sentence is a bidding."""
    pattern = says("directive", one.language)
    if one.language in UNSPACED:
        return pattern.search(one.text) is not None
    parts = (part.strip() for part in _PIECE.split(one.text) if len(part.strip()) > _WORD)
    return any(pattern.match(_behind_general(part, one.language)) for part in parts)


def _behind_general(part: str, language: str) -> str:
    """A part of a sentence without a "from now on" before it."""
    lead = says("general", language).match(part)
    return part[lead.end() :].strip() if lead else part


def _force(one: _Sentence, analysis: Analysis, previous: str) -> Force | None:
    """For how long a sentence with a slot wishes; None where it does not."""
    names = {slot.name for slot in one.slots}
    bids = _bids(one) or one.says("modal")
    general = one.any("general", "topic")
    if _is_once(one):
        return "once"
    if general and (
        bids or _is_short(one) or _has_a_short_part(one) or one.any("prefer", "hate", "only", "want", "target", "stop")
    ):
        return None if _of_a_habit(one, bids) else "standing"
    if names & _OF_ADDRESS and _addresses(one, names, bids):
        return "standing"
    if names <= _FACTUAL:
        return None
    if bids and one.says("stop") and any(_unwanted(slot) for slot in one.slots) and not one.says("creates"):
        return "standing"
    if _likes(one, names):
        return "standing"
    return _asked(one, names, analysis, previous) if bids or _is_short(one) else None


def _is_once(one: _Sentence) -> bool:
    """Whether it is for this one answer: what limits it is no part of what makes it general ("ab heute")."""
    spans = [match.span() for match in says("general", one.language).finditer(one.text)]
    for match in says("once", one.language).finditer(one.text):
        if not any(start <= match.start() < end for start, end in spans):
            return True
    return False


def _has_a_short_part(one: _Sentence) -> bool:
    """Whether a part of it is nothing but what it wants ("I moved, so Fahrenheit from now on")."""
    parts = [part for part in _PIECE.split(one.text) if part and part.strip()]
    return len(parts) > 1 and any(_is_short(_sentence(part.strip(), one.language)) for part in parts)


def _of_a_habit(one: _Sentence, bids: bool) -> bool:
    """Whether it tells what the user does ("I always end my day with a question")."""
    free = bids or _is_short(one) or _has_a_short_part(one)
    return not free and not one.any("prefer", "hate", "only", "want", "target", "stop")


def _addresses(one: _Sentence, names: set[str], bids: bool) -> bool:
    """Whether it says how to call the user."""
    if one.says("creates") and "name" not in names:
        return False
    return "name" in names or bids or one.any("prefer", "want", "hate")


def _unwanted(slot: Slot) -> bool:
    return not slot.affirmed or slot.value != slot.said or slot.value == "off"


def _likes(one: _Sentence, names: set[str]) -> bool:
    """Whether it says what the user likes, or can't do with, of answers."""
    made = says("creates", one.language).search(one.text)
    first = min(slot.start for slot in one.slots)
    if made and _bids(one) and (one.language in UNSPACED or made.start() < first):
        return False
    if any(_OF.match(one.text, slot.end) for slot in one.slots) and not one.says("target"):
        return False
    if one.says("only"):
        return not names <= _FACTUAL
    worldly = names <= _WORLDLY or (names == {"length"} and not any(slot.detail for slot in one.slots))
    if one.any("prefer", "hate"):
        return not worldly or one.says("target")
    if not one.says("want") or _DEICTIC.search(one.text):
        return False
    return one.says("target") or (bool(names & _MEASURES) and not one.says("creates"))


def _asked(one: _Sentence, names: set[str], analysis: Analysis, previous: str) -> Force | None:
    """What a bidding without a word on how long is: for good where nothing else is asked for, else for now."""
    if (one.says("creates") and not _is_only_layout(one)) or _asks_beside(one, analysis):
        return "once"
    if _is_short(one) or _has_a_short_part(one):
        return "asked" if previous and _creates(previous, one.language) else "standing"
    for_now = names <= _WORLDLY - _LASTING or one.says("modal") or _DEICTIC.search(one.text)
    return "asked" if for_now else "standing"


def _is_only_layout(one: _Sentence) -> bool:
    """Whether what is to be written is nothing but prose, of nothing ("Write paragraphs, please")."""
    ends = [slot.end for slot in one.slots if slot.wants == ("layout", "prose", True)]
    return bool(ends) and len(re.findall(r"\w+", one.text[max(ends) :])) <= 1


def _asks_beside(one: _Sentence, analysis: Analysis) -> bool:
    """Whether the message asks for something else, too."""
    return any(ask.text.replace("’", "'") not in one.text and one.text not in ask.text for ask in asks(analysis))


def _creates(message: str, language: str) -> bool:
    return says("creates", language).search(message) is not None


def _is_short(one: _Sentence) -> bool:
    """Whether a sentence is nothing but what it wants, and courtesies."""
    left = one.text
    for slot in sorted(one.slots, key=lambda slot: -slot.start):
        left = f"{left[: slot.start]} {left[slot.end :]}"
    left = says("general", one.language).sub(" ", left)
    if one.language in UNSPACED:
        return bool(one.slots) and not re.sub(r"[\W_]", "", says("please", one.language).sub("", left))
    words = re.findall(r"[\w']+", left)
    return bool(one.slots) and len(words) <= _SHORT and all(says("please", one.language).fullmatch(w) for w in words)


# What a sentence wishes that speaks of no slot, or points at another one.


def _of_something_else(one: _Sentence, previous: str) -> Force | None:
    """Whether it is a standing bidding of something else ("Always check the dates first")."""
    if one.any("once", "refer") or not one.any("general", "topic"):
        return None
    judged = correction(one.text, previous, "")
    standing = "standing" in judged.cues and judged.wanted
    return "standing" if standing or (one.says("topic") and _bids(one)) else None


def _referring(one: _Sentence, before: _Sentence | None, response: str) -> Wish | None:
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


def _about(one: _Sentence) -> str:
    """What a wish is limited to ("when I ask about recipes"); nothing where it is of answers in general."""
    match = says("topic", one.language).search(one.text)
    return next((word for word in match.groupdict().values() if word), "").strip() if match else ""


def _bounded(one: _Sentence) -> str:
    """The sentence, or the parts of it around its slots where it is too long."""
    text = one.text.strip()
    if len(text) <= WORDS_CHARS:
        return text
    start = min((slot.start for slot in one.slots), default=0)
    edges = [0, *(match.end() for match in _PIECE.finditer(text, 0, start))]
    return text[edges[-1] :].strip()[:WORDS_CHARS]
