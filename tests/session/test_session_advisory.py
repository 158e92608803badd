from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from insula.session.advisory import advisories, fitted
from insula.session.conditions import DEGRADED, STM_HIGH

ALL = advisories((DEGRADED, STM_HIGH))


def test_what_the_model_is_told() -> None:
    assert [(one.source_system, one.reason, one.text) for one in ALL] == snapshot(
        [
            (
                "metacog",
                "performance_degraded",
                "Responses have been slow lately. Where the question allows it, a short answer serves the user best.",
            ),
            (
                "metacog",
                "stm_high_utilization",
                "Much has come up in this session; not every memory may be shown. It is fine to ask for one.",
            ),
        ]
    )


def test_silent_when_healthy() -> None:
    assert advisories(()) == ()


def test_an_advisory_is_short_and_no_evidence() -> None:
    assert all(len(one.text) < 200 and one.provenance == "derived" for one in ALL)


def test_advisories_stand_inside_the_context_budget() -> None:
    memories = list(range(16))
    kept, told = fitted(memories, ALL, 9)
    assert (kept, told) == (tuple(range(7)), ALL)
    assert fitted(memories, (), 9) == (tuple(range(9)), ())
    assert fitted([1, 2], ALL, 9) == ((1, 2), ALL)


@given(st.lists(st.integers()), st.integers(0, 2), st.integers(0, 20))
def test_the_budget_is_kept_and_the_best_memory_with_it(memories: list[int], number: int, limit: int) -> None:
    kept, told = fitted(memories, ALL[:number], limit)
    assert len(kept) + len(told) <= limit
    assert kept == tuple(memories[: len(kept)])
    assert kept or not memories or not limit
