"""`insula bench newcomer`: one conversation of 61 turns, as a newcomer has it, and whether each verdict is right.

Of the questions on what was told before, asked with confidence high: how many are answered, and whether the verdict
says so of each answer that is not, and of no answer that is.
"""

import asyncio
import json as jsonlib
import re
from importlib.resources import files
from typing import Any, NamedTuple

from rich.console import Console

from insula.agent.chat import Chat, Reply
from insula.llm.local import weights_of
from insula.llm.models import resolve_model
from insula.metacognition import Metacognition
from insula_bench.progress import steps

Figures = dict[str, Any]

CONVERSATION = "newcomer.jsonl"
TOKENS = 256
SHOWN_CHARS = 100


class Said(NamedTuple):
    """One message of the newcomer, and what a right answer to it holds."""

    session: str
    text: str
    kind: str
    """`told`, `talk`, `fact` (asks for what was told), `unknown` (for what was not) or `world`."""
    right: str


class Answered(NamedTuple):
    """A message with what became of it."""

    said: Said
    level: str
    response: str
    right: bool
    doubted: bool
    """Whether the answer is said to contradict what was told."""
    verdict: str


def run(model: str, json: bool, show: bool) -> int:
    """Hold the conversation, print the figures, and return the exit code.

    Raises:
        ModelError: the model cannot be used.
    """
    answered = asyncio.run(talk(model))
    figures = measure(answered)
    console = Console(highlight=False, soft_wrap=True)
    if json:
        print(jsonlib.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            console.print(f"{name.replace('_', ' ')}: {value}")
    for one in answered if show else ():
        mark = "right" if one.right else "wrong" if one.said.right else "–"
        console.print(f"{one.said.text} → {one.response[:SHOWN_CHARS]!r} ({mark}; {one.verdict})", markup=False)
    return 0


def conversation() -> list[Said]:
    """The messages, in order."""
    text = (files("insula_bench") / CONVERSATION).read_text("utf-8")
    return [Said(**jsonlib.loads(line)) for line in text.splitlines()]


async def talk(name: str) -> list[Answered]:
    """What a model answers, led and watched as `insula chat` does it."""
    weights = weights_of(name)
    async with await Metacognition.open(":memory:") as metacognition, resolve_model(name) as model:
        chat = Chat(
            metacognition,
            model,
            base=weights.brief if weights else "",
            max_tokens=weights.max_tokens if weights else TOKENS,
            temperature=0.0,
            guided=bool(weights and weights.guided),
        )
        return [judged(one, await chat.reply("me", one.session, one.text)) for one in steps(conversation(), name)]


def judged(said: Said, reply: Reply) -> Answered:
    """A message with what became of it."""
    right = bool(said.right) and re.search(said.right, reply.response, re.IGNORECASE) is not None
    told = reply.verdict
    doubted = told is not None and told.tone in {"doubt", "poor"}
    return Answered(said, reply.confidence.level, reply.response, right, doubted, told.text if told else "")


def measure(answered: list[Answered]) -> Figures:
    """The figures of a conversation."""
    facts = [one for one in answered if one.said.kind == "fact"]
    high = [one for one in facts if one.level == "high"]
    unknown = [one for one in answered if one.said.kind == "unknown"]
    return {
        "turns": len(answered),
        "asked_for_what_was_told": len(facts),
        "of_these_with_confidence_high": len(high),
        "right": sum(one.right for one in high),
        "wrong_and_said_to_be": sum(one.doubted for one in high if not one.right),
        "wrong_and_not_said_to_be": sum(not one.doubted for one in high if not one.right),
        "right_and_doubted": sum(one.doubted for one in high if one.right),
        "asked_for_what_was_not_told": len(unknown),
        "of_these_said_to_be_unknown": sum(one.right for one in unknown),
    }
