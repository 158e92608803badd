"""The Agent SDK's callbacks answer as the hooks do, in the process, and break nothing whatever happens to them."""

import json
import sys
import threading
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from insula import Identity, InputError, Metacognition, Signal
from insula.integrations.claude_agent_sdk import EVENTS, MOST_RUNNING, THREADS, Callback, hook, hooks
from insula.testing import memory_store

pytestmark = pytest.mark.anyio
FIXTURE = Path(__file__).parent.parent / "fixtures" / "payloads" / "sdk.jsonl"


@dataclass
class HookMatcher:
    """What the SDK has by that name."""

    matcher: str | None = None
    hooks: list[Callback] = field(default_factory=list[Callback])
    timeout: float | None = None


@pytest.fixture(autouse=True)
def sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")
    fake = ModuleType("claude_agent_sdk")
    fake.__dict__["HookMatcher"] = HookMatcher
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", fake)


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line)["stdin"] for line in FIXTURE.read_text("utf-8").splitlines()]


def failing(number: int) -> dict[str, Any]:
    payload = next(p for p in recorded() if p["hook_event_name"] == "PostToolUseFailure")
    return payload | {"tool_use_id": f"toolu_{number}", "tool_input": {"command": "cat /nonexistent-dir"}}


async def tell(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What the SDK does with an event."""
    matchers: list[HookMatcher] = hooks().get(payload["hook_event_name"], [])
    answers = [await callback(payload, payload.get("tool_use_id"), None) for one in matchers for callback in one.hooks]
    return answers[0] if answers else {}


@pytest.fixture
async def mind() -> AsyncGenerator[Metacognition]:
    async with memory_store() as store:
        yield Metacognition(store, identity=Identity(name="Acme"), embed=None)


class Agent:
    """An agent of the SDK, as far as its callbacks see it."""

    def __init__(self, mind: Metacognition) -> None:
        self.made: dict[str, list[HookMatcher]] = hooks(mind, user="ana")

    async def fire(self, name: str, session: str = "s", **fields: object) -> str:
        """What the SDK puts before the model at an event."""
        payload = {"hook_event_name": name, "session_id": session, "cwd": "/project", **fields}
        told: list[str] = []
        for callback in self.made[name][0].hooks:
            answer = await callback(payload, None, None)
            told.append(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))
        return "\n".join(filter(None, told))

    async def ask(self, prompt: str, session: str = "s") -> str:
        return await self.fire("UserPromptSubmit", session, prompt=prompt)

    async def stop(self, said: str, session: str = "s") -> str:
        return await self.fire("Stop", session, last_assistant_message=said)


def failures(home: Path) -> list[str]:
    file = home / "failures.jsonl"
    return [json.loads(line)["kind"] for line in file.read_text().splitlines()] if file.exists() else []


async def test_similar_errors_bring_the_question_and_a_healthy_session_nothing(home: Path) -> None:
    assert [await tell(payload) for payload in recorded()] == [{}] * len(recorded())
    answers: list[dict[str, Any]] = []
    for number in range(4):
        answers += [answer for answer in [await tell(failing(number))] if answer]
        await anyio.sleep(0.4)  # no model answers faster
    told = [answer["hookSpecificOutput"].pop("additionalContext") for answer in answers]
    assert answers[0] == {"hookSpecificOutput": {"hookEventName": "PostToolUseFailure"}}
    assert told[0].startswith("[insula] `cat /nonexistent-dir`")
    assert not failures(home)


def test_each_event_has_a_matcher_for_all_tools() -> None:
    made: dict[str, list[HookMatcher]] = hooks()
    assert set(made) == set(EVENTS)
    assert all(one.matcher is None and one.timeout and one.timeout > hook.PATIENCE for (one,) in made.values())


async def test_a_failure_of_ours_is_counted_and_the_agent_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(hook, "respond", broken)
    assert await tell(failing(1)) == {}
    assert failures(home) == ["ZeroDivisionError"]


async def test_a_slow_disk_does_not_hold_the_agent_up(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def slow(*_: object) -> str:
        over.wait(30)
        return ""

    monkeypatch.setattr(hook, "respond", slow)
    monkeypatch.setattr(hook, "PATIENCE", 0.05)
    with anyio.fail_after(20):
        assert await tell(failing(1)) == {}
    over.set()


async def test_an_event_that_is_no_object_is_counted(home: Path) -> None:
    (matcher,) = hooks()["Stop"]
    payload: Any = 5
    assert await matcher.hooks[0](payload, None, None) == {}
    assert failures(home) == ["TypeError"]


async def test_where_no_thread_is_to_be_had_the_agent_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def none(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("anyio.to_thread.run_sync", none)
    assert await tell(failing(1)) == {}
    assert failures(home) == ["RuntimeError"]


async def test_a_disk_that_hangs_takes_none_of_the_agent_s_threads_and_few_of_ours(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging, begun, respond = threading.Event(), list[object](), hook.respond

    def hang(*given: object) -> str:
        begun.append(given)
        hanging.wait(60)
        return ""

    monkeypatch.setattr(hook, "respond", hang)
    monkeypatch.setattr(hook, "PATIENCE", 0.05)
    (matcher,) = hooks()["PostToolUseFailure"]
    free = anyio.to_thread.current_default_thread_limiter().available_tokens
    try:
        with anyio.fail_after(30):
            for number in range(3 * MOST_RUNNING):
                assert await matcher.hooks[0](failing(number), None, None) == {}
        assert anyio.to_thread.current_default_thread_limiter().available_tokens == free
        assert THREADS <= len(begun) <= MOST_RUNNING
        await anyio.sleep(0.1)  # the last one is late, too
    finally:
        hanging.set()
    with anyio.fail_after(30):
        while len(failures(home)) < len(begun):
            await anyio.sleep(0.01)
    assert set(failures(home)) == {"TimeoutError"}, "an answer for which nobody waits any more is a failure"
    monkeypatch.setattr(hook, "PATIENCE", 30)
    monkeypatch.setattr(hook, "respond", respond)
    assert await matcher.hooks[0](failing(0), None, None) == {}, "it is well again"
    assert list(home.glob("sessions/*/trace.jsonl"))


async def test_parallel_events_lose_no_action(home: Path) -> None:
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(tell, failing(number))
    (trace,) = home.glob("sessions/*/trace.jsonl")
    assert len(trace.read_text().splitlines()) >= 20


async def test_switched_off_it_does_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_OFF", "1")
    assert [await tell(failing(number)) for number in range(5)] == [{}] * 5
    assert not (home / "sessions").exists()


async def test_what_the_user_said_in_one_session_is_told_in_the_next_with_how_sure_memory_is(
    mind: Metacognition,
) -> None:
    agent = Agent(mind)
    await agent.ask("I live in Lisbon, near the river.", "monday")
    await agent.stop("Noted.", "monday")
    told = await agent.ask("Where do I live?", "tuesday")
    assert "I live in Lisbon, near the river." in told
    async with mind.turn("ana", "wednesday", "Where do I live?") as turn:
        assert turn.instructions_now == told.removeprefix("You are Acme.\n\n")


async def test_what_stays_the_same_is_told_once_and_again_after_the_conversation_was_compacted(
    mind: Metacognition,
) -> None:
    agent = Agent(mind)
    told = [await agent.ask("Hello") for _ in range(2)]
    await agent.fire("PreCompact", trigger="auto")
    told += [await agent.ask("Hello") for _ in range(2)]
    assert ["You are Acme." in text for text in told] == [True, False, True, False]


async def test_the_last_words_of_the_agent_are_assessed_once_for_each_message(mind: Metacognition) -> None:
    heard: list[Signal] = []
    mind.subscribe(heard.append)
    agent = Agent(mind)
    for _ in range(2):  # the same words twice are two turns
        await agent.ask("Why does the build fail?", "s")
        await agent.stop("I don't know why the build fails.", "s")
        await agent.stop("I don't know why the build fails.", "s")  # another hook kept the agent from stopping
    assert [(one.user, one.session) for one in heard] == [("ana", "s")] * len(heard)
    assert len(heard) == len({(one.kind, one.turn) for one in heard})
    assert len({one.turn for one in heard}) == 2


async def test_a_memory_that_fails_changes_nothing_for_the_agent(mind: Metacognition) -> None:
    agent = Agent(mind)
    await mind.store.close()
    assert await agent.ask("Where do I live?") in {"", "You are Acme."}
    assert await agent.stop("In Lisbon.") == ""
    for callback in agent.made["Stop"][0].hooks:
        odd: Any = 5
        assert await callback(odd, None, None) == {}


async def test_an_exempt_tool_is_not_felt(home: Path) -> None:
    made: dict[str, list[HookMatcher]] = hooks(exempt={"Bash"})
    (callback,) = made["PostToolUseFailure"][0].hooks
    assert [await callback(failing(number), None, None) for number in range(5)] == [{}] * 5
    assert not (home / "sessions").exists()


def test_what_is_no_mind_is_refused_when_the_agent_is_built() -> None:
    nothing: Any = Path("insula.db")
    with pytest.raises(InputError, match="no Metacognition"):
        hooks(nothing)


async def test_what_the_user_ruled_out_is_told_to_the_model_and_refuses_no_call() -> None:
    about = {"session_id": "word", "cwd": "/tmp", "transcript_path": ""}
    await tell({**about, "hook_event_name": "UserPromptSubmit", "prompt": "Don't touch vendor/."})
    edit = {"tool_name": "Edit", "tool_input": {"file_path": "/tmp/vendor/a.py", "old_string": "a", "new_string": "b"}}
    call = {"hook_event_name": "PreToolUse", "tool_use_id": "t", "permission_mode": "default", **edit}
    told = (await tell({**about, **call}))["hookSpecificOutput"]
    assert "Don't touch vendor/." in told["additionalContext"]
    assert "permissionDecision" not in told
