"""The four repositories of a store: each method is one unit of work, run whole in a thread of the store's own."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial, wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from insula.errors import StoreError
from insula.language.heads import limit_direction
from insula.language.statements import MessageQuestion
from insula.memory.item import NewItem
from insula.memory.privacy import amendment, erasure
from insula.memory.privacy.amendment import Do
from insula.memory.retrieval import index
from insula.memory.retrieval.query import Cue
from insula.memory.retrieval.retrieve import Recollection, RetrievedRows, rank_memories
from insula.memory.storage import facts, journal, nights, statements
from insula.memory.storage.changes import Changes, Retired, RevisionChange
from insula.memory.storage.database import Database
from insula.memory.storage.lessons import guidance_version, read_cited, write_preferences
from insula.memory.storage.rows import Consolidated, Embedded, Place
from insula.memory.storage.vectors import Near, Vector, cosines_with, read_vectors, write_vectors
from insula.memory.wishes import OwnWish, PreferenceChanges
from insula.types import Controls, Signal

P = ParamSpec("P")
T = TypeVar("T")
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
        return await self.database.read(work, *args, **options)

    return run_read


class _Repository:
    """What a store keeps of one kind."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def _run_embedding(self, user_id: int, work: Callable[[sa.Connection], tuple[T, Vectors]]) -> T:
        """Run a unit of work that also writes vectors of a user's memories, which recall then knows of."""
        try:
            done, written = await self.database.run(work)
        except BaseException:
            self.database.neighbourhoods.drop_cached()  # it may have been written all the same
            raise
        if written:
            await asyncio.to_thread(
                self.database.neighbourhoods.add_vectors, user_id, written
            )  # once readers can see them
        return done


class SessionRepository(_Repository):
    """What is said: sessions, their transcripts, their working memory and the ledger."""

    sessions_of = _reading_method(statements.sessions_of)
    read_lines = _reading_method(statements.read_lines)
    read_ledger = _reading_method(statements.read_ledger)
    count_rows = _reading_method(statements.count_rows)

    async def write_message(self, place: Place, item: NewItem, *, at: float | None = None) -> tuple[int, int]:
        """Write what begins a turn, and its item of working memory; returns (turn, memory id)."""
        return await self.database.run(
            statements.write_message, place, None, item, self.database.now() if at is None else at
        )

    async def write_preferences(self, place: Place, turn: int, said: Sequence[OwnWish]) -> PreferenceChanges:
        """Let what a message wishes count at once; returns what stands from now on, and what it ended."""
        return await self.database.run(
            write_preferences, place.user_id, place.session_id, turn, said, self.database.now()
        )

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
            at = self.database.now()
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

    async def promote_items(self, place: Place, controls: Controls) -> Consolidated:
        """Promote what is salient enough and let the rest of a full working memory go."""
        return await self.database.run(statements.promote_items, place, controls, self.database.now())

    async def add_lines(
        self, place: Place, items: Iterable[tuple[NewItem, float]], controls: Controls
    ) -> tuple[list[int], Consolidated]:
        """Write many lines at once, each with its time in seconds since the epoch; what was taken in before is not.

        Returns:
            The ids of the new memories, and what was promoted.
        """

        def write_lines(connection: sa.Connection) -> tuple[list[int], Consolidated]:
            index.begin_write(connection, place.user_id)
            known = statements.taken_in(connection, place.user_id, [item.source_id for item, _ in items])
            new = [(item, at) for item, at in items if item.source_id not in known]
            written = [statements.write_message(connection, place, None, item, at)[1] for item, at in new]
            return written, statements.promote_items(connection, place, controls, self.database.now())

        items = list(items)
        return await self.database.run(write_lines)


class MemoryRepository(_Repository):
    """What is remembered: recall, vectors, erasure."""

    list_latest_memories = _reading_method(statements.list_latest_memories)

    async def recall_memories(
        self,
        place: Place,
        cue: Cue,
        limit: int,
        *,
        lines: int = 0,
        vectors: Sequence[Vector] = (),
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
            vectors: the embeddings of the message, of the whole first, then of its sentences that ask. What is near to
                one of them is proposed, beside what shares words.
            asked: what the message asks, each with its embedding: by it each line is judged.
            requests: the embeddings of the message and of all its sentences, where what limits its answer is sought.
            candidates: how many of the memories that share words with the cue are scored.
        """

        def read_rows(connection: sa.Connection) -> RetrievedRows:
            statistics = index.read_statistics(connection, place.user_id, cue.forms)
            best = index.search_terms(connection, place.user_id, statistics, index.CANDIDATES)
            proposed, left = best[:candidates], best[candidates:]
            sought = [*vectors, *map(limit_direction, requests[:1])]
            near = self._find_near(connection, place.user_id, sought)
            proposed += near[0] if near else []
            alone = [number for some in near[1:] for number in some]
            rows = index.list_candidates(connection, place.user_id, place.session_id, proposed, alone)
            hits = {*proposed, *alone, *(row.id for row in rows if row.session_id == place.session_id)}
            told = facts.statements_of(connection, place.user_id, (row for row in rows if row.id in hits))
            unscored = len(set(left).difference(row.id for row in rows))
            said = statements.read_lines(connection, place, lines) if lines else ()
            return RetrievedRows(statistics, rows, told, said, unscored)

        return rank_memories(
            place, cue, await self.database.read(read_rows), asked, vectors, requests, self.database.now(), limit
        )

    def _find_near(self, connection: sa.Connection, user_id: int, vectors: Sequence[Vector]) -> list[list[int]]:
        """The memories nearest to each of some vectors that may be proposed."""
        if not vectors:
            return []
        near = self.database.neighbourhoods.find_nearest(user_id, vectors, partial(read_vectors, connection, user_id))
        read = dict(index.long_term(connection, user_id, sorted({number for each in near for number in each.first})))
        return [
            _rank_nearest(vector, each, read, partial(index.long_term, connection, user_id))
            for vector, each in zip(vectors, near, strict=False)
        ]

    async def search_index(self, place: Place, cue: Cue, limit: int) -> list[int]:
        """The ids that the index alone proposes for a cue, best first by BM25: the baseline of recall."""

        def search_rows(connection: sa.Connection) -> list[int]:
            statistics = index.read_statistics(connection, place.user_id, cue.forms)
            return index.search_terms(connection, place.user_id, statistics, limit)

        return await self.database.read(search_rows)

    async def write_vectors(self, user_id: int, made: Sequence[Embedded]) -> int:
        """Write the vectors of memories that had none, but of what has changed since; returns how many."""

        def write_rows(connection: sa.Connection) -> tuple[int, Vectors]:
            written = write_vectors(connection, user_id, made)
            return len(written), written

        return await self._run_embedding(user_id, write_rows)

    async def restore_memory(self, user_id: int, memory_id: int) -> bool:
        """Bring a retired memory back; False where there is none such."""
        return await self.database.run(journal.restore_memory, user_id, memory_id, self.database.now())

    async def amend_memory(self, user_id: int, memory_id: int, do: Do, text: str = "") -> bool:
        """Correct, pin or mute a memory, or undo what was decided on it; False where there is none such."""
        amended = await self.database.run(amendment.amend_memory, user_id, memory_id, do, self.database.now(), text)
        self.database.neighbourhoods.drop_cached(user_id)  # the vectors of new words are made anew
        return amended

    async def erase_memories(self, user_id: int, *memory_ids: int) -> bool:
        """Erase memories and what quotes them, all or none of them; False where there are none such."""

        def erase_rows(connection: sa.Connection) -> bool:
            self.database.neighbourhoods.drop_cached(user_id)
            at = self.database.now()
            gone = [erasure.erase_memory(connection, user_id, number, at) for number in memory_ids]
            return any(gone)

        erased = await self.database.run(erase_rows)
        if erased:
            await self.database.scrub_erased()
        return erased


def _rank_nearest(
    vector: Vector,
    near: Near,
    known: Mapping[int, bytes],
    read: Callable[[Sequence[int]], list[tuple[int, bytes]]],
) -> list[int]:
    """The memories nearest to a vector: of the first batch, whose vectors are known, and of more where they are few."""
    candidates = [(number, known[number]) for number in near.first if number in known]
    for batch in islice(near.more, index.BATCHES - 1):
        if len(candidates) >= index.NEAREST:
            break
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
    lines_of = _reading_method(nights.read_transcripts)
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
        return await self.database.run(
            journal.record_phase, user_id, night, phase, report, changes, self.database.now()
        )

    async def note_answer(self, user_id: int, night: str, name: str, answer: Mapping[str, Any]) -> bool:
        """Write down what a phase was answered, so that it need not ask again; False where an answer stands already."""
        return await self.database.run(
            journal.record_phase, user_id, night, name, answer, (), self.database.now(), journal.ASKED
        )

    def hold_night(self, user_id: int) -> AbstractAsyncContextManager[bool]:
        """Hold a user's night, with whether nobody else does; who is killed lets go of it."""
        return self.database.hold_night(user_id)


class GuidanceRepository(_Repository):
    """What was learned: lessons, guidelines, and the states of what is derived."""

    list_lessons = _reading_method(nights.list_guidance)
    lessons_version = _reading_method(guidance_version)
    read_cited = _reading_method(read_cited)
    list_revisions = _reading_method(nights.revisions_of)

    async def add_revision(self, user_id: int, revision: RevisionChange) -> None:
        """Add a state of something derived, by a person's hand."""
        await self.database.run(journal.add_revision, user_id, revision, self.database.now())

    async def retire_guidance(self, user_id: int, gone: Sequence[Retired]) -> None:
        """Tell some guidance no more, by a person's hand."""
        await self.database.run(journal.write_changes, user_id, gone, self.database.now())

    async def erase_lesson(self, user_id: int, lesson_id: int) -> bool:
        """Erase a lesson; False where there is none such."""
        erased = await self.database.run(erasure.erase_lesson, user_id, lesson_id, self.database.now())
        if erased:
            await self.database.scrub_erased()
        return erased
