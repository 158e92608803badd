"""The store: a database, the threads that alone speak to it, and the four repositories that read and write it.

Each unit of work runs whole in one of those threads: a caller that is cancelled leaves nothing half written, and no
statement waits for the event loop. Everything but `open` is reached through a user's id.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from contextvars import copy_context
from functools import partial, wraps
from itertools import islice
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy as sa

from insula.caches import LatestEntries, clear_caches
from insula.errors import InputError, StoreError
from insula.language.heads import answering_direction, limit_direction, vector_of
from insula.language.statements import MessageQuestion
from insula.memory.item import NewItem
from insula.memory.privacy import amendment, erasure
from insula.memory.privacy.amendment import Do
from insula.memory.retrieval import index
from insula.memory.retrieval.query import Cue
from insula.memory.retrieval.retrieve import Recollection, RetrievedRows, rank_memories
from insula.memory.storage import facts, journal, nights, queries, statements, views
from insula.memory.storage.changes import Change, Changes
from insula.memory.storage.lessons import guidance_version, read_cited, write_preferences
from insula.memory.storage.postgres import PostgresServer, is_server
from insula.memory.storage.rows import Consolidated, Embedded, Place, TranscriptLine
from insula.memory.storage.sqlite import READERS, SqliteFile
from insula.memory.storage.vectors import Near, Neighbourhoods, Vector, cosines_with, read_vectors, write_vectors
from insula.memory.wishes import OwnWish, PreferenceChanges
from insula.redaction import holds_token, redact
from insula.text.analysis import clean_text
from insula.types import Controls, Signal

__all__ = ["Place", "Recollection", "Store", "TranscriptLine"]

NAME_CHARS = 200
_CACHED_PLACES = 1_000
P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

CLOSED = "This memory is closed; open it again with Metacognition.open or Metacognition.sync."


Vectors = Sequence[tuple[int, bytes]]
"""Packed vectors, each with the id of its memory."""

OVERTAKEN = (
    "What is kept of this user was erased or restored while this turn was under way; nothing of it is kept; say it"
    " again."
)


def _reading_method(
    work: Callable[Concatenate[sa.Connection, P], T],
) -> "Callable[Concatenate[_Repository, P], Coroutine[Any, Any, T]]":
    """The method that runs a function of a connection which only reads."""

    @wraps(work)
    async def run_read(self: "_Repository", /, *args: P.args, **options: P.kwargs) -> T:
        return await self.store.read(work, *args, **options)

    return run_read


class _Repository:
    """What a store keeps of one kind."""

    def __init__(self, store: "Store") -> None:
        self.store = store

    async def _run_embedding(self, user_id: int, work: Callable[[sa.Connection], tuple[T, Vectors]]) -> T:
        """Run a unit of work that also writes vectors of a user's memories, which recall then knows of."""

        def add_vectors(made: tuple[T, Vectors]) -> T:
            done, written = made
            if written:
                self.store.neighbourhoods.add_vectors(user_id, written)
            return done

        try:
            return await self.store.run_then(add_vectors, work)  # once readers can see them
        except BaseException:
            self.store.drop_vectors()  # it may have been written all the same
            raise


class SessionRepository(_Repository):
    """What is said: sessions, their transcripts, their working memory and the ledger."""

    read_lines = _reading_method(statements.read_lines)
    read_ledger = _reading_method(statements.read_ledger)
    count_rows = _reading_method(statements.count_rows)

    async def write_message(self, place: Place, item: NewItem) -> tuple[int, int]:
        """Write what begins a turn, and its item of working memory; returns (turn, memory id)."""
        return await self.store.run(statements.write_message, place, None, item, self.store.now())

    async def write_preferences(self, place: Place, turn: int, said: Sequence[OwnWish]) -> PreferenceChanges:
        """Let what a message wishes count at once; returns what stands from now on, and what it ended."""
        return await self.store.run(write_preferences, place.user_id, place.session_id, turn, said, self.store.now())

    async def finish_turn(
        self,
        place: Place,
        turn: int,
        response: NewItem | None,
        noticed: Sequence[Signal],
        used: Sequence[int],
        controls: Controls,
        meant: Sequence[Embedded] = (),
    ) -> Consolidated | None:
        """Write what a turn brought, all or nothing: the response, the signals, what was used and what is promoted.

        With it go the vectors of the message (`meant`), but of what has changed since it was written.

        Of a turn that was finished before, here or elsewhere, nothing is written; then it returns None.

        Raises:
            StoreError: its user was erased or restored meanwhile; nothing is written.
        """

        def write_turn(connection: sa.Connection) -> tuple[Consolidated | None, Vectors]:
            at = self.store.now()
            index.begin_write(connection, place.user_id)  # who finishes the turn elsewhere waits, and then sees this
            is_begun, is_over = statements.read_turn_state(connection, place, turn)
            if is_over:
                return None, ()
            if not is_begun:
                raise StoreError(OVERTAKEN)
            written = write_vectors(connection, place.user_id, meant) if meant else ()
            if response is not None:
                statements.write_message(connection, place, turn, response, at)
            statements.append_signals(connection, place, noticed)
            if used:
                index.record_use(connection, place.user_id, used, at)
            return statements.promote_items(connection, place, controls, at), written

        return await self._run_embedding(place.user_id, write_turn)

    async def add_lines(
        self, place: Place, items: Iterable[tuple[NewItem, float]], controls: Controls
    ) -> tuple[list[int], Consolidated]:
        """Write many lines at once, each with its time in seconds since the epoch; what was taken in before is not.

        The preferences that they state count at once.

        Returns:
            The ids of the new memories, and what was promoted.
        """

        def write_lines(connection: sa.Connection) -> tuple[list[int], Consolidated]:
            index.begin_write(connection, place.user_id)
            known = statements.taken_in(connection, place.user_id, [item.source_id for item, _ in items])
            new = [(item, at) for item, at in items if item.source_id not in known]
            written = [_add_line(connection, place, item, at) for item, at in new]
            return written, statements.promote_items(connection, place, controls, self.store.now())

        items = list(items)
        return await self.store.run(write_lines)


def _add_line(connection: sa.Connection, place: Place, item: NewItem, at: float) -> int:
    turn, memory = statements.write_message(connection, place, None, item, at)
    if item.preferences:
        write_preferences(connection, place.user_id, place.session_id, turn, item.preferences, at)
    return memory


class MemoryRepository(_Repository):
    """What is remembered: recall, vectors, erasure."""

    list_memories = _reading_method(views.list_memories)

    async def recall_memories(
        self,
        place: Place,
        cue: Cue,
        limit: int,
        *,
        lines: int = 0,
        sought: Sequence[Vector] = (),
        asked: Sequence[MessageQuestion] = (),
        requests: Sequence[Vector] = (),
        candidates: int = index.CANDIDATES,
    ) -> Recollection:
        """The best memories for a cue, from long-term memory and from this session's working memory.

        What was derived, what describes the agent itself, and what was withheld when it was screened is never recalled
        (laws 2 and 10).

        Args:
            place: whose memory, and which session.
            cue: what is asked of it.
            limit: how many memories at most.
            lines: how many lines of the session's transcript to read along.
            sought: what is read of the message (see `insula.language.heads.read_request`), of the whole first, then of
                its sentences that ask. What lies where the answer to one of them does is proposed, beside what shares
                words.
            asked: what the message asks: by it each line is judged.
            requests: what is read of the message and of all its sentences, where what limits its answer is sought.
            candidates: how many of the memories that share words with the cue are scored.
        """

        def read_rows(connection: sa.Connection) -> RetrievedRows:
            statistics = index.read_statistics(connection, place.user_id, cue.forms)
            best = index.search_terms(connection, place.user_id, statistics, index.CANDIDATES)
            proposed, left = best[:candidates], best[candidates:]
            directions = [*map(answering_direction, sought), *map(limit_direction, requests[:1])]
            near = self._find_near(connection, place.user_id, directions)
            proposed += near[0] if near else []
            alone = [number for some in near[1:] for number in some]
            alone += self._find_predicted(connection, place.user_id, [*map(vector_of, sought)])
            rows = index.list_candidates(connection, place.user_id, place.session_id, proposed, alone)
            hits = {*proposed, *alone, *(row.id for row in rows if row.session_id == place.session_id)}
            told = facts.statements_of(connection, place.user_id, (row for row in rows if row.id in hits))
            predicted = queries.read_queries(connection, place.user_id, hits)
            unscored = len(set(left).difference(row.id for row in rows))
            said = statements.read_lines(connection, place, lines) if lines else ()
            return RetrievedRows(statistics, rows, told, said, unscored, predicted)

        return rank_memories(
            place, cue, await self.store.read(read_rows), asked, sought, requests, self.store.now(), limit
        )

    def _find_near(self, connection: sa.Connection, user_id: int, vectors: Sequence[Vector]) -> list[list[int]]:
        """The memories nearest to each of some vectors that may be proposed."""
        if not vectors:
            return []
        near = self.store.neighbourhoods.find_nearest(user_id, vectors, partial(read_vectors, connection, user_id))
        read = dict(index.long_term(connection, user_id, sorted({number for each in near for number in each.first})))
        return [
            _rank_nearest(vector, each, read, partial(index.long_term, connection, user_id))
            for vector, each in zip(vectors, near, strict=False)
        ]

    def _find_predicted(self, connection: sa.Connection, user_id: int, vectors: Sequence[Vector]) -> list[int]:
        """The memories for which queries were predicted that are nearest to any of some vectors."""
        if not vectors:
            return []
        read = partial(queries.read_vectors, connection, user_id)
        near = self.store.query_neighbourhoods.find_nearest(user_id, vectors, read)
        found = [queries.find_memories(connection, user_id, each.first) for each in near if each.first]
        return [number for some in found for number in some[: index.NEAREST]]

    async def search_index(self, place: Place, cue: Cue, limit: int) -> list[int]:
        """The ids that the index alone proposes for a cue, best first by BM25: the baseline of recall."""

        def search_rows(connection: sa.Connection) -> list[int]:
            statistics = index.read_statistics(connection, place.user_id, cue.forms)
            return index.search_terms(connection, place.user_id, statistics, limit)

        return await self.store.read(search_rows)

    async def write_vectors(self, user_id: int, made: Sequence[Embedded]) -> int:
        """Write the vectors of memories that had none, but of what has changed since; returns how many."""

        def write_rows(connection: sa.Connection) -> tuple[int, Vectors]:
            written = write_vectors(connection, user_id, made)
            return len(written), written

        return await self._run_embedding(user_id, write_rows)

    async def amend_memory(self, user_id: int, memory_id: int, do: Do, text: str = "") -> bool:
        """Correct, pin or mute a memory, or undo what was decided on it; False where there is none such."""
        amended = await self.store.run(amendment.amend_memory, user_id, memory_id, do, self.store.now(), text)
        self.store.drop_vectors(user_id)  # those of new words are made anew
        return amended

    async def erase_memories(self, user_id: int, *memory_ids: int) -> bool:
        """Erase memories and what quotes them, all or none of them; False where there are none such."""

        def erase_rows(connection: sa.Connection) -> bool:
            self.store.drop_vectors(user_id)
            at = self.store.now()
            gone = [erasure.erase_memory(connection, user_id, number, at) for number in memory_ids]
            return any(gone)

        erased = await self.store.run(erase_rows)
        if erased:
            await self.store.scrub_erased()
        return erased


def _rank_nearest(
    vector: Vector,
    near: Near,
    known: Mapping[int, bytes],
    read: Callable[[Sequence[int]], list[tuple[int, bytes]]],
) -> list[int]:
    """The memories nearest to a vector: of the first batch, whose vectors are known, and of more where they are few."""
    candidates = [(number, known[number]) for number in near.first if number in known]
    more = islice(near.more, index.BATCHES - 1)
    while len(candidates) < index.NEAREST and (batch := next(more, None)):
        candidates += read(batch)
    by_cosine = zip(cosines_with(vector, [packed for _, packed in candidates]), candidates, strict=True)
    return [number for _, (number, _) in sorted(by_cosine, key=lambda scored: -scored[0])[: index.NEAREST]]


class NightRepository(_Repository):
    """What a night reads and writes."""

    list_users = _reading_method(nights.list_users)
    find_user_id = _reading_method(nights.user_id)
    last_night = _reading_method(journal.last_night)
    reports_after = _reading_method(journal.reports_after)
    sessions_to_sleep_on = _reading_method(nights.sessions_of)
    lines_of = _reading_method(statements.read_transcripts)
    list_summaries = _reading_method(nights.summaries_of)
    list_insights = _reading_method(nights.insights_of)
    list_remembered = _reading_method(nights.list_remembered)
    list_signals = _reading_method(nights.list_signals)
    list_session_signals = _reading_method(nights.list_session_signals)
    read_journal = _reading_method(journal.read_journal)

    async def record_phase(
        self, user_id: int, night: str, phase: str, report: Mapping[str, Any], changes: Changes = ()
    ) -> bool:
        """Write what a phase changes and that it is done, in one transaction; False where it was done already."""
        return await self.store.run(journal.record_phase, user_id, night, phase, report, changes, self.store.now())

    async def note_answer(self, user_id: int, night: str, name: str, answer: Mapping[str, Any]) -> bool:
        """Write down what a phase was answered, so that it need not ask again; False where an answer stands already."""
        return await self.store.run(
            journal.record_phase, user_id, night, name, answer, (), self.store.now(), journal.ASKED
        )


class GuidanceRepository(_Repository):
    """What was learned: lessons, guidelines, and the states of what is derived."""

    list_lessons = _reading_method(nights.list_guidance)
    lessons_version = _reading_method(guidance_version)
    read_cited = _reading_method(read_cited)
    list_revisions = _reading_method(nights.revisions_of)

    async def write_changes(self, user_id: int, *changes: Change) -> None:
        """Change what was learned, by a person's hand."""
        await self.store.run(journal.write_changes, user_id, changes, self.store.now())

    async def erase_lesson(self, user_id: int, lesson_id: int) -> bool:
        """Erase a lesson; False where there is none such."""
        erased = await self.store.run(erasure.erase_lesson, user_id, lesson_id, self.store.now())
        if erased:
            await self.store.scrub_erased()
        return erased


class Store:
    """Users, sessions, transcripts, memories and the ledger, in a file or on a server, and the threads that use it.

    Args:
        path: of the file; ":memory:" for one that is forgotten; or a URL of PostgreSQL's.
        now: the clock.
    """

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.closed = False
        self.neighbourhoods, self.query_neighbourhoods = Neighbourhoods(), Neighbourhoods()
        self._places = LatestEntries[tuple[str, str], Place](_CACHED_PLACES)
        self._backend = open_backend(str(path), self.drop_cached)
        self._threads = ThreadPoolExecutor(self._backend.threads, "insula-store")
        self._readers = ThreadPoolExecutor(READERS, "insula-reader")
        self.sessions = SessionRepository(self)
        self.memories = MemoryRepository(self)
        self.nights = NightRepository(self)
        self.guidance = GuidanceRepository(self)

    @property
    def path(self) -> str:
        """The file, or the URL without its password."""
        return self._backend.name

    @classmethod
    async def open(cls, path: str | Path, now: Callable[[], float] = time.time) -> Self:
        """Open the database at `path`, creating or upgrading its tables as needed.

        Raises:
            SettingsError: the URL cannot be read, or its driver is not installed.
            StoreFull: the folder, file or database cannot be written.
            StoreCorrupt: the file is not a database.
            StoreNewer: a newer version of Insula wrote it.
            StoreLocked: another process holds it.
            StoreError: the server is away, lets nobody in, or is too old.
        """
        store = cls(path, now)
        try:
            store._backend.prepare_storage()
            await store.run(lambda _: None)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Finish what is being written and let go of the database."""
        self.closed = True
        await asyncio.to_thread(self._readers.shutdown)
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._backend.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Run one unit of work, a function of a connection, in a transaction: all or nothing, with errors of ours.

        The statements stand beside the tables in `memory`; not each of them needs a method here.
        """
        return await self.run_then(lambda done: done, lambda connection: work(connection, *args, **options))

    async def run_then(self, then: Callable[[T], R], work: Callable[[sa.Connection], T]) -> R:
        """Run one unit of work, and in the same thread what is to be done once it is written."""
        if self.closed:
            raise StoreError(CLOSED)

        def unit() -> R:
            try:
                return then(self._backend.run_unit(work))
            except StoreError:
                self.drop_cached()  # a user may have been erased by another process
                raise

        return await asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, unit)

    async def read(self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Run one unit of work that only reads, beside whoever writes and beside other readers.

        All of it sees the memory as it is at one moment. A memory that is in no file is read by the thread that writes
        it.
        """
        if self.closed or not self._backend.reads_apart():
            return await self.run(work, *args, **options)

        def unit() -> T:
            try:
                return self._backend.read_unit(lambda connection: work(connection, *args, **options))
            except StoreError:
                self.drop_cached()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._readers, unit)

    @property
    def is_shared(self) -> bool:
        """Whether other machines may use it, so that what is remembered of it here grows old."""
        return self._backend.shared

    def hold_night(self, user_id: int) -> AbstractAsyncContextManager[bool]:
        """Hold a user's night, with whether nobody else does; who is killed lets go of it."""
        return self._backend.hold_night(user_id)

    async def scrub_erased(self) -> bool:
        """Leave nothing of what was erased, in memory or files; False where another process reads and is in the way."""
        self.drop_cached()
        clear_caches()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._backend.scrub_erased)

    @property
    def residue(self) -> str:
        """What of an erasure stays in the database's files, and what takes that away; empty where nothing does."""
        return self._backend.residue

    def drop_cached(self) -> None:
        """Let go of what is held in memory of the database."""
        self.drop_vectors()
        self._places.clear()

    def drop_vectors(self, user_id: int | None = None) -> None:
        """Let go of the vectors that are held in memory of a user, or of all."""
        self.neighbourhoods.drop_cached(user_id)
        self.query_neighbourhoods.drop_cached(user_id)

    async def resolve_place(self, user: str, session: str) -> Place:
        """The ids of a user and a session, made when they are new.

        Raises:
            InputError: a name is empty or longer than 200 characters.
        """
        if (known := self._places.get((user, session))) is not None:
            return known
        check_names(user, session)
        self._places[user, session] = place = await self.run(statements.resolve_place, user, session, self.now())
        return place


def open_backend(address: str, forget: Callable[[], None]) -> SqliteFile | PostgresServer:
    """The database at an address: a path, `:memory:`, or a URL of PostgreSQL's."""
    return PostgresServer(address, forget) if is_server(address) else SqliteFile(address, forget)


def check_types(**names: object) -> None:
    """Whether names and other words are texts at all.

    Raises:
        InputError: one of them is none.
    """
    for label, name in names.items():
        if not isinstance(name, str):
            raise InputError(f"The {label} {str(name)[:40]} is no text; give it as one, such as {str(name)[:40]!r}.")


def check_names(user: str, session: str) -> None:
    """Whether a user and a session may be called so.

    Raises:
        InputError: a name is no text, empty, too long, or holds what is not kept: a secret, a control character, a line
            end.
    """
    check_types(user=user, session=session)
    for label, name in (("user", user), ("session", session)):
        plain = clean_text(name).replace("\n", " ")
        if not name.strip() or len(name) > NAME_CHARS or plain != name or holds_token(name):
            shown = redact(plain)[:40]
            raise InputError(f"The {label} name {shown!r} cannot be used; give 1 to {NAME_CHARS} plain characters.")
