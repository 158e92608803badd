"""Row-level security: on behalf of one user nothing of another's is read or changed, whatever is asked for."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
import sqlalchemy as sa

from insula.errors import StoreError
from insula.language.owner import ASSISTANT, USER
from insula.memory.item import new_item
from insula.memory.privacy.isolation import WHOSE, on_behalf_of
from insula.memory.retrieval.encoding import encode_claims
from insula.memory.retrieval.query import build_cue
from insula.memory.storage import statements, views
from insula.memory.storage.rows import Place
from insula.memory.storage.schema import metadata
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.metacognition.facade import note_impasse
from insula.night.cycle import sleep_cycle
from insula.night.phases import PHASES
from insula.testing import ScriptedModel
from insula.text.analysis import analyse_text
from insula_solve import Models, find_method

pytestmark = pytest.mark.anyio
SECRET = "My sister Ana keeps her bees in Lisbon."
WHO = "Ana's %s \\ 100%"
"""A name that no statement may take for a part of itself."""
OWNED = tuple(table for table in metadata.sorted_tables if "user_id" in table.c)


@pytest.fixture
async def shared(anyio_backend: str, database: str) -> AsyncGenerator[Store]:
    """A store on a server in which two users said something."""
    async with await Store.open(database) as store:
        mind = Metacognition(store, embed=None)
        for user in (WHO, "eva"):
            for line in (SECRET, "I never eat nuts.", "What is the capital of Peru?"):
                async with mind.turn(user, "monday", line) as turn:
                    turn.finish("Noted.")
        assert not WHOSE.get()
        yield store


def execute(connection: sa.Connection, query: str) -> None:
    connection.execute(sa.text(query))


async def rows_of(store: Store, table: sa.Table) -> set[int]:
    return set(await store.run(lambda connection: connection.execute(sa.select(table.c.user_id)).scalars()))


async def test_a_hostile_query_reads_and_changes_nothing_of_others(shared: Store) -> None:
    mine, other = (
        (await shared.resolve_place(WHO, "monday")).user_id,
        (await shared.resolve_place("eva", "monday")).user_id,
    )
    assert not (await sleep_cycle(shared, "eva", PHASES, force=True)).failed
    before = {table.name: await rows_of(shared, table) for table in OWNED}
    assert all(other in before[name] for name in ("messages", "memories", "postings", "terms", "signals", "nights"))
    with on_behalf_of(WHO):
        for table in OWNED:
            assert await rows_of(shared, table) <= {mine}
        names = sa.text("SELECT name FROM users UNION SELECT u.name FROM users u, messages m WHERE m.user_id = u.id")
        assert await shared.run(lambda connection: list(connection.execute(names).scalars())) == [WHO]
        for query in ("DELETE FROM messages", "UPDATE memories SET content = 'gone'", "DELETE FROM users"):
            await shared.run(execute, query)
    assert not await shared.sessions.sessions_of(WHO)
    kept = await shared.sessions.read_lines(await shared.resolve_place("eva", "monday"), 9)
    assert kept[0].content == SECRET
    assert all(memory.content != "gone" for memory, _ in await shared.memories.list_latest_memories("eva", 9))


async def speakers_of(store: Store, place: Place) -> frozenset[str]:
    return (await store.read(statements.read_voices, place.user_id)).speakers


async def test_a_forged_user_id_reads_nothing_in_any_repository(shared: Store) -> None:
    theirs = await shared.resolve_place("eva", "monday")
    sought = build_cue(analyse_text("Where does Ana keep her bees?"), USER, ASSISTANT)
    first = (await shared.memories.list_latest_memories("eva", 9))[-1][0].id
    reads: dict[str, Callable[[Store, Place], Awaitable[object]]] = {
        "transcript": lambda store, place: store.sessions.read_lines(place, 9),
        "sessions": lambda store, place: store.sessions.sessions_of(place.user),
        "ledger": lambda store, place: store.sessions.read_ledger(place),
        "speakers": speakers_of,
        "remembered": lambda store, place: store.memories.list_latest_memories(place.user, 9),
        "shown": lambda store, place: store.read(views.find_memories, place.user, [first]),
        "searched": lambda store, place: store.memories.search_index(place, sought, 9),
        "journal": lambda store, place: store.nights.read_journal(place.user_id, "d"),
        "to sleep on": lambda store, place: store.nights.sessions_to_sleep_on(place.user_id),
        "held": lambda store, place: store.nights.list_remembered(place.user_id, 9),
        "noticed": lambda store, place: store.nights.list_signals(place.user_id, ["meta:turn"], 0.0),
        "users": lambda store, _: store.nights.list_users(),
    }
    for name, read in reads.items():
        there = await read(shared, theirs)
        with on_behalf_of(WHO):
            try:
                forged = await read(shared, theirs)
            except (StoreError, IndexError):  # who is not there has no row of counts either
                continue
        assert not forged or (name, forged) == ("users", [WHO]), name
        assert there or name == "journal", name
    with on_behalf_of(WHO):
        assert not await shared.memories.erase_memories(theirs.user_id, first)
    assert await shared.read(views.find_memories, theirs.user, [first])


async def test_nothing_is_written_under_a_forged_user_id(shared: Store) -> None:
    theirs = await shared.resolve_place("eva", "monday")
    analysis = analyse_text("Eva gave me her house.")
    item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), ())
    with on_behalf_of(WHO), pytest.raises(StoreError, match="may not do this"):
        await shared.sessions.write_message(theirs, item)
    with on_behalf_of(WHO), pytest.raises(StoreError, match="may not do this"):
        await shared.run(statements.resolve_place, "somebody", "s", 0.0)


async def test_what_is_observed_outside_a_turn_is_written_on_its_user_s_behalf_alone(shared: Store) -> None:
    mind = Metacognition(shared, embed=None)
    await mind.observe(WHO, "tuesday", "My sister moved to Porto.")
    kept = await shared.sessions.read_lines(await shared.resolve_place(WHO, "tuesday"), 9)
    assert [line.content for line in kept] == ["My sister moved to Porto."]
    theirs = await shared.resolve_place("eva", "monday")
    solution = await find_method("direct")(
        "How many apples are 3 and 4 apples?", Models(generator=ScriptedModel(lambda _: "I cannot."))
    )
    for write in (
        lambda: mind.observe(WHO, "forged", "Eva gave me her house."),
        lambda: note_impasse(shared, WHO, "forged", solution),
    ):
        shared._places[WHO, "forged"] = theirs  # pyright: ignore[reportPrivateUsage] it is forged here
        with pytest.raises((StoreError, IndexError)):  # who is not there has no row of counts either
            await write()
    written = {line.content for line in await shared.sessions.read_lines(theirs, 9)}
    assert written.isdisjoint({"Eva gave me her house.", "How many apples are 3 and 4 apples?"})


async def test_who_came_in_stays_and_a_turn_of_another_finds_nothing(shared: Store) -> None:
    mind = Metacognition(shared, embed=None)
    async with mind.turn("eva", "later", "Where does Ana keep her bees?") as own:
        assert own.recalled
        own.finish("In Lisbon.")
    shared.drop_cached()
    with on_behalf_of(WHO):
        async with mind.turn("eva", "later", "Where does Ana keep her bees?") as forged:
            assert not forged.recalled
            assert forged.troubles
    with on_behalf_of(WHO), on_behalf_of("eva"):
        assert WHOSE.get() == WHO


async def test_units_of_work_beside_each_other_are_each_on_their_own_user_s_behalf(shared: Store) -> None:
    async def seen(user: str) -> list[str]:
        with on_behalf_of(user):
            return await shared.nights.list_users()

    who = [WHO, "eva"] * 20
    assert await asyncio.gather(*map(seen, who)) == [[user] for user in who]
    assert await shared.nights.list_users() == [WHO, "eva"]


async def test_every_table_of_users_has_a_policy(shared: Store) -> None:
    held = sa.text("SELECT tablename FROM pg_policies")
    forced = sa.text("SELECT relname FROM pg_class WHERE relforcerowsecurity")

    async def names(query: sa.TextClause) -> set[str]:
        return await shared.run(lambda connection: {str(name) for name in connection.execute(query).scalars()})

    every = {"users", *(table.name for table in OWNED)}
    assert await names(held) == await names(forced) == every


async def test_a_name_is_never_part_of_a_statement(shared: Store) -> None:
    with on_behalf_of("x'; SELECT set_config('insula.whose', 'eva', true); --"):
        assert await shared.nights.list_users() == []
