"""How well assessments rank responses as people do: DSTC10's rated dialogues, one set left out at a time."""

import json
import math
import re
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from insula.text.analysis import analyse_text
from insula.turn.exchange import AskedMessage, Exchange
from insula.turn.monitor import RECENT, assess
from insula.turn.substance import measure_substance, self_repetition
from insula.types import Identity
from insula_bench.progress import steps

Figures = dict[str, Any]
Array = np.typing.NDArray[np.float64]

RATINGS = ("overall", "relevance", "appropriateness")
"""What people rated, the one that counts first."""

PUBLISHED = "published_correlations_dialevalmetrics.json"
TABLES = {
    "topical-usr": ("USR Data", 0),
    "persona-usr": ("USR Data", 1),
    "convai2-grade": ("GRADE Data", 0),
    "dailydialog-grade": ("GRADE Data", 1),
    "empathetic-grade": ("GRADE Data", 2),
    "fed-turn": ("FED Data", 0),
}
"""In which table of Yeh et al. (2021) a set stands, and at which place."""

SIMPLE = ("BLEU-4", "METEOR", "BERTScore")
RESAMPLES = 1_000
RIDGE = 0.1
"""Of the fit on the other sets, as a share of the cases: half of this or five times as much changes nothing."""

_SPEAKER = re.compile(r"^(?:user|system|speaker ?\w|[ab]) ?: ", re.IGNORECASE)


class Rated(NamedTuple):
    """A response as it stood in its dialogue, and its mean rating."""

    message: str
    response: str
    recent: tuple[str, ...]
    rating: float


def dialogues(folder: Path) -> Figures:
    """Spearman of the assessment per set, with baselines beside it, and what they come to on average."""
    sets = {name: found for name, path in _files(folder) if (found := read(path))}
    if not sets:
        return {}
    times: list[int] = []
    scores = {name: np.array([_score(one, times) for one in _tracked(found, name)]) for name, found in sets.items()}
    ratings = {name: np.array([one.rating for one in found]) for name, found in sets.items()}
    signs = {name: _signs(found, scores[name]) for name, found in sets.items()}
    figures = {name: _set(sets[name], scores[name], ratings[name]) for name in sets}
    fitted = {name: fitted_elsewhere(name, signs, ratings) for name in sets} if len(sets) > 1 else {}
    published = _published(folder / PUBLISHED)
    for name, one in figures.items():
        one |= {"fitted": fitted.get(name), "published": published.get(name, {})}
    return _means(figures) | _mean_interval(scores, ratings) | {"us_of_dialogues": times}


def _files(folder: Path) -> list[tuple[str, Path]]:
    return [(path.stem.removesuffix("_eval"), path) for path in sorted(folder.rglob("*_eval.json"))]


def read(path: Path) -> list[Rated]:
    """The rated responses of a file; none where it rates dialogues as a whole."""
    records = cast(list[dict[str, Any]], json.loads(path.read_text("utf-8")))
    return [one for record in records if (one := _rated(record))]


def _rated(record: dict[str, Any]) -> Rated | None:
    ratings = {name.lower(): values for name, values in record.get("annotations", {}).items()}
    what = next((name for name in RATINGS if ratings.get(name)), None)
    if what is None or not record.get("response"):
        return None
    lines = [_SPEAKER.sub("", line.strip()) for line in record["context"].split("\n") if line.strip()]
    recent = tuple(lines[-2::-2][:RECENT][::-1])
    return Rated(lines[-1] if lines else "", record["response"].strip(), recent, statistics.fmean(ratings[what]))


def _tracked(found: Sequence[Rated], name: str) -> Sequence[Rated]:
    return cast(Sequence[Rated], steps(found, f"assessing {name}"))


def _score(one: Rated, times: list[int]) -> float:
    began = time.process_time_ns()
    score = assess(one.message, one.response, one.recent).score
    times.append((time.process_time_ns() - began) // 1_000)
    return score


def _signs(found: Sequence[Rated], scores: Array) -> Array:
    """The score and the three signs of substance of each response: what a fit has to go by."""
    rows: list[tuple[float, ...]] = []
    for one in found:
        turn = Exchange(AskedMessage(analyse_text(one.message)), one.response, list(one.recent), Identity())
        rows.append(tuple(measure_substance(one.response, turn.shared)))
    return np.column_stack([scores, np.array(rows)])


def _set(found: Sequence[Rated], scores: Array, ratings: Array) -> Figures:
    baselines = {name: spearman(np.array([rule(one) for one in found]), ratings) for name, rule in BASELINES.items()}
    low, high = np.quantile(_resampled(scores, ratings), (0.025, 0.975))
    return {
        "n": len(found),
        "spearman": round(spearman(scores, ratings), 3),
        "interval": [round(float(low), 3), round(float(high), 3)],
        "baselines": {name: round(value, 3) for name, value in baselines.items()},
    }


def _means(figures: dict[str, Figures]) -> Figures:
    """The means over sets, and the single feature whose mean is best."""
    singles = {name: statistics.fmean(one["baselines"][name] for one in figures.values()) for name in BASELINES}
    best = max(singles, key=singles.__getitem__)
    fits = [one["fitted"] for one in figures.values() if one["fitted"] is not None]
    return {
        "sets": figures,
        "mean_spearman": round(statistics.fmean(one["spearman"] for one in figures.values()), 3),
        "mean_fitted_spearman": round(statistics.fmean(fits), 3) if fits else None,
        "mean_baseline_spearman": round(singles[best], 3),
        "best_baseline": best,
        "mean_baselines": {name: round(value, 3) for name, value in singles.items()},
    }


def _mean_interval(scores: dict[str, Array], ratings: dict[str, Array]) -> Figures:
    means = np.mean([_resampled(scores[name], ratings[name]) for name in scores], axis=0)
    low, high = np.quantile(means, (0.025, 0.975))
    return {"mean_spearman_interval": [round(float(low), 3), round(float(high), 3)]}


def _resampled(scores: Array, ratings: Array) -> Array:
    draw = np.random.default_rng(0)
    picks = (draw.integers(0, len(scores), len(scores)) for _ in range(RESAMPLES))
    return np.array([spearman(scores[pick], ratings[pick]) for pick in picks])


def fitted_elsewhere(name: str, signs: dict[str, Array], ratings: dict[str, Array]) -> float:
    """Spearman on one set of weights fitted on the ranks of all others (ridge, every set counting alike)."""
    others = [other for other in signs if other != name]
    inner, target = 0.0, 0.0
    for other in others:
        x, y = _standard(signs[other]), _standard(_ranks(ratings[other])[:, None])[:, 0]
        inner, target = inner + x.T @ x / len(x), target + x.T @ y / len(x)
    weights = np.linalg.solve(inner + RIDGE * len(others) * np.eye(signs[name].shape[1]), target)
    return round(spearman(_standard(signs[name]) @ weights, ratings[name]), 3)


def _standard(values: Array) -> Array:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def spearman(one: Array, other: Array) -> float:
    """The rank correlation of two columns, ties sharing their mean rank; 0 where one of them is constant."""
    x, y = _ranks(one), _ranks(other)
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / scale if scale else 0.0


def _ranks(values: Array) -> Array:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def length(one: Rated) -> float:
    """Baseline: words."""
    return len(one.response.split())


def overlap(one: Rated) -> float:
    """Baseline: the share of the response's words that stand in the message."""
    said = set(one.response.lower().split())
    return len(said & set(one.message.lower().split())) / max(1, len(said))


def distinct(one: Rated) -> float:
    """Baseline: the share of word pairs that are distinct (Li et al. 2016)."""
    words = one.response.lower().split()
    pairs = list(pairwise(words))
    return len(set(pairs)) / max(1, len(pairs))


def freshness(one: Rated) -> float:
    """One of our own signs by itself: the share of word pairs, or of triples in a long text, that are not repeated."""
    return 1 - self_repetition(one.response)


def word_length(one: Rated) -> float:
    """One of our own signs by itself: the mean length of a word."""
    words = one.response.split()
    return len("".join(words)) / max(1, len(words))


BASELINES: dict[str, Callable[[Rated], float]] = {
    "length": length,
    "overlap": overlap,
    "distinct-2": distinct,
    "freshness": freshness,
    "word length": word_length,
}
"""Single features, the same on all sets."""


def _published(path: Path) -> dict[str, dict[str, float]]:
    """What others report of a set: the simple metrics, and the best one that was trained."""
    if not path.is_file():
        return {}
    tables = cast(dict[str, list[list[str]]], json.loads(path.read_text("utf-8")))
    found: dict[str, dict[str, float]] = {}
    for name, (table, place) in TABLES.items():
        rows = {row[0]: _turn_level(row, place, tables[table]) for row in tables.get(table, [])[3:]}
        known = {metric: value for metric, value in rows.items() if value is not None}
        learned = {metric: value for metric, value in known.items() if metric not in (*SIMPLE, "ROUGE-L")}
        best = max(learned, key=learned.__getitem__, default=None)
        found[name] = {metric: known[metric] for metric in SIMPLE if metric in known}
        if best:
            found[name][f"best learned: {best}"] = learned[best]
    return found


def _turn_level(row: Sequence[str], place: int, table: Sequence[Sequence[str]]) -> float | None:
    """The turn-level Spearman of a row; figures that are not significant are marked with an asterisk."""
    per_set = (len(table[2]) - 1) // (len(table[0]) - 1)
    try:
        return float(row[2 + place * per_set].rstrip("*"))
    except (IndexError, ValueError):
        return None
