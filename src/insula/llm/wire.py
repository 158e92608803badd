"""What goes to a model and comes back, whosever protocol carries it."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, TypedDict, cast

from pydantic import BaseModel

from insula.llm.budget import bound_tokens
from insula.llm.structured import schema_of
from insula.types import Usage

Role = Literal["user", "assistant"]

TOKEN_CHARS = 4
"""Characters per token, where a provider does not say what was used (DESIGN: O2)."""

TEMPLATE_TOKENS = 40
"""What a chat template adds to a request, at most: SmolLM2's and Qwen's add a system prompt of 22 where none is."""

MESSAGE_TOKENS = 8
"""What it adds to each earlier message, at most (ChatML: 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is told. Lone surrogates and control characters are taken out."""

    prompt: str
    instructions: str = ""
    """The system prompt."""
    history: Sequence[tuple[Role, str]] = ()
    """Earlier messages, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a model answered, whosever protocol it came by."""

    text: str
    thinking: str = ""
    """What it thought aloud before it answered; empty for most."""
    has_thought: bool = False
    """Whether it thought before it answered, aloud or not."""
    arguments: str = ""
    """The arguments of a tool call, as JSON, if it made one although no tool was offered."""
    finish_reason: str | None = None
    refusal: str = ""
    """In which words it declined, where it declined."""
    model: str | None = None
    """The model's name by the server's own word."""
    input_tokens: int = 0
    output_tokens: int = 0
    logprobs: tuple[tuple[str, float], ...] | None = None


class Settings(TypedDict, total=False):
    """What a model is asked to heed, by the names of OpenAI's protocol."""

    max_tokens: int
    max_completion_tokens: int
    temperature: float
    logprobs: bool
    seed: int


def settings_of(temperature: float | None, seed: int | None, *, logprobs: bool) -> Settings:
    """The settings of a call; what is None or False is left to the model."""
    settings: Settings = {}
    if temperature is not None:
        settings["temperature"] = temperature
    if logprobs:
        settings["logprobs"] = True
    if seed is not None:
        settings["seed"] = seed
    return settings


REFUSABLE = ("max_tokens", "temperature", "logprobs", "seed")
"""What a provider may refuse by its name."""


def refused_setting(refusal: str, refused: AbstractSet[str]) -> str | None:
    """The setting that a refusal names, but for those that were left out already; None where it names none."""
    return next(
        (name for name in REFUSABLE if name not in refused and re.search(rf"\b{name}\b", refusal, re.I)),
        None,
    )


def without_refused(settings: Settings, refused: AbstractSet[str], max_tokens: int) -> Settings:
    """The settings but for those that the provider refuses; the cap on tokens goes by its newer name then."""
    left = cast("Settings", {name: value for name, value in settings.items() if name not in refused})
    if "max_tokens" in refused:
        left["max_completion_tokens"] = max_tokens
    else:
        left["max_tokens"] = max_tokens
    return left


def bound_of(prompt: Prompt, schema: type[BaseModel] | None) -> int:
    """The most tokens that a prompt is likely to come to."""
    texts = [str(schema_of(schema))] if schema else []
    texts += [prompt.instructions, prompt.prompt, *(said for _, said in prompt.history)]
    return sum(map(bound_tokens, texts)) + TEMPLATE_TOKENS + MESSAGE_TOKENS * len(prompt.history)


def usage_of(response: Response, bound: int) -> Usage:
    """What the call used: as the provider says, else estimated, the input by its `bound`."""
    if response.input_tokens or response.output_tokens:
        return Usage(calls=1, input_tokens=response.input_tokens, output_tokens=response.output_tokens)
    written = response.text + response.thinking + response.arguments
    return Usage(calls=1, input_tokens=bound, output_tokens=-(-len(written) // TOKEN_CHARS))
