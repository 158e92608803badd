"""The four repositories of a store: each method is one unit of work, run whole in a thread of the store's own."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import sqlalchemy as sa

from insula.errors import StoreError
from insula.memory import amendment, facts, index, meanings
from insula.memory.amendment import Do
from insula.memory.assertion import Question
from insula.memory.cue import Cue
from insula.memory.item import NewItem
from insula.memory.privacy import erasure
from insula.memory.recollection import Found, Recollection, recollected
from insula.memory.storage import journal, nights, pgvector, statements
from insula.memory.storage.changes import Changes, Retired, Revision
from insula.memory.storage.database import Database
from insula.memory.storage.lessons import Version, cited, heard, version
from insula.memory.storage.rows import (
    Begun,
    Cited,
    Consolidated,
    Embedded,
    Held,
    Kept,
    Line,
    Noticed,
    Place,
    Revised,
    Said,
    Session,
    Summarised,
    Understood,
)
from insula.memory.storage.vectors import Near, Vector, cosines
from insula.memory.wishes import OwnWish
from insula.types import Controls, Memory, Signal

T = TypeVar("T")
Vectors = Sequence[tuple[int, bytes]]
"""Packed vectors, each with the id of its memory."""

OVERTAKEN = (
    "What is kept of this user was erased or restored while this turn was under way; nothing of it is kept; say it"
    " again."
)


class _Repository:
    """What a store keeps of one kind."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _embedding(self, user_id: int, work: Callable[[sa.Connection], tuple[T, Vectors]]) -> T:
        """Run a unit of work that also writes vectors of a user's memories, which recall then knows of."""
        try:
            done, written = await self._database.run(work)
        except BaseException:
            self._database.neighbourhoods.forget()  # it may have been written all the same
            raise
        if written:
            await asyncio.to_thread(self._database.neighbourhoods.add, user_id, written)  # once readers can see them
        return done


class Sessions(_Repository):
    """What is said: sessions, their transcripts, their working memory and the ledger."""

    async def sessions_of(self, user: str) -> list[tuple[str, int, Any]]:
        """Name, number of turns and time of the last line of a user's sessions, latest first."""
        return await self._database.read(statements.sessions_of, user)

    async def transcript(self, place: Place, limit: int) -> tuple[Said, ...]:
        """The last `limit` lines of a session, oldest first."""
        return await self._database.read(statements.lines, place, limit)

    async def say(self, place: Place, item: NewItem, *, at: float | None = None) -> tuple[int, int]:
        """Write what begins a turn, and its item of working memory; returns (turn, memory id)."""
        return await self._database.run(statements.write, place, None, item, self._database.now() if at is None else at)

    async def begin(self, place: Place, item: NewItem) -> Begun:
        """The same, with what its vectors are to be made of."""

        def work(connection: sa.Connection) -> Begun:
            turn, memory = statements.write(connection, place, None, item, self._database.now())
            return Begun(turn, memory, tuple(meanings.unembedded_among(connection, place.user_id, [memory])))

        return await self._database.run(work)

    async def hear(self, place: Place, turn: int, said: Sequence[OwnWish]) -> tuple[OwnWish, ...]:
        """Let what a message wishes count at once; returns what of it stands from now on for every answer."""
        return await self._database.run(heard, place.user_id, place.session_id, turn, said, self._database.now())

    async def finish(
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

        def work(connection: sa.Connection) -> tuple[Consolidated | None, Vectors]:
            at = self._database.now()
            index.begin(connection, place.user_id)  # who finishes the turn elsewhere waits, and then sees this
            is_begun, is_over = statements.progress(connection, place, turn)
            if is_over:
                return None, ()
            if not is_begun:
                raise StoreError(OVERTAKEN)
            written = meanings.embed(connection, place.user_id, meant) if meant else ()
            if response is not None:
                statements.write(connection, place, turn, response, at)
            statements.append(connection, place, noticed)
            if used:
                index.touch(connection, place.user_id, used, at)
            return statements.promote(connection, place, controls, at), written

        return await self._embedding(place.user_id, work)

    async def consolidate(self, place: Place, controls: Controls) -> Consolidated:
        """Promote what is salient enough and let the rest of a full working memory go."""
        return await self._database.run(statements.promote, place, controls, self._database.now())

    async def add(
        self, place: Place, items: Iterable[tuple[NewItem, float]], controls: Controls
    ) -> tuple[list[int], Consolidated]:
        """Write many lines at once, each with its time in seconds since the epoch; what was taken in before is not.

        Returns:
            The ids of the new memories, and what was promoted.
        """

        def work(connection: sa.Connection) -> tuple[list[int], Consolidated]:
            index.begin(connection, place.user_id)
            known = statements.taken_in(connection, place.user_id, [item.source_id for item, _ in items])
            new = [(item, at) for item, at in items if item.source_id not in known]
            written = [statements.write(connection, place, None, item, at)[1] for item, at in new]
            return written, statements.promote(connection, place, controls, self._database.now())

        items = list(items)
        return await self._database.run(work)

    async def ledger(
        self, place: Place, *, kinds: Iterable[str] = (), session_only: bool = True, limit: int = 50
    ) -> list[Signal]:
        """The last signals of a user (or of this session), newest first."""
        return await self._database.read(statements.ledger, place, kinds, session_only, limit)

    async def counts(self, place: Place) -> Mapping[str, int]:
        """How much is stored of a user: sessions, messages, long_term, working (of this session), signals."""
        return await self._database.read(statements.counts, place)

    async def languages(self, place: Place) -> frozenset[str]:
        """The languages of what is remembered of a user."""
        return await self._database.read(statements.languages, place)

    async def speakers(self, place: Place) -> frozenset[str]:
        """Who talks in what is remembered of a user."""
        return await self._database.read(statements.speakers, place)


class Memories(_Repository):
    """What is remembered: recall, vectors, erasure."""

    async def recall(
        self,
        place: Place,
        cue: Cue,
        limit: int,
        *,
        lines: int = 0,
        vectors: Sequence[Vector] = (),
        asked: Sequence[Question] = (),
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
            vectors: the embeddings of the message, of the whole first, then of its sentences that ask. What is near to
                one of them is proposed, beside what shares words.
            asked: what the message asks, each with its embedding: by it each line is judged.
            candidates: how many of the memories that share words with the cue are scored.
        """

        def work(connection: sa.Connection) -> Found:
            statistics = index.statistics(connection, place.user_id, cue.forms)
            best = index.search(connection, place.user_id, statistics, index.CANDIDATES)
            found, left = best[:candidates], best[candidates:]
            near = self._near(connection, place.user_id, vectors, statistics.memories)
            found += near[0] if near else []
            alone = [one for some in near[1:] for one in some]
            rows = index.candidates(connection, place.user_id, place.session_id, found, alone)
            hits = {*found, *alone, *(row.id for row in rows if row.session_id == place.session_id)}
            told = facts.of(connection, place.user_id, (row for row in rows if row.id in hits))
            unscored = len(set(left).difference(row.id for row in rows))
            said = statements.lines(connection, place, lines) if lines else ()
            return Found(statistics, rows, told, said, unscored)

        return recollected(place, cue, await self._database.read(work), asked, vectors, self._database.now(), limit)

    def _near(
        self, connection: sa.Connection, user_id: int, vectors: Sequence[Vector], memories: int
    ) -> list[list[int]]:
        """The memories nearest to each of some vectors that may be proposed."""
        if not vectors:
            return []
        if pgvector.serves(connection, memories):
            return [pgvector.nearest(connection, user_id, vector, index.NEAREST) for vector in vectors]
        near = self._database.neighbourhoods.nearest(user_id, vectors, partial(meanings.vectors, connection, user_id))
        read = dict(index.long_term(connection, user_id, sorted({one for each in near for one in each.first})))
        return [
            _nearest(vector, each, read, partial(index.long_term, connection, user_id))
            for vector, each in zip(vectors, near, strict=False)
        ]

    async def searched(self, place: Place, cue: Cue, limit: int) -> list[int]:
        """The ids that the index alone proposes for a cue, best first by BM25: the baseline of recall."""

        def work(connection: sa.Connection) -> list[int]:
            statistics = index.statistics(connection, place.user_id, cue.forms)
            return index.search(connection, place.user_id, statistics, limit)

        return await self._database.read(work)

    async def embed(self, user_id: int, made: Sequence[Embedded]) -> int:
        """Write the vectors of memories that had none, but of what has changed since; returns how many."""

        def work(connection: sa.Connection) -> tuple[int, Vectors]:
            written = meanings.embed(connection, user_id, made)
            return len(written), written

        return await self._embedding(user_id, work)

    async def remembered(self, user: str, limit: int) -> list[tuple[Memory, bool]]:
        """A user's latest memories, newest first, each with whether it is in long-term memory."""
        return await self._database.read(statements.remembered, user, limit)

    async def restore(self, user_id: int, memory_id: int) -> bool:
        """Bring a retired memory back; False where there is none such."""
        return await self._database.run(journal.restore, user_id, memory_id, self._database.now())

    async def amend(self, user_id: int, memory_id: int, do: Do, text: str = "") -> bool:
        """Correct, pin or mute a memory, or undo what was decided on it; False where there is none such."""
        amended = await self._database.run(amendment.amend, user_id, memory_id, do, self._database.now(), text)
        self._database.neighbourhoods.forget(user_id)  # the vectors of new words are made anew
        return amended

    async def erase(self, user_id: int, *memory_ids: int) -> bool:
        """Erase memories and what quotes them, all or none of them; False where there are none such."""

        def work(connection: sa.Connection) -> bool:
            self._database.neighbourhoods.forget(user_id)
            at = self._database.now()
            gone = [erasure.erase(connection, user_id, number, at) for number in memory_ids]
            return any(gone)

        erased = await self._database.run(work)
        if erased:
            await self._database.scrub()
        return erased


def _nearest(
    vector: Vector,
    near: Near,
    known: Mapping[int, bytes],
    read: Callable[[Sequence[int]], list[tuple[int, bytes]]],
) -> list[int]:
    """The memories nearest to a vector: of the first batch, whose vectors are known, and of more where they are few."""
    found = [(one, known[one]) for one in near.first if one in known]
    for batch in islice(near.more, index.BATCHES - 1):
        if len(found) >= index.NEAREST:
            break
        found += read(batch)
    by_cosine = zip(cosines(vector, [packed for _, packed in found]), found, strict=True)
    return [number for _, (number, _) in sorted(by_cosine, key=lambda one: -one[0])[: index.NEAREST]]


class Nights(_Repository):
    """What a night reads and writes."""

    async def users(self) -> list[str]:
        """The names of all users."""
        return await self._database.read(nights.names)

    async def sleeper(self, user: str) -> int | None:
        """The id under which the night knows a user; None where nothing is stored of them."""
        return await self._database.read(nights.user_id, user)

    async def slept(self, user_id: int, phase: str) -> tuple[str, float] | None:
        """The last night in which a phase was done, and when."""
        return await self._database.read(journal.last_night, user_id, phase)

    async def journal(self, user_id: int, night: str) -> Mapping[str, Mapping[str, Any]]:
        """The reports of the phases of a night that are done."""
        return await self._database.run(journal.journal, user_id, night)

    async def record(
        self, user_id: int, night: str, phase: str, report: Mapping[str, Any], changes: Changes = ()
    ) -> bool:
        """Write what a phase changes and that it is done, in one transaction; False where it was done already."""
        return await self._database.run(journal.record, user_id, night, phase, report, changes, self._database.now())

    async def note(self, user_id: int, night: str, name: str, answer: Mapping[str, Any]) -> bool:
        """Write down what a phase was answered, so that it need not ask again; False where an answer stands already."""
        return await self._database.run(
            journal.record, user_id, night, name, answer, (), self._database.now(), journal.ASKED
        )

    async def reports_after(self, user_id: int, phase: str, other: str) -> list[Mapping[str, Any]]:
        """The reports of a phase since another one was last done, oldest first."""
        return await self._database.run(journal.reports_after, user_id, phase, other)

    def alone(self, user_id: int) -> AbstractAsyncContextManager[bool]:
        """Hold a user's night, with whether nobody else does; who is killed lets go of it."""
        return self._database.alone(user_id)

    async def sessions_to_sleep_on(self, user_id: int) -> list[Session]:
        """A user's sessions, oldest first."""
        return await self._database.run(nights.sessions_of, user_id)

    async def lines_of(self, user_id: int, within: Sequence[int], limit: int) -> dict[int, list[Line]]:
        """The last lines of some sessions, each oldest first."""
        return await self._database.run(nights.transcripts, user_id, within, limit)

    async def summaries(self, user_id: int, limit: int) -> list[Summarised]:
        """The latest summaries, oldest first."""
        return await self._database.run(nights.summaries_of, user_id, limit)

    async def insights(self, user_id: int, limit: int) -> list[Understood]:
        """The latest insights, newest first."""
        return await self._database.read(nights.insights_of, user_id, limit)

    async def held(self, user_id: int, limit: int) -> list[Held]:
        """The latest items of long-term memory that somebody said, newest first."""
        return await self._database.run(nights.held, user_id, limit)

    async def noticed(self, user_id: int, kinds: Sequence[str], since: float) -> list[Noticed]:
        """The signals of some kinds since a moment, oldest first."""
        return await self._database.run(nights.noticed, user_id, kinds, since)

    async def noticed_in(self, user_id: int, kinds: Sequence[str], within: Sequence[int]) -> list[Noticed]:
        """The signals of some kinds in some sessions, oldest first."""
        return await self._database.run(nights.noticed_in, user_id, kinds, within)


class Guidance(_Repository):
    """What was learned: lessons, guidelines, and the states of what is derived."""

    async def lessons(self, user_id: int) -> list[Kept]:
        """A user's lessons and guidelines, with what sessions say of them."""
        return await self._database.read(nights.kept, user_id)

    async def lessons_version(self, user_id: int) -> Version:
        """What changes whenever a user's lessons do."""
        return await self._database.read(version, user_id)

    async def cited(self, user_id: int, ids: Sequence[int]) -> list[Cited]:
        """Some of a user's messages, oldest first."""
        return await self._database.read(cited, user_id, ids)

    async def revisions(self, user_id: int, subject: str, limit: int = 50) -> list[Revised]:
        """The latest states of something derived, newest first."""
        return await self._database.read(nights.revisions_of, user_id, subject, limit)

    async def revise(self, user_id: int, revision: Revision) -> None:
        """Add a state of something derived, by a person's hand."""
        await self._database.run(journal.revise, user_id, revision, self._database.now())

    async def retire(self, user_id: int, gone: Sequence[Retired]) -> None:
        """Tell some guidance no more, by a person's hand."""
        await self._database.run(journal.write, user_id, gone, self._database.now())

    async def erase(self, user_id: int, lesson_id: int) -> bool:
        """Erase a lesson; False where there is none such."""
        erased = await self._database.run(erasure.unlearn, user_id, lesson_id, self._database.now())
        if erased:
            await self._database.scrub()
        return erased
