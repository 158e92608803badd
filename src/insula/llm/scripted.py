"""A model that answers by a script, for tests of what reaches a model."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.settings import ModelSettings

from insula.llm.fake_server import split_tokens
from insula.llm.wire import Role

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What reached a model."""

    instructions: str
    history: tuple[tuple[Role, str], ...]
    prompt: str
    settings: Mapping[str, Any]
    """`max_tokens`, `temperature` and so on, as far as they were given."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema the answer was to have."""

    @property
    def text(self) -> str:
        """All of it, as one text to search in."""
        return "\n\n".join([self.instructions, *(said for _, said in self.history), self.prompt])


Reply = str | Mapping[str, Any] | BaseException
"""What a scripted model does: say a text, say an object as JSON, or fail."""


class ScriptedModel(FunctionModel):
    """A model that answers by a script, and keeps every request that reached it.

    Args:
        replies: The replies in order, or a function from the request to the reply. A script that is used up fails.
        logprob: The log-probability of each of its tokens (words), where they are asked for; None: it has none.
        delay: Seconds before each answer.
        name: The name of the model.

    Attributes:
        requests: What reached it, oldest first.
    """

    def __init__(
        self,
        replies: Sequence[Reply | Callable[[Request], Reply]] | Callable[[Request], Reply],
        *,
        logprob: float | None = -0.1,
        delay: float = 0.0,
        name: str = "scripted",
    ) -> None:
        super().__init__(self._respond_scripted, stream_function=self._stream_scripted, model_name=name)
        self.requests: list[Request] = []
        self._replies = replies
        self._logprob = logprob
        self._delay = delay

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """As the base class, with log-probabilities at the end."""
        async with super().request_stream(messages, model_settings, model_request_parameters, run_context) as stream:
            stream.provider_details = self._make_details(self._last_text, model_settings)
            yield stream

    async def _respond_scripted(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        text = await self._next(messages, info)
        return ModelResponse(parts=[TextPart(text)], provider_details=self._make_details(text, info.model_settings))

    async def _stream_scripted(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        self._last_text = await self._next(messages, info)
        for token in split_tokens(self._last_text) or [""]:
            yield token

    async def _next(self, messages: list[ModelMessage], info: AgentInfo) -> str:
        request = _make_request(messages, info)
        self.requests.append(request)
        await asyncio.sleep(self._delay)
        reply = self._replies if callable(self._replies) else self._find_reply(len(self.requests))
        reply = reply(request) if callable(reply) else reply
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply)

    def _find_reply(self, number: int) -> Reply | Callable[[Request], Reply]:
        replies = cast("Sequence[Reply | Callable[[Request], Reply]]", self._replies)
        if number > len(replies):
            raise AssertionError(f"request {number} came, and the script has {len(replies)} replies")
        return replies[number - 1]

    def _make_details(self, text: str, settings: ModelSettings | None) -> Json | None:
        if self._logprob is None or not cast(Json, settings or {}).get("openai_logprobs"):
            return None
        return {"logprobs": [{"token": token, "logprob": self._logprob} for token in split_tokens(text)]}


def _make_request(messages: list[ModelMessage], info: AgentInfo) -> Request:
    said: list[tuple[Role, str]] = [(_role_of(message), _text_of(message)) for message in messages]
    output = info.model_request_parameters.output_object
    return Request(
        instructions=info.instructions or "",
        history=tuple(said[:-1]),
        prompt=said[-1][1],
        settings=cast(Json, info.model_settings or {}),
        schema=output.json_schema if output else None,
    )


def _role_of(message: ModelMessage) -> Role:
    return "user" if isinstance(message, ModelRequest) else "assistant"


def _text_of(message: ModelMessage) -> str:
    return "".join(str(part.content) for part in message.parts if isinstance(part, UserPromptPart | TextPart))
