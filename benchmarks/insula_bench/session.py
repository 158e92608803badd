"""`insula bench session`: a real conversation as one long session, and what its requests are like as it fills.

LoCoMo's conversations (CC BY-NC 4.0: for measuring, never shipped) and our own talks with an assistant: one speaker is
the user, what the other said comes back as the response, and each turn takes a minute. No turn is slow, so that
working memory is the only condition.
"""

import asyncio
import json as jsonlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from insula.agent.chat import Chat
from insula.llm.budget import Account
from insula.metacognition import Metacognition
from insula.testing import ScriptedModel, memory_store
from insula.types import Controls
from insula_bench import locomo, talks
from insula_bench.locomo import Conversation

USER, SESSION = "user", "all of it"
MINUTE = 60.0
FACT = "\n- "
"""What each line of the system prompt that lists something begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """How a conversation fared as one session."""

    name: str
    turns: int
    highest: float
    """Utilisation of working memory, of the snapshots."""
    first: int | None
    """The turn from which working memory was highly used; None where it never was."""
    high: int
    """Turns in which it was."""
    items: tuple[int, int]
    """Memories that a turn may show: before, and least while it was."""
    threshold: tuple[float, float]
    """Salience that long-term memory asks for: before, and most while it was."""
    shown: tuple[float, float]
    """Lines listed in a request, on average: in the ten turns before, and in those turns."""
    snapshots: int


def run(data: str | None, limit: int, json: bool) -> int:
    """Measure and print."""
    found = locomo.read(Path(data) / "locomo" / "locomo.json")[:limit] if data else []
    report = [asyncio.run(filled(one)) for one in (*talks.with_assistant(), *found)]
    if json:
        print(jsonlib.dumps([asdict(one) for one in report], indent=2))
    for one in report if not json else ():
        begins = f"from turn {one.first}, in {one.high}" if one.first else "never"
        print(
            f"{one.name:<24} {one.turns} turns, at most {one.highest:.2f}; high {begins}; items {one.items[0]} to "
            f"{one.items[1]}, threshold {one.threshold[0]:.2f} to {one.threshold[1]:.2f}, "
            f"lines {one.shown[0]:.1f} to {one.shown[1]:.1f}, {one.snapshots} snapshots"
        )
    return 0


async def filled(talk: Conversation, most: int = 1_000) -> Filled:
    """Live through so many turns of a conversation in one session."""
    said = list(exchanges(talk))[:most]
    at = talk.lines[0].at
    async with memory_store(lambda: at) as store:
        model = ScriptedModel([answer for _, answer in said])
        owner = Metacognition(store)
        chat, controls = Chat(owner, model, account=Account(clock=lambda: at)), list[Controls]()
        for message, _ in said:
            at += MINUTE
            controls.append((await chat.reply(USER, SESSION, message)).controls)
        texts = [f"{one.instructions} {one.prompt}" for one in model.requests]
        snapshots = list(owner.engine.regulator.ring.snapshots)
    high = [number for number, used in enumerate(controls) if used != controls[0]]
    first = high[0] if high else len(texts)
    lines = [text.count(FACT) for text in texts]
    calm = lines[max(0, first - 10) : first]
    return Filled(
        name=talk.name,
        turns=len(said),
        highest=max((one.stm_utilization or 0.0 for one in snapshots), default=0.0),
        first=first + 1 if high else None,
        high=len(high),
        items=(controls[0].max_context_items, min(one.max_context_items for one in controls)),
        threshold=(controls[0].consolidation_threshold, max(one.consolidation_threshold for one in controls)),
        shown=(_mean(calm), _mean([lines[number] for number in high])),
        snapshots=len(snapshots),
    )


def _mean(numbers: list[int]) -> float:
    return round(sum(numbers) / len(numbers), 2) if numbers else 0.0


def exchanges(talk: Conversation) -> Iterator[tuple[str, str]]:
    """What the first speaker said, each with what the other said to it."""
    message, answer = list[str](), list[str]()
    for line in talk.lines:
        if line.speaker == talk.speakers[0]:
            if answer:
                yield " ".join(message), " ".join(answer)
                message, answer = [], []
            message.append(line.text)
        elif message:
            answer.append(line.text)
    if message and answer:
        yield " ".join(message), " ".join(answer)
