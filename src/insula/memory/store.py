"""The store: one method per use. Everything but `open` is reached through a user's id.

Each method is one unit of work, run whole in a thread of the store's own: a caller that is cancelled leaves nothing
half written, and no statement waits for the event loop.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy as sa

from insula.errors import InputError, StoreError
from insula.memory import database, erasure, facts, index, journal, meanings, nights, statements
from insula.memory.assertion import Question
from insula.memory.changes import Changes, Retired, Revision
from insula.memory.cue import Cue
from insula.memory.item import NewItem
from insula.memory.lessons import Cited, Version, cited, heard, version
from insula.memory.meanings import Unembedded
from insula.memory.recollection import Found, Recollection, recollected
from insula.memory.statements import Consolidated, Place, Said
from insula.memory.vectors import Neighbourhoods, Vector, cosines
from insula.redaction import redact
from insula.text.analysis import clean
from insula.text.wishing import Wish
from insula.types import Controls, Memory, Signal

__all__ = ["Place", "Recollection", "Said", "Store"]

NAME_CHARS = 200
_CACHED_PLACES = 10_000

P = ParamSpec("P")
T = TypeVar("T")


class Store:
    """Users, sessions, transcripts, memories and the ledger."""

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self._places: dict[tuple[str, str], Place] = {}
        self._neighbourhoods = Neighbourhoods()
        self._database = database.at(str(path), self._forget)
        self._threads = ThreadPoolExecutor(self._database.threads, "insula-store")

    @property
    def path(self) -> str:
        """The file, or the URL without its password."""
        return self._database.name

    @classmethod
    async def open(cls, path: str | Path, now: Callable[[], float] = time.time) -> Self:
        """Open the database at `path`, creating or upgrading its tables as needed.

        Args:
            path: a file, ":memory:" for a store that is forgotten, or a URL of PostgreSQL's.
            now: the clock.

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
            store._database.make()
            await store.run(_nothing)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Finish what is being written and let go of the database."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._database.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Run one unit of work, a function of a connection, in a transaction: all or nothing, with errors of ours.

        The statements stand beside the tables in `memory`; not each of them needs a method here.
        """

        def unit() -> T:
            try:
                return self._database.unit(lambda connection: work(connection, *args, **options))
            except StoreError:
                self._places.clear()  # a user may have been erased by another process
                raise

        return await asyncio.get_running_loop().run_in_executor(self._threads, unit)

    async def place(self, user: str, session: str) -> Place:
        """The ids of a user and a session, made when they are new.

        Raises:
            InputError: a name is empty or longer than 200 characters.
        """
        if (known := self._places.get((user, session))) is not None:
            return known
        check_names(user, session)
        found = await self.run(statements.place, user, session, self.now())
        if len(self._places) >= _CACHED_PLACES:
            self._places.clear()
        return self._places.setdefault((user, session), found)

    async def sessions_of(self, user: str) -> list[tuple[str, int, Any]]:
        """Name, number of turns and time of the last line of a user's sessions, latest first."""
        return await self.run(statements.sessions_of, user)

    async def transcript(self, place: Place, limit: int) -> tuple[Said, ...]:
        """The last `limit` lines of a session, oldest first."""
        return await self.run(statements.lines, place, limit)

    async def say(self, place: Place, item: NewItem, *, at: float | None = None) -> tuple[int, int]:
        """Write what begins a turn, and its item of working memory; returns (turn, memory id)."""
        return await self.run(statements.write, place, None, item, self.now() if at is None else at)

    async def hear(self, place: Place, turn: int, said: Sequence[Wish]) -> None:
        """Let what a message wishes count at once."""
        await self.run(heard, place.user_id, place.session_id, turn, said, self.now())

    async def finish(
        self,
        place: Place,
        turn: int,
        response: NewItem | None,
        noticed: Sequence[Signal],
        used: Sequence[int],
        controls: Controls,
    ) -> Consolidated:
        """Write what a turn brought, all or nothing: the response, the signals, what was used and what is promoted."""

        def work(connection: sa.Connection) -> Consolidated:
            at = self.now()
            if response is not None:
                statements.write(connection, place, turn, response, at)
            statements.append(connection, place, noticed)
            if used:
                index.touch(connection, place.user_id, used, at)
            return statements.promote(connection, place, controls, at)

        return await self.run(work)

    async def consolidate(self, place: Place, controls: Controls) -> Consolidated:
        """Promote what is salient enough and let the rest of a full working memory go."""
        return await self.run(statements.promote, place, controls, self.now())

    async def add(self, place: Place, items: Iterable[tuple[NewItem, float]], controls: Controls) -> int:
        """Write many lines at once, each with its time in seconds since the epoch; returns how many were promoted."""

        def work(connection: sa.Connection) -> int:
            for item, at in items:
                statements.write(connection, place, None, item, at)
            return len(statements.promote(connection, place, controls, self.now()).ages)

        return await self.run(work)

    async def recall(
        self,
        place: Place,
        cue: Cue,
        limit: int,
        *,
        lines: int = 0,
        vector: Vector | None = None,
        asked: Sequence[Question] = (),
    ) -> Recollection:
        """The best memories for a cue, from long-term memory and from this session's working memory.

        What was derived, what describes the agent itself, and what was withheld when it was screened is never recalled
        (laws 2 and 10).

        Args:
            place: whose memory, and which session.
            cue: what is asked of it.
            limit: how many memories at most.
            lines: how many lines of the session's transcript to read along.
            vector: the cue's embedding. It proposes what is near in meaning, beside what shares words, and counts in
                the score of the memories that have one.
            asked: the questions of the message, each with its embedding. What is stated of those asked about is
                proposed, too, and each memory is told what it has to do with them.
        """

        def work(connection: sa.Connection) -> Found:
            statistics = index.statistics(connection, place.user_id, cue.forms)
            found = index.search(connection, place.user_id, statistics.containing, index.CANDIDATES)
            found += self._near(connection, place.user_id, vector) if vector is not None else []
            found += facts.about_any(connection, place.user_id, asked) if asked else []
            rows = index.candidates(connection, place.user_id, place.session_id, found)
            hits = {*found, *(row.id for row in rows if row.session_id == place.session_id)}
            told = facts.of(connection, place.user_id, sorted(hits)) if asked else []
            return Found(statistics, rows, told, statements.lines(connection, place, lines) if lines else ())

        return recollected(place, cue, await self.run(work), asked, vector, self.now(), limit)

    def _near(self, connection: sa.Connection, user_id: int, vector: Vector) -> list[int]:
        """The memories nearest to a vector that may be proposed."""
        found: list[tuple[int, bytes]] = []
        batches = self._neighbourhoods.nearest(user_id, vector, partial(meanings.vectors, connection, user_id))
        for batch in islice(batches, index.BATCHES):
            found += index.long_term(connection, user_id, batch)
            if len(found) >= index.NEAREST:
                break
        near = zip(cosines(vector, [packed for _, packed in found]), found, strict=True)
        return [number for _, (number, _) in sorted(near, key=lambda one: -one[0])[: index.NEAREST]]

    async def searched(self, place: Place, cue: Cue, limit: int) -> list[int]:
        """The ids that the index alone proposes for a cue, best first by BM25: the baseline of recall."""

        def work(connection: sa.Connection) -> list[int]:
            statistics = index.statistics(connection, place.user_id, cue.forms)
            return index.search(connection, place.user_id, statistics.containing, limit)

        return await self.run(work)

    async def languages(self, place: Place) -> frozenset[str]:
        """The languages of what is remembered of a user."""
        return await self.run(statements.languages, place)

    async def speakers(self, place: Place) -> frozenset[str]:
        """Who talks in what is remembered of a user."""
        return await self.run(statements.speakers, place)

    async def embed(self, user_id: int, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        """Write the vectors of memories that had none, but of what has changed since; returns how many."""

        def work(connection: sa.Connection) -> int:
            written = meanings.embed(connection, user_id, made)
            self._neighbourhoods.add(user_id, written)
            return len(written)

        return await self.run(work)

    async def remembered(self, user: str, limit: int) -> list[tuple[Memory, bool]]:
        """A user's latest memories, newest first, each with whether it is in long-term memory."""
        return await self.run(statements.remembered, user, limit)

    async def ledger(
        self, place: Place, *, kinds: Iterable[str] = (), session_only: bool = True, limit: int = 50
    ) -> list[Signal]:
        """The last signals of a user (or of this session), newest first."""
        return await self.run(statements.ledger, place, kinds, session_only, limit)

    async def sleeper(self, user: str) -> int | None:
        """The id under which the night knows a user; None where nothing is stored of them."""
        return await self.run(nights.user_id, user)

    async def slept(self, user_id: int, phase: str) -> tuple[str, float] | None:
        """The last night in which a phase was done, and when."""
        return await self.run(journal.last_night, user_id, phase)

    async def journal(self, user_id: int, night: str) -> Mapping[str, Mapping[str, Any]]:
        """The reports of the phases of a night that are done."""
        return await self.run(journal.journal, user_id, night)

    async def record(
        self, user_id: int, night: str, phase: str, report: Mapping[str, Any], changes: Changes = ()
    ) -> bool:
        """Write what a phase changes and that it is done, in one transaction; False where it was done already."""
        return await self.run(journal.record, user_id, night, phase, report, changes, self.now())

    async def note(self, user_id: int, night: str, name: str, answer: Mapping[str, Any]) -> None:
        """Write down what a phase was answered, so that it need not ask again."""
        await self.run(journal.record, user_id, night, name, answer, (), self.now(), journal.ASKED)

    async def last_report(self, user_id: int, phase: str) -> Mapping[str, Any]:
        """What a phase reported when it was last done; empty where it never was."""
        return await self.run(journal.last_report, user_id, phase)

    async def reports_after(self, user_id: int, phase: str, other: str) -> list[Mapping[str, Any]]:
        """The reports of a phase since another one was last done, oldest first."""
        return await self.run(journal.reports_after, user_id, phase, other)

    async def unfinished(self, user_id: int, end: str) -> tuple[str, float] | None:
        """The latest night where it was begun and not ended, and when its last entry was written."""
        return await self.run(journal.unfinished, user_id, end)

    def alone(self, user_id: int) -> AbstractAsyncContextManager[bool]:
        """Hold a user's night, with whether nobody else does; who is killed lets go of it."""
        return self._database.alone(user_id)

    async def sessions_to_sleep_on(self, user_id: int) -> list[nights.Session]:
        """A user's sessions, oldest first."""
        return await self.run(nights.sessions_of, user_id)

    async def lines_of(self, user_id: int, session_id: int, limit: int) -> list[nights.Line]:
        """The last lines of a session, oldest first."""
        return await self.run(nights.transcript, user_id, session_id, limit)

    async def summaries(self, user_id: int, limit: int) -> list[nights.Summarised]:
        """The latest summaries, oldest first."""
        return await self.run(nights.summaries_of, user_id, limit)

    async def insights(self, user_id: int, limit: int) -> list[nights.Understood]:
        """The latest insights, newest first."""
        return await self.run(nights.insights_of, user_id, limit)

    async def held(self, user_id: int, limit: int) -> list[nights.Held]:
        """The latest items of long-term memory that somebody said, newest first."""
        return await self.run(nights.held, user_id, limit)

    async def lessons(self, user_id: int) -> list[nights.Kept]:
        """A user's lessons and guidelines, with what sessions say of them."""
        return await self.run(nights.kept, user_id)

    async def lessons_version(self, user_id: int) -> Version:
        """What changes whenever a user's lessons do."""
        return await self.run(version, user_id)

    async def cited(self, user_id: int, ids: Sequence[int]) -> list[Cited]:
        """Some of a user's messages, oldest first."""
        return await self.run(cited, user_id, ids)

    async def noticed(self, user_id: int, kinds: Sequence[str], since: float) -> list[nights.Noticed]:
        """The signals of some kinds since a moment, oldest first."""
        return await self.run(nights.noticed, user_id, kinds, since)

    async def noticed_in(self, user_id: int, kinds: Sequence[str], within: Sequence[int]) -> list[nights.Noticed]:
        """The signals of some kinds in some sessions, oldest first."""
        return await self.run(nights.noticed_in, user_id, kinds, within)

    async def restore(self, user_id: int, memory_id: int) -> bool:
        """Bring a retired memory back; False where there is none such."""
        return await self.run(journal.restore, user_id, memory_id, self.now())

    async def users(self) -> list[str]:
        """The names of all users."""
        return await self.run(nights.names)

    async def revisions(self, user_id: int, subject: str, limit: int = 50) -> list[nights.Revised]:
        """The latest states of something derived, newest first."""
        return await self.run(nights.revisions_of, user_id, subject, limit)

    async def revise(self, user_id: int, revision: Revision) -> None:
        """Add a state of something derived, by a person's hand."""
        await self.run(journal.revise, user_id, revision, self.now())

    async def retire(self, user_id: int, gone: Sequence[Retired]) -> None:
        """Tell some guidance no more, by a person's hand."""
        await self.run(journal.write, user_id, gone, self.now())

    async def shown(self, user_id: int, memory_id: int) -> tuple[Memory, str, list[tuple[str, str]]] | None:
        """A memory, how it stands, and its history as (author, why); None where there is none such."""
        return await self.run(erasure.shown, user_id, memory_id)

    async def erase(self, user_id: int, memory_id: int) -> bool:
        """Erase a memory and what quotes it; False where there is none such."""

        def work(connection: sa.Connection) -> bool:
            self._neighbourhoods.forget(user_id)
            return erasure.erase(connection, user_id, memory_id, self.now())

        erased = await self.run(work)
        if erased:
            await self.scrub()
        return erased

    async def scrub(self) -> bool:
        """Leave nothing of what was erased in the file; False where another process that reads is in the way."""
        self._forget()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._database.scrub)

    def _forget(self) -> None:
        self._places.clear()
        self._neighbourhoods.forget()

    async def counts(self, place: Place) -> Mapping[str, int]:
        """How much is stored of a user: sessions, messages, long_term, working (of this session), signals."""
        return await self.run(statements.counts, place)


def check_names(user: str, session: str) -> None:
    """Whether a user and a session may be called so.

    Raises:
        InputError: a name is empty, too long, or holds what is not kept: a secret, a control character, a line end.
    """
    for what, name in (("user", user), ("session", session)):
        plain = clean(redact(name)).replace("\n", " ")
        if not name.strip() or len(name) > NAME_CHARS or plain != name:
            shown = plain[:40]
            raise InputError(f"The {what} name {shown!r} cannot be used; give 1 to {NAME_CHARS} plain characters.")


def _nothing(_: sa.Connection) -> None:
    """The unit of work that only opens."""
