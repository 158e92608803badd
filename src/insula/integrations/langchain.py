"""LangChain and LangGraph agents (1.x): a middleware, for `invoke` and `ainvoke` alike.

    mind = Metacognition.sync("insula.db")
    agent = create_agent(model, tools, middleware=[InsulaMiddleware(mind, user="ana")])
    agent.invoke({"messages": [...]}, config={"configurable": {"thread_id": "monday"}})

The session is the thread, and the user `configurable["user_id"]`, where they are given.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from insula.content import list_items, read_field
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

NAME, RANGE = "LangChain", "langchain>=1,<2"

if TYPE_CHECKING:
    Request = Response = Any
    Base = object
else:
    Base = import_extra("langchain.agents.middleware", NAME, RANGE).AgentMiddleware
_messages: Any = import_extra("langchain_core.messages", NAME, RANGE)


class InsulaMiddleware(Base):
    """Puts memory, confidence and the senses before each model call, and assesses the answer.

    Args:
        mind: from `Metacognition.sync`, or from `Metacognition.open` where the agent is only ever awaited.
        options: `user`, `session`, `exempt` and `stop`, as for `Guest`.
    """

    tools: Sequence[Any] = ()

    def __init__(self, mind: Metacognition | Blocking, **options: Unpack[GuestOptions]) -> None:
        super().__init__()
        self.guest = Guest(mind, **options)

    def wrap_model_call(self, request: "Request", handler: "Callable[[Request], Response]") -> "Response":
        """Around a model call of `invoke` and `stream`."""
        told = self.guest.run_waiting(self._ask_guest(request))
        if told.stop:
            return _messages.AIMessage(content=told.stop)
        asked, watch = _inject_request(request, told), ModelWatch()
        response = handler(asked)
        answer = self.guest.after_model(told, _find_answer(response), watch.measure_usage(response))
        return _replace_response(response, self.guest.run_waiting(answer))

    async def awrap_model_call(
        self, request: "Request", handler: "Callable[[Request], Awaitable[Response]]"
    ) -> "Response":
        """Around a model call of `ainvoke` and `astream`."""
        told = await self.guest.run_awaited(self._ask_guest(request))
        if told.stop:
            return _messages.AIMessage(content=told.stop)
        asked, watch = _inject_request(request, told), ModelWatch()
        response = await handler(asked)
        answer = self.guest.after_model(told, _find_answer(response), watch.measure_usage(response))
        return _replace_response(response, await self.guest.run_awaited(answer))

    async def _ask_guest(self, request: "Request") -> GuestInjection:
        known = _read_configurable(request)
        user, session = known.get("user_id"), known.get("thread_id")
        model = read_field(request.model, "model_name") or read_field(request.model, "model") or ""
        return await self.guest.before_model(
            request.messages, str(user) if user else None, str(session) if session else None, str(model)
        )


def _read_configurable(request: "Request") -> Mapping[str, Any]:
    """What the run was configured with; nothing outside of one."""
    try:
        config = import_extra("langgraph.config", NAME, RANGE).get_config()
    except RuntimeError:
        return {}
    return config.get("configurable") or {}


def _inject_request(request: "Request", told: GuestInjection) -> "Request":
    """The request with what belongs into it; the conversation that the framework keeps stays as it is."""
    changes: dict[str, Any] = {"messages": put_behind(request.messages, told, _append_to_message)}
    if told.system:
        before = request.system_message
        content = f"{before.text}\n\n{told.system}" if before is not None else told.system
        changes["system_message"] = _messages.SystemMessage(content=content)
    return request.override(**changes)


def _append_to_message(message: Any, text: str, _: str) -> Any:
    return message.model_copy(update={"content": append_text(message.content, text)})


def _find_answer(response: "Response") -> Any:
    """The model's message; a tool of structured output beside it says the same, and is no call to wait for."""
    if read_field(response, "structured_response") is not None:
        return response.structured_response
    return next(iter(list_items(read_field(response, "result"))), response)


def _replace_response(response: "Response", text: str | None) -> "Response":
    if text is None or not list_items(read_field(response, "result")):
        return response
    first, *rest = response.result
    response.result = [first.model_copy(update={"content": text}), *rest]
    return response
