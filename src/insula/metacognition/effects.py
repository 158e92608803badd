"""What the sentences of a turn were worth: where a model was told them against where a lot withheld them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from insula.guidance import SHOWN, WITHHELD
from insula.memory.storage.rows import StoredSignal
from insula.types import PASS_THRESHOLD
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
