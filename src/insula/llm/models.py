"""From a name to a model: the embedded one, any provider of Pydantic AI, or an address."""

import difflib
import os
import re
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from insula.errors import ModelUnavailable
from insula.llm import local
from insula.llm.compatible import AddressedModel, connect_model
from insula.llm.failures import UNNAMED, quote_provider
from insula.llm.model import Model

if TYPE_CHECKING:
    from pydantic_ai.models import Model as FrameworkModel

DEFAULT = local.EMBEDDED
"""Needs no key, no network and no other program."""

KEY_VARIABLE = "INSULA_API_KEY"
"""The key for a model that is named by its address."""

OLLAMA_URL = "http://127.0.0.1:11434/v1"
"""Where Ollama listens unless told otherwise."""

TEST_ANSWER = "I am the test model, and this is my only answer."

_ALIASES = {"google-gla": "google", "gemini": "google", "claude": "anthropic", "gpt": "openai"}
_PROVIDERS = ("openai", "anthropic", "google", "ollama", "groq", "mistral", "deepseek", "openrouter", "azure", "xai")
_FORMS = "'embedded', 'openai:gpt-5-mini', 'anthropic:claude-sonnet-4-5', 'ollama:llama3.2' or 'http://HOST/v1#NAME'"
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9_]+)` environment variable")
_THEIR_EXTRA = re.compile(r"pydantic-ai-slim\[([a-z-]+)\]")


@asynccontextmanager
async def resolve_model(name: str = DEFAULT, folder: Path | None = None) -> AsyncGenerator[Model]:
    """The model called `name`, for as long as the block lasts.

    Args:
        name: `embedded` (or the name of embedded weights), `test`, `provider:model`, or the address of a server that
            speaks OpenAI's protocol, with the model after a `#`: `http://127.0.0.1:8080/v1#qwen`. The key for an
            address stands in the environment as `INSULA_API_KEY`, that of a provider as the provider's page says.
        folder: A further place to look for embedded weights.

    Raises:
        ModelUnavailable: If there is no such model, or a key or a package for it is missing.
    """
    name = name.strip()
    if name == DEFAULT or name in local.WEIGHTS:
        source = local.run_embedded(local.DEFAULT if name == DEFAULT else name, folder)
    elif "://" in name:
        source = _at_address(name)
    else:
        source = _infer_provider_model(name)
    async with source as model:
        yield model


def _at_address(url: str) -> AbstractAsyncContextManager[AddressedModel]:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ModelUnavailable(
            "The address of a model is written http://HOST:PORT/v1#NAME or https://HOST/v1#NAME, without a user; "
            f"put its key into the environment as {KEY_VARIABLE}."
        )
    base_url = urlunsplit(parts._replace(fragment=""))
    return connect_model(parts.fragment or UNNAMED, base_url, os.environ.get(KEY_VARIABLE))


def _infer_provider_model(name: str) -> "FrameworkModel":
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.models.test import TestModel

    if name == "test":
        return TestModel(custom_output_text=TEST_ANSWER)
    provider, _, model = name.partition(":")
    provider = _ALIASES.get(provider, provider)
    if not model:
        raise ModelUnavailable(_describe_unknown(name))
    if provider == "ollama":
        return _of_ollama(model)
    try:
        return infer_model(f"{provider}:{model}")
    except (ImportError, UserError) as error:
        raise ModelUnavailable(_describe_missing(name, str(error))) from error


def _of_ollama(model: str) -> "FrameworkModel":
    from pydantic_ai.models.ollama import OllamaModel  # half a second, which no other provider need pay
    from pydantic_ai.providers.ollama import OllamaProvider

    address = os.environ.get("OLLAMA_BASE_URL", OLLAMA_URL)
    return OllamaModel(model, provider=OllamaProvider(base_url=address))


def _describe_missing(name: str, problem: str) -> str:
    """What the user has to do before `name` can be used."""
    if variable := _VARIABLE.search(problem):
        return f"The model '{name}' needs a key; put it into the environment as {variable[1]}."
    if extra := _THEIR_EXTRA.search(problem):
        return f"The model '{name}' needs a package that is not installed; run: pip install \"{extra[0]}\""
    if problem.startswith("Unknown"):
        return _describe_unknown(name)
    return f"The model '{name}' is not ready for use: {quote_provider(problem)}."


def _describe_unknown(name: str) -> str:
    provider, colon, model = name.partition(":")
    known = _PROVIDERS if colon else (DEFAULT, "test", *local.WEIGHTS)
    near = difflib.get_close_matches(provider.lower(), known, n=1)
    if near and near[0] != provider:
        return f"There is no model called '{name}'; did you mean '{near[0]}{colon}{model}'?"
    return f"There is no model called '{name}'; name one like {_FORMS}."
