"""A model server on this machine that real agents of a framework talk to: it calls tools, and says what it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, cast

from insula.llm.loopback import Loopback, LoopbackHandler

Json = dict[str, Any]
Reply = str | list[tuple[str, Json]]
"""What the model says, or the tools that it calls at once."""


class AgentServer(Loopback):
    """Speaks OpenAI's chat completions and Anthropic's messages, whole and streamed.

    Args:
        reply: from the body of a request to what the model does; an exception becomes a status 500.

    Attributes:
        requests: the bodies it received, oldest first.
    """

    def __init__(self, reply: Callable[[Json], Reply]) -> None:
        super().__init__(_Handler)
        self.requests: list[Json] = []
        self.reply = reply
        self.lock = threading.Lock()
        self.ids = count(1)

    def system(self, number: int) -> str:
        """The system prompt of a request."""
        body = self.requests[number]
        first = next((text(m["content"]) for m in body["messages"] if m["role"] in {"system", "developer"}), "")
        return first or text(body.get("system"))

    def said(self, number: int) -> str:
        """The last message of the user in a request."""
        return [text(m["content"]) for m in self.requests[number]["messages"] if m["role"] == "user"][-1]

    def result(self, number: int) -> str:
        """The last result of a tool in a request."""
        found = [text(one["content"]) for one in results(self.requests[number])]
        return found[-1] if found else ""

    def sent(self, number: int) -> str:
        """A request as one text."""
        body = self.requests[number]
        return json.dumps([body.get("system"), body["messages"]], ensure_ascii=False)


def results(body: Json) -> list[Json]:
    """The results of tools in a request, of OpenAI's and Anthropic's kind."""
    found: list[Json] = []
    for message in body["messages"]:
        content: Any = message.get("content")
        parts = content if isinstance(content, list) else []
        found += [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_result"]
        found += [message] if message["role"] == "tool" else []
    return found


def text(content: Any) -> str:
    """The text of a message's content."""
    parts = content if isinstance(content, list) else [content]
    return "\n".join(str(p.get("text", "")) if isinstance(p, dict) else str(p or "") for p in cast("list[Any]", parts))


class _Handler(LoopbackHandler):
    def do_POST(self) -> None:  # noqa: N802 the name is the base class's
        fake = cast(AgentServer, self.owner)
        body = self.receive_json()
        self.close_connection = True
        with fake.lock:
            fake.requests.append(body)
            try:
                reply = fake.reply(body)
            except Exception as error:  # noqa: BLE001 a test lets the model fail
                return self.send_text(json.dumps({"error": {"message": str(error)}}), 500)
            calls = [(f"call_{next(fake.ids)}", *call) for call in reply] if isinstance(reply, list) else []
        said = reply if isinstance(reply, str) else ""
        if self.path.endswith("/messages"):
            whole = _anthropic(said, calls)
            if not body.get("stream"):
                return self.send_text(json.dumps(whole))
            events = (f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in _pieces(whole))
            return self.send_text("".join(events), headers={"Content-Type": "text/event-stream"})
        if body.get("stream"):
            self.send_head(200, {"Content-Type": "text/event-stream"})
            for chunk in _chunks(said, calls):
                self.send_event(json.dumps(chunk))
            return self.send_event("[DONE]")
        return self.send_text(json.dumps(_completion(said, calls)))


Call = tuple[str, str, Json]
_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _calls(calls: list[Call]) -> list[Json]:
    return [
        {"index": place, "id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for place, (key, name, given) in enumerate(calls)
    ]


def _completion(said: str, calls: list[Call]) -> Json:
    message = {"role": "assistant", "content": said or None, **({"tool_calls": _calls(calls)} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": _USAGE}


def _chunks(said: str, calls: list[Call]) -> Iterator[Json]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas = [{"content": f"{word} "} for word in said.split()] + ([{"tool_calls": _calls(calls)}] if calls else [])
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
    yield {**head, "choices": [end]}
    yield {**head, "choices": [], "usage": _USAGE}


def _anthropic(said: str, calls: list[Call]) -> Json:
    content = [{"type": "text", "text": said}] if said else []
    content += [{"type": "tool_use", "id": key, "name": name, "input": given} for key, name, given in calls]
    usage = {"input_tokens": 10, "output_tokens": 5}
    kind = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None, "usage": usage}
    return {**kind, "content": content, "stop_reason": "tool_use" if calls else "end_turn"}


def _pieces(whole: Json) -> Iterator[Json]:
    """A message as its events."""
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for place, block in enumerate(whole["content"]):
        called = block["type"] == "tool_use"
        told = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])} if called else {}
        delta = told or {"type": "text_delta", "text": block["text"]}
        begun = {**block, "input": {}} if called else {**block, "text": ""}
        yield {"type": "content_block_start", "index": place, "content_block": begun}
        yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}
