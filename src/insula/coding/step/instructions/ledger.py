"""The ledger of a session: which of the user's instructions stand after each of their messages.

What the user takes back, or asks for later, ends; a newer one takes the place of an older one of the same meaning.
"""

import re

from insula.coding.step.instructions.clauses import list_telling, lower_text, says
from insula.coding.step.instructions.instruction import (
    ASKED,
    BAN,
    HERE,
    HOW,
    LIFT,
    MOMENT,
    NEXT,
    ONLY,
    RULE,
    SPARED,
    STANDING,
    TASK,
    Instruction,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 24
"""Instructions that are kept: the newest of each kind."""
ASKED_KEPT = 16
"""Requests that are kept."""


def merge_instructions(
    instructions: "Sequence[Instruction]", heard: "Sequence[Instruction]", at: float
) -> "tuple[Instruction, ...]":
    """The ledger after a message: what it adds, and without what it takes back or ends."""
    stands = [old for old in instructions if old.holds != HERE]
    asks = [each for each in heard if each.kind == ASKED]
    closes = bool(asks) and heard[0].closes
    if closes or any(each.sure for each in asks):  # another task, as far as anybody can tell
        stands = [old for old in stands if old.holds != TASK and not (closes and old.kind == ONLY)]
    for new in (each.replace(at=at) for each in heard):
        stands = [*_list_remaining(stands, new), *([] if new.kind in {NEXT, SPARED} else [new])]
    requests = [old for old in stands if old.kind in {ASKED, LIFT}][-ASKED_KEPT:]
    others = [old for old in stands if old.kind in {*STANDING, MOMENT}][-MOST:]
    return tuple(old for old in stands if old in requests or old in others)


def _list_remaining(stands: "list[Instruction]", new: Instruction) -> "list[Instruction]":
    """What of the ledger stands after one more instruction."""
    if new.kind == ASKED:
        return [left for old in stands if (left := _without_asked(old, new)) is not None]
    stands = _spare_instructions(stands, new)
    if new.kind == NEXT:
        return [old for old in stands if old.holds != TASK and old.kind not in {ASKED, LIFT, ONLY}]
    if new.kind == LIFT:
        return _lift_instructions(stands, new)
    return stands if new.kind == SPARED else [old for old in stands if not _replaces_word(new, old)]


def _lift_instructions(stands: "list[Instruction]", lift: Instruction) -> "list[Instruction]":
    """What stands after the user has taken something back: what it names, else the last that was ruled out.

    What only sounds like it takes nothing back that was said in the same message, nor does an exception in it.
    """
    open_to = [old for old in stands if old.kind in STANDING and (lift.sure or old.at < lift.at)]
    hit = [old for old in open_to if _names_path(lift, old) or (names_same(lift, old) and not _is_exception(lift, old))]
    names = lift.paths or lift.programs or lift.acts
    if not hit and not names and not list_telling(lift.words):
        hit = [old for old in open_to if old.holds != RULE][-1:]
    elif not hit and not names and lift.sure and len(open_to) == 1 and open_to[0].at < lift.at:
        hit = [old for old in open_to if old.holds != RULE]
    return [
        left for old in stands if (left := _make_rest(old, _add_paths(lift, old)) if old in hit else old) is not None
    ]


def _is_exception(lift: Instruction, old: Instruction) -> bool:
    """Whether what is allowed lies in what the same message rules out."""
    within = (any(path != own and _is_within(own, path) for own in old.paths) for path in lift.paths)
    return old.at == lift.at and bool(lift.paths) and all(within)


def _spare_instructions(stands: "list[Instruction]", new: Instruction) -> "list[Instruction]":
    """What stands after the user has said that something which they asked for may be left out."""
    low = lower_text(new.clause)
    if not says(low, "denies", "spares"):
        return stands
    from insula.coding.step.instructions.demands import list_demands, make_pattern

    def is_spared(request: Instruction) -> bool:
        return any(re.search(make_pattern(demand), low) for demand in list_demands(request))

    return [old for old in stands if old.kind != ASKED or not is_spared(old)]


def _make_rest(old: Instruction, lift: Instruction) -> Instruction | None:
    """What is left of an instruction when some of what it names is taken back."""
    paths = tuple(path for path in old.paths if not any(_overlaps(path, other) for other in lift.paths))
    acts = tuple(act for act in old.acts if act not in lift.acts)
    if (paths and paths != old.paths) or (acts and acts != old.acts):
        return old.replace(paths=paths, acts=acts)
    return None


def _without_asked(old: Instruction, request: Instruction) -> Instruction | None:
    """An instruction after the user has asked for something: what they ask for themselves is no longer ruled out."""
    if old.kind not in STANDING:
        return old
    elsewhere = old.places and not set(request.places) & set(old.places)
    if set(request.acts) & set(old.acts) and not elsewhere:
        return _make_rest(old, request)
    if old.kind != BAN:
        return old
    if any(_is_within(path, own) for path in request.paths for own in old.paths):
        return _make_rest(old, request)
    if old.edits and not old.paths and request.edits and _measure_likeness(request.words, old.words) > 0:
        return None
    return _make_rest(old, _add_paths(request, old)) if _names_path(request, old) else old


def _names_path(later: Instruction, old: Instruction) -> bool:
    """Whether a later word names a path that is ruled out by its name: "leave docs/ alone", and "now do the docs"."""
    return later.at > old.at and _add_paths(later, old) != later


def _add_paths(later: Instruction, old: Instruction) -> Instruction:
    """A later word with the paths of an older one that it names by their names."""
    named = tuple(path for path in old.paths if _name_path(path) in later.words)
    return later.replace(paths=(*later.paths, *named))


def _name_path(path: str) -> str:
    return path.strip("/").rsplit("/", 1)[-1].split(".")[0].lower()


def _replaces_word(new: Instruction, old: Instruction) -> bool:
    """Whether an instruction takes the place of an older one: the same again, or the other way round."""
    if old.kind not in STANDING:
        return False
    if new.said == old.said:
        return (new.kind, new.paths, new.words) == (old.kind, old.paths, old.words)
    if new.kind == old.kind == ONLY:
        return new.at > old.at
    if new.likes and (new.likes in old.programs or old.likes in new.programs):
        return True
    return new.kind == old.kind == HOW and new.at > old.at and _measure_likeness(new.words, old.words) >= 0.5


def names_same(first: Instruction, other: Instruction) -> bool:
    """Whether two instructions name the same."""
    shared = (
        set(first.acts) & set(other.acts),
        set(first.code) & set(other.code),
        set(first.programs) & {*other.programs, other.likes},
        "push" in first.acts and "force-push" in other.acts,
        any(_overlaps(path, own) for path in first.paths for own in other.paths),
    )
    return any(shared) or _measure_likeness(first.words, other.words) > 0


def _overlaps(path: str, other: str) -> bool:
    return _is_within(path, other) or _is_within(other, path)


def _is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it, however much of it is written."""
    return f"/{folder.strip('/').lower()}/" in f"/{path.strip('/').lower()}/"


def _measure_likeness(words: "Sequence[str]", other: "Sequence[str]") -> float:
    """The share of telling words that two texts have in common, by their beginnings."""
    first, second = {word[:5] for word in words}, {word[:5] for word in other}
    first, second = _space_out(first), _space_out(second)
    return len(first & second) / max(1, min(len(first), len(second)))


def _space_out(words: "set[str]") -> "set[str]":
    parts: set[str] = set()
    for word in words:
        parts |= {word[at : at + 2] for at in range(len(word) - 1)} if re.match("[\u3040-\u9fff]", word) else {word}
    return parts
