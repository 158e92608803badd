"""What a model understood of some lines, written at once and once: or nothing, where a line has changed meanwhile.

What was shown to the model is compared with what stands now. Where a line was erased, corrected or let go while the
model was asked, nothing of its answer is kept, and the lines are read again as they are then.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from insula.errors import StoreError
from insula.language.statements import PredictedQuery, Statement
from insula.memory.item import LINE_CHARS
from insula.memory.privacy import amendment
from insula.memory.retrieval import index
from insula.memory.storage import facts, journal, lessons, queries, unread
from insula.memory.storage.changes import LessonChange, Retired, RevisionChange
from insula.memory.storage.nights import list_guidance
from insula.memory.storage.rows import StoredGuidance
from insula.memory.storage.schema import memories, relations
from insula.memory.storage.schema import statements as table
from insula.memory.wishes import WHY, OwnWish, new_preference
from insula.screening import screen_text

CHANGED = "What was said changed while the model was asked; nothing of its answer is kept, and it is asked again."


class LineRead(NamedTuple):
    """A line of which a model says what it states; nothing of one that only asks something of all answers."""

    memory: int
    line: str
    statements: tuple[Statement, ...]
    queries: tuple[PredictedQuery, ...] = ()
    """Messages of later for which the line is needed, each with its vector."""


class Wished(NamedTuple):
    """A preference that a line states."""

    session: int
    turn: int
    message: int
    wish: OwnWish
    memory: int = 0
    """That its line is remembered as."""
    queries: tuple[PredictedQuery, ...] = ()
    """Messages of later to which it applies, each with its vector."""


class ExtractedLines(NamedTuple):
    """All that is to be written of an answer."""

    lines: Sequence[LineRead] = ()
    dropped: Sequence[int] = ()
    """Memories that were taken for facts and tell none."""
    ends: Sequence[tuple[int, int]] = ()
    """Memories that are over, each with the one that ended it."""
    wishes: Sequence[Wished] = ()
    lifted: Sequence[tuple[str, int]] = ()
    """Keys of preferences that are over, each with the message that said so."""


def keep_extracted(
    connection: sa.Connection,
    user_id: int,
    name: str,
    report: Mapping[str, Any],
    extracted: ExtractedLines,
    shown: Mapping[int, str],
    at: float,
) -> bool:
    """Write what was understood of some lines, and that they were read.

    Args:
        name: of the rest; where it stands in the journal, somebody else has read them, and nothing is written.
        report: of the rest, without a word of anybody's.
        shown: the memories that were shown to the model, with their words.

    Returns:
        Whether it was written.

    Raises:
        StoreError: a line that was shown is not as it was; nothing is written.
    """
    if not journal.record_phase(connection, user_id, name, unread.PHASE, report, (), at):
        return False
    if _read_contents(connection, user_id, shown) != dict(shown):
        raise StoreError(CHANGED)
    for line in extracted.lines:
        _replace_statements(connection, user_id, line)
    for memory in extracted.dropped:
        if amendment.record_dropped(connection, user_id, memory, at):
            _replace_statements(connection, user_id, LineRead(memory, "", ()))
    for old, new in extracted.ends:
        _end_memory(connection, user_id, old, new, at)
    for preference in extracted.wishes:
        if key := _write_preference(connection, user_id, preference, at):
            queries.erase_tasks(connection, user_id, key)
            queries.add_queries(connection, user_id, preference.memory, preference.queries, key)
    known = {preference.key: preference for preference in list_guidance(connection, user_id)}
    for key, message in extracted.lifted:
        if key in known:
            journal.write_changes(connection, user_id, [Retired(key, "user", WHY["lifts"], "", message)], at)
    unread.forget_rests(connection, user_id, at)
    return True


def _read_contents(connection: sa.Connection, user_id: int, shown: Mapping[int, str]) -> dict[int, str]:
    mine = sa.and_(memories.c.user_id == user_id, memories.c.id.in_(list(shown)), memories.c.retired_at.is_(None))
    rows = connection.execute(sa.select(memories.c.id, memories.c.content).where(mine))
    return {row.id: row.content for row in rows}


def _replace_statements(connection: sa.Connection, user_id: int, line: LineRead) -> None:
    """Put what a model read in a line in the place of what stood there."""
    row = connection.execute(sa.select(memories).where(memories.c.id == line.memory)).one()
    connection.execute(sa.delete(table).where(table.c.user_id == user_id, table.c.memory_id == line.memory))
    facts.fill_statements(connection, user_id, line.memory, line.statements)
    queries.erase_queries(connection, user_id, [line.memory])
    queries.add_queries(connection, user_id, line.memory, line.queries)
    safe = screen_text(line.line, LINE_CHARS)
    kind = "semantic" if line.statements else "episodic"
    values: dict[str, Any] = {"line": safe.text, "kind": kind}
    if safe.reasons:
        values["withheld"] = " ".join([*row.withheld.split(), *safe.reasons])
    if row.kind != kind and row.promoted_at is not None:
        ((number, words, _),) = before = index.entries_of(row)
        index.remove_entries(connection, user_id, before)
        index.add_entries(connection, user_id, [(number, words, kind == "semantic")])
    connection.execute(sa.update(memories).where(memories.c.id == line.memory).values(**values))


def _end_memory(connection: sa.Connection, user_id: int, old: int, new: int, at: float) -> None:
    here = sa.and_(relations.c.user_id == user_id, relations.c.target_id == old, relations.c.kind == facts.ENDS)
    if old < new and connection.execute(sa.select(relations.c.id).where(here)).first() is None:
        journal.relate_memories(connection, user_id, new, old, facts.ENDS, 1.0, at)


def _write_preference(connection: sa.Connection, user_id: int, preference: Wished, at: float) -> str:
    """Let a preference stand, unless a person put it aside; one that was heard when it was said is limited at most.

    Returns:
        The key under which it stands; empty where it was put aside.
    """
    said = preference.wish.words.casefold()
    for old in list_guidance(connection, user_id, retired=True):
        same = said in old.advice.casefold() or old.advice.casefold() in said
        if same and preference.message in old.citations:
            _limit_preference(connection, user_id, old, preference, at)
            return "" if old.is_retired else old.key
        if old.advice.casefold() == said and old.is_retired:
            return ""
    lessons.write_preferences(connection, user_id, preference.session, preference.turn, [preference.wish], at)
    return new_preference(preference.wish, preference.message, at).key


def _limit_preference(
    connection: sa.Connection, user_id: int, old: StoredGuidance, preference: Wished, at: float
) -> None:
    """Let a preference that was heard for every answer hold for what its reader says, unless a person decided on it."""
    trigger = new_preference(preference.wish, preference.message, at).trigger
    if not trigger or old.trigger or old.mode or old.author != "derived" or old.is_retired:
        return
    limited = LessonChange(old.key, old.advice, trigger, "", old.author, old.citations)
    why = RevisionChange(
        f"lesson:{old.key}",
        "user",
        old.advice,
        {"why": "limited to a topic", "message": preference.message, "before": {"trigger": []}},
    )
    journal.write_changes(connection, user_id, [limited, why], at)
