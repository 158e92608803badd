"""Models of Pydantic AI: from our values to its messages, and from its response to ours."""

from collections.abc import AsyncGenerator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from insula.llm.structured import schema_of
from insula.llm.wire import Prompt, Response, Settings
from insula.text.analysis import clean_text

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModelSettings


async def send_prompt(
    model: "Model",
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


def _settings_of(model: "Model", settings: Settings, seconds: float) -> "OpenAIChatModelSettings":
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


def _parameters_of(model: "Model", schema: type[BaseModel] | None) -> "ModelRequestParameters":
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
