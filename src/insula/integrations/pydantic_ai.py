"""Pydantic AI agents (2.x): a capability.

    mind = Metacognition.sync("insula.db")
    agent = Agent(model, capabilities=[Insula(mind, user="ana")])
    agent.run_sync("Where do I live?", conversation_id="monday")

The session is the conversation; one without an id is a session of its own.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from insula.caches import LatestEntries
from insula.integrations.guest import (
    Guest,
    GuestInjection,
    GuestOptions,
    ModelWatch,
    append_text,
    import_extra,
    put_behind,
)
from insula.metacognition import Blocking, Metacognition

RANGE = "pydantic-ai-slim>=2.60,<3"
RUNS = 256
"""Runs whose answer may still come."""

if TYPE_CHECKING:
    Base = object
else:
    Base = import_extra("pydantic_ai.capabilities", "Pydantic AI", RANGE).AbstractCapability
_messages: Any = import_extra("pydantic_ai.messages", "Pydantic AI", RANGE)


class Insula(Base):
    """Puts memory, confidence and the senses before each model request, and assesses the answer.

    Args:
        mind: from `Metacognition.sync`, or from `Metacognition.open` where the agent is only ever awaited.
        options: `user`, `session`, `exempt` and `stop`, as for `Guest`.
    """

    def __init__(self, mind: Metacognition | Blocking, **options: Unpack[GuestOptions]) -> None:
        self.guest = Guest(mind, **options)
        self._runs = LatestEntries[str, GuestInjection](RUNS)

    async def wrap_model_request(
        self, ctx: Any, *, request_context: Any, handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        """Around a model request of `run`, `run_sync` and `run_stream`."""
        model = str(getattr(request_context.model, "model_name", ""))
        asking = self.guest.before_model(request_context.messages, session=ctx.conversation_id, model=model)
        told = self._runs[str(ctx.run_id)] = await self.guest.run_awaited(asking)
        if told.stop:
            return _messages.ModelResponse(parts=[_messages.TextPart(told.stop)])
        asked, watch = replace(request_context, messages=_inject_messages(request_context.messages, told)), ModelWatch()
        response = await handler(asked)
        text = await self.guest.run_awaited(self.guest.after_model(told, response, watch.measure_usage(response)))
        return response if text is None else _replace_response(response, text)

    async def after_run(self, ctx: Any, *, result: Any) -> Any:
        """When the run is over: what came as structured output is assessed here."""
        told = self._runs.pop(str(ctx.run_id), GuestInjection())
        await self.guest.run_awaited(self.guest.after_model(told, result.output))
        return result


def _inject_messages(messages: list[Any], told: GuestInjection) -> list[Any]:
    """The messages with what belongs into them; those that the framework keeps stay as they are."""
    changed = put_behind(messages, told, _append_to_message)
    if told.system and changed:
        changed[0] = replace(changed[0], parts=[_messages.SystemPromptPart(told.system), *changed[0].parts])
    return changed


def _append_to_message(message: Any, text: str, call: str) -> Any:
    parts = list(message.parts)
    for place in range(len(parts) - 1, -1, -1):
        part = parts[place]
        if call and getattr(part, "tool_call_id", "") == call:
            parts[place] = replace(part, content=f"{_result_text(part)}\n\n{text}")
            break
        if not call and part.part_kind == "user-prompt":
            both = append_text(part.content, text) if isinstance(part.content, str) else [*part.content, text]
            parts[place] = replace(part, content=both)
            break
    return replace(message, parts=parts)


def _result_text(part: Any) -> str:
    """A result as the model reads it."""
    if part.part_kind == "retry-prompt":
        return part.content if isinstance(part.content, str) else part.model_response()
    return part.model_response_str()


def _replace_response(response: Any, text: str) -> Any:
    others = [part for part in response.parts if part.part_kind != "text"]
    return replace(response, parts=[*others, _messages.TextPart(text)])
