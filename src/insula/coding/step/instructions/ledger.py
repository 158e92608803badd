"""The ledger of a session: which of the user's instructions stand after each of their messages.

What the user takes back, or asks for later, ends; a newer one takes the place of an older one of the same meaning.
"""

import re

from insula.coding.step.instructions import heads
from insula.coding.step.instructions.clauses import load_table, lower_text
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
HALF = 0.5


def merge_instructions(
    instructions: "Sequence[Instruction]", heard: "Sequence[Instruction]", at: float
) -> "tuple[Instruction, ...]":
    """The ledger after a message: what it adds, and without what it takes back or ends."""
    stands = [instruction for instruction in instructions if instruction.holds != HERE]
    closes = bool(heard) and heard[0].closes and any(instruction.kind == ASKED for instruction in heard)
    if closes or any(
        instruction.kind == ASKED and instruction.sure for instruction in heard
    ):  # another task, as far as anybody can tell
        stands = [
            instruction
            for instruction in stands
            if instruction.holds != TASK and not (closes and instruction.kind == ONLY)
        ]
    for instruction in (each.replace(at=at) for each in heard):
        stands = _spare_instructions(stands, instruction)
        if instruction.kind == NEXT:
            stands = [old for old in stands if old.holds != TASK and old.kind not in {ASKED, LIFT, ONLY}]
        elif instruction.kind == SPARED:
            continue
        elif instruction.kind == LIFT:
            stands = [*_lift_instructions(stands, instruction), instruction]
        elif instruction.kind == ASKED:
            stands = [
                *(old for old in (_without_asked(old, instruction) for old in stands) if old is not None),
                instruction,
            ]
        else:
            stands = [*(old for old in stands if not _replaces_word(instruction, old)), instruction]
    requests = [old for old in stands if old.kind in {ASKED, LIFT}][-ASKED_KEPT:]
    others = [old for old in stands if old.kind in {*STANDING, MOMENT}][-MOST:]
    return tuple(old for old in stands if old in requests or old in others)


def _lift_instructions(stands: "list[Instruction]", lift: Instruction) -> "list[Instruction]":
    """What stands after the user has taken something back: what it names, else the last that was ruled out.

    What only sounds like it takes nothing back that was said in the same message.
    """
    open_to = [old for old in stands if old.kind in STANDING and (lift.sure or old.at < lift.at)]
    hit = [old for old in open_to if names_same(lift, old) and not (old.at == lift.at and _is_part(lift, old))]
    telling = set(lift.words) - set(load_table()["generic"])
    if not hit and not (lift.paths or lift.programs or lift.acts or lift.code or telling):
        hit = [old for old in open_to if old.holds != RULE][-1:]
    if not hit and lift.sure and len(open_to) == 1 and not (lift.paths or lift.programs or lift.acts or lift.code):
        hit = open_to if open_to[0].holds != RULE and open_to[0].at < lift.at else []
    return [left for old in stands if (left := _make_rest(old, lift) if old in hit else old) is not None]


def _is_part(lift: Instruction, instruction: Instruction) -> bool:
    """Whether what is allowed lies in what the same message rules out: an exception, that takes nothing else back."""
    return bool(lift.paths) and all(
        any(path != own and _is_within(own, path) for own in instruction.paths) for path in lift.paths
    )


def _spare_instructions(stands: "list[Instruction]", instruction: Instruction) -> "list[Instruction]":
    """What stands after the user has said that something which they asked for may be left out."""
    low = lower_text(instruction.clause)
    if instruction.kind == ASKED or not (
        re.search(load_table()["denies"], low) or re.search(load_table()["spares"], low)
    ):
        return stands
    from insula.coding.step.instructions.demands import list_demands, make_pattern

    def is_spared(instruction: Instruction) -> bool:
        return any(re.search(make_pattern(demand), low) for demand in list_demands(instruction))

    return [other for other in stands if other.kind != ASKED or not is_spared(other)]


def _make_rest(instruction: Instruction, lift: Instruction) -> Instruction | None:
    """What is left of an instruction when some of what it names is taken back."""
    paths = tuple(
        path
        for path in instruction.paths
        if not any(_is_within(path, other) or _is_within(other, path) for other in lift.paths)
    )
    acts = tuple(act for act in instruction.acts if act not in lift.acts)
    if (paths and paths != instruction.paths) or (acts and acts != instruction.acts):
        return instruction.replace(paths=paths, acts=acts)
    return None


def _without_asked(instruction: Instruction, request: Instruction) -> Instruction | None:
    """An instruction after the user has asked for something: what they ask for themselves is no longer ruled out."""
    if instruction.kind not in STANDING or instruction.holds == RULE:
        return instruction
    elsewhere = instruction.places and not set(request.places) & set(instruction.places)
    if request.acts and set(request.acts) & set(instruction.acts) and not elsewhere:
        return _make_rest(instruction, request)
    if (
        instruction.kind == BAN
        and instruction.edits
        and not instruction.paths
        and _measure_likeness(request.words, instruction.words) > 0
    ):
        return (
            None
            if request.edits or (request.sure and request.at > instruction.at and not _only_runs(request))
            else instruction
        )
    if (
        instruction.kind == BAN
        and instruction.paths
        and any(_is_within(path, own) for path in request.paths for own in instruction.paths)
    ):
        return _make_rest(instruction, request)
    named = tuple(path for path in instruction.paths if _name_path(path) in request.words)
    if (
        instruction.kind == BAN and named and request.at > instruction.at
    ):  # "leave docs/ out of it", and later "now do the docs"
        return _make_rest(instruction, request.replace(paths=named))
    return instruction


def _name_path(path: str) -> str:
    return path.strip("/").rsplit("/", 1)[-1].split(".")[0].lower()


def _only_runs(request: Instruction) -> bool:
    """Whether a request is for something to be run, and not to be changed."""
    return heads.score_clause("demand", request.clause)["run"] > HALF


def _replaces_word(new: Instruction, old: Instruction) -> bool:
    """Whether an instruction takes the place of an older one: the same again, or the other way round."""
    if old.kind not in STANDING:
        return False
    if new.said == old.said:
        return new.paths == old.paths and new.words == old.words and new.kind == old.kind
    if new.kind == ONLY and old.kind == ONLY:
        return new.at > old.at
    if new.likes and (new.likes in old.programs or (old.likes and set(new.programs) & {old.likes})):
        return True
    return new.kind == old.kind == HOW and new.at > old.at and _measure_likeness(new.words, old.words) >= 0.5


def names_same(instruction: Instruction, other: Instruction) -> bool:
    """Whether two instructions name the same."""
    if any(_is_within(a, b) or _is_within(b, a) for a in instruction.paths for b in other.paths):
        return True
    if set(instruction.acts) & set(other.acts) or set(instruction.code) & set(other.code):
        return True
    if set(instruction.programs) & {*other.programs, other.likes} or (
        "push" in instruction.acts and "force-push" in other.acts
    ):
        return True
    return _measure_likeness(instruction.words, other.words) > 0


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
