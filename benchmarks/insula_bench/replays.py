"""The votes of `insula` over attempts that were recorded, with other figures and in another order: an ablation.

Attempts are taken as they stand in the lines, as far as they go: no rule can look farther than some method did. The
words of the problems are not in the lines; whether they ask for a quantity, and for one that is counted, is told from
the confidence that was recorded, which comes out by one of the three possibilities alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import mean
from typing import Any, Final

from insula.solve.answers import Answer
from insula.solve.claims import Claim
from insula.solve.features import Features
from insula.solve.insula import UNLIKE
from insula.solve.likelihood import Likelihood
from insula.solve.solution import Attempt, Kind
from insula.solve.votes import Policy, confidence, raised, settled, standings
from insula.stats import mcnemar
from insula_bench.arms import Record
from insula_bench.gsm8k_figures import OURS, rounded

Figures = dict[str, Any]
Kinds = Sequence[Kind]

POLICY = Policy()
CHAIN: Final = "chain"
AS_IT_IS: Kinds = UNLIKE + (CHAIN,) * (POLICY.attempts - len(UNLIKE))
CHAINS: Kinds = tuple[Kind, ...](CHAIN if kind == "strategy" else kind for kind in AS_IT_IS)
_UNKNOWN = Features(
    classes=("words",), numbers=2, sentences=1, difficulty=0.0, is_computable=True, is_quantity=False, is_count=False
)
SEEN = (_UNKNOWN, replace(_UNKNOWN, is_quantity=True), replace(_UNKNOWN, is_quantity=True, is_count=True))
_CLOSE = 1e-6
_DOES_NOT_HOLD = Claim(text="", left=(), computed=Fraction(0), stated=Fraction(1), holds=False)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a problem from its lines."""

    attempts: Mapping[str, Sequence[Record]]
    """By kind."""
    seen: Features


@dataclass(frozen=True, slots=True)
class Rule:
    """Another way to decide."""

    name: str
    policy: Policy = POLICY
    order: Kinds = AS_IT_IS


RULES = (
    Rule("as it is"),
    Rule("chains in the place of strategies", order=CHAINS),
    Rule("an answer that can hardly be counts in full", replace(POLICY, implausible=1 - 1e-9)),
    *(Rule(f"at most {most} attempts", replace(POLICY, attempts=most)) for most in (8, 7, 6, 5)),
    *(Rule(f"it ends at {stop} of the votes", replace(POLICY, stop=stop)) for stop in (0.75, 0.8, 0.9, 0.95)),
    Rule("likelihood is not weighed", replace(POLICY, slope=0.0)),
    *(
        Rule(f"likelihood has {times} times the weight", replace(POLICY, slope=times * POLICY.slope, most_shift=1.5))
        for times in (2, 4)
    ),
)


def replays(records: Sequence[Record]) -> list[Figures]:
    """Each rule: how many problems it has right, how many attempts it takes, and where it differs from the first."""
    problems: dict[tuple[int, int], list[Record]] = defaultdict(list)
    for record in records:
        problems[record["problem"], record["seed"]].append(record)
    known = [_known(lines) for lines in problems.values() if any(line["arm"] == OURS for line in lines)]
    found: list[Figures] = []
    first: list[bool] = []
    for rule in RULES:
        ended = [_ended(rule, problem) for problem in known]
        right = [correct for correct, _, _ in ended]
        first = first or right
        won, lost = (
            sum(a is which and b is not which for a, b in zip(right, first, strict=True)) for which in (True, False)
        )
        found.append(
            {
                "rule": rule.name,
                "right": sum(right),
                "attempts": rounded(mean(taken for _, taken, _ in ended), 2),
                "cut_short": sum(short for _, _, short in ended),
                "only_it": won,
                "only_as_is": lost,
                "p": rounded(mcnemar(won, lost)),
            }
        )
    return found


def _known(lines: Sequence[Record]) -> _Known:
    """A problem: our attempts, and after our chains, whose arithmetic was put right, the others of their series."""
    ours = next(line for line in lines if line["arm"] == OURS)
    of = {kind: [one for one in ours["attempts"] if one["kind"] == kind] for kind in (CHAIN, "program", "strategy")}
    series = [[one for one in line["attempts"] if one["kind"] == CHAIN] for line in lines if _is_plain(line["arm"])]
    return _Known({**of, CHAIN: of[CHAIN] + max(series, key=len)[len(of[CHAIN]) :]}, _seen(ours))


def _seen(ours: Record) -> Features:
    """What was seen of a problem: that with which its attempts come to the confidence that was recorded."""
    made = [_attempt(one) for one in ours["attempts"]]
    for seen in SEEN:
        if standing := standings(made, seen, POLICY):
            sure = confidence(standing, made, seen, POLICY)
            recorded = ours["confidences"]["combined"]
            if min(abs(sure - recorded), abs(raised(sure, POLICY) - recorded)) < _CLOSE:
                return seen
    return _UNKNOWN


def _is_plain(arm: str) -> bool:
    """Whether the chains of a method are those of the common series."""
    return arm in (OURS, "direct", "adaptive_self_consistency") or arm.startswith("self_consistency")


def _ended(rule: Rule, known: _Known) -> tuple[bool, int, bool]:
    """Whether a rule has a problem right, after how many attempts, and whether it would have wanted more of them."""
    made: list[Attempt] = []
    right: dict[str, bool] = {}
    for attempt, correct in _taken(rule, known.attempts):
        made.append(replace(attempt, number=len(made) + 1))
        right[attempt.value or ""] = correct
        if settled(standings(made, known.seen, rule.policy), rule.policy):
            break
    standing = standings(made, known.seen, rule.policy)
    short = not settled(standing, rule.policy) and len(made) < rule.policy.attempts
    return bool(standing) and right[standing[0].answer], len(made), short


def _taken(rule: Rule, attempts: Mapping[str, Sequence[Record]]) -> Iterator[tuple[Attempt, bool]]:
    """The attempts in the order of a rule; where one of a kind is missing, a chain, and where that is, no more."""
    left = {kind: iter(of) for kind, of in attempts.items()}
    for kind in rule.order[: rule.policy.attempts]:
        found = next(left[kind], None) or next(left[CHAIN], None)
        if found is None:
            return
        yield _attempt(found), found["correct"]


def _attempt(line: Record) -> Attempt:
    """An attempt as far as a line tells of it."""
    told = line["likelihood"]
    return Attempt(
        number=1,
        kind=line["kind"],
        reasoning="",
        answer=None if line["answer"] is None else Answer(line["answer"], line["answer"]),
        claims=(_DOES_NOT_HOLD,) * line["wrong_equations"],
        repaired=line["repaired"],
        likelihood=Likelihood(**told) if told else None,
    )
