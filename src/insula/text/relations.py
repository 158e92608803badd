"""What a new wish makes of one that stands: it says the same, refines, contradicts or lifts it, or is unrelated.

Told from the slots that both speak of, and where they speak of none from their content words, each with its sign.
"""

from collections.abc import Sequence

from insula.text.analysis import LANGUAGES, detect
from insula.text.slots import OF_TEXT, PAIRS, Slot, says, slots
from insula.text.wishes import likeness
from insula.text.wishing import Relation, Wish

ALIKE = 0.5
"""Share of the content words of the shorter of two wishes without slots that the other must hold."""
_SLIGHT = 0.1
"""Doubt about two wishes of something else than the manner of answers, which share no word."""
_SWITCHED = frozenset({"on", "off"})
_MANY = frozenset({"word", "tool"})
"""Slots in which several values may be wanted at once."""


def relation(new: Wish, standing: str) -> Relation:
    """What a new wish makes of the words of one that stands."""
    if new.force == "pointing" or (new.force == "once" and not new.lifts):
        return "unrelated"
    old = slots(standing)
    found = _relation(new, old, standing)
    told = "unrelated" if new.force == "weak" and found in ("same", "contradicts") else found
    return told if new.plain or told not in ("contradicts", "lifts") else "unrelated"


def _relation(new: Wish, old: Sequence[Slot], standing: str) -> Relation:
    touching = [(one, other) for one in new.slots for other in old if one.name == other.name]
    if not touching:
        return _named(new, old) if old else "unrelated" if new.slots else _by_words(new, standing)
    if new.lifts and any(_lifted(one, other) for one, other in touching):
        return "lifts"
    found = {_between(one, other) for one, other in touching}
    same = {one.name for one, other in touching if _between(one, other) == "same"}
    if any(_between(one, other) == "contradicts" and one.name not in same for one, other in touching):
        return "contradicts"
    if "refines" in found:
        return "refines"
    return "unrelated" if not same else "refines" if _says_more(new, old) else "same"


def _named(new: Wish, old: Sequence[Slot]) -> Relation:
    """Of a sentence that speaks of no slot of the old wish: whether it names a word of the person's own in it."""
    named = any(slot.name in OF_TEXT and slot.said in new.words.casefold() for slot in old)
    dismissed = new.lifts or any(says("dismiss", language).search(new.words) for language in LANGUAGES)
    return "unrelated" if not named else "lifts" if dismissed else "refines"


def suspended(new: Wish, standing: str) -> bool:
    """Whether a wish for this answer alone is another than one that stands."""
    pairs = ((one, other) for one in new.slots for other in slots(standing) if one.name == other.name)
    return new.force == "once" and any(_between(one, other) == "contradicts" for one, other in pairs)


def doubt(new: Wish, standing: str) -> float:
    """How much there is to ask of a wish and one that stands, in [0, 1]; 0 where their words tell, or have nothing in
    common that could be meant otherwise."""
    old = slots(standing)
    if new.force in ("once", "pointing") or (new.force != "weak" and relation(new, standing) != "unrelated"):
        return 0.0
    if {one.name for one in new.slots} & {one.name for one in old}:
        return 1.0 if new.force == "weak" else 0.0
    if new.slots and old:
        return 0.0
    shared, _ = likeness(new.words, standing)
    of_else = not new.slots and not old and new.force != "weak"
    return max(shared, _SLIGHT) if shared >= ALIKE or new.lifts or of_else else 0.0


def _lifted(new: Slot, old: Slot) -> bool:
    """Whether taking back what one slot says takes back the other: of names and languages only the one that is named,
    or one that another is allowed beside."""
    if new.name in PAIRS or old.value in _SWITCHED or new.said == old.said:
        return True
    return old.affirmed and new.affirmed and new.value != old.value


def _between(new: Slot, old: Slot) -> Relation:
    if new.wants == old.wants:
        return "refines" if new.detail and new.detail != old.detail else "same"
    if new.name in _MANY and new.said != old.said:
        return "unrelated"
    if new.affirmed and old.affirmed:
        return "contradicts"
    return "contradicts" if new.value == old.value else "unrelated"


def _says_more(new: Wish, old: Sequence[Slot]) -> bool:
    """Whether a wish limits what stands ("only for recipes"), or adds something of another slot to it."""
    known = {slot.wants for slot in old}
    language = detect(new.words, "")
    told = (language,) if language in LANGUAGES else LANGUAGES
    limits = any(says("limits", each).search(new.words) for each in told)
    return limits or any(slot.wants not in known for slot in new.slots)


def _by_words(new: Wish, standing: str) -> Relation:
    overlap, opposed = likeness(new.words, standing)
    if overlap < ALIKE:
        return "unrelated"
    if new.lifts:
        return "lifts"
    return "contradicts" if opposed else "same"
