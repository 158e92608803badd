"""What the words and the meaning of a question propose: bounded, for its owner alone, and never what was erased."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from insula import Controls, InputError
from insula.language.owner import ASSISTANT, USER
from insula.memory.item import new_item
from insula.memory.retrieval import index
from insula.memory.retrieval.query import build_cue, encode_claims
from insula.memory.storage.rows import Place
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import (
    Near,
    Neighbourhoods,
    Read,
    Vector,
    cosines_with,
    embed_normalised,
    pack_vector,
)
from insula.text.analysis import analyse_text

pytestmark = pytest.mark.anyio
MEANINGS = {"cat": 0, "kitten": 0, "feline": 0, "boat": 1, "ferry": 1}


def embed(text: str) -> list[float]:
    """One dimension for each meaning, and one for what has none."""
    vector = [0.0, 0.0, 0.01]
    for word in text.lower().strip(".?").split():
        if word in MEANINGS:
            vector[MEANINGS[word]] += 1.0
    return vector


async def tell(store: Store, user: str, text: str, threshold: float = 0.0) -> int:
    place = await store.resolve_place(user, "monday")
    analysis = analyse_text(text)
    item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), ())
    told = [(item._replace(vector=embed_normalised(embed, text)), store.now())]
    (memory,), _ = await store.sessions.add_lines(place, told, Controls(consolidation_threshold=threshold))
    return memory


async def ask(store: Store, user: str, text: str) -> list[str]:
    place = await store.resolve_place(user, "tuesday")
    found = await store.memories.recall_memories(
        place, build_cue(analyse_text(text), USER, ASSISTANT), 5, sought=[embed_normalised(embed, text)]
    )
    return [one.memory.content for one in found.recalled]


async def test_what_was_promoted_since_the_last_question_is_found(store: Store) -> None:
    await tell(store, "me", "I adopted a kitten.", threshold=1.0)
    assert await ask(store, "me", "Do we own some feline?") == []
    await tell(store, "me", "We took the ferry.")
    assert (await ask(store, "me", "Do we own some feline?"))[0] == "I adopted a kitten."


async def test_a_fact_is_found_however_often_it_was_asked_for(store: Store) -> None:
    """Questions are nearest to questions, and are kept with their meaning, too."""
    await tell(store, "me", "I adopted a kitten.")
    for _ in range(100):
        await tell(store, "me", "Do we own some feline?", threshold=1.0)
    assert (await ask(store, "me", "Do we own some feline?"))[0] == "I adopted a kitten."


async def test_another_file_in_the_place_of_the_first_has_neighbours_of_its_own(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "one.db") as one:
        await tell(one, "me", "We took the ferry.")
    async with await Store.open(tmp_path / "two.db") as two:
        await tell(two, "me", "I adopted a kitten.")
        assert await ask(two, "me", "Do we own some feline?") == ["I adopted a kitten."]
        for name in ("two.db-wal", "two.db-shm"):
            (tmp_path / name).unlink()
        (tmp_path / "one.db").rename(tmp_path / "two.db")
        assert "I adopted a kitten." not in await ask(two, "me", "Do we own some feline?")


async def test_vectors_of_another_embedding_are_left_aside(store: Store) -> None:
    await tell(store, "me", "I adopted a kitten.")
    place = await store.resolve_place("me", "tuesday")
    longer = embed_normalised(lambda _: [1.0] * 8, "")
    found = await store.memories.recall_memories(
        place, build_cue(analyse_text("feline?"), USER, ASSISTANT), 5, sought=[longer]
    )
    assert found.recalled == ()


UNIT = st.floats(-1, 1, width=16)
ROWS = st.integers(1, 150).flatmap(lambda count: arrays.arrays(np.float16, (count, 70), elements=UNIT))


Halves = npt.NDArray[np.float16]


def reader(rows: Halves | Vector, stop: int, size: int = 40) -> Read:
    """What reads the first rows, numbered from 1, some at once."""
    known = [(number + 1, row.tobytes()) for number, row in enumerate(rows[:stop])]
    return lambda after, width: [one for one in known if one[0] > after and len(one[1]) == width][:size]


def batches(near: Sequence[Near]) -> list[list[int]]:
    """All batches of the nearest to the first vector."""
    return [[*one.first], *one.more] if (one := next(iter(near), None)) else []


@given(rows=ROWS, asked=arrays.arrays(np.float32, 70, elements=st.floats(-1, 1, width=32)), data=st.data())
def test_each_comes_once_and_what_has_more_signs_in_common_first(
    rows: Vector, asked: Vector, data: st.DataObject
) -> None:
    """However often it was asked in between."""
    stops = sorted({*data.draw(st.lists(st.integers(1, len(rows)), max_size=3)), len(rows)})
    near = Neighbourhoods()
    found: list[int] = []
    for stop in stops:
        found = [one for batch in batches(near.find_nearest(1, [asked], reader(rows, stop))) for one in batch]
    wide = rows.astype(np.float32)
    above = (wide > wide.mean(axis=1, keepdims=True)) != (asked > asked.mean())
    assert sorted(found) == list(range(1, len(rows) + 1))
    assert [int(above[one - 1].sum()) for one in found] == sorted(above.sum(axis=1).tolist())


def test_the_nearest_by_cosine_are_among_the_first() -> None:
    chance = np.random.default_rng(7)
    rows = chance.standard_normal((5_000, 512)).astype(np.float16)
    asked = (rows[7].astype(np.float32) + chance.standard_normal(512)).astype(np.float32)
    first = batches(Neighbourhoods().find_nearest(1, [asked], reader(rows, len(rows), 1_000)))[0]
    assert first[0] == 8
    assert len(first) < 200


def test_vectors_that_were_made_later_than_those_after_them_are_found() -> None:
    rows = np.eye(3, 70, dtype=np.float16)
    known = {1: rows[0], 3: rows[2]}
    near = Neighbourhoods()

    def read(after: int, _: int) -> list[tuple[int, bytes]]:
        return [(number, row.tobytes()) for number, row in known.items() if number > after]

    def nearest() -> list[int]:
        return [one for batch in batches(near.find_nearest(1, [rows[1].astype(np.float32)], read)) for one in batch]

    assert sorted(nearest()) == [1, 3]
    near.add_vectors(1, [(2, rows[1].tobytes())])
    near.add_vectors(2, [(9, rows[1].tobytes())])
    assert nearest()[0] == 2
    assert sorted(nearest()) == [1, 2, 3]


TWO = 2 * (8 + 8)
"""Bytes of two short vectors: a word of signs and an id each."""


def test_who_was_not_asked_longest_goes_where_there_are_too_many() -> None:
    asked, row = embed_normalised(lambda _: [1.0, 0.0], ""), pack_vector(embed_normalised(lambda _: [1.0, 0.0], ""))
    anew: list[int] = []
    near = Neighbourhoods(held_bytes=TWO)

    def ask_of(user: int) -> list[int]:
        def read(after: int, _: int) -> list[tuple[int, bytes]]:
            if not after:
                anew.append(user)
            return [] if after else [(7, row)]

        return [one for batch in batches(near.find_nearest(user, [asked], read)) for one in batch]

    assert [ask_of(user) for user in (1, 2, 1, 3, 1, 2)] == [[7]] * 6
    assert anew == [1, 2, 3, 2]


def test_a_user_with_more_than_may_be_held_is_read_once_and_costs_the_others_nothing() -> None:
    asked = embed_normalised(lambda _: [1.0, 0.0], "")
    anew: list[int] = []
    near = Neighbourhoods(held_bytes=TWO)

    def ask_of(user: int, count: int) -> list[list[int]]:
        def read(after: int, _: int) -> list[tuple[int, bytes]]:
            if not after:
                anew.append(user)
            return [(number, pack_vector(asked)) for number in range(after + 1, count + 1)]

        return batches(near.find_nearest(user, [asked], read))

    assert [ask_of(1, 1), ask_of(2, 3), ask_of(2, 3), ask_of(1, 1)] == [[[1]], [], [], [[1]]]
    assert anew == [1, 2]


@pytest.mark.parametrize("made", [[], [float("nan")], [float("inf"), 1.0], [[1.0]], 1.0, None, "text", [1.0, None]])
def test_what_is_no_vector_is_refused_in_a_sentence(made: object) -> None:
    with pytest.raises(InputError, match="no vector of numbers but"):
        embed_normalised(lambda _: made, "Ana")  # pyright: ignore[reportArgumentType, reportReturnType]


@given(arrays.arrays(np.float32, 4, elements=st.floats(-1e6, 1e6, width=32)))
def test_a_vector_is_as_near_to_itself_as_can_be(made: Vector) -> None:
    vector = embed_normalised(lambda _: made, "")
    length = float(np.linalg.norm(vector))
    assert cosines_with(vector, [pack_vector(vector)]) == [pytest.approx(length * length, abs=5e-3)]
    assert length == pytest.approx(1.0, abs=1e-3) or not made.any()


# Which memories the words of a question propose: the rarest decide, and what is read is bounded whatever they are


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


async def test_the_words_of_another_user_find_nothing(store: Store) -> None:
    await filled(store, LINES)
    other = await store.resolve_place("other", "monday")
    assert await found(store, other, "common", "lake") == []
