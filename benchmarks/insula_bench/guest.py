"""`insula bench guest`: what an integration adds to an agent of another framework, call by call.

Each turn is a message of a talk of our own to a memory that holds the other talks, three calls of tools, and the
reply that stands in the talk. What is timed is all that every integration shares (`integrations.guest`): before the
first call of the model, before each further one, and behind the answer; and what the senses take for a call of a tool,
as a function and on disk, as in the process of the Claude Agent SDK.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from itertools import cycle, groupby, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rich.console import Console
from rich.table import Table

from insula import senses
from insula.coding.hosts import hook
from insula.integrations.guest import Guest
from insula.language.owner import ASSISTANT as REPLIES
from insula.language.owner import USER as SAYS
from insula.metacognition import Metacognition, warm_up
from insula_bench import talks
from insula_bench.progress import steps

T = TypeVar("T")
Json = dict[str, Any]

USER = "bench"
TOOL_CALLS = 3
ACTIONS = 1_000
GOALS = {"first": 15.0, "further": 2.0, "answer": None, "feel": 1.0, "on_disk": 1.0}
"""Milliseconds, p95, by what is timed."""
NAMES = {
    "first": "before the first model call of a turn",
    "further": "before each further one, with what a tool gave back",
    "answer": "behind the answer",
    "feel": "a tool call: `insula.senses.feel`",
    "on_disk": "a tool call in the process of the Claude Agent SDK, with its trace on disk",
}


class Cost(NamedTuple):
    """Milliseconds of one call."""

    cpu: float
    """Of all threads of the process."""
    wall: float


Series = dict[str, list[Cost]]


def run(turns: int, as_json: bool) -> int:
    """Measure and print; the exit status."""
    figures = measure(turns)
    if as_json:
        print(json.dumps(figures, indent=2))
    else:
        Console().print(_table(figures))
    return 0


def measure(turns: int) -> Json:
    """The figures of this machine."""
    warm_up()
    series: Series = {name: [] for name in NAMES}
    with tempfile.TemporaryDirectory() as folder:
        memories = asyncio.run(_turns(Path(folder), turns, series))
        _actions(Path(folder) / "home", series)
    return {
        "memories": memories,
        "turns": len(series["first"]),
        **{name: _quantiles(costs) for name, costs in series.items()},
    }


async def _turns(folder: Path, turns: int, series: Series) -> int:
    async with await Metacognition.open(folder / "guest.db") as mind:
        told = [(talk.name, line) for talk in talks.of_two() for line in talk.lines]
        for talk, line in steps(told, "reading the talks"):
            await mind.observe(USER, f"{talk} {line.session}", line.text, speaker=line.speaker)
        async with mind.turn(USER, "warm", "Where does Ana live?"):
            await asyncio.gather(
                *mind.engine.backlog.tasks
            )  # the vectors of what was read in; elsewhere made beside the turns
        guest = Guest(mind, user=USER)
        for session, exchanges in steps(list(_sessions(turns)), "sessions"):
            history: list[Json] = []
            for said, replied in exchanges:
                await _turn(guest, history, said, replied, session, series)
    return len(told)


def _sessions(turns: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The sessions of the talks with an assistant: what was said, and the reply."""
    left = turns
    for talk in talks.with_assistant():
        for session, lines in groupby(talk.lines, lambda line: line.session):
            both = [
                (one.text, two.text) for one, two in pairwise(lines) if (one.speaker, two.speaker) == (SAYS, REPLIES)
            ]
            yield f"{talk.name} {session}", both[:left]
            left -= len(both[:left])


async def _turn(guest: Guest, history: list[Json], said: str, replied: str, session: str, series: Series) -> None:
    history.append({"role": "user", "content": said})
    told = await _timed(series["first"], guest.before_model(history, session=session))
    for call in range(TOOL_CALLS):
        key = f"call_{len(history)}"
        made = {"name": "search", "arguments": json.dumps({"query": f"{said} {call}"})}
        history.append({"role": "assistant", "tool_calls": [{"id": key, "type": "function", "function": made}]})
        history.append({"role": "tool", "tool_call_id": key, "content": _result(len(history))})
        told = await _timed(series["further"], guest.before_model(history, session=session))
    answer = {"role": "assistant", "content": replied}
    await _timed(series["answer"], guest.after_model(told, answer))
    history.append(answer)


def _result(number: int) -> str:
    return f"Page {number}\n" + "A line of what a search gives back, of usual length.\n" * 40


def _actions(home: Path, series: Series) -> None:
    """A thousand calls of tools, of which every fourth fails, felt as a function and on disk."""
    state: senses.State | None = None
    home.mkdir()
    for number, (command, output, ok) in enumerate(islice(_calls(), ACTIONS)):
        felt = _timed_now(
            series["feel"],
            lambda: senses.feel(state, senses.action("Bash", {"command": command}, output, ok=ok)),  # noqa: B023
        )
        state = felt.state
        payload = _payload(home, number, command, output, ok)
        _timed_now(series["on_disk"], lambda: hook.respond(str(home), "claude-code", payload, time.time()))  # noqa: B023


def _calls() -> Iterator[tuple[str, str, bool]]:
    for number in cycle(range(ACTIONS)):
        ok = number % 4 > 0
        yield f"python -m pytest tests/test_{number}.py", _result(number) if ok else f"ls: {number}: No such file", ok


def _payload(home: Path, number: int, command: str, output: str, ok: bool) -> Json:
    came: Json = {"tool_response": {"stdout": output, "stderr": ""}} if ok else {"error": f"Exit code 2\n{output}"}
    return {
        "session_id": "bench",
        "cwd": str(home),
        "hook_event_name": "PostToolUse" if ok else "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": f"toolu_{number}",
        **came,
    }


async def _timed(costs: list[Cost], work: Coroutine[Any, Any, T]) -> T:
    cpu, wall = time.process_time(), time.perf_counter()
    done = await work
    costs.append(Cost(1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)))
    return done


def _timed_now(costs: list[Cost], work: Callable[[], T]) -> T:
    cpu, wall = time.process_time(), time.perf_counter()
    done = work()
    costs.append(Cost(1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)))
    return done


def _quantiles(costs: list[Cost]) -> Json:
    """Median and p95 of both clocks."""

    def at(share: float, values: list[float]) -> float:
        return round(sorted(values)[min(int(share * len(values)), len(values) - 1)], 3)

    cpu, wall = [one.cpu for one in costs], [one.wall for one in costs]
    return {
        "cpu_median": at(0.5, cpu),
        "cpu_p95": at(0.95, cpu),
        "wall_median": at(0.5, wall),
        "wall_p95": at(0.95, wall),
    }


def _table(figures: Json) -> Table:
    title = f"What an integration adds ({figures['turns']} turns, {figures['memories']:,} messages remembered)"
    table = Table("ms", "CPU: median", "p95", "wall: median", "p95", "goal, p95", title=title)
    for name, what in NAMES.items():
        one, goal = figures[name], GOALS[name]
        shown = [f"{one[key]:.2f}" for key in ("cpu_median", "cpu_p95", "wall_median", "wall_p95")]
        table.add_row(what, *shown, f"≤ {goal:.0f}" if goal else "–")
    return table
