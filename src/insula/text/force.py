"""How a sentence wishes for something of answers, and for how long: told from its words alone.

What is said of somebody else, supposed or asked is no wish; what belongs to the one task at hand is one for now. The
phrases stand in `wishing.json`.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from insula.text.analysis import Analysis
from insula.text.corrections import correction
from insula.text.grammar import UNSPACED
from insula.text.questions import asks
from insula.text.slots import Slot, says, slots

Force = Literal["standing", "asked", "once", "weak", "pointing"]
"""For good; for now, unless it is asked again; for this answer alone; only of what stands already, which it limits or
takes back; what was told last is to be told no more ("stop doing that")."""
_SHORT = 8
"""Words of a message that may be nothing but a wish ("Celsius please")."""
_WORD = 4
"""Characters of a part of a sentence that bids nothing by itself ("No")."""
_FACTUAL = frozenset({"diet", "currency", "tool"})
"""Slots of things that one also likes for themselves: only a bidding that holds always is a wish."""
_WORLDLY = frozenset({"language", "code", "example", "steps", "table", "level", "humour", "source", "reasons", "word"})
"""Slots of things that one also likes for themselves: a liking must be one of answers."""
_LASTING = frozenset({"language", "code"})
"""Of these what a bare bidding sets for good ("Answer in French.")."""
_MEASURES = frozenset({"temperature", "system", "clock", "emoji", "spelling", "formality"})
"""Slots of things that nobody wants but in answers."""
_QUANTITIES = frozenset({"temperature", "system", "clock", "date", "currency"})
"""Slots of how quantities are written."""
_OF_ADDRESS = frozenset({"name", "formality"})
_DEICTIC = re.compile(r"(?<!\w)(?:it|that|this|das|es|lo|la|ça|le|isso|lo|questo)(?!\w)", re.IGNORECASE)
_MARK = re.compile(r"[?？]\W*\Z|[か吗][。．]?\Z")
PIECE = re.compile(r"[,;:.!?()，、；：。！？–—]|(?<!\w)(?:and|und|y|et|e|so|aber|but)(?!\w)")
_OF = re.compile(r"\s+(?:of|de|del|des|du|di|della|dei|von|vom|da|do)(?!\w)|\s+d'")
"""What makes of a slot a part of another thing ("listas de espera")."""


class Sentence(NamedTuple):
    """A sentence with what it says of the manner of an answer."""

    text: str
    language: str
    slots: tuple[Slot, ...]

    def says(self, what: str) -> bool:
        """Whether it holds a phrase of `wishing.json`."""
        return says(what, self.language).search(self.text) is not None

    def any(self, *what: str) -> bool:
        """Whether it holds one of several."""
        return any(map(self.says, what))


def read(text: str, language: str) -> Sentence:
    """A sentence as one language reads it."""
    plain = text.replace("’", "'")
    return Sentence(plain, language, slots(plain, language))


def is_none(one: Sentence) -> bool:
    """Whether a sentence supposes, asks, or speaks of somebody else."""
    if one.any("hypothetical", "reported") or _asks(one) or _is_own(one):
        return True
    first = min((slot.start for slot in one.slots), default=len(one.text))
    if says("things", one.language).search(one.text, 0, first) and not (
        bids(one) or one.any("modal", "only", "target")
    ):
        return True
    other = says("others", one.language).search(one.text)
    return other is not None and other.start() < first and not _bids_before(one, other.start())


def _is_own(one: Sentence) -> bool:
    """Whether it tells what the user does themselves, or likes of the world ("I like lists in novels")."""
    bidding = one.language not in UNSPACED and bids(one)
    return one.says("own") and not bidding and not one.any("target", "modal", "stop")


def _asks(one: Sentence) -> bool:
    """Whether it asks to know something, and does not ask for something to be done ("… always, ok?")."""
    mark = _MARK.search(one.text)
    if not mark or one.says("modal"):
        return False
    tag = rf"(?:^|[\W_])(?:{says('tag', one.language).pattern})\W*$"
    return re.search(tag, one.text, re.IGNORECASE) is None


def _bids_before(one: Sentence, place: int) -> bool:
    """Whether the user speaks for themselves before a place."""
    head = one._replace(text=one.text[:place].rstrip())
    if one.language not in UNSPACED and any(match.end() == len(head.text) for match in _clauses(head)):
        return bids(head)
    return head.any("prefer", "hate", "only", "want", "modal") or bids(head)


def _clauses(one: Sentence) -> Iterator[re.Match[str]]:
    """What begins a clause: whose subject is somebody else says what they do ("I hate it when my boss …")."""
    return says("clause", one.language).finditer(one.text)


def bids(one: Sentence) -> bool:
    """Whether a part of a sentence is a bidding."""
    pattern = says("directive", one.language)
    if one.language in UNSPACED:
        return pattern.search(one.text) is not None
    parts = (part.strip() for part in PIECE.split(one.text) if len(part.strip()) > _WORD)
    return any(pattern.match(_behind_general(part, one.language)) for part in parts)


def _behind_general(part: str, language: str) -> str:
    """A part of a sentence without a "from now on" before it."""
    lead = says("general", language).match(part)
    return part[lead.end() :].strip() if lead else part


def force_of(one: Sentence, analysis: Analysis, previous: str) -> Force | None:
    """For how long a sentence with a slot wishes; None where it does not."""
    names = {slot.name for slot in one.slots}
    bidding = bids(one) or one.says("modal")
    general = one.any("general", "topic")
    if is_once(one):
        return "once"
    if general and (
        bidding
        or is_short(one)
        or _has_a_short_part(one)
        or one.any("prefer", "hate", "only", "want", "target", "stop")
    ):
        return None if _of_a_habit(one, bidding) else "standing"
    if names & _OF_ADDRESS and _addresses(one, names, bidding):
        return "standing"
    if names <= _FACTUAL:
        return None
    if bidding and one.says("stop") and any(_unwanted(slot) for slot in one.slots) and not _ordered(one):
        return "standing"
    if _likes(one, names):
        return "standing"
    if _is_worldly(one, names) and one.any("prefer", "hate") and not (is_short(one) or _has_a_short_part(one)):
        return None
    return _asked(one, names, analysis, previous) if bidding or is_short(one) else None


def is_once(one: Sentence) -> bool:
    """Whether it is for this one answer: what limits it is no part of what makes it general ("ab heute")."""
    spans = [match.span() for match in says("general", one.language).finditer(one.text)]
    for match in says("once", one.language).finditer(one.text):
        if not any(start <= match.start() < end for start, end in spans):
            return True
    return False


def _has_a_short_part(one: Sentence) -> bool:
    """Whether a part of it is nothing but what it wants ("I moved, so Fahrenheit from now on")."""
    parts = [part for part in PIECE.split(one.text) if part and part.strip()]
    return len(parts) > 1 and any(is_short(read(part.strip(), one.language)) for part in parts)


def _of_a_habit(one: Sentence, bidding: bool) -> bool:
    """Whether it tells what the user does ("I always end my day with a question")."""
    free = bidding or is_short(one) or _has_a_short_part(one)
    return not free and not one.any("prefer", "hate", "only", "want", "target", "stop")


def _addresses(one: Sentence, names: set[str], bidding: bool) -> bool:
    """Whether it says how to call the user."""
    if _ordered(one) and "name" not in names:
        return False
    return "name" in names or bidding or one.any("prefer", "want", "hate")


def _unwanted(slot: Slot) -> bool:
    return not slot.affirmed or slot.value != slot.said or slot.value == "off"


def _likes(one: Sentence, names: set[str]) -> bool:
    """Whether it says what the user likes, or can't do with, of answers."""
    made = _ordered(one)
    first = min(slot.start for slot in one.slots)
    if made and bids(one) and (one.language in UNSPACED or made.start() < first):
        return False
    if is_of_a_thing(one):
        return False
    if one.says("only"):
        return not names <= _FACTUAL
    if one.any("prefer", "hate"):
        return not _is_worldly(one, names)
    if not one.says("want") or _DEICTIC.search(one.text):
        return False
    return one.says("target") or (bool(names & _MEASURES) and not _ordered(one))


def _is_worldly(one: Sentence, names: set[str]) -> bool:
    """Whether it may be of things that one also likes for themselves ("short trips"), and not of answers."""
    of_length = names == {"length"} and not any(slot.detail for slot in one.slots)
    return (names <= _WORLDLY or of_length) and not one.says("target")


def _asked(one: Sentence, names: set[str], analysis: Analysis, previous: str) -> Force | None:
    """What a bidding without a word on how long is: for good where nothing else is asked for, else for now."""
    if (_ordered(one) and not _is_only_layout(one)) or _asks_beside(one, analysis):
        return "once"
    if is_short(one) or _has_a_short_part(one):
        return "asked" if previous and creates(previous, one.language) else "standing"
    for_now = names <= _WORLDLY - _LASTING or one.says("modal") or _DEICTIC.search(one.text)
    return "asked" if for_now else "standing"


def is_of_a_thing(one: Sentence) -> bool:
    """Whether a slot is part of what a thing is called ("listas de espera")."""
    return any(_OF.match(one.text, slot.end) for slot in one.slots) and not one.says("target")


def _ordered(one: Sentence) -> re.Match[str] | None:
    """What orders a text or anything else to be made; how quantities are written is no such order."""
    if {slot.name for slot in one.slots} <= _QUANTITIES and one.says("measured"):
        return None
    return says("creates", one.language).search(one.text)


def _is_only_layout(one: Sentence) -> bool:
    """Whether what is to be written is nothing but prose, of nothing ("Write paragraphs, please")."""
    ends = [slot.end for slot in one.slots if slot.wants == ("layout", "prose", True)]
    return bool(ends) and len(re.findall(r"\w+", one.text[max(ends) :])) <= 1


def _asks_beside(one: Sentence, analysis: Analysis) -> bool:
    """Whether the message asks for something else, too."""
    return any(ask.text.replace("’", "'") not in one.text and one.text not in ask.text for ask in asks(analysis))


def creates(message: str, language: str) -> bool:
    """Whether a message orders a text, or anything else, to be made."""
    return says("creates", language).search(message) is not None


def is_short(one: Sentence) -> bool:
    """Whether a sentence is nothing but what it wants, and courtesies."""
    left = one.text
    for slot in sorted(one.slots, key=lambda slot: -slot.start):
        left = f"{left[: slot.start]} {left[slot.end :]}"
    left = says("general", one.language).sub(" ", left)
    if one.language in UNSPACED:
        return bool(one.slots) and not re.sub(r"[\W_]", "", says("please", one.language).sub("", left))
    words = re.findall(r"[\w']+", left)
    return bool(one.slots) and len(words) <= _SHORT and all(says("please", one.language).fullmatch(w) for w in words)


def of_something_else(one: Sentence, previous: str) -> Force | None:
    """Whether it is a standing bidding of something else ("Always check the dates first")."""
    if one.any("once", "refer") or not one.any("general", "topic"):
        return None
    judged = correction(one.text, previous, "")
    standing = "standing" in judged.cues and judged.wanted
    return "standing" if standing or (one.says("topic") and bids(one)) else None
