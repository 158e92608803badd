"""How each user's night of a date stands and what it spent, on however many machines; no word of anybody's is in it."""

from typing import Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert  # SQLite's own statement reads the same

from insula.memory.storage import nights, postgres
from insula.memory.storage.schema import nights as journal
from insula.memory.storage.schema import spending, users

State = Literal["begun", "done", "failed"]
"""Of a night: `begun` until it is known how it ended, which of one that was stopped is not before the next try."""


class Spent(NamedTuple):
    """What models took."""

    calls: float = 0.0
    tokens: float = 0.0


_MOMENT: sa.BindParameter[float] = sa.bindparam("moment", type_=sa.Double)
_BEGUN = (
    insert(spending)
    .values(night=sa.bindparam("one"), user_id=sa.bindparam("user"), state="begun", tries=1, began=_MOMENT)
    .on_conflict_do_update(
        index_elements=["night", "user_id"], set_={"state": "begun", "why": "", "tries": spending.c.tries + 1}
    )
)
_THIS = sa.and_(spending.c.night == sa.bindparam("one"), spending.c.user_id == sa.bindparam("user"))


def begin_night(connection: sa.Connection, night: str, user_id: int, at: float) -> None:
    """Note that a night begins, or is tried again."""
    connection.execute(_BEGUN, {"one": night, "user": user_id, "moment": at})


def end_night(
    connection: sa.Connection, night: str, user_id: int, spent: Spent, state: State, why: str, at: float
) -> None:
    """Note how a night ended, and add what this try of it spent."""
    more = {name: spending.c[name] + amount for name, amount in spent._asdict().items()}
    ended = sa.update(spending).where(_THIS).values(**more, state=state, why=why, ended=at)
    connection.execute(ended, {"one": night, "user": user_id})


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
    again: int
    """That were tried more than once."""
    lately: int
    """That ended in the last ten minutes."""
    began: float
    ended: float
    spent: Spent

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
        _count_where(spending.c.tries > 1).label("again"),
        _count_where(spending.c.ended >= sa.bindparam("late", type_=sa.Double)).label("lately"),
        sa.func.min(sa.case((spending.c.began > 0, spending.c.began))).label("began"),
        sa.func.max(spending.c.ended).label("ended"),
        *(sa.func.sum(spending.c[name]).label(name) for name in Spent._fields),
    )
    .group_by(_DAY)
    .order_by(_DAY.desc())
    .limit(DATES)
)
_FAILED = (
    sa.select(users.c.name, spending.c.night, spending.c.why, spending.c.tries, spending.c.ended)
    .join(users, users.c.id == spending.c.user_id)
    .where(spending.c.state == "failed")
    .order_by(spending.c.ended.desc())
    .limit(FAILURES)
)


def read_progress(connection: sa.Connection, now: float, *, shared: bool) -> NightsProgress:
    """How all nights stand at a moment; `shared` where workers run them."""
    rows = connection.execute(_DATES, {"sign": now - SILENT, "late": now - LATELY}).mappings()
    dates = [_read_date(row) for row in rows]
    failures = [NightFailure(*row) for row in connection.execute(_FAILED)]
    workers = sorted(postgres.list_holders(connection, WORKER)) if shared else None
    return NightsProgress(nights.many_waiting(connection, now, MOST_WAITING), dates, failures, workers)


def _read_date(row: sa.RowMapping) -> NightsOfDate:
    return NightsOfDate(
        **{name: row[name] for name in ("date", "begun", "done", "under_way", "failed", "again", "lately")},
        stopped=row["open"] - row["under_way"],
        began=row["began"] or 0.0,
        ended=row["ended"] or 0.0,
        spent=Spent(*(row[name] for name in Spent._fields)),
    )


def drop_older_dates(connection: sa.Connection) -> None:
    """Let go of how the nights of older dates stood."""
    told = sa.select(_DAY.label("day")).distinct().order_by(_DAY.desc()).limit(DATES).subquery()
    oldest = sa.select(sa.func.min(told.c.day)).scalar_subquery()
    connection.execute(sa.delete(spending).where(oldest > _DAY))
