"""What the nights of one date spend, and how each of them stands, on however many machines.

None begins without a grant out of the cap for all of them, where there is one. It holds no word of anybody's.
"""

from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert  # SQLite's own statement reads the same

from insula.memory.retrieval import index
from insula.memory.storage import nights, postgres
from insula.memory.storage.schema import nights as journal
from insula.memory.storage.schema import spending, users

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


DATES = 14
"""Dates that are told of, the latest: two weeks. What is older need not be kept."""
MOST_WAITING = 10_000
"""Users who wait, as far as they are counted."""
FAILURES = 50
"""Nights that failed and are named, the latest."""
SILENT = 300.0
"""Seconds since the last sign of a night that has not ended, after which it was stopped."""
LATELY = 600.0
"""Seconds of which it is told how many nights ended in them."""
WORKER = "worker:"
"""How the name of the lease begins by which a worker says that it lives."""


class NightsOfDate(NamedTuple):
    """The nights of one date."""

    date: str
    begun: int
    done: int
    under_way: int
    stopped: int
    """Whose process ended before them; they go on when somebody runs the user's night again."""
    failed: int
    capped: int
    """That were not begun because the cap for all of the date was spent."""
    again: int
    """That were tried more than once."""
    lately: int
    """That ended in the last ten minutes."""
    began: float
    ended: float
    spent: Sum
    cap: Sum

    @property
    def a_minute(self) -> float:
        """Nights that ended in a minute: of late while some are under way, else from the first to the last."""
        seconds = max(self.ended - self.began, 60.0)
        if self.under_way:
            return self.lately / (min(seconds, LATELY) / 60)
        return (self.done + self.failed) / (seconds / 60)


class NightFailure(NamedTuple):
    """A night that failed."""

    user: str
    night: str
    why: str
    """The steps that failed, each with the name of its error."""
    tries: int
    at: float


class NightsProgress(NamedTuple):
    """How all nights stand."""

    waiting: int
    """Users of whom a night may find something new, up to `MOST_WAITING`."""
    dates: list[NightsOfDate]
    """The latest first."""
    failures: list[NightFailure]
    workers: list[str] | None
    """Those that live; None where the memory is a file, and nights are run by the server or the command."""


_DAY = sa.func.substr(spending.c.night, 1, 10)
"""Of a night's name: a second night of a day has a number behind it."""
_SIGN = sa.bindparam("sign", type_=sa.Double)
_SEEN = sa.exists().where(
    journal.c.user_id == spending.c.user_id, journal.c.night == spending.c.night, journal.c.at >= _SIGN
)
_GOES_ON = sa.or_(spending.c.began >= _SIGN, _SEEN)


def _count_where(*which: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((sa.and_(*which), 1), else_=0))


_DATES = (
    sa.select(
        _DAY.label("date"),
        _count_where(spending.c.tries > 0).label("begun"),
        _count_where(spending.c.state == "done").label("done"),
        _count_where(spending.c.state == "begun", _GOES_ON).label("under_way"),
        _count_where(spending.c.state == "begun").label("open"),
        _count_where(spending.c.state == "failed").label("failed"),
        _count_where(spending.c.state == "capped").label("capped"),
        _count_where(spending.c.tries > 1).label("again"),
        _count_where(spending.c.ended >= sa.bindparam("late", type_=sa.Double)).label("lately"),
        sa.func.min(sa.case((spending.c.began > 0, spending.c.began))).label("began"),
        sa.func.max(spending.c.ended).label("ended"),
        *(sa.func.sum(spending.c[name]).label(name) for name in Sum._fields),
    )
    .where(spending.c.user_id != EVERYBODY)
    .group_by(_DAY)
    .order_by(_DAY.desc())
    .limit(DATES)
)
_CAPS = sa.select(spending.c.night, spending.c.cap).where(spending.c.user_id == EVERYBODY, spending.c.cap.is_not(None))
_FAILED = (
    sa.select(users.c.name, spending.c.night, spending.c.why, spending.c.tries, spending.c.ended)
    .join(users, users.c.id == spending.c.user_id)
    .where(spending.c.state == "failed")
    .order_by(spending.c.ended.desc())
    .limit(FAILURES)
)


def read_progress(connection: sa.Connection, now: float, *, shared: bool) -> NightsProgress:
    """How all nights stand at a moment; `shared` where workers run them."""
    caps = {night: Sum(*cap) for night, cap in connection.execute(_CAPS)}
    rows = connection.execute(_DATES, {"sign": now - SILENT, "late": now - LATELY}).mappings()
    dates = [_read_date(row, caps) for row in rows]
    failures = [NightFailure(*row) for row in connection.execute(_FAILED)]
    workers = sorted(postgres.list_holders(connection, WORKER)) if shared else None
    return NightsProgress(nights.many_waiting(connection, now, MOST_WAITING), dates, failures, workers)


def _read_date(row: sa.RowMapping, caps: dict[str, Sum]) -> NightsOfDate:
    return NightsOfDate(
        **{name: row[name] for name in ("date", "begun", "done", "under_way", "failed", "capped", "again", "lately")},
        stopped=row["open"] - row["under_way"],
        began=row["began"] or 0.0,
        ended=row["ended"] or 0.0,
        spent=Sum(*(row[name] for name in Sum._fields)),
        cap=caps.get(row["date"], Sum()),
    )


def drop_older_dates(connection: sa.Connection) -> None:
    """Let go of how the nights of older dates stood."""
    told = sa.select(_DAY.label("day")).distinct().order_by(_DAY.desc()).limit(DATES).subquery()
    oldest = sa.select(sa.func.min(told.c.day)).scalar_subquery()
    connection.execute(sa.delete(spending).where(oldest > _DAY))
