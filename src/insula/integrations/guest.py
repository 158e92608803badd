"""What every integration does in each step of an agent's run: ask before the model is called, answer after it.

The framework's own part is to put three texts where they belong, and to hand over what came back. The packages that
integrations need are named with their range where one is missing or of another version.
"""

import logging
import time
from collections.abc import Collection, Coroutine, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from dataclasses import field as of_class
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from insula import content
from insula.caches import LatestEntries
from insula.coding.step.wording import SIGN
from insula.content import list_items, read_field
from insula.errors import InputError
from insula.memory.storage.store import check_names
from insula.metacognition import Blocking, Metacognition
from insula.senses import Note, State, feel_messages
from insula.senses.messages import Returned, UserWords, is_beginning, list_user_words, read_events
from insula.types import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from insula.metacognition import Turn


INSTALL = "pip install {range!r}"


def import_extra(module: str, name: str, supported: str) -> Any:
    """A module of the package that an integration is for.

    Args:
        module: its name.
        name: the package, as people call it.
        supported: the range of versions that the integration is tested with, as pip takes it.

    Raises:
        ImportError: it is missing, or of a version that has no such module; the message says what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"Insula's integration needs {name} in the range {supported!r} ({error}); run: "
            f"{INSTALL.format(range=supported)}"
        ) from error


log = logging.getLogger(__name__)

T = TypeVar("T")

USER, SESSION = "user", "session"
TALKS = 256
"""Sessions that are remembered at a time; of one that was let go, the senses look at the whole history once."""
NOTES = 64
"""Notes of a session that are put behind their results again, so that a provider's cache holds."""

_talking: ContextVar[tuple[str, str] | None] = ContextVar("insula_talking", default=None)


@contextmanager
def talking(user: str, session: str) -> "Generator[None]":
    """Whose conversation the agent runs in this block are, where the framework does not say."""
    token = _talking.set((user, session))
    try:
        yield
    finally:
        _talking.reset(token)


@dataclass(slots=True)
class GuestSession:
    """A session as the integration knows it: what the senses felt, and the turns that are open."""

    state: State | None = None
    notes: "LatestEntries[str, Note]" = of_class(default_factory=lambda: LatestEntries(NOTES))
    turns: "dict[tuple[int, str], Turn]" = of_class(default_factory=dict[tuple[int, str], "Turn"])


class GuestInjection(NamedTuple):
    """What to put before the model in one call."""

    turn: "Turn | None" = None
    system: str = ""
    """For the system prompt: the same from call to call."""
    behind: str = ""
    """To be put behind the user's message, within it."""
    notes: Mapping[str, str] = {}
    """Id of a tool call -> the note to be put behind its result."""
    stop: str = ""
    """Where the host wishes to stop at an impasse: what to say instead of calling the model."""


class ModelWatch:
    """How long a model takes for an answer, without anything of ours; to be made just before it is called."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._first: float | None = None

    def note_piece(self) -> None:
        """A piece of the answer came; the first one counts."""
        self._first = self._first or time.perf_counter() - self._began

    def measure_usage(self, *responses: object) -> Usage:
        """What the answer cost, to be asked when it is there; nothing where its library does not say how many tokens.

        Args:
            responses: the response, or all pieces of a stream.
        """
        seconds = time.perf_counter() - self._began
        try:
            known = [usage for response in responses for usage in _read_usages(response)]
            read = max([0, *(_read_number(usage, "input_tokens", "prompt_tokens") for usage in known)])
            written = max([0, *(_read_number(usage, "output_tokens", "completion_tokens") for usage in known)])
            thought = any(map(_has_thought, known))
        except Exception:
            log.exception("What a call of the model cost could not be read.")
            return Usage()
        if not written:
            return Usage()
        first = None if thought else self._first
        if first is None and self._first is not None:  # what was made first was not seen, and whoever reads may be slow
            seconds = 0.0
        return Usage(calls=1, input_tokens=read, output_tokens=written, seconds=seconds, seconds_to_first_token=first)


def _read_usages(response: object) -> list[Any]:
    """What a response, or a message within it, says that it cost."""
    within = [response, read_field(response, "message"), *list_items(read_field(response, "result"))]
    usages = [read_field(part, name) for part in within if part is not None for name in ("usage", "usage_metadata")]
    return [usage for usage in usages if usage is not None]


def _read_number(usage: object, *names: str) -> int:
    return next((number for name in names if isinstance(number := read_field(usage, name), int)), 0)


def _has_thought(usage: object) -> bool:
    """Whether tokens were made before those that were shown."""
    names = "details", "completion_tokens_details", "output_tokens_details", "output_token_details"
    return any(_read_number(read_field(usage, name), "reasoning_tokens", "reasoning") for name in names)


class GuestOptions(TypedDict, total=False):
    """What an integration may be given beside its mind; see `Guest`."""

    user: str
    session: str
    exempt: Collection[str]
    stop: bool


class Guest:
    """Metacognition in an agent of any framework. Whatever fails here, the agent runs on as without it (law 4).

    Args:
        mind: from `Metacognition.open`, or from `Metacognition.sync` where hooks are called without `await`.
        user: whose memory is used, where neither the framework nor `talking` says.
        session: the conversation, likewise.
        exempt: names of tools that the senses pass over.
        stop: whether to end the run when the loudest note has been given and nothing has changed.
    """

    def __init__(
        self,
        mind: Metacognition | Blocking,
        *,
        user: str = USER,
        session: str = SESSION,
        exempt: Collection[str] = (),
        stop: bool = False,
    ) -> None:
        if not isinstance(mind, Metacognition | Blocking):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"{mind!r} is no Metacognition; give what Metacognition.open or .sync returned.")
        check_names(user, session)
        self.blocking = mind if isinstance(mind, Blocking) else None
        self.mind = mind.mind if isinstance(mind, Blocking) else mind
        self._who = user, session
        self._exempt, self._stop = frozenset(exempt), stop
        self._talks = LatestEntries[tuple[str, str], GuestSession](TALKS)

    def run_waiting(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine of ours returns, for a hook without `await`."""
        if self.blocking is None:
            self.blocking = Blocking.wrap_open(self.mind)
        return self.blocking.run_waiting(work)

    async def run_awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for a hook with `await`, on whatever loop it runs."""
        return await (self.blocking.run_awaited(work) if self.blocking else work)

    async def before_model(
        self, messages: Sequence[object], user: str | None = None, session: str | None = None, model: str = ""
    ) -> GuestInjection:
        """What to put before the model; the same however often a step is tried again.

        Args:
            messages: the conversation as it is about to be sent.
            user: whose memory is used, where the framework says.
            session: the conversation, likewise.
            model: the name of the model.
        """
        try:
            return await self._before_model(messages, self._resolve_place(user, session), model)
        except Exception:
            self._count_failure("ask")
            return GuestInjection()

    async def before_message(self, message: str, session: str | None) -> GuestInjection:
        """The same where the framework hands over what the user says alone: each message begins a turn of its own.

        Args:
            message: what the user says.
            session: the conversation, where the framework says.
        """
        try:
            who = self._resolve_place(None, session)
            talk = self._find_session(who)
            while talk.turns:
                await talk.turns.popitem()[1].leave_turn()
            turn = talk.turns[0, message] = await self.mind.begin(*who, message)
            return GuestInjection(turn, turn.instructions_stable, turn.instructions_now)
        except Exception:
            self._count_failure("ask")
            return GuestInjection()

    async def after_model(self, told: GuestInjection, response: object, usage: Usage | None = None) -> str | None:
        """The text for the user where it should be another than the response's; None where that stands.

        A response that asks for tools is no answer yet, and nothing is written into data.

        Args:
            told: what was put before the model.
            response: what came back.
            usage: what it cost, as a `ModelWatch` has it.
        """
        try:
            given = content.read_content(response)
            if told.turn is None or told.turn.over or given.calls or not given.text.strip():
                return None
            result = await self.mind.finish(told.turn, response, usage=usage)
            return result.response if result.hedged else None
        except Exception:
            self._count_failure("answer")
            return None

    def _resolve_place(self, user: str | None, session: str | None) -> tuple[str, str]:
        known = _talking.get() or self._who
        return str(user or known[0]), str(session or known[1])  # an id of a thread may be a UUID

    async def _before_model(self, messages: Sequence[object], who: tuple[str, str], model: str) -> GuestInjection:
        talk = self._find_session(who)
        note = self._feel_step(talk, messages)
        turn = await self._begin_turn(talk, who, messages, model)
        notes = {key: told.text for key, told in talk.notes.items()}
        stop = note.text if note and note.impasse and self._stop else ""
        if turn is None:
            return GuestInjection(notes=notes, stop=stop)
        if note and note.impasse:
            turn.stuck(note.text)
        return GuestInjection(turn, turn.instructions_stable, turn.instructions_now, notes, stop)

    def _find_session(self, who: tuple[str, str]) -> GuestSession:
        self._talks[who] = talk = self._talks.get(who) or GuestSession()
        return talk

    def _feel_step(self, talk: GuestSession, messages: Sequence[object]) -> Note | None:
        """What there is to say of the last step; said again where the step is tried again."""
        before = None if is_beginning(messages) else talk.state  # another conversation may go by the same name
        talk.state, note = feel_messages(messages, before, exempt=self._exempt)
        last = talk.state.known[-1] if talk.state.known else ""
        if note is not None:
            talk.notes[last] = note
        return talk.notes.get(last)

    async def _begin_turn(
        self, talk: GuestSession, who: tuple[str, str], messages: Sequence[object], model: str
    ) -> "Turn | None":
        """The turn of the user's last message: the open one where a call is repeated, else a new one; those before it
        are left.
        """
        heard = [words for words in list_user_words(messages) if not words.startswith(SIGN)]
        if not heard:
            return None
        talk.turns = {place: turn for place, turn in talk.turns.items() if not turn.over}
        key = len(heard), heard[-1]
        longer = [turn for place, turn in talk.turns.items() if place[1] == key[1] and place[0] > key[0]]
        same = talk.turns.get(key) or next(iter(longer), None)  # the history may be shortened within the run
        if same is not None and not await same.holds_erased():
            return same
        for old in [place for place, turn in talk.turns.items() if turn is same or place[0] < key[0]]:
            await talk.turns.pop(old).leave_turn()
        turn = talk.turns[key] = await self.mind.begin(*who, heard[-1], model=model)
        return turn

    def _count_failure(self, where: str) -> None:
        self.mind.engine.telemetry.failures.labels(where).inc()
        log.exception("Insula failed on %s; the agent goes on without it.", where)


def append_text(content: Any, text: str) -> Any:
    """The content of a message, text or parts, with a text behind it."""
    return f"{content}\n\n{text}" if isinstance(content, str) else [*(content or ()), {"type": "text", "text": text}]


def append_to_mapping(message: Any, text: str, call: str) -> Any:
    """A message with a text behind its content, or behind the result of one call in it."""
    content: Any = read_field(message, "content")
    parts = list_items(content)
    if call and "output" in message:
        output = message["output"]
        return {
            **message,
            "output": append_text(output, text) if isinstance(output, str) else [*output, _text_part(text)],
        }
    if call and parts:
        return {**message, "content": [_with_note(part, text, call) for part in parts]}
    if any(read_field(part, "type") == "input_text" for part in parts):
        return {**message, "content": [*parts, _text_part(text)]}
    return {**message, "content": append_text(content if content is not None else "", text)}


def _text_part(text: str) -> dict[str, str]:
    return {"type": "input_text", "text": text}


def _with_note(part: Any, text: str, call: str) -> Any:
    if read_field(part, "tool_use_id") != call:
        return part
    return {**part, "content": append_text(read_field(part, "content") or "", text)}


def put_behind(
    messages: Sequence[Any], told: GuestInjection, put: "Callable[[Any, str, str], Any]" = append_to_mapping
) -> list[Any]:
    """The messages with what belongs behind the user's last one, and with the notes behind the results of tools.

    Args:
        messages: the conversation; it stays as it is.
        told: what to put.
        put: makes the same message of the library with a text behind the result of the call with an id; with an empty
            id, behind the user's words. By default of one that is a mapping.
    """
    changed = list(messages)
    if told.behind and (place := _last_said(messages)) is not None:
        changed[place] = put(changed[place], told.behind, "")
    for place, message in enumerate(messages) if told.notes else ():
        for event in read_events(message, place):
            if isinstance(event, Returned) and event.id in told.notes:
                changed[place] = put(changed[place], told.notes[event.id], event.id)
    return changed


def _last_said(messages: Sequence[object]) -> int | None:
    for place in range(len(messages) - 1, -1, -1):
        if any(isinstance(event, UserWords) for event in read_events(messages[place], place)):
            return place
    return None
