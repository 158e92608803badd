"""`insula bench stuck`: whether the senses find agents that are stuck, and whether they leave the others alone."""

import json as jsonlib
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track

from insula.coding.replay.readers import TranscriptCall, UserPrompt
from insula.coding.step.fingerprint import make_action
from insula.coding.step.ladder import SOCRATIC
from insula.coding.step.proprioception import Sensed, hear_user, sense_action
from insula.coding.step.senses import CLIMBING, EVERY, nociception, vestibular
from insula.coding.step.state import State
from insula.errors import InputError
from insula.stats import wilson
from insula_bench import moments_figures, stuck_report, trajectories
from insula_bench.cases import cases
from insula_bench.peers import hermes, openhands
from insula_bench.trajectories import Run

NOCICEPTION, VESTIBULAR = nociception.NAME, vestibular.NAME
INTERCODE = "intercode"
STEPS = (3, 4, 5, 6, 8)
"""Steps at which InterCode's runs of ten are judged; the second is the one to be quoted."""
LONG_STEPS = (5, 10, 20, 30)
LONG = 10
HEALTHY = frozenset(("swebv_gemini3_mini", "claude_code", "claude_code_raw"))
"""Sets whose agents are strong enough that a word to them is taken for a false alarm; of the first the solved runs."""
MARKED = frozenset(("whoandwhen", "magentic"))
NEAR = (0, 2, 5)
"""Messages between a mark and a reading."""
PERMUTATIONS = 1_000
SEED = 7

ANY = "insula"
SAID = "said"
SOCRATIC_SAID = "socratic"
_OURS = (ANY, NOCICEPTION, VESTIBULAR, SAID, SOCRATIC_SAID)
_THEIRS = ("openhands", "hermes", "hermes block", "hermes main", "hermes main block")

Figures = dict[str, Any]


class Note(NamedTuple):
    """One text: after which call, of which sense, from which rung, how long."""

    step: int
    sense: str
    rung: int
    chars: int


class Watched(NamedTuple):
    """A run without its texts: when each detector fired, and what came of the run."""

    set: str
    env: str
    outcome: bool | None
    rewards: tuple[float, ...]
    fired: dict[str, int]
    """Detector -> its first step, counted from 1; absent where it never fires."""
    told: tuple[Note, ...]
    places: tuple[int, ...]
    """Messages of a chat after which a reading fell."""
    labels: frozenset[int]
    messages: int
    blocked: bool

    @property
    def calls(self) -> int:
        """How many calls it has."""
        return len(self.rewards)


def run(data: Sequence[str], json: bool, moments: str = "") -> int:
    """Measure everything, print it, and return the exit code.

    Args:
        data: files of runs, or folders of such files.
        json: whether to print JSON.
        moments: a file of labelled moments of the sessions among them; empty for none.

    Raises:
        InputError: a path does not exist, or nothing under them can be used.
    """
    interactive = {"moments": moments_figures.measure(moments, data)} if moments else {}
    figures = measure(data) | interactive
    print(jsonlib.dumps(figures, indent=2)) if json else stuck_report.show(figures)
    return 0


def measure(data: Sequence[str]) -> Figures:
    """All figures of the runs under `data`, and of the micro-cases."""
    runs = _watched(data)
    groups: dict[str, list[Watched]] = defaultdict(list)
    for one in runs:
        groups[one.set].append(one)
    return {
        "sets": {name: _set(name, group) for name, group in groups.items() if _is_judged(name, group)},
        "labelled": {name: near_labels(groups[name]) for name in sorted(MARKED & set(groups))},
        "healthy": healthy([one for one in runs if one.set in HEALTHY and one.outcome is not False]),
        "micro": micro(),
    }


def _watched(data: Sequence[str]) -> list[Watched]:
    console, runs = Console(stderr=True), list[Watched]()
    quiet = not console.is_terminal
    for source in trajectories.sources(data):
        if isinstance(source, str):
            console.print(source, highlight=False)
            continue
        for record in track(source.records, source.path.name, console=console, transient=True, disable=quiet):
            runs += map(watch, source.convert(record))
    if not runs:
        raise InputError(
            f"Nothing under {', '.join(data)} is a set of runs; see docs/benchmarks/stuck.md for the forms."
        )
    return runs


# One run.


def watch(run: Run) -> Watched:
    """Fold a run through the senses and, beside them, through the detectors of others."""
    calls, felt = run.calls, feel(run.events)
    return Watched(
        set=run.set,
        env=run.env,
        outcome=run.outcome,
        rewards=tuple(call.reward for call in calls),
        fired=_firsts(felt) | _peers(run.events),
        told=tuple(Note(i, one.sense, one.rung, len(one.text)) for i, one in enumerate(felt, 1) if one.text),
        places=tuple(calls[i].place for i, one in enumerate(felt) if _stuck(one)),
        labels=run.labels,
        messages=run.messages,
        blocked=any(call.output == "" and "blocked" in call.input.values() for call in calls),
    )


def feel(events: Iterable[TranscriptCall | UserPrompt]) -> list[Sensed]:
    """What all senses tell after each call, those that are off by default as well."""
    state, felt = State(), list[Sensed]()
    for event in events:
        if isinstance(event, UserPrompt):
            state = hear_user(state, event.at, event.words)
            continue
        done = make_action(
            tool=event.tool,
            input=event.input,
            output=event.output,
            at=event.at,
            ok=event.ok,
            code=event.code,
            id=event.id,
        )
        done = done.replace(turn=event.turn)
        felt.append(sense_action(state, done, EVERY))
        state = felt[-1].state
    return felt


def _stuck(sensed: Sensed) -> bool:
    return any(reading.sense in CLIMBING for reading in sensed.readings)


def _firsts(felt: list[Sensed]) -> dict[str, int]:
    tests: dict[str, Callable[[Sensed], bool]] = {
        ANY: _stuck,
        NOCICEPTION: lambda one: any(reading.sense == NOCICEPTION for reading in one.readings),
        VESTIBULAR: lambda one: any(reading.sense == VESTIBULAR for reading in one.readings),
        SAID: lambda one: bool(one.text) and one.sense in CLIMBING,
        SOCRATIC_SAID: lambda one: bool(one.text) and one.rung >= SOCRATIC,
    }
    firsts = {name: next((i for i, one in enumerate(felt, 1) if test(one)), None) for name, test in tests.items()}
    return {name: step for name, step in firsts.items() if step is not None}


def _peers(events: Sequence[TranscriptCall | UserPrompt]) -> dict[str, int]:
    theirs, released, later = openhands(events), hermes(events), hermes(events, main=True)
    steps = {
        "openhands": theirs.stops,
        "hermes": released.warns,
        "hermes block": released.stops,
        "hermes main": later.warns,
        "hermes main block": later.stops,
    }
    return {name: step for name, step in steps.items() if step is not None}


# Precision and recall among the runs that are still alive.


def _is_judged(name: str, group: list[Watched]) -> bool:
    return name == INTERCODE or (name not in MARKED and any(one.outcome is not None for one in group))


def _set(name: str, group: list[Watched]) -> Figures:
    if name != INTERCODE:
        known = [one for one in group if one.outcome is not None]
        return at_step(known, LONG, _unsolved) | {
            "positive": "the task was not solved",
            "by_k": {k: at_step(known, k, _unsolved) for k in LONG_STEPS},
        }
    k = STEPS[1]
    environments = sorted({one.env for one in group})
    return at_step(group, k, no_gain) | {
        "positive": "no later reward is above the best of the first k steps",
        "by_k": {k: at_step(group, k, no_gain) for k in STEPS},
        "by_env": {env: at_step([one for one in group if one.env == env], k, no_gain) for env in environments},
        "without_blocked": at_step([one for one in group if not one.blocked], k, no_gain),
    }


def no_gain(one: Watched, k: int) -> bool:
    """Whether no step after `k` is rewarded above the best of the first `k`."""
    return max(one.rewards[k:]) <= max(one.rewards[:k])


def _unsolved(one: Watched, k: int) -> bool:
    return one.outcome is False


def at_step(group: Sequence[Watched], k: int, positive: Callable[[Watched, int], bool]) -> Figures:
    """Every detector at step `k`, among the runs that go on after it: longer runs fail more, whoever watches."""
    alive = [one for one in group if one.calls > k]
    truth = [positive(one, k) for one in alive]
    scores = {name: _score([one.fired.get(name, k + 1) <= k for one in alive], truth) for name in (*_OURS, *_THEIRS)}
    base = sum(truth) / len(truth) if truth else None
    return (
        {"k": k, "n": len(alive), "base_rate": _rounded(base)}
        | scores[ANY]
        | {
            "per_sense": {name: scores[name] for name in (NOCICEPTION, VESTIBULAR)},
            "texts": {name: scores[name] for name in (SAID, SOCRATIC_SAID)},
            "baselines": {
                "openhands": scores["openhands"],
                "hermes": scores["hermes"] | {"block": scores["hermes block"]},
                "hermes_main": scores["hermes main"] | {"block": scores["hermes main block"]},
            },
        }
    )


def _score(flagged: Sequence[bool], truth: Sequence[bool]) -> Figures:
    hits = sum(flag and true for flag, true in zip(flagged, truth, strict=True))
    quiet = sum(not flag and not true for flag, true in zip(flagged, truth, strict=True))
    parts = {
        "precision": (hits, sum(flagged)),
        "recall": (hits, sum(truth)),
        "specificity": (quiet, len(truth) - sum(truth)),
    }
    shares = {name: _rounded(part / whole) if whole else None for name, (part, whole) in parts.items()}
    intervals = {name: [_rounded(end) for end in wilson(part, whole)] for name, (part, whole) in parts.items()}
    return {"flagged": sum(flagged)} | shares | {"intervals": intervals}


# Marks of people.


def near_labels(group: Sequence[Watched]) -> Figures:
    """How many marks have a reading within some messages, beside the same number of marks put anywhere.

    Only runs with a reading and a mark count: in the others there is nothing to be near.
    """
    runs = [one for one in group if one.places and one.labels]
    chance = random.Random(SEED)
    found = {d: sum(_hits(one.labels, one.places, d) for one in runs) for d in NEAR}
    drawn = [_shuffled(runs, chance) for _ in range(PERMUTATIONS)]
    marks = sum(len(one.labels) for one in runs)
    return {
        "chats": len(group),
        "with_readings": len(runs),
        "marks": marks,
        "readings": sum(len(one.places) for one in runs),
        "within": {d: _against([one[d] for one in drawn], found[d], marks) for d in NEAR},
    }


def _hits(labels: Iterable[int], places: Sequence[int], distance: int) -> int:
    return sum(any(abs(place - label) <= distance for place in places) for label in labels)


def _shuffled(runs: Sequence[Watched], chance: random.Random) -> dict[int, int]:
    counts: dict[int, int] = dict.fromkeys(NEAR, 0)
    for one in runs:
        labels = chance.sample(range(one.messages), min(len(one.labels), one.messages))
        for d in NEAR:
            counts[d] += _hits(labels, one.places, d)
    return counts


def _against(drawn: Sequence[int], found: int, marks: int) -> Figures:
    if not marks:
        return {"share": None, "chance": None, "p": None}
    above = sum(count >= found for count in drawn)
    return {
        "share": _rounded(found / marks),
        "chance": _rounded(statistics.mean(drawn) / marks),
        "p": _rounded((above + 1) / (len(drawn) + 1)),
    }


# Healthy runs.


def healthy(runs: Sequence[Watched]) -> Figures:
    """Texts per thousand calls where nothing, or little, is wrong; what others would have said beside it."""
    names = sorted({one.set for one in runs})
    return _rates(runs) | {"per_set": {name: _rates([one for one in runs if one.set == name]) for name in names}}


def _rates(runs: Sequence[Watched]) -> Figures:
    calls = sum(one.calls for one in runs)
    told = [text for one in runs for text in one.told]
    senses = sorted({text.sense for text in told})

    def per_thousand(count: int) -> float | None:
        return _rounded(1_000 * count / calls, 2) if calls else None

    return {
        "runs": len(runs),
        "calls": calls,
        "texts_per_1000": per_thousand(len(told)),
        "rungs_per_1000": per_thousand(sum(text.rung >= SOCRATIC for text in told)),
        "chars_per_1000": per_thousand(sum(text.chars for text in told)),
        "longest_text": max((text.chars for text in told), default=0),
        "per_sense": {name: per_thousand(sum(text.sense == name for text in told)) for name in senses},
        "runs_flagged": {name: sum(name in one.fired for one in runs) for name in (*_OURS, *_THEIRS)},
    }


# Micro-cases.


def micro() -> Figures:
    """What each detector does on eleven sequences whose answer is known."""
    rows: list[Figures] = []
    for case in cases():
        felt = feel((UserPrompt(0.5), *case.calls))
        fired = _firsts(felt) | _peers((UserPrompt(0.5), *case.calls))
        fires = {name: fired.get(name) for name in (SAID, SOCRATIC_SAID, *_THEIRS)}
        rows.append({"case": case.name, "stuck": case.stuck, "insula": fires.pop(SAID), **fires})
    return _tally(rows, "insula") | {"baselines": {name: _tally(rows, name) for name in _THEIRS}, "cases": rows}


def _tally(rows: Sequence[Figures], name: str) -> Figures:
    return {
        "caught": sum(row["stuck"] and row[name] is not None for row in rows),
        "of": sum(row["stuck"] for row in rows),
        "false": sum(not row["stuck"] and row[name] is not None for row in rows),
    }


def _rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)
