"""What the nights of one date spend, and how each of them stands, on however many machines.

None begins without a grant out of the cap for all of them, where there is one.
"""

from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert  # SQLite's own statement reads the same

from insula.memory.retrieval import index
from insula.memory.storage.schema import spending

EVERYBODY = 0
"""The user under whom it stands what of a cap is granted: ids begin with 1."""
State = Literal["begun", "done", "failed", "capped"]
"""Of a night: `begun` until it is known how it ended, which of one that was stopped is not before the next try."""


class Sum(NamedTuple):
    """An amount in each of the three things that are capped; None is without end."""

    calls: float | None = None
    tokens: float | None = None
    cost: float | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing left of something."""
        return any(part is not None and part <= 0 for part in self)

    @property
    def is_endless(self) -> bool:
        """Whether nothing is capped."""
        return all(part is None for part in self)


NOTHING, ENDLESS = Sum(0.0, 0.0, 0.0), Sum()
_NEW = insert(spending).values(night=sa.bindparam("one"), user_id=sa.bindparam("user"))
_ROW = _NEW.on_conflict_do_update(index_elements=["night", "user_id"], set_={"taken": spending.c.taken}).returning(
    spending
)
"""A row, held until the transaction ends; new where there was none."""
_THIS = sa.and_(spending.c.night == sa.bindparam("one"), spending.c.user_id == sa.bindparam("user"))
_SPENT = sa.select(*(sa.func.coalesce(sa.func.sum(spending.c[name]), 0.0) for name in Sum._fields)).where(
    spending.c.night == sa.bindparam("one"), spending.c.user_id != EVERYBODY
)


def take_grant(connection: sa.Connection, night: str, user_id: int, want: Sum, cap: Sum, at: float = 0.0) -> Sum:
    """Begin a night with a grant out of what is left of the cap, or with the open one where it was stopped.

    Where the grant is nothing, the night is not begun.
    """
    index.begin_write(connection)
    own = _find_run(connection, night, user_id)
    given = _decide_grant(connection, night, own, want, cap)
    if given.is_nothing:
        _update_run(connection, own, state="capped")
        return given
    more = NOTHING if own.taken else given
    state = {"state": "begun", "why": "", "tries": own.tries + 1, "began": own.began or at}
    _update_run(connection, own, more, taken=own.taken + 1, **state)
    return given


def _decide_grant(connection: sa.Connection, night: str, own: sa.Row[Any], want: Sum, cap: Sum) -> Sum:
    if cap.is_endless:
        return cap
    if own.taken:
        return Sum(*(None if most is None else have for most, have in zip(cap, _row_amounts(own), strict=True)))
    everybody = _find_run(connection, night, EVERYBODY)
    left = Sum(
        *(None if most is None else most - have for most, have in zip(cap, _row_amounts(everybody), strict=True))
    )
    if left.is_nothing:
        return Sum(*(None if amount is None else 0.0 for amount in left))
    given = Sum(*(_lesser_of(amount, most) for amount, most in zip(left, want, strict=True)))
    _update_run(connection, everybody, given, cap=list(cap))
    return given


def settle_grant(
    connection: sa.Connection,
    night: str,
    user_id: int,
    given: Sum,
    spent: Sum,
    state: State = "done",
    why: str = "",
    at: float = 0.0,
) -> None:
    """End a night, and give back what it did not spend of its grant.

    Of one that was stopped before all of the grant counts as spent, since nobody knows.
    """
    index.begin_write(connection)
    own = _find_run(connection, night, user_id)
    pairs = tuple(zip(given, spent, strict=True))
    more = Sum(*((used or 0.0) if amount is None else 0.0 for amount, used in pairs))
    if own.taken == 1:
        back = Sum(*(0.0 if amount is None else min((used or 0.0) - amount, 0.0) for amount, used in pairs))
        more = Sum(*((amount or 0.0) + (less or 0.0) for amount, less in zip(more, back, strict=True)))
        if not given.is_endless:
            _update_run(connection, _find_run(connection, night, EVERYBODY), back)
    _update_run(connection, own, more, taken=0, state=state, why=why, ended=at)


def sum_spending(connection: sa.Connection, night: str) -> Sum:
    """What the nights of a date have spent together, or been granted."""
    return Sum(*connection.execute(_SPENT, {"one": night}).one())


def _lesser_of(left: float | None, want: float | None) -> float | None:
    """The lesser of what is left and what is wanted; all that is left where no end is set to what is wanted."""
    return left if left is None or want is None else min(left, want)


def _find_run(connection: sa.Connection, night: str, user_id: int) -> sa.Row[Any]:
    return connection.execute(_ROW, {"one": night, "user": user_id}).one()


def _row_amounts(row: sa.Row[Any]) -> tuple[float, float, float]:
    return row.calls, row.tokens, row.cost


def _update_run(connection: sa.Connection, row: sa.Row[Any], more: Sum = NOTHING, **values: object) -> None:
    amounts = {
        name: have + (amount or 0.0) for name, have, amount in zip(Sum._fields, _row_amounts(row), more, strict=True)
    }
    key = {"one": row.night, "user": row.user_id}
    connection.execute(sa.update(spending).where(_THIS).values(**amounts, **values), key)
