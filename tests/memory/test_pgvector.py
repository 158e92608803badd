"""pgvector, where a server has it: it finds what the signs of vectors find, and keeps nothing that memory lets go."""

from collections.abc import AsyncGenerator

import pytest
import sqlalchemy as sa

import postgres as server_of_tests
from insula.language.owner import ASSISTANT, USER
from insula.memory.item import new_item
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval.encoding import encode
from insula.memory.retrieval.query import cue
from insula.memory.storage import embeddings, pgvector
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Vector, embedded
from insula.text.analysis import analyse
from insula.types import Controls

pytestmark = [pytest.mark.anyio, pytest.mark.at_length]
SAID = ("The red kite sails.", "My aunt bakes bread.", "A zebra hums.")


def like(text: str) -> Vector:
    """A vector by the letters of a text."""
    return embedded(lambda one: [-1.0 + one.lower().count(letter) for letter in "abeikrstz"], text)


@pytest.fixture
async def extended(anyio_backend: str, server: str, database: str) -> AsyncGenerator[Store]:
    if not server_of_tests.extended(server, database, "vector"):
        pytest.skip("this server of PostgreSQL has no pgvector")
    async with await Store.open(database) as store:
        for user in ("ana", "eva"):
            await say(store, user, SAID)
        yield store


async def say(store: Store, user: str, lines: tuple[str, ...]) -> None:
    place = await store.place(user, "first")
    for line in lines:
        analysis = analyse(line)
        item = new_item(analysis, encode(analysis, USER, ASSISTANT), "user", USER, (), ())
        await store.sessions.say(place, item._replace(vector=like(line)))
    await store.sessions.consolidate(place, Controls(consolidation_threshold=0.0))


async def near(store: Store, user: str, text: str) -> list[str]:
    """What is recalled for its meaning alone: the words of the cue stand nowhere."""
    with on_behalf_of(user):
        place = await store.place(user, "later")
        found = await store.memories.recall(place, cue(analyse("Xylophone?"), USER, ASSISTANT), 9, vectors=[like(text)])
    return [one.memory.content for one in found.recalled]


async def held(store: Store) -> set[int]:
    query = sa.text("SELECT memory_id FROM meanings")
    return set(await store.run(lambda connection: connection.execute(query).scalars()))


async def test_the_nearest_are_found_and_what_is_said_later_is_too(extended: Store) -> None:
    for line in SAID:
        assert (await near(extended, "ana", line))[0] == line
    await say(extended, "ana", ("Bees kiss trees.",))
    assert (await near(extended, "ana", "Bees kiss trees."))[0] == "Bees kiss trees."
    assert len(await held(extended)) == 4  # of eva nobody has asked


async def test_it_finds_what_processes_find_without_it(extended: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    by_server = [await near(extended, "eva", line) for line in SAID]
    assert await held(extended)
    monkeypatch.setattr(pgvector, "MOST", 0)
    assert [await near(extended, "eva", line) for line in SAID] == by_server


async def test_nothing_is_kept_of_what_is_erased_or_made_anew(extended: Store) -> None:
    for user in ("ana", "eva"):
        await near(extended, user, SAID[0])
    place = await extended.place("ana", "first")
    (kite, _), *_ = [one for one in await extended.memories.remembered("ana", 9) if one[0].content == SAID[0]]
    before = await held(extended)
    assert await extended.memories.erase(place.user_id, kite.id)
    assert await held(extended) <= before - {kite.id}
    await extended.run(embeddings.unembed, place.user_id, 1)
    assert len(await held(extended)) == len(SAID)  # those of eva
    assert SAID[1] not in await near(extended, "ana", SAID[1])


async def test_a_user_s_meanings_are_guarded_like_all_that_is_theirs(extended: Store) -> None:
    for user in ("ana", "eva"):
        await near(extended, user, SAID[0])
    assert len(await held(extended)) == 2 * len(SAID)
    with on_behalf_of("ana"):
        assert len(await held(extended)) == len(SAID)


async def test_numbers_of_sixteen_bits_are_read_as_they_are(extended: Store) -> None:
    query = sa.text("SELECT insula_meaning(:packed)::text")
    packed = bytes.fromhex("003c 00c0 0000 0100 ff03 0004 ff7b 0080")
    text = await extended.run(lambda connection: connection.execute(query, {"packed": packed}).scalar_one())
    found = [float(one) for one in text.strip("[]").split(",")]
    assert found == pytest.approx([1.0, -2.0, 0.0, 2**-24, 1023 * 2**-24, 2**-14, 65504.0, 0.0], rel=1e-3)


async def test_who_may_make_no_tables_goes_without(server: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not server_of_tests.extended(server, database, "vector"):
        pytest.skip("this server of PostgreSQL has no pgvector")
    monkeypatch.setattr(pgvector, "_MAKE", ("CREATE TABLE pg_catalog.meanings (one int)",))
    async with await Store.open(database) as store:
        await say(store, "ana", SAID)
        assert (await near(store, "ana", SAID[2]))[0] == SAID[2]
