"""Whether the user's own words tell that they correct the assistant, or are dissatisfied with it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from insula.memory.retrieval.embedding import embed_text
from insula.night.corrections import judge_reaction
from insula_bench.corrections import Pair, apology, likeness, negation, pairs
from insula_bench.statistics import auroc_interval, ranked

Figures = dict[str, Any]
RULES = {"similarity": likeness, "similarity + apology": apology, "negation or apology": negation}


def corrections(folder: Path) -> Figures:
    """AUROC of corrections among consecutive commands."""
    found = list(pairs([folder]))
    if not found:
        return {}
    return _figures("correction", {"saif": (found, [judge_reaction(*_said(one), embed_text).score for one in found])})


def dissatisfaction(folder: Path) -> Figures:
    """AUROC of turns whose raters found the user dissatisfied: the mean over the sets, and each of them."""
    sets: dict[str, list[Pair]] = {}
    for one in pairs([folder]):
        sets.setdefault(one.set, []).append(one)
    if not sets:
        return {}
    scored = {
        name: (found, [judge_reaction(*_said(one), embed_text).score for one in found]) for name, found in sets.items()
    }
    return _figures("dissatisfaction", scored)


def _said(one: Pair) -> tuple[str, str, str]:
    return one.message, one.previous, one.response


def _figures(name: str, scored: Mapping[str, tuple[Sequence[Pair], Sequence[float]]]) -> Figures:
    sets = {label: _set(found, scores) for label, (found, scores) in scored.items()}
    means = {key: _mean([one[key] for one in sets.values()]) for key in ("auroc", "low", "high")}
    return {
        f"{name}_auroc": means["auroc"],
        f"{name}_auroc_interval": [means["low"], means["high"]],
        name: sets,
    }


def _set(found: Sequence[Pair], scores: Sequence[float]) -> Figures:
    truth = [one.corrects for one in found]
    low, high = auroc_interval(scores, truth, resamples=200)
    baselines = {name: _area([rule(one) for one in found], truth) for name, rule in RULES.items()}
    return {
        "n": len(found),
        "positive": sum(truth),
        "auroc": _area(scores, truth),
        "low": round(low, 3),
        "high": round(high, 3),
        "baselines": baselines,
    }


def _area(scores: Sequence[float], truth: Sequence[bool]) -> float:
    return round(float(ranked(np.asarray(scores, float), np.asarray(truth))), 3)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 3)
