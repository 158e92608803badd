"""`insula mcp`: memory, lessons, rules and worth as tools of the Model Context Protocol, over standard input.

One JSON-RPC message a line. Nothing is asked of a model, and nothing but `record_outcome` writes.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from insula import __version__
from insula.claims import say_claim
from insula.cli.common import memory_of
from insula.cli.options import User
from insula.cli.rules import rules_here
from insula.coding.hosts.places import find_home
from insula.coding.replay.worth import measure_worth
from insula.errors import InputError, InsulaError
from insula.memory.retrieval import embedding
from insula.metacognition import Metacognition
from insula.settings import load_settings
from insula.turn.confidence import is_evidence
from insula.turn.instructions import WORTH_SHOWING, render_memory
from insula.types import Recalled
from insula.value import is_object

VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, the latest first; what a client asks for is answered where it is one of them."""
PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD = -32700, -32600, -32601
SESSION, TOOL = "mcp", "coding agent"
DAYS = 7.0
OUTCOMES = ("worked", "failed")

Json = dict[str, Any]
Call = Callable[[Metacognition, str, Json], Awaitable[str]]


class McpTool(NamedTuple):
    """A tool: what it is for, the texts that it takes, and what it does."""

    about: str
    takes: dict[str, str]
    call: Call


async def _search_memory(mind: Metacognition, user: str, given: Json) -> str:
    turn = mind.turn(user, SESSION, given["query"])
    await turn.before_model()
    said = [render_memory(recalled) for recalled in turn.recalled if _may_be_shown(recalled)] or [
        say_claim("memory.none")
    ]
    return "\n".join(claim.text for claim in said)


def _may_be_shown(recalled: Recalled) -> bool:
    """Whether a user or a tool asserted it, and it was not withheld when it was screened."""
    return (
        is_evidence(recalled)
        and bool(recalled.memory.line)
        and not recalled.memory.withheld
        and recalled.score >= WORTH_SHOWING
    )


async def _list_lessons(mind: Metacognition, user: str, _: Json) -> str:
    learned = await mind.engine.read_learned(await mind.store.resolve_place(user, SESSION))
    told = [*(wish.text for wish in learned.wishes), *(lesson.text for lesson in learned.advice)]
    return "\n".join(f"- {text}" for text in told) or "Nothing is learned yet."


async def _list_rules(*_: object) -> str:
    return json.dumps(await asyncio.to_thread(rules_here().describe_all), ensure_ascii=False)


async def _measure_worth(*_: object) -> str:
    worth = await asyncio.to_thread(measure_worth, str(find_home()), DAYS, time.time())
    return json.dumps(asdict(worth), ensure_ascii=False)


async def _record_memory(mind: Metacognition, user: str, given: Json) -> str:
    if given["outcome"] not in OUTCOMES:
        raise InputError(f"The outcome {given['outcome']!r} is none; give one of {', '.join(OUTCOMES)}.")
    said = f"{given['what'].strip().rstrip('.')}: {given['outcome']}."
    number = await mind.observe(user, SESSION, said, speaker=TOOL, provenance="tool")
    return f"Noted as memory {number}."


TOOLS = {
    "memory_look_up": McpTool(
        "What is remembered of the user on something.", {"query": "A question or a topic."}, _search_memory
    ),
    "lessons": McpTool("What was learned from the user on how to work and answer.", {}, _list_lessons),
    "rules": McpTool("The rules of coding agents, with their evidence.", {}, _list_rules),
    "worth": McpTool("What the hooks said to coding agents in the last week, and what came of it.", {}, _measure_worth),
    "record_outcome": McpTool(
        "Remember that something worked or failed, as a tool's report.",
        {"what": "What was tried, in one sentence.", "outcome": "worked or failed"},
        _record_memory,
    ),
}


def mcp(user: User = "me") -> int:
    """Memory, lessons, rules and worth as tools for a coding agent (Model Context Protocol, over standard input)."""
    return asyncio.run(_serve_tools(user))


async def _serve_tools(user: str) -> int:
    settings = load_settings()
    embed = embedding.embedding_by_name(settings.embed)
    async with await Metacognition.open(memory_of(settings), embed=embed) as mind:
        while line := await asyncio.to_thread(sys.stdin.readline):
            if line.strip() and (answer := await answer_line(mind, user, line)) is not None:
                print(json.dumps(answer, ensure_ascii=False), flush=True)
    return 0


async def answer_line(mind: Metacognition, user: str, line: str) -> Json | None:
    """The answer to a line; None to a notification."""
    try:
        asked: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _make_error(None, PARSE_ERROR, "The line is no JSON.")
    if not isinstance(asked, dict) or not isinstance(asked.get("method"), str):  # pyright: ignore[reportUnknownMemberType]
        return _make_error(None, INVALID_REQUEST, "The line is no request of JSON-RPC.")
    return await _answer_request(mind, user, asked)  # pyright: ignore[reportUnknownArgumentType]


async def _answer_request(mind: Metacognition, user: str, asked: Json) -> Json | None:
    given: Any = asked.get("params")
    params: Json = given if is_object(given) else {}
    match asked["method"]:
        case _ if "id" not in asked:
            return None
        case "initialize":
            result = _introduce_server(params)
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": [_describe_tool(name, tool) for name, tool in TOOLS.items()]}
        case "tools/call":
            result = await _call_tool(mind, user, params)
        case method:
            return _make_error(asked["id"], UNKNOWN_METHOD, f"There is no method {method!r} here.")
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


def _introduce_server(params: Json) -> Json:
    wished = params.get("protocolVersion")
    return {
        "protocolVersion": wished if wished in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "insula", "version": __version__},
    }


def _describe_tool(name: str, tool: McpTool) -> Json:
    properties = {each: {"type": "string", "description": about} for each, about in tool.takes.items()}
    schema = {"type": "object", "properties": properties, "required": list(tool.takes)}
    return {"name": name, "description": tool.about, "inputSchema": schema}


async def _call_tool(mind: Metacognition, user: str, params: Json) -> Json:
    """What a tool answers; what cannot be done is said to the model as an error of the tool."""
    tool = TOOLS.get(str(params.get("name")))
    told: Any = params.get("arguments")
    given: Json = told if is_object(told) else {}
    if tool is None:
        return _make_content(f"There is no tool {params.get('name')!r}; there are {', '.join(TOOLS)}.", failed=True)
    if missing := [name for name in tool.takes if not isinstance(given.get(name), str) or not given[name].strip()]:
        return _make_content(f"{missing[0]!r} is missing; give it as text.", failed=True)
    try:
        return _make_content(await tool.call(mind, user, given), failed=False)
    except InsulaError as error:
        return _make_content(str(error), failed=True)


def _make_content(text: str, *, failed: bool) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def _make_error(key: object, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": message}}
