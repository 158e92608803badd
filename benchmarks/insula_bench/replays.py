"""The votes of `insula` over recorded attempts, by other rules: an ablation of the choice and of the stopping.

Attempts are taken as they stand in the lines, as far as they go: no rule can look farther than some method did. What a
rule spends is what its attempts cost on that problem, each kind at its mean. The words of the problems are not in the
lines; whether they ask for a quantity, and for one that is counted, is told from the confidence that was recorded,
which comes out by one of the three possibilities alone.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, NamedTuple

from insula_bench.arms import Record
from insula_bench.gsm8k_figures import OURS, alone, confidences, paired
from insula_solve.amounts import parse_number
from insula_solve.answers import ParsedAnswer, compute_program_in, is_correct
from insula_solve.claims import EquationClaim
from insula_solve.features import ProblemFeatures
from insula_solve.insula import UNLIKE
from insula_solve.solution import Attempt, Kind, Likelihood, measure_likelihood
from insula_solve.votes import (
    AnswerStanding,
    VotePolicy,
    estimate_confidence,
    is_settled,
    is_sure,
    raise_confidence,
    rank_answers,
)

Figures = dict[str, Any]
Kinds = Sequence[Kind]
Texts = Mapping[tuple[float, float], str]
"""Replies by the mean and the lowest log-probability of their tokens, which no two share."""

POLICY = VotePolicy()
ADAPTIVE = "adaptive_self_consistency"
CHAIN: Final = "chain"
KINDS: Final[Kinds] = ("chain", "program", "strategy")
ORDER: Kinds = UNLIKE + (CHAIN,) * 8
IN_DOUBT = -0.001
"""Mean log-probability of the answer: on problems 100 to 213 chains below it, whose equations hold, are right in
12 of 49, those above it in 305 of 495."""
CHAINS: Kinds = tuple[Kind, ...](CHAIN if kind == "strategy" else kind for kind in ORDER)
_UNKNOWN = ProblemFeatures(
    classes=("words",), numbers=2, sentences=1, difficulty=1.0, is_computable=True, is_quantity=False, is_count=False
)
SEEN = (_UNKNOWN, replace(_UNKNOWN, is_quantity=True), replace(_UNKNOWN, is_quantity=True, is_count=True))
_CLOSE = 1e-6
_DOES_NOT_HOLD = EquationClaim(text="", left="", computed=Fraction(0), stated=Fraction(1), holds=False)
_HOLDS = replace(_DOES_NOT_HOLD, holds=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to decide."""

    name: str
    policy: VotePolicy = POLICY
    order: Kinds = ORDER
    computes: bool = True
    """Whether a program in a chain is computed; only replies that are kept can be."""
    once: bool = False
    """Whether a first attempt that the model was sure of is enough. How hard a problem looks is not in the lines."""
    silent: Callable[[Record], bool] = lambda line: False
    """Attempts that speak for no answer."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a problem from its lines."""

    ours: Record
    attempts: Mapping[str, Sequence[Record]]
    """By kind."""
    cost: Mapping[str, float]
    """Tokens of an attempt, by kind."""
    seen: ProblemFeatures
    texts: Texts


class Ended(NamedTuple):
    """A problem at its end."""

    ours: Record
    """Our line of it."""
    standing: Sequence[AnswerStanding]
    """Its answers, the leading one first; what an attempt said is its reasoning, empty where that is not kept."""
    tokens: float


def _is_in_doubt(line: Record) -> bool:
    """Whether a chain wrote its answer down with doubt."""
    told: Record = line["likelihood"] or {}
    answer = told.get("answer")
    return line["kind"] != "program" and answer is not None and answer < IN_DOUBT


def _is_bare(line: Record) -> bool:
    """Whether nothing can be recomputed that a chain says."""
    return line["kind"] != "program" and not line["equations"]


RULES = (
    Rule("as it was", computes=False),
    Rule("as it is: programs in chains are computed"),
    Rule("an answer in doubt speaks for nothing", silent=_is_in_doubt),
    Rule("a chain without an equation speaks for nothing", silent=_is_bare),
    Rule("chains in the place of strategies", order=CHAINS),
    Rule("an answer that can hardly be counts in full", replace(POLICY, implausible=1 - 1e-9)),
    *(Rule(f"at most {most} attempts", replace(POLICY, attempts=most)) for most in (11, 10, 8, 7, 6, 5)),
    *(Rule(f"it ends at {stop} of the votes", replace(POLICY, stop=stop)) for stop in (0.75, 0.8, 0.9)),
    Rule("one attempt where the model was sure", once=True),
    Rule("likelihood is not weighed", replace(POLICY, slope=0.0)),
    Rule("likelihood has 2 times the weight", replace(POLICY, slope=2 * POLICY.slope, most_shift=1.5)),
)


def replays(records: Sequence[Record], replies: Iterable[Record] = ()) -> list[Figures]:
    """Each rule: what it comes to, how it compares with the first and with adaptive self-consistency, and how sure.

    Args:
        replies: the pool of the same folder, as far as it is kept.
    """
    texts = texts_of(replies)
    known = [
        _known(lines, texts) for lines in _problems(records).values() if any(line["arm"] == OURS for line in lines)
    ]
    adaptive = {(one["problem"], one["seed"]): one for one in records if one["arm"] == ADAPTIVE}
    first: dict[tuple[int, int], Record] = {}
    found: list[Figures] = []
    for rule in RULES:
        ends = {(one.ours["problem"], one.ours["seed"]): _ended(rule, one) for one in known}
        first = first or ends
        found.append(_told(rule, ends, first, adaptive))
    return found


CHOICES = tuple(
    Rule(
        f"{most} attempts, to {stop} of the votes{', one where it was sure' * once}",
        replace(POLICY, attempts=most, stop=stop),
        once=once,
    )
    for most in (5, 6, 7, 8, 9)
    for stop in (0.75, 0.8, 0.85, 0.9)
    for once in (False, True)
)
"""Rules from which the cheapest is chosen that is as often right as adaptive self-consistency."""


def halves(records: Sequence[Record], replies: Iterable[Record] = ()) -> list[Figures]:
    """What the rule of `CHOICES` comes to on one half of the problems that was chosen on the other; both ways.

    It is the cheapest there that is right as often as adaptive self-consistency.
    """
    texts = texts_of(replies)
    adaptive = {(line["problem"], line["seed"]): line for line in records if line["arm"] == ADAPTIVE}
    of = [lines for lines in _problems(records).values() if {OURS, ADAPTIVE} <= {line["arm"] for line in lines}]
    known = [_known(lines, texts) for lines in of]
    if len({one.ours["problem"] % 2 for one in known}) < 2:
        return []
    ends = {
        rule.name: {(one.ours["problem"], one.ours["seed"]): _ended(rule, one) for one in known} for rule in CHOICES
    }
    found: list[Figures] = []
    for half in (0, 1):
        chosen = min(CHOICES, key=lambda rule, half=half: _cost_of(ends[rule.name], adaptive, half))
        tried = {key: line for key, line in ends[chosen.name].items() if key[0] % 2 != half}
        found.append(
            {
                "chosen_on": ("even", "odd")[half],
                "rule": chosen.name,
                "right": sum(line["correct"] for line in tried.values()),
                "adaptive_right": sum(adaptive[key]["correct"] for key in tried),
                **paired("", "", tried, {key: adaptive[key] for key in tried}),
            }
        )
    return found


def _cost_of(ended: Mapping[Any, Record], adaptive: Mapping[Any, Record], half: int) -> tuple[bool, float]:
    """Whether a rule is right less often on a half, and the tokens that it takes there."""
    keys = [key for key in ended if key[0] % 2 == half]
    worse = sum(ended[key]["correct"] for key in keys) < sum(adaptive[key]["correct"] for key in keys)
    return worse, sum(ended[key]["input_tokens"] for key in keys)


def _told(
    rule: Rule, ended: Mapping[Any, Record], first: Mapping[Any, Record], adaptive: Mapping[Any, Record]
) -> Figures:
    before, beside = paired("", "", dict(ended), dict(first)), paired("", "", dict(ended), dict(adaptive))
    both, sure = alone(list(ended.values())), confidences(list(ended.values())).get("combined", {})
    return {
        "rule": rule.name,
        "right": both["right"],
        "attempts": both["attempts"],
        "tokens": both["tokens"],
        "cut_short": sum(one["cut_short"] for one in ended.values()),
        "only_it": before["only_one"],
        "only_as_was": before["only_other"],
        "p": before["p"],
        **{name: sure.get(name) for name in ("auroc", "ece", "surer_half")},
        "adaptive": {
            name: beside[name] for name in ("difference", "interval", "p", "tokens_difference", "tokens_interval")
        },
    }


def texts_of(replies: Iterable[Record]) -> Texts:
    """Replies of a pool by what the lines tell of them."""
    found: dict[tuple[float, float], str] = {}
    for reply in replies:
        known = measure_likelihood(reply["logprobs"])
        if known is not None:
            found[known.mean, known.lowest] = reply["text"]
    return found


def _known(lines: Sequence[Record], texts: Texts) -> _Known:
    """A problem: our attempts, and after our chains, whose arithmetic was put right, the others of their series."""
    ours = next(line for line in lines if line["arm"] == OURS)
    of = {kind: [one for one in ours["attempts"] if one["kind"] == kind] for kind in KINDS}
    plain = [line for line in lines if _is_plain(line["arm"])]
    longest = max(plain, key=lambda line: sum(one["kind"] == CHAIN for one in line["attempts"]))
    series = [one for one in longest["attempts"] if one["kind"] == CHAIN]
    cost = {kind: _cost(ours, kind, "monitor") for kind in KINDS if kind != CHAIN} | {CHAIN: _cost(longest, CHAIN)}
    return _Known(ours, {**of, CHAIN: of[CHAIN] + series[len(of[CHAIN]) :]}, cost, _seen(ours), texts)


def _cost(line: Record, kind: str, *others: str) -> float:
    """Tokens of an attempt of a kind; a strategy's share of what the Monitor took is its own."""
    made = sum(one["kind"] == kind for one in line["attempts"])
    stages = [line["stages"].get(stage, {}) for stage in (kind, *(others if kind == "strategy" else ()))]
    return sum(one.get("input_tokens", 0) + one.get("output_tokens", 0) for one in stages) / max(made, 1)


def _seen(ours: Record) -> ProblemFeatures:
    """What was seen of a problem: that with which its attempts come to the confidence that was recorded."""
    made = [_attempt(one) for one in ours["attempts"]]
    recorded: float = ours["confidences"].get("combined", -1.0)
    for seen in SEEN:
        if standing := rank_answers(made, seen, POLICY):
            sure = estimate_confidence(standing, made, seen, POLICY)
            if min(abs(sure - recorded), abs(raise_confidence(sure, POLICY) - recorded)) < _CLOSE:
                return seen
    return _UNKNOWN


def _is_plain(arm: str) -> bool:
    """Whether the chains of a method are those of the common series."""
    return arm in (OURS, "direct", ADAPTIVE) or arm.startswith("self_consistency")


def ended(records: Sequence[Record], replies: Iterable[Record]) -> Iterator[Ended]:
    """Each problem as the solver ends it, with what its attempts said, as far as that is kept."""
    rule, texts = RULES[1], texts_of(replies)
    for lines in _problems(records).values():
        if any(line["arm"] == OURS for line in lines):
            known = _known(lines, texts)
            made, spent = _made(rule, known)
            yield Ended(known.ours, rank_answers(made, known.seen, rule.policy), spent)


def _problems(records: Iterable[Record]) -> Mapping[tuple[int, int], list[Record]]:
    problems: dict[tuple[int, int], list[Record]] = defaultdict(list)
    for record in records:
        problems[record["problem"], record["seed"]].append(record)
    return problems


def _made(rule: Rule, known: _Known) -> tuple[list[Attempt], float]:
    """The attempts that a rule makes of a problem, and the tokens that they take."""
    made: list[Attempt] = []
    spent = 0.0
    for attempt, cost in _taken(rule, known):
        made.append(replace(attempt, number=len(made) + 1))
        spent += cost
        if rule.once and len(made) == 1 and is_sure(made[0], known.seen, rule.policy):
            break
        if is_settled(rank_answers(made, known.seen, rule.policy), rule.policy):
            break
    return made, spent


def _ended(rule: Rule, known: _Known) -> Record:
    """What a rule makes of a problem, as a line of the results; and whether it would have wanted more attempts."""
    made, spent = _made(rule, known)
    standing = rank_answers(made, known.seen, rule.policy)
    answer = standing[0].answer if standing else None
    correct = is_correct(answer, known.ours["gold"])
    sure = (
        raise_confidence(estimate_confidence(standing, made, known.seen, rule.policy), rule.policy) if standing else 0.0
    )
    return {
        **{name: known.ours[name] for name in ("problem", "seed")},
        "answer": answer,
        "correct": correct,
        "leaning": answer,
        "leaning_correct": correct,
        "failed": None,
        "confidences": {"combined": sure},
        "attempts": made,
        "calls": len(made),
        "seconds": 0.0,
        "input_tokens": round(spent),
        "output_tokens": 0,
        "cut_short": not is_settled(standing, rule.policy) and len(made) < rule.policy.attempts,
    }


def _taken(rule: Rule, known: _Known) -> Iterator[tuple[Attempt, float]]:
    """The attempts in the order of a rule; where one of a kind is missing, a chain, and where that is, no more."""
    left = {kind: iter(of) for kind, of in known.attempts.items()}
    for kind in rule.order[: rule.policy.attempts]:
        found = next(left[kind], None) or next(left[CHAIN], None)
        if found is None:
            return
        made = _attempt(found, known.texts if rule.computes else {})
        if rule.silent(found) and not made.computed:
            made = replace(made, claims=(_DOES_NOT_HOLD,), repaired=False)
        yield made, known.cost[found["kind"]]


def _attempt(line: Record, texts: Texts = {}) -> Attempt:  # noqa: B006 it is only read
    """An attempt as far as a line tells of it, and a program in its reply where that is kept."""
    told = line["likelihood"]
    attempt = Attempt(
        number=1,
        kind=line["kind"],
        reasoning=text_of(line, texts),
        answer=None if line["answer"] is None else ParsedAnswer(line["answer"], line["answer"]),
        claims=(_DOES_NOT_HOLD,) * line["wrong_equations"] + (_HOLDS,) * (line["equations"] - line["wrong_equations"]),
        repaired=line["repaired"],
        computed=line.get("computed", False),
        likelihood=Likelihood(**told) if told else None,
    )
    value = program_of(line, texts)
    return attempt if value is None else replace(attempt, answer=value, computed=True)


def text_of(line: Record, texts: Texts) -> str:
    """What an attempt said; empty where that is not kept."""
    told = line["likelihood"]
    return texts.get((told["mean"], told["lowest"]), "") if told else ""


def program_of(line: Record, texts: Texts) -> ParsedAnswer | None:
    """What the program in a chain comes to, where nothing else in the chain can be recomputed."""
    text = text_of(line, texts)
    is_number = line["answer"] is None or parse_number(line["answer"]) is not None
    return (
        compute_program_in(text) if text and is_number and line["kind"] != "program" and not line["equations"] else None
    )
