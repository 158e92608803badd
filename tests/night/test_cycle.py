"""The cycle of a night: each phase once, in its own boundary, resumed where it was stopped."""

import sqlite3
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from growth import LINEAR
from insula import Controls, Identity, Metacognition
from insula.errors import StoreError
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage import journal, nights
from insula.memory.storage.changes import Forget, InsightChange, LessonChange, Lived, Merge, RevisionChange, Summary
from insula.memory.storage.schema import nights as journal_rows
from insula.memory.storage.store import Store
from insula.night.cycle import Night, Phase, PhaseName, PhaseReport, Result, SleepReport, sleep_cycle
from insula.night.phases import PHASES
from insula.night.phases.consolidation import consolidate_memories
from insula.night.soul import document as soul
from insula.testing import memory_store

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


@pytest.mark.parametrize(
    ("last", "then"), [(PhaseName.TRENDS, "before"), (PhaseName.SOUL, "done")], ids=["apart", "takes up its work"]
)
async def test_a_failing_phase_leaves_the_others_standing_and_is_tried_again(last: PhaseName, then: str) -> None:
    async with memory_store() as store:
        await talk(store)
        calls: list[str] = []
        broken = [
            phase(PhaseName.SUMMARIES, calls),
            phase(PhaseName.MISTAKES, calls, fail=True),
            phase(last, calls),
        ]
        report = await sleep_cycle(store, "ana", broken, date="d")
        assert [one.state for one in report.phases] == ["done", "failed", "done"]
        assert report.failed[0].why == "It failed (RuntimeError); the log says more."
        mended = [phase(PhaseName.SUMMARIES, calls), phase(PhaseName.MISTAKES, calls), phase(last, calls)]
        report = await sleep_cycle(store, "ana", mended, date="d")
        assert [one.state for one in report.phases] == ["before", "done", then]
        assert calls == ["summaries", "mistakes", last, "mistakes", *([last] if then == "done" else [])]


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
        assert (await store.guidance.list_lessons(user))[0].evidence[0].kind == "breach"
        assert two not in [item.id for item in await store.nights.list_remembered(user, 10)]
        assert await store.memories.amend_memory(user, two, "undo")
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


async def test_a_phase_that_was_renamed_is_an_error_and_not_done_twice_in_silence() -> None:
    async with memory_store() as store:
        await talk(store)
        user = await store.nights.find_user_id("ana")
        assert user is not None
        await store.nights.record_phase(user, "d", "dreams", {}, ())
        with pytest.raises(StoreError, match="phase 'dreams', which this version"):
            await sleep_cycle(store, "ana", PHASES, date="d")


async def test_lines_that_were_erased_while_a_model_was_asked_are_gone(store: Store) -> None:
    metacognition = Metacognition(store, embed=None)
    for line in ("My sister Ana lives in Lisbon.", "I never eat nuts.", "We leave on Friday."):
        async with metacognition.turn("eva", "monday", line) as turn:
            turn.finish("Noted.")
    seen: list[tuple[int, bool]] = []
    reads: list[str] = []
    transcripts = store.nights.lines_of

    async def counted(user_id: int, within: list[int], limit: int) -> object:
        reads.append("lines")
        return await transcripts(user_id, within, limit)

    store.nights.lines_of = counted  # type: ignore[method-assign]  # pyright: ignore[reportAttributeAccessIssue]

    async def look(night: Night) -> None:
        (session,) = await night.list_sessions()
        lines = (await night.lines_of([session.id], 10))[session.id]
        assert (await night.lines_of([session.id], 2))[session.id] == lines[-2:]
        seen.append((len(reads), any("Lisbon" in one.content for one in lines)))

    async def phase(night: Night) -> Result:
        await look(night)
        await look(night)

        async def asked() -> str:
            (memory, *_) = sorted(await store.memories.list_memories("eva"), key=lambda one: one.id)
            await store.memories.erase_memories(night.user_id, memory.id)
            return "an answer"

        await night.once("think:call", asked)
        await look(night)
        return Result({})

    assert not (await sleep_cycle(store, "eva", [(PhaseName.SUMMARIES, phase)])).failed
    assert seen == [(1, True), (1, True), (2, False)]


async def night(store: Store) -> Night:
    place = await store.resolve_place("ana", "monday")
    return Night(
        store=store, user="ana", user_id=place.user_id, date="d", now=store.now(), since=0.0, identity=Identity()
    )


async def test_who_wakes_takes_the_answer_that_the_other_has_paid_for(store: Store) -> None:
    slow, paid = await night(store), list[str]()
    fast = replace(slow)

    async def asked(by: str) -> str:
        paid.append(by)
        return by

    assert await fast.once("think:call", lambda: asked("fast")) == "fast"
    assert await slow.once("think:call", lambda: asked("slow")) == "fast"
    assert paid == ["fast"]


async def test_of_two_in_flight_both_go_on_with_the_answer_that_stands(store: Store) -> None:
    one = await night(store)

    async def late() -> str:
        await replace(one).once("think:call", early)
        return "late"

    async def early() -> str:
        return "early"

    assert await one.once("think:call", late) == "early"
    assert (await store.nights.read_journal(one.user_id, "d"))["think:call"] == {"result": "early"}


# On bad input


WISH = "Please don't give sizes in feet, use metres."
DAY = 86_400.0


async def wish(store: Store, *sessions: str) -> None:
    """Sessions in which the same is asked for."""
    for session in sessions:
        for line in ("Does NASA use wind tunnels?", WISH):
            async with Metacognition(store).turn("ana", session, line) as turn:
                turn.finish("Yes, one of 9 by 15 feet.")


def mistakes(report: SleepReport) -> PhaseReport:
    return next(one for one in report.phases if one.name is PhaseName.MISTAKES)


async def test_a_failing_phase_does_not_make_the_others_begin_anew(store: Store) -> None:
    clock, heard = [1_000_000.0], list[int]()
    store.now = lambda: clock[0]

    async def broken(_: Night) -> Result:
        raise RuntimeError

    until = [name for name, _ in PHASES].index(PhaseName.MISTAKES)
    phases = [*PHASES[: until + 1], (PhaseName.TRENDS, broken)]
    await wish(store, "monday", "tuesday")
    for _ in range(3):
        report = await sleep_cycle(store, "ana", phases)
        heard.append(report.phases[until].found.get("sessions", 0))
        clock[0] += DAY
    assert heard == [2, 0, 0]


async def test_what_is_said_while_the_night_runs_is_heard_by_the_next(store: Store) -> None:
    await wish(store, "monday")

    async def slow(_: Night) -> Result:
        await wish(store, "tuesday")
        return Result({})

    await sleep_cycle(store, "ana", [*PHASES, (PhaseName.TRENDS, slow)])
    report = await sleep_cycle(store, "ana", PHASES, embed=embed_text, force=True)
    assert mistakes(report).found["sessions"] == 1


async def test_a_full_or_read_only_store_loses_nothing(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "m.db") as store:
        await wish(store, "monday", "tuesday")
        await store.run(lambda c: c.exec_driver_sql("PRAGMA query_only=1"))
        report = await sleep_cycle(store, "ana", PHASES, soul=tmp_path / "SOUL.md", embed=embed_text, force=True)
        assert {one.state for one in report.phases} <= {"failed", "skipped"}
        assert not (tmp_path / "SOUL.md").exists()
        await store.run(lambda c: c.exec_driver_sql("PRAGMA query_only=0"))
        assert not (
            await sleep_cycle(store, "ana", PHASES, soul=tmp_path / "SOUL.md", embed=embed_text, force=True)
        ).failed
        assert f"- {WISH}" in (tmp_path / "SOUL.md").read_text("utf-8")


async def test_a_broken_entry_of_the_journal_stops_nobody(store: Store) -> None:
    if store.path != ":memory:":
        return  # a server takes in no JSON that is broken
    await wish(store, "monday", "tuesday")
    user = await store.nights.find_user_id("ana")
    assert user is not None
    await store.nights.note_answer(user, "d", "think:call", {"no": "result"})
    row = journal_rows.insert().values(user_id=user, night="d", phase="summaries", state="done", report={}, at=0.0)
    await store.run(lambda c: c.execute(row))
    await store.run(lambda c: c.exec_driver_sql("UPDATE nights SET report = '{\"half' WHERE phase = 'summaries'"))

    async def answer() -> tuple[int, int]:
        return 1, 2

    async def think(night: Night) -> Result:
        return Result({"answer": await night.once("think:call", answer)})

    report = await sleep_cycle(store, "ana", [(PhaseName.SUMMARIES, think), (PhaseName.MISTAKES, think)], date="d")
    assert (report.phases[0].state, report.phases[1].found) == ("before", {"answer": [1, 2]})


async def test_what_a_person_brings_back_stays(store: Store) -> None:
    for line in ("My sister Ana lives in Lisbon.", "My sister Ana lives in Lisbon."):
        async with Metacognition(store, controls=Controls(consolidation_threshold=0)).turn("ana", "s", line) as turn:
            turn.finish("Noted.")
    user = await store.nights.find_user_id("ana")
    assert user is not None
    one, two, *_ = [item.id for item in await store.nights.list_remembered(user, 10)]
    await store.nights.record_phase(user, "d", "c", {}, [Merge(one, (two,), "the same")])
    assert await store.memories.amend_memory(user, two, "undo")
    result = await consolidate_memories(replace(await night(store), now=store.now() + 900 * DAY))
    touched = {change.memory_id for change in result.changes if isinstance(change, Forget)}
    touched |= {other for change in result.changes if isinstance(change, Merge) for other in change.others}
    assert two not in touched


async def test_a_session_of_many_messages_costs_no_more_than_their_number() -> None:
    fill = """INSERT INTO messages (user_id, session_id, turn, provenance, speaker, content, said_at)
        WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < :most)
        SELECT 1, 1, i, CASE i % 2 WHEN 0 THEN 'user' ELSE 'assistant' END, 'user',
            'No, ' || :word || i || ' is right.', i FROM n"""

    async def spent(messages: int, word: str) -> float:
        async with memory_store() as store:
            await wish(store, "monday")
            await store.run(lambda c: c.execute(sa.text(fill), {"most": messages, "word": word}))
            began = time.process_time()
            assert not (await sleep_cycle(store, "ana", PHASES, embed=embed_text, force=True)).failed
            return time.process_time() - began

    # Each time other words: the vectors of a few texts are kept from the time before, and those of many are not.
    few = min([await spent(50, word) for word in ("alder", "beech")])
    assert min([await spent(200, word) for word in ("cedar", "maple")]) / few <= LINEAR**2


async def test_one_hundred_lessons_and_a_full_document_are_read_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await wish(store, "monday")
    user = await store.nights.find_user_id("ana")
    assert user is not None
    full = soul.revise_document(
        soul.Document(),
        add=[("Growth areas", f"g{i}", f"Mind rule {i} of the {i} house rules well.") for i in range(60)],
    )
    lessons = [
        LessonChange(f"wish/fact/{i}", f"Mind {i}.", (f"term{i}", "tunnel"), "", "derived", (1,)) for i in range(100)
    ]
    await store.nights.record_phase(
        user, "d", "trends", {}, [*lessons, RevisionChange("soul", "night", soul.render_document(full), {})]
    )
    owner = Metacognition(store)
    place = await store.resolve_place("ana", "friday")
    known = await owner.engine.read_learned(place)
    asked: list[object] = []
    run = store.run

    def counted(work: Callable[..., object], *args: object) -> Awaitable[object]:
        asked.append(work)
        return run(work, *args)

    monkeypatch.setattr(store, "run", counted)
    assert await owner.engine.read_learned(place) is known
    assert len(asked) == 1  # whether there is anything new
