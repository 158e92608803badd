"""A day in the life: two days of talk, a night, and what the model is told the next morning because of it.

The conversation is real (examples/day/NOTICE.md). With the embedded model, that model answers; with `--no-model` each
turn has the response that was recorded, and every run says the same. The lines in which the user corrects the agent are
ours, and marked so.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from insula import Metacognition
from insula.agent.chat import HISTORY_CHARS, make_prompt
from insula.cli.common import DATABASE, soul_of
from insula.cli.sleep import print_report
from insula.errors import ModelUnavailable
from insula.llm.budget import Account
from insula.llm.client import Prompt, generate_reply
from insula.llm.local import SMOLLM2
from insula.llm.models import resolve_model
from insula.memory.storage.store import Store
from insula.night.cycle import SleepReport, sleep_cycle
from insula.night.phases import PHASES

if TYPE_CHECKING:
    from insula.llm.model import Model

CONVERSATION = Path(__file__).parent / "day" / "conversation.json"
USER, MORNING = "me", "wednesday morning"
MINUTE, EVENING = 60.0, 9 * 3600.0
SHOWN = 110
"""Characters of a line on screen."""
MAX_TOKENS = 120
LEARNED = re.compile(r"## Behavioral Guidelines\n(?:\n|[#-]+ .*\n)*|Lessons:\n(?:- .*\n)*")
"""What a night put into a request."""

console = Console(highlight=False, soft_wrap=True)


class Clock:
    """The time that the example says it is."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def set(self, moment: str) -> None:
        self.now = datetime.fromisoformat(moment).timestamp()


class Day(NamedTuple):
    """What the example goes through it with."""

    metacognition: Metacognition
    clock: Clock
    model: "Model | None"


async def main() -> None:
    told: dict[str, Any] = json.loads(CONVERSATION.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as home:
        os.environ["INSULA_HOME"] = home  # nothing of yours is read or written
        async with AsyncExitStack() as stack:
            clock = Clock()
            store = await stack.enter_async_context(await Store.open(Path(home) / DATABASE, clock))
            model = None if "--no-model" in sys.argv else await _embedded(stack)
            day = Day(Metacognition(store, holdout=0.0), clock, model)  # no lot: an example shows what was learned
            _opening(told["source"], model)
            for one in told["days"]:
                await _live(day, one["date"], one["sessions"])
            clock.set(told["night"])
            report = await _sleep(day)
            await _sources(day, report)
            await _morning(day, told["morning"])


async def _embedded(stack: AsyncExitStack) -> "Model | None":
    try:
        return await stack.enter_async_context(resolve_model("embedded"))
    except ModelUnavailable as error:
        console.print(f"{error} The recorded responses stand in.\n")
        return None


def _opening(source: Mapping[str, str], model: "Model | None") -> None:
    console.print(f"A conversation of {source['dataset']}, {source['licence']}, laid out as two days.")
    console.print("Lines marked + are not in it: they were written for this example.")
    answers = "by the embedded model, SmolLM2 with 135 million parameters" if model else "as they were recorded"
    console.print(f"Responses: {answers}.\n")


# By day.


async def _live(day: Day, date: str, sessions: Sequence[Mapping[str, Any]]) -> None:
    day.clock.set(date)
    for session in sessions:
        console.rule(f"{session['name']}, {date[:10]}", align="left")
        for turn in session["turns"]:
            await _turn(day, session["name"], turn)
            day.clock.now += MINUTE
        day.clock.now += EVENING
        console.print()


async def _turn(day: Day, session: str, said: Mapping[str, str]) -> None:
    """One exchange; a line of ours has a response only where a model gives one."""
    message, recorded = said.get("ours") or said["user"], said.get("agent")
    console.print(Text(f"{'+' if 'ours' in said else '›'} {_short(message)}", style="bold"))
    async with day.metacognition.turn(USER, session, message) as turn:
        request = make_prompt(turn, *_brief(day))
        if response := await _answer(day.model, request) if day.model else recorded:
            console.print(Text(f"  {_short(turn.finish(response).response)}", style="dim"))


def _brief(day: Day) -> tuple[str, int]:
    return (SMOLLM2.brief, SMOLLM2.history_chars) if day.model else ("", HISTORY_CHARS)


async def _answer(model: "Model", request: Prompt) -> str:
    made = await generate_reply(model, request, purpose="answer", account=Account(), max_tokens=MAX_TOKENS)
    return made.text


# By night.


async def _sleep(day: Day) -> SleepReport:
    console.rule("the night", align="left")
    store = day.metacognition.store
    report = await sleep_cycle(store, USER, PHASES, soul=soul_of(USER))
    print_report(report)
    return report


async def _sources(day: Day, report: SleepReport) -> None:
    """What was learned, and the lines of the user that it was learned from."""
    console.print("\nLearned from which turns:")
    store = day.metacognition.store
    user_id = (await store.resolve_place(USER, MORNING)).user_id
    for lesson in await store.guidance.list_lessons(user_id):
        console.print(Text(f"• {lesson.advice}", style="bold"))
        for one in await store.guidance.read_cited(user_id, lesson.citations):
            said = "what was said there" if lesson.section else f"memory {one.memory}: “{_short(one.content)}”"
            console.print(f"    {one.session}, {said}")
    console.print(f"\n{len(report.phases)} phases, {len(report.failed)} failed.\n")


# The next morning.


async def _morning(day: Day, morning: Mapping[str, str]) -> None:
    day.clock.set(morning["date"])
    console.rule(f"{MORNING}: the request that reaches the model", align="left")
    async with day.metacognition.turn(USER, MORNING, morning["ours"]) as turn:
        request = make_prompt(turn, *_brief(day))
        for line, learned in _marked(request.instructions):
            console.print(Text(f"{'▌' if learned else ' '} {line}", style="bold green" if learned else ""))
        console.print(Text(f"\n+ {turn.message}", style="bold"))
        for line in request.prompt[len(turn.message) :].strip().splitlines():
            learned = line.startswith("- ")
            console.print(Text(f"{'▌' if learned else ' '} {line}", style="bold green" if learned else ""))
        if day.model:
            console.print(Text(f"  {turn.finish(await _answer(day.model, request)).response}", style="dim"))
    console.print("\n▌ marks what was learned of the user; the rest would stand there without it.")


def _marked(instructions: str) -> Iterator[tuple[str, bool]]:
    """The lines of the request, each with whether a night put it there."""
    learned = [found.span() for found in LEARNED.finditer(instructions)]
    place = 0
    for line in instructions.split("\n"):
        yield line, bool(line) and any(start <= place < end for start, end in learned)
        place += len(line) + 1


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


asyncio.run(main())
