"""Erasure on a person's request: a contentless tombstone stays where a memory was, and nothing derived quotes it on."""

from typing import Any

import sqlalchemy as sa

from insula.memory import index
from insula.memory.encoding import load, terms_of
from insula.memory.schema import lessons, memories, messages, relations, revisions, sessions, summaries
from insula.memory.statements import memory as as_memory
from insula.types import Memory

ERASED = ""


def shown(connection: sa.Connection, user_id: int, memory_id: int) -> tuple[Memory, str, list[tuple[str, str]]] | None:
    """A memory, how it stands (`long-term`, `working`, `retired`), and its history as (author, why); None without."""
    query = sa.select(memories, sessions.c.name.label("session")).join(sessions, sessions.c.id == memories.c.session_id)
    row = connection.execute(query.where(memories.c.user_id == user_id, memories.c.id == memory_id)).one_or_none()
    if row is None:
        return None
    stands = "retired" if row.retired_at else "long-term" if row.promoted_at else "working"
    past = sa.select(revisions.c.author, revisions.c.evidence).where(
        revisions.c.user_id == user_id, revisions.c.subject == f"memory:{memory_id}"
    )
    history = [(author, str(evidence.get("why", ""))) for author, evidence in connection.execute(past)]
    return as_memory(row), stands, history


def erase(connection: sa.Connection, user_id: int, memory_id: int, at: float) -> bool:
    """Erase a memory, the line of the transcript that it came from, and what quotes either; False where there is none.

    What was derived from its session (summary, insights, lessons that rest on that line) is erased, too, and made anew
    from the rest by the next night.
    """
    mine = sa.and_(memories.c.user_id == user_id, memories.c.id == memory_id)
    row = connection.execute(sa.select(memories).where(mine)).one_or_none()
    if row is None:
        return False
    if row.promoted_at and not row.retired_at:
        index.remove(connection, user_id, [(row.id, terms_of(load(row.claims)), row.kind == "semantic")])
    _blank(connection, user_id, [memory_id, *_derived(connection, user_id, row.session_id)], at)
    if row.message_id is not None:
        line = sa.and_(messages.c.user_id == user_id, messages.c.id == row.message_id)
        connection.execute(sa.update(messages).where(line).values(content=ERASED))
        _unlearn(connection, user_id, row.message_id, at)
    values = {"subject": f"memory:{memory_id}", "author": "person", "content": ERASED, "evidence": {"why": "erased"}}
    connection.execute(sa.insert(revisions).values(user_id=user_id, at=at, **values))
    return True


def _derived(connection: sa.Connection, user_id: int, session_id: int) -> list[int]:
    """The summary of a session and the insights that cite it; the summary is taken off its list, to be made anew."""
    summary = sa.and_(summaries.c.user_id == user_id, summaries.c.session_id == session_id)
    found = list(connection.execute(sa.select(summaries.c.memory_id).where(summary)).scalars())
    cited = sa.select(relations.c.source_id).where(relations.c.user_id == user_id, relations.c.target_id.in_(found))
    insights = sa.select(memories.c.id).where(memories.c.id.in_(cited), memories.c.kind == "insight")
    found += connection.execute(insights).scalars()
    connection.execute(sa.delete(summaries).where(summary))
    return found


def _blank(connection: sa.Connection, user_id: int, ids: list[int], at: float) -> None:
    these = sa.and_(memories.c.user_id == user_id, memories.c.id.in_(ids))
    empty: dict[str, Any] = {"content": ERASED, "line": ERASED, "claims": ERASED, "vector": None, "retired_at": at}
    connection.execute(sa.update(memories).where(these).values(**empty))
    subjects = [f"memory:{number}" for number in ids]
    past = sa.and_(revisions.c.user_id == user_id, revisions.c.subject.in_(subjects))
    connection.execute(sa.update(revisions).where(past).values(content=ERASED))


def _unlearn(connection: sa.Connection, user_id: int, message_id: int, at: float) -> None:
    """Take a line out of what lessons rest on; one that rests on nothing else is erased."""
    found = connection.execute(sa.select(lessons.c.id, lessons.c.citations).where(lessons.c.user_id == user_id)).all()
    for lesson, citations in found:
        if message_id not in citations:
            continue
        rest = [each for each in citations if each != message_id]
        values: dict[str, Any] = {"citations": rest}
        if not rest:
            values |= {"advice": ERASED, "trigger": [], "retired_at": at}
        connection.execute(sa.update(lessons).where(lessons.c.id == lesson).values(**values))
