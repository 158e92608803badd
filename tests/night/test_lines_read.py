"""Reading while all else goes on: what is erased or corrected meanwhile wins, and a killed process costs one call."""

import asyncio
import json
import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import mortal
from insula import InsulaError, Metacognition
from insula.testing import Reply, Request, ScriptedModel

pytestmark = pytest.mark.anyio

SISTER, TEACHES = "Any tips for a present for my sister Zenobia?", "She teaches chemistry in Graz."
EMPTY: dict[str, list[object]] = {"statements": [], "ended": [], "preferences": []}
READ = {**EMPTY, "statements": [{"line": 2, "span": TEACHES, "owner": "my sister Zenobia", "matter": "her job"}]}


async def tell(mind: Metacognition, *lines: str) -> None:
    """Say some lines in a session."""
    for text in lines:
        async with mind.turn("ana", "monday", text) as turn:
            turn.finish("I see.")


@pytest.fixture
async def database(anyio_backend: str, tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    async with await Metacognition.open(path, holdout=0.0, embed=None) as mind:
        await tell(mind, SISTER, TEACHES)
    return path


class Interrupted(ScriptedModel):
    """A model that answers once something else has happened."""

    def __init__(self, meanwhile: Callable[[], Awaitable[object]], *answers: Reply) -> None:
        super().__init__(answers)
        self._meanwhile = meanwhile

    async def _next(self, messages: Any, info: Any) -> str:
        if not self.requests:
            await self._meanwhile()
        return await super()._next(messages, info)


def bytes_of(database: Path) -> bytes:
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


# What happens meanwhile


@pytest.mark.parametrize("number", [1, 3], ids=["the line that names her", "the line itself"])
async def test_what_is_erased_while_the_model_reads_leaves_no_byte(database: Path, number: int) -> None:
    async with await Metacognition.open(database, embed=None) as mind:
        model = Interrupted(lambda: mind.delete("ana", number), READ, EMPTY)
        with pytest.raises(InsulaError, match="asked again"):
            await mind.understand("ana", model=model)
        assert await mind.understand("ana", model=model)  # what is left is read as it is now
    gone, word = (SISTER, b"Zenobia") if number == 1 else (TEACHES, b"chemistry")
    assert gone not in model.requests[1].prompt
    assert word not in bytes_of(database)


async def test_a_user_who_is_erased_while_the_model_reads_is_gone(database: Path) -> None:
    async with await Metacognition.open(database, embed=None) as mind:
        model = Interrupted(lambda: mind.forget("ana"), READ)
        with pytest.raises(InsulaError):
            await mind.understand("ana", model=model)
    assert b"chemistry" not in bytes_of(database)


async def test_a_correction_made_while_the_model_reads_stands(database: Path) -> None:
    async with await Metacognition.open(database, embed=None) as mind:
        model = Interrupted(lambda: mind.update("ana", 3, "She teaches physics."), READ)
        with pytest.raises(InsulaError):
            await mind.understand("ana", model=model)
        assert (await mind.get("ana", 3)).content == "She teaches physics."


async def test_what_was_read_goes_with_its_line(database: Path) -> None:
    async with await Metacognition.open(database, embed=None) as mind:
        assert await mind.understand("ana", model=ScriptedModel([READ]))
        await mind.delete("ana", 3)
    assert b"chemistry" not in bytes_of(database)


@pytest.mark.parametrize("do", ["erase", "correct"])
async def test_what_ended_stands_again_once_the_line_that_ended_it_is_gone(tmp_path: Path, do: str) -> None:
    over = {**EMPTY, "ended": [{"line": 2, "words": "I sold the boat", "statement": "My boat lies in Faro"}]}
    async with await Metacognition.open(tmp_path / "m.db", embed=None) as mind:
        await tell(mind, "My boat lies in Faro.", "I sold the boat.")
        assert await mind.understand("ana", model=ScriptedModel([over]))

        async def until() -> list[object]:
            turn = await mind.begin("ana", "tuesday", "Where does my boat lie?")
            return [one.until for one in turn.recalled if one.memory.id == 1]

        assert await until() != [None]
        await (mind.delete("ana", 3) if do == "erase" else mind.update("ana", 3, "I sold the car."))
        assert await until() == [None]


# Kill -9, and two at once


def reads(database: str, dies: bool, states: Any = None) -> None:
    """One rest in a process of its own, whose model may die in its answer."""

    def reply(request: Request) -> Reply:
        with (Path(database).parent / "calls").open("a", encoding="utf-8") as file:
            file.write(json.dumps(request.prompt) + "\n")
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return READ

    async def run() -> bool:
        async with await Metacognition.open(database, embed=None) as mind:
            return await mind.understand("ana", model=ScriptedModel(reply))

    was_read = asyncio.run(run())
    if states:
        states.send(was_read)


def rows(database: Path) -> tuple[int, int]:
    """How many rests stand in the journal, and how many statements of what was read."""
    with sqlite3.connect(database) as raw:
        rests = raw.execute("SELECT count(*) FROM nights WHERE night LIKE 'rest:%'").fetchone()[0]
        made = raw.execute("SELECT count(DISTINCT text) FROM statements WHERE memory_id = 3").fetchone()[0]
    raw.close()
    return rests, made


def calls(database: Path) -> int:
    return len((database.parent / "calls").read_text("utf-8").splitlines())


async def test_a_rest_that_is_killed_repeats_the_call_in_flight_and_no_other(database: Path) -> None:
    assert mortal.ended(reads, str(database), True) == -signal.SIGKILL
    assert rows(database)[0] == 0
    for _ in range(2):
        await asyncio.to_thread(reads, str(database), False)
    assert (calls(database), rows(database)) == (2, (1, 1))


async def test_two_processes_read_a_line_once(database: Path) -> None:
    ends = [multiprocessing.Pipe(duplex=False) for _ in range(2)]
    both = [mortal.begun(reads, str(database), False, tells) for _, tells in ends]
    for _, tells in ends:
        tells.close()  # of a process that failed nothing is waited for
    said: list[bool] = [heard.recv() for heard, _ in ends]
    for process, (heard, _) in zip(both, ends, strict=True):
        process.join()
        process.close()
        heard.close()
    assert sorted(said) == [False, True]
    assert (calls(database), rows(database)) == (1, (1, 1))


# The night


async def test_the_calls_of_a_night_are_bounded_and_the_rest_waits(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "m.db", embed=None) as mind:
        await mind.add("ana", [f"I own {number} boats." for number in range(270)], session="boats")
        asked: list[int] = []
        for _ in range(2):
            model = ScriptedModel(lambda _: EMPTY)
            await mind.sleep("ana", model=model, force=True)
            asked.append(sum("boats" in request.prompt for request in model.requests))
    assert 0 < asked[0] < 40
    assert asked[1] > 0
