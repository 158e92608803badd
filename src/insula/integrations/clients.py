"""OpenAI's and Anthropic's own clients: one line around the client, and each call goes on as before.

    client = insula.integrations.clients.wrap(OpenAI(), mind, user="ana")
    client.chat.completions.create(model=..., messages=[...])

Of OpenAI's, `chat.completions.create`; of Anthropic's, `messages.create`; both of either kind, blocking and awaited.
What is streamed is passed through as it comes, and assessed when it has ended.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from inspect import iscoroutinefunction, signature
from typing import Any, TypeVar, Unpack

from insula.content import read_field
from insula.errors import InputError
from insula.integrations.guest import Guest, GuestInjection, GuestOptions, ModelWatch, append_text, put_behind, talking
from insula.metacognition import Blocking, Metacognition

__all__ = ["talking", "wrap"]

Client = TypeVar("Client")

SYSTEM = frozenset(("system", "developer"))


def wrap(client: Client, mind: Metacognition | Blocking, **options: Unpack[GuestOptions]) -> Client:
    """The client, with memory, confidence and the senses in each call.

    Args:
        client: `OpenAI`, `AsyncOpenAI`, `Anthropic` or `AsyncAnthropic`; it is changed in place, and returned.
        mind: from `Metacognition.sync`, or from `Metacognition.open` where the client is an awaited one.
        options: `user`, `session` and `exempt`, as for `Guest`.

    Raises:
        InputError: it is none of these, is wrapped already, or is a blocking one beside a mind that is awaited.
    """
    return _wrap_client(client, mind, Guest(mind, **options))


def _wrap_client(client: Client, mind: Metacognition | Blocking, guest: Guest) -> Client:
    completions, messages = read_field(read_field(client, "chat"), "completions"), read_field(client, "messages")
    resource, put = (completions, to_openai) if completions is not None else (messages, _to_anthropic)
    create: Any = getattr(resource, "create", None)
    if isinstance(client, type) or not _takes_messages(create):
        kind = f"The class {client.__name__}" if isinstance(client, type) else type(client).__name__
        raise InputError(f"{kind} is no client of OpenAI's or Anthropic's; give OpenAI(), Anthropic() or an async one.")
    if getattr(create, "__module__", "") == __name__:
        raise InputError("This client is wrapped already; for another user: with talking(user, session) around a call.")
    is_async = iscoroutinefunction(create) or type(resource).__name__.startswith("Async")
    if not is_async and isinstance(mind, Metacognition):
        raise InputError(
            f"{type(client).__name__} is called without await, and this mind with it; give an async client, or "
            f"`Metacognition.sync(path)`."
        )
    resource.create = _wrap_create(create, guest, put, is_async)
    for name in ("copy", "with_options"):  # a client of its own, with other options
        if (copy := getattr(client, name, None)) is not None:
            setattr(client, name, partial(_wrap_copy, copy, mind, guest))
    return client


def _wrap_copy(copy: Callable[..., Any], mind: Metacognition | Blocking, guest: Guest, **options: Any) -> Any:
    return _wrap_client(copy(**options), mind, guest)


def _takes_messages(create: object) -> bool:
    """Whether something can be called with `messages`: that of clients for other things, SMS say, cannot."""
    if not callable(create):
        return False
    asked = signature(create).parameters
    return "messages" in asked or any(parameter.kind is parameter.VAR_KEYWORD for parameter in asked.values())


def _wrap_create(create: Callable[..., Any], guest: Guest, put: Any, is_async: bool) -> Callable[..., Any]:
    """What is called in the place of a client's method."""

    def create_blocking(*given: Any, **asked: Any) -> Any:
        told = guest.run_waiting(guest.before_model(asked.get("messages", ()), model=str(asked.get("model", ""))))
        asked, watch = put(asked, told), ModelWatch()
        response = create(*given, **asked)
        if asked.get("stream"):
            return _around_stream(response, partial(_listen_stream, guest, told, watch))
        return _replace_text(
            response, guest.run_waiting(guest.after_model(told, response, watch.measure_usage(response)))
        )

    async def create_awaited(*given: Any, **asked: Any) -> Any:
        told = await guest.run_awaited(guest.before_model(asked.get("messages", ()), model=str(asked.get("model", ""))))
        asked, watch = put(asked, told), ModelWatch()
        response = await create(*given, **asked)
        if asked.get("stream"):
            return _around_stream(response, partial(_listen_async_stream, guest, told, watch))
        return _replace_text(
            response, await guest.run_awaited(guest.after_model(told, response, watch.measure_usage(response)))
        )

    return create_awaited if is_async else create_blocking


def _around_stream(stream: Any, listen: Callable[[Any], Any]) -> Any:
    """The stream, listened to where the client's is of the kind that is known; in place, as it is used in many ways."""
    if (read := getattr(stream, "_iterator", None)) is not None:
        stream._iterator = listen(read)
    return stream


def _listen_stream(guest: Guest, told: GuestInjection, watch: ModelWatch, read: Iterator[Any]) -> Iterator[Any]:
    heard: list[Any] = []
    for piece in read:
        watch.note_piece()
        heard.append(piece)
        yield piece
    guest.run_waiting(guest.after_model(told, join_stream(heard), watch.measure_usage(*heard)))


async def _listen_async_stream(
    guest: Guest, told: GuestInjection, watch: ModelWatch, read: AsyncIterator[Any]
) -> AsyncIterator[Any]:
    heard: list[Any] = []
    async for piece in read:
        watch.note_piece()
        heard.append(piece)
        yield piece
    await guest.run_awaited(guest.after_model(told, join_stream(heard), watch.measure_usage(*heard)))


def join_stream(pieces: list[Any]) -> Any:
    """The message that the pieces of a stream make together; None where a tool is called."""
    deltas = [read_field(choice, "delta") for piece in pieces for choice in read_field(piece, "choices") or ()]
    deltas += [read_field(piece, "delta") for piece in pieces if read_field(piece, "type") == "content_block_delta"]
    called = any(read_field(delta, "tool_calls") or read_field(delta, "partial_json") is not None for delta in deltas)
    return (
        None if called else "".join(read_field(delta, "content") or read_field(delta, "text") or "" for delta in deltas)
    )


def to_openai(asked: dict[str, Any], told: GuestInjection) -> dict[str, Any]:
    """The arguments of a chat completion with what belongs into them."""
    messages = put_behind(asked.get("messages", ()), told)
    if told.system:
        if messages and read_field(messages[0], "role") in SYSTEM:
            messages[0] = {**messages[0], "content": append_text(read_field(messages[0], "content"), told.system)}
        else:
            messages.insert(0, {"role": "system", "content": told.system})
    return {**asked, "messages": messages}


def _to_anthropic(asked: dict[str, Any], told: GuestInjection) -> dict[str, Any]:
    changed = {**asked, "messages": put_behind(asked.get("messages", ()), told)}
    own = asked.get("system")
    if told.system:
        changed["system"] = append_text(own, told.system) if isinstance(own, str | list) else told.system
    return changed


def _replace_text(response: Any, text: str | None) -> Any:
    """The response with another text in it."""
    if text is None:
        return response
    if choices := read_field(response, "choices"):
        choices[0].message.content = text
        return response
    said = [part for part in read_field(response, "content") or () if read_field(part, "type") == "text"]
    for part in said:
        part.text = text if part is said[0] else ""
    return response
