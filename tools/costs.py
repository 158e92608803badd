"""What Insula costs in CPU, as a multiple of a floor of the same run: `python tools/costs.py [NAME]`.

Seconds differ from machine to machine and with whatever else runs there; a floor that is measured in turn with the work
differs with them. All is CPU time: waiting for a core costs nothing. Medians of turns, and the least of short
processes, since a neighbour may spoil a round.
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

FIRST_TURNS, TURNS = 6, 18
HOOKS = 6
HELPS = 3
STARTS = 2
LOOPS = 60_000
"""Rounds of the plain loop: a third of a turn's time."""
SESSIONS, TALKS = 10, 4
"""Sessions that say something to the server at once, and how often."""
HEAVY = (
    "alembic.context",
    "asyncio",
    "numpy",
    "opentelemetry.trace",
    "prometheus_client",
    "pydantic",
    "rapidfuzz.fuzz",
    "rapidfuzz.process",
    "snowballstemmer",
    "sqlalchemy",
    "sqlalchemy.dialects.sqlite",
)
"""What the first request loads of others. A library that is not here counts as ours."""
FLOOR = "import json,sys"
BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
HELP_FLOOR = "import typer, typer.rich_utils"
MANY, ASKED = 10_000, 24
"""Memories that are recalled from, and questions that are asked of them."""
FIRST = """
import asyncio
from insula import Metacognition

async def main():
    async with await Metacognition.open("insula.db", embed=None) as mind:
        async with mind.turn("ana", "monday", "Where does my sister live?") as turn:
            turn.finish("You have not told me.")

asyncio.run(main())
"""
THREADS = """
import os, threading, numpy
others = {*os.listdir("/proc/self/task")} - {str(threading.get_native_id())}
import costs
costs.measure_turn()
spent = {}
for task in os.listdir("/proc/self/task"):
    with open(f"/proc/self/task/{task}/schedstat") as file:
        spent[task] = int(file.read().split()[0])
print(sum(spent[task] for task in others) / sum(spent.values()))
"""
TOLD = (
    "My sister {0} moved to Lisbon in {1}, and works there as a nurse.",
    "{0} and I are going to a concert on {2} May; the tickets were {1} euro.",
    "Could you explain how a heat pump works in winter?",
    "What did {0} do in {1}?",
    "Where does my sister {0} live now?",
    "I would like a short plan for the {2} days that we have in Porto.",
)
ANSWERED = 4
"""So many times an answer says all of it, with other names and numbers: 1,400 characters, as models write."""
PAYLOAD: Mapping[str, Any] = {
    "session_id": "cost",
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_response": {"stdout": "12 passed\n" + "line of output\n" * 40, "stderr": ""},
}


def measure_turn() -> float:
    """CPU of a turn with its embedding, from the message to the next one, over that of a plain loop in between."""
    return asyncio.run(_measure_turn())


async def _measure_turn() -> float:
    from insula import Metacognition

    turns: list[float] = []
    loops: list[float] = []
    async with await Metacognition.open(":memory:") as mind:
        for number in range(FIRST_TURNS + TURNS):
            message = TOLD[number % len(TOLD)].format(f"Ana{number // len(TOLD)}", 2000 + number, number + 1)
            names = range(ANSWERED * number, ANSWERED * (number + 1))
            answer = " ".join(text.format(f"Eva{name}", 1900 + name, name) for name in names for text in TOLD)
            began = time.process_time()
            async with mind.turn("ana", f"session {number // 10}", message) as turn:
                turn.finish(answer)
            loop = run_loop()
            whole = time.process_time() - began  # with what other threads still do for the turn during the loop
            if number >= FIRST_TURNS:
                turns.append(whole - loop)
                loops.append(loop)
    return statistics.median(turns) / statistics.median(loops)


def run_loop() -> float:
    """CPU seconds of this thread for a plain loop over numbers, texts and a mapping."""
    began = time.thread_time()
    seen: dict[int, str] = {}
    for number in range(LOOPS):
        seen[number % 997] = f"{seen.get(number % 991, '')[:8]}{number}"
    return time.thread_time() - began


def measure_threads() -> float:
    """The share of CPU that goes to NumPy's other threads, in turns of a program that allows it two (Linux)."""
    folder = str(Path(__file__).parent)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "PYTHONPATH": folder}
    done = subprocess.run([sys.executable, "-c", THREADS], env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def measure_recall() -> float:
    """CPU of a question put to a long memory, words alone, over that of a plain loop in between: the least of each.

    The loop fits into a core's own cache and what is recalled does not, so that whatever else runs raises the ratio of
    their medians by half (0.42 to 0.82 of one commit); the least of two dozen questions it cannot.
    """
    return asyncio.run(_measure_recall())


async def _measure_recall() -> float:
    from insula.language.owner import ASSISTANT, USER
    from insula.memory.retrieval.query import build_cue
    from insula.memory.storage.store import Store
    from insula.text.analysis import analyse_text

    sys.path.append(str(BENCHMARKS))
    from insula_bench import bulk

    texts = [text.format(f"Ana{number}", 2000 + number, number % 28 + 1) for number in range(100) for text in TOLD]
    made = [bulk.sentence(text) for text in texts]
    costs: list[float] = []
    loops: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with await Store.open(Path(folder) / "many.db") as store:
            lines = bulk.lines(made, {}, MANY, random.Random(MANY))  # noqa: S311 the same lines each time
            await bulk.fill(store, await store.resolve_place("many", "all"), lines, MANY)
            place = await store.resolve_place("many", "later")
            for number in range(ASKED):
                asked = analyse_text(
                    f"Where does Ana{number} live, and what did Ana{number + 1} do in {2000 + number}?"
                )
                began = time.process_time()
                await store.memories.recall_memories(place, build_cue(asked, USER, ASSISTANT), 8)
                costs.append(time.process_time() - began)
                loops.append(run_loop())
    return min(costs) / min(loops)


def measure_load() -> float:
    """CPU of the server for a turn over HTTP, its model in another process, over that of a plain loop in between."""
    sys.path.append(str(BENCHMARKS))
    from insula_bench import load_processes
    from insula_bench.load_sessions import Session, people

    async def talk(server: load_processes.Running, sessions: Sequence[Session]) -> float:
        turns: list[float] = []
        loops: list[float] = []
        for _ in range(1 + TALKS):
            before = server.cost().cpu
            said = await asyncio.gather(*(one.say() for one in sessions))
            if failures := [turn.failure for turn in said if turn.failure]:
                raise RuntimeError(f"The server failed: {failures[0]}")
            turns.append((server.cost().cpu - before) / len(said))
            loops.append(run_loop())
        return statistics.median(turns[1:]) / statistics.median(loops[1:])

    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = Path(folder)
        model = stack.enter_context(load_processes.running([load_processes.HERE, "model"], home))
        server = stack.enter_context(load_processes.serving(home, model.port))
        return asyncio.run(talk(server, people(server.port, SESSIONS)))


def measure_hook() -> float:
    """CPU of a healthy call of the installed hook beyond its interpreter, over that of an interpreter with `json`."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        command = install_hook(home)
        floor = [command.partition(" -I ")[0], "-I", "-S", "-c", FLOOR]
        numbers = iter(range(10_000))

        def call() -> float:
            number = next(numbers)
            tool = {"tool_input": {"command": f"pytest tests/test_{number}.py"}, "tool_use_id": f"toolu_{number}"}
            payload = json.dumps({**PAYLOAD, **tool, "cwd": folder}).encode()
            return spend_cpu(["/bin/sh", "-c", command], home, payload)

        return measure_excess(call, lambda: spend_cpu(floor, home), HOOKS)


def install_hook(home: Path) -> str:
    """The command that `insula install` writes for a call that succeeded."""
    environment = {**os.environ, "HOME": str(home), "INSULA_HOME": str(home / ".insula")}
    command = [str(Path(sys.executable).with_name("insula")), "install", "claude-code"]
    subprocess.run(command, env=environment, cwd=home, check=True, capture_output=True)
    settings = json.loads((home / ".claude" / "settings.json").read_text("utf-8"))
    return settings["hooks"]["PostToolUse"][0]["hooks"][0]["command"]


def measure_help() -> float:
    """CPU of `insula --help` beyond a process that loads what prints it, over the latter."""
    command = [str(Path(sys.executable).with_name("insula")), "--help"]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        floor = [sys.executable, "-c", HELP_FLOOR]
        return measure_excess(lambda: spend_cpu(command, home), lambda: spend_cpu(floor, home), HELPS)


def measure_first_request() -> float:
    """CPU of a fresh process with one turn beyond that of one that loads the same libraries, over the latter."""
    floor = f"import {', '.join(HEAVY)}"
    with tempfile.TemporaryDirectory() as folder:
        homes = iter(range(1_000))

        def start() -> float:
            home = Path(folder) / str(next(homes))
            home.mkdir()
            return spend_cpu([sys.executable, "-c", FIRST], home)

        return measure_excess(start, lambda: spend_cpu([sys.executable, "-c", floor], Path(folder)), STARTS)


def measure_excess(work: Callable[[], float], floor: Callable[[], float], rounds: int) -> float:
    """What work costs more than its floor, in floors; the least of rounds in turn, of which the first compiles.

    Whatever else runs only adds to a process of milliseconds, and more to the one that touches more memory: medians of
    the same hook were 0.42 to 1.06.
    """
    pairs = [(work(), floor()) for _ in range(rounds)]
    whole, least = map(min, zip(*pairs, strict=True))
    return (whole - least) / least


def spend_cpu(command: Sequence[str], folder: Path, given: bytes = b"") -> float:
    """CPU seconds of a process and of the children that it waited for."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("INSULA_", "PYTHON", "COV"))
    }
    environment |= {"OPENBLAS_NUM_THREADS": "1", "HOME": str(folder), "INSULA_HOME": str(folder / ".insula")}
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        process = subprocess.Popen(command, stdin=file, stdout=subprocess.DEVNULL, cwd=folder, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with status {process.returncode}.")
    return used.ru_utime + used.ru_stime


MEASURED: Mapping[str, Callable[[], float]] = {
    "turn": measure_turn,
    "threads": measure_threads,
    "recall": measure_recall,
    "load": measure_load,
    "help": measure_help,
    "hook": measure_hook,
    "first": measure_first_request,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or MEASURED:
        print(name, round(MEASURED[name](), 3))
