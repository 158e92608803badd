"""What the sentences of turns were worth, told against withheld by lot; and how often each claim was made.

As the ledger has it: no text is read.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from insula.claims import REGISTER
from insula.guidance import SHOWN, WITHHELD
from insula.memory.storage.rows import StoredSignal
from insula.types import JUDGED, PASS_THRESHOLD, TURN
from insula.value import is_list, is_number, is_object
from insula.worth import Worth, compare_outcomes, make_rate

Case = tuple[str, bool]
"""The arm, and whether what nobody wants has happened."""


def sentence_effects(turns: Sequence[StoredSignal]) -> dict[str, Worth]:
    """By kind of sentence, how much less often a response falls short where it was told; of a session, one case each.

    Args:
        turns: the records of turns, oldest first.
    """
    readers: Mapping[str, Callable[[Mapping[str, Any]], Case | None]] = {
        "lessons": _guidance_reader("lessons", turns),
        "insights": _guidance_reader("insights", turns),
        "next-turn sentences": _read_feedback,
    }
    return {name: _compare_arms(_read_cases(turns, read)) for name, read in readers.items()}


def _read_cases(turns: Sequence[StoredSignal], read: "Callable[[Mapping[str, Any]], Case | None]") -> Iterator[Case]:
    seen = set[int]()
    for turn in turns:
        case = read(turn.data) if turn.session_id not in seen else None
        if case is not None:
            seen.add(turn.session_id)
            yield case


def _compare_arms(cases: Iterator[Case]) -> Worth:
    counts = {(arm, bad): 0 for arm in (SHOWN, WITHHELD) for bad in (True, False)}
    for case in cases:
        counts[case] += 1
    told, held = (sum(counts[arm, bad] for bad in (True, False)) for arm in (SHOWN, WITHHELD))
    return compare_outcomes(make_rate(counts[SHOWN, True], told), make_rate(counts[WITHHELD, True], held))


def _guidance_reader(name: str, turns: Sequence[StoredSignal]) -> "Callable[[Mapping[str, Any]], Case | None]":
    """Whether the response fell short, by the arm of what the turn was told; what no lot withholds is left out."""
    by_lot = {
        guidance.get("id")
        for turn in turns
        for guidance in _told_guidance(turn.data, name)
        if guidance.get("arm") == WITHHELD
    }

    def read_case(data: Mapping[str, Any]) -> Case | None:
        arms = {str(guidance.get("arm")) for guidance in _told_guidance(data, name) if guidance.get("id") in by_lot}
        short = _fell_short(data)
        return (arms.pop(), short) if len(arms) == 1 and arms <= {SHOWN, WITHHELD} and short is not None else None

    return read_case


def _told_guidance(data: Mapping[str, Any], name: str) -> "list[dict[str, Any]]":
    guidance = data.get(name)
    return [guidance for guidance in guidance if is_object(guidance)] if is_list(guidance) else []


def _fell_short(data: Mapping[str, Any]) -> bool | None:
    assessment = data.get("assessment")
    score = assessment.get("score") if is_object(assessment) and not assessment.get("unclear") else None
    return score < PASS_THRESHOLD if is_number(score) else None


def _read_feedback(data: Mapping[str, Any]) -> Case | None:
    """Whether what fell short the turn before still does."""
    mend = data.get("mend")
    arm = mend.get("arm") if is_object(mend) else None
    mended = mend.get("mended") if is_object(mend) else None
    return (str(arm), not mended) if arm in {SHOWN, WITHHELD} and isinstance(mended, bool) else None


class ClaimCount(NamedTuple):
    """How often a claim was made."""

    made: int
    of: int
    """Messages or calls in which it could have been."""
    wrong: int
    """Of those, how many the user called wrong: the answer that it stood beside, or the note itself."""


KINDS = (TURN, JUDGED)
"""The signals that are counted."""
OF_TURNS = tuple(name for name, claim in REGISTER.items() if claim.counted and claim.place in {"request", "reply"})
"""The claims that a turn makes by itself; all others are made to who asks."""


def count_claims(noticed: Sequence[StoredSignal]) -> Mapping[str, ClaimCount]:
    """How often each claim of a turn was made, of the turns whose record says so; empty where none does.

    Args:
        noticed: the signals of `KINDS`.
    """
    wrong_turns = {
        (signal.session_id, signal.turn)
        for signal in noticed
        if signal.kind == JUDGED and signal.data.get("right") is False
    }
    turns = [
        (signal, named) for signal in noticed if signal.kind == TURN and is_list(named := signal.data.get("claims"))
    ]
    made = Counter(name for _, named in turns for name in named)
    wrong = Counter(
        name for signal, named in turns if (signal.session_id, signal.turn) in wrong_turns for name in named
    )
    return {name: ClaimCount(made[name], len(turns), wrong[name]) for name in OF_TURNS} if turns else {}
