"""One store on two databases: the same is found with the same scores, and what moves between them arrives whole."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import sqlalchemy as sa

from insula.language.owner import ASSISTANT, USER
from insula.memory.item import new_item
from insula.memory.privacy import archive
from insula.memory.retrieval.encoding import encode_claims
from insula.memory.retrieval.query import build_cue
from insula.memory.storage.database import open_backend
from insula.memory.storage.schema import metadata
from insula.memory.storage.store import Store
from insula.memory.storage.upgrade import make_tables
from insula.memory.storage.vectors import embed_normalised
from insula.text.analysis import analyse_text
from insula.types import Controls

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


async def fill(store: Store, user: str) -> None:
    for number, text in enumerate(SAID * 3):
        place = await store.resolve_place(user, f"session {number % 4}")
        analysis = analyse_text(text)
        item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), ())
        await store.sessions.write_message(place, item._replace(vector=embed_normalised(embed, text)))
        await store.sessions.promote_items(place, Controls(consolidation_threshold=0.2))


async def found(store: Store, user: str) -> list[list[tuple[str, str, float]]]:
    place = await store.resolve_place(user, "later")
    every: list[list[tuple[str, str, float]]] = []
    for question in ASKED:
        for vector in (None, embed_normalised(embed, question)):
            seen = await store.memories.recall_memories(
                place,
                build_cue(analyse_text(question), USER, ASSISTANT),
                16,
                vectors=[vector] if vector is not None else [],
            )
            every.append([(one.memory.content, one.memory.session, one.score) for one in seen.recalled])
    return every


@pytest.fixture
async def both(anyio_backend: str, tmp_path: Path, database: str) -> AsyncGenerator[tuple[Store, Store]]:
    def now() -> float:
        return NOON

    async with await Store.open(tmp_path / "m.db", now) as file, await Store.open(database, now) as server:
        yield file, server


LATER = {
    "0007": (
        *("DROP TABLE postings", "DROP TABLE spending", "DROP INDEX ix_messages_user_id_id"),
        *("DROP INDEX ix_memories_source", "DROP INDEX ix_memories_user_id_id"),
        *("ALTER TABLE memories DROP COLUMN source_id", "ALTER TABLE memories DROP COLUMN metadata"),
    ),
    "0001": (
        *("DROP INDEX ix_memories_unstated", "DROP INDEX ix_memories_working", "DROP TABLE statements"),
        *("ALTER TABLE memories DROP COLUMN stated", "DROP INDEX ix_memories_unembedded"),
        *("DROP INDEX ix_memories_embedded", "DROP TABLE strategies", "DROP TABLE services", "DROP TABLE evidence"),
        *("DROP TABLE lessons", "DROP TABLE summaries", "DROP TABLE nights"),
    ),
}
"""Version -> what is taken away from the tables of the version before it in this table for them to be its own."""


def move_back(connection: sa.Connection, to: str) -> None:
    """Give the tables the form that they had in an earlier version."""
    for version, statements in LATER.items():
        if version >= to:
            for statement in statements:
                connection.exec_driver_sql(statement)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("CREATE VIRTUAL TABLE memory_index USING fts5(terms, content='')")
    else:
        for table in sa.inspect(connection).get_table_names():
            connection.exec_driver_sql(f"DROP POLICY IF EXISTS insula_own ON {table}")
            connection.exec_driver_sql(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    connection.execute(sa.text("UPDATE alembic_version SET version_num = :version"), {"version": to})


def read_shape(connection: sa.Connection) -> dict[str, object]:
    """The columns and indexes of each table."""
    there = sa.inspect(connection)
    return {
        name: (
            {(column["name"], str(column["type"]), column["nullable"]) for column in there.get_columns(name)},
            {(index["name"], tuple(index["column_names"])) for index in there.get_indexes(name)},
        )
        for name in metadata.tables
    }


def count_vectors(connection: sa.Connection) -> int:
    return connection.execute(sa.text("SELECT count(vector) FROM memories")).scalar_one()


async def test_an_older_store_is_brought_up_to_date_and_keeps_what_it_holds(both: tuple[Store, Store]) -> None:
    for store in both:
        await fill(store, "me")
        before, shape = await found(store, "me"), await store.run(read_shape)
        await store.run(move_back, "0007")
        assert not await store.run(lambda connection: sa.inspect(connection).has_table("postings"))
        assert await store.run(make_tables, "here")
        assert await found(store, "me") == before
        assert await store.run(read_shape) == shape
        assert not await store.run(make_tables, "here")


async def test_the_first_version_is_brought_up_to_date_and_its_vectors_are_made_anew(
    both: tuple[Store, Store],
) -> None:
    for store in both:
        await fill(store, "me")
        shape = await store.run(read_shape)
        await store.run(move_back, "0001")
        assert await store.run(make_tables, "here")
        assert await store.run(read_shape) == shape
        assert await store.run(count_vectors) == 0


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
