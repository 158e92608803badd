"""`insula bench help untold`: words for what was never told, on questions that only the user could answer and others.

Nothing is remembered. Each item is asked bare, with each wording behind it whatever it asks, and as Insula asks it,
which puts its own words behind some. What counts is both: an answer made up where nobody told it, and an abstention
where the question is an ordinary one.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, cast

from insula.agent.identity import OWN
from insula.errors import InputError
from insula.llm.client import Prompt
from insula.metacognition import Metacognition
from insula_bench.help.abstention import abstains
from insula_bench.help.asking import Key, Reply, Request
from insula_bench.help.figures import Outcome
from insula_bench.help.memory import BASE

PART = "untold"
TOKENS = 48
MARKS = ("made_up", "refused")
OURS = "insula"
BARE = "bare"


class Item(NamedTuple):
    """A message of somebody who has told nothing."""

    id: str
    language: str
    ask: str
    told: bool = True
    """Whether it can be answered without knowing the user; False where only they could have told it."""


def items() -> list[Item]:
    """All of them: 32 that only the user could answer, 48 ordinary ones, evenly from eight languages."""
    lines = (files("insula_bench.help") / "untold.jsonl").read_text("utf-8").splitlines()
    return [Item(**cast("dict[str, Any]", json.loads(line))) for line in lines]


@cache
def wordings() -> dict[str, dict[str, str]]:
    """Language -> arm -> the words that it puts behind every message."""
    return json.loads((files("insula_bench.help") / "untold.json").read_text("utf-8"))


def arms() -> tuple[str, ...]:
    """Every arm: bare, each wording, and Insula's own request."""
    return (BARE, *wordings()["en"], OURS)


def requests(found: Sequence[Item], named: Sequence[str]) -> list[Request]:
    """What a model is asked.

    Raises:
        InputError: there is no such arm.
    """
    if unknown := [arm for arm in named if arm not in arms()]:
        raise InputError(f"There is no arm {unknown[0]!r}; name some of {', '.join(arms())}.")
    return asyncio.run(_requests(found, named))


async def _requests(found: Sequence[Item], named: Sequence[str]) -> list[Request]:
    made: list[Request] = []
    async with await Metacognition.open(":memory:", identity=OWN, holdout=0.0) as metacognition:
        for item in found:
            async with metacognition.turn(item.id, "asked", item.ask) as turn:
                own = Prompt(instructions=turn.instructions, prompt=turn.prompt)
            made += [Request(PART, item.id, arm, own if arm == OURS else _forced(item, arm)) for arm in named]
    return made


def _forced(item: Item, arm: str) -> Prompt:
    behind = "" if arm == BARE else f"\n\n({wordings()[item.language][arm]})"
    return Prompt(instructions=BASE, prompt=item.ask + behind)


def outcomes(found: Sequence[Item], named: Sequence[str], replies: Mapping[Key, Reply]) -> list[Outcome]:
    """What became of each item in each arm."""
    return [
        Outcome(item.id, arm, (PART, item.language), _marks(item, reply["text"]), reply)
        for item in found
        for arm in named
        if (reply := replies.get((PART, item.id, arm, 0)))
    ]


def _marks(item: Item, text: str) -> dict[str, bool]:
    return {"refused": abstains(text)} if item.told else {"made_up": not abstains(text)}
