"""The memory of an agent of one's own: add, search, list, get, update, delete, history, export, forget."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from harness import agent

from insula import InputError, Metacognition, NotFound

pytestmark = pytest.mark.anyio

SISTER = "My sister Mia lives in Lisbon."
NUT = "I am allergic to peanuts."


async def test_what_is_added_is_found_and_told_to_the_model() -> None:
    async with agent() as one:
        (number,) = await one.mind.add("ana", SISTER, session="import", metadata={"app": "notes"})
        found = await one.mind.search("ana", "Where does my sister live?")
        assert (found.answered, found.hits[0].memory.id, found.hits[0].bearing) == (True, number, "answers")
        assert (await one.mind.get("ana", number)).metadata == {"app": "notes"}
        assert "Lisbon" in (await one.ask("Where does my sister live?")).text


async def test_a_search_says_when_nothing_answers_and_what_comes_nearest() -> None:
    async with agent() as one:
        await one.mind.add("ana", [SISTER, NUT])
        found = await one.mind.search("ana", "boat engine")
        assert (found.level, found.answered, found.hits) == ("low", False, ())
        assert {hit.memory.content for hit in found.nearest} <= {SISTER, NUT}
        assert (await one.mind.search("nobody", "boat engine")).hits == ()


async def test_filters_hold_for_list_and_search_alike() -> None:
    async with agent() as one:
        await one.mind.add("ana", [{"content": SISTER, "at": "2025-01-01"}], session="old", metadata={"n": 1})
        await one.mind.add(
            "ana", [{"content": NUT, "at": "2025-06-01"}], session="new", metadata={"n": "1", "ok": True}
        )
        wanted: list[tuple[dict[str, Any], list[str]]] = [
            ({"session": "old"}, [SISTER]),
            ({"since": "2025-03-01"}, [NUT]),
            ({"metadata": {"n": 1}}, [SISTER]),
            ({"metadata": {"n": "1", "ok": True}}, [NUT]),
            ({"metadata": {"ok": False}}, []),
            ({}, [NUT, SISTER]),
        ]
        for filters, contents in wanted:
            assert [m.content for m in (await one.mind.list("ana", **filters)).memories] == contents, filters
            hits = (await one.mind.search("ana", "sister peanuts", **filters)).hits
            assert {hit.memory.content for hit in hits} == set(contents), filters


async def test_pages_hold_each_memory_once() -> None:
    async with agent() as one:
        await one.mind.add("ana", [f"I have visited town number {n}." for n in range(7)])
        page = await one.mind.list("ana", limit=3)
        seen = [memory.id for memory in page.memories]
        while page.next is not None:
            page = await one.mind.list("ana", before=page.next, limit=3)
            seen += [memory.id for memory in page.memories]
        assert len(seen) == 7
        assert seen == sorted(set(seen), reverse=True)


async def test_what_has_an_id_is_added_once_and_stays_erased() -> None:
    async with agent() as one:
        message = {"role": "user", "content": SISTER, "id": "m-1"}
        (number,) = await one.mind.add("ana", [message])
        assert len(await one.mind.add("ana", [message, {"content": NUT, "id": "m-2"}])) == 1
        await one.mind.delete("ana", number)
        assert await one.mind.add("ana", [message]) == ()
        assert await one.mind.add("ben", [message]) != ()


async def test_an_update_stands_in_the_history_and_a_deletion_leaves_no_word(tmp_path: Path) -> None:
    async with agent() as one:
        (number,) = await one.mind.add("ana", SISTER)
        assert (await one.mind.update("ana", number, "My sister Mia lives in Porto.")).content.endswith("Porto.")
        assert [change.why for change in await one.mind.history("ana", number)] == ["corrected"]
        assert await one.mind.export("ana", tmp_path / "ana.jsonl") > 0
        assert "Porto" in (tmp_path / "ana.jsonl").read_text()
        assert (await one.mind.delete("ana", number)).memories == (number,)
        assert (await one.mind.list("ana")).memories == ()
        assert (await one.mind.get("ana", number)).content == ""


async def test_forgetting_takes_what_is_wanted_or_everything() -> None:
    async with agent() as one:
        await one.mind.add("ana", SISTER, session="one")
        await one.mind.add("ana", NUT, session="two")
        await one.mind.add("ben", NUT)
        await one.mind.forget("ana", session="one")
        assert [m.content for m in (await one.mind.list("ana")).memories] == [NUT]
        await one.mind.forget("ana")
        assert (await one.mind.list("ana")).memories == ()
        assert len((await one.mind.list("ben")).memories) == 1
        with pytest.raises(NotFound):
            await one.mind.forget("ana")


async def test_no_verb_reaches_the_memory_of_another_user() -> None:
    async with agent() as one:
        (number,) = await one.mind.add("ana", SISTER)
        await one.mind.add("ben", NUT)
        for verb in (one.mind.get, one.mind.delete, one.mind.history):
            with pytest.raises(NotFound, match=f"There is no memory {number} of 'ben'"):
                await verb("ben", number)
        with pytest.raises(NotFound):
            await one.mind.update("ben", number, "Mine now.")
        assert "Lisbon" not in repr(await one.mind.search("ben", "Where does my sister live?"))


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"since": "yesterdayish"}, "'yesterdayish' is no date"),
        ({"colour": "red"}, "There is no filter 'colour'"),
        ({"kind": "fact"}, "There is no kind of memory 'fact'"),
        ({"session": 5}, "The session 5 is no name"),
        ({"metadata": "x"}, "is no mapping"),
        ({"metadata": {"a": [1]}}, "'a' cannot be kept"),
        ({"limit": 100_000}, "The limit 100000 cannot be used"),
    ],
)
async def test_what_cannot_be_used_is_said_in_a_sentence(filters: dict[str, Any], said: str) -> None:
    async with agent() as one:
        with pytest.raises(InputError, match=said):
            await one.mind.list("ana", **filters)
        with pytest.raises(InputError, match=said):
            await one.mind.search("ana", "Lisbon", **filters)


async def test_a_name_that_is_no_text_raises_at_once() -> None:
    async with agent() as one:
        wrong: Any = 5
        with pytest.raises(InputError, match="The session 5 is no text"):
            one.mind.turn("ana", wrong, "Hello")
        assert await one.mind.add("Zoë 🎻", NUT)


async def test_a_turn_says_what_it_learned_and_what_its_answer_rests_on() -> None:
    async with agent() as one:
        async with one.mind.turn("ana", "a", SISTER, metadata={"channel": "mail"}) as turn:
            saved = turn.finish("Noted.").saved
        async with one.mind.turn("ana", "b", "Where does my sister live?") as turn:
            result = turn.finish("Your sister Mia lives in Lisbon.")
        assert saved == (SISTER,)
        assert [memory.content for memory in result.sources] == [SISTER]
        told = await one.mind.list("ana", metadata={"channel": "mail"})
        assert SISTER in [memory.content for memory in told.memories]


async def test_a_streamed_answer_is_assessed_when_it_is_whole() -> None:
    async def pieces() -> AsyncIterator[str]:
        for piece in ("In ", "Lisbon."):
            yield piece

    async with agent() as one, one.mind.turn("ana", "s", "Where is the castle?") as turn:
        shown = [piece async for piece in turn.stream(pieces())]
        assert turn.result is not None
        assert (shown, turn.result.response) == (["In ", "Lisbon."], "In Lisbon.")


def test_the_same_without_await(tmp_path: Path) -> None:
    with Metacognition.sync(tmp_path / "insula.db", embed=None) as mind:
        (number,) = mind.add("ana", SISTER)
        assert mind.search("ana", "Lisbon").hits[0].memory.id == number
        assert mind.list("ana").memories == (mind.get("ana", number),)
        assert mind.delete("ana", number).memories == (number,)
