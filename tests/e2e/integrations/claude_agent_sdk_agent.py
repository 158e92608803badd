"""A real agent of the Claude Agent SDK with Insula's hooks in its process, against a model that plays a script."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Any

import pytest
import stories
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, query

from agent_steps import ReadStep
from insula.coding.hosts.live import CLIENTS, QUESTION, script_errors
from insula.coding.step.wording import SIGN
from insula.integrations.claude_agent_sdk import hooks
from insula.llm.fake_agents import FakeModel, ShellStep
from insula.metacognition import Blocking

WAYS = ("query", "client")
NOWHERE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
"""The client reaches its model alone."""
CACHED = ', "cache_control": {"type": "ephemeral"}'
"""How the client marks what it wants cached; it moves from message to message."""


class SlowModel(FakeModel):
    """Takes as long as a model does: calls that follow each other at once are of one turn."""

    def reply_to(self, api: Any, body: Any) -> Any:
        time.sleep(0.4)
        return super().reply_to(api, body)


class Agent:
    """An agent in a home and a project of its own."""

    def __init__(self, folder: Path, mind: Blocking, **options: Any) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.hooks: Any = hooks(mind, user="me", home=folder / "insula", **options)

    def say(self, model: FakeModel, words: str, way: str = "query") -> str:
        """The agent's last words."""
        options = self.options(model)
        messages = asyncio.run(_queried(words, options) if way == "query" else _asked([words], options))
        return str(next(one.result for one in reversed(messages) if hasattr(one, "result")))

    def chat(self, model: FakeModel, lines: Sequence[str]) -> None:
        """A conversation in one session."""
        asyncio.run(_asked(lines, self.options(model)))

    def options(self, model: FakeModel) -> ClaudeAgentOptions:
        """How the client is run."""
        given = {name: Template(value).substitute(url=model.url) for name, value in CLIENTS["claude-code"].env.items()}
        return ClaudeAgentOptions(
            hooks=self.hooks,
            allowed_tools=["Bash", "Read"],
            model="claude-sonnet-4-5",
            permission_mode="acceptEdits",
            setting_sources=["user"],
            cwd=self.project,
            env={**given, **NOWHERE, "NO_PROXY": "127.0.0.1", "HOME": str(self.home)},
        )


async def _queried(words: str, options: ClaudeAgentOptions) -> list[Any]:
    return [one async for one in query(prompt=words, options=options)]


async def _asked(lines: Sequence[str], options: ClaudeAgentOptions) -> list[Any]:
    heard: list[Any] = []
    async with ClaudeSDKClient(options) as client:
        for words in lines:
            await client.query(words)
            heard += [one async for one in client.receive_response()]
    return heard


@pytest.fixture
def heard(mind: Blocking, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")
    heard: list[Any] = []
    mind.subscribe(heard.append)
    yield heard


def test_what_memory_holds_stands_behind_the_question_and_the_last_words_are_assessed(
    mind: Blocking, tmp_path: Path, way: str, heard: list[Any]
) -> None:
    mind.observe("me", "before", stories.FACT)
    with FakeModel([]) as model:
        said = Agent(tmp_path, mind).say(model, stories.QUESTION, way)
    assert said == "All steps are done."
    assert stories.FACT in model.request_texts()[0]
    assert stories.TOLD_BEFORE in model.request_texts()[0]
    assert "meta:turn" in {signal.kind for signal in heard}


def test_similar_errors_bring_one_note_behind_the_result(mind: Blocking, tmp_path: Path, heard: list[Any]) -> None:
    with SlowModel(script_errors(5)) as model:
        Agent(tmp_path, mind).say(model, "Look at the files.")
    assert [text.count(QUESTION) for text in model.request_texts()] == [0, 0, 0, 1, 1, 1]
    assert heard


def test_a_healthy_run_with_parallel_calls_is_told_nothing(mind: Blocking, tmp_path: Path, heard: list[Any]) -> None:
    agent = Agent(tmp_path, mind)
    files = [agent.project / f"{number}.txt" for number in range(4)]
    for file in files:
        file.write_text(file.name)
    with FakeModel([[ReadStep(str(file)) for file in files], ShellStep("echo fine")]) as model:
        assert agent.say(model, "Look at the files.") == "All steps are done."
    assert not any(SIGN in text for text in model.request_texts())
    assert len(heard) == 1


def test_over_ten_turns_four_fifths_of_what_is_sent_was_sent_before(mind: Blocking, tmp_path: Path) -> None:
    with FakeModel([]) as model:
        Agent(tmp_path, mind).chat(model, stories.CHAT)
    sent = [json.dumps([body["system"], body["messages"]]).replace(CACHED, "") for body in model.dialogue]
    shared = stories.shared(sent)
    sys.stderr.write(f"the Claude Agent SDK: {shared:.1%} of what is sent was sent before\n")
    assert len(sent) == len(stories.CHAT)
    assert shared >= 0.8


def test_an_exempt_tool_is_not_felt(mind: Blocking, tmp_path: Path, heard: list[Any]) -> None:
    with SlowModel(script_errors(5)) as model:
        Agent(tmp_path, mind, exempt={"Bash"}).say(model, "Look at the files.")
    assert not any(SIGN in text for text in model.request_texts())
    assert heard
