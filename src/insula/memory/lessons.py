"""What the day reads of the lessons that the night wrote, as functions of a connection."""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from insula.memory.schema import lessons, messages, nights, revisions, sessions

Version = tuple[tuple[int, str], ...]
"""What changes whenever a night, or a person, changes what is told."""


class Cited(NamedTuple):
    """A message that a lesson was learned from."""

    id: int
    session: str
    content: str
    at: float


def _version() -> sa.CompoundSelect[int, str]:
    user = sa.bindparam("user", type_=sa.Integer)
    mine = sa.select(lessons.c.id, lessons.c.mode).where(lessons.c.user_id == user, lessons.c.retired_at.is_(None))
    night = sa.select(sa.func.coalesce(sa.func.max(nights.c.id), 0), sa.literal("night"))
    revised = sa.select(sa.func.coalesce(sa.func.max(revisions.c.id), 0), sa.literal("revised"))
    return sa.union_all(
        mine,
        night.where(nights.c.user_id == user),
        revised.where(revisions.c.user_id == user, revisions.c.subject.in_(("soul", "calibration"))),
    )


_VERSION = _version()
"""Put together once: every turn asks for it."""


def version(connection: sa.Connection, user_id: int) -> Version:
    """The lessons of a user with what a person said of each, and the last entry of the nights' journal."""
    return tuple((row[0], row[1]) for row in connection.execute(_VERSION, {"user": user_id}))


def cited(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> list[Cited]:
    """Some of a user's messages, oldest first; those that were erased are left out."""
    query = (
        sa.select(messages.c.id, sessions.c.name, messages.c.content, messages.c.said_at)
        .join(sessions, sessions.c.id == messages.c.session_id)
        .where(messages.c.user_id == user_id, messages.c.id.in_(ids))
        .order_by(messages.c.id)
    )
    return [Cited(*row) for row in connection.execute(query)]
