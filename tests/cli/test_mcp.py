"""The tools of the Model Context Protocol, line by line."""

import json
from typing import Any

import pytest
from harness import run_insula


def ask(method: str, **params: Any) -> Any:
    """What the server answers to one request; a notification before it has no answer."""
    said = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    (answer,) = run_insula("mcp", stdin=f"{json.dumps(said)}\n{json.dumps(request)}\n").lines
    assert answer["id"] == 7
    return answer["result"]


@pytest.mark.parametrize(("asked", "told"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")])
def test_a_client_is_answered_in_the_version_that_it_speaks(asked: str, told: str) -> None:
    assert ask("initialize", protocolVersion=asked)["protocolVersion"] == told


@pytest.mark.parametrize("name", ["lessons", "rules", "worth"])
def test_what_was_learned_can_be_read_before_anything_was(name: str) -> None:
    result = ask("tools/call", name=name, arguments={})
    assert (bool(result["content"][0]["text"]), result["isError"]) == (True, False)
