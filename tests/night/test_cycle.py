"""The cycle of a night: each phase once, in its own boundary, resumed where it was stopped."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from insula.errors import StoreError
from insula.memory.storage import journal, nights
from insula.memory.storage.changes import Forget, InsightChange, LessonChange, Lived, Merge, RevisionChange, Summary
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import Night, Phase, PhaseName, PhaseReport, Result, sleep_cycle
from insula.night.phases import PHASES
from insula.testing import memory_store
from insula.types import Controls

pytestmark = pytest.mark.anyio

LINES = ("My sister Ana lives in Lisbon.", "I never eat nuts, I am allergic.", "We leave for Porto on Friday.")


async def talk(store: Store, session: str = "monday", threshold: float = 0.55) -> None:
    metacognition = Metacognition(store, controls=Controls(consolidation_threshold=threshold))
    for line in LINES:
        async with metacognition.turn("ana", session, line) as turn:
            turn.finish("Noted.")


def phase(name: PhaseName, calls: list[str], fail: bool = False) -> tuple[PhaseName, Phase]:
    async def run(night: Night) -> Result:
        calls.append(name)
        if fail:
            raise RuntimeError("broken")
        return Result({"by": name})

    return name, run


async def test_each_phase_is_done_once_a_night() -> None:
    async with memory_store() as store:
        await talk(store)
        calls: list[str] = []
        phases = [phase(PhaseName.SUMMARIES, calls), phase(PhaseName.MISTAKES, calls)]
        first = await sleep_cycle(store, "ana", phases, date="d")
        again = await sleep_cycle(store, "ana", phases, date="d", force=True)
        assert calls == ["summaries", "mistakes"]
        assert [report.state for report in first.phases] == ["done", "done"]
        assert [report.state for report in again.phases] == ["before", "before"]


async def test_a_failing_phase_leaves_the_others_standing_and_is_tried_again() -> None:
    async with memory_store() as store:
        await talk(store)
        calls: list[str] = []
        broken = [
            phase(PhaseName.SUMMARIES, calls),
            phase(PhaseName.MISTAKES, calls, fail=True),
            phase(PhaseName.SOUL, calls),
        ]
        report = await sleep_cycle(store, "ana", broken, date="d")
        assert [one.state for one in report.phases] == ["done", "failed", "done"]
        assert report.failed[0].why == "It failed (RuntimeError); the log says more."
        mended = [phase(PhaseName.SUMMARIES, calls), phase(PhaseName.MISTAKES, calls), phase(PhaseName.SOUL, calls)]
        report = await sleep_cycle(store, "ana", mended, date="d")
        assert [one.state for one in report.phases] == ["before", "done", "before"]
        assert calls == ["summaries", "mistakes", "soul", "mistakes"]


async def test_what_costs_is_done_once() -> None:
    async with memory_store() as store:
        await talk(store)
        asked: list[int] = []

        async def ask() -> str:
            asked.append(1)
            return "an answer"

        async def thinking(night: Night) -> Result:
            answer = await night.once("think:call", ask)
            if len(asked) == 1 and "think:call" not in night.done:
                raise RuntimeError("stopped after the call")
            return Result({"answer": answer})

        phases = [(PhaseName.MISTAKES, thinking)]
        assert (await sleep_cycle(store, "ana", phases, date="d")).failed
        report = await sleep_cycle(store, "ana", phases, date="d")
        assert (asked, report.phases[0].found) == ([1], {"answer": "an answer"})


async def test_every_change_is_written_and_can_be_undone(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "memory.db") as store:
        await talk(store)
        user = await store.nights.find_user_id("ana")
        assert user is not None
        (session,) = await store.nights.sessions_to_sleep_on(user)
        one, two, *_ = [item.id for item in await store.nights.list_remembered(user, 10)]
        changes = [
            Summary(session.id, "Ana talked about travel.", ("travel",), session.messages, session.last),
            InsightChange("Short answers suit Ana.", ("answers",), (session.id,), 0.5, 0.5),
            Merge(one, (two,), "it says the same"),
            LessonChange("k", "Use metric units.", ("unit",), "", "derived", (1,)),
            LessonChange("k", "Use metric units.", ("unit",), "", "derived", (2,)),
            RevisionChange("soul", "night", "text", {}),
        ]
        assert await store.nights.record_phase(user, "d", "all", {}, changes)
        assert not await store.nights.record_phase(user, "d", "all", {}, changes)
        (kept,) = await store.guidance.list_lessons(user)
        assert kept.citations == (1, 2)
        assert await store.nights.record_phase(user, "d", "lived", {}, [Lived(kept.id, session.id, "shown", True)] * 2)
        assert (await store.guidance.list_lessons(user))[0].evidence[0][1:3] == ("shown", True)
        assert two not in [item.id for item in await store.nights.list_remembered(user, 10)]
        assert await store.memories.restore_memory(user, two)
        assert two in [item.id for item in await store.nights.list_remembered(user, 10)]
        assert [each.content for each in await store.nights.list_summaries(user, 5)] == ["Ana talked about travel."]
        assert await store.nights.record_phase(user, "e", "again", {}, [Forget(two, "old")])
    with sqlite3.connect(tmp_path / "memory.db") as raw:
        assert raw.execute("SELECT kind, confidence FROM relations ORDER BY id").fetchall() == [
            (nights.DERIVES, 0.9),
            (journal.MERGES, 1.0),
        ]
        assert raw.execute("SELECT count(*) FROM revisions WHERE subject LIKE 'memory:%'").fetchone() == (3,)
    raw.close()


async def test_two_nights_at_once_do_each_phase_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with await Store.open(path) as one, await Store.open(path) as two:
        await talk(one)

        async def once(night: Night) -> Result:
            await asyncio.sleep(0.01)
            return Result({}, [RevisionChange("x", "night", "x", {})])

        reports: list[PhaseReport] = []
        phases = [(PhaseName.SUMMARIES, once)]
        await asyncio.gather(*(sleep_cycle(s, "ana", phases, date="d", on_phase=reports.append) for s in (one, two)))
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT count(*) FROM revisions").fetchone() == (1,)
    raw.close()


async def test_a_phase_that_was_renamed_is_an_error_and_not_done_twice_in_silence() -> None:
    async with memory_store() as store:
        await talk(store)
        user = await store.nights.find_user_id("ana")
        assert user is not None
        await store.nights.record_phase(user, "d", "dreams", {}, ())
        with pytest.raises(StoreError, match="phase 'dreams', which this version"):
            await sleep_cycle(store, "ana", PHASES, date="d")
