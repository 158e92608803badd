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
from insula.errors import StoreError
from insula.memory.storage import unread
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import PhaseName, sleep_cycle
from insula.night.phases.statements import CALLS, understand_lines
from insula.night.telling import describe_phase
from insula.night.understanding import LINES, read_next_lines
from insula.testing import Reply, Request, ScriptedModel, memory_store

pytestmark = pytest.mark.anyio

SISTER, TEACHES = "Any tips for a present for my sister Zenobia?", "She teaches chemistry in Graz."
EMPTY: dict[str, list[object]] = {"statements": [], "ended": [], "preferences": []}
READ = {**EMPTY, "statements": [{"line": 2, "span": TEACHES, "owner": "my sister Zenobia", "matter": "her job"}]}


async def tell(store: Store, *lines: str, user: str = "ana") -> int:
    """Say some lines in a session; returns the user's id."""
    mind = Metacognition(store, holdout=0.0, embed=None)
    for text in lines:
        async with mind.turn(user, "monday", text) as turn:
            turn.finish("I see.")
    found = await store.nights.find_user_id(user)
    assert found is not None
    return found


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
async def test_what_is_erased_while_the_model_reads_leaves_no_byte(tmp_path: Path, number: int) -> None:
    database = tmp_path / "m.db"
    async with await Store.open(database) as store:
        user = await tell(store, SISTER, TEACHES)
        model = Interrupted(lambda: store.memories.erase_memories(user, number), READ, EMPTY)
        with pytest.raises(StoreError, match="asked again"):
            await read_next_lines(store, "ana", model)
        assert await store.run(unread.last_read, user) == 0
        assert await read_next_lines(store, "ana", model) is not None  # what is left is read as it is now
    gone = SISTER if number == 1 else TEACHES
    word = b"Zenobia" if number == 1 else b"chemistry"
    assert gone not in model.requests[1].prompt
    assert word not in bytes_of(database)


async def test_a_user_who_is_erased_while_the_model_reads_is_gone(tmp_path: Path) -> None:
    from insula.memory.privacy import erasure

    database = tmp_path / "m.db"
    async with await Store.open(database) as store:
        await tell(store, SISTER, TEACHES)
        model = Interrupted(lambda: store.run(erasure.erase_user, "ana"), READ)
        with pytest.raises(StoreError):
            await read_next_lines(store, "ana", model)
        await store.scrub_erased()
    assert b"chemistry" not in bytes_of(database)


async def test_a_correction_made_while_the_model_reads_stands(tmp_path: Path) -> None:
    async with memory_store() as store:
        user = await tell(store, SISTER, TEACHES)
        model = Interrupted(lambda: store.memories.amend_memory(user, 3, "correct", "She teaches physics."), READ)
        with pytest.raises(StoreError):
            await read_next_lines(store, "ana", model)
        [line] = [
            one.content for one, _ in await store.memories.list_latest_memories("ana", 9) if "teaches" in one.content
        ]
        assert line == "She teaches physics."


async def test_what_was_read_goes_with_its_line(tmp_path: Path) -> None:
    database = tmp_path / "m.db"
    async with await Store.open(database) as store:
        user = await tell(store, SISTER, TEACHES)
        assert await read_next_lines(store, "ana", ScriptedModel([READ]))
        assert await store.memories.erase_memories(user, 3)
    assert b"chemistry" not in bytes_of(database)


@pytest.mark.parametrize("do", ["erase", "correct"])
async def test_what_ended_stands_again_once_the_line_that_ended_it_is_gone(do: str) -> None:
    over = {**EMPTY, "ended": [{"line": 2, "words": "I sold the boat", "statement": "My boat lies in Faro"}]}
    async with memory_store() as store:
        user = await tell(store, "My boat lies in Faro.", "I sold the boat.")
        report = await read_next_lines(store, "ana", ScriptedModel([over]))
        assert report is not None
        assert report["ended"] == [[1, 3]]

        async def until() -> list[object]:
            found = Metacognition(store, embed=None).turn("ana", "tuesday", "Where does my boat lie?")
            await found.before_model()
            return [one.until for one in found.recalled if one.memory.id == 1]

        assert await until() != [None]
        if do == "erase":
            await store.memories.erase_memories(user, 3)
        else:
            await store.memories.amend_memory(user, 3, "correct", "I sold the car.")
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
        async with await Store.open(Path(database)) as store:
            return await read_next_lines(store, "ana", ScriptedModel(reply)) is not None

    was_read = asyncio.run(run())
    if states:
        states.send(was_read)


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    async with await Store.open(path) as store:
        await tell(store, SISTER, TEACHES)
    return path


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


async def test_the_calls_of_a_night_are_bounded_and_the_rest_waits() -> None:
    async with memory_store() as store:
        await tell(store, *(f"I own {number} boats." for number in range(LINES // 2 * CALLS + 3)))
        model = ScriptedModel(lambda _: EMPTY)
        phases = [(PhaseName.STATEMENTS, understand_lines)]
        await sleep_cycle(store, "ana", phases, date="one", model=model, force=True)
        assert len(model.requests) == CALLS
        report = await sleep_cycle(store, "ana", phases, date="two", model=model, force=True)
        assert len(model.requests) == CALLS + 1
        assert "boats" not in describe_phase(report.phases[0]).said
