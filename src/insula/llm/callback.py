"""A model that is a function of the caller's: for frameworks that have models of their own."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

from pydantic import BaseModel

from insula.llm.structured import schema_of
from insula.llm.wire import Prompt, Response, Settings

Ask = Callable[[Prompt, Settings], Awaitable[Response]]
FORM = "Answer with one JSON object of this schema, and nothing else:\n{schema}"


class CallbackModel:
    """A model that asks a function.

    Args:
        name: of the model.
        ask: called with each prompt and its settings; where JSON is wanted, its schema stands in the instructions,
            which every model can read. What it raises is told as a failure of the model.
    """

    system, base_url = "insula", ""

    def __init__(self, name: str, ask: Ask) -> None:
        self.model_name, self._ask = name, ask

    async def send_prompt(
        self,
        prompt: Prompt,
        schema: type[BaseModel] | None,
        settings: Settings,
        seconds: float,
        *,
        streamed: bool,
    ) -> AsyncGenerator[str | Response]:
        """Ask the function; its answer comes at once, and whole."""
        del streamed
        if schema is not None:
            form = FORM.format(schema=json.dumps(schema_of(schema)))
            prompt = replace(prompt, instructions=f"{prompt.instructions}\n\n{form}".strip())
        async with asyncio.timeout(seconds):
            response = await self._ask(prompt, settings)
        yield response
