"""What the pages need beside the looks of `views`: each reads one user's rows, and writes none."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from insula.memory.storage.rows import Entry
from insula.memory.storage.schema import messages, sessions, signals, users
from insula.memory.storage.views import MOST


def latest(connection: sa.Connection, user: str, kinds: Sequence[str], limit: int) -> list[Entry]:
    """The last entries of some kinds on a user's ledger, newest first; of all kinds where none is named."""
    one = signals.c
    query = (
        sa.select(one.id, sessions.c.name, one.turn, one.kind, one.reason, one.at, one.data)
        .join(sessions, sessions.c.id == one.session_id)
        .where(one.user_id == _id_of(user))
        .order_by(one.id.desc())
        .limit(min(limit, MOST))
    )
    if kinds:
        query = query.where(one.kind.in_(kinds))
    return [Entry(*row) for row in connection.execute(query)]


def openings(connection: sa.Connection, user: str, within: Sequence[int]) -> Mapping[int, str]:
    """How some of a user's sessions begin: session -> the first line of it."""
    mine = sa.and_(messages.c.user_id == _id_of(user), messages.c.session_id.in_(within))
    first = sa.select(sa.func.min(messages.c.id)).where(mine).group_by(messages.c.session_id)
    query = sa.select(messages.c.session_id, messages.c.content).where(messages.c.id.in_(first.scalar_subquery()))
    return {row.session_id: row.content for row in connection.execute(query)}


def said_in(connection: sa.Connection, user: str, session: str, turn: int) -> list[int]:
    """The ids of what a user said in a turn."""
    mine = sa.and_(messages.c.user_id == _id_of(user), messages.c.turn == turn, messages.c.provenance == "user")
    here = sa.select(messages.c.id).join(sessions, sessions.c.id == messages.c.session_id)
    return list(connection.execute(here.where(mine, sessions.c.name == session)).scalars())


def _id_of(user: str) -> sa.ScalarSelect[int]:
    return sa.select(users.c.id).where(users.c.name == user).scalar_subquery()
