"""How much slower than usual a model is: what counts, and what does not (S7)."""

import json
import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import ValidationError

from insula import Usage
from insula.session.conditions import (
    ANSWER,
    DEGRADED_BAND,
    KEPT_USUAL,
    LEAST_NOW,
    LEAST_USUAL,
    MINIMUM,
    OLDEST_SECONDS,
    PROMPT,
    WINDOW_SECONDS,
    Latency,
    Observation,
    Pace,
    fit_usual,
    observe_turn,
    percentile_95,
    read_pace,
    recent_p95,
    write_pace,
)
from insula.session.regulator import EndedTurn, Regulator
from insula.session.snapshot import Performance, Snapshot
from insula.types import Controls

NOW = 1_000_000.0
FIXED, PER_TOKEN = 1.0, 0.02
SLOW = DEGRADED_BAND.enter


class Model:
    """A model that takes a second, and twenty milliseconds for each token, times what it is slowed down by."""

    def __init__(self, every: float = 60.0) -> None:
        self.pace, self.at, self._every = Pace(), NOW, every

    def answers(self, lengths: Iterable[int], slower: float = 1.0, spread: float = 0.0, seed: int = 0) -> float | None:
        """Answer so many times; returns how slow it seems then."""
        chance = random.Random(seed)
        for tokens in lengths:
            self.at += self._every
            seconds = slower * (FIXED + PER_TOKEN * tokens) * chance.lognormvariate(0, spread)
            self.pace = self.pace.observe_answer(Observation(self.at, ANSWER, seconds, tokens))
        return self.pace.measure_slowdown(self.at)


def mixed(number: int, seed: int = 0) -> list[int]:
    chance = random.Random(seed)
    return [chance.randint(5, 400) for _ in range(number)]


@pytest.mark.parametrize("times", [1.0, 2.5, 4.0])
def test_how_much_slower_a_model_is_than_usual_is_found(times: float) -> None:
    model = Model()
    model.answers(mixed(LEAST_USUAL))
    assert model.answers(mixed(LEAST_NOW, 1), slower=times) == pytest.approx(times, abs=0.01)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("long answers", [1_500] * 12),
        ("answers far longer than any before", [20_000] * 12),
        ("one-word answers", [2] * 12),
        ("long and short in turn", [3, 900] * 6),
    ],
)
def test_a_model_is_not_slow_for_the_length_of_its_answers(before: str, after: list[int]) -> None:
    del before
    for usually in (mixed(40), [100] * 40, [2, 3, 4, 5] * 10, [600] * 40):
        model = Model()
        model.answers(usually)
        assert (model.answers(after) or 0.0) < SLOW, usually[:3]


def test_a_long_prompt_is_read_for_longer_and_no_sign_of_a_slow_model() -> None:
    pace = Pace()
    for number in range(60):
        tokens = 500 + 10 * number if number < 48 else 30_000
        pace = pace.observe_answer(Observation(NOW + 60 * number, PROMPT, 0.2 + 0.001 * tokens, tokens))
    assert (pace.measure_slowdown(NOW + 60 * 59) or 0.0) < SLOW


def test_a_few_answers_say_neither_what_is_usual_nor_how_it_is_now() -> None:
    model = Model()
    assert model.answers(mixed(LEAST_USUAL)) is None
    assert model.answers(mixed(LEAST_NOW - 1), slower=9) is None
    assert model.answers(mixed(1), slower=9) == pytest.approx(9, abs=0.01)


def test_times_that_spread_as_those_of_hosted_models_are_hardly_ever_called_slow() -> None:
    worst = [Model().answers(mixed(200, seed), spread=0.5, seed=seed) or 0.0 for seed in range(40)]
    assert sum(one >= SLOW for one in worst) == 0


def test_a_model_that_stays_slow_for_long_is_usual_after_thirty_turns_and_not_before() -> None:
    model = Model()
    model.answers(mixed(KEPT_USUAL))
    assert (model.answers(mixed(25, 1), slower=3) or 0.0) >= SLOW
    assert (model.answers(mixed(20, 2), slower=3) or 9.0) < DEGRADED_BAND.leave
    back = model.answers(mixed(LEAST_NOW, 3))
    assert back is not None
    assert back < 1.0


def test_a_model_that_is_fast_again_is_so_at_once() -> None:
    model = Model(every=1.0)
    model.answers(mixed(40))
    model.answers(mixed(40), slower=5)
    model.at += WINDOW_SECONDS
    assert (model.answers(mixed(LEAST_NOW)) or 9.0) < DEGRADED_BAND.leave


def test_turns_of_hours_ago_say_nothing_of_now() -> None:
    model = Model(every=1.0)
    model.answers(mixed(40))
    model.answers(mixed(40), slower=5)
    assert model.pace.measure_slowdown(model.at + OLDEST_SECONDS + 1) is None
    assert model.pace.measure_slowdown(model.at - 1_000.0) is None  # a clock that was put back


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(calls=1, input_tokens=300, output_tokens=50, seconds=4.0), (ANSWER, 4.0, 50)),
        (Usage(calls=2, input_tokens=600, output_tokens=100, seconds=8.0), (ANSWER, 4.0, 50)),
        (Usage(calls=1, input_tokens=300, seconds=4.0, seconds_to_first_token=0.5), (PROMPT, 0.5, 300)),
        (Usage(), None),
        (Usage(calls=1, input_tokens=300, output_tokens=50), None),
        (Usage(output_tokens=50, seconds=float("nan")), None),
        (Usage(output_tokens=50, seconds=-1.0), None),
        (Usage(output_tokens=50, seconds=4.0, seconds_to_first_token=-1.0), (ANSWER, 4.0, 50)),
    ],
)
def test_a_turn_is_timed_by_what_its_host_knows_and_by_nothing_else(
    usage: Usage, expected: tuple[str, float, int] | None
) -> None:
    found = observe_turn(usage, NOW)
    assert (found and tuple(found[1:])) == expected


def test_what_is_usual_for_a_model_survives_a_restart_and_what_was_lately_does_not() -> None:
    model = Model()
    model.answers(mixed(80))
    again = read_pace(json.loads(json.dumps(write_pace(model.pace), allow_nan=False)))
    assert again.usual == model.pace.usual
    assert again.measure_slowdown(model.at) is None


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"answer": 3},
        {"answer": [[1.0]]},
        {"answer": [["a", 1.0, 1]]},
        {"answer": [[1.0, -1.0, 5], None]},
        {"x": []},
    ],
)
def test_a_pace_that_cannot_be_read_starts_anew(data: dict[str, object]) -> None:
    assert read_pace(data) == Pace()


@given(
    st.lists(st.tuples(st.floats(0, 1e7), st.floats(1e-6, 1e6), st.integers(0, 10**9)), max_size=80),
    st.integers(0, 10**9),
)
def test_whatever_was_observed_the_usual_is_a_time(rows: list[tuple[float, float, int]], tokens: int) -> None:
    pace = Pace()
    for at, seconds, length in rows:
        pace = pace.observe_answer(Observation(at, ANSWER, seconds, length))
        now = pace.measure_slowdown(at)
        assert now is None or now >= 0
    found = fit_usual(pace.usual.get(ANSWER, ()))
    assert found is None or found.seconds_for(tokens) >= 0


# session snapshot


AT = 1_000_000.0
FINITE = st.floats(0, 1e6)


def turns(*ms: float, every: float = 1.0, until: float = AT) -> list[Latency]:
    return [Latency(until - every * back, one) for back, one in zip(range(len(ms) - 1, -1, -1), ms, strict=True)]


def test_a_snapshot_tells_what_became_of_working_memory() -> None:
    regulator = Regulator(Controls(stm_capacity=32), interval=2)
    regulator.note_consolidation("monday", 20, (4.0, 2.0, 8.0, -1.0), (0.9,) * 8, 0.55)
    ended = EndedTurn(at=AT, ms=812.5, answered=True, stored=True)
    assert regulator.end_turn("monday", "model", ended) is None
    seen = regulator.end_turn("monday", "model", ended)
    assert seen is not None
    assert json.loads(seen.model_dump_json()) == snapshot(
        {
            "version": 1,
            "ts": 1000000.0,
            "turn_counter": 2,
            "performance": {"degraded": False},
            "recent_consolidation_selectivity": 0.2,
            "promotion_age_p95_seconds": 8.0,
            "stm_utilization": 0.7272727272727273,
            "stm_capacity": 32,
            "last_user_turn_status": "stored",
        }
    )


def test_what_is_not_known_is_absent_and_performance_never_is() -> None:
    bare = Snapshot(ts=AT, turn_counter=0, performance=Performance())
    assert bare.model_dump(mode="json") == {
        "version": 1,
        "ts": AT,
        "turn_counter": 0,
        "performance": {"degraded": False},
    }


@pytest.mark.parametrize("odd", [{"version": 2}, {"note": "what the user said"}, {"stm_utilization": 1.5}])
def test_a_snapshot_of_another_schema_is_refused(odd: dict[str, object]) -> None:
    sound = Snapshot(ts=AT, turn_counter=1, performance=Performance()).model_dump(mode="json")
    with pytest.raises(ValidationError):
        Snapshot.model_validate(sound | odd)


@pytest.mark.parametrize(("number", "rank"), [(1, 1), (10, 10), (19, 19), (20, 19), (100, 95), (101, 96)])
def test_p95_is_the_nearest_rank(number: int, rank: int) -> None:
    assert percentile_95([float(value) for value in range(number, 0, -1)]) == rank


@given(st.lists(FINITE, min_size=1))
def test_at_most_one_in_twenty_is_above_the_p95(values: list[float]) -> None:
    found = percentile_95(values)
    assert found in values
    assert sum(value > found for value in values) <= 0.05 * len(values)


def test_a_few_turns_are_no_sample() -> None:
    assert recent_p95(turns(*[9_000.0] * (MINIMUM - 1)), AT) is None
    assert recent_p95(turns(*[9_000.0] * MINIMUM), AT) == 9_000.0


def test_five_hundred_old_turns_do_not_mask_recovery() -> None:
    old = turns(*[9_000.0] * 500, until=AT - WINDOW_SECONDS - 1)
    assert recent_p95(old + turns(*[100.0] * MINIMUM), AT) == 100.0


def test_after_a_clock_was_put_back_turns_of_its_future_mask_no_recovery() -> None:
    ahead = turns(*[9_000.0] * 100, until=AT + 1_000.0)
    assert recent_p95(ahead, AT) is None
    assert recent_p95(ahead + turns(*[100.0] * MINIMUM), AT) == 100.0
