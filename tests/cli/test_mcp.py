"""The tools of the Model Context Protocol, line by line."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from insula.cli.mcp import TOOLS, answered
from insula.metacognition import Metacognition
from insula.testing import memory_store

pytestmark = pytest.mark.anyio


@pytest.fixture
async def mind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncGenerator[Metacognition]:
    monkeypatch.setenv("INSULA_HOME", str(tmp_path))
    async with memory_store() as store:
        yield Metacognition(store, embed=None)


async def ask(mind: Metacognition, method: str, **params: Any) -> Any:
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    answer = await answered(mind, "ana", line)
    assert answer is not None
    assert answer["id"] == 7
    return answer.get("result", answer.get("error"))


async def use(mind: Metacognition, name: str, **arguments: Any) -> tuple[str, bool]:
    result = await ask(mind, "tools/call", name=name, arguments=arguments)
    return result["content"][0]["text"], result["isError"]


@pytest.mark.parametrize(("asked", "told"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")])
async def test_a_client_is_answered_in_the_version_that_it_speaks(mind: Metacognition, asked: str, told: str) -> None:
    assert (await ask(mind, "initialize", protocolVersion=asked))["protocolVersion"] == told
    assert await answered(mind, "ana", '{"jsonrpc": "2.0", "method": "notifications/initialized"}') is None
    assert await ask(mind, "ping") == {}


async def test_each_tool_says_what_it_takes(mind: Metacognition) -> None:
    listed = (await ask(mind, "tools/list"))["tools"]
    assert [tool["name"] for tool in listed] == list(TOOLS)
    assert all(tool["inputSchema"]["type"] == "object" for tool in listed)


async def test_memory_is_looked_up_and_nothing_is_written(mind: Metacognition) -> None:
    await mind.observe("ana", "s", "My sister lives in Lisbon.")
    told, failed = await use(mind, "memory_look_up", query="Where does my sister live?")
    assert "My sister lives in Lisbon." in told
    assert not failed
    assert (await mind.look_up("ana", "mcp", "Hello")).history == ()
    assert (await use(mind, "memory_look_up", query="Which wine do I like?"))[1] is False


async def test_an_outcome_is_remembered_as_a_report_of_the_agent_s(mind: Metacognition) -> None:
    told, failed = await use(mind, "record_outcome", what="Building the image with podman.", outcome="failed")
    assert (told.startswith("Noted as memory"), failed) == (True, False)
    told, _ = await use(mind, "memory_look_up", query="Does building the image with podman work?")
    assert "coding agent said: Building the image with podman: failed." in told


@pytest.mark.parametrize("name", ["lessons", "rules", "worth"])
async def test_what_was_learned_can_be_read_before_anything_was(mind: Metacognition, name: str) -> None:
    text, failed = await use(mind, name)
    assert (bool(text), failed) == (True, False)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nothing", {}),
        ("memory_look_up", {}),
        ("memory_look_up", {"query": 5}),
        ("record_outcome", {"what": "x", "outcome": "maybe"}),
    ],
)
async def test_what_cannot_be_done_is_said_to_the_model(mind: Metacognition, name: str, arguments: Any) -> None:
    text, failed = await use(mind, name, **arguments)
    assert failed
    assert "; " in text


@pytest.mark.parametrize(
    ("line", "code"),
    [("no JSON", -32700), ("5", -32600), ("{}", -32600), ('{"id": 1, "method": "resources/list"}', -32601)],
)
async def test_a_line_that_is_no_request_gets_an_error(mind: Metacognition, line: str, code: int) -> None:
    answer = await answered(mind, "ana", line)
    assert answer is not None
    assert answer["error"]["code"] == code
