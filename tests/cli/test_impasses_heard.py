"""An impasse reaches the next request, the ledger and the night from the commands that people use (K5)."""

import asyncio
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from insula.agent.chat import Chat
from insula.cli import chat as command
from insula.cli.common import DATABASE
from insula.cli.main import main
from insula.integrations.guest import Guest
from insula.memory.store import Store
from insula.metacognition import Metacognition
from insula.step import trace
from insula.testing import FakeServer, ScriptedModel, memory_store

SPANISH = "El cielo es azul porque la luz se dispersa en la atmósfera de la Tierra."
ASKED = "Why does the login test of the billing service hang?"
UNSOLVED = f"came to no answer: {ASKED}"
NOISE = "[insula] The command has failed in 10 turns. Stop and turn to the user."


def test_two_poor_answers_in_a_chat_reach_its_next_request_and_its_ledger(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INSULA_EMBED", "none")
    lines = ["Why is the sky blue on a clear day?", "Why is the sky so blue on a clear day?", "And at night?"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    with FakeServer(answer=SPANISH) as server:
        command.run(model=f"{server.url}#m", user="me", session="s", resume=False, json=True)
        told = server.prompt(-1)
    signals = [[one["kind"] for one in json.loads(line)["signals"]] for line in capsys.readouterr().out.splitlines()]
    assert "meta:impasse" not in signals[0]
    assert "meta:impasse" in signals[1]
    assert "not in the user's language" in told
    assert "meta:impasse" in asyncio.run(_ledger(home, "me", "s"))


async def _ledger(home: Path, user: str, session: str) -> list[str]:
    async with await Store.open(home / DATABASE) as store:
        return [one.kind for one in await store.sessions.ledger(await store.place(user, session))]


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
            told = [await guest.ask(calls(number)) for number in range(1, 16)]
            assert [one for one in told if one.turn is not None]
            await guest.answer(told[-1], "I could not find out why the login test hangs.")
        place = await store.place("me", "tuesday")
        kinds = [one.kind for one in await store.sessions.ledger(place)]
        assert kinds.count("meta:impasse") == 1
        model = ScriptedModel(["Hello!", "You're welcome!"])
        chat = Chat(mind, model)
        await chat.reply("me", "evening", "Hello")
        await chat.reply("me", "evening", "Thanks!")
        assert UNSOLVED in model.requests[0].prompt
        assert UNSOLVED not in model.requests[1].prompt
        await mind.sleep("me", force=True)
        lessons = await store.guidance.lessons(place.user_id)
    assert any({"login", "bill"} & set(lesson.trigger) for lesson in lessons)


def write(home: Path, session: str, records: Sequence[dict[str, Any]]) -> None:
    trace.append(trace.folder(str(home), session), *records)


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
        place = await store.place("me", "morning")
        found = await store.sessions.ledger(place, kinds=["meta:impasse"], session_only=False)
        await Chat(Metacognition(store, holdout=0.0, embed=None), model).reply("me", "morning", "Hello")
    return [(one.reason, model.requests[-1].prompt) for one in found]
