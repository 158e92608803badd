"""OpenAI's client, which sends messages as they are.

It would look for fields to rename in each message of the history, once for each type that a message may have, and a
message has none: 5 of the 7 ms of CPU that a request with 24 lines of history takes.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from openai import AsyncOpenAI
from openai.resources.chat.chat import AsyncChat
from openai.resources.chat.completions.completions import AsyncCompletions


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
