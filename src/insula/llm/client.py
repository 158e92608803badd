"""The only way that a prompt leaves: one call, budgeted, timed, and answered by a value or by one of our errors.

For models of Pydantic AI our values are made its messages, and its response one of ours.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, cast

from pydantic import BaseModel
from typing_extensions import TypeVar

from insula.errors import ModelCutOff, ModelMalformed, ModelRefused, ModelSilent
from insula.llm import wire
from insula.llm.budget import Account, Grant
from insula.llm.callback import CallbackModel
from insula.llm.compatible import AddressedModel
from insula.llm.failures import describe_model, quote_provider, translate_errors
from insula.llm.model import Model
from insula.llm.structured import parse_object, schema_of
from insula.llm.wire import Prompt, Response, Settings
from insula.telemetry import open_call_span
from insula.text.analysis import clean_text
from insula.types import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model as FrameworkModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModelSettings

__all__ = ["DEFAULT_MAX_TOKENS", "DEFAULT_TIMEOUT", "Generation", "Prompt", "generate_reply"]

DEFAULT_MAX_TOKENS = 512
DEFAULT_TIMEOUT = 120.0
"""Seconds for one call. The embedded model answers in less than 2; a hosted reasoning model may need a minute."""

_REPEATED_CHARS = 2_000
_AGAIN = "That cannot be used: {problem}. Answer again with one JSON object of the required form, and nothing else."

T = TypeVar("T", bound=BaseModel | None, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation(Generic[T]):
    """What a model answered, and what that took."""

    text: str
    """The answer, without surrounding blanks."""
    value: T
    """The validated object where a schema was given, else None."""
    thinking: str
    """What stood in `<think>` tags or in the provider's reasoning field; empty for most models."""
    usage: Usage
    """Of all attempts; its seconds run from sending to the last token."""
    logprobs: tuple[tuple[str, float], ...] | None
    """Each token with its natural log-probability. None where the model has none, and under a schema: a grammar
    changes the odds, and servers report those without it."""
    first_token_seconds: float | None
    """None when the answer was not streamed, and where the model thought before: then the first token was unseen."""
    model: str
    truncated: bool
    """Whether the answer was cut off at the greatest number of tokens."""


async def generate_reply(  # noqa: PLR0913 one door, with a keyword for each thing that a caller may ask for
    model: Model,
    messages: Prompt,
    *,
    purpose: str,
    account: Account | None = None,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    temperature: float | None = None,
    seed: int | None = None,
    logprobs: bool = False,
    schema: type[T] | None = None,
    on_delta: Callable[[str], None] | None = None,
    timeout: float = DEFAULT_TIMEOUT,  # noqa: ASYNC109 an `asyncio.timeout` would not say which model was slow
    refused: set[str] | None = None,
) -> Generation[T]:
    """Asks the model once, and with a schema a second time if the first answer cannot be used.

    Args:
        model: Of a name, by `insula.llm.models.resolve_model`, or any model of Pydantic AI.
        messages: What it is told.
        purpose: What the call is for, as it stands in the account.
        account: Where it is charged; without one, nothing is capped.
        max_tokens: The most it may generate; less where the account has less left.
        temperature: Left to the model where None, or where the model takes none.
        seed: For servers that heed it.
        logprobs: Whether to ask for log-probabilities of the tokens.
        schema: What the answer must be.
        on_delta: Called with each new piece of text. They are provisional: only the returned text counts.
        timeout: Seconds for each attempt, from sending to the last token.
        refused: Settings that the provider is known to refuse. Of `max_tokens`, `temperature`, `logprobs` and `seed`,
            one that it refuses by its name is added, left out, and the request sent again.

    Returns:
        The answer.

    Raises:
        BudgetExceeded: If the account has too little left.
        ModelUnavailable: Not reachable, no access, overloaded.
        ModelTimeout: Not complete in time.
        ModelRefused: Declined, or stopped by a content filter.
        ModelMalformed: Empty, unreadable, or not of the schema at the second attempt either.
    """
    form = cast("type[BaseModel] | None", schema)
    call = _Call(
        model=model,
        prompt=messages,
        settings=wire.settings_of(temperature, seed, logprobs=logprobs and schema is None),
        schema=form,
        purpose=purpose,
        account=account or Account(),
        max_tokens=max_tokens,
        timeout=timeout,
        on_delta=on_delta,
        refused=set() if refused is None else refused,
    )
    reply = await call.send_request()
    if form is None:
        return cast(Generation[T], call.read_text(reply))
    try:
        return cast(Generation[T], call.read_object(reply, form))
    except ModelCutOff:
        raise  # as many tokens would be spent before the first word again
    except ModelMalformed as error:
        second = await call.with_correction(reply, str(error.__cause__)).send_request()
        both = replace(reply, response=second.response, usage=reply.usage + second.usage)
        return cast(Generation[T], call.read_object(both, form))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelReply:
    response: Response
    usage: Usage
    first_token_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One request, ready to be sent, and what its reply has to be."""

    model: Model
    prompt: Prompt
    settings: Settings
    schema: type[BaseModel] | None
    purpose: str
    account: Account
    max_tokens: int
    timeout: float
    on_delta: Callable[[str], None] | None
    refused: set[str]

    async def send_request(self) -> _ModelReply:
        """Sends it within what the account allows, and charges what it used, also when it fails or is cancelled."""
        bound = wire.bound_of(self.prompt, self.schema)
        grant = self.account.reserve_call(self.purpose, self.max_tokens, bound)
        with open_call_span(self.model.model_name, provider=self.model.system, purpose=self.purpose) as span:
            span.add_attributes(max_tokens=grant.output_tokens)
            if "temperature" in self.settings:
                span.add_attributes(temperature=self.settings["temperature"])
            reply = await self._send_adapted(grant, bound)
            used, reason = reply.usage, reply.response.finish_reason
            span.add_attributes(input_tokens=used.input_tokens, output_tokens=used.output_tokens)
            span.add_attributes(finish_reasons=(reason,) if reason else None)
        return reply

    async def _send_adapted(self, grant: Grant, bound: int) -> _ModelReply:
        """The reply, asked for again without each setting that the provider refuses by its name."""
        while True:
            try:
                return await self._send_once(grant, bound)
            except ModelRefused as error:
                name = wire.refused_setting(str(error), self.refused)
                if name is None:
                    raise
                self.refused.add(name)
                grant = self.account.reserve_call(self.purpose, grant.output_tokens, bound)

    async def _send_once(self, grant: Grant, bound: int) -> _ModelReply:
        clock = self.account.clock
        began, first, usage, streamed = clock(), None, Usage(calls=1), 0
        try:
            async with aclosing(self._stream_pieces(grant)) as pieces:
                while isinstance(piece := await anext(pieces), str):
                    first = clock() - began if first is None else first
                    streamed += len(piece)
                    usage = Usage(calls=1, input_tokens=bound, output_tokens=streamed // wire.TOKEN_CHARS)
                    if self.on_delta is not None:
                        self.on_delta(piece)
                usage = wire.usage_of(piece, bound)
        finally:
            usage = replace(usage, seconds=clock() - began)
            self.account.charge_usage(grant, usage)
        seconds = None if piece.has_thought else first
        return _ModelReply(response=piece, usage=usage, first_token_seconds=seconds)

    async def _stream_pieces(self, grant: Grant) -> AsyncGenerator[str | Response]:
        """The pieces of text, where they are wanted, and then the whole response.

        A generator, so that what `on_delta` raises is not taken for a failure of the provider.
        """
        seconds = self.timeout if grant.seconds is None else min(self.timeout, grant.seconds)
        settings = wire.without_refused(self.settings, self.refused, grant.output_tokens)
        model = self.model
        send = model.send_prompt if isinstance(model, AddressedModel | CallbackModel) else partial(send_prompt, model)
        pieces = send(self.prompt, self.schema, settings, seconds, streamed=self.on_delta is not None)
        with translate_errors(model, seconds):
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece

    def with_correction(self, reply: _ModelReply, problem: str) -> "_Call":
        """The same request, with the unusable answer and what is wrong with it added; it is not streamed."""
        said = _written_text(reply.response)[:_REPEATED_CHARS] or "{}"
        history = (*self.prompt.history, ("user", self.prompt.prompt), ("assistant", said))
        prompt = replace(self.prompt, prompt=_AGAIN.format(problem=problem), history=history)
        return replace(self, prompt=prompt, on_delta=None)

    def read_text(self, reply: _ModelReply) -> Generation[None]:
        """The reply as text."""
        self._check_refusal(reply.response)
        text = reply.response.text.strip()
        if not text:
            raise (ModelCutOff if reply.response.finish_reason == "length" else ModelSilent)(
                f"{describe_model(self.model)} answered nothing{_why_empty(reply.response)}."
            )
        return self._make_generation(reply, text, None)

    def read_object(self, reply: _ModelReply, schema: type[BaseModel]) -> Generation[BaseModel]:
        """The reply as an object of the schema."""
        self._check_refusal(reply.response)
        text = _written_text(reply.response)
        try:
            value = parse_object(text, schema)
        except ValueError as error:
            cut_off = not text and reply.response.finish_reason == "length"
            raise (ModelCutOff if cut_off else ModelMalformed)(
                f"{describe_model(self.model)} did not answer with a usable {schema.__name__}: "
                f"{quote_provider(error)}; try again, or use a larger model."
            ) from error
        return self._make_generation(reply, text, value)

    def _make_generation(self, reply: _ModelReply, text: str, value: T) -> Generation[T]:
        return Generation(
            text=clean_text(text),
            value=value,
            thinking=clean_text(reply.response.thinking),
            usage=reply.usage,
            logprobs=None if self.schema else reply.response.logprobs,
            first_token_seconds=reply.first_token_seconds,
            model=reply.response.model or self.model.model_name,
            truncated=reply.response.finish_reason == "length",
        )

    def _check_refusal(self, response: Response) -> None:
        if response.finish_reason == "content_filter":
            reason = f": {quote_provider(response.refusal)}" if response.refusal else " (content filter)"
            raise ModelRefused(
                f"{describe_model(self.model)} declined to answer{reason}; put the question differently."
            )


def _written_text(response: Response) -> str:
    """The text, or what was put into a tool call instead: small models do so unasked."""
    return response.text.strip() or response.arguments


def _why_empty(response: Response) -> str:
    if response.finish_reason == "length":
        return ": it spent all its tokens before the first word; allow it more tokens"
    if response.arguments:
        return " but a call of a tool, and none was offered; try again, or use another model"
    return "; try again, or put the question differently"


# Models of Pydantic AI.


async def send_prompt(
    model: "FrameworkModel",
    prompt: Prompt,
    schema: type[BaseModel] | None,
    settings: Settings,
    seconds: float,
    *,
    streamed: bool,
) -> AsyncGenerator[str | Response]:
    """Send a prompt to a model of Pydantic AI: the pieces of text, where they are wanted, and then the whole."""
    from pydantic_ai.direct import model_request, model_request_stream

    messages, parameters = _messages_of(prompt), _parameters_of(model, schema)
    asked = _settings_of(model, settings, seconds)
    if not streamed:
        yield _read_response(
            await model_request(model, messages, model_settings=asked, model_request_parameters=parameters)
        )
        return
    async with model_request_stream(
        model, messages, model_settings=asked, model_request_parameters=parameters
    ) as stream:
        async for event in stream:
            if piece := _delta_of(event):
                yield piece
        yield _read_response(stream.get())


def _messages_of(prompt: Prompt) -> "list[ModelMessage]":
    """The messages that say `prompt`. The instructions go with the last request, which is where they count."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart

    earlier: list[ModelMessage] = [
        ModelRequest.user_text_prompt(clean_text(text))
        if role == "user"
        else ModelResponse(parts=[TextPart(clean_text(text))])
        for role, text in prompt.history
    ]
    instructions = clean_text(prompt.instructions) or None
    return [*earlier, ModelRequest.user_text_prompt(clean_text(prompt.prompt), instructions=instructions)]


def _settings_of(model: "FrameworkModel", settings: Settings, seconds: float) -> "OpenAIChatModelSettings":
    """The settings that `model` understands; a reasoning model refuses temperature and log-probabilities."""
    profile = cast(dict[str, Any], model.profile)
    reasons = profile.get("openai_supports_reasoning") and profile.get("thinking_enabled_by_default")
    asked: OpenAIChatModelSettings = {"request_timeout": seconds}
    if "max_tokens" in settings:
        asked["max_tokens"] = settings["max_tokens"]
    if "max_completion_tokens" in settings:
        asked["extra_body"] = {"max_completion_tokens": settings["max_completion_tokens"]}
    if "seed" in settings:
        asked["seed"] = settings["seed"]
    if "temperature" in settings and not reasons:
        asked["temperature"] = settings["temperature"]
    if "logprobs" in settings and not reasons:
        asked["openai_logprobs"] = True
    return asked


def _parameters_of(model: "FrameworkModel", schema: type[BaseModel] | None) -> "ModelRequestParameters":
    """Asks for text, or for JSON by `schema`: enforced by the server where it can, else described in the prompt."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if schema is None:
        return ModelRequestParameters()
    native = model.profile.get("supports_json_schema_output", False)
    output = OutputObjectDefinition(json_schema=deepcopy(schema_of(schema)), name=schema.__name__)
    return ModelRequestParameters(output_mode="native" if native else "prompted", output_object=output)


def _delta_of(event: "ModelResponseStreamEvent") -> str:
    """The new text in `event`; empty where it brings none, as with reasoning."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _read_response(response: "ModelResponse") -> Response:
    from pydantic_ai.messages import ThinkingPart, ToolCallPart

    parts, details = response.parts, response.provider_details or {}
    thinking = "\n\n".join(part.content for part in parts if isinstance(part, ThinkingPart)).strip()
    return Response(
        text=response.text or "",
        thinking=thinking,
        has_thought=bool(thinking or response.usage.details.get("reasoning_tokens")),
        arguments=next((part.args_as_json_str() for part in parts if isinstance(part, ToolCallPart)), ""),
        finish_reason=response.finish_reason,
        refusal=str(details.get("refusal") or ""),
        model=response.model_name,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        logprobs=_logprobs_of(response),
    )


def _logprobs_of(response: "ModelResponse") -> tuple[tuple[str, float], ...] | None:
    """Each token with its log-probability, from where the chat and the responses protocols of OpenAI have them."""
    from pydantic_ai.messages import TextPart

    details = [response.provider_details, *(p.provider_details for p in response.parts if isinstance(p, TextPart))]
    tokens = [token for place in details if place for token in place.get("logprobs") or ()]
    return tuple((str(token["token"]), float(token["logprob"])) for token in tokens) or None
