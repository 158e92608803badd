"""Whether a text that is told helps: outcomes where it was told against those where it was withheld by lot.

People look every day, and an interval that is meant for one look would claim something of a text that does nothing in
a good part of all years. These intervals hold at all times at once: the chance that the truth is *ever* outside is at
most 5 %, so whoever stops as soon as zero is outside does no wrong. They need no minimum of cases either.

How: against each mean that an arm may have stands a bet that it has another, and what the bet has won is a martingale
where that mean is the true one (Ville 1939: it ever reaches 20 with a chance of 5 %). The bet is Cover's universal
portfolio under Jeffreys' prior; for outcomes of yes and no it is the beta-binomial mixture of Robbins (1970). See
Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics 49 (2021); Waudby-Smith and Ramdas, JRSS B 86 (2024); Orabona
and Jun, IEEE Transactions on Information Theory 70 (2024). The two arms are bet on together, and the interval of their
difference holds every difference of two means against which the bets have won less than twentyfold. That is no
approximation: it holds for whatever distribution within the bounds, and for any numbers of cases.

What it takes for granted: that the lot was drawn each time with the same share, and that one case says nothing about
the next; of one session, take one case.
"""

import math
from itertools import pairwise

from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WORKS = "works"
HURTS = "hurts"
USELESS = "no effect worth while"
UNKNOWN = "not enough evidence"

WORTHWHILE = 0.05
"""The smallest effect that is worth a line in a prompt (P4)."""
LEVEL = 0.95
"""Of the interval of an effect."""
LEVELS = 25
"""Steps to which amounts are rounded, so that a thousand cases take no longer than a hundred."""
POWER = 0.84
"""Standard deviations that an effect must lie above the threshold to be claimed in 80 % of cases."""
_PRICE = math.log(1 / (1 - LEVEL))
"""Logarithm of what the bets may have won."""
_BETS = 32
"""Means on which the portfolio of amounts bets; more gain little: outcomes that lie close together magnify a bet."""
_CELLS = 48
"""Of the means that an arm may have, on one side; an interval is wider by up to one of them, and never narrower."""
_HALVINGS = 18
_GOLDEN = (math.sqrt(5) - 1) / 2


class Outcomes(Value):
    """What came of the cases of one arm, each from 0 to `most`."""

    counts: "tuple[tuple[float, float], ...]" = ()
    """Each outcome, as a share of `most`, with how often it came."""
    most: float = 1.0

    @property
    def cases(self) -> float:
        """How many there were."""
        return sum(count for _, count in self.counts)

    @property
    def mean(self) -> float:
        """Their mean, as a share of `most`; the middle where there are none."""
        return sum(share * count for share, count in self.counts) / self.cases if self.cases else 0.5

    @property
    def variance(self) -> float:
        """That of a case, with Jeffreys' half a case at either end: a few that are alike do not make a certainty."""
        counts = (*self.counts, (0.0, 0.5), (1.0, 0.5))
        cases = sum(count for _, count in counts)
        mean = sum(share * count for share, count in counts) / cases
        return sum(count * (share - mean) ** 2 for share, count in counts) / cases

    def log_winnings(self, mean: float) -> float:
        """The logarithm of what the bet against a mean, as a share of `most`, has won."""
        if any(0 < share < 1 for share, _ in self.counts):
            return _bet_on_amounts(self.counts, mean)
        return _bet_on_rate(sum(count for share, count in self.counts if share), self.cases, mean)


def make_rate(times: float, of: float) -> Outcomes:
    """How often something happened."""
    return Outcomes(counts=((1.0, times), (0.0, of - times)))


def make_amounts(values: "Iterable[float]", most: float) -> Outcomes:
    """How much something took, such as turns or tokens.

    Args:
        values: one for each case; what is below 0 counts as 0.
        most: what is above counts as so much, lest one case outweigh a hundred. To be chosen before looking, and the
            same for both arms.
    """
    counts: dict[float, float] = {}
    for value in values:
        share = round(min(1.0, max(0.0, value / most)) * LEVELS) / LEVELS
        counts[share] = counts.get(share, 0) + 1
    return Outcomes(counts=tuple(sorted(counts.items())), most=most)


class Worth(Value):
    """How much less there is of what nobody wants where the text is told: the mean withheld less the mean told."""

    told: Outcomes
    withheld: Outcomes
    low: float
    """Of the interval that holds whenever and however often somebody looks."""
    high: float

    @property
    def estimate(self) -> float:
        """The difference of what was seen; 0 where an arm has seen nothing."""
        seen = self.told.cases and self.withheld.cases
        return (self.withheld.mean - self.told.mean) * self.told.most if seen else 0.0

    @property
    def verdict(self) -> str:
        """`works`, `hurts`, `no effect worth while`, or `not enough evidence`, as in `guidance`."""
        if self.low > 0:
            return WORKS
        if self.high < 0:
            return HURTS
        return USELESS if self.high < WORTHWHILE * self.told.most else UNKNOWN

    @property
    def least(self) -> float:
        """The smallest effect that so many cases would have shown in four of five years; `most` where none would."""
        have = self.told.cases + self.withheld.cases
        if not (self.told.cases and self.withheld.cases):
            return self.told.most
        spread = (self.told.variance, self.withheld.variance)
        return min(1.0, find_least_effect(*spread, have, self.told.cases / have)) * self.told.most


def compare_outcomes(told: Outcomes, withheld: Outcomes) -> Worth:
    """Compare what came of it where a text was told with what came where it was withheld by lot."""
    withheld_curve, told_curve = _Curve(withheld), _Curve(told)
    budget = _PRICE - withheld_curve.least - told_curve.least
    low, high = -_find_reach(told_curve, withheld_curve, budget), _find_reach(withheld_curve, told_curve, budget)
    return Worth(told=told, withheld=withheld, low=low * told.most, high=high * told.most)


def find_least_effect(told: float, withheld: float, cases: float, share: float = 0.5) -> float:
    """The smallest effect that is told in four of five years after so many cases in both arms together.

    Args:
        told: variance of a case where the text is told, and
        withheld: where it is not, outcomes being shares of the most.
        share: of the cases in which the text is told.
    """
    price = _PRICE + sum(0.5 * math.log(max(1.0, of * cases) * math.pi / 2) for of in (share, 1 - share))
    deviation = math.sqrt((told / share + withheld / (1 - share)) / cases)
    return (POWER + math.sqrt(2 * price)) * deviation


# --- the bets ----------------------------------------------------------------------------------------------------


def _bet_on_rate(times: float, of: float, mean: float) -> float:
    """What the beta-binomial mixture has won against a rate, under Jeffreys' prior."""
    if (times and mean <= 0) or (times < of and mean >= 1):
        return math.inf
    mixture = math.lgamma(times + 0.5) + math.lgamma(of - times + 0.5) - math.lgamma(of + 1) - math.log(math.pi)
    return mixture - (times * math.log(mean) if times else 0) - ((of - times) * math.log(1 - mean) if times < of else 0)


def _bet_on_amounts(counts: "tuple[tuple[float, float], ...]", mean: float) -> float:
    """What the universal portfolio has won against a mean; its bets are those of Jeffreys' prior."""
    if not 0 < mean < 1:
        return math.inf
    wins = [sum(n * math.log(x * q / mean + (1 - x) * (1 - q) / (1 - mean)) for x, n in counts) for q in _BET]
    top = max(wins)
    return top + math.log(sum(math.exp(win - top) for win in wins) / len(_BET))


_BET = tuple(math.sin((index + 0.5) * math.pi / 2 / _BETS) ** 2 for index in range(_BETS))


class _Curve:
    """What the bets have won against each mean of an arm: least near the mean that was seen, more on either side."""

    def __init__(self, arm: Outcomes) -> None:
        self.won = arm.log_winnings
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            low, high = (low, right) if arm.log_winnings(left) <= arm.log_winnings(right) else (left, high)
        self.start = (low + high) / 2
        self.least = arm.log_winnings(self.start)

    def list_cells(self, end: float, budget: float) -> "list[tuple[float, float]]":
        """From the least outwards: how much more is won at the inner end of each cell, and where its outer end is."""
        inside, outside = self.start, end
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if self.won(middle) - self.least <= budget else (inside, middle)
        ends = [self.start + (outside - self.start) * index / _CELLS for index in range(_CELLS + 1)]
        return [(max(0.0, self.won(inner) - self.least), outer) for inner, outer in pairwise(ends)]


def _find_reach(upper: _Curve, lower: _Curve, budget: float) -> float:
    """How far the mean of one arm may lie above that of the other: the greatest difference that the bets leave.

    Of each cell it takes the end that is farther out, so that what is left is never too little.
    """
    above, below = upper.list_cells(1.0, budget), lower.list_cells(0.0, budget)
    reach, at = -1.0, len(below) - 1
    for spent, outer in above:
        while at and below[at][0] > budget - spent:
            at -= 1
        reach = max(reach, outer - below[at][1])
    return reach
