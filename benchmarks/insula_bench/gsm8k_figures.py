"""From lines of results to figures: each method alone, methods in pairs, and what a confidence tells."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

from insula.stats import wilson
from insula_bench.arms import Record
from insula_bench.statistics import auroc_interval, ece, mcnemar, mean_interval, ranked, reliability

OURS, MGV = "insula", "mgv"
KINDS = ("prompted", "likelihood", "agreement", "combined")

Figures = dict[str, Any]
Unit = tuple[int, int]
"""A problem and a seed."""


def figures(records: Sequence[Record], *, model: str, tokens: int) -> Figures:
    """All figures of a folder of results."""
    arms: dict[str, dict[Unit, Record]] = defaultdict(dict)
    for record in records:
        arms[record["arm"]][record["problem"], record["seed"]] = record
    return {
        "v": 1,
        "model": model,
        "tokens_per_problem": tokens,
        "problems": len({record["problem"] for record in records}),
        "seeds": sorted({record["seed"] for record in records}),
        "arms": {name: alone(list(units.values())) for name, units in arms.items()},
        "pairs": [paired(one, other, arms[one], arms[other]) for one, other in _pairs(list(arms))],
        "confidence": {name: confidences(list(units.values())) for name, units in arms.items()},
    }


def alone(records: Sequence[Record]) -> Figures:
    """A method by itself. What it abstained from and what failed counts as wrong.

    The interval is Wilson's where each problem was asked once. Where one was asked with several seeds, whole problems
    are drawn anew: its answers are not independent.
    """
    shares = _by_problem((record["problem"], float(record["correct"])) for record in records)
    n, right = len(records), sum(record["correct"] for record in records)
    given = [record for record in records if record.get("answer") is not None]
    return {
        "n": n,
        "right": right,
        "accuracy": rounded(right / n),
        "interval": [rounded(end) for end in (wilson(right, n) if len(shares) == n else mean_interval(shares))],
        "abstained": sum(bool(record.get("abstained")) for record in records),
        "unanswered": n - len(given) - sum(bool(record.get("abstained")) for record in records),
        "right_when_answered": rounded(right / len(given)) if given else None,
        "failed": sum(bool(record["failed"]) for record in records),
        "capped": sum(bool(record.get("capped")) for record in records),
        "unparsed": sum(record.get("unparsed", 0) for record in records),
        "endings": dict(Counter(record["ending"] for record in records if "ending" in record).most_common()),
        "attempts": rounded(mean(len(record.get("attempts", ())) for record in records), 2),
        "calls": rounded(mean(record["calls"] for record in records), 2),
        "tokens": rounded(mean(_tokens(record) for record in records), 1),
        "output_tokens": rounded(mean(record["output_tokens"] for record in records), 1),
        "seconds": rounded(mean(record["seconds"] for record in records), 2),
    }


def paired(one: str, other: str, ours: dict[Unit, Record], theirs: dict[Unit, Record]) -> Figures:
    """Two methods on the problems that both have: the difference is the first's less the second's.

    Problems are drawn anew with all their seeds; the exact test is for one seed, and none is given for several.
    """
    units = sorted(ours.keys() & theirs.keys())
    pairs = [(ours[unit], theirs[unit]) for unit in units]
    only_one = sum(a["correct"] and not b["correct"] for a, b in pairs)
    only_other = sum(b["correct"] and not a["correct"] for a, b in pairs)
    right = _by_problem((a["problem"], float(a["correct"]) - float(b["correct"])) for a, b in pairs)
    spent = _by_problem((a["problem"], float(_tokens(a) - _tokens(b))) for a, b in pairs)
    return {
        "one": one,
        "other": other,
        "n": len(pairs),
        "only_one": only_one,
        "only_other": only_other,
        "difference": rounded(mean(right)) if pairs else None,
        "interval": [rounded(end) for end in mean_interval(right)] if pairs else None,
        "p": rounded(mcnemar(only_one, only_other)) if pairs and len(right) == len(pairs) else None,
        "tokens": [rounded(mean(_tokens(a) for a, _ in pairs), 1), rounded(mean(_tokens(b) for _, b in pairs), 1)]
        if pairs
        else None,
        "tokens_difference": rounded(mean(spent), 1) if pairs else None,
        "tokens_interval": [rounded(end, 1) for end in mean_interval(spent)] if pairs else None,
    }


def _by_problem(values: Iterable[tuple[int, float]]) -> list[float]:
    """The mean of each problem over its seeds."""
    found: dict[int, list[float]] = defaultdict(list)
    for problem, value in values:
        found[problem].append(value)
    return [mean(of) for of in found.values()]


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Ours against each, and `mgv` against each baseline; without them the first against the others."""
    heads = [name for name in (OURS, MGV) if name in names] or list(names[:1])
    return [(head, name) for head in heads for name in names if name != head and not (head == MGV and name == OURS)]


def confidences(records: Sequence[Record]) -> Figures:
    """Each kind of confidence that a method has: AUROC, ECE and reliability, on the answers that it leaned to.

    An answer that was held back counts here, too: whether it was well held back is what confidence is for.
    """
    leaning = [record for record in records if record.get("leaning") is not None]
    return {kind: told for kind in KINDS if (told := _told(leaning, kind))}


def _told(records: Sequence[Record], kind: str) -> Figures | None:
    known = [(record["confidences"].get(kind), bool(record["leaning_correct"])) for record in records]
    pairs = [(min(1.0, max(0.0, value)), true) for value, true in known if value is not None and math.isfinite(value)]
    if not pairs:
        return None
    scores, truth = [value for value, _ in pairs], [true for _, true in pairs]
    area = auroc_of(scores, truth)
    return {
        "n": len(pairs),
        "right": sum(truth),
        "auroc": rounded(area),
        "auroc_interval": None if area is None else [rounded(end) for end in auroc_interval(scores, truth)],
        "ece": rounded(ece(scores, truth)),
        "surer_half": rounded(surer_half(scores, truth)),
        "mean": rounded(mean(scores)),
        "reliability": [[n, rounded(p), rounded(share)] for n, p, share in reliability(scores, truth)],
    }


def auroc_of(scores: Sequence[float], truth: Sequence[bool]) -> float | None:
    """AUROC; None where all are right, or all wrong."""
    import numpy as np

    area = ranked(np.asarray(scores, float), np.asarray(truth, bool))
    return None if math.isnan(area) else area


def surer_half(scores: Sequence[float], truth: Sequence[bool]) -> float:
    """The share that is right where the less sure half is held back; of equally sure ones each counts as their mean."""
    shares: dict[float, list[bool]] = defaultdict(list)
    for score, true in zip(scores, truth, strict=True):
        shares[score].append(true)
    left = half = (len(scores) + 1) // 2
    right = 0.0
    for score in sorted(shares, reverse=True):
        taken = min(left, len(shares[score]))
        right += taken * mean(shares[score])
        left -= taken
    return right / half


def _tokens(record: Record) -> int:
    return record["input_tokens"] + record["output_tokens"]


def rounded(value: float | None, digits: int = 4) -> float | None:
    """A figure as it is reported."""
    return None if value is None or not math.isfinite(value) else round(value, digits)
