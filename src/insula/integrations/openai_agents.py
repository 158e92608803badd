"""The OpenAI Agents SDK: a model around the one that the agent has.

    mind = Metacognition.sync("insula.db")
    agent = Agent(name="guide", model=wrapped("gpt-5", mind, user="ana"), tools=[...])
    with talking("ana", "monday"):
        await Runner.run(agent, "Where do I live?")

The session is what `talking` says, or the conversation that OpenAI keeps.
"""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Unpack

from insula.content import list_items, read_field
from insula.integrations.guest import Guest, GuestInjection, GuestOptions, ModelWatch, import_extra, put_behind, talking
from insula.metacognition import Blocking, Metacognition

__all__ = ["InsulaModel", "talking", "wrapped"]

NAME, RANGE = "the OpenAI Agents SDK", "openai-agents>=0.20,<1"

if TYPE_CHECKING:
    Base = object
else:
    Base = import_extra("agents", NAME, RANGE).Model


def wrapped(model: Any, mind: Metacognition | Blocking, **options: Unpack[GuestOptions]) -> "InsulaModel":
    """A model, or the name of one of OpenAI's, with Insula around it.

    Args:
        model: what the agent would otherwise be given.
        mind: from `Metacognition.sync`, or from `Metacognition.open` where the agent is only ever awaited.
        options: `user`, `session`, `exempt` and `stop`, as for `Guest`.
    """
    own = import_extra("agents", NAME, RANGE).MultiProvider().get_model(model) if isinstance(model, str) else model
    return InsulaModel(own, Guest(mind, **options))


class InsulaModel(Base):
    """Puts memory, confidence and the senses before each model call, and assesses the answer."""

    def __init__(self, model: Any, guest: Guest) -> None:
        self.model, self.guest = model, guest

    async def get_response(self, system_instructions: str | None, input: Any, *rest: Any, **more: Any) -> Any:  # noqa: A002
        """A model call of `Runner.run` and `Runner.run_sync`."""
        told, given = await self._ask_guest(input, more)
        system, watch = _join_system(system_instructions, told), ModelWatch()
        response = await self.model.get_response(system, given, *rest, **more)
        answer = self.guest.after_model(told, _find_answer(response.output), watch.measure_usage(response))
        if (text := await self.guest.run_awaited(answer)) is not None:
            _replace_output(response.output, text)
        return response

    async def stream_response(
        self,
        system_instructions: str | None,
        input: Any,  # noqa: A002
        *rest: Any,
        **more: Any,
    ) -> AsyncIterator[Any]:
        """A model call of `Runner.run_streamed`; what has been shown already is assessed, and stays."""
        told, given = await self._ask_guest(input, more)
        system, watch = _join_system(system_instructions, told), ModelWatch()
        async for event in self.model.stream_response(system, given, *rest, **more):
            if str(read_field(event, "type")).endswith(".delta"):
                watch.note_piece()
            if read_field(event, "type") == "response.completed":
                usage = watch.measure_usage(event.response)
                await self.guest.run_awaited(self.guest.after_model(told, _find_answer(event.response.output), usage))
            yield event

    async def close(self) -> None:
        """Close the model within."""
        await self.model.close()

    def get_retry_advice(self, request: Any) -> Any:
        """What the model within advises."""
        return self.model.get_retry_advice(request)

    async def _ask_guest(self, given: Any, more: dict[str, Any]) -> tuple[GuestInjection, Any]:
        messages = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        session = more.get("conversation_id")
        name = str(read_field(self.model, "model") or "")
        told = await self.guest.run_awaited(self.guest.before_model(messages, session=session, model=name))
        if told.stop:
            raise Impasse(told.stop)
        return told, put_behind(messages, told)


class Impasse(RuntimeError):
    """The agent was to stop where nothing helps, and it has come to that; the message is what its model was told."""


def _join_system(own: str | None, told: GuestInjection) -> str | None:
    return "\n\n".join(filter(None, (own, told.system))) or own


def _find_answer(output: list[Any]) -> list[Any]:
    """What was said and called: the parts of the response's messages."""
    parts: list[Any] = []
    for item in output:
        parts += list_items(read_field(item, "content")) if read_field(item, "type") == "message" else [item]
    return parts


def _replace_output(output: list[Any], text: str) -> None:
    parts = [
        part
        for item in output
        if read_field(item, "type") == "message"
        for part in list_items(read_field(item, "content"))
    ]
    said = [part for part in parts if read_field(part, "type") == "output_text"]
    for part in said:
        part.text = text if part is said[0] else ""
