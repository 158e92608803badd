"""`insula bench pairwise`: whether the model itself tells which of two leading answers to a problem is right.

It is shown an attempt at each, in both orders, and writes one letter; how likely that letter is counts, too. Problems
and attempts are those of kept results, decided as the solver decides; only this one letter is asked for.
"""

import asyncio
import hashlib
import json as jsonlib
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from insula import settings
from insula.errors import ModelError
from insula.llm.client import Prompt, generate_reply
from insula.llm.models import resolve_model
from insula.stats import wilson
from insula_bench.gsm8k import REPLIES, REPLY_SECONDS, RESULTS, problems
from insula_bench.lines import Lines, kept
from insula_bench.progress import steps
from insula_bench.replays import Ended, ended
from insula_bench.statistics import auroc, mcnemar
from insula_solve.answers import is_correct
from insula_solve.solution import Attempt

if TYPE_CHECKING:
    from insula.llm.model import Model

Figures = dict[str, Any]

ASKED = "pairwise.jsonl"
SHOWN = 1_500
"""Characters of an attempt."""
QUESTION = """\
Two solutions of one problem are shown. At least one of them is wrong.

Problem: {problem}

Solution A:
{a}

Solution B:
{b}

Which solution is right? Reply with A or B, and nothing else."""
_LEAST = 0.01
"""No letter is taken for more certain than this far from it."""


class Pair(NamedTuple):
    """The two leading answers to a problem."""

    problem: int
    first: str
    """An attempt at the leading answer."""
    second: str
    first_right: bool
    second_right: bool
    odds: float
    """The logarithm of the first one's votes over the second one's."""
    settled: bool
    """Whether the solver had enough of the votes for the first."""


def run(results: str, data: str, model: str, out: str, json: bool) -> int:
    """Ask what was not asked yet, print the figures, and return the exit code.

    Raises:
        InputError: results, data or folder cannot be used.
        ModelError: the model cannot be used.
    """
    of = pairs(ended(kept(Path(results) / RESULTS)[0], kept(Path(results) / REPLIES)[0]))
    if data:
        asyncio.run(_asked(of, data, model, Path(out)))
    found = figures(of, kept(Path(out) / ASKED)[0])
    print(jsonlib.dumps(found, indent=2)) if json else _show(found)
    return 0


def pairs(ends: Iterable[Ended]) -> list[Pair]:
    """The pairs of all problems that have two answers whose attempts can be shown."""
    found: list[Pair] = []
    for one in ends:
        texts = [_best(each.attempts) for each in one.standing[:2]]
        if len(texts) == 2 and all(texts):
            first, second = one.standing[:2]
            right = [is_correct(each.answer, one.ours["gold"]) for each in (first, second)]
            odds, is_settled = math.log(first.share / second.share), one.ours["ending"] == "agreed"
            found.append(Pair(one.ours["problem"], texts[0], texts[1], right[0], right[1], odds, is_settled))
    return found


def _best(attempts: Sequence[Attempt]) -> str:
    """What the likeliest attempt at an answer says."""
    shown = [one for one in attempts if one.reasoning and one.likelihood]
    return max(shown, key=lambda one: one.likelihood.mean if one.likelihood else 0.0).reasoning if shown else ""


async def _asked(of: Sequence[Pair], data: str, name: str, out: Path) -> None:
    texts = {one.number: one.text for one in problems(Path(data), 0, None)}
    with closing(Lines(out / ASKED)) as lines:
        async with resolve_model(name, settings.load_settings().weights) as model:
            await ask(of, texts, name, model, lines)


async def ask(of: Sequence[Pair], texts: Mapping[int, str], name: str, model: "Model", lines: Lines) -> None:
    """Ask about each pair in both orders, but for what was asked.

    Args:
        texts: the problems by their numbers.
        name: the model's name, part of the key of what was asked.
    """
    known = {record["key"] for record in lines.records}
    prompts = [(pair.problem, order, _prompt(texts[pair.problem], pair, order)) for pair in of for order in (0, 1)]
    for problem, order, prompt in steps([one for one in prompts if _key(name, one[2]) not in known], "letters"):
        try:
            told = await _letter(model, prompt)
        except ModelError as error:
            told = {"error": str(error)}  # asked again by the next run
        key = _key(name, prompt) if "error" not in told else ""
        lines.add({"key": key, "problem": problem, "order": order, **told})


async def _letter(model: "Model", prompt: str) -> dict[str, Any]:
    said = await generate_reply(
        model,
        Prompt(prompt=prompt),
        purpose="bench",
        max_tokens=1,
        temperature=0.0,
        logprobs=True,
        timeout=REPLY_SECONDS,
    )
    sure = math.exp(said.logprobs[0][1]) if said.logprobs else 0.5
    return {"said": said.text, "sure": round(sure, 6), "tokens": said.usage.input_tokens + said.usage.output_tokens}


def _prompt(problem: str, pair: Pair, order: int) -> str:
    a, b = (pair.first, pair.second) if order == 0 else (pair.second, pair.first)
    return QUESTION.format(problem=problem, a=a[-SHOWN:], b=b[-SHOWN:])


def _key(model: str, prompt: str) -> str:
    return hashlib.sha256(f"{model}\n{prompt}".encode()).hexdigest()[:16]


def figures(of: Sequence[Pair], asked: Sequence[Mapping[str, Any]]) -> Figures:
    """How often each way to choose takes the right one of a pair in which one is right."""
    said: dict[int, dict[int, Mapping[str, Any]]] = {}
    for one in asked:
        if "said" in one:
            said.setdefault(one["problem"], {})[one["order"]] = one
    both = [(pair, _sure(said[pair.problem])) for pair in of if len(said.get(pair.problem, {})) == 2]
    told = [(pair, sure) for pair, sure in both if pair.first_right != pair.second_right]
    letters = [one["said"].strip().upper()[:1] for pair in said.values() for one in pair.values()]
    return {
        "pairs": len(both),
        "one_is_right": len(told),
        "says_a": round(mean(letter == "A" for letter in letters), 4) if letters else None,
        "tokens": round(mean(one["tokens"] for pair in said.values() for one in pair.values()), 1) if said else None,
        "all": _ways(told),
        "undecided": _ways([(pair, sure) for pair, sure in told if not pair.settled]),
    }


def _sure(orders: Mapping[int, Mapping[str, Any]]) -> float:
    """The log-odds of the first answer by the letters of both orders: what favours a place weighs on both."""
    return (_odds(orders[0], "A") + _odds(orders[1], "B")) / 2


def _odds(one: Mapping[str, Any], letter: str) -> float:
    said = one["said"].strip().upper()[:1]
    if said not in {"A", "B"}:
        return 0.0
    chance = min(max(one["sure"], _LEAST), 1 - _LEAST)
    return math.log(chance / (1 - chance)) * (1 if said == letter else -1)


def _ways(told: Sequence[tuple[Pair, float]]) -> Figures:
    votes = [pair.first_right for pair, _ in told]
    alone = [pair.first_right == (sure > 0) for pair, sure in told]
    together = [pair.first_right == (pair.odds + sure > 0) for pair, sure in told]
    right = [sure for pair, sure in told if pair.first_right]
    wrong = [sure for pair, sure in told if not pair.first_right]
    gained = sum(one and not other for one, other in zip(together, votes, strict=True))
    lost = sum(other and not one for one, other in zip(together, votes, strict=True))
    return {
        "n": len(told),
        **{name: _share(one) for name, one in (("votes", votes), ("letters", alone), ("together", together))},
        "gained": gained,
        "lost": lost,
        "p": round(mcnemar(gained, lost), 4),
        "auroc": round(auroc(right, wrong), 4) if right and wrong else None,
    }


def _share(held: Sequence[bool]) -> Figures | None:
    if not held:
        return None
    low, high = wilson(sum(held), len(held))
    return {"right": sum(held), "share": round(mean(held), 4), "interval": [round(low, 4), round(high, 4)]}


def _show(found: Figures) -> None:
    console = Console(highlight=False, markup=False)
    console.print(
        f"{found['pairs']} problems with two answers, one of them right in {found['one_is_right']}; "
        f"it says A in {_percent(found['says_a'])}, {found['tokens'] or 0:.0f} tokens a letter"
    )
    for name, of in (("all of these", "all"), ("where votes did not settle it", "undecided")):
        told = found[of]
        ways = ", ".join(f"{way} {_cell(told[way])}" for way in ("votes", "letters", "together"))
        console.print(f"{name} ({told['n']}): right by {ways}")
        console.print(f"  together: gained {told['gained']}, lost {told['lost']}, p = {told['p']}")
        console.print(f"  AUROC of the letters: {told['auroc'] if told['auroc'] is not None else '–'}")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _cell(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "–"
    low, high = one["interval"]
    return f"{one['right']} ({one['share']:.1%} [{low:.1%}, {high:.1%}])"
