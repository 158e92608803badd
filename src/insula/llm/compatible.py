"""Models behind an address that speaks the protocol of OpenAI: the embedded one, and any that a user names by URL.

The protocol is small, and what a prompt needs of it stands here. Pydantic AI and OpenAI's client speak it, too, and
cost a second of CPU to load and milliseconds for each call: they know images, tools and dozens of services.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pydantic import BaseModel

from insula.llm.failures import describe_model, make_error, trouble_of
from insula.llm.structured import SCHEMAS, Json, schema_of
from insula.llm.wire import Prompt, Response, Settings
from insula.text.analysis import clean_text

if TYPE_CHECKING:
    import httpx2

NO_KEY = "api-key-not-set"
"""What is sent where there is no key."""
CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0
"""Between two bytes; the deadline of a call is the caller's."""
RETRIES = 2
"""How often a request is sent again where the server is busy or out of reach."""
BUSY = frozenset({408, 409, 429})
"""Statuses of a server that may answer a moment later, as those from 500 on."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
"""Seconds before the first further try, doubled for each, and at most."""
LONGEST_ASKED = 60.0
"""Seconds that a server may ask to wait; where it asks for more, its refusal is told."""
OPEN, CLOSE = "<think>", "</think>"
_THOUGHT = re.compile(f"{OPEN}(.*?){CLOSE}", re.S)
_REASONING = ("reasoning", "reasoning_content")
"""Fields of a message in which servers put what the model thought."""


@asynccontextmanager
async def connect_model(
    name: str,
    base_url: str,
    key: str | None = None,
    *,
    retries: int = RETRIES,
    usual: Mapping[str, float] | None = None,
) -> "AsyncGenerator[AddressedModel]":
    """The model `name` at `base_url`, with connections of its own that are closed at the end of the block.

    Args:
        name: As the server knows it.
        base_url: Of the API, usually ending in `/v1`.
        key: Sent to that address only; the environment's keys for other providers never are.
        retries: How often a request is sent again where the server is busy.
        usual: Fields that hold for every request unless the request says otherwise.
    """
    import httpx2

    timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    headers = {"Authorization": f"Bearer {key or NO_KEY}"}
    # A proxy of the environment is for other hosts: what stays on this machine must not be sent through it.
    async with httpx2.AsyncClient(
        timeout=timeout, headers=headers, follow_redirects=True, trust_env=not is_loopback(base_url)
    ) as client:
        yield AddressedModel(name, base_url, client, retries, usual or {})


def is_loopback(url: str) -> bool:
    """Whether `url` is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class AddressedModel:
    """A model at an address.

    Attributes:
        model_name: as the server knows it.
        base_url: of the API, with a slash at its end.
        system: the provider's name for traces.
    """

    system = "insula"

    def __init__(
        self, name: str, base_url: str, client: "httpx2.AsyncClient", retries: int, usual: Mapping[str, float]
    ) -> None:
        self.model_name, self.base_url = name, f"{base_url.rstrip('/')}/"
        self._client, self._retries, self._usual = client, retries, usual

    async def send_prompt(
        self,
        prompt: Prompt,
        schema: type[BaseModel] | None,
        settings: Settings,
        seconds: float,
        *,
        streamed: bool,
    ) -> AsyncGenerator[str | Response]:
        """Send a prompt: the pieces of text, where they are wanted, and then the whole.

        Raises:
            ModelError: the server declined, or sent what cannot be read.
            TimeoutError: not complete within `seconds`.
        """
        body: Json = {
            "model": self.model_name,
            **self._usual,
            **settings,
            "messages": _messages_of(prompt),
            "stream": streamed,
        }
        if streamed:
            body["stream_options"] = {"include_usage": True}
        if schema is not None:
            form = {"name": schema.__name__, "schema": _plain_schema(schema), "strict": False}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        end = asyncio.get_running_loop().time() + seconds
        async with asyncio.timeout_at(end):
            response = await self._post(body, streamed=streamed)
        if not streamed:
            yield self._read_completion(self._parse_json(response.text))
            return
        gathered = _Gathered()
        try:
            lines = response.aiter_lines()
            while True:
                async with asyncio.timeout_at(end):
                    line = await anext(lines, None)
                if line is None:
                    break
                if piece := self._read_line(line, gathered):
                    yield piece
        finally:
            await response.aclose()
        if gathered.finish_reason is None:  # cut off: it must not pass for an answer
            raise make_error("unreadable", describe_model(self), "its stream ended before the answer did")
        yield self._read_completion(gathered.to_completion())

    async def _post(self, body: Json, *, streamed: bool) -> "httpx2.Response":
        """The server's response, whole unless it is streamed; asked for again where it is busy or out of reach."""
        import httpx2

        for tried in range(self._retries + 1):
            request = self._client.build_request("POST", f"{self.base_url}chat/completions", json=body)
            wait = random.uniform(0.75, 1) * min(FIRST_WAIT * 2**tried, LONGEST_WAIT)  # noqa: S311 no secret
            try:
                response = await self._client.send(request, stream=True)
                if not streamed or response.is_error:
                    await response.aread()
            except httpx2.TransportError:
                if tried == self._retries:
                    raise
            else:
                if not response.is_error:
                    return response
                asked = _read_seconds(response.headers.get("Retry-After"))
                is_busy = response.status_code in BUSY or response.is_server_error
                if tried == self._retries or not is_busy or (asked or 0.0) > LONGEST_ASKED:
                    raise self._describe_error(response.text, response.status_code, asked)
                wait = asked or wait
            await asyncio.sleep(wait)
        raise AssertionError  # the last try returns or raises

    def _describe_error(self, text: str, status: int, wait: float | None) -> Exception:
        try:
            body = json.loads(text)
        except ValueError:
            body = text
        return self._error_in(body, status, wait)

    def _error_in(self, body: object, status: int | None, wait: float | None = None) -> Exception:
        inner = cast(Json, body).get("error", body) if isinstance(body, dict) else body
        told = cast(Json, inner) if isinstance(inner, dict) else {}
        said = told.get("message", inner) or f"HTTP status {status}"
        return make_error(
            trouble_of(status, told.get("code"), told.get("type"), said), describe_model(self), said, wait
        )

    def _parse_json(self, text: str) -> Json:
        try:
            return cast(Json, json.loads(text))
        except ValueError as error:
            raise make_error("unreadable", describe_model(self), error) from error

    def _read_line(self, line: str, gathered: "_Gathered") -> str:
        """The new text in a line of a stream."""
        field, _, data = line.partition(":")
        if field != "data" or (data := data.strip()) == "[DONE]":
            return ""
        chunk = self._parse_json(data)
        if chunk.get("error"):
            raise self._error_in(chunk, None)
        return gathered.add_chunk(chunk)

    def _read_completion(self, completion: Json) -> Response:
        """What a completion holds; KeyError, IndexError or TypeError where it is none by the protocol."""
        if completion.get("error") and not completion.get("choices"):
            raise self._error_in(completion, None)
        choice: Any = completion["choices"][0]
        message: Any = choice["message"]
        usage, content, refusal = _part(completion, "usage"), message.get("content") or "", message.get("refusal") or ""
        thought = [told for name in _REASONING if (told := message.get(name))][:1] or _THOUGHT.findall(content)
        thinking = "\n\n".join(thought).strip()
        reason, tokens = choice.get("finish_reason"), _list(_part(choice, "logprobs"), "content")
        arguments = [str(_part(call, "function").get("arguments") or "") for call in _list(message, "tool_calls")]
        return Response(
            text="" if refusal else _THOUGHT.sub("", content).replace(OPEN, ""),
            thinking=thinking,
            has_thought=bool(thinking or _part(usage, "completion_tokens_details").get("reasoning_tokens")),
            arguments=arguments[0] if arguments else "",
            finish_reason="content_filter" if refusal else "tool_call" if reason == "tool_calls" else reason,
            refusal=refusal,
            model=completion.get("model"),
            input_tokens=usage.get("prompt_tokens") or 0,
            output_tokens=usage.get("completion_tokens") or 0,
            logprobs=tuple((str(token["token"]), float(token["logprob"])) for token in tokens) or None,
        )


class _Gathered:
    """What the chunks of a stream come to."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._message = dict.fromkeys(("content", "refusal", *_REASONING), "")
        self._arguments: dict[int, str] = {}
        self._tokens: list[Json] = []
        self._rest: Json = {}
        self._shown = 0

    def add_chunk(self, chunk: Json) -> str:
        """Take a chunk in; returns the new text, but for what the model thinks aloud."""
        self._rest |= {name: chunk[name] for name in ("model", "usage") if chunk.get(name)}
        for choice in _list(chunk, "choices"):
            delta = _part(choice, "delta")
            for name in self._message:
                self._message[name] += delta.get(name) or ""
            for call in _list(delta, "tool_calls"):
                number, more = int(call.get("index") or 0), str(_part(call, "function").get("arguments") or "")
                self._arguments[number] = self._arguments.get(number, "") + more
            self._tokens += _list(_part(choice, "logprobs"), "content")
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
        spoken = _spoken(self._message["content"])
        piece, self._shown = spoken[self._shown :], len(spoken)
        return piece

    def to_completion(self) -> Json:
        """The same in the form of an answer that came at once."""
        calls = [{"function": {"arguments": self._arguments[number]}} for number in sorted(self._arguments)]
        choice = {
            "message": {**self._message, "tool_calls": calls},
            "finish_reason": self.finish_reason,
            "logprobs": {"content": self._tokens},
        }
        return {**self._rest, "choices": [choice]}


def _part(of: Any, name: str) -> Any:
    """A field that holds fields; none where it is missing or null, as servers write it."""
    return of.get(name) or {}


def _list(of: Any, name: str) -> list[Any]:
    """A field that holds a list; an empty one where it is missing or null."""
    return of.get(name) or []


def _spoken(content: str) -> str:
    """What of a text that is being written is no thinking."""
    begun = content.lstrip()
    if begun.startswith(OPEN):
        return begun.partition(CLOSE)[2]
    return "" if OPEN.startswith(begun) else content


def _messages_of(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt in the protocol's form. Lone surrogates and control characters are taken out on the way."""
    told = [("system", prompt.instructions)] if clean_text(prompt.instructions) else []
    said = [*told, *prompt.history, ("user", prompt.prompt)]
    return [{"role": role, "content": clean_text(text)} for role, text in said]


@lru_cache(maxsize=SCHEMAS)
def _plain_schema(schema: type[BaseModel]) -> Json:
    """A form without titles, which only cost tokens, whose objects hold nothing else: what servers enforce."""
    return cast(Json, _without_titles(schema_of(schema)))


def _without_titles(shape: Any) -> Any:
    if isinstance(shape, list):
        return [_without_titles(each) for each in cast(list[Any], shape)]
    if not isinstance(shape, dict):
        return shape
    plain: Json = {}
    for name, value in cast(Json, shape).items():
        if name in {"properties", "$defs"}:
            plain[name] = {key: _without_titles(each) for key, each in value.items()}
        elif name in {"items", "anyOf", "allOf", "oneOf", "prefixItems", "additionalProperties"}:
            plain[name] = _without_titles(value)
        elif name != "title":
            plain[name] = value
    if plain.get("type") == "object":
        plain.setdefault("additionalProperties", False)
    return plain


def _read_seconds(header: str | None) -> float | None:
    """The seconds that a server asks to wait; None where it names none."""
    try:
        return float(header) if header else None
    except ValueError:
        return None
