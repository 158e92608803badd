"""kill -9 in every phase of the real night, and between them: it is completed once, and no model call is repeated."""

import asyncio
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

import mortal
from insula.errors import ModelUnavailable
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import END, Night, Phase, PhaseName, Result, sleep_cycle
from insula.night.phases import PHASES
from insula.testing import Reply, Request, ScriptedModel, answer_second_look

SAID = (
    ("What is the capital of Australia?", "Sydney is the capital."),
    ("No, the capital is Canberra.", "Sorry, it is Canberra."),
)
PRINCIPLE = {
    "text": "Say that the capital of Australia is Canberra.",
    "section": "interaction",
    "sessions": [1, 2],
}
NAMES = [name for name, _ in PHASES]
DONE = "SELECT phase FROM nights WHERE state = 'done' AND night = 'd'"


Start = tuple[str, str, str]
"""A start of the night: the database, and where it dies, and in which phase or answer; both empty where it does not."""


def start_nights(asked: Connection, database: str) -> None:
    """Starts of the night, each in a process forked from this one, which has been through one: none imports anew."""
    asyncio.run(sleep(Path(database)))
    while starts := asked.recv():
        found = [_fork(start) for start in starts]
        asked.send([os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in found])


def _fork(start: Start) -> int:
    if child := os.fork():
        return child
    status = 1
    try:
        database, where, victim = start
        states = asyncio.run(sleep(Path(database), where, victim))
        (Path(database).parent / f"states {os.getpid()}").write_text(json.dumps(states))
        status = 0
    finally:
        os._exit(status)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def sleep(database: Path, where: str = "", victim: str = "") -> list[str]:
    """One start of the night; returns the states of its phases."""
    async with await Store.open(database) as store:
        report = await sleep_cycle(
            store,
            "ana",
            [dying(*each, where if each[0] == victim else "") for each in PHASES],
            date="d",
            model=answering(database.parent / "calls", int(victim) if where == "call" else 0),
            soul=database.parent / "SOUL.md",
            force=True,
        )
    assert not report.failed, report
    return [one.state for one in report.phases]


def dying(name: PhaseName, phase: Phase, where: str) -> tuple[PhaseName, Phase]:
    async def run(night: Night) -> Result:
        if where == "before":
            die()
        result = await phase(night)
        if where == "after":
            die()
        return result

    return name, run


def answering(calls: Path, fatal: int, away: int = 0) -> ScriptedModel:
    """A model that writes down what it is asked, dies in one of its answers, and is away when it is asked for one."""

    def reply(request: Request) -> Reply:
        if len(model.requests) == away:
            return ModelUnavailable("The model is away for a moment.")
        with calls.open("a", encoding="utf-8") as file:
            file.write(json.dumps(request.prompt) + "\n")
        if len(model.requests) == fatal:
            die()
        if "five lists" in request.prompt:
            return {"explanation": [], "principles": [PRINCIPLE], "procedures": [], "advice": []}
        if looked := answer_second_look(request):
            return looked
        if "Write the object" in request.prompt:
            return {"statements": [], "ended": [], "preferences": []}
        return {"summary": "The user asked for the capital of Australia.", "topics": ["capital", "Australia"]}

    model = ScriptedModel(reply)
    return model


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions in which the same is corrected."""
    path = tmp_path_factory.mktemp("talked") / "memory.db"

    async def talk() -> None:
        async with await Store.open(path) as store:
            for session in ("monday", "tuesday"):
                for message, response in (*SAID, (f"We talked of trains on {session}.", "Fine.")):
                    async with Metacognition(store).turn("ana", session, message) as turn:
                        turn.finish(response)

    asyncio.run(talk())
    return path


@pytest.fixture
def database(talked: Path, tmp_path: Path) -> Path:
    """They, in a file of the test's own."""
    return Path(shutil.copy(talked, tmp_path))


Nights = Callable[[Sequence[Start]], list[int]]


@pytest.fixture(scope="module")
def nights(talked: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Nights]:
    """Starts nights beside each other, each in a process of its own; how these ended."""
    ends = multiprocessing.Pipe()
    process = mortal.begun(start_nights, ends[1], str(shutil.copy(talked, tmp_path_factory.mktemp("warm"))))
    ends[1].close()  # of a process that failed nothing is waited for

    def start(starts: Sequence[Start]) -> list[int]:
        ends[0].send(starts)
        return ends[0].recv()

    yield start
    ends[0].send([])
    process.join()
    process.close()
    ends[0].close()


def kill(nights: Nights, database: Path, where: str, victim: str) -> None:
    assert nights([(str(database), where, victim)]) == [-signal.SIGKILL]


def calls(database: Path) -> list[str]:
    return (database.parent / "calls").read_text("utf-8").splitlines()


def rows(database: Path) -> dict[str, Any]:
    with sqlite3.connect(database) as raw:
        found: dict[str, Any] = {
            "phases": sorted(
                row[0] for row in raw.execute("SELECT phase FROM nights WHERE state = 'done' AND night = 'd'")
            ),
            "soul": raw.execute("SELECT count(*) FROM revisions WHERE subject = 'soul'").fetchone()[0],
        }
        for table in ("lessons", "summaries", "evidence", "relations"):
            found[table] = raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    raw.close()
    return found


KILLS = [*(("after", name) for name in NAMES), ("before", "file"), ("before", "calibration")]


@pytest.mark.parametrize(("where", "victim"), KILLS)
def test_a_night_killed_in_any_phase_is_completed_once(database: Path, nights: Nights, where: str, victim: str) -> None:
    kill(nights, database, where, victim)
    asyncio.run(sleep(database))
    assert set(asyncio.run(sleep(database))) == {"before"}
    found = rows(database)
    assert found["phases"] == sorted([*NAMES, END])
    assert (found["soul"], found["summaries"]) == (1, 2)
    assert len(calls(database)) == len(set(calls(database))) == 5, (
        "two summaries, a reading, a reflection and a second look"
    )
    assert "capital of Australia is Canberra" in (database.parent / "SOUL.md").read_text("utf-8")


@pytest.mark.parametrize("victim", range(1, 6))
def test_of_the_model_calls_at_most_the_one_in_flight_is_repeated(database: Path, nights: Nights, victim: int) -> None:
    kill(nights, database, "call", str(victim))
    asyncio.run(sleep(database))
    made = calls(database)
    assert (len(made), len(set(made))) == (6, 5)
    assert made[victim - 1] == made[victim]
    assert rows(database)["soul"] == 1


@pytest.mark.parametrize("away", range(1, 6))
def test_a_night_whose_model_is_away_for_a_moment_leaves_what_an_undisturbed_one_leaves(
    database: Path, away: int
) -> None:
    model = answering(database.parent / "calls", 0, away)

    async def night() -> bool:
        async with await Store.open(database) as store:
            soul = database.parent / "SOUL.md"
            report = await sleep_cycle(store, "ana", PHASES, date="d", model=model, soul=soul, force=True)
        return not report.failed

    assert [asyncio.run(night()), asyncio.run(night())] == [False, True]
    assert (rows(database)["soul"], rows(database)["summaries"]) == (1, 2)
    assert len(calls(database)) == len(set(calls(database))) == 5


def test_two_processes_do_one_night(database: Path, nights: Nights) -> None:
    assert nights([(str(database), "", "")] * 2) == [0, 0]
    said = [path.read_text() for path in database.parent.glob("states *")]
    assert len(said) == 2
    assert sum("done" in states for states in said) == 1
    assert len(calls(database)) == len(set(calls(database))) == 5
    assert rows(database)["phases"] == sorted([*NAMES, END])


def test_a_night_that_was_stopped_goes_on_after_midnight_and_in_another_time_zone(tmp_path: Path) -> None:
    async def run() -> None:
        clock = [1_767_640_000.0]
        async with await Store.open(tmp_path / "m.db", lambda: clock[0]) as store:
            async with Metacognition(store).turn("ana", "s", "Hello there, friend.") as turn:
                turn.finish("Hello.")
            async with Metacognition(store).turn("ana", "s", "I live in Lisbon.") as turn:
                turn.finish("Fine.")
            asked: list[str] = []

            async def call() -> str:
                asked.append("one")
                return "answer"

            async def stopped(night: Night) -> Result:
                await night.once("think:call", call)
                raise KeyboardInterrupt

            async def mended(night: Night) -> Result:
                return Result({"answer": await night.once("think:call", call)})

            with pytest.raises(KeyboardInterrupt):
                await sleep_cycle(store, "ana", [(PhaseName.MISTAKES, stopped)])
            clock[0] += 14 * 3600.0
            report = await sleep_cycle(store, "ana", [(PhaseName.MISTAKES, mended)])
            assert (asked, report.phases[0].found) == (["one"], {"answer": "answer"})

    asyncio.run(run())
