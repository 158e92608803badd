"""What insights are worth: how answers went where one was told against where the lot withheld it (law 7)."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from insula.guidance import SHOWN, WITHHELD
from insula.memory.storage.rows import Noticed
from insula.value import is_list, is_number, is_object
from insula.worth import Worth, amounts, worth


class Weighed(TypedDict):
    """What is known of one insight."""

    id: int
    told: int
    withheld: int
    verdict: str
    estimate: float
    low: float
    high: float


def weighed(turns: Iterable[Noticed]) -> list[Weighed]:
    """The insights that came up in some turns, oldest first, each with its effect on how much answers fell short.

    Of one session the first turn counts: what follows is no case of its own.
    """
    cases: dict[tuple[int, int], tuple[str, float]] = {}
    for turn in turns:
        if (short := _shortfall(turn.data)) is None:
            continue
        for number, arm in _arms(turn.data):
            cases.setdefault((number, turn.session_id), (arm, short))
    ids = sorted({number for number, _ in cases})
    return [_of(number, [case for (one, _), case in cases.items() if one == number]) for number in ids]


def _of(number: int, cases: list[tuple[str, float]]) -> Weighed:
    told, withheld = ([short for arm, short in cases if arm == each] for each in (SHOWN, WITHHELD))
    found: Worth = worth(amounts(told, 1.0), amounts(withheld, 1.0))
    return {
        "id": number,
        "told": len(told),
        "withheld": len(withheld),
        "verdict": found.verdict,
        "estimate": round(found.estimate, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
    }


def _shortfall(data: Mapping[str, Any]) -> float | None:
    """By how much an answer fell short of all that could be asked of it; None where that was not told."""
    judged = data.get("assessment")
    score = judged.get("score") if is_object(judged) and not judged.get("unclear") else None
    return 1.0 - float(score) if is_number(score) else None


def _arms(data: Mapping[str, Any]) -> Iterable[tuple[int, str]]:
    used = data.get("insights")
    for one in used if is_list(used) else ():
        if is_object(one) and isinstance(number := one.get("id"), int) and one.get("arm") in (SHOWN, WITHHELD):
            yield number, str(one["arm"])
