"""The figures of `insula bench confidence`: every score is by a model that never saw the conversation it scores."""

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from insula.calibration import AnswerOutcome, move_threshold, raw_probability
from insula.types import Calibration
from insula_bench.confidence_ask import Answer
from insula_bench.confidence_fit import Case, fit_calibration
from insula_bench.confidence_probes import ANOTHER, ANSWERABLE, WRONG_DETAIL
from insula_bench.statistics import bootstrap, logistic, ranked

FOLDS = 5
BINS = 10
RESAMPLES = 1_000
STREAMS, STREAM = 20, 400
"""Lives of users, and the outcomes of each."""
_FORMS = ("when", "what", "who", "where", "how", "why", "which", "did", "does", "is")

Of = Callable[[Answer], str]
Scores = Sequence[float]


def world(one: Answer) -> str:
    """What is left out together where each conversation is a memory."""
    return one.world


def task(one: Answer) -> str:
    """What is drawn together where many talks share a memory."""
    return one.probe.group or one.world


def cases(answers: Sequence[Answer], made: Sequence[str]) -> list[Case]:
    """The answerable beside the unanswerable of some kinds: half of the weight each, every kind the same."""
    share = _shares(answers, made)
    return [
        Case(one.values, one.whose, kind == ANSWERABLE, share[kind])
        for kind in (ANSWERABLE, *made)
        for one in answers
        if one.probe.kind == kind
    ]


def left_out(answers: Sequence[Answer], start: Calibration, made: Sequence[str], fold: Of) -> list[float]:
    """The score of each answer by a fit on the folds that it is not in."""
    return _by_fold(answers, fold, lambda rest: fit_calibration(cases(rest, made), start))


def _by_fold(answers: Sequence[Answer], fold: Of, fitted: Callable[[list[Answer]], Calibration]) -> list[float]:
    names = sorted({fold(one) for one in answers})
    place = {name: i % max(min(FOLDS, len(names)), 1) for i, name in enumerate(names)}
    models: dict[int, Calibration] = {}
    for number in sorted(set(place.values())):
        models[number] = fitted([one for one in answers if place[fold(one)] != number])
    return [raw_probability(models[place[fold(one)]], one.values, one.whose) for one in answers]


def told_apart(answers: Sequence[Answer], scores: Scores, kinds: Sequence[str], fold: Of) -> dict[str, Any]:
    """AUROC against each kind and their mean, with intervals; error of calibration and Brier skill of the mixture.

    The mixture gives half of its weight to the answerable and the same to every kind, so that its AUROC is the mean of
    those of the kinds and its base rate one half.
    """
    here = [kind for kind in kinds if any(one.probe.kind == kind for one in answers)]
    if not here:
        return {}
    areas = {kind: _area(answers, scores, [kind], fold) for kind in here}
    mixture = cases(answers, here)
    order = {
        kind: [s for one, s in zip(answers, scores, strict=True) if one.probe.kind == kind]
        for kind in (ANSWERABLE, *here)
    }
    flat = np.array([score for kind in (ANSWERABLE, *here) for score in order[kind]])
    known, weight = np.array([one.known for one in mixture], float), np.array([one.weight for one in mixture])
    return {
        "auroc": round(statistics.fmean(area["auroc"] for area in areas.values()), 3),
        "interval": _interval(answers, scores, here, fold),
        "ece": round(equal_mass_ece(flat, known, weight), 3),
        "brier_skill": round(1 - float(weight @ (flat - known) ** 2) / 0.25, 3),
        "n": len(flat),
        "kinds": areas,
    }


def _area(answers: Sequence[Answer], scores: Scores, kinds: Sequence[str], fold: Of) -> dict[str, Any]:
    pairs = list(zip(answers, scores, strict=True))
    chosen = [(s, one.probe.kind == ANSWERABLE) for one, s in pairs if one.probe.kind in {ANSWERABLE, *kinds}]
    area = ranked(np.array([s for s, _ in chosen]), np.array([known for _, known in chosen]))
    return {
        "auroc": round(area, 3),
        "interval": _interval(answers, scores, kinds, fold),
        "n": sum(not known for _, known in chosen),
    }


def _interval(answers: Sequence[Answer], scores: Scores, kinds: Sequence[str], fold: Of) -> list[float]:
    """Of the mean AUROC over kinds, by drawing whole conversations anew."""
    names = sorted({fold(one) for one in answers})
    found: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for one, score in zip(answers, scores, strict=True):
        found[fold(one)].setdefault(one.probe.kind, []).append(score)

    def statistic(drawn: Any) -> Any:
        return np.array([_mean_area([found[names[int(i)]] for i in case[:, 0]], kinds) for case in drawn])

    low, high = bootstrap([[float(i)] for i in range(len(names))], statistic, resamples=RESAMPLES)
    return [round(low, 3), round(high, 3)]


def _mean_area(groups: Sequence[Mapping[str, Scores]], kinds: Sequence[str]) -> float:
    own = [s for group in groups for s in group.get(ANSWERABLE, ())]
    areas: list[float] = []
    for kind in kinds:
        other = [s for group in groups for s in group.get(kind, ())]
        truth = np.array([True] * len(own) + [False] * len(other))
        areas.append(ranked(np.array([*own, *other]), truth) if own and other else math.nan)
    return statistics.fmean(areas)


def bins(p: Any, known: Any, weight: Any) -> list[tuple[float, float, float]]:
    """Of ten bins of equal mass: weight, mean probability, share that is known.

    Equal probabilities may lie in two bins. Each such case counts as the mean of all that have its probability, so that
    the order in which they come makes no difference.
    """
    _, alike = np.unique(p, return_inverse=True)
    known = (np.bincount(alike, weight * known) / np.bincount(alike, weight))[alike]
    order = np.argsort(p, kind="stable")
    ends = np.cumsum(weight[order]) / weight.sum()
    place = np.minimum((ends * BINS - 1e-9).astype(int), BINS - 1)
    rows: list[tuple[float, float, float]] = []
    for number in range(BINS):
        inside = order[place == number]
        if len(inside):
            mass = weight[inside]
            mean, share = (float(mass @ values[inside] / mass.sum()) for values in (p, known))
            rows.append((float(mass.sum() / weight.sum()), mean, share))
    return rows


def equal_mass_ece(p: Any, known: Any, weight: Any) -> float:
    """The expected calibration error over `BINS` bins of equal mass."""
    return sum(mass * abs(mean - share) for mass, mean, share in bins(p, known, weight))


def reliability(answers: Sequence[Answer], scores: Scores, kinds: Sequence[str]) -> list[tuple[float, float, float]]:
    """The bins of the mixture, for the plot."""
    mixture = cases(answers, kinds)
    here = (ANSWERABLE, *(kind for kind in kinds if any(one.probe.kind == kind for one in answers)))
    flat = [s for kind in here for one, s in zip(answers, scores, strict=True) if one.probe.kind == kind]
    known, weight = np.array([one.known for one in mixture], float), np.array([one.weight for one in mixture])
    return bins(np.array(flat), known, weight)


def evidence(answers: Sequence[Answer], scores: Scores, start: Calibration, fold: Of) -> dict[str, Any]:
    """Recall of the evidence among the first five, and whether the score foretells it."""
    own = [
        (one, s) for one, s in zip(answers, scores, strict=True) if one.probe.kind == ANSWERABLE and one.probe.evidence
    ]
    if not own:
        return {}
    asked = [one for one, _ in own]
    hit = np.array([one.recall > 0 for one in asked])
    fitted = _by_fold(
        asked, fold, lambda rest: fit_calibration([Case(o.values, o.whose, o.recall > 0) for o in rest], start)
    )
    return {
        "recall_at_5": round(statistics.fmean(one.recall for one in asked), 3),
        "hit_at_5": round(float(hit.mean()), 3),
        "bm25_recall_at_5": round(statistics.fmean(one.bm25_recall for one in asked), 3),
        "evidence_auroc": _rounded(ranked(np.array(fitted), hit)),
        "evidence_auroc_of_confidence": _rounded(ranked(np.array([s for _, s in own]), hit)),
    }


def baselines(answers: Sequence[Answer], kinds: Sequence[str], fold: Of) -> dict[str, dict[str, float]]:
    """AUROC by kind of single numbers, and of the form of the question alone (an artefact of the data)."""
    singles: dict[str, list[float]] = {
        "bm25_top": [one.bm25 for one in answers],
        "best_score": [one.values["best"] for one in answers],
        "covered": [one.values["covered"] for one in answers],
        "mentions_of_person": [one.whose.get("mentions", 0.5) for one in answers],
        "question_form": _form_scores(answers, kinds, fold),
    }
    here = [kind for kind in kinds if any(one.probe.kind == kind for one in answers)]
    return {name: {kind: _plain_area(answers, scores, kind) for kind in here} for name, scores in singles.items()}


def _plain_area(answers: Sequence[Answer], scores: Scores, kind: str) -> float:
    chosen = [
        (s, o.probe.kind == ANSWERABLE)
        for o, s in zip(answers, scores, strict=True)
        if o.probe.kind in {ANSWERABLE, kind}
    ]
    return round(ranked(np.array([s for s, _ in chosen]), np.array([known for _, known in chosen])), 3)


def _form_scores(answers: Sequence[Answer], kinds: Sequence[str], fold: Of) -> list[float]:
    rows = np.array([_form(one.probe.text) for one in answers])
    known = np.array([one.probe.kind == ANSWERABLE for one in answers], float)
    used = np.array([one.probe.kind in {ANSWERABLE, *kinds} for one in answers])
    names = sorted({fold(one) for one in answers})
    place = np.array([names.index(fold(one)) % FOLDS for one in answers])
    scores = np.zeros(len(answers))
    for number in set(place.tolist()):
        train = used & (place != number)
        weights = logistic(rows[train], known[train], ridge=1.0)
        scores[place == number] = weights[0] + rows[place == number] @ weights[1:]
    return scores.tolist()


def _form(text: str) -> list[float]:
    words = text.lower().split()
    return [float(word in words[:2]) for word in _FORMS] + [len(words) / 20, float(any(map(str.isdigit, text)))]


def by_overlap(answers: Sequence[Answer], scores: Scores) -> dict[str, float | None]:
    """AUROC against another person's facts, by thirds of how much of the question the best memory holds."""
    pairs = [
        (one, s)
        for one, s in zip(answers, scores, strict=True)
        if one.probe.kind in {ANSWERABLE, ANOTHER, WRONG_DETAIL}
    ]
    pairs.sort(key=lambda pair: pair[0].values["covered"])
    third = len(pairs) // 3
    parts = {"low": pairs[:third], "middle": pairs[third : 2 * third], "high": pairs[2 * third :]}
    return {
        name: _rounded(ranked(np.array([s for _, s in part]), np.array([o.probe.kind == ANSWERABLE for o, _ in part])))
        for name, part in parts.items()
    }


def when_high(answers: Sequence[Answer], scores: Scores, kinds: Sequence[str], start: Calibration) -> dict[str, Any]:
    """How often "high" is said and right where a user's outcomes move its threshold, over streams of the mixture.

    The promise is checked, not assumed: `settle` sees each outcome after it was scored.
    """
    share = _shares(answers, kinds)
    drawn = [
        (AnswerOutcome(score, one.probe.kind == ANSWERABLE), share[one.probe.kind])
        for one, score in zip(answers, scores, strict=True)
        if one.probe.kind in share
    ]
    chance = random.Random(STREAMS)
    outcomes, weights = zip(*drawn, strict=True)
    tallies = [_stream(chance.choices(outcomes, weights, k=STREAM), start) for _ in range(STREAMS)]
    said, right, own = (statistics.fmean(column) for column in zip(*tallies, strict=True))
    return {
        "said_of_answerable": round(right / own, 3),
        "right": round(right / said, 3) if said else None,
        "lowest_right": round(min((right / said for said, right, _ in tallies if said), default=math.nan), 3),
    }


def _stream(stream: Sequence[AnswerOutcome], calibration: Calibration) -> tuple[int, int, int]:
    """How often "high" was said, and right, and how often memory held the answer."""
    said = right = 0
    for one in stream:
        high = one.score >= calibration.high
        said, right = said + high, right + (high and one.held)
        calibration = move_threshold(calibration, [one._replace(said_high=high)])
    return said, right, sum(one.held for one in stream)


def _shares(answers: Sequence[Answer], kinds: Sequence[str]) -> dict[str, float]:
    """What one case of each kind weighs in the mixture."""
    counts = {kind: sum(one.probe.kind == kind for one in answers) for kind in (ANSWERABLE, *kinds)}
    here = [kind for kind in kinds if counts[kind]]
    return {kind: 0.5 / len(here) / counts[kind] for kind in here} | {ANSWERABLE: 0.5 / max(counts[ANSWERABLE], 1)}


def cost(answers: Sequence[Answer]) -> dict[str, float]:
    """Median milliseconds a query."""
    return {
        "recall": round(statistics.median(one.recall_ms for one in answers), 3),
        "confidence": round(statistics.median(one.estimate_ms for one in answers), 3),
    }


def joined(answers: Sequence[Answer]) -> list[Answer]:
    """Category 5 as one kind: wrong details count as another person's facts, as in the data."""
    return [
        one._replace(probe=one.probe._replace(kind=ANOTHER)) if one.probe.kind == WRONG_DETAIL else one
        for one in answers
    ]


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 3)
