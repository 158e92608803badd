import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from insula.session.adaptation import Adaptation, AdaptationEffect, Figures
from insula.session.conditions import DEGRADED, STM_HIGH, Condition, Conditions, Reason
from insula.session.control import record_changes
from insula.session.ring import Ring, restore_ring
from insula.session.schedule import Schedule
from insula.session.snapshot import Performance, Snapshot
from insula.types import Controls

FOUND = Figures(latency_p95_ms=900.0, stm_utilization=0.5)
STARTED = record_changes(Controls(), Conditions(), Conditions(degraded=Condition(True, 3.0)), at=3.0, figures=FOUND)


def at_turn(turn: int, ms: float | None = None, utilization: float | None = None) -> Snapshot:
    performance = Performance(latency_p95_ms=ms)
    return Snapshot(ts=float(turn), turn_counter=turn, performance=performance, stm_utilization=utilization)


def after(turns: int, reasons: tuple[Reason, ...] = (), size: int = 50) -> Ring:
    ring = Ring(size=size)
    for turn in range(1, turns + 1):
        if ring.schedule.is_due(turn):
            ring = ring.with_snapshot(at_turn(turn, utilization=0.9 if reasons else 0.1), reasons)
    return ring


def intervals(ring: Ring) -> list[tuple[object, object, str]]:
    return [(one.before, one.after, one.reason) for one in ring.adaptations if one.lever == "snapshot_interval"]


def test_the_ring_takes_snapshots_as_they_are_due() -> None:
    assert [one.turn_counter for one in after(65).snapshots] == [5, 11, 18, 26, 35, 45, 55, 65]
    assert [one.turn_counter for one in after(18, (STM_HIGH,)).snapshots] == [5, 9, 12, 14, 16, 18]


def test_each_change_of_the_interval_is_on_record() -> None:
    assert intervals(after(65)) == [(before, before + 1, "stable") for before in range(5, 10)]
    assert intervals(after(18, (STM_HIGH,))) == [(5, 4, STM_HIGH), (4, 3, STM_HIGH), (3, 2, STM_HIGH)]


def test_the_effect_of_an_adaptation_is_filled_in_by_the_next_snapshot() -> None:
    ring = Ring().with_adaptations(STARTED)
    assert all(one.effect is None for one in ring.adaptations)
    ring = ring.with_snapshot(at_turn(7, 600.0, 0.625), ())
    assert [one.model_dump(mode="json") for one in ring.adaptations if one.lever == "max_context_items"] == snapshot(
        [
            {
                "at": 3.0,
                "lever": "max_context_items",
                "reason": "performance_degraded",
                "before": 16,
                "after": 12,
                "found": {"latency_p95_ms": 900.0, "stm_utilization": 0.5},
                "effect": {"latency_p95_ms": -300.0, "stm_utilization": 0.125},
            }
        ]
    )
    last = ring.adaptations[-1]
    assert (last.lever, last.effect) == ("snapshot_interval", None)


def test_what_was_slow_when_an_adaptation_was_made_is_no_effect_of_it() -> None:
    ring = (
        Ring()
        .with_snapshot(at_turn(2, 100.0, 0.1), ())
        .with_adaptations(STARTED)
        .with_snapshot(at_turn(7, 900.0, 0.5), (DEGRADED,))
    )
    assert ring.adaptations[1].reason == DEGRADED
    assert ring.adaptations[1].effect == AdaptationEffect(latency_p95_ms=0.0, stm_utilization=0.0)


def test_an_adaptation_made_at_the_moment_of_a_snapshot_waits_for_the_next() -> None:
    seen = Figures(latency_p95_ms=900.0)
    made = Adaptation(at=5.0, lever="snapshot_interval", reason="stable", before=5, after=6, found=seen)
    ring = Ring().with_adaptations([made]).with_snapshot(at_turn(5, 900.0), ())
    assert ring.adaptations[0] == made
    assert ring.with_snapshot(at_turn(11, 600.0), ()).adaptations[0].effect == AdaptationEffect(latency_p95_ms=-300.0)


def test_a_later_snapshot_does_not_change_an_effect() -> None:
    ring = Ring().with_snapshot(at_turn(2, 900.0), ()).with_adaptations(STARTED).with_snapshot(at_turn(7, 600.0), ())
    first = ring.adaptations[1]
    assert ring.with_snapshot(at_turn(13, 90.0), ()).adaptations[1] == first


def test_an_effect_is_not_invented_where_a_figure_is_missing() -> None:
    started = [one.model_copy(update={"found": Figures()}) for one in STARTED]
    ring = Ring().with_adaptations(started).with_snapshot(at_turn(5, 600.0), ())
    assert ring.adaptations[0].model_dump(mode="json")["effect"] == {}


def test_the_ring_is_bounded() -> None:
    ring = after(2_000, size=3)
    assert len(ring.snapshots) == 3
    assert len(ring.with_adaptations(STARTED * 9).adaptations) == 6


def test_levers_that_move_often_drive_out_no_history_of_the_interval() -> None:
    ring = after(65, size=5)
    assert intervals(ring.with_adaptations(STARTED * 99)) == intervals(ring) != []
    assert ring.last == ring.snapshots[-1]


@given(st.integers(0, 80), st.booleans(), st.integers(1, 9))
def test_the_ring_and_the_interval_survive_a_restart(turns: int, high: bool, size: int) -> None:
    ring = after(turns, (STM_HIGH,) if high else (), size)
    assert restore_ring(json.loads(json.dumps(ring.model_dump(mode="json"), allow_nan=False)), size) == ring


def test_skipped_stages_survive_json() -> None:
    made = Adaptation(at=1.0, lever="skipped_stages", reason=STM_HIGH, before=(), after=("embedding",))
    assert Adaptation.model_validate_json(made.model_dump_json()) == made


def test_what_cannot_be_read_is_left_out() -> None:
    data = after(30).model_dump(mode="json")
    data["snapshots"][0]["version"] = 99
    data["adaptations"].append("torn")
    data["schedule"]["due"] = 10**9
    ring = restore_ring(data)
    assert [one.turn_counter for one in ring.snapshots] == [11, 18, 26]
    assert ring.schedule == Schedule(interval=9, due=35)


@pytest.mark.parametrize("data", [{}, {"snapshots": "x", "schedule": 3}, {"adaptations": [None], "schedule": {}}])
def test_a_ring_that_is_all_damage_starts_anew(data: dict[str, object]) -> None:
    assert restore_ring(data) == Ring()


def test_a_smaller_ring_keeps_the_latest() -> None:
    assert [one.turn_counter for one in restore_ring(after(30).model_dump(mode="json"), 2).snapshots] == [18, 26]
