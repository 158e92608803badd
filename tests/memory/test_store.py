"""The store: what is written, found and refused, what a question costs, and who reads beside who writes."""

import asyncio
import sqlite3
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from insula import Controls, InputError, Recalled, Signal
from insula.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreNewer
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_statements
from insula.memory.item import NewItem, new_item
from insula.memory.retrieval import index
from insula.memory.retrieval.query import build_cue, encode_claims
from insula.memory.storage import facts, sqlite, statements, views
from insula.memory.storage.beginning import read_beginning
from insula.memory.storage.filters import Filter
from insula.memory.storage.schema import users
from insula.memory.storage.sqlite import READERS
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Neighbourhoods
from insula.testing import memory_store
from insula.text.analysis import analyse_text
from insula.types import IMPASSE, TURN

pytestmark = pytest.mark.anyio
KEEP_ALL = Controls(consolidation_threshold=0.0)
STATED = extract_statements(analyse_text("My sister Ana keeps bees."), USER, ASSISTANT)


def remembered(text: str, speaker: str = USER) -> NewItem:
    analysis = analyse_text(text)
    encoding = encode_claims(analysis, speaker, ASSISTANT if speaker == USER else USER)
    return new_item(analysis, encoding, "user" if speaker == USER else "assistant", speaker, (), ())


async def tell(store: Store, user: str, session: str, text: str, controls: Controls = KEEP_ALL) -> int:
    place = await store.resolve_place(user, session)
    (memory,), _ = await store.sessions.add_lines(place, [(remembered(text), store.now())], controls)
    return memory


async def ask(store: Store, user: str, session: str, text: str) -> tuple[Recalled, ...]:
    found = await store.memories.recall_memories(
        await store.resolve_place(user, session), build_cue(analyse_text(text), USER, ASSISTANT), 5
    )
    return found.recalled


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["Ana lives in Lisbon.", "I work in a bakery.", "Tom has a cat."]), max_size=4))
def test_no_question_reaches_the_memory_of_another_user(texts: list[str]) -> None:
    async def run() -> None:
        async with memory_store() as store:
            for i, text in enumerate(texts):
                await tell(store, f"user {i % 2}", "s", text)
            await tell(store, "user 2", "s", "Nothing to see.")
            for question in ("Where does Ana live?", "Where do I work?", "Has Tom a cat?"):
                assert await ask(store, "stranger", "s", question) == ()
                for one in await ask(store, "user 0", "s", question):
                    assert one.memory.content in texts[::2]

    asyncio.run(run())


async def test_a_user_named_like_a_term_of_another_finds_nothing_of_theirs(store: Store) -> None:
    await tell(store, "1", "s", "Lisbon is lovely.")
    await tell(store, "11", "s", "Porto is lovely.")
    assert [one.memory.content for one in await ask(store, "11", "s", "Is Lisbon or Porto lovely?")] == [
        "Porto is lovely."
    ]


async def test_working_memory_is_recalled_in_its_own_session_alone(store: Store) -> None:
    await tell(store, "me", "here", "Ana lives in Lisbon.", Controls(consolidation_threshold=1.0))
    assert len(await ask(store, "me", "here", "Where does Ana live?")) == 1
    assert await ask(store, "me", "elsewhere", "Where does Ana live?") == ()


async def test_a_full_working_memory_lets_the_least_salient_go(store: Store) -> None:
    place = await store.resolve_place("me", "s")
    said = [remembered(text) for text in ("Ok.", "My sister Ana moved to Lisbon in May.", "Well.")]
    controls = Controls(consolidation_threshold=1.0, stm_capacity=1)
    await store.sessions.add_lines(place, [(item, store.now()) for item in said], controls)
    assert (await store.sessions.count_rows(place))["working"] == 1
    assert [memory.content for memory in await store.memories.list_memories("me")] == [
        "My sister Ana moved to Lisbon in May."
    ]
    assert len(await store.sessions.read_lines(place, 9)) == 3


async def test_what_keeps_being_used_is_promoted(store: Store) -> None:
    place = await store.resolve_place("me", "s")
    _, memory = await store.sessions.write_message(place, remembered("Tom likes jazz."))
    controls = Controls(consolidation_threshold=0.9)
    for _ in range(10):
        kept = await store.sessions.finish_turn(place, 1, None, (), [memory], controls)
        if kept is None or kept.ages:
            break
    else:
        pytest.fail("it was not promoted")
    assert kept is not None
    assert (await store.sessions.count_rows(place))["long_term"] == 1


async def test_one_failing_statement_leaves_nothing_of_a_turn(store: Store) -> None:
    place = await store.resolve_place("me", "s")
    await store.sessions.write_message(place, remembered("Ana lives in Lisbon."))
    without_claims = remembered("Lisbon.", ASSISTANT)._replace(claims=cast(str, None))
    before = await store.sessions.count_rows(place)
    with pytest.raises(StoreError, match=r"(?i)not.null"):
        await store.sessions.finish_turn(place, 1, without_claims, (), (), KEEP_ALL)
    assert await store.sessions.count_rows(place) == before


@pytest.mark.parametrize("name", ["es-p12", "Mathe", "room 4471", "thread_17"])
async def test_an_id_by_itself_is_a_name_and_no_secret(store: Store, name: str) -> None:
    assert (await store.resolve_place(name, name)).session == name


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "ghp_" + "a1B2" * 9])
async def test_a_name_that_cannot_be_used_is_refused_in_a_sentence(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        await store.resolve_place(name, "s")


async def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"this is a letter, not a database" * 100)
    with pytest.raises(StoreCorrupt, match=r"memory\.db.*move it aside"):
        await Store.open(path)
    assert path.read_bytes().startswith(b"this is a letter")


@pytest.mark.parametrize("table", ["users", "notes", "alembic_version"])
async def test_a_database_of_another_program_is_named_and_gets_no_table(tmp_path: Path, table: str) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as raw:
        raw.execute(f"CREATE TABLE {table} (version_num)")
    with pytest.raises(StoreError, match=r"theirs\.db' holds tables of another program .* name another one\."):
        await Store.open(path)
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [(table,)]


async def test_a_newer_schema_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with await Store.open(path):
        pass
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    with pytest.raises(StoreNewer, match="upgrade Insula where you have it from"):
        await Store.open(path)


async def test_a_locked_database_is_said_to_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_MS", 50)
    path = tmp_path / "memory.db"
    async with await Store.open(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreLocked, match="locked by another process"):
            await store.resolve_place("me", "s")
        other.execute("ROLLBACK")
        other.close()
        await tell(store, "me", "s", "Ana lives in Lisbon.")


async def test_a_full_disk_is_said_to_be_full_and_nothing_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with await Store.open(path) as store:
        await tell(store, "me", "s", "Ana lives in Lisbon.")
        await store.run(lambda connection: connection.execute(sa.text("PRAGMA max_page_count = 1")))
        place = await store.resolve_place("me", "s")
        with pytest.raises(StoreFull, match="disk"):
            await store.sessions.write_message(place, remembered("x" * 500_000))
        assert len(await store.sessions.read_lines(place, 9)) == 1
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()


async def test_no_more_is_read_of_a_long_memory_than_of_a_short_one() -> None:
    async def steps(size: int) -> int:
        def work(connection: sa.Connection) -> int:
            taken = [0]
            raw: Any = connection.connection.dbapi_connection
            raw.set_progress_handler(lambda: taken.__setitem__(0, taken[0] + 1), 10)
            index.long_term(connection, place.user_id, range(1, 9))
            facts.statements_of(
                connection,
                place.user_id,
                index.list_candidates(connection, place.user_id, place.session_id, range(1, 9)),
            )
            raw.set_progress_handler(None, 0)
            return taken[0]

        async with await Store.open(":memory:") as store:
            place = await store.resolve_place("me", "monday")
            item = remembered("My sister Ana keeps bees.")._replace(statements=STATED)
            await store.sessions.add_lines(place, [(item, float(at)) for at in range(size)], KEEP_ALL)
            place = await store.resolve_place("me", "tuesday")
            return await store.run(work)

    short, long = await steps(200), await steps(800)
    assert long < 1.2 * short


async def test_no_more_is_read_of_a_long_ledger_than_of_a_short_one() -> None:
    """What a turn asks of it: how the last one went, and what was left open, in whatever session."""

    async def steps(size: int) -> int:
        def work(connection: sa.Connection) -> int:
            taken = [0]
            raw: Any = connection.connection.dbapi_connection
            raw.set_progress_handler(lambda: taken.__setitem__(0, taken[0] + 1), 10)
            stands = read_beginning(connection, new, 5, 0)
            raw.set_progress_handler(None, 0)
            assert stands.impasse
            assert stands.impasse.turn == size
            return taken[0]

        async with await Store.open(":memory:") as store:
            place, new = await store.resolve_place("me", "monday"), await store.resolve_place("me", "tuesday")
            at = datetime.fromtimestamp(0, UTC)
            noted = [
                Signal(kind=kind, user="me", session="monday", turn=number + 1, reason="so", at=at, data={})
                for number in range(size)
                for kind in (TURN, IMPASSE)
            ]
            await store.run(statements.append_signals, place, noted)
            return await store.run(work)

    short, long = await steps(100), await steps(400)
    assert long < 1.2 * short


async def test_no_more_is_read_of_what_sessions_have_left_where_nothing_of_it_is_asserted() -> None:
    async def steps(size: int) -> int:
        def work(connection: sa.Connection) -> int:
            taken = [0]
            raw: Any = connection.connection.dbapi_connection
            raw.set_progress_handler(lambda: taken.__setitem__(0, taken[0] + 1), 10)
            stands = read_beginning(connection, new, 0, 0)
            raw.set_progress_handler(None, 0)
            assert not stands.has_left_behind
            return taken[0]

        async with await Store.open(":memory:") as store:
            place, new = await store.resolve_place("me", "monday"), await store.resolve_place("me", "tuesday")
            item = remembered("Your sister Ana keeps bees.", ASSISTANT)
            controls = Controls(consolidation_threshold=1.0, stm_capacity=1_000)
            await store.sessions.add_lines(place, [(item, float(at)) for at in range(size)], controls)
            return await store.run(work)

    short, long = await steps(100), await steps(400)
    assert long < 1.2 * short


# The first line of a session, and a page of memories, cost the same however much was said


async def plan_of_a_first_line(store: Store) -> str:
    """How the database goes about writing the memory of a session's first line."""
    place, item = await store.resolve_place("me", "new"), remembered("Ana lives in Lisbon.")

    def work(connection: sa.Connection) -> str:
        run: list[str] = []
        file = connection.connection.dbapi_connection
        assert isinstance(file, sqlite3.Connection)
        file.set_trace_callback(run.append)
        statements.write_message(connection, place, None, item, 0.0)
        file.set_trace_callback(None)
        statement = next(one for one in run if one.startswith("INSERT INTO memories"))
        return "\n".join(str(row) for row in file.execute(f"EXPLAIN QUERY PLAN {statement}"))

    return await store.run(work)


async def test_the_line_before_it_is_looked_for_among_those_of_the_session() -> None:
    async with memory_store() as store:
        plan = await plan_of_a_first_line(store)
    assert "ix_memories_user_id_session_id_promoted_at (user_id=? AND session_id=?)" in plan
    assert "SCAN memories" not in plan


async def test_a_page_of_memories_is_read_in_its_order_and_not_sorted_from_all_of_them() -> None:
    async with memory_store() as store:
        plan = await store.run(plan_of_a_page)
    assert "ix_memories_user_id_id (user_id=? AND id<?)" in plan
    assert "TEMP B-TREE" not in plan


def plan_of_a_page(connection: sa.Connection) -> str:
    """How the database goes about a page of memories."""
    run: list[tuple[str, tuple[object, ...]]] = []

    def note(_: object, __: object, statement: str, parameters: tuple[object, ...], *___: object) -> None:
        run.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    views.list_memories(connection, "me", Filter(), 1_000, 50)
    event.remove(connection, "before_cursor_execute", note)
    statement, values = next(one for one in run if "ORDER BY memories.id DESC" in one[0])
    return "\n".join(str(row) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values))


# Readers stand beside the writer: a question that takes long delays nobody, and sees one moment


def named(connection: sa.Connection) -> list[str]:
    return list(connection.execute(sa.select(users.c.name).order_by(users.c.name)).scalars())


async def test_a_question_that_takes_long_delays_neither_who_writes_nor_other_questions(tmp_path: Path) -> None:
    begun, end = threading.Barrier(READERS), threading.Event()

    def heavy(connection: sa.Connection) -> tuple[list[str], list[str]]:
        before = named(connection)
        begun.wait(60)
        assert end.wait(60)
        return before, named(connection)

    async with await Store.open(tmp_path / "insula.db") as store:
        await store.resolve_place("ana", "monday")
        heavies = [asyncio.create_task(store.read(heavy)) for _ in range(READERS - 1)]
        await asyncio.to_thread(begun.wait, 60)  # each has seen its moment
        await store.resolve_place("ben", "monday")
        assert await store.read(named) == ["ana", "ben"]
        end.set()
        assert [await each for each in heavies] == [(["ana"], ["ana"])] * len(heavies), "it sees one moment"


async def test_who_reads_cannot_write(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "insula.db") as store:
        with pytest.raises(StoreError):
            await store.read(lambda c: c.exec_driver_sql("INSERT INTO users (name, created_at) VALUES ('x', 0)"))
        assert await store.read(named) == []


async def test_another_file_in_its_place_is_read_and_not_the_old_one(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "insula.db") as store:
        await store.resolve_place("ana", "monday")
        assert await store.read(named) == ["ana"]
        for each in tmp_path.glob("insula.db*"):
            each.unlink()
        with pytest.raises(StoreError, match="is gone"):
            await store.read(named)
        (tmp_path / "insula.db").touch()
        assert await store.read(named) == []


def test_many_threads_share_what_is_held_of_a_users_vectors() -> None:
    vectors = np.random.default_rng(3).normal(size=(600, 64)).astype(np.float16)
    rows = [(number + 1, one.tobytes()) for number, one in enumerate(vectors)]
    here = Neighbourhoods()

    def read(after: int, _: int) -> list[tuple[int, bytes]]:
        return rows[after : after + 100]

    found: list[list[int]] = []

    def ask() -> None:
        for number in range(20):
            here.add_vectors(1, rows[number : number + 3])  # they are known: none is held twice
            near = here.find_nearest(1, [vectors[7].astype(np.float32)], read)[0]
            found.append([one for batch in (near.first, *near.more) for one in batch])

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 120
    assert all(sorted(each) == [number for number, _ in rows] and each[0] == 8 for each in found)
