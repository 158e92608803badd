"""The statements of memories in the store: written with the text, read for what is asked, to come for old ones."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from insula.memory.assertion import Statement
from insula.memory.relevance import Told
from insula.memory.rows import Proposed, Unstated
from insula.memory.schema import UNSTATED, memories, statements
from insula.memory.subject import NOBODY, SOMEBODY
from insula.memory.vectors import Vector, packed, unpacked

_BEFORE = memories.alias("before")
_COLUMNS = ("id", "content", "provenance", "speaker")
_TEXTS = sa.select(
    *(memories.c[name] for name in _COLUMNS),
    sa.func.coalesce(_BEFORE.c.content, "").label("before"),
    sa.func.coalesce(_BEFORE.c.speaker, "").label("before_speaker"),
).join(_BEFORE, sa.and_(_BEFORE.c.id == memories.c.after_id, _BEFORE.c.provenance != "derived"), isouter=True)
_READ = ("id", "memory_id", "text", "language", "subjects", "mentions", "modality", "marks", "terms", "vector")
_OF = sa.select(*(statements.c[name] for name in _READ)).where(
    statements.c.memory_id.in_(sa.bindparam("ids", expanding=True)),
    statements.c.user_id + 0 == sa.bindparam("user"),  # by their memories: a user's statements are too many
)


def add(connection: sa.Connection, user_id: int, memory_id: int, made: Iterable[Statement]) -> None:
    """Write the statements of a memory."""
    if new := as_stored(user_id, memory_id, made):
        connection.execute(sa.insert(statements), new)
    connection.execute(sa.update(memories).where(memories.c.id == memory_id).values(stated=True))


def as_stored(user_id: int, memory_id: int, made: Iterable[Statement]) -> list[dict[str, Any]]:
    """The statements of a memory as they are stored, a row for each subject."""
    return [
        {
            "user_id": user_id,
            "memory_id": memory_id,
            "subject": subject,
            "subjects": " ".join(sorted(one.subjects)),
            "mentions": " ".join(sorted(one.mentions)),
            "language": one.language,
            "modality": one.modality,
            "marks": " ".join(sorted(one.marks)),
            "terms": " ".join(sorted(one.terms)),
            "text": one.text,
            "vector": None if one.vector is None else packed(one.vector),
        }
        for one in made
        for subject in (sorted(one.subjects) or [""])
    ]


def of(connection: sa.Connection, user_id: int, rows: Iterable[Proposed]) -> list[Told]:
    """The statements of some memories, in the order they were made."""
    known = {row.id: row for row in rows}
    found: dict[tuple[int, str], Sequence[Any]] = {}
    read: Sequence[Any] = connection.execute(_OF, {"user": user_id, "ids": sorted(known)}).all()
    for row in sorted(read, key=itemgetter(0)):  # by SQLite it takes twice as long, vectors and all
        found.setdefault((row[1], row[2]), row)  # a statement has a row for each whom it is about
    vectors = unpacked([row[9] for row in found.values()])
    words = cache(_words)  # the same few beings and marks in hundreds of them
    return [_told(row, known[row[1]], vector, words) for row, vector in zip(found.values(), vectors, strict=True)]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _told(
    row: Sequence[Any],
    memory: Proposed,
    vector: Vector | None,
    words: Callable[[str], frozenset[Any]],
) -> Told:
    _, number, text, language, subjects, mentions, modality, marks, terms, _ = row
    held = frozenset(terms.split())
    statement = Statement(text, language, words(subjects), words(mentions), modality, words(marks), held, vector)
    return Told(number, memory.said_at, statement, memory.provenance == "tool")


def unstated(connection: sa.Connection, user_id: int, limit: int) -> list[Unstated]:
    """The latest of a user's memories whose statements are to come, newest first."""
    mine = sa.select(memories.c.id).where(memories.c.user_id == user_id, sa.text(UNSTATED))
    latest = mine.order_by(memories.c.id.desc()).limit(limit)
    found = connection.execute(_TEXTS.where(memories.c.id.in_(latest)).order_by(memories.c.id.desc()))
    return [Unstated(*row) for row in found]


def state(connection: sa.Connection, user_id: int, made: Sequence[tuple[Unstated, Sequence[Statement]]]) -> int:
    """Write the statements of memories that had none, but of what has changed since it was read; returns how many."""
    asked = _TEXTS.where(memories.c.user_id == user_id, memories.c.id.in_([one.id for one, _ in made]))
    as_before = {Unstated(*row) for row in connection.execute(asked.where(sa.text("memories.stated IS NULL")))}
    rows = [(one, found) for one, found in made if one in as_before]
    for one, found in rows:
        add(connection, user_id, one.id, found)
    return len(rows)


def incomplete(connection: sa.Connection, user_id: int, after: int, limit: int) -> list[Unstated]:
    """The next memories that a user told after an id and that leave open whom they are about."""
    open_ = sa.or_(statements.c.subject == NOBODY, statements.c.subject.startswith(SOMEBODY, autoescape=True))
    stands = sa.exists().where(statements.c.user_id == user_id, statements.c.memory_id == memories.c.id)
    asserted = sa.and_(memories.c.provenance == "user", memories.c.kind == "semantic", memories.c.retired_at.is_(None))
    found = connection.execute(
        _TEXTS.where(memories.c.user_id == user_id, memories.c.id > after, asserted, memories.c.withheld == "")
        .where(memories.c.stated.is_not(None), sa.or_(stands.where(open_), ~stands))
        .order_by(memories.c.id)
        .limit(limit)
    )
    return [Unstated(*row) for row in found]


def complete(connection: sa.Connection, user_id: int, memory_id: int, made: Iterable[Statement]) -> None:
    """Write statements beside those that a memory has; of one that was erased or retired meanwhile, none."""
    mine = sa.and_(memories.c.user_id == user_id, memories.c.id == memory_id, memories.c.retired_at.is_(None))
    if connection.execute(sa.select(memories.c.id).where(mine)).scalar() is not None:
        add(connection, user_id, memory_id, made)


def unsay(connection: sa.Connection, user_id: int, ids: Sequence[int], after: Sequence[int] = ()) -> None:
    """Erase the statements of memories; those of the memories after them, which may quote them, are made anew."""
    both = sa.and_(statements.c.user_id == user_id, statements.c.memory_id.in_([*ids, *after]))
    connection.execute(sa.delete(statements).where(both))
    connection.execute(sa.update(memories).where(memories.c.id.in_(after)).values(stated=None))
