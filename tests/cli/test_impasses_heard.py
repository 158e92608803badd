"""An impasse reaches the next request, the ledger and the night from the commands that people use (K5)."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from insula.agent.chat import Chat
from insula.cli.common import DATABASE
from insula.cli.main import main
from insula.coding.step import trace
from insula.integrations.guest import Guest
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.testing import ScriptedModel, memory_store

ASKED = "Why does the login test of the billing service hang?"
UNSOLVED = f"came to no answer: {ASKED}"
NOISE = "[insula] The command has failed in 10 turns. Stop and turn to the user."


def calls(count: int) -> list[dict[str, Any]]:
    """What an agent sends after so many calls that all failed alike."""
    sent: list[dict[str, Any]] = [{"role": "user", "content": ASKED}]
    for number in range(count):
        asked = {"id": f"c{number}", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "pytest"}'}}
        sent.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        sent.append({"role": "tool", "tool_call_id": f"c{number}", "content": "Error: the login test timed out"})
    return sent


@pytest.mark.anyio
async def test_the_top_of_the_ladder_in_a_framework_reaches_the_next_request_the_ledger_and_the_night() -> None:
    async with memory_store() as store:
        mind = Metacognition(store, embed=None, holdout=0.0)
        for session in ("monday", "tuesday"):
            guest = Guest(mind, user="me", session=session)
            told = [await guest.before_model(calls(number)) for number in range(1, 16)]
            assert [one for one in told if one.turn is not None]
            await guest.after_model(told[-1], "I could not find out why the login test hangs.")
        place = await store.resolve_place("me", "tuesday")
        kinds = [one.kind for one in await store.sessions.read_ledger(place)]
        assert kinds.count("meta:impasse") == 1
        model = ScriptedModel(["Hello!", "You're welcome!"])
        chat = Chat(mind, model)
        await chat.reply("me", "evening", "Hello")
        await chat.reply("me", "evening", "Thanks!")
        assert UNSOLVED in model.requests[0].prompt
        assert UNSOLVED not in model.requests[1].prompt
        await mind.sleep("me", force=True)
        lessons = await store.guidance.list_lessons(place.user_id)
    assert any({"login", "bill"} & set(lesson.trigger) for lesson in lessons)


def write(home: Path, session: str, records: Sequence[dict[str, Any]]) -> None:
    trace.append_records(trace.get_folder(str(home), session), *records)


def test_what_the_hook_came_to_is_on_the_ledger_of_the_night_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INSULA_EMBED", "none")
    asked = {"e": "user", "at": 1.0, "kind": "prompt", "words": ASKED}
    write(home, "one", [asked, {"e": "text", "at": 2.0, "rung": 4, "text": NOISE}])
    write(home, "two", [asked, {"e": "text", "at": 2.0, "rung": 3, "text": NOISE}])
    write(home, "three", [asked, {"e": "text", "at": 2.0, "rung": 4, "text": NOISE, "withheld": True}])
    for _ in range(2):
        monkeypatch.setattr("sys.argv", ["insula", "sleep", "--force", "--model", "test"])
        with pytest.raises(SystemExit):
            main()
    capsys.readouterr()
    noted = asyncio.run(_impasses(home))
    assert [reason for reason, _ in noted] == [NOISE]
    assert UNSOLVED in noted[0][1]


async def _impasses(home: Path) -> list[tuple[str, str]]:
    model = ScriptedModel(["Hello!"])
    async with await Store.open(home / DATABASE) as store:
        place = await store.resolve_place("me", "morning")
        found = await store.sessions.read_ledger(place, kinds=["meta:impasse"], session_only=False)
        await Chat(Metacognition(store, holdout=0.0, embed=None), model).reply("me", "morning", "Hello")
    return [(one.reason, model.requests[-1].prompt) for one in found]
