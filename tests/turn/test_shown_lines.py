"""Of what was recalled, what hardly answers does not stand before a model, and of what may not answer little does."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from insula.memory.relevance import ANSWERS, BEARS
from insula.turn.relevance import BESIDE, DOUBTFUL, best_odds, choose_lines
from insula.types import Memory, Recalled

MOST = 8
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def line(number: int, odds: float) -> Recalled:
    memory = Memory(
        id=number,
        kind="semantic",
        provenance="user",
        speaker="user",
        content="I keep bees.",
        said_at=NOON,
        session="s",
        importance=0.5,
        confidence=1.0,
        line="I keep bees.",
    )
    return Recalled(memory=memory, score=0.5, parts={}, odds=odds)


@example([-2.0] * 5)
@example([0.0] * 12)
@given(st.lists(st.floats(-9, 5), max_size=20))
def test_only_lines_near_the_likeliest_are_shown_and_few_where_none_likely_answers(odds: list[float]) -> None:
    shown = [hit.odds or 0.0 for hit in choose_lines([line(number, each) for number, each in enumerate(odds)], MOST)]
    best = max(odds, default=BEARS - 1)
    assert shown == sorted(shown, reverse=True)
    assert all(each >= max(BEARS, best - BESIDE) for each in shown)
    assert bool(shown) == (best >= BEARS)
    near = sum(each >= max(BEARS, best - BESIDE) for each in odds)
    assert len(shown) == min(near, MOST if best >= ANSWERS else DOUBTFUL)


def test_what_a_tool_brought_opens_memory_to_nothing_but_what_surely_only_the_user_can_have_told() -> None:
    own, brought = line(1, -2.0), line(2, 3.0)
    brought = replace(brought, memory=replace(brought.memory, provenance="tool"), bearing="answers")
    assert best_odds([own, brought], by_tools=False) == -2.0
    assert best_odds([own, brought], by_tools=True) == 3.0
