"""What stands for a memory in the space of meanings, and that what is to come is made, whatever happens meanwhile."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from insula import Controls, InputError, Metacognition
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.schema import memories, statements
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Vector, embed_normalised
from insula.metacognition.reading import make_vectors, memory_text, question_text
from insula.testing import memory_store
from insula.text.analysis import analyse_text

pytestmark = pytest.mark.anyio
ALL = Controls(stm_capacity=1_000)
LINES = [(f"Line {number} is here.", "Fine.") for number in range(30)]
SECRET = "ghp_" + "a1B2c3D4" * 5


def bag(text: str) -> list[float]:
    """The letters of a text, so that what is near in words is near."""
    return [0.1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]


class Kept:
    """An embedding that remembers what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> list[float]:
        self.texts.append(text)
        return bag(text)


async def vectors(store: Store) -> list[bytes | None]:
    """The vectors of all memories, in their order."""

    def work(connection: sa.Connection) -> list[bytes | None]:
        return list(connection.execute(sa.select(memories.c.vector).order_by(memories.c.id)).scalars())

    return await store.run(work)


async def talk(metacognition: Metacognition, *lines: tuple[str, str], session: str = "monday") -> None:
    for message, response in lines:
        async with metacognition.turn("ana", session, message) as turn:
            turn.finish(response)
        assert turn.troubles == []


@pytest.mark.parametrize(
    ("before", "content", "text"),
    [
        ("", "In May.", "In May."),
        ("When did you move to Lisbon?", "In May.", "When did you move to Lisbon? In May."),
        ("x" * 300, "In May.", "x" * 200 + " In May."),
        ("When?", "", ""),
        ("", "word " * 1_000, ("word " * 200).strip()),
        ("My key is [REDACTED:token]. Call me.", "Fine.", "Call me. Fine."),
        ("Fine.", "My key is [REDACTED:token].", ""),
    ],
)
def test_a_memory_means_its_turn_with_the_end_of_the_one_before(before: str, content: str, text: str) -> None:
    assert memory_text(before, content) == text


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("Where does Caroline live?", "Where does I live?"),
        ("What is Melanie's job? Does Caroline know?", "What is I's job? Does I know?"),
        ("Where does my sister Ana live?", "Where does my sister Ana live?"),
        ("Where do I live?", "Where do I live?"),
        ("", ""),
    ],
)
def test_a_question_about_somebody_who_talks_here_is_put_as_they_would(asked: str, text: str) -> None:
    assert question_text(analyse_text(asked), ["Caroline", "Melanie Ray", "user", "assistant"]) == text


async def test_a_turn_embeds_the_question_alone_and_remembers_each_side_with_what_it_replies_to(store: Store) -> None:
    kept = Kept()
    metacognition = Metacognition(store, embed=kept)
    await talk(metacognition, ("Hello.", "Where do you live?"), ("In Lisbon.", "Since when?"))
    expected = [
        "Hello.",
        "Hello. Where do you live?",
        "In Lisbon.",
        "Where do you live? In Lisbon.",
        "In Lisbon. Since when?",
    ]
    await settled(metacognition)
    assert [text for text in kept.texts if text != "I"] == expected


async def test_what_people_talk_of_themselves_is_found_by_a_question_that_names_them(store: Store) -> None:
    kept = Kept()
    metacognition = Metacognition(store, embed=kept)
    await metacognition.observe("ana", "monday", "I moved to Lisbon.", speaker="Caroline", listener="Mel")
    async with metacognition.turn("ana", "tuesday", "When did Caroline move?"):
        pass
    assert "When did I move?" in kept.texts
    await metacognition.engine.backlog.stop_tasks()


async def settled(metacognition: Metacognition) -> None:
    """Wait for what is made in the background."""
    for task in metacognition.engine.backlog.tasks:
        await task


async def test_the_vectors_of_an_older_store_are_made_beside_the_turns_and_it_answers_meanwhile(store: Store) -> None:
    await talk(Metacognition(store, embed=None, controls=ALL), *LINES)
    assert set(await vectors(store)) == {None}
    metacognition = Metacognition(store, embed=bag)
    await talk(metacognition, ("Where is line 7?", "There."), session="tuesday")
    await settled(metacognition)
    assert None not in await vectors(store)
    async with metacognition.turn("ana", "wednesday", "Where is line 7?") as turn:
        pass
    assert all(one.parts["cosine"] > 0 for one in turn.recalled)


async def test_what_is_made_anew_is_what_a_turn_would_have_made(store: Store) -> None:
    lines = [("Hello there.", "Where do you live?"), ("In Lisbon.", f"My key is {SECRET}."), ("Good.", "Fine.")]
    metacognition = Metacognition(store, embed=bag)
    await talk(metacognition, *lines)
    await settled(metacognition)
    place = await store.resolve_place("ana", "monday")
    assert await make_vectors(store, place.user_id, bag) == 1
    at_once = await vectors(store)
    await store.run(lambda connection: connection.execute(sa.update(memories).values(vector=None)))
    assert await make_vectors(store, place.user_id, bag) == 6
    assert await vectors(store) == at_once
    assert b"" in at_once


async def test_it_goes_on_where_it_was_stopped(store: Store) -> None:
    await talk(Metacognition(store, embed=None, controls=ALL), *LINES)
    place = await store.resolve_place("ana", "monday")
    asked = Kept()

    def broken(text: str) -> list[float]:
        if len(asked.texts) > 25:
            raise InputError("The power is gone; switch it on.")
        return asked(text)

    with pytest.raises(InputError, match="power"):
        await make_vectors(store, place.user_id, broken)
    left = (await vectors(store)).count(None)
    assert 0 < left < 60
    asked.texts.clear()
    assert await make_vectors(store, place.user_id, asked) == left
    assert len(asked.texts) <= 1 + left + left // 2, "and what each other line states"
    assert await make_vectors(store, place.user_id, asked) == 0


async def test_erasing_a_turn_takes_its_end_out_of_the_vector_of_the_next(store: Store) -> None:
    metacognition = Metacognition(store, embed=bag)
    await talk(metacognition, ("Zanzibar.", "Fine."), ("I like it.", "Good."))
    place = await store.resolve_place("ana", "monday")
    first = (await store.memories.list_memories("ana"))[-1]
    before = await vectors(store)
    assert await store.memories.erase_memories(place.user_id, first.id)
    assert (await vectors(store))[1] is None
    await make_vectors(store, place.user_id, bag)
    after = await vectors(store)
    assert after[1] not in (None, before[1])
    assert after[2:] == before[2:]
    await metacognition.engine.backlog.stop_tasks()


async def test_what_changed_while_its_vector_was_made_gets_no_vector_of_what_it_was(store: Store) -> None:
    await talk(Metacognition(store, embed=None), ("Zanzibar.", "Fine."))
    place = await store.resolve_place("ana", "monday")
    first = (await store.memories.list_memories("ana"))[-1]
    loop = asyncio.get_running_loop()

    def embed(text: str) -> list[float]:
        if "Zanzibar" in text:
            asyncio.run_coroutine_threadsafe(store.memories.erase_memories(place.user_id, first.id), loop).result()
        return bag(text)

    await make_vectors(store, place.user_id, embed)
    alone = bytes((await vectors(store))[1] or b"")
    await store.run(lambda connection: connection.execute(sa.update(memories).values(vector=None)))
    await make_vectors(store, place.user_id, bag)
    assert (await vectors(store)) == [None, alone]


async def test_another_embedding_makes_all_anew(store: Store) -> None:
    def shorter(text: str) -> list[float]:
        return bag(text)[:8]

    metacognition = Metacognition(store, embed=bag)
    await talk(metacognition, ("Zanzibar.", "Fine."))
    await settled(metacognition)
    metacognition = Metacognition(store, embed=shorter)
    await talk(metacognition, ("Lisbon.", "Fine."))
    await settled(metacognition)
    assert {len(one or b"") for one in await vectors(store)} == {16}


async def stated(store: Store) -> list[bytes | None]:
    """The vectors of all statements, in their order."""

    def work(connection: sa.Connection) -> list[bytes | None]:
        return list(connection.execute(sa.select(statements.c.vector).order_by(statements.c.id)).scalars())

    return await store.run(work)


async def test_before_the_model_is_asked_nothing_is_read_that_only_the_next_turn_needs(store: Store) -> None:
    kept, may = Kept(), threading.Event()

    def embed(text: str) -> list[float]:
        if text.startswith("Hello."):
            assert may.wait(60)
        return kept(text)

    metacognition = Metacognition(store, embed=embed)
    await talk(metacognition, ("Good.", "Hello."))
    turn = await metacognition.begin("ana", "monday", "I live in Porto, with my sister Ana.")
    before, missing = [*kept.texts], [*await vectors(store), *await stated(store)].count(None)
    may.set()
    assert before[-1] == turn.message, "what means it together with the line before is to come"
    assert missing > 1
    await metacognition.finish(turn, "Fine.")
    assert turn.troubles == []
    assert None not in await vectors(store)
    assert None not in await stated(store)
    await metacognition.close()


async def test_of_another_embedding_nothing_is_said_to_be_untold_though_its_vectors_are_as_long(store: Store) -> None:
    for embed, says in ((embed_text, True), (partial(embed_text), False)):
        mind = Metacognition(store, holdout=0.0, embed=embed)
        async with mind.turn("ana", f"says {says}", "What is my blood type?") as turn:
            turn.finish("I don't know.")
        assert ("has not told you" in f"{turn.instructions}{turn.prompt}") == says


async def test_what_a_killed_process_did_not_read_is_made_up_for_with_what_it_states(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "one.db") as store:
        await talk(Metacognition(store, embed=None), ("I live in Porto.", "Fine."))
        assert {*await vectors(store), *await stated(store)} == {None}
        again = Metacognition(store, embed=bag)
        await talk(again, ("Hello.", "Hello."), session="tuesday")
        await settled(again)
        assert None not in await vectors(store)
        assert None not in await stated(store)


async def test_an_embedding_that_fails_in_the_background_is_logged_and_harms_nothing(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def embed(text: str) -> list[float]:
        return [] if "Lisbon" in text else bag(text)

    await talk(Metacognition(store, embed=None), ("I live in Lisbon.", "Fine."))
    metacognition = Metacognition(store, embed=embed)
    await talk(metacognition, ("Hello.", "Hello."), session="tuesday")
    await settled(metacognition)
    assert "The vectors and statements of older memories could not be made" in caplog.text


@pytest.mark.parametrize("close", [True, False])
async def test_a_process_that_ends_while_vectors_are_made_ends_quietly(tmp_path: Path, close: bool) -> None:
    async with await Metacognition.open(tmp_path / "one.db", embed=None, controls=ALL) as metacognition:
        await talk(metacognition, *LINES)
    metacognition = await Metacognition.open(tmp_path / "one.db", embed=bag)
    await talk(metacognition, ("Hello.", "Hello."), session="tuesday")
    ends: Callable[[], object] = metacognition.close if close else metacognition.engine.backlog.stop_tasks
    await ends()  # pyright: ignore[reportGeneralTypeIssues]
    if not close:
        await metacognition.close()
    async with await Metacognition.open(tmp_path / "one.db", embed=bag) as again:
        await talk(again, ("Hello.", "Hello."), session="wednesday")
        await settled(again)
        assert None not in await vectors(again.store)


THINGS = "piano,tractor,kiosk,canoe,beehive,telescope,loom,bakery,greenhouse,motorbike,parrot,cello,kiln,sauna,drone"


async def test_lines_are_looked_for_where_the_answer_to_a_question_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"My {whose} {thing} is at home." for thing in THINGS.split(",") for whose in ("aunt's", "own", "new")]
    vectors = {line: embed_normalised(embed_text, line) for line in lines}
    first = lines[0]
    far = min(lines, key=lambda line: float(vectors[first] @ vectors[line]))

    def look_towards(line: str) -> Callable[[Vector], Vector]:
        return lambda _: vectors[line]

    monkeypatch.setattr("insula.memory.storage.store.limit_direction", look_towards(first))
    async with memory_store() as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        for line in lines:
            async with mind.turn("me", "told", line) as turn:
                turn.finish("All right.")
        for line in (first, far):
            monkeypatch.setattr("insula.memory.storage.store.answering_direction", look_towards(line))
            async with mind.turn("me", f"asked {line}", "What was it again?") as turn:
                assert (far in [recalled.memory.content for recalled in turn.recalled]) is (line == far)
