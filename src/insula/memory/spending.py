"""What the nights of one date spend together, on however many machines: none begins without a grant out of the cap."""

from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert  # SQLite's own statement reads the same

from insula.memory import index
from insula.memory.schema import spending

EVERYBODY = 0
"""The user under whom the sum of all stands: ids begin with 1."""


class Sum(NamedTuple):
    """An amount in each of the three things that are capped; None is without end."""

    calls: float | None = None
    tokens: float | None = None
    cost: float | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing left of something."""
        return any(part is not None and part <= 0 for part in self)


NOTHING = Sum(0.0, 0.0, 0.0)


def take(connection: sa.Connection, night: str, user_id: int, want: Sum, cap: Sum) -> Sum:
    """Take a grant out of what is left of the cap, or the open one of a night that was stopped; it may be nothing."""
    index.begin(connection)
    everybody = _row(connection, night, EVERYBODY)
    own = _row(connection, night, user_id)
    if own.taken:
        _write(connection, night, user_id, own, taken=own.taken + 1)
        return Sum(*(None if most is None else have for most, have in zip(cap, _sum(own), strict=True)))
    left = Sum(*(None if most is None else most - have for most, have in zip(cap, _sum(everybody), strict=True)))
    if left.is_nothing:
        return Sum(*(None if one is None else 0.0 for one in left))
    given = Sum(*(_least(one, most) for one, most in zip(left, want, strict=True)))
    _write(connection, night, user_id, own, given, taken=1)
    _write(connection, night, EVERYBODY, everybody, given)
    return given


def settle(connection: sa.Connection, night: str, user_id: int, given: Sum, spent: Sum) -> None:
    """Give back what was not spent of a grant; all counts as spent where a night was stopped, and nobody knows."""
    index.begin(connection)
    everybody, own = _row(connection, night, EVERYBODY), _row(connection, night, user_id)
    back = NOTHING
    if own.taken == 1:
        pairs = zip(given, spent, strict=True)
        back = Sum(*(0.0 if one is None else min((used or 0.0) - one, 0.0) for one, used in pairs))
    _write(connection, night, user_id, own, back, taken=0)
    _write(connection, night, EVERYBODY, everybody, back)


def spent(connection: sa.Connection, night: str) -> Sum:
    """What the nights of a date have spent together, or been granted."""
    return Sum(*_sum(_row(connection, night, EVERYBODY)))


def _least(left: float | None, want: float | None) -> float | None:
    """The lesser of what is left and what is wanted; all that is left where no end is set to what is wanted."""
    return left if left is None or want is None else min(left, want)


def _row(connection: sa.Connection, night: str, user_id: int) -> sa.Row[Any]:
    """A row, held until the transaction ends; new where there was none."""
    new = insert(spending).values(night=night, user_id=user_id)
    connection.execute(new.on_conflict_do_nothing())
    one = sa.select(spending).where(spending.c.night == night, spending.c.user_id == user_id)
    return connection.execute(one.with_for_update()).one()


def _sum(row: sa.Row[Any]) -> tuple[float, float, float]:
    return row.calls, row.tokens, row.cost


def _write(
    connection: sa.Connection,
    night: str,
    user_id: int,
    row: sa.Row[Any],
    more: Sum = NOTHING,
    taken: int | None = None,
) -> None:
    amounts = {name: have + (one or 0.0) for name, have, one in zip(Sum._fields, _sum(row), more, strict=True)}
    one = sa.and_(spending.c.night == night, spending.c.user_id == user_id)
    values = amounts | ({} if taken is None else {"taken": taken})
    connection.execute(sa.update(spending).where(one).values(**values))
