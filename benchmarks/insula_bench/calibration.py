"""`insula bench calibration`: whether likelihood and agreement together tell right answers from wrong ones.

The answers are those of Llama 3.1 8B to SVAMP and ASDiv, each problem asked five times. Every answer is scored by what
a solver would know of it without a judge; a combination is fitted on the one set and reported on the other.
"""

import json as jsonlib
import lzma
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula.stats import sigmoid
from insula_bench.statistics import bootstrap, ece, logistic, ranked
from insula_solve.amounts import normalise_answer

if TYPE_CHECKING:
    Array = np.typing.NDArray[np.float64]

SETS: Mapping[str, str] = {"svamp": "CoT_svamp.jsonl", "asdiv": "CoT_ASDiv.jsonl"}
GOALS: Mapping[str, float] = {"svamp": 0.83, "asdiv": 0.86}
"""AUROC of the combination that was set out to be reached; agreement of the answers as written has 0.807 and 0.843."""
LIKELIHOOD = "probas-mean"
"""The data's mean probability of the tokens that state numbers: what our own `likelihood` is nearest to."""
OTHERS: Mapping[str, str] = {"P(True), asked for": "p-true-bl", "prompted (self-probing)": "self-probing-bl"}
"""Baselines that cost a further call."""
ALONE = 0.5
"""Agreement of an answer without another to agree with."""
RESAMPLES = 1_000
_EDGE = 1e-4

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the answers to a problem."""

    problem: str
    written: str
    right: bool
    """As the authors of the data labelled it."""
    confidence: Mapping[str, float]


@dataclass(frozen=True)
class Answers:
    """All answers of a set."""

    answers: Sequence[Answer]

    @cached_property
    def truth(self) -> "np.typing.NDArray[np.bool_]":
        """Which are right."""
        return np.array([one.right for one in self.answers], bool)

    @cached_property
    def groups(self) -> list[list[int]]:
        """The answers to each problem, by their places."""
        found: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(self.answers):
            found[one.problem].append(place)
        return list(found.values())

    def given(self, kind: str) -> "Array":
        """A confidence that stands in the data; one that is missing is a half."""
        return np.array([one.confidence.get(kind, ALONE) for one in self.answers])

    def votes(self, form: Callable[[str], str]) -> "tuple[Array, Array]":
        """Of each answer, the share of the others to its problem that give it, and the share of its strongest rival.

        Args:
            form: the form in which two answers are compared.
        """
        agreement, rival = np.full(len(self.answers), ALONE), np.zeros(len(self.answers))
        for places in self.groups:
            counts = Counter(form(self.answers[place].written) for place in places)
            others = len(places) - 1
            for place in places if others else ():
                mine = form(self.answers[place].written)
                agreement[place] = (counts[mine] - 1) / others
                rival[place] = max((count for answer, count in counts.items() if answer != mine), default=0) / others
        return agreement, rival


def run(data: str, json: bool) -> int:
    """Measure, print, and return the exit code: 1 where a goal is missed.

    Raises:
        InputError: the data cannot be used.
    """
    with Console(stderr=True).status("drawing problems anew, 1,000 times for each score"):
        measured = measure({name: load(Path(data), file) for name, file in SETS.items()})
    print(jsonlib.dumps(measured, indent=2)) if json else _show(measured)
    return int(not all(one["reached"] for one in measured["sets"].values()))


def load(folder: Path, file: str) -> Answers:
    """The answers of a file, packed or not.

    Raises:
        InputError: it is not there, or has another form.
    """
    plain, packed = folder / file, folder / f"{file}.xz"
    path = packed if packed.exists() else plain
    try:
        content = path.read_bytes()
        text = (lzma.decompress(content) if path == packed else content).decode()
        answers = [_answer(jsonlib.loads(line)) for line in text.splitlines() if line.strip()]
    except (OSError, lzma.LZMAError) as error:
        raise InputError(f"{str(path)!r} cannot be read ({error}); name the folder of the data.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{str(path)!r} has not the form that docs/benchmarks/calibration.md names; mend it."
        ) from error
    if len({answer.right for answer in answers}) < 2:
        raise InputError(f"{str(path)!r} has no right and wrong answers to be told apart; name other data.")
    return Answers(answers)


def _answer(record: Mapping[str, Any]) -> Answer:
    confidence = {name: float(value) for name, value in record["conf"].items() if value is not None}
    return Answer(record["question"], str(record["answer"]), bool(record["label"]), confidence)


def measure(sets: Mapping[str, Answers]) -> Figures:
    """Every score on each set; the combinations fitted on the other."""
    one, other = sets
    return {
        "v": 1,
        "sets": {name: _set(name, sets[name], sets[fit], fit) for name, fit in ((one, other), (other, one))},
    }


def _set(name: str, answers: Answers, fitted_on: Answers, fit: str) -> Figures:
    scores = _scores(answers, fitted_on)
    rows = {kind: _judged(answers, score, scores["agreement"]) for kind, score in scores.items()}
    best = rows["combined"]
    goal = GOALS.get(name)
    return {
        "answers": len(answers.answers),
        "problems": len(answers.groups),
        "right": round(float(answers.truth.mean()), 4),
        "fitted_on": fit,
        "goal": goal,
        "reached": goal is None or best["auroc"] >= goal,
        "scores": rows,
    }


def _scores(answers: Answers, fitted_on: Answers) -> "dict[str, Array]":
    """Each score in [0, 1]: first what there is without fitting, then what was fitted elsewhere."""
    plain = {
        **{name: answers.given(kind) for name, kind in OTHERS.items()},
        "likelihood": answers.given(LIKELIHOOD),
        "agreement, as written": answers.votes(str.strip)[0],
        "agreement": answers.votes(normalise_answer)[0],
    }
    fitted = {
        "combined, as written": _fitted(answers, fitted_on, str.strip),
        "combined": _fitted(answers, fitted_on, normalise_answer),
    }
    return plain | fitted


def _fitted(answers: Answers, fitted_on: Answers, form: Callable[[str], str]) -> "Array":
    weights = logistic(_features(fitted_on, form), fitted_on.truth.astype(float))
    return sigmoid(weights[0] + _features(answers, form) @ weights[1:])


def _features(answers: Answers, form: Callable[[str], str]) -> "Array":
    likelihood = np.clip(answers.given(LIKELIHOOD), _EDGE, 1 - _EDGE)
    return np.column_stack([*answers.votes(form), np.log(likelihood / (1 - likelihood))])


def _judged(answers: Answers, scores: "Array", agreement: "Array") -> Figures:
    """A score's figures, and how much better than agreement it ranks; problems are drawn anew, not answers."""
    truth, groups = answers.truth, [np.array(places) for places in answers.groups]

    def areas(drawn: "Array") -> "Array":
        return np.array([_area(case, scores) for case in drawn])

    def gains(drawn: "Array") -> "Array":
        return np.array([_area(case, scores) - _area(case, agreement) for case in drawn])

    def _area(case: "Array", by: "Array") -> float:
        places = np.concatenate([groups[int(number)] for number in case[:, 0]])
        return ranked(by[places], truth[places])

    numbers = [[float(number)] for number in range(len(groups))]
    return {
        "auroc": round(ranked(scores, truth), 4),
        "interval": [round(end, 4) for end in bootstrap(numbers, areas, resamples=RESAMPLES)],
        "over_agreement": round(ranked(scores, truth) - ranked(agreement, truth), 4),
        "over_agreement_interval": [round(end, 4) for end in bootstrap(numbers, gains, resamples=RESAMPLES)],
        "ece": round(ece(scores.tolist(), truth.tolist()), 4),
    }


def _show(measured: Figures) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for name, one in measured["sets"].items():
        console.print(
            f"\n[bold]{name}[/]: {one['answers']:,} answers to {one['problems']:,} problems, {one['right']:.1%} right; "
            f"combinations are fitted on {one['fitted_on']}"
        )
        table = Table(box=None, pad_edge=False)
        for number, head in enumerate(("score", "AUROC, 95 %", "against agreement, 95 %", "ECE")):
            table.add_column(head, justify="right" if number else "left", no_wrap=True)
        for kind, row in one["scores"].items():
            low, high = row["interval"]
            less, more = row["over_agreement_interval"]
            gain = f"{row['over_agreement']:+.3f} [{less:+.3f}, {more:+.3f}]"
            table.add_row(kind, f"{row['auroc']:.3f} [{low:.3f}, {high:.3f}]", gain, f"{row['ece']:.3f}")
        console.print(table)
        if one["goal"] is not None:
            console.print(f"goal for combined: {one['goal']:.2f}, {'reached' if one['reached'] else 'missed'}")
