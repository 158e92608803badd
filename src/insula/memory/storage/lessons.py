"""What the day reads of what was learned, and what a wish changes at once, as functions of a connection."""

from collections.abc import Sequence

import sqlalchemy as sa

from insula.memory import wishes
from insula.memory.retrieval import index
from insula.memory.storage import journal
from insula.memory.storage.nights import list_guidance
from insula.memory.storage.rows import Cited, StoredGuidance
from insula.memory.storage.schema import lessons, memories, messages, nights, revisions, sessions, signals

Version = tuple[int, ...]
"""What changes whenever a night, or a person, changes what is told."""


def version_columns() -> list[sa.ScalarSelect[int]]:
    """The version of what was learned of a user, who is bound as "user": a person's word on a lesson is a revision."""
    user = sa.bindparam("user", type_=sa.BigInteger)
    subject = revisions.c.subject
    told = sa.or_(subject == "soul", subject == "calibration", subject.startswith("lesson:"))
    standing = sa.and_(lessons.c.user_id == user, lessons.c.retired_at.is_(None))
    counted = (
        (sa.func.count(lessons.c.id), standing),
        (sa.func.sum(lessons.c.id), standing),
        (sa.func.max(nights.c.id), nights.c.user_id == user),
        (sa.func.max(revisions.c.id), sa.and_(revisions.c.user_id == user, told)),
    )
    return [sa.select(sa.func.coalesce(value, 0)).where(mine).scalar_subquery() for value, mine in counted]


_VERSION = sa.select(*version_columns())


def guidance_version(connection: sa.Connection, user_id: int) -> Version:
    """The version of what was learned of a user."""
    return tuple(connection.execute(_VERSION, {"user": user_id}).one())


def read_cited(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> list[Cited]:
    """Some of a user's messages, oldest first; those that were erased are left out."""
    query = (
        sa.select(messages.c.id, sessions.c.name, messages.c.content, messages.c.said_at, memories.c.id)
        .join(sessions, sessions.c.id == messages.c.session_id)
        .join(memories, memories.c.message_id == messages.c.id)
        .where(messages.c.user_id == user_id, messages.c.id.in_(ids))
        .order_by(messages.c.id)
    )
    return [Cited(*row) for row in connection.execute(query)]


def write_preferences(
    connection: sa.Connection, user_id: int, session_id: int, turn: int, said: Sequence[wishes.OwnWish], at: float
) -> wishes.PreferenceChanges:
    """Let what a message wishes count at once, and end what it ends; returns what changed."""
    index.begin_write(connection, user_id)
    mine = sa.and_(messages.c.session_id == session_id, messages.c.turn == turn, messages.c.provenance == "user")
    message = connection.execute(sa.select(messages.c.id).where(mine, messages.c.user_id == user_id)).scalar()
    if message is None:
        return wishes.PreferenceChanges((), (), ())
    known = list_guidance(connection, user_id)
    pointed = (
        _find_referents(connection, session_id, turn, known) if any(preference.lifts for preference in said) else ()
    )
    made = wishes.apply_preferences(known, said, message, at, pointed, _of_session(connection, session_id, known))
    journal.write_changes(connection, user_id, made.changes, at)
    return made


def _of_session(connection: sa.Connection, session_id: int, known: Sequence[StoredGuidance]) -> frozenset[int]:
    """Which messages of a session requests of the moment cite."""
    cited = {
        each
        for guidance in known
        if wishes.is_wish(guidance) and not wishes.is_told(guidance)
        for each in guidance.citations
    }
    mine = sa.and_(messages.c.session_id == session_id, messages.c.id.in_(sorted(cited)))
    return frozenset(connection.execute(sa.select(messages.c.id).where(mine)).scalars()) if cited else frozenset()


def _find_referents(
    connection: sa.Connection, session_id: int, turn: int, known: Sequence[StoredGuidance]
) -> list[int]:
    """What the turn before wished or, where it wished nothing, was told."""
    before = sa.and_(messages.c.session_id == session_id, messages.c.turn == turn - 1)
    said = set(connection.execute(sa.select(messages.c.id).where(before)).scalars())
    if wished := [guidance.id for guidance in known if said & {*guidance.citations[-1:]}]:
        return wished
    mine = sa.and_(signals.c.session_id == session_id, signals.c.turn == turn - 1, signals.c.kind == "meta:turn")
    told = connection.execute(sa.select(signals.c.data).where(mine)).scalars()
    return [int(used["id"]) for data in told for used in data.get("lessons", ()) if used["arm"] == "shown"]
