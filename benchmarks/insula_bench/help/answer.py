"""`insula bench help answer`: is what is hedged or flagged wrong more often than what passes?"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula.llm.client import Prompt
from insula.stats import wilson
from insula.text.analysis import analyse_text
from insula.turn import monitor
from insula.turn.monitor import weigh_likelihood
from insula.turn.similarity import near_duplicate
from insula.types import Assessment
from insula_bench.help import share
from insula_bench.help.asking import Key, Reply, Request, Terms, replies
from insula_bench.help.cases import HALVES
from insula_bench.help.figures import Figures
from insula_bench.help.verdict import fold, follows, holds
from insula_bench.statistics import auroc_interval, ranked

PART = "answer"
BASE = "You are a helpful assistant."
JUDGE = "Is this answer right? Reply with one word, yes or no.\n\nQuestion: {question}\nAnswer: {answer}"
SAMPLES = 5
"""Replies that are drawn beside the first, for what agreement at five times the cost tells."""
TOKENS = 120
_YES = ("yes", "sí", "oui", "ja", "sim", "sì", "是", "はい")


class Item(NamedTuple):
    """A question or task whose reply a rule can judge."""

    id: str
    kind: str
    language: str
    text: str
    is_right: Callable[[str], bool]


class Answered(NamedTuple):
    """An item with its reply, whether it is right, and what each signal says of it; higher is surer."""

    item: Item
    right: bool
    verdict: Assessment
    without: Assessment
    """What is made of it without its likelihood."""
    signals: Mapping[str, float]


def items(half: str) -> list[Item]:
    """World questions with known answers, and tasks with a rule.

    Raises:
        InputError: there is no such half.
    """
    if half not in HALVES:
        raise InputError(f"The questions have no half {half!r}; name one of {', '.join(HALVES)}.")
    return [_question(raw) for raw in _read(f"questions_{half}")] + [_task(raw) for raw in _read(f"tasks_{half}")]


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (files("insula_bench") / f"{name}.jsonl").read_text("utf-8").splitlines()]


def _question(raw: Mapping[str, Any]) -> Item:
    return Item(raw["id"], "question", raw["lang"], raw["question"], partial(holds, wanted=[raw["answers"]]))


def _task(raw: Mapping[str, Any]) -> Item:
    return Item(raw["id"], "task", raw["lang"], raw["message"], partial(follows, rule=raw["rule"]))


def kept(found: Sequence[Item], held: Mapping[Key, Reply]) -> list[Answered]:
    """The items that an earlier run asked, judged anew."""
    mine = [(one, reply) for one in found if (reply := held.get((PART, one.id, "reply", 0))) and not reply["error"]]
    return [_answered(one, reply, held, held) for one, reply in mine]


def measure(found: Sequence[Item], terms: Terms) -> list[Answered]:
    """Ask everything: each item once, five times more with chance, and the model itself about its reply."""
    first = replies([_ask(one, sample) for sample in range(SAMPLES + 1) for one in found], terms)
    asked = [(one, reply) for one in found if (reply := first.get((PART, one.id, "reply", 0))) and not reply["error"]]
    return kept(found, first | replies([_judge(one, reply) for one, reply in asked], terms))


def _ask(item: Item, sample: int) -> Request:
    return Request(PART, item.id, "reply", Prompt(instructions=BASE, prompt=item.text), sample)


def _judge(item: Item, reply: Reply) -> Request:
    text = JUDGE.format(question=item.text, answer=reply["text"])
    return Request(PART, item.id, "judge", Prompt(instructions=BASE, prompt=text))


def _answered(item: Item, reply: Reply, first: Mapping[Key, Reply], judged: Mapping[Key, Reply]) -> Answered:
    text, analysis = reply["text"], analyse_text(item.text, default=item.language)
    without = monitor.assess(item.text, text)
    verdict = weigh_likelihood(without, analysis, reply["logprobs"])
    others = [one["text"] for n in range(1, SAMPLES + 1) if (one := first.get((PART, item.id, "reply", n)))]
    said = fold(judged[PART, item.id, "judge", 0]["text"]) if (PART, item.id, "judge", 0) in judged else ""
    signals = {
        "insula": verdict.score,
        "likelihood": verdict.parts.likelihood if verdict.parts.likelihood is not None else 1.0,
        "mean token": reply["mean"] or 0.0,
        "least token": reply["least"] or 0.0,
        "asking the model": float(said.startswith(_YES)),
        "five samples": float(np.mean([_agree(text, one) for one in others])) if others else 0.0,
    }
    return Answered(item, item.is_right(text), verdict, without, signals)


def _agree(one: str, other: str) -> float:
    """How much two replies say the same: all, where one repeats the other, else the share of words they have."""
    if near_duplicate(one, [other]):
        return 1.0
    mine, theirs = set(analyse_text(one).terms), set(analyse_text(other).terms)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 0.0


def figures(found: Sequence[Answered]) -> Figures:
    """What each signal tells of right and wrong, for questions and tasks apart."""
    kinds = {kind: [one for one in found if one.item.kind == kind] for kind in ("question", "task")}
    return {kind: _figures(mine) for kind, mine in kinds.items() if mine}


def _figures(found: Sequence[Answered]) -> Figures:
    right = [one.right for one in found]
    outcome: dict[str, list[bool]] = {"passed": [], "hedged": [], "flagged": []}
    for one in found:
        name = "passed" if one.verdict.passed else "hedged" if one.verdict.score >= 0.5 else "flagged"
        outcome[name].append(one.right)
    return {
        "n": len(found),
        "right": sum(right),
        "verdicts": {name: _share(held) for name, held in outcome.items()},
        "likelihood": share.figures([share.Pair(one.right, one.without, one.verdict) for one in found]),
        "signals": {name: _told([one.signals[name] for one in found], right) for name in found[0].signals},
    }


def _share(right: Sequence[bool]) -> Figures:
    low, high = wilson(sum(right), len(right)) if right else (0.0, 1.0)
    share = round(sum(right) / len(right), 4) if right else None
    return {"n": len(right), "right": share, "interval": [round(low, 4), round(high, 4)]}


def _told(scores: Sequence[float], right: Sequence[bool]) -> Figures:
    """AUROC, and the share right among the surer half, ties at its edge counted as their mean."""
    if not 0 < sum(right) < len(right):
        return {"auroc": None, "half": None}
    order = sorted(zip(scores, right, strict=True), key=lambda pair: -pair[0])
    half = len(order) // 2
    edge = order[half - 1][0]
    above = [held for score, held in order if score > edge]
    tied = [held for score, held in order if score == edge]
    accuracy = (sum(above) + (half - len(above)) * sum(tied) / len(tied)) / half
    low, high = auroc_interval(list(scores), list(right))
    return {
        "auroc": round(ranked(np.asarray(scores, float), np.asarray(right, bool)), 4),
        "interval": [round(low, 4), round(high, 4)],
        "half": round(accuracy, 4),
    }


COST = {"asking the model": "2", "five samples": "6"}
"""Calls for each reply; the others need none beyond the reply itself."""


def show(measured: Figures) -> None:
    """Print the figures as a person reads them."""
    console = Console()
    for kind, one in measured.items():
        table = Table(
            f"{kind}s: {one['right']} of {one['n']} right",
            "AUROC",
            "95 %",
            "right in the surer half",
            "calls",
            box=None,
        )
        for name, told in one["signals"].items():
            low, high = told.get("interval", ("–", "–"))
            table.add_row(name, str(told["auroc"]), f"{low} {high}", str(told["half"]), COST.get(name, "1"))
        console.print(table)
        verdicts = ", ".join(f"{name} {told['n']} (right {told['right']})" for name, told in one["verdicts"].items())
        console.print(f"  {verdicts}")
        share.show("the verdict", one["likelihood"])
