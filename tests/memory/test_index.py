"""Which memories the words of a question propose: the rarest decide, and what is read is bounded whatever they are."""

from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from insula.memory.retrieval import index
from insula.memory.storage.rows import Place
from insula.memory.storage.store import Store

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "POSTINGS", 12)


async def filled(store: Store, lines: Sequence[str]) -> Place:
    """A user's index with lines of terms, numbered from 1."""
    place = await store.resolve_place("me", "monday")
    entries = [(number, line.split(), True) for number, line in enumerate(lines, 1)]
    await store.run(index.add_entries, place.user_id, entries)
    return place


async def found(store: Store, place: Place, *terms: str, limit: int = 5) -> list[int]:
    def work(connection: sa.Connection) -> list[int]:
        return index.search_terms(
            connection, place.user_id, index.read_statistics(connection, place.user_id, terms), limit
        )

    return await store.run(work)


LINES = ["common lake"] + ["common usual"] * 20 + ["common lake lake", "common"]


async def test_the_rarest_decide_and_a_common_word_beside_them_changes_nothing(store: Store) -> None:
    place = await filled(store, LINES)
    assert sorted(await found(store, place, "lake")) == [1, 22]
    assert await found(store, place, "lake", "common", "usual") == await found(store, place, "lake")


async def test_where_all_words_are_common_the_latest_that_hold_most_of_them_come_first(store: Store) -> None:
    place = await filled(store, LINES)
    assert await found(store, place, "common") == [23, 22, 21, 20, 19]
    assert await found(store, place, "common", "usual") == [21, 20, 19, 18, 23]


async def test_no_more_is_read_of_common_words_than_of_rare_ones(store: Store) -> None:
    place = await filled(store, LINES)
    assert len(await found(store, place, "common", limit=100)) == 12
    assert len(await found(store, place, "common", "usual", limit=100)) <= 12


async def test_words_that_nobody_said_find_nothing(store: Store) -> None:
    place = await filled(store, LINES)
    assert await found(store, place, "zebra") == []
    assert await found(store, place) == []


async def test_the_words_of_another_user_find_nothing(store: Store) -> None:
    await filled(store, LINES)
    other = await store.resolve_place("other", "monday")
    assert await found(store, other, "common", "lake") == []
