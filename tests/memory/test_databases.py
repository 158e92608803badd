"""PostgreSQL: the same is found as in a file, what moves arrives whole, and nothing of another user is reached."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import postgres
from insula import Controls, Metacognition
from insula.errors import StoreError
from insula.language.owner import ASSISTANT, USER
from insula.memory.item import NewItem, new_item
from insula.memory.privacy import archive
from insula.memory.privacy.isolation import WHOSE, on_behalf_of
from insula.memory.retrieval.query import build_cue, encode_claims
from insula.memory.storage import statements, views
from insula.memory.storage.rows import Place
from insula.memory.storage.schema import OLDEST, make_tables, metadata
from insula.memory.storage.store import Store, open_backend
from insula.memory.storage.vectors import embed_normalised
from insula.metacognition.facade import note_impasse
from insula.night.cycle import sleep_cycle
from insula.night.phases import PHASES
from insula.testing import ScriptedModel
from insula.text.analysis import analyse_text
from insula.types import TURN
from insula_solve import Models, find_method

pytestmark = pytest.mark.anyio
NOON = 1_780_000_000.0
SAID = (
    *("My sister Ana moved to Lisbon in May.", "Tom plays the cello, and his sister plays the harp."),
    *("Mi hermana Eva vive en Sevilla.", "Ma sœur Léa habite à Lyon.", "Meine Schwester Ida wohnt in Köln."),
    *(
        "Minha irmã Rita mora em Recife.",
        "Mia sorella Lia abita a Torino.",
        "我姐姐住在上海。",
        "姉は京都に住んでいます。",
    ),
    *("The cello of Tom is older than the house.", "Ana has a cat, a cat and a cat.", "I never eat nuts."),
)
ASKED = (
    *("Where does Ana live?", "What does Tom play?", "¿Dónde vive Eva?", "Où habite Léa ?", "Wo wohnt Ida?"),
    *("Onde mora a Rita?", "Dove abita Lia?", "姐姐住在哪里？", "姉はどこに住んでいますか。", "Has Ana a cat?"),
)


def embed(text: str) -> list[float]:
    """A vector that says little: how often some letters stand in a text."""
    return [0.1 + text.lower().count(letter) for letter in "aeioust"]


def remembered(text: str) -> NewItem:
    analysis = analyse_text(text)
    return new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), ())


async def fill(store: Store, user: str) -> None:
    for number, text in enumerate(SAID * 3):
        place = await store.resolve_place(user, f"session {number % 4}")
        item = remembered(text)._replace(vector=embed_normalised(embed, text))
        await store.sessions.add_lines(place, [(item, store.now())], Controls(consolidation_threshold=0.2))


async def found(store: Store, user: str) -> list[list[tuple[str, str, float]]]:
    place = await store.resolve_place(user, "later")
    every: list[list[tuple[str, str, float]]] = []
    for question in ASKED:
        for vector in (None, embed_normalised(embed, question)):
            seen = await store.memories.recall_memories(
                place,
                build_cue(analyse_text(question), USER, ASSISTANT),
                16,
                sought=[vector] if vector is not None else [],
            )
            every.append([(one.memory.content, one.memory.session, one.score) for one in seen.recalled])
    return every


@pytest.fixture
async def both(anyio_backend: str, tmp_path: Path, database: str) -> AsyncGenerator[tuple[Store, Store]]:
    def now() -> float:
        return NOON

    async with await Store.open(tmp_path / "m.db", now) as file, await Store.open(database, now) as server:
        yield file, server


def move_back(connection: sa.Connection) -> None:
    """Give the tables the form that they had in an earlier version."""
    for column in ("taken INTEGER NOT NULL DEFAULT 0", "cap JSON", "cost DOUBLE PRECISION NOT NULL DEFAULT 0"):
        connection.execute(sa.text(f"ALTER TABLE spending ADD COLUMN {column}"))
    connection.execute(sa.text("INSERT INTO spending (night, user_id, taken) VALUES ('2026-01-06', 0, 1)"))
    connection.execute(sa.text("DROP TABLE predicted_queries"))
    connection.execute(sa.text("DROP INDEX ix_memories_asserted"))
    where = "promoted_at IS NULL AND retired_at IS NULL"
    connection.execute(sa.text(f"CREATE INDEX ix_memories_working ON memories (user_id) WHERE {where}"))
    set_version(connection, OLDEST)


def set_version(connection: sa.Connection, version: str) -> None:
    connection.execute(sa.text("UPDATE alembic_version SET version_num = :version"), {"version": version})


async def test_an_older_store_is_brought_up_to_date_and_keeps_what_it_holds(both: tuple[Store, Store]) -> None:
    for store in both:
        await fill(store, "me")
        before = await found(store, "me")
        await store.run(move_back)
        assert not await store.run(make_tables, "here")
        assert await found(store, "me") == before
        assert await store.run(lambda connection: compare_metadata(compared(connection), metadata)) == []


async def test_a_table_that_an_upgrade_makes_keeps_users_apart_too(both: tuple[Store, Store]) -> None:
    _, server = both
    await server.run(move_back)
    await server.run(make_tables, "here")
    forced = sa.text("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'predicted_queries'")
    assert await server.run(lambda connection: connection.execute(forced).scalar())


async def test_a_store_from_before_the_first_release_is_left_with_the_way_out(both: tuple[Store, Store]) -> None:
    for store in both:
        await store.run(set_version, "0007")
        with pytest.raises(StoreError, match=r"schema 0007\), and is left as it is; .*insula user export"):
            await store.run(make_tables, "here")


def compared(connection: sa.Connection) -> MigrationContext:
    return MigrationContext.configure(connection, opts={"include_name": is_ours})


def is_ours(name: str | None, kind: str, _: object) -> bool:
    return kind != "table" or name in metadata.tables


async def test_both_find_the_same_with_the_same_scores(both: tuple[Store, Store]) -> None:
    for store in both:
        await fill(store, "me")
        await fill(store, "somebody else")
    file, server = [await found(store, "me") for store in both]
    assert sum(map(len, file)) > 2 * len(ASKED)
    for one, other in zip(file, server, strict=True):
        assert [each[:2] for each in one] == [each[:2] for each in other]
        assert [each[2] for each in one] == pytest.approx([each[2] for each in other], abs=1e-6)


async def test_a_user_moves_from_a_file_to_a_server_and_back(both: tuple[Store, Store], tmp_path: Path) -> None:
    file, server = both
    await fill(file, "me")
    await fill(server, "somebody else")
    before = await found(file, "me")

    def packed(connection: sa.Connection) -> bytes:
        return "".join(archive.lines(connection, "me", {})).encode()

    taken = archive.read_archive(await file.run(packed))
    rows = await server.run(archive.unpack_archive, "me", taken, NOON)
    assert rows == sum(map(len, taken.rows.values())) > 50
    assert await found(server, "me") == [[(*each[:2], pytest.approx(each[2])) for each in one] for one in before]
    await fill(server, "me")  # nothing that is written next meets what was taken in
    await fill(file, "somebody else")
    back = archive.read_archive(await server.run(packed))
    await file.run(archive.unpack_archive, "me again", back, NOON)
    assert await found(file, "me again") == [
        [(*each[:2], pytest.approx(each[2])) for each in one] for one in await found(server, "me")
    ]


def test_an_address_without_a_scheme_is_a_file(tmp_path: Path) -> None:
    assert open_backend(str(tmp_path / "m.db"), lambda: None).name == str(tmp_path / "m.db")


# Row-level security: on behalf of one user nothing of another's is read or changed, whatever is asked for


SECRET = "My sister Ana keeps her bees in Lisbon."
WHO = "Ana's %s \\ 100%"
"""A name that no statement may take for a part of itself."""
OWNED = tuple(table for table in metadata.sorted_tables if "user_id" in table.c)


@pytest.fixture(scope="module")
def talked(server: str, template: str) -> Generator[str]:
    """The name of a database in which two users said something."""

    async def talk(url: str) -> None:
        async with await Store.open(url) as store:
            mind = Metacognition(store, embed=None)
            for user in (WHO, "eva"):
                for line in (SECRET, "I never eat nuts.", "What is the capital of Peru?"):
                    async with mind.turn(user, "monday", line) as turn:
                        turn.finish("Noted.")
            assert not WHOSE.get()

    with postgres.database(server, template, "") as url:
        asyncio.run(talk(url))
        yield url.rpartition("/")[2]


@pytest.fixture
async def shared(anyio_backend: str, server: str, talked: str) -> AsyncGenerator[Store]:
    """A store on a server in which two users said something."""
    with postgres.database(server, talked, "") as url:
        async with await Store.open(url) as store:
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
    assert not await shared.read(views.list_sittings, WHO, None, 9)
    kept = await shared.sessions.read_lines(await shared.resolve_place("eva", "monday"), 9)
    assert kept[0].content == SECRET
    assert all(memory.content != "gone" for memory in await shared.memories.list_memories("eva"))


async def speakers_of(store: Store, place: Place) -> frozenset[str]:
    return (await store.read(statements.read_voices, place.user_id)).speakers


async def test_a_forged_user_id_reads_nothing_in_any_repository(shared: Store) -> None:
    theirs = await shared.resolve_place("eva", "monday")
    sought = build_cue(analyse_text("Where does Ana keep her bees?"), USER, ASSISTANT)
    first = (await shared.memories.list_memories("eva"))[-1].id
    reads: dict[str, Callable[[Store, Place], Awaitable[object]]] = {
        "transcript": lambda store, place: store.sessions.read_lines(place, 9),
        "sessions": lambda store, place: store.read(views.list_sittings, place.user, None, 9),
        "ledger": lambda store, place: store.sessions.read_ledger(place, TURN),
        "speakers": speakers_of,
        "remembered": lambda store, place: store.memories.list_memories(place.user),
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
    item = remembered("Eva gave me her house.")
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
