"""The model of confidence as values: the score of features, its refit per user, and a bound on "high".

Two halves multiply: is what is asked stored, and is it said of the person asked? A sum would let much of the one make
up for the lack of the other, and a fact about somebody else is stored all right. No weight is negative, so that no
feature can count against what it stands for.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from insula.errors import InputError
from insula.stats import sigmoid
from insula.types import Calibration
from insula.value import is_number, is_object

if TYPE_CHECKING:
    Array = np.typing.NDArray[np.float64]

NEWTON = 50
"""Steps of a user's refit, each of which lowers the loss; ten are enough."""
_TINY = 1e-9
_FAR = 100.0

PRIOR_OUTCOMES = 40.0
"""Outcomes that the shipped calibration is worth when a user's own refit it (shrinkage; a tenth of what it was fitted
on, so that a month of use counts and a bad day does not)."""

CURVE, SPREAD = 0.2, 4.0
"""What one outcome holds the shift by, p (1 - p) for p about 0.7, and how much more the slope, the mean square of the
log-odds."""

FURTHEST = 4.0
"""The log-odds of an outcome are cut to this, about as far as the shipped weights reach: a score next to 0 or 1 has
log-odds without end, and one surprise there would level the slope. So one alone takes a 0.9 no lower than 0.85."""

MISSES = 0.1
"""Share of "high" that may be wrong."""
PACE = 0.05
"""What an outcome moves the threshold of "high" by; Gibbs and Candès (2021) find that little hangs on it."""
MOST = 0.95
"""Highest threshold of "high": above it hardly anything would be called so, and nothing would be learnt any more."""
ADJUSTED = {"shift": (-_FAR, _FAR), "slope": (0.0, _FAR), "high": (0.0, 1.0)}
"""What a user's outcomes set, and between what."""
OWN = "calibration"
"""Subject of the revisions of a user's own calibration."""


@cache
def load_shipped() -> Calibration:
    """The calibration that Insula ships, with a word on what it was fitted on."""
    raw = json.loads((files("insula") / "calibration.json").read_text("utf-8"))
    return Calibration(**raw | {"documents": Calibration(**raw["documents"])})


def check_features(calibration: Calibration) -> Calibration:
    """A calibration whose features there are; a misspelt one would lower confidence without a word.

    Raises:
        InputError: it names another one.
    """
    known = load_shipped()
    for given, own in ((calibration.weights, known.weights), (calibration.whose_weights, known.whose_weights)):
        if odd := sorted(given.keys() - own.keys()):
            features = ", ".join(sorted(own))
            raise InputError(f"The calibration weighs {odd[0]!r}, which is no feature; there are {features}.")
    if calibration.documents:
        check_features(calibration.documents)
    return calibration


def apply_own(base: Calibration, own: str) -> Calibration:
    """A calibration with what is a user's own in it, as `dump_own` gives it; what cannot be is left out."""
    try:
        raw: object = json.loads(own)
    except ValueError:
        return base
    own_figures = raw if is_object(raw) else {}
    own_values = {
        name: float(value)
        for name, (least, most) in ADJUSTED.items()
        if is_number(value := own_figures.get(name)) and least <= value <= most
    }
    return replace(base, **own_values)


def dump_own(calibration: Calibration) -> str:
    """What is a user's own in a calibration, as JSON."""
    return json.dumps({name: round(getattr(calibration, name), 4) for name in ADJUSTED})


def raw_probability(calibration: Calibration, values: Mapping[str, float], whose: Mapping[str, float]) -> float:
    """The chance in [0, 1] that memory holds what is asked, from the features of both halves, before it is adjusted."""
    stored = _logistic_model(calibration.intercept, calibration.weights, values)
    if whose and calibration.whose_weights:
        stored *= _logistic_model(calibration.whose_intercept, calibration.whose_weights, whose)
    return stored


def adjust_probability(calibration: Calibration, p: float) -> float:
    """A chance in [0, 1] as a user's outcomes adjust it."""
    if (calibration.shift, calibration.slope) == (0.0, 1.0):
        return p
    return _of_odds(calibration.shift + calibration.slope * log_odds(p))


def _logistic_model(intercept: float, weights: Mapping[str, float], values: Mapping[str, float]) -> float:
    return _of_odds(intercept + sum(weight * values.get(name, 0.0) for name, weight in weights.items()))


def _of_odds(odds: float) -> float:
    return 0.5 * (1 + math.tanh(0.5 * odds))


def log_odds(p: float) -> float:
    """The log-odds of a probability, finite at 0 and 1."""
    p = min(max(p, _TINY), 1 - _TINY)
    return math.log(p / (1 - p))


class AnswerOutcome(NamedTuple):
    """What a user gave for free: the confidence that a response went out with, and whether it held."""

    score: float
    """Before it was adjusted."""
    held: bool
    """Thanks: yes. A correction, or the same question again: no."""
    said_high: bool = False
    """Whether it went out as "high"."""


def refit_user(base: Calibration, outcomes: Sequence[AnswerOutcome]) -> Calibration:
    """The calibration of one user: `shift` and `slope` of the log-odds, drawn to those of `base` by few outcomes.

    The weights stay: a month of thanks and corrections says how sure to be, not what to look at.
    """
    if not outcomes:
        return base
    odds = np.clip([log_odds(outcome.score) for outcome in outcomes], -FURTHEST, FURTHEST)
    held = np.array([outcome.held for outcome in outcomes], float)
    x = np.column_stack([np.ones(len(odds)), odds])
    prior = np.array([base.shift, base.slope])
    drawn = PRIOR_OUTCOMES * CURVE * np.diag([1.0, SPREAD])

    def log_loss(at: "Array") -> float:
        z = x @ at
        return float(np.logaddexp(0.0, z).sum() - held @ z + (at - prior) @ drawn @ (at - prior) / 2)

    at = prior.copy()
    for _ in range(NEWTON):
        p = sigmoid(x @ at)
        gradient = x.T @ (p - held) + drawn @ (at - prior)
        curve = (x * (p * (1 - p))[:, None]).T @ x + drawn
        move = np.zeros(2)
        if at[1] <= 0 and gradient[1] > 0:  # the slope cannot fall: the shift alone moves
            move[0] = gradient[0] / curve[0, 0]
        else:
            move[:] = np.linalg.solve(curve, gradient)
        step = 1.0
        while step > _TINY and log_loss(_clip_slope(at - step * move)) > log_loss(at):
            step /= 2
        at = _clip_slope(at - step * move)
    return replace(base, shift=float(at[0]), slope=float(at[1]))


def _clip_slope(at: "Array") -> "Array":
    """With a slope that is not negative: more confidence never means less."""
    return np.array([at[0], max(at[1], 0.0)])


def move_threshold(calibration: Calibration, outcomes: Iterable[AnswerOutcome]) -> Calibration:
    """The calibration with its threshold of "high" moved by what became of each "high", in their order.

    Adaptive conformal inference (Gibbs and Candès 2021): one that did not hold raises the threshold by
    `PACE` × (1 − `MISSES`), one that held lowers it by `PACE` × `MISSES`, between `medium` and `MOST`. So while it is
    below `MOST`, of h "high" no more than `MISSES` × h + (`MOST` − the first threshold) / `PACE` do not hold, whatever
    they are about.
    """
    high = calibration.high
    for outcome in outcomes:
        if outcome.said_high:
            high = min(max(high + PACE * ((not outcome.held) - MISSES), calibration.medium), MOST)
    return replace(calibration, high=high)
