"""The facade of the package: `Metacognition`."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from insula.calibration import load_shipped
from insula.content import plain_text
from insula.errors import InputError, InsulaError
from insula.language.owner import ASSISTANT, USER
from insula.language.preferences import find_preferences
from insula.memory.item import new_item
from insula.memory.privacy import custody
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval.embedding import embed_text, resolve_embedding
from insula.memory.retrieval.query import encode_claims
from insula.memory.storage import statements
from insula.memory.storage.filters import Filters, Metadata, dump_metadata, read_filter
from insula.memory.storage.rows import Change
from insula.memory.storage.store import Store, check_names, check_types
from insula.memory.storage.unread import TOKENS_A_DAY
from insula.memory.storage.vectors import Embed, embed_normalised
from insula.metacognition.engine import (
    Engine,
    EngineOptions,
    Subscriber,
    check_message,
    check_model,
    check_number,
    check_open,
    check_options,
    resolve_path,
)
from insula.metacognition.observing import ADDED, Message, amend_fact, read_line, read_messages, remember_lines
from insula.metacognition.outcome import TurnResult
from insula.metacognition.reading import analyse_memorable, analyse_redacted
from insula.metacognition.turn import Turn
from insula.operations import memories
from insula.operations.memories import PAGE, Deleted, MemoryPage
from insula.redaction import redact
from insula.screening import screen_text
from insula.text.analysis import clean_text
from insula.turn import feedback, monitor
from insula.turn.feedback import hedge_response
from insula.types import IMPASSE, Assessment, Controls, Identity, ImpasseRecord, Memory, Provenance, Signal, Usage

if TYPE_CHECKING:
    from insula.llm.budget import Account
    from insula.llm.model import Model
    from insula.metacognition.searching import SearchResult
    from insula.metacognition.sync import Blocking
    from insula.night.cycle import SleepReport
    from insula.turn.monitor import Logprobs
    from insula_solve import Limits, Models, Solution

log = logging.getLogger(__name__)


def warm_up(embed: Embed | None = embed_text) -> None:
    """Load and compile now what the first turn would otherwise wait for: a second, once per process.

    Raises:
        InputError: the embedding fails at its first text, or returns no vector.
    """
    text = "Where does Ana live, and since when?"
    if embed := resolve_embedding(embed):
        vector = embed_normalised(embed, text)
        find_preferences({text: vector}, vector, "en")
    assessment = monitor.assess(text, "Ana has lived in Lisbon since May.")
    hedge_response("Ana lives in Lisbon.", assessment, Identity(), "en")  # who names no language loads what tells it
    screen_text(redact(text), len(text))
    load_shipped()


async def note_impasse(store: Store, user: str, session: str, solution: "Solution") -> Signal | None:
    """Put it on a user's ledger where a method came to an impasse (K5)."""
    return await note_stuck(store, user, session, solution.problem, solution.stopped) if solution.at_impasse else None


async def note_stuck(store: Store, user: str, session: str, problem: str, reason: str) -> Signal:
    """Put it on a user's ledger that something is stuck at a problem: the next turn is told, and the night learns.

    The problem is written down as what the user said, which a lesson can cite; it asserts nothing.
    """
    content = redact(clean_text(problem))
    analysis = analyse_memorable(content, analyse_redacted(content))
    item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), ())
    at = datetime.fromtimestamp(store.now(), UTC)
    data: ImpasseRecord = {"quoted": {"shortfall": feedback.unsolved_shortfall(content).to_record()}}
    with on_behalf_of(user):
        place = await store.resolve_place(user, session)
        number, _ = await store.sessions.write_message(place, item._replace(content=content, kind="episodic"))
        stuck = Signal(kind=IMPASSE, user=user, session=session, turn=number, reason=reason, at=at, data=data)
        await store.run(statements.append_signals, place, [stuck])
    return stuck


class Metacognition:
    """Monitors and controls an agent that somebody else runs.

    Args:
        store: where everything is kept.
        identity: who the agent is.
        controls: what a turn may use before conditions change it.
        calibration: coefficients of confidence; by default the shipped ones.
        estimate: a function that replaces the confidence before the response.
        assess: a function that replaces the check after it (K10).
        embed: makes the vector of a text; by default the shipped embedding, where it is installed. With None, memory is
            searched by words alone.
        telemetry: where counts go.
        holdout: share of sessions from which what was learned is withheld, to see whether it helps (P4).
        regulator: the control loop of sessions, where `controls` alone do not say it (S1–S11).
        soul: where a user's SOUL.md and backups lie; by default nowhere.
        claims: ids of what it may say though it is off by default, of docs/reference/claims.md.

    Raises:
        InputError: there is no such option, or its value cannot be used; the message says which, and what to give.
    """

    def __init__(self, store: Store, **options: Unpack[EngineOptions]) -> None:
        check_open(store)
        if unknown := [name for name in options if name not in EngineOptions.__annotations__]:
            raise InputError(
                f"There is no option {unknown[0]!r}; there are {', '.join(EngineOptions.__annotations__)}."
            )
        self.engine = Engine(store, **options)

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self.engine.store

    @property
    def identity(self) -> Identity:
        """Who the agent is."""
        return self.engine.identity

    @property
    def controls(self) -> Controls:
        """What a turn may use before conditions change it."""
        return self.engine.controls

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every signal as it is written; returns the function that ends it (K8)."""
        check_options(("subscriber", subscriber or "", callable, "a function that takes a signal"))
        return self.engine.subscribe(subscriber)

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        clock: Callable[[], float] = time.time,
        **options: Unpack[EngineOptions],
    ) -> Self:
        """Open the store at `path` (":memory:" for one that is forgotten) and hold it.

        Args:
            path: the file of the store, made where there is none; or a database, `postgresql://…`.
            clock: seconds since the epoch, where a test says what time it is.
            options: the arguments of `Metacognition` by name.

        Raises:
            StoreError: the store cannot be used; the message says why and what to do.
        """
        named = resolve_path(path)
        check_options(("clock", clock, callable, "a function that says the seconds since the epoch"))
        store = await Store.open(named, clock)
        try:
            return cls(store, **options)
        except InputError:
            await store.close()
            raise

    async def close(self) -> None:
        """Write down how the service stands, and let go of the store."""
        try:
            await self.engine.backlog.stop_tasks()
            await self.engine.write_down()
        except InsulaError as error:
            log.warning("What the service knew of itself was not written down: %s", error)
        finally:
            await self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @staticmethod
    def sync(
        path: str | Path, *, clock: Callable[[], float] = time.time, **options: Unpack[EngineOptions]
    ) -> "Blocking":
        """The same for code without `await`: `with Metacognition.sync("insula.db") as metacognition: …`.

        Args:
            path: where the store is, as for `open`.
            clock: as for `open`.
            options: as for `open`.

        Raises:
            StoreError: the store cannot be used; the message says why and what to do.
        """
        from insula.metacognition.sync import Blocking

        return Blocking(lambda: Metacognition.open(path, clock=clock, **options))

    def turn(
        self, user: str, session: str, message: object, *, model: str = "", metadata: Metadata | None = None
    ) -> Turn:
        """One exchange, to be entered with `async with`; see `Turn`.

        Args:
            user: whose memory is used.
            session: the conversation.
            message: what the user says: a text, content parts, or a message of a library; pictures are passed over.
            model: the name of the model that answers; how slow is too slow is known of each by itself.
            metadata: what you say of what is said in it, to find it by: names with texts, numbers or truth values.

        Raises:
            InputError: the user or the session cannot be called so, the message is none, or the metadata is not kept.
            StoreError: this was closed.
        """
        check_open(self.store)
        check_names(user, session)
        check_types(model=model)
        check_message(message)
        turn = Turn(self.engine, user, session, message, model)
        turn.metadata = dump_metadata(metadata)
        return turn

    async def begin(
        self, user: str, session: str, message: object, *, model: str = "", metadata: Metadata | None = None
    ) -> Turn:
        """One exchange that ends later, perhaps in another process: keep `turn.to_json()` until then.

        A turn that is never finished leaves the message in memory and nothing else; the next one works.
        """
        return await self.turn(user, session, message, model=model, metadata=metadata).open_turn()

    async def finish(
        self,
        turn: Turn | str,
        response: object,
        *,
        assessment: Assessment | None = None,
        usage: Usage | None = None,
        logprobs: "Logprobs | None" = None,
    ) -> TurnResult:
        """Finish a turn that was begun, and leave it.

        Args:
            turn: what `begin` returned, or what `Turn.to_json` made of it. Of a turn that was finished before, here or
                elsewhere, nothing is written a second time, and `TurnResult.troubles` says so.
            response: what the model answered; where it asks for tools alone, the turn stays open.
            assessment: a judgement made elsewhere.
            usage: what it cost.
            logprobs: of its tokens.

        Raises:
            InputError: the text is no turn.
        """
        opened = turn if isinstance(turn, Turn) else await Turn.resume_turn(self.engine, turn)
        if opened.over and opened.result:
            return opened.result
        result = opened.finish(response, assessment=assessment, usage=usage, logprobs=logprobs)
        if opened.result is None:
            return replace(result, troubles=tuple(opened.troubles))
        await opened.leave_turn()
        return replace(result, signals=opened.signals, advisories=opened.advisories, troubles=tuple(opened.troubles))

    async def solve(
        self,
        problem: str,
        models: "Models",
        account: "Account | None" = None,
        *,
        method: str = "insula",
        user: str | None = None,
        session: str = "solve",
        limits: "Limits | None" = None,
    ) -> "Solution":
        """Solve a problem by monitoring, generating and verifying (M1–M10); strategies learn from how it went.

        The repertoire is the shipped one with that of the user's own `strategies.toml`.

        Args:
            problem: the task, in words.
            models: who monitors, generates and verifies.
            account: the caps, and where what is spent is charged.
            method: its name, one of `insula_solve.METHODS`.
            user: on whose ledger it is put where the method comes to an impasse (K5); by default on nobody's.
            session: the conversation that the impasse belongs to.
            limits: tokens, temperature and attempts; by default as the method has them.

        Raises:
            InputError: there is no such method, `models` are none, a name cannot be used, or the package insula-solve
                is missing. A problem that could not be solved is no error: its answer is None.
            SettingsError: the user's `strategies.toml` cannot be used; the message says why.
        """
        from insula import folders
        from insula.memory.storage.strategies import StoredRecords

        try:
            from insula_solve import Knowledge, Models, find_method, read_repertoire
        except ModuleNotFoundError as error:
            raise InputError(
                "Problems are solved by the package insula-solve, which is not installed; in your clone of Insula, "
                "run: pip install ./packages/insula-solve"
            ) from error
        check_types(problem=problem, method=method)
        if not isinstance(models, Models):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"{str(models)[:40]!r} says not who solves; give insula_solve.Models(generator=model).")
        check_model(models.generator)
        if user is not None:
            check_names(user, session)
        knowledge = Knowledge(repertoire=read_repertoire(folders.home()), records=StoredRecords(self.store))
        solution = await find_method(method)(problem, models, account, knowledge=knowledge, limits=limits)
        if user is not None and (stuck := await note_impasse(self.store, user, session, solution)):
            self.engine.publish_signals([stuck])
        return solution

    async def sleep(
        self, user: str, *, model: "Model | None" = None, soul: Path | None = None, force: bool = False
    ) -> "SleepReport":
        """Run a user's night, where one is due (R): what was learned is told from the next turn on.

        Args:
            user: whose night it is.
            model: writes summaries and reflections; without one they are made without.
            soul: the user's SOUL.md; None keeps it in the store alone.
            force: whether to sleep though the last night was less than 20 hours ago or nothing happened since.
        """
        from insula.metacognition.nights import run_night

        check_types(user=user)
        check_options(("soul", soul, Path, "a pathlib.Path"))
        if model is not None:
            check_model(model)
        return await run_night(self.engine, user, model=model, soul=soul, force=force)

    async def understand(self, user: str, *, model: "Model", tokens: int = TOKENS_A_DAY) -> bool:
        """Let the user's own model read the next lines of theirs that it has not read, between two turns (K3a).

        What it says is kept where the user's own words bear it out, and nowhere else;
        see docs/explanation/understanding.md.

        Args:
            user: who said them.
            model: the user's own; an embedded one is too small for it.
            tokens: that reading this user's lines may take in a day.

        Returns:
            Whether lines were read; then there may be more.

        Raises:
            BudgetExceeded: the tokens of the day are spent.
            ModelError: the model was not reached, or not in time; what was not read is read another time.
            StoreError: the store cannot be used, or a line changed meanwhile.
        """
        from insula.night.understanding import read_next_lines

        check_types(user=user)
        check_model(model)
        return await read_next_lines(self.store, user, model, embed=self.engine.embed, tokens=tokens) is not None

    async def add(
        self,
        user: str,
        messages: Message | Sequence[Message],
        *,
        session: str = ADDED,
        metadata: Metadata | None = None,
    ) -> tuple[int, ...]:
        """Remember what was said, without answering it; returns the ids of the new memories.

        Args:
            user: whose memory it is.
            messages: a text of the user's, or messages with `role` (`user`, `assistant`, `tool`) and `content`, and if
                wished `name` (who spoke), `at` (when) and `id`: what has the id of a message that was added to this
                session before is not added again, also where that was erased. What holds no text is passed over.
            session: the conversation they belong to.
            metadata: what you say of them, to find them by.

        Raises:
            InputError: one of them is no message, or a name cannot be used.
            StoreError: the store cannot be used.
        """
        check_names(user, session)
        lines = [line for line in read_messages(messages, session) if plain_text(line.text).strip()]
        return tuple(await remember_lines(self.engine, user, session, lines, dump_metadata(metadata)))

    async def observe(
        self,
        user: str,
        session: str,
        text: object,
        *,
        speaker: str = "",
        listener: str = ASSISTANT,
        provenance: Provenance = "user",
        at: datetime | None = None,
        metadata: Metadata | None = None,
    ) -> int:
        """Remember something that was said without answering it; returns the id of the memory.

        Args:
            user: whose memory it is.
            session: the conversation it belongs to.
            text: what was said.
            speaker: who said it; a name where more than one person talks, or the tool's. By default the user, the
                assistant or "a tool", by the provenance.
            listener: who was spoken to.
            provenance: `user`, `assistant` or `tool`.
            at: when; now by default.
            metadata: what you say of it, to find it by.

        Raises:
            InputError: there is no text in it, or the speaker is no name.
            StoreError: the store cannot be used.
        """
        check_message(text)
        check_types(speaker=speaker, listener=listener)
        line = read_line(text, provenance, speaker=speaker, listener=listener, at=at)
        if not clean_text(plain_text(text)).strip():
            raise InputError("There is no text in the message, so nothing is remembered; give what was said.")
        check_names(user, session)
        (number,) = await remember_lines(self.engine, user, session, [line], dump_metadata(metadata))
        return number

    async def search(self, user: str, query: str, *, limit: int = 10, **filters: Unpack[Filters]) -> "SearchResult":
        """What of a user's memory answers a question or shares words with it, and how sure that is; nothing is written.

        Args:
            user: whose memory.
            query: a question, or words.
            limit: how many hits at most.
            filters: `session`, `kind`, `since`, `metadata`; see `Filters`.

        Raises:
            InputError: the query is no text, or a filter or the limit cannot be used.
        """
        from insula.metacognition.searching import search_memories

        check_types(user=user, query=query)
        memories.check_limit(limit)
        with on_behalf_of(user):
            return await search_memories(self.engine, user, query, read_filter(filters), limit)

    async def list(
        self, user: str, *, before: int | None = None, limit: int = PAGE, **filters: Unpack[Filters]
    ) -> MemoryPage:
        """A page of what is remembered of a user, newest first; empty where nothing is known of them.

        Args:
            user: whose memory.
            before: `next` of the page before.
            limit: how many at most, up to 500.
            filters: `session`, `kind`, `since`, `metadata`; see `Filters`.

        Raises:
            InputError: a filter, the limit or the page cannot be used.
        """
        check_types(user=user)
        check_number(before=before or 0)
        wanted = read_filter(filters)
        with on_behalf_of(user):
            return await memories.list_memories(self.engine.store, user, wanted, before=before, limit=limit)

    async def get(self, user: str, memory: int) -> Memory:
        """One memory of a user, also one that was retired; of one that was erased, `content` is empty.

        Raises:
            NotFound: there is none such.
        """
        check_types(user=user)
        check_number(memory=memory)
        with on_behalf_of(user):
            return await memories.get_memory(self.engine.store, user, memory)

    async def update(self, user: str, memory: int, text: str) -> Memory:
        """Let a memory say something else; what it said before stands in its history until it is deleted.

        Raises:
            NotFound: there is none such.
            InputError: its words cannot be changed, with the reason.
        """
        check_types(user=user, text=text)
        check_number(memory=memory)
        return await amend_fact(self.engine, user, memory, "correct", text)

    async def delete(self, user: str, memory: int) -> Deleted:
        """Erase a memory for good, with the line that it came from and what was derived of its session.

        Raises:
            NotFound: there is none such, or it was erased before.
        """
        check_types(user=user)
        check_number(memory=memory)
        with on_behalf_of(user):
            gone = await memories.delete_memory(self.engine.store, user, memory, self.engine.soul(user))
        self.engine.backlog.reopen_user(user)
        return gone

    async def history(self, user: str, memory: int) -> tuple[Change, ...]:
        """What became of a memory, oldest first: each change, who made it and why.

        Raises:
            NotFound: there is none such.
        """
        check_types(user=user)
        check_number(memory=memory)
        with on_behalf_of(user):
            return await memories.read_history(self.engine.store, user, memory)

    async def export(self, user: str, path: str | Path) -> int:
        """Write all that is known of a user to a file, which `insula user import` takes; returns its size in bytes.

        Raises:
            NotFound: nothing is known of them.
            StoreFull: the file cannot be written.
        """
        check_types(user=user)
        target = Path(resolve_path(path))
        soul = self.engine.soul(user)
        with on_behalf_of(user):
            return await custody.export_user(self.engine.store, user, soul, target)

    async def forget(self, user: str, **filters: Unpack[Filters]) -> Deleted:
        """Erase for good what the filters want; without any, all that is kept of a user.

        Args:
            user: whom to forget.
            filters: `session`, `kind`, `since`, `metadata`; see `Filters`.

        Raises:
            InputError: a filter cannot be used, or none of them says anything.
            NotFound: nothing is known of them.
        """
        check_types(user=user)
        wanted, soul = read_filter(filters), self.engine.soul(user)
        if filters and wanted.is_any:
            raise InputError(
                f"The filter {filters} says nothing, so nothing is erased; to erase everything, give none."
            )
        with on_behalf_of(user):
            if filters:
                gone = await memories.forget_memories(self.engine.store, user, wanted, soul)
            else:
                gone = await memories.forget_user(self.engine.store, user, soul)
        self.engine.backlog.reopen_user(user)
        return gone
