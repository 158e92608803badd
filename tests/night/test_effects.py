"""What insights are worth, by the lot: claimed from a comparison alone."""

from typing import Any

from insula.guidance import HURTS, UNKNOWN, WORKS
from insula.memory.storage.rows import Noticed
from insula.night.effects import weighed
from insula.types import TURN


def turn(session: int, arm: str, score: float, **more: Any) -> Noticed:
    data = {"assessment": {"score": score, **more}, "insights": [{"id": 7, "arm": arm}]}
    return Noticed(session, 1, TURN, data, float(session))


def test_an_insight_that_makes_answers_better_or_worse_is_told_by_the_comparison() -> None:
    many = range(400)
    better = weighed(turn(n, "shown" if n % 2 else "withheld", 0.9 if n % 2 else 0.4) for n in many)
    worse = weighed(turn(n, "shown" if n % 2 else "withheld", 0.4 if n % 2 else 0.9) for n in many)
    assert [one["verdict"] for one in (*better, *worse)] == [WORKS, HURTS]
    assert better[0]["low"] > 0


def test_few_cases_and_one_arm_alone_say_nothing() -> None:
    assert weighed([turn(1, "shown", 1.0), turn(2, "withheld", 0.1)])[0]["verdict"] == UNKNOWN
    assert weighed(turn(n, "shown", 1.0) for n in range(50))[0]["verdict"] == UNKNOWN


def test_a_session_is_one_case_and_what_could_not_be_told_is_none() -> None:
    (found,) = weighed([turn(1, "shown", 0.9), turn(1, "shown", 0.1), turn(2, "shown", 0.2, unclear=True)])
    assert (found["told"], found["withheld"]) == (1, 0)
