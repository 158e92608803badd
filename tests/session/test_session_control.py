import json
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from insula import Controls
from insula.session.conditions import DEGRADED, DWELL_SECONDS, STM_BAND, STM_HIGH, Condition, Conditions, Reason
from insula.session.regulator import (
    RETRIEVAL_FLOOR,
    THRESHOLD_CAP,
    Regulation,
    record_changes,
    record_return,
    regulate_controls,
)
from insula.session.snapshot import LONGEST, SHORTEST, Figures, Performance, Ring, Schedule, Snapshot, restore_ring

ON = Condition(True, 0.0)
CALM, SLOW, FULL = Conditions(), Conditions(degraded=ON), Conditions(stm_high=ON)
BOTH = Conditions(degraded=ON, stm_high=ON)
SEVERE = Conditions(degraded=ON, severe=ON, stm_high=ON)
STATES = st.sampled_from([CALM, SLOW, FULL, BOTH, SEVERE])
SETTINGS = st.builds(
    Controls,
    max_context_items=st.integers(1, 100),
    consolidation_threshold=st.floats(0, 1),
    stm_capacity=st.integers(1, 1_000),
)
REASONS: st.SearchStrategy[Reason] = st.sampled_from((DEGRADED, STM_HIGH))
READINGS = st.lists(st.tuples(st.floats(0, 60), st.none() | st.floats(0, 3), st.none() | st.floats(0, 1)))


def items(conditions: Conditions, settings: Controls | None = None) -> int:
    return regulate_controls(settings or Controls(), conditions).controls.max_context_items


def threshold(conditions: Conditions, settings: Controls | None = None) -> float:
    return regulate_controls(settings or Controls(), conditions).controls.consolidation_threshold


def snapshots(reasons: tuple[Reason, ...], utilization: float | None, number: int = 8) -> list[int]:
    schedule, turn, found = Schedule(), 0, list[int]()
    while len(found) < number:
        turn += 1
        if schedule.is_due(turn):
            found.append(turn)
            schedule = schedule.reschedule(turn, reasons, utilization)
    return found


def test_the_floor_and_the_cap_hold() -> None:
    assert [items(BOTH, Controls(max_context_items=number)) for number in (100, 10, 7, 5, 4, 2)] == [56, 5, 4, 4, 4, 2]
    values = [0.75, 0.80, 0.84, 0.85, 0.95]
    assert [threshold(BOTH, Controls(consolidation_threshold=one)) for one in values] == [0.85] * 4 + [0.95]


@given(SETTINGS, STATES)
def test_a_lever_moves_one_way_only_and_never_past_its_bound(settings: Controls, state: Conditions) -> None:
    low, high = items(state, settings), threshold(state, settings)
    assert min(RETRIEVAL_FLOOR, settings.max_context_items) <= low <= settings.max_context_items
    assert settings.consolidation_threshold <= high <= max(THRESHOLD_CAP, settings.consolidation_threshold)


@given(SETTINGS, st.lists(STATES))
def test_controls_never_drift_however_often_conditions_come_and_go(
    settings: Controls, states: list[Conditions]
) -> None:
    untouched = replace(settings)
    once = [regulate_controls(settings, state) for state in states]
    assert [regulate_controls(settings, state) for state in states] == once
    assert regulate_controls(settings, CALM) == Regulation(controls=untouched)
    assert settings == untouched


def test_stages_are_skipped_under_severe_degradation_alone() -> None:
    assert [regulate_controls(Controls(), state).skipped for state in (CALM, BOTH)] == [(), ()]
    assert regulate_controls(Controls(), SEVERE).skipped == ("embedding", "assessor_model")
    assert regulate_controls(Controls(), replace(SEVERE, degraded=Condition())).skipped == ()


def recorded(*states: Conditions, settings: Controls | None = None) -> list[tuple[object, ...]]:
    made = [one for pair in pairwise(states) for one in record_changes(settings or Controls(), *pair, at=1.0)]
    return [(one.reason, one.lever, one.before, one.after) for one in made]


def test_each_adaptation_says_why_and_from_what_to_what_and_so_does_its_end() -> None:
    assert recorded(CALM, SEVERE, FULL, CALM) == snapshot(
        [
            ("performance_degraded", "max_context_items", 16, 12),
            ("performance_degraded", "consolidation_threshold", 0.55, 0.6),
            ("stm_high_utilization", "max_context_items", 12, 9),
            ("stm_high_utilization", "consolidation_threshold", 0.6, 0.65),
            ("performance_degraded", "history_share", 1.0, 0.5),
            ("performance_degraded", "skipped_stages", (), ("embedding", "assessor_model")),
            ("stable", "max_context_items", 9, 12),
            ("stable", "consolidation_threshold", 0.65, 0.6),
            ("stable", "history_share", 0.5, 1.0),
            ("stable", "skipped_stages", ("embedding", "assessor_model"), ()),
            ("stable", "max_context_items", 12, 16),
            ("stable", "consolidation_threshold", 0.6, 0.55),
        ]
    )


def test_what_a_process_left_moved_the_next_one_finds_where_it_was() -> None:
    left = record_changes(Controls(), CALM, SEVERE, 1.0)
    back = record_return(Controls(), left, 2.0)
    assert [(one.at, one.lever, one.reason, one.before, one.after) for one in back] == [
        (2.0, "max_context_items", "stable", 9, 16),
        (2.0, "consolidation_threshold", "stable", 0.65, 0.55),
        (2.0, "history_share", "stable", 0.5, 1.0),
        (2.0, "skipped_stages", "stable", ("embedding", "assessor_model"), ()),
    ]
    assert record_return(Controls(), [*left, *back], 3.0) == ()
    assert record_return(Controls(), [], 3.0) == ()


@given(SETTINGS, st.lists(STATES, min_size=1))
def test_the_record_leads_from_the_settings_to_what_is_in_force(settings: Controls, states: list[Conditions]) -> None:
    value = settings.max_context_items
    for before, after in pairwise([CALM, *states]):
        for one in record_changes(settings, before, after, 1.0):
            if one.lever == "max_context_items":
                assert one.before == value
                assert isinstance(one.after, int)
                value = one.after
        assert value == items(after, settings)


def test_working_memory_is_high_from_085_until_below_070() -> None:
    state, seen = Conditions(), list[bool]()
    for step, value in enumerate([0.84, 0.85, 0.80, 0.70, 0.69, 0.84, 0.85]):
        state = state.observe_turn(step * DWELL_SECONDS, None, value)
        seen.append(state.stm_high.active)
    assert seen == [False, True, True, True, False, False, True]


def test_performance_is_degraded_at_twice_the_usual_until_it_is_below_one_and_a_half() -> None:
    state, seen = Conditions(), list[bool]()
    for step, value in enumerate([1.99, 2.0, 1.9, 1.5, 1.49, 1.9]):
        state = state.observe_turn(step * DWELL_SECONDS, value, None)
        seen.append(state.degraded.active)
    assert seen == [False, True, True, True, False, False]
    assert state.reasons == ()


def test_a_clock_that_was_put_back_holds_no_condition() -> None:
    assert not Condition(True, 1_000_000.0).observe_value(0.0, 5.0, STM_BAND).observe_value(0.0, 0.0, STM_BAND).active


@given(READINGS)
def test_a_condition_never_flips_within_its_dwell(readings: list[tuple[float, float | None, float | None]]) -> None:
    state, at, flips = Conditions(), 0.0, dict[str, list[float]]()
    for wait, load, utilization in readings:
        at += wait
        after = state.observe_turn(at, load, utilization)
        for name in ("degraded", "severe", "stm_high"):
            if getattr(after, name).active != getattr(state, name).active:
                flips.setdefault(name, []).append(at)
        state = after
    for times in flips.values():
        assert all(later - earlier >= DWELL_SECONDS for earlier, later in pairwise(times))


def test_stable_sessions_have_snapshots_at_5_11_18_and_so_on() -> None:
    assert snapshots((), 0.2) == [5, 11, 18, 26, 35, 45, 55, 65]
    assert snapshots((), None) == [5, 11, 18, 26, 35, 45, 55, 65]


def test_under_load_snapshots_tighten_to_every_second_turn() -> None:
    assert snapshots((STM_HIGH,), 0.9) == [5, 9, 12, 14, 16, 18, 20, 22]


@given(
    st.integers(-5, 50),
    st.lists(st.tuples(st.lists(REASONS), st.none() | st.floats(0, 1), st.integers(0, 9))),
)
def test_the_interval_stays_within_bounds_and_due_turns_strictly_increase(
    interval: int, steps: list[tuple[list[Reason], float | None, int]]
) -> None:
    schedule = Schedule.start_schedule(interval)
    for reasons, utilization, late in steps:
        following = schedule.reschedule(schedule.due + late, reasons, utilization)
        assert SHORTEST <= following.interval <= LONGEST
        assert following.due >= schedule.due + SHORTEST
        assert abs(following.interval - schedule.interval) <= 1
        schedule = following


# session ring


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


def test_an_effect_is_not_invented_where_a_figure_is_missing() -> None:
    started = [one.model_copy(update={"found": Figures()}) for one in STARTED]
    ring = Ring().with_adaptations(started).with_snapshot(at_turn(5, 600.0), ())
    assert ring.adaptations[0].model_dump(mode="json")["effect"] == {}


def test_the_ring_is_bounded() -> None:
    ring = after(2_000, size=3)
    assert len(ring.snapshots) == 3
    assert len(ring.with_adaptations(STARTED * 9).adaptations) == 6


@given(st.integers(0, 80), st.booleans(), st.integers(1, 9))
def test_the_ring_and_the_interval_survive_a_restart(turns: int, high: bool, size: int) -> None:
    ring = after(turns, (STM_HIGH,) if high else (), size)
    assert restore_ring(json.loads(json.dumps(ring.model_dump(mode="json"), allow_nan=False)), size) == ring


def test_what_cannot_be_read_is_left_out() -> None:
    data = after(30).model_dump(mode="json")
    data["snapshots"][0]["version"] = 99
    data["adaptations"].append("torn")
    data["schedule"]["due"] = 10**9
    ring = restore_ring(data)
    assert [one.turn_counter for one in ring.snapshots] == [11, 18, 26]
    assert ring.schedule == Schedule(interval=9, due=35)
