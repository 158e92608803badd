"""Erasure on a person's request: a contentless tombstone stays where a memory was, and nothing derived quotes it on."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

import sqlalchemy as sa

from insula.memory.privacy import archive, reports
from insula.memory.privacy.echoes import find_echoes, split_words
from insula.memory.privacy.reports import ERASED
from insula.memory.retrieval import index
from insula.memory.storage import facts, journal, queries
from insula.memory.storage.changes import RevisionChange
from insula.memory.storage.rows import name_of
from insula.memory.storage.schema import (
    lessons,
    memories,
    messages,
    predicted_queries,
    relations,
    revisions,
    sessions,
    signals,
    spending,
    summaries,
    users,
)
from insula.memory.storage.statements import read_memory as as_memory
from insula.types import Memory

NEXT = 4
"""Memories after an erased one whose vectors may hold the end of it."""
SOUL, SOULS = "soul", ("soul", "soul:proposal")
"""Subjects of revisions: the guidelines, and what is proposed for them."""
DIGESTS = "digests"
"""Where a revision from which something was erased names the files that still hold it, so that they are known as ours
and written anew."""


def erase_memory(connection: sa.Connection, user_id: int, memory_id: int, at: float) -> bool:
    """Erase a memory, the line of the transcript that it came from, and what quotes either; False where there is none.

    What the assistant said with its words is erased with it; what the user said with them elsewhere is not.

    What was derived from its session (summary, insights, lessons and guidelines that have words of that line alone) is
    erased, too, and made anew from the rest by the next night. Guidelines are no longer told from now on; the file is
    written anew by whoever knows where it lies. A person's own lines in it are theirs.
    """
    index.begin_write(connection, user_id)
    mine = sa.and_(memories.c.user_id == user_id, memories.c.id == memory_id)
    row = connection.execute(sa.select(memories).where(mine)).one_or_none()
    if row is None:
        return False
    before = reports.read_texts(connection, user_id)
    if row.promoted_at and not row.retired_at:
        index.remove_entries(connection, user_id, index.entries_of(row))
    _blank_memories(connection, user_id, [memory_id, *_find_derived(connection, user_id, row.session_id)], at)
    _erase_quoting_queries(connection, user_id, row.content)
    if row.message_id is not None:
        line = sa.and_(messages.c.user_id == user_id, messages.c.id == row.message_id)
        echoes, _ = find_echoes(connection, user_id, row.message_id)
        said = connection.execute(sa.select(messages.c.content, messages.c.turn).where(line)).one()
        connection.execute(sa.update(messages).where(line).values(content=ERASED))
        gone = _uncite_lessons(connection, user_id, row.message_id, row.session_id, said.content, at)
        _scrub_signals(connection, user_id, row.session_id, said.turn)
        _scrub_turn_records(connection, user_id, row.session_id, memory_id)
        _from_soul(connection, user_id, gone, at)
        _erase_echoes(connection, user_id, echoes, at)
    _unname_session(connection, user_id, row.session_id)
    reports.scrub_reports(connection, user_id, before, row.session_id)
    index.drop_unused_terms(connection)
    clear_following(connection, user_id, memory_id)
    tombstone = RevisionChange(f"memory:{memory_id}", "person", ERASED, {"why": "erased"})
    journal.write_changes(connection, user_id, [tombstone], at)
    return True


def _erase_echoes(connection: sa.Connection, user_id: int, echoes: Sequence[int], at: float) -> None:
    """Erase messages that hold the words of an erased line, what was remembered of them, and where they are quoted."""
    these = sa.and_(memories.c.user_id == user_id, memories.c.message_id.in_(echoes))
    rows = connection.execute(sa.select(memories).where(these)).all()
    held = (row for row in rows if row.promoted_at and not row.retired_at)
    index.remove_entries(connection, user_id, index.entries_of(*held))
    _blank_memories(connection, user_id, [row.id for row in rows], at)
    lines = sa.and_(messages.c.user_id == user_id, messages.c.id.in_(echoes))
    for said in connection.execute(sa.select(messages.c.session_id, messages.c.turn).where(lines)).all():
        _scrub_signals(connection, user_id, said.session_id, said.turn)
        _scrub_turn_records(connection, user_id, said.session_id, 0)
    connection.execute(sa.update(messages).where(lines).values(content=ERASED))


def _erase_quoting_queries(connection: sa.Connection, user_id: int, gone: str) -> None:
    """Erase the predicted queries that hold words of an erased text which no line has that something was predicted for:
    a model that read it may have put them there."""
    rows = connection.execute(
        sa.select(predicted_queries.c.id, predicted_queries.c.text, memories.c.content)
        .join(memories, memories.c.id == predicted_queries.c.memory_id)
        .where(predicted_queries.c.user_id == user_id)
    ).all()
    kept = {row.content.lower() for row in rows}
    words = [word for word in split_words(gone) if not any(word in content for content in kept)]
    quoting = [row.id for row in rows if any(word in row.text.lower() for word in words)]
    connection.execute(sa.delete(predicted_queries).where(predicted_queries.c.id.in_(quoting)))


def others_holding(connection: sa.Connection, user_id: int, memory_id: int) -> list[Memory]:
    """What the user asserted elsewhere with the words of a memory: what its erasure leaves."""
    mine = sa.and_(memories.c.user_id == user_id, memories.c.id == memory_id)
    message = connection.execute(sa.select(memories.c.message_id).where(mine)).scalar()
    if message is None:
        return []
    _, others = find_echoes(connection, user_id, message)
    query = sa.select(memories, sessions.c.name.label("session")).join(sessions, sessions.c.id == memories.c.session_id)
    here = sa.and_(memories.c.user_id == user_id, memories.c.message_id.in_(others), memories.c.kind == "semantic")
    return [as_memory(row) for row in connection.execute(query.where(here).order_by(memories.c.id)).all()]


def _find_derived(connection: sa.Connection, user_id: int, session_id: int) -> list[int]:
    """The summary of a session and the insights that cite it; the summary is taken off its list, to be made anew."""
    summary = sa.and_(summaries.c.user_id == user_id, summaries.c.session_id == session_id)
    numbers = list(connection.execute(sa.select(summaries.c.memory_id).where(summary)).scalars())
    here = sa.select(memories.c.id).where(memories.c.user_id == user_id, memories.c.session_id == session_id)
    cited = sa.select(relations.c.source_id).where(relations.c.user_id == user_id, relations.c.target_id.in_(here))
    insights = sa.select(memories.c.id).where(memories.c.id.in_(cited), memories.c.kind == "insight")
    numbers += connection.execute(insights).scalars()
    connection.execute(sa.delete(summaries).where(summary))
    return numbers


def erase_user(connection: sa.Connection, user: str) -> None:
    """Erase all that is stored of a user.

    Raises:
        InputError: nothing is.
    """
    index.begin_write(connection)
    user_id = archive.find_user_id(connection, user)
    index.remove_entries(connection, user_id, archive.read_long_term(connection, user_id))
    connection.execute(sa.delete(spending).where(spending.c.user_id == user_id))
    connection.execute(sa.delete(users).where(users.c.id == user_id))  # and with it every row that is the user's
    index.drop_unused_terms(connection)


def _blank_memories(connection: sa.Connection, user_id: int, ids: list[int], at: float) -> None:
    these = sa.and_(memories.c.user_id == user_id, memories.c.id.in_(ids))
    empty: dict[str, Any] = {"content": ERASED, "line": ERASED, "claims": ERASED, "metadata": ERASED}
    empty |= {"vector": None, "retired_at": at}
    connection.execute(sa.update(memories).where(these).values(**empty))
    facts.erase_statements(connection, user_id, ids)
    subjects = [f"memory:{number}" for number in ids]
    past = sa.and_(revisions.c.user_id == user_id, revisions.c.subject.in_(subjects))
    connection.execute(sa.update(revisions).where(past).values(content=ERASED))


def clear_following(connection: sa.Connection, user_id: int, memory_id: int) -> None:
    """Take the vectors and statements of what was said next, which may hold some of what is erased; they are made anew.

    Where several talk in one session at once, that need not be the next alone.
    """
    session = sa.select(memories.c.session_id).where(memories.c.id == memory_id).scalar_subquery()
    after = sa.and_(memories.c.user_id == user_id, memories.c.session_id == session, memories.c.id > memory_id)
    next_few = sa.select(memories.c.id).where(after).order_by(memories.c.id).limit(NEXT)
    numbers = list(connection.execute(next_few).scalars())
    connection.execute(sa.update(memories).where(memories.c.id.in_(numbers)).values(vector=None))
    facts.erase_statements(connection, user_id, [memory_id], numbers)
    facts.clear_endings(connection, user_id, memory_id)


def _uncite_lessons(
    connection: sa.Connection, user_id: int, message_id: int, session_id: int, said: str, at: float
) -> list[str]:
    """Take a line out of what lessons rest on; returns the names of those that are erased.

    Erased is what rests on nothing else, and what holds words that stand in no other line of the sessions it cites.
    """
    mine = lessons.c.user_id == user_id
    gone: list[str] = []
    query = sa.select(*(lessons.c[name] for name in ("id", "key", "advice", "citations", "section"))).where(mine)
    for row in connection.execute(query).all():
        within = _list_cited_sessions(connection, user_id, row.citations)
        rest = [each for each in row.citations if each != message_id]
        if rest and (
            session_id not in within
            or split_words(row.advice) & split_words(said) <= _list_spoken_words(connection, within)
        ):
            connection.execute(sa.update(lessons).where(lessons.c.id == row.id).values(citations=rest))
        elif message_id in row.citations or session_id in within:
            gone.append(_empty_lesson(connection, user_id, row, rest, at))
    return gone


def erase_lesson(connection: sa.Connection, user_id: int, lesson_id: int, at: float) -> bool:
    """Erase a lesson with what became of it, and what nights reported; the messages that it was learned from stay."""
    index.begin_write(connection, user_id)
    mine = sa.and_(lessons.c.user_id == user_id, lessons.c.id == lesson_id)
    lesson = connection.execute(sa.select(lessons).where(mine)).one_or_none()
    if lesson is None:
        return False
    before = reports.read_texts(connection, user_id)
    _from_soul(connection, user_id, [_empty_lesson(connection, user_id, lesson, [], at)], at)
    reports.scrub_reports(connection, user_id, before)
    return True


def _empty_lesson(connection: sa.Connection, user_id: int, row: sa.Row[Any], rest: list[int], at: float) -> str:
    """Take the words of a lesson away; returns the name that it had."""
    values = {"key": f"erased/{row.id}", "advice": ERASED, "trigger": [], "citations": rest, "retired_at": at}
    connection.execute(sa.update(lessons).where(lessons.c.id == row.id).values(**values))
    queries.erase_tasks(connection, user_id, row.key)
    past = sa.and_(revisions.c.user_id == user_id, revisions.c.subject == f"lesson:{row.key}")
    connection.execute(sa.delete(revisions).where(past))
    return name_of(row.key, row.section)


def _unname_session(connection: sa.Connection, user_id: int, session_id: int) -> None:
    """Take the name away from a session of which every line is erased."""
    here = sa.and_(messages.c.user_id == user_id, messages.c.session_id == session_id, messages.c.content != ERASED)
    if connection.execute(sa.select(messages.c.id).where(here).limit(1)).first() is None:
        session = sa.and_(sessions.c.user_id == user_id, sessions.c.id == session_id)
        connection.execute(sa.update(sessions).where(session).values(name=f"erased-{session_id}"))


def _list_cited_sessions(connection: sa.Connection, user_id: int, cited: Sequence[int]) -> list[int]:
    query = sa.select(messages.c.session_id).where(messages.c.user_id == user_id, messages.c.id.in_(cited))
    return list(connection.execute(query.distinct()).scalars())


def _list_spoken_words(connection: sa.Connection, within: Sequence[int]) -> set[str]:
    """All words that the user said in some sessions."""
    query = sa.select(messages.c.content).where(messages.c.session_id.in_(within), messages.c.provenance == "user")
    return set[str]().union(*(split_words(text) for text in connection.execute(query).scalars()))


def _scrub_signals(connection: sa.Connection, user_id: int, session_id: int, turn: int) -> None:
    """Take the words of a message out of what was noticed in its turn."""
    mine = sa.and_(signals.c.user_id == user_id, signals.c.session_id == session_id, signals.c.turn == turn)
    for number, data in connection.execute(sa.select(signals.c.id, signals.c.data).where(mine)).all():
        left = {key: value for key, value in data.items() if key not in ("topic", "unanswered")}
        connection.execute(sa.update(signals).where(signals.c.id == number).values(data=left, reason=ERASED))


def _scrub_turn_records(connection: sa.Connection, user_id: int, session_id: int, memory_id: int) -> None:
    """Take what is quoted out of the records of turns that the memory came up in, and of those of its session."""
    query = sa.select(signals.c.id, signals.c.session_id, signals.c.data).where(signals.c.user_id == user_id)
    for number, session, data in connection.execute(query).all():
        came_up = any(memory.get("id") == memory_id for memory in data.get("recalled", ()))
        if "quoted" in data and (came_up or session == session_id):
            left = {key: value for key, value in data.items() if key != "quoted"}
            connection.execute(sa.update(signals).where(signals.c.id == number).values(data=left))


def _from_soul(connection: sa.Connection, user_id: int, gone: Sequence[str], at: float) -> None:
    """Take guidelines out of every state of the document, and say so in a new one."""
    mine = sa.and_(revisions.c.user_id == user_id, revisions.c.subject.in_(SOULS))
    latest, digests = "", list[str]()
    for row in connection.execute(sa.select(revisions).where(mine).order_by(revisions.c.id)).all():
        text = _drop_guideline_lines(row.content, gone)
        if text != row.content:
            digests.append(sha256(row.content.encode("utf-8", "surrogatepass")).hexdigest())
            left = _scrub_evidence(row.evidence, gone)
            connection.execute(sa.update(revisions).where(revisions.c.id == row.id).values(content=text, evidence=left))
        latest = text if row.subject == SOUL else latest
    if digests:
        change = RevisionChange(SOUL, "person", latest, {"why": "erased", DIGESTS: digests})
        journal.write_changes(connection, user_id, [change], at)


def _drop_guideline_lines(text: str, gone: Sequence[str]) -> str:
    """A document without the lines of some guidelines, which are known by their marks."""
    marks = [f"i:{name}." for name in gone]
    return "".join(line for line in text.splitlines(keepends=True) if not any(mark in line for mark in marks))


def _scrub_evidence(evidence: Mapping[str, Any], gone: Sequence[str]) -> dict[str, Any]:
    """The evidence of a state without the words of what is gone; reasons quote, too."""
    changes = cast("list[dict[str, Any]]", evidence.get("changes", []))
    left = {"changes": [change for change in changes if change.get("id") not in gone]} if changes else {}
    return {**evidence, **left} | ({"reasons": []} if "reasons" in evidence else {})
