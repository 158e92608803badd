"""The memory of an agent of one's own: add, search, list, get, update, delete, history, export, forget."""

import inspect
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from harness import agent

from insula import InputError, InsulaError, Metacognition, NotFound

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


async def test_pages_stay_in_step_while_memories_come_and_go() -> None:
    async with agent() as one:
        numbers = await one.mind.add("ana", [f"I have visited town number {n}." for n in range(9)])
        page = await one.mind.list("ana", limit=3)
        seen = [memory.id for memory in page.memories]
        await one.mind.add("ana", SISTER)  # newer than all that was seen
        await one.mind.delete("ana", numbers[6])  # seen: the place where the next page begins
        await one.mind.delete("ana", numbers[2])  # not seen yet
        while page.next is not None:
            page = await one.mind.list("ana", before=page.next, limit=3)
            seen += [memory.id for memory in page.memories]
        assert seen == [number for number in reversed(numbers) if number != numbers[2]]


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


async def test_forgetting_a_user_takes_their_soul_and_backups_and_no_other_file(tmp_path: Path) -> None:
    soul, other = tmp_path / "ana" / "SOUL.md", tmp_path / "ana" / "notes.txt"
    for file in (soul, other, soul.parent / "backups" / "20260105.jsonl"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
    async with await Metacognition.open(":memory:", soul=lambda user: tmp_path / user / "SOUL.md") as mind:
        await mind.add("ana", SISTER)
        await mind.forget("ana")
    assert [*soul.parent.iterdir()] == [other]


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
        ({"metadata": {5: "a"}}, "'5' is no name of metadata"),
        ({"limit": 100_000}, "The limit 100000 cannot be used"),
    ],
)
async def test_what_cannot_be_used_is_said_in_a_sentence(filters: dict[str, Any], said: str) -> None:
    async with agent() as one:
        with pytest.raises(InputError, match=said):
            await one.mind.list("ana", **filters)
        with pytest.raises(InputError, match=said):
            await one.mind.search("ana", "Lisbon", **filters)


WRONG: Sequence[tuple[str, Callable[[Any], object], str]] = (
    ("a session", lambda mind: mind.turn("ana", 5, "Hello"), "The session 5 is no text"),
    ("a user", lambda mind: mind.turn(None, "s", "Hello"), "The user None is no text"),
    ("a message", lambda mind: mind.turn("ana", "s", 5), "The message 5 is no text"),
    ("no message", lambda mind: mind.begin("ana", "s", None), "The message None is no text"),
    ("a turn", lambda mind: mind.finish("nonsense", "x"), "is no turn"),
    ("messages", lambda mind: mind.add("ana", 5), "holds no messages"),
    ("one message", lambda mind: mind.add("ana", [5]), "is no message"),
    ("a content", lambda mind: mind.add("ana", {"content": 5}), "The message 5 is no text"),
    ("an observation", lambda mind: mind.observe("ana", "s", 5), "The message 5 is no text"),
    ("a speaker", lambda mind: mind.observe("ana", "s", "Hello", speaker=5), "The speaker 5 is no text"),
    ("whose", lambda mind: mind.search(5, "x"), "The user 5 is no text"),
    ("a query", lambda mind: mind.search("ana", None), "The query None is no text"),
    ("a limit", lambda mind: mind.search("ana", "x", limit=-1), "The limit -1 cannot be used"),
    ("a page", lambda mind: mind.list("ana", before="x"), "before='x' is no number of a memory"),
    ("an id as text", lambda mind: mind.get("ana", "1"), "memory='1' is no number of a memory"),
    ("an id beyond all", lambda mind: mind.get("ana", 2**70), "is no number of a memory"),
    ("a truth value", lambda mind: mind.delete("ana", True), "memory=True is no number of a memory"),
    ("a half", lambda mind: mind.history("ana", 1.5), "memory=1.5 is no number of a memory"),
    ("new words", lambda mind: mind.update("ana", 1, 5), "The text 5 is no text"),
    ("a file", lambda mind: mind.export("ana", 5), "5 names no file"),
    ("whom", lambda mind: mind.forget(5), "The user 5 is no text"),
    ("a filter of nothing", lambda mind: mind.forget("ana", session=None), "so nothing is erased"),
    ("an empty filter", lambda mind: mind.forget("ana", session="", metadata={}), "so nothing is erased"),
    ("who sleeps", lambda mind: mind.sleep(5), "The user 5 is no text"),
    ("a model's name", lambda mind: mind.sleep("ana", model="gpt-5"), "'gpt-5' is no model"),
    ("no model", lambda mind: mind.understand("ana", model=None), "'None' is no model"),
    ("a problem", lambda mind: mind.solve(5, None), "The problem 5 is no text"),
    ("a subscriber", lambda mind: mind.subscribe(5), "subscriber='5' cannot be used"),
)


@pytest.mark.parametrize(("call", "said"), [pytest.param(*one[1:], id=one[0]) for one in WRONG])
async def test_a_wrong_type_raises_at_once_and_changes_nothing(call: Callable[[Any], Any], said: str) -> None:
    async with agent() as one:
        await one.mind.add("ana", SISTER)
        with pytest.raises(InputError, match=re.escape(said)) as raised:
            if inspect.isawaitable(waiting := call(one.mind)):
                await waiting
        assert str(raised.value).endswith(".")
        assert [memory.content for memory in (await one.mind.list("ana")).memories] == [SISTER]


OPTIONS: Mapping[str, Any] = {
    "embed": 5,
    "assess": "x",
    "holdout": 2,
    "identity": "Bob",
    "controls": {},
    "claims": "hedge",
    "clock": 5,
    "telemetry": 5,
    "path": "",
}


@pytest.mark.parametrize("name", OPTIONS)
async def test_a_wrong_option_is_named_when_it_is_opened(name: str) -> None:
    given: dict[str, Any] = {"path": ":memory:", name: OPTIONS[name]}
    with pytest.raises(InputError, match=r"; give .*\."):
        await Metacognition.open(**given)


async def test_a_turn_refuses_what_is_no_usage_and_a_stream_of_what_is_no_text() -> None:
    wrong: Any = {"calls": 1}
    pieces: list[Any] = [None, "In ", "Lisbon.", None]
    async with agent() as one, one.mind.turn("ana", "s", "Where is the castle?") as turn:
        with pytest.raises(InputError, match="give a Usage"):
            turn.finish("x", usage=wrong)
        with pytest.raises(InputError, match="is no stream"):
            turn.stream(cast(Any, 5))
        with pytest.raises(InputError, match="A piece of the stream is a dict"):
            list(turn.stream([wrong]))
        assert list(turn.stream(pieces)) == ["In ", "Lisbon."]
        assert turn.result is not None
        assert turn.result.response == "In Lisbon."


async def test_messages_without_text_are_passed_over() -> None:
    async with agent() as one:
        calls: dict[str, object] = {"role": "assistant", "content": None, "tool_calls": []}
        assert len(await one.mind.add("ana", [calls, SISTER, ""])) == 1


async def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    mind = await Metacognition.open(tmp_path / "insula.db", embed=None)
    await mind.close()
    await mind.close()
    for call in (lambda: mind.add("ana", NUT), lambda: mind.search("ana", "x"), lambda: mind.list("ana")):
        with pytest.raises(InsulaError, match="This memory is closed; open it again"):
            await call()
    with pytest.raises(InsulaError, match="This memory is closed; open it again"):
        mind.turn("ana", "s", "Hello")
    plain = Metacognition.sync(tmp_path / "insula.db", embed=None)
    plain.close()
    with pytest.raises(InsulaError, match="This memory is closed; open it again"):
        plain.list("ana")


def test_a_path_in_the_place_of_a_store_says_what_to_write() -> None:
    path: Any = "insula.db"
    with pytest.raises(InputError, match=r"await Metacognition\.open"):
        Metacognition(path)


async def test_a_name_with_emoji_is_a_name() -> None:
    async with agent() as one:
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
