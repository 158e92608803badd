"""An impasse reaches the next request, the ledger and the night from what people use (K5)."""

from pathlib import Path
from typing import Any

import pytest
from harness import ClaudeCode, agent, run_insula

from insula import Signal
from insula.integrations.guest import Guest
from insula.testing import FakeServer

ASKED = "Why does the login test of the billing service hang?"
UNSOLVED = f"came to no answer: {ASKED}"


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
    async with agent(embed=None) as ana:
        heard: list[Signal] = []
        ana.mind.subscribe(heard.append)
        for session in ("monday", "tuesday"):
            guest = Guest(ana.mind, user="ana", session=session)
            told = [await guest.before_model(calls(number)) for number in range(1, 16)]
            await guest.after_model(told[-1], "I could not find out why the login test hangs.")
        assert [one.session for one in heard if one.kind == "meta:impasse"] == ["monday", "tuesday"]
        assert UNSOLVED in (await ana.ask("Hello", session="evening")).text
        assert UNSOLVED not in (await ana.ask("Thanks!", session="evening")).text
        report = await ana.sleep()
        (found,) = (phase.found for phase in report.phases if phase.name == "mistakes")
    assert found


def test_what_the_hook_came_to_is_told_with_the_next_message_after_a_night_and_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSULA_EMBED", "none")
    monkeypatch.setenv("INSULA_HOLDOUT", "0")
    claude = ClaudeCode(home, tmp_path, "one")
    claude.start()
    claude.prompt(ASKED)
    for _ in range(14):
        claude.bash("pytest tests/login", "E   TimeoutError: the login test timed out", failed=True)
    for _ in range(2):
        assert run_insula("sleep", "--force", "--model", "test").status == 0
    with FakeServer(answer="Hello!") as model:
        run_insula("chat", "--model", f"{model.url}#fake", stdin="Hello\nThanks!\n")
        first, second = (str(request) for request in model.requests[-2:])
    assert first.count(UNSOLVED) == 1
    assert UNSOLVED not in second
