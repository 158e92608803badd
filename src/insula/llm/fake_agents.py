"""A fake model that drives coding agents by a script, for tests of what their models receive."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from insula.llm.fake_apis import ANTHROPIC, CHAT, GEMINI, RESPONSES, Api, FakeReply, ToolCall, example_value
from insula.llm.loopback import Json, Loopback, LoopbackHandler

DONE = "All steps are done."
"""What the fake model says when its script is used up."""
_ASIDE = "Fake."
"""What it says to requests beside the conversation: titles, topics, routers."""


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


@dataclass(frozen=True, slots=True)
class ReadStep:
    """Read a file, by the shell where there is no tool for it."""

    path: str

    names = ("Read", "read", "read_file", "view", *ShellStep.names)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """By all the names that clients have for them."""
        return {**ShellStep(f"cat '{self.path}'").arguments, **_path_arguments(self.path)}


@dataclass(frozen=True, slots=True)
class EditStep:
    """Replace a line of a file by another."""

    path: str
    old: str
    new: str

    names = ("Edit", "edit", "replace", "editor", "apply_patch")

    @property
    def arguments(self) -> Mapping[str, Any]:
        """By all the names that clients have for them."""
        change = f"*** Update File: {self.path}\n@@\n-{self.old}\n+{self.new}\n"
        return {
            **_path_arguments(self.path),
            **dict.fromkeys(("old_string", "oldString", "old_str", "old_text"), self.old),
            **dict.fromkeys(("new_string", "newString", "new_str", "new_text"), self.new),
            "instruction": "A step of a script.",
            "input": f"*** Begin Patch\n{change}*** End Patch\n",
        }


Step = ShellStep | ReadStep | EditStep


def _path_arguments(path: str) -> Mapping[str, Any]:
    return dict.fromkeys(("file_path", "absolute_path", "filePath", "path"), path)


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

    def __init__(self, steps: Sequence[Step | Sequence[Step]]) -> None:
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

    def _turn_after(self, done: int) -> Sequence[Step]:
        """The turn that comes after so many results."""
        for turn in self._turns:
            if done <= 0:
                return turn
            done -= len(turn)
        return ()

    def _make_call(self, step: Step, tools: Mapping[str, Json], name: str) -> ToolCall:
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
