"""Between our values and those of Pydantic AI, in both directions."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel

from insula.llm.budget import bound_tokens
from insula.llm.structured import schema_of
from insula.text.analysis import clean_text
from insula.types import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModelSettings

Role = Literal["user", "assistant"]

TOKEN_CHARS = 4
"""Characters per token, where a provider does not say what was used (DESIGN: O2)."""

TEMPLATE_TOKENS = 40
"""What a chat template adds to a request, at most: SmolLM2's and Qwen's add a system prompt of 22 where none is."""

MESSAGE_TOKENS = 8
"""What it adds to each earlier message, at most (ChatML: 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is told. Lone surrogates and control characters are taken out on the way."""

    prompt: str
    instructions: str = ""
    """The system prompt."""
    history: Sequence[tuple[Role, str]] = ()
    """Earlier messages, oldest first."""


def messages_of(prompt: Prompt) -> "list[ModelMessage]":
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


def with_correction(messages: "list[ModelMessage]", said: str, correction: str) -> "list[ModelMessage]":
    """`messages`, an answer to them, and what is to be corrected in it."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart

    last = cast(ModelRequest, messages[-1])
    again = ModelRequest.user_text_prompt(correction, instructions=last.instructions)
    return [*messages, ModelResponse(parts=[TextPart(said)]), again]


def settings_of(
    model: "Model", temperature: float | None, seed: int | None, logprobs: bool
) -> "OpenAIChatModelSettings":
    """The settings that `model` understands; a reasoning model refuses temperature and log-probabilities."""
    settings: OpenAIChatModelSettings = {}  # whose module takes most of a second to import, for whatever model
    profile = cast(dict[str, Any], model.profile)
    reasons = profile.get("openai_supports_reasoning") and profile.get("thinking_enabled_by_default")
    if temperature is not None and not reasons:
        settings["temperature"] = temperature
    if logprobs and not reasons:
        settings["openai_logprobs"] = True
    if seed is not None:
        settings["seed"] = seed
    return settings


REFUSABLE = {"max_tokens": "max_tokens", "temperature": "temperature", "logprobs": "openai_logprobs", "seed": "seed"}
"""What a provider may refuse by its name, and what that is called among our settings."""


def refused_setting(refusal: str, refused: AbstractSet[str]) -> str | None:
    """The setting that a refusal names, but for those that were left out already; None where it names none."""
    return next(
        (name for name in REFUSABLE if name not in refused and re.search(rf"\b{name}\b", refusal, re.I)),
        None,
    )


def without_refused(
    settings: "OpenAIChatModelSettings", refused: AbstractSet[str], max_tokens: int
) -> "OpenAIChatModelSettings":
    """The settings but for those that the provider refuses; the cap on tokens goes by its newer name then."""
    names = {REFUSABLE[name] for name in refused}
    left = {name: value for name, value in settings.items() if name not in names}
    cap = (
        {"extra_body": {"max_completion_tokens": max_tokens}} if "max_tokens" in refused else {"max_tokens": max_tokens}
    )
    return cast("OpenAIChatModelSettings", left | cap)


def parameters_of(model: "Model", schema: type[BaseModel] | None) -> "ModelRequestParameters":
    """Asks for text, or for JSON by `schema`: enforced by the server where it can, else described in the prompt."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if schema is None:
        return ModelRequestParameters()
    native = model.profile.get("supports_json_schema_output", False)
    output = OutputObjectDefinition(json_schema=deepcopy(schema_of(schema)), name=schema.__name__)
    return ModelRequestParameters(output_mode="native" if native else "prompted", output_object=output)


def delta_of(event: "ModelResponseStreamEvent") -> str:
    """The new text in `event`; empty where it brings none, as with reasoning."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def thinking_of(response: "ModelResponse") -> str:
    """What the model thought aloud before it answered; empty for most."""
    from pydantic_ai.messages import ThinkingPart

    return "\n\n".join(part.content for part in response.parts if isinstance(part, ThinkingPart)).strip()


def has_thought(response: "ModelResponse") -> bool:
    """Whether the model thought before it answered, aloud or not."""
    return bool(thinking_of(response) or response.usage.details.get("reasoning_tokens"))


def arguments_of(response: "ModelResponse") -> str:
    """The arguments of a tool call, as JSON, if the model made one although no tool was offered."""
    from pydantic_ai.messages import ToolCallPart

    return next((part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)), "")


def logprobs_of(response: "ModelResponse") -> tuple[tuple[str, float], ...] | None:
    """Each token with its log-probability, from where the chat and the responses protocols of OpenAI have them."""
    from pydantic_ai.messages import TextPart

    details = [response.provider_details, *(p.provider_details for p in response.parts if isinstance(p, TextPart))]
    tokens = [token for place in details if place for token in place.get("logprobs") or ()]
    return tuple((str(token["token"]), float(token["logprob"])) for token in tokens) or None


def bound_of(messages: "list[ModelMessage]", schema: type[BaseModel] | None) -> int:
    """The most tokens that the prompt is likely to come to."""
    texts = [str(schema_of(schema))] if schema else []
    for message in messages:
        texts.append(getattr(message, "instructions", None) or "")
        texts.extend(str(getattr(part, "content", "")) for part in message.parts)
    return sum(bound_tokens(text) for text in texts) + TEMPLATE_TOKENS + MESSAGE_TOKENS * (len(messages) - 1)


def usage_of(response: "ModelResponse", bound: int) -> Usage:
    """What the call used: as the provider says, else estimated, the input by its `bound`."""
    if response.usage.input_tokens or response.usage.output_tokens:
        return Usage(calls=1, input_tokens=response.usage.input_tokens, output_tokens=response.usage.output_tokens)
    written = (response.text or "") + thinking_of(response) + arguments_of(response)
    return Usage(calls=1, input_tokens=bound, output_tokens=-(-len(written) // TOKEN_CHARS))
