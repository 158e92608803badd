"""What the sentences of a turn were worth, by the ledger: one case of a session, and nothing that no lot withholds."""

from typing import Any

from insula.memory.storage.rows import StoredSignal
from insula.metacognition.effects import sentence_effects

GOOD, POOR = 0.9, 0.4


def turn(session: int, score: float = GOOD, number: int = 1, **data: Any) -> StoredSignal:
    return StoredSignal(session, number, "meta:turn", {"assessment": {"score": score}, **data}, 1e9 + session)


def lesson(arm: str, number: int = 7) -> list[dict[str, Any]]:
    return [{"id": number, "arm": arm}]


def test_responses_with_a_lesson_are_compared_with_those_from_which_it_was_withheld() -> None:
    told = [turn(n, GOOD, lessons=lesson("shown")) for n in range(40)]
    held = [turn(100 + n, POOR, lessons=lesson("withheld")) for n in range(40)]
    found = sentence_effects([*told, *held])["lessons"]
    assert (found.told.cases, found.withheld.cases) == (40, 40)
    assert found.verdict == "works"
    assert sentence_effects(told)["lessons"].verdict == "not enough evidence"


def test_a_wish_that_no_lot_withholds_is_no_case() -> None:
    turns = [
        turn(1, lessons=lesson("shown", 3)),
        turn(2, lessons=lesson("shown", 7)),
        turn(3, lessons=lesson("withheld", 7)),
    ]
    assert sentence_effects(turns)["lessons"].told.cases == 1


def test_a_session_is_one_case() -> None:
    turns = [turn(1, number=n, insights=lesson("withheld")) for n in range(5)]
    assert sentence_effects(turns)["insights"].withheld.cases == 1


def test_what_fell_short_counts_as_mended_or_not() -> None:
    told = [turn(n, mend={"flag": "constraint", "arm": "shown", "mended": True}) for n in range(30)]
    held = [turn(50 + n, mend={"flag": "constraint", "arm": "withheld", "mended": False}) for n in range(30)]
    assert sentence_effects([*told, *held])["next-turn sentences"].verdict == "works"


def test_what_could_not_be_judged_or_read_is_no_case() -> None:
    broken = [turn(1, lessons="x"), turn(2, mend={"arm": 3}), turn(3, lessons=[None]), turn(4, mend=None)]
    unclear = StoredSignal(
        5, 1, "meta:turn", {"assessment": {"score": 0.2, "unclear": True}, "lessons": lesson("withheld")}, 0
    )
    assert all(not found.told.cases + found.withheld.cases for found in sentence_effects([*broken, unclear]).values())
