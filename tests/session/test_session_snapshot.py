import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import ValidationError

from insula.session.latency import (
    MINIMUM,
    OLDEST_SECONDS,
    WINDOW_SECONDS,
    Latency,
    percentile_95,
    recent_p95,
)
from insula.session.snapshot import Performance, Snapshot, SnapshotCounts, count_occupied, take_snapshot

NOW = 1_000_000.0
FINITE = st.floats(0, 1e6)
COUNTS = st.builds(
    SnapshotCounts,
    stored=st.none() | st.integers(0, 1_000),
    promoted=st.none() | st.integers(0, 1_000),
    promotion_ages=st.lists(st.floats(allow_nan=True), max_size=30).map(tuple),
    occupied=st.none() | st.integers(0, 1_000),
    capacity=st.none() | st.integers(0, 100),
    last_user_turn_status=st.sampled_from([None, "stored", "skipped"]),
)


def turns(*ms: float, every: float = 1.0, until: float = NOW) -> list[Latency]:
    return [Latency(until - every * back, one) for back, one in zip(range(len(ms) - 1, -1, -1), ms, strict=True)]


def test_a_snapshot_as_json() -> None:
    counts = SnapshotCounts(
        stored=20,
        promoted=5,
        promotion_ages=(4.0, 2.0, 8.0),
        occupied=8,
        capacity=32,
        last_user_turn_status="stored",
    )
    taken = take_snapshot(counts, Performance(latency_p95_ms=812.5), at=NOW, turn=5)
    assert taken.model_dump(mode="json") == snapshot(
        {
            "version": 1,
            "ts": 1000000.0,
            "turn_counter": 5,
            "performance": {"latency_p95_ms": 812.5, "degraded": False},
            "recent_consolidation_selectivity": 0.25,
            "promotion_age_p95_seconds": 8.0,
            "stm_utilization": 0.7272727272727273,
            "stm_capacity": 32,
            "last_user_turn_status": "stored",
        }
    )


def test_what_is_not_known_is_absent_and_performance_never_is() -> None:
    bare = take_snapshot(SnapshotCounts(), Performance(), at=NOW, turn=0)
    assert json.loads(bare.model_dump_json()) == snapshot(
        {"version": 1, "ts": 1000000.0, "turn_counter": 0, "performance": {"degraded": False}}
    )


def test_zero_is_a_figure_and_is_shown() -> None:
    empty = take_snapshot(SnapshotCounts(stored=4, promoted=0, occupied=0, capacity=32), Performance(), at=NOW, turn=5)
    shown = empty.model_dump(mode="json")
    assert (shown["recent_consolidation_selectivity"], shown["stm_utilization"]) == (0.0, 0.0)


def test_nothing_stored_gives_no_selectivity() -> None:
    assert (
        take_snapshot(
            SnapshotCounts(stored=0, promoted=0), Performance(), at=NOW, turn=5
        ).recent_consolidation_selectivity
        is None
    )


@given(COUNTS, st.none() | FINITE, st.booleans(), st.integers(0, 10**9))
def test_any_counts_make_a_snapshot_that_survives_json(
    counts: SnapshotCounts, ms: float | None, degraded: bool, turn: int
) -> None:
    taken = take_snapshot(counts, Performance(latency_p95_ms=ms, degraded=degraded), at=NOW, turn=turn)
    written = json.dumps(taken.model_dump(mode="json"), allow_nan=False)
    assert "null" not in written
    assert Snapshot.model_validate_json(written) == taken


@pytest.mark.parametrize("odd", [{"version": 2}, {"note": "what the user said"}, {"stm_utilization": 1.5}])
def test_a_snapshot_of_another_schema_is_refused(odd: dict[str, object]) -> None:
    sound = take_snapshot(SnapshotCounts(), Performance(), at=NOW, turn=1).model_dump(mode="json")
    with pytest.raises(ValidationError):
        Snapshot.model_validate(sound | odd)


def test_the_schema_names_its_fields_where_it_is_served() -> None:
    served = Snapshot.model_json_schema(mode="serialization")
    assert set(served["properties"]) == set(Snapshot.model_fields)
    assert set(served["required"]) >= {"ts", "turn_counter", "performance"}


def test_working_memory_full_of_small_talk_is_not_highly_used() -> None:
    assert count_occupied([0.2] * 32, 0.55) == 0
    assert count_occupied([0.46, 0.5, 0.44], 0.55) == 2


@pytest.mark.parametrize(("number", "rank"), [(1, 1), (10, 10), (19, 19), (20, 19), (100, 95), (101, 96)])
def test_p95_is_the_nearest_rank(number: int, rank: int) -> None:
    assert percentile_95([float(value) for value in range(number, 0, -1)]) == rank


def test_p95_of_nothing_is_unknown() -> None:
    assert percentile_95([]) is None
    assert percentile_95([float("nan"), float("inf")]) is None


@given(st.lists(FINITE, min_size=1))
def test_at_most_one_in_twenty_is_above_the_p95(values: list[float]) -> None:
    found = percentile_95(values)
    assert found in values
    assert sum(value > found for value in values) <= 0.05 * len(values)


def test_a_few_turns_are_no_sample() -> None:
    assert recent_p95(turns(*[9_000.0] * (MINIMUM - 1)), NOW) is None
    assert recent_p95(turns(*[9_000.0] * MINIMUM), NOW) == 9_000.0


def test_one_slow_turn_in_the_smallest_sample_does_not_decide() -> None:
    assert recent_p95(turns(*[100.0] * (MINIMUM - 1), 60_000.0), NOW) == 100.0


def test_five_hundred_old_turns_do_not_mask_recovery() -> None:
    old = turns(*[9_000.0] * 500, until=NOW - WINDOW_SECONDS - 1)
    assert recent_p95(old + turns(*[100.0] * MINIMUM), NOW) == 100.0


def test_a_model_so_slow_that_its_turns_are_rare_is_still_seen() -> None:
    rare = turns(*[90_000.0] * MINIMUM, every=90.0)
    assert sum(NOW - one.at <= WINDOW_SECONDS for one in rare) < MINIMUM
    assert recent_p95(rare, NOW) == 90_000.0


def test_turns_of_hours_ago_say_nothing_of_now() -> None:
    assert recent_p95(turns(*[9_000.0] * 100, until=NOW - OLDEST_SECONDS - 1), NOW) is None


def test_after_a_clock_was_put_back_turns_of_its_future_mask_no_recovery() -> None:
    ahead = turns(*[9_000.0] * 100, until=NOW + 1_000.0)
    assert recent_p95(ahead, NOW) is None
    assert recent_p95(ahead + turns(*[100.0] * MINIMUM), NOW) == 100.0


def test_one_slow_turn_among_rare_ones_does_not_decide() -> None:
    assert recent_p95(turns(*[100.0] * MINIMUM, 60_000.0, every=90.0), NOW) == 100.0


def test_where_turns_are_frequent_all_of_the_window_counts() -> None:
    assert recent_p95(turns(*[9_000.0] * 20, *[100.0] * 80), NOW) == 9_000.0


def test_a_latency_that_is_no_number_is_no_turn() -> None:
    assert recent_p95(turns(*[100.0] * (MINIMUM - 1), float("nan")), NOW) is None
