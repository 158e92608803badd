"""How a user and a session stand as a turn begins: all that is asked of the store beside recall, read at one moment."""

from typing import NamedTuple

import sqlalchemy as sa

from insula.memory.storage import statements
from insula.memory.storage.lessons import Version, version_columns
from insula.memory.storage.prepared import Prepared
from insula.memory.storage.rows import Place, TranscriptLine
from insula.memory.storage.schema import ASSERTED, memories, signals
from insula.types import IMPASSE, TURN, Signal


def _last_signal(kind: str) -> sa.ScalarSelect[int]:
    mine = sa.and_(signals.c.user_id == sa.bindparam("user"), signals.c.kind == kind)
    return sa.select(sa.func.coalesce(sa.func.max(signals.c.id), 0)).where(mine).scalar_subquery()


_STANDS = Prepared(
    sa.select(
        sa.exists().where(
            memories.c.user_id == sa.bindparam("user"),
            sa.text(ASSERTED),
            memories.c.session_id != sa.bindparam("session"),
        ),
        _last_signal(IMPASSE),
        _last_signal(TURN),
        *version_columns(),
    )
)
"""One statement: a turn asks for nothing else in most sessions."""


class Beginning(NamedTuple):
    """What a turn begins with."""

    has_left_behind: bool
    """Whether the working memory of another session holds what was asserted there, which is to be promoted."""
    impasse: Signal | None
    """What a method came to an impasse with since the user's last turn, in whatever session."""
    version: Version
    """Of what nights have learned of the user."""
    turns: tuple[Signal, ...]
    """The last turns of the session, newest first, where they were asked for."""
    saliences: tuple[float, ...]
    """Of the session's working memory, where they were asked for."""
    lines: tuple[TranscriptLine, ...]
    """The last lines of the session, oldest first, where they were asked for."""


def read_beginning(connection: sa.Connection, here: Place, turns: int, capacity: int, lines: int = 0) -> Beginning:
    """How a user and a session stand.

    Args:
        turns: how many of the session's last turns are read.
        capacity: of the session's working memory, where its saliences are asked for; else 0.
        lines: how many of the session's last lines are read.
    """
    where = {"user": here.user_id, "session": here.session_id}
    left_behind, impasse, turn, *version = _STANDS.fetch_row(connection, where)
    return Beginning(
        has_left_behind=bool(left_behind),
        impasse=_read_impasse(connection, here) if impasse > turn else None,
        version=tuple(version),
        turns=tuple(statements.read_ledger(connection, here, TURN, limit=turns)) if turns else (),
        saliences=statements.list_saliences(connection, here, capacity) if capacity else (),
        lines=statements.read_lines(connection, here, lines) if lines else (),
    )


def _read_impasse(connection: sa.Connection, here: Place) -> Signal:
    return statements.read_ledger(connection, here, IMPASSE, session_only=False, limit=1)[0]
