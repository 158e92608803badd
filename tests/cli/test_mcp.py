"""The tools of the Model Context Protocol, line by line."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from insula.cli.mcp import answer_line
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
    answer = await answer_line(mind, "ana", line)
    assert answer is not None
    assert answer["id"] == 7
    return answer.get("result", answer.get("error"))


async def use(mind: Metacognition, name: str, **arguments: Any) -> tuple[str, bool]:
    result = await ask(mind, "tools/call", name=name, arguments=arguments)
    return result["content"][0]["text"], result["isError"]


@pytest.mark.parametrize(("asked", "told"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")])
async def test_a_client_is_answered_in_the_version_that_it_speaks(mind: Metacognition, asked: str, told: str) -> None:
    assert (await ask(mind, "initialize", protocolVersion=asked))["protocolVersion"] == told
    assert await answer_line(mind, "ana", '{"jsonrpc": "2.0", "method": "notifications/initialized"}') is None
    assert await ask(mind, "ping") == {}


async def test_an_outcome_is_remembered_as_a_report_of_the_agent_s(mind: Metacognition) -> None:
    told, failed = await use(mind, "record_outcome", what="Building the image with podman.", outcome="failed")
    assert (told.startswith("Noted as memory"), failed) == (True, False)
    told, _ = await use(mind, "memory_look_up", query="Does building the image with podman work?")
    assert "coding agent said: Building the image with podman: failed." in told


@pytest.mark.parametrize("name", ["lessons", "rules", "worth"])
async def test_what_was_learned_can_be_read_before_anything_was(mind: Metacognition, name: str) -> None:
    text, failed = await use(mind, name)
    assert (bool(text), failed) == (True, False)
