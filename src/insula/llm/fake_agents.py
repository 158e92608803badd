"""A fake model that drives coding agents by a script, for tests of what their models receive.

Each of the four APIs that they speak is written down once, as a value: how a request says which tools there are, how
many results of tools it brings and which JSON it wants, and how an answer looks, whole and as a stream.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from insula.llm.loopback import Json, Loopback, LoopbackHandler

_MODEL = "fake"
_READ, _WRITTEN = 100, 10
"""Tokens that every answer claims: clients add them up, nothing depends on them."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; `arguments` is a text where the tool takes any text."""

    id: str
    name: str
    arguments: Json | str


@dataclass(frozen=True, slots=True)
class FakeReply:
    """What the model says: calls of tools, or a text."""

    id: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Api:
    """One API: what a request holds, and how a reply is sent."""

    tools: Callable[[Json], dict[str, Json]]
    """The tools that are offered, by name, with the JSON schema of their arguments."""
    results: Callable[[Json], int]
    """How many results of tools the conversation holds."""
    schema: Callable[[Json], Json | None]
    """The JSON schema that the answer must have."""
    whole: Callable[[FakeReply], Json]
    """The answer in one piece."""
    events: Callable[[FakeReply], Iterator[Json]]
    """The answer as a stream of events; those with a type are sent under its name."""


def _read_objects(body: Json, name: str) -> list[Json]:
    """The list of objects under a name; empty where there is none."""
    return [item for item in body.get(name) or () if isinstance(item, dict)]


def _read_object(body: Json, name: str) -> Json:
    """The object under a name; empty where there is none."""
    return body.get(name) or {}


# Anthropic Messages


def _anthropic_whole(reply: FakeReply) -> Json:
    blocks = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in reply.calls]
    return {
        "id": reply.id,
        "type": "message",
        "role": "assistant",
        "model": _MODEL,
        "content": blocks or [{"type": "text", "text": reply.text}],
        "stop_reason": "tool_use" if blocks else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": _READ, "output_tokens": _WRITTEN},
    }


def _anthropic_events(reply: FakeReply) -> Iterator[Json]:
    whole = _anthropic_whole(reply)
    head: Json = {**whole, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": head}
    for index, block in enumerate(whole["content"]):
        start, delta = _anthropic_parts(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": _WRITTEN}}
    yield {"type": "message_stop"}


def _anthropic_parts(block: Json) -> tuple[Json, Json]:
    if block["type"] == "text":
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    start: Json = {**block, "input": {}}
    return start, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


# OpenAI Chat Completions


def _chat_whole(reply: FakeReply) -> Json:
    message = {"role": "assistant", **_chat_message(reply)}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}
    return {**_chat_head(reply, "chat.completion"), "choices": [choice], "usage": _CHAT_USAGE}


def _chat_events(reply: FakeReply) -> Iterator[Json]:
    head = _chat_head(reply, "chat.completion.chunk")
    delta = {"role": "assistant", **_chat_message(reply)}
    finish = "tool_calls" if reply.calls else "stop"
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    yield {**head, "choices": [], "usage": _CHAT_USAGE}


def _chat_head(reply: FakeReply, kind: str) -> Json:
    return {"id": reply.id, "object": kind, "created": 1, "model": _MODEL}


def _chat_message(reply: FakeReply) -> Json:
    calls = [
        {
            "index": index,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(reply.calls)
    ]
    return {"content": None, "tool_calls": calls} if calls else {"content": reply.text}


_CHAT_USAGE: Json = {"prompt_tokens": _READ, "completion_tokens": _WRITTEN, "total_tokens": _READ + _WRITTEN}


# OpenAI Responses


def _responses_tools(body: Json) -> dict[str, Json]:
    """By their names; those of a namespace begin with its name and a dot."""
    tools = {tool["name"]: tool for tool in _read_objects(body, "tools") if "name" in tool}
    for name, space in list(tools.items()):
        tools |= {f"{name}.{tool['name']}": tool for tool in _read_objects(space, "tools")}
    return {name: _read_object(tool, "parameters") for name, tool in tools.items()}


def _responses_whole(reply: FakeReply) -> Json:
    text: Json = {"type": "output_text", "text": reply.text, "annotations": []}
    message: Json = {
        "type": "message",
        "id": f"{reply.id}_m",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return {
        "id": reply.id,
        "object": "response",
        "status": "completed",
        "model": _MODEL,
        "output": [_responses_call(call) for call in reply.calls] or [message],
        "usage": {
            "input_tokens": _READ,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": _WRITTEN,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": _READ + _WRITTEN,
        },
    }


def _responses_call(call: ToolCall) -> Json:
    space, _, name = call.name.rpartition(".")
    item = {"id": f"{call.id}_i", "call_id": call.id, "name": name, "status": "completed"}
    item |= {"namespace": space} if space else {}
    if isinstance(call.arguments, str):
        return {"type": "custom_tool_call", "input": call.arguments, **item}
    return {"type": "function_call", "arguments": json.dumps(call.arguments), **item}


def _responses_events(reply: FakeReply) -> Iterator[Json]:
    whole = _responses_whole(reply)
    head: Json = {**whole, "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": head}
    for index, item in enumerate(whole["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress"}}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


# Gemini generateContent


def _gemini_whole(reply: FakeReply) -> Json:
    calls = [{"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}} for call in reply.calls]
    content = {"role": "model", "parts": calls or [{"text": reply.text}]}
    return {
        "responseId": reply.id,
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": _READ,
            "candidatesTokenCount": _WRITTEN,
            "totalTokenCount": _READ + _WRITTEN,
        },
        "modelVersion": _MODEL,
    }


ANTHROPIC = Api(
    tools=lambda body: {tool["name"]: _read_object(tool, "input_schema") for tool in _read_objects(body, "tools")},
    results=lambda body: sum(
        block.get("type") == "tool_result"
        for message in _read_objects(body, "messages")
        for block in _read_objects(message, "content")
    ),
    schema=lambda body: (
        _read_object(_read_object(body, "output_config"), "format") or _read_object(body, "output_format")
    ).get("schema"),
    whole=_anthropic_whole,
    events=_anthropic_events,
)
CHAT = Api(
    tools=lambda body: {
        function["name"]: _read_object(function, "parameters")
        for tool in _read_objects(body, "tools")
        if "name" in (function := _read_object(tool, "function"))
    },
    results=lambda body: sum(message.get("role") == "tool" for message in _read_objects(body, "messages")),
    schema=lambda body: _read_object(_read_object(body, "response_format"), "json_schema").get("schema"),
    whole=_chat_whole,
    events=_chat_events,
)
RESPONSES = Api(
    tools=_responses_tools,
    results=lambda body: sum(str(item.get("type")).endswith("_call_output") for item in _read_objects(body, "input")),
    schema=lambda body: _read_object(_read_object(body, "text"), "format").get("schema"),
    whole=_responses_whole,
    events=_responses_events,
)
GEMINI = Api(
    tools=lambda body: {
        function["name"]: _read_object(function, "parametersJsonSchema") or _read_object(function, "parameters")
        for tool in _read_objects(body, "tools")
        for function in _read_objects(tool, "functionDeclarations")
    },
    results=lambda body: sum(
        "functionResponse" in part
        for content in _read_objects(body, "contents")
        for part in _read_objects(content, "parts")
    ),
    schema=lambda body: _gemini_schema(_read_object(body, "generationConfig")),
    whole=_gemini_whole,
    events=lambda reply: iter((_gemini_whole(reply),)),
)


def _gemini_schema(config: Json) -> Json | None:
    if config.get("responseMimeType") != "application/json":
        return None
    return _read_object(config, "responseJsonSchema") or _read_object(config, "responseSchema")


def example_value(schema: Json) -> object:
    """A value that a simple JSON schema allows, as empty as it may be."""
    if "enum" in schema:
        return schema["enum"][0]
    match str(schema.get("type", "object")).lower():
        case "object":
            properties = _read_object(schema, "properties")
            return {name: example_value(_read_object(properties, name)) for name in schema.get("required", properties)}
        case "array":
            return []
        case "integer" | "number":
            return 0
        case "boolean":
            return False
        case _:
            return "fake"


DONE = "All steps are done."
"""What the fake model says when its script is used up."""
_ASIDE = "Fake."
"""What it says to requests beside the conversation: titles, topics, routers."""


class ScriptStep(Protocol):
    """What the fake model has an agent do."""

    @property
    def names(self) -> Sequence[str]:
        """What clients call the tool that does it; the first that is offered is called."""
        ...

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What the tool is called with, by all the names that clients have for it."""
        ...


@dataclass(frozen=True, slots=True)
class ShellStep:
    """Run a command."""

    command: str

    names = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "run_commands")

    @property
    def arguments(self) -> Mapping[str, Any]:
        """By all the names that clients have for them."""
        said = {"command": self.command, "cmd": self.command, "commands": [self.command]}
        return {**said, "description": "A step of a script.", "is_background": False}


class FakeModel(Loopback):
    """A model on this machine that has a coding agent play a script, and keeps what the agent sends.

    It speaks the APIs of Anthropic (Messages), OpenAI (Responses, Chat Completions) and Google (generateContent). Each
    turn of the script is found from the number of tool results in the conversation, so that retries and restarts do not
    confuse it. Requests beside the conversation, such as for a title, get an answer that changes nothing.
    Use it as a context manager.

    Args:
        steps: What the agent is told to do, one step per turn of the model; several at once where one is a sequence.

    Attributes:
        requests: The bodies of all requests to a model, decoded, oldest first.
        dialogue: Those of them that belong to the conversation.
        problems: Steps that could not be played, as sentences.
    """

    def __init__(self, steps: Sequence[ScriptStep | Sequence[ScriptStep]]) -> None:
        super().__init__(_AgentHandler)
        self.requests: list[Json] = []
        self.dialogue: list[Json] = []
        self.problems: list[str] = []
        self._turns = [step if isinstance(step, Sequence) else [step] for step in steps]

    @property
    def url(self) -> str:
        """The base URL of its APIs, without a version."""
        return self.origin

    def request_texts(self) -> list[str]:
        """All the text of each request of the conversation, as the model would read it."""
        return ["\n".join(_iterate_leaves(body)) for body in self.dialogue]

    def reply_to(self, api: Api, body: Json) -> FakeReply:
        """Keeps a request; what is said to it."""
        self.requests.append(body)
        tools, name = api.tools(body), f"fake_{len(self.requests)}"
        if not any(shell in tools for shell in ShellStep.names):
            schema = api.schema(body)
            return FakeReply(name, _ASIDE if schema is None else json.dumps(example_value(schema)))
        self.dialogue.append(body)
        done = api.results(body)
        steps = self._turn_after(done)
        calls = tuple(self._make_call(step, tools, f"call_{done + number}") for number, step in enumerate(steps))
        return FakeReply(name, DONE, calls)

    def _turn_after(self, done: int) -> Sequence[ScriptStep]:
        """The turn that comes after so many results."""
        for turn in self._turns:
            if done <= 0:
                return turn
            done -= len(turn)
        return ()

    def _make_call(self, step: ScriptStep, tools: Mapping[str, Json], name: str) -> ToolCall:
        tool = next((tool for tool in step.names if tool in tools), "")
        if not tool:
            self.problems.append(f"{step} cannot be played: the client offers only {', '.join(sorted(tools))}.")
            return ToolCall(name, next(shell for shell in ShellStep.names if shell in tools), {})
        parameters = tools[tool].get("properties")
        if parameters is None:
            return ToolCall(name, tool, cast(str, step.arguments["input"]))
        return ToolCall(name, tool, {key: value for key, value in step.arguments.items() if key in parameters})


def _iterate_leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in cast("list[object]", value):
                yield from _iterate_leaves(item)
        case dict():
            for item in cast("dict[str, object]", value).values():
                yield from _iterate_leaves(item)
        case _:
            pass


class _AgentHandler(LoopbackHandler):
    def do_POST(self) -> None:  # noqa: N802 the name is the base class's
        fake = cast(FakeModel, self.owner)
        path = urlsplit(self.path).path
        body = self.receive_json()
        api = _find_api(path)
        if api is None:
            self.send_text(json.dumps({"input_tokens": 100, "totalTokens": 100}))
        elif body.get("stream") or ":stream" in path:
            self._stream_events(api.events(fake.reply_to(api, body)))
        else:
            self.send_text(json.dumps(api.whole(fake.reply_to(api, body))))

    def do_GET(self) -> None:  # noqa: N802 the name is the base class's
        self.send_text('{"data": [], "models": []}')

    def do_HEAD(self) -> None:  # noqa: N802 the name is the base class's
        self.send_head(200, {"Content-Length": "0"})

    def _stream_events(self, events: Iterator[Json]) -> None:
        """Sends events with their length, so that the client may keep the connection."""
        text = "".join(_format_event(event) for event in events)
        self.send_text(text, headers={"Content-Type": "text/event-stream"})


def _find_api(path: str) -> Api | None:
    """The API behind a path; None for counting of tokens, telemetry and whatever else a client tells."""
    if path.endswith("/messages"):
        return ANTHROPIC
    if path.endswith("/responses"):
        return RESPONSES
    if path.endswith("/chat/completions"):
        return CHAT
    return GEMINI if path.lower().endswith("generatecontent") else None


def _format_event(event: Json) -> str:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"
