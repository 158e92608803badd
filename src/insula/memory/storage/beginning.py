"""How a user and a session stand as a turn begins: all that is asked of the store beside recall, read at one moment."""

from typing import NamedTuple

import sqlalchemy as sa

from insula.memory.storage import statements
from insula.memory.storage.lessons import Version, version
from insula.memory.storage.rows import Place
from insula.memory.storage.schema import in_working_memory, is_asserted, memories
from insula.types import IMPASSE, TURN, Signal

_ELSEWHERE = sa.select(
    sa.exists().where(
        memories.c.user_id == sa.bindparam("user"),
        in_working_memory(),
        is_asserted(),
        memories.c.session_id != sa.bindparam("session"),
    )
)


class Beginning(NamedTuple):
    """What a turn begins with."""

    unmoved: bool
    """Whether the working memory of another session holds what was asserted there, which is to be promoted."""
    impasse: Signal | None
    """What a method came to an impasse with since the user's last turn, in whatever session."""
    version: Version
    """Of what nights have learned of the user."""
    turns: tuple[Signal, ...]
    """The last turns of the session, newest first, where they were asked for."""
    saliences: tuple[float, ...]
    """Of the session's working memory, where they were asked for."""


def read(connection: sa.Connection, here: Place, turns: int, capacity: int) -> Beginning:
    """How a user and a session stand.

    Args:
        connection: to the store.
        here: whose they are.
        turns: how many of the session's last turns are read.
        capacity: of the session's working memory, where its saliences are asked for; else 0.
    """
    where = {"user": here.user_id, "session": here.session_id}
    last = statements.ledger(connection, here, [IMPASSE], False, 1)
    if last and statements.ledger(connection, here, [TURN, IMPASSE], False, 1)[0].kind != IMPASSE:
        last = []
    return Beginning(
        unmoved=bool(connection.execute(_ELSEWHERE, where).scalar()),
        impasse=last[0] if last else None,
        version=version(connection, here.user_id),
        turns=tuple(statements.ledger(connection, here, [TURN], True, turns)) if turns else (),
        saliences=statements.saliences(connection, here, capacity) if capacity else (),
    )
