"""OpenAI's and Anthropic's own clients: one line around the client, and each call goes on as before.

    client = insula.integrations.clients.wrap(OpenAI(), mind, user="ana")
    client.chat.completions.create(model=..., messages=[...])

Of OpenAI's, `chat.completions.create`; of Anthropic's, `messages.create`; both of either kind, blocking and awaited.
What is streamed is passed through as it comes: it gets its instructions, and is not assessed.
"""

from inspect import iscoroutinefunction
from typing import Any

from insula.content import field
from insula.errors import InputError
from insula.integrations.guest import Guest, Told, joined, talking
from insula.integrations.mappings import with_told
from insula.metacognition import Blocking, Metacognition

__all__ = ["talking", "wrap"]

SYSTEM = frozenset(("system", "developer"))


def wrap(client: Any, mind: Metacognition | Blocking, **options: Any) -> Any:
    """The client, with memory, confidence and the senses in each call.

    Args:
        client: `OpenAI`, `AsyncOpenAI`, `Anthropic` or `AsyncAnthropic`; it is changed in place, and returned.
        mind: from `Metacognition.sync`, or from `Metacognition.open` where the client is an awaited one.
        options: `user`, `session` and `exempt`, as for `Guest`.

    Raises:
        InputError: it is none of these.
    """
    guest = Guest(mind, **options)
    if (chat := getattr(client, "chat", None)) is not None and hasattr(chat, "completions"):
        _around(chat.completions, guest, to_openai)
    elif hasattr(getattr(client, "messages", None), "create"):
        _around(client.messages, guest, _to_anthropic)
    else:
        kind = type(client).__name__
        raise InputError(f"{kind} is no client of OpenAI's or Anthropic's; give OpenAI(), Anthropic() or an async one.")
    return client


def _around(resource: Any, guest: Guest, put: Any) -> None:
    create = resource.create

    def blocking(*given: Any, **asked: Any) -> Any:
        told = guest.wait(guest.ask(asked.get("messages", ()), model=str(asked.get("model", ""))))
        response = create(*given, **put(asked, told))
        text = None if asked.get("stream") else guest.wait(guest.answer(told, response))
        return _hedged(response, text)

    async def awaited(*given: Any, **asked: Any) -> Any:
        told = await guest.awaited(guest.ask(asked.get("messages", ()), model=str(asked.get("model", ""))))
        response = await create(*given, **put(asked, told))
        text = None if asked.get("stream") else await guest.awaited(guest.answer(told, response))
        return _hedged(response, text)

    is_async = iscoroutinefunction(create) or type(resource).__name__.startswith("Async")
    resource.create = awaited if is_async else blocking


def to_openai(asked: dict[str, Any], told: Told) -> dict[str, Any]:
    """The arguments of a chat completion with what belongs into them."""
    messages = with_told(asked.get("messages", ()), told)
    if told.system:
        if messages and field(messages[0], "role") in SYSTEM:
            messages[0] = {**messages[0], "content": joined(field(messages[0], "content"), told.system)}
        else:
            messages.insert(0, {"role": "system", "content": told.system})
    return {**asked, "messages": messages}


def _to_anthropic(asked: dict[str, Any], told: Told) -> dict[str, Any]:
    changed = {**asked, "messages": with_told(asked.get("messages", ()), told)}
    own = asked.get("system")
    if told.system:
        changed["system"] = joined(own, told.system) if isinstance(own, str | list) else told.system
    return changed


def _hedged(response: Any, text: str | None) -> Any:
    """The response with another text in it."""
    if text is None:
        return response
    if choices := field(response, "choices"):
        choices[0].message.content = text
        return response
    said = [part for part in field(response, "content") or () if field(part, "type") == "text"]
    for part in said:
        part.text = text if part is said[0] else ""
    return response
