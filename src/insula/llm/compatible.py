"""Models behind an address that speaks the protocol of OpenAI: the embedded one, and any that a user names by URL."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from openai import AsyncOpenAI
from openai.resources.chat.chat import AsyncChat
from openai.resources.chat.completions.completions import AsyncCompletions

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.models.openai import OpenAIChatModelSettings


NO_KEY = "api-key-not-set"
"""What is sent where there is no key: OpenAI's client would take the one for OpenAI out of the environment."""
CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0
"""As long as OpenAI's own client waits between two bytes; the deadline of a call is the caller's."""


@asynccontextmanager
async def connect_model(
    name: str, base_url: str, key: str | None = None, settings: "OpenAIChatModelSettings | None" = None
) -> "AsyncGenerator[Model]":
    """The model `name` at `base_url`, with connections of its own that are closed at the end of the block.

    Args:
        name: As the server knows it.
        base_url: Of the API, usually ending in `/v1`.
        key: Sent to that address only; the environment's keys for other providers never are.
        settings: What holds for every request unless the request says otherwise.
    """
    import httpx2
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from insula.llm.compatible import UntransformedOpenAI

    profile = OpenAIModelProfile(
        # A stream that ends without saying so was cut off: then it must not pass for an answer.
        openai_chat_streaming_requires_finish_reason=True,
        # The older name of the cap on tokens: every server of this kind knows it, and a cap that is not known is none.
        openai_chat_supports_max_completion_tokens=False,
    )
    timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    # A proxy of the environment is for other hosts: what stays on this machine must not be sent through it.
    async with httpx2.AsyncClient(timeout=timeout, trust_env=not is_loopback(base_url)) as client:
        asked = UntransformedOpenAI(base_url=base_url, api_key=key or NO_KEY, http_client=client)
        provider = OpenAICompatibleProvider("insula", openai_client=asked, profile=profile)
        yield OpenAIChatModel(name, provider=provider, settings=settings)


def is_loopback(url: str) -> bool:
    """Whether `url` is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Completions(AsyncCompletions):
    async def create(  # pyright: ignore[reportIncompatibleMethodOverride] it takes what the other takes
        self, *, messages: Iterable[Any], extra_body: Mapping[str, object] | None = None, **options: Any
    ) -> Any:
        body = {**(extra_body or {}), "messages": messages}  # what is added to a body is not looked through
        return cast("Any", await super().create(messages=(), extra_body=body, **options))


class _Chat(AsyncChat):
    @property
    def completions(self) -> AsyncCompletions:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _Completions(self._client)


class UntransformedOpenAI(AsyncOpenAI):
    """The client."""

    @property
    def chat(self) -> AsyncChat:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Conversations."""
        return _Chat(self)
