"""A model that is a function of the caller's: for frameworks that have models of their own."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from insula.llm.wire import Role

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.models.function import AgentInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackRequest:
    """What the function is asked."""

    instructions: str
    """The system prompt; empty for none. Where JSON is wanted, its schema stands here."""
    messages: Sequence[tuple[Role, str]]
    """Oldest first; the last is the user's."""
    max_tokens: int | None
    temperature: float | None
    seed: int | None
    logprobs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackAnswer:
    """What it answers."""

    text: str
    input_tokens: int = 0
    """With `output_tokens`, what was used; of 0 and 0 it is estimated."""
    output_tokens: int = 0
    truncated: bool = False
    refused: bool = False
    """Whether the model declined, or a content filter took its answer."""
    thinking: str = ""
    """What was thought aloud before the text, where the framework keeps it apart."""
    logprobs: Sequence[tuple[str, float]] | None = None
    """Each token with its natural log-probability, where they were asked for and there are any."""


Ask = Callable[[CallbackRequest], Awaitable[CallbackAnswer]]


def callback_model(name: str, ask: Ask) -> "Model":
    """A model that asks a function.

    Args:
        ask: called with each request; what it raises is told as a failure of the model.
    """
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.profiles import ModelProfile

    async def respond(messages: "list[ModelMessage]", info: "AgentInfo") -> "ModelResponse":
        return _make_response(await ask(_read_request(messages, info)))

    # Without a form of its own for JSON, so that the schema stands in the prompt, which every model can read.
    return FunctionModel(respond, model_name=name, profile=ModelProfile(supports_json_schema_output=False))


def _read_request(messages: "list[ModelMessage]", info: "AgentInfo") -> CallbackRequest:
    settings = cast("dict[str, Any]", info.model_settings or {})
    return CallbackRequest(
        instructions=info.instructions or "",
        messages=[_read_message(message) for message in messages],
        max_tokens=settings.get("max_tokens"),
        temperature=settings.get("temperature"),
        seed=settings.get("seed"),
        logprobs=bool(settings.get("openai_logprobs")),
    )


def _read_message(message: "ModelMessage") -> tuple[Role, str]:
    from pydantic_ai.messages import ModelRequest, TextPart, UserPromptPart

    text = "".join(str(part.content) for part in message.parts if isinstance(part, UserPromptPart | TextPart))
    return ("user" if isinstance(message, ModelRequest) else "assistant"), text


def _make_response(answered: CallbackAnswer) -> "ModelResponse":
    from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart
    from pydantic_ai.usage import RequestUsage

    thought = [ThinkingPart(answered.thinking)] if answered.thinking else []
    tokens = [{"token": token, "logprob": value} for token, value in answered.logprobs or ()]
    return ModelResponse(
        parts=[*thought, TextPart(answered.text)],
        usage=RequestUsage(input_tokens=answered.input_tokens, output_tokens=answered.output_tokens),
        provider_details={"logprobs": tokens} if tokens else None,
        finish_reason="content_filter" if answered.refused else "length" if answered.truncated else "stop",
    )
