"""A model server on this machine that answers by a script, for tests of what goes over the wire."""

import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Literal, cast

from insula.llm.loopback import Json, Loopback, LoopbackHandler

_TOKEN = re.compile(r"\s*\S+|\s+$")
_LOGPROB = -0.1
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)

Behaviour = Literal[
    "ok",
    "slow",
    "endless",
    "drop",
    "truncated",
    "empty_body",
    "empty_text",
    "cut_off",
    "garbage",
    "no_choices",
    "refusal",
    "content_filter",
    "tool_call",
    "400",
    "401",
    "404",
    "429",
    "500",
    "long_wait",
    "no_temperature",
]
"""What a fake server does with a request; the figures are HTTP statuses. One asks to wait for an hour (`long_wait`),
one declines a temperature by its name."""

SLOW_SECONDS = 5.0


class FakeServer(Loopback):
    """An OpenAI-compatible server on this machine that answers by a script, to test what goes over the wire.

    Use it as a context manager; the model is `f"{server.url}#NAME"`.

    Args:
        behaviours: What it does with one request after the other; the last holds for all further ones.
        answer: What it says, where it says anything.

    Attributes:
        requests: The bodies it received, decoded, oldest first.
        keys: The `Authorization` header of each.
        received: Set once there is one.
    """

    def __init__(self, *behaviours: Behaviour, answer: str = "The answer is 4.") -> None:
        super().__init__(_ServerHandler)
        self.requests: list[Json] = []
        self.keys: list[str] = []
        self.answer = answer
        self._behaviours = behaviours or ("ok",)
        self.received = threading.Event()

    @property
    def url(self) -> str:
        """The base URL of its API."""
        return f"{self.origin}/v1"

    def prompt(self, number: int = -1) -> str:
        """All the text of a request, as it went over the wire."""
        return "\n\n".join(str(message["content"]) for message in self.requests[number]["messages"])

    def keep(self, body: Json, key: str) -> Behaviour:
        """Keeps a request; what is to be done with it."""
        self.requests.append(body)
        self.keys.append(key)
        self.received.set()
        return self._behaviours[min(len(self.requests), len(self._behaviours)) - 1]


class _ServerHandler(LoopbackHandler):
    def do_POST(self) -> None:  # noqa: N802 the name is the base class's
        fake = cast(FakeServer, self.owner)
        body = self.receive_json()
        behaviour = fake.keep(body, self.headers.get("Authorization", ""))
        self.close_connection = True
        if behaviour == "slow":
            fake.wait_closed(SLOW_SECONDS)
        if behaviour.isdigit():
            self._send_status(int(behaviour))
        elif behaviour == "long_wait":
            self._send_status(429, wait="3600")
        elif behaviour == "no_temperature":
            said = {"message": "Unsupported value: 'temperature' does not support 0.5.", "code": "unsupported_value"}
            self.send_text(json.dumps({"error": said}), 400, {})
        elif body.get("stream"):
            self._send_stream(fake, body, behaviour)
        else:
            self._send_whole(fake, body, behaviour)

    def _send_status(self, status: int, wait: str = "7") -> None:
        message = f"status {status} for key {self.headers.get('Authorization')} " + "and more " * 100
        headers = {"Retry-After": wait} if status == 429 else {}
        self.send_text(json.dumps({"error": {"message": message, "code": status}}), status, headers)

    def _send_whole(self, fake: FakeServer, body: Json, behaviour: Behaviour) -> None:
        sent = json.dumps(_make_completion(fake.answer, body, behaviour))
        match behaviour:
            case "drop":
                self._reset_connection()
            case "endless":
                fake.wait_closed(60)
            case "empty_body":
                self.send_text("")
            case "garbage":
                self.send_text("<html>It works!</html>")
            case "truncated":
                self.send_text(sent[: len(sent) // 2])
            case _:
                self.send_text(sent)

    def _send_stream(self, fake: FakeServer, body: Json, behaviour: Behaviour) -> None:
        self.send_head(200, {"Content-Type": "text/event-stream"})
        if behaviour == "garbage":
            self.send_event("{not json")
        for chunk in _make_chunks(fake.answer, body, behaviour):
            self.send_event(json.dumps(chunk))
            while behaviour == "endless" and not fake.wait_closed(0.02):
                self.send_event(json.dumps(chunk))
            if behaviour == "drop":
                return self._reset_connection()
            if behaviour == "truncated":
                return None
        return self.send_event("[DONE]")

    def _reset_connection(self) -> None:
        """Closes the connection the hard way."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.connection.close()


def split_tokens(text: str) -> list[str]:
    """`text` in pieces, one per word, that together are `text`."""
    return _TOKEN.findall(text)


def _make_completion(answer: str, body: Json, behaviour: Behaviour) -> Json:
    message, finish = _make_message(answer, behaviour)
    choice: Json = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    if body.get("logprobs"):
        choice["logprobs"] = {"content": [_make_logprob(token) for token in split_tokens(answer)]}
    return {
        "id": "fake-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model"),
        "choices": [] if behaviour == "no_choices" else [choice],
        "usage": _make_usage(answer),
    }


def _make_chunks(answer: str, body: Json, behaviour: Behaviour) -> Iterator[Json]:
    message, finish = _make_message(answer, behaviour)
    for token in split_tokens(message.pop("content") or ""):
        logprobs = {"content": [_make_logprob(token)]} if body.get("logprobs") else None
        yield _make_chunk(body, {"delta": {"content": token}, "finish_reason": None, "logprobs": logprobs})
    yield _make_chunk(body, {"delta": message, "finish_reason": finish})
    yield _make_chunk(body, None) | {"usage": _make_usage(answer)}


def _make_chunk(body: Json, choice: Json | None) -> Json:
    choices = [{"index": 0, **choice}] if choice else []
    head = {"id": "fake-1", "object": "chat.completion.chunk", "created": 1}
    return {**head, "model": body.get("model"), "choices": choices}


def _make_message(answer: str, behaviour: Behaviour) -> tuple[Json, str]:
    match behaviour:
        case "empty_text":
            return {"content": ""}, "stop"
        case "cut_off":
            return {"content": answer[: len(answer) // 2]}, "length"
        case "refusal":
            return {"content": None, "refusal": "I cannot help with that."}, "stop"
        case "content_filter":
            return {"content": None}, "content_filter"
        case "tool_call":
            call = {"id": "1", "index": 0, "type": "function", "function": {"name": "answer", "arguments": answer}}
            return {"content": None, "tool_calls": [call]}, "tool_calls"
        case _:
            return {"content": answer}, "stop"


def _make_logprob(token: str) -> Json:
    return {"token": token, "logprob": _LOGPROB, "bytes": list(token.encode()), "top_logprobs": []}


def _make_usage(answer: str) -> Json:
    written = len(split_tokens(answer))
    return {"prompt_tokens": 10, "completion_tokens": written, "total_tokens": 10 + written}
