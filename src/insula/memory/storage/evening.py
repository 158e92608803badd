"""What a night begins with, read at one moment: which one it is, why there is to be none, what earlier ones told."""

from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

import sqlalchemy as sa

from insula.memory.storage import journal, nights
from insula.memory.storage.nights import CADENCE, END, MIN_MESSAGES, UP_TO
from insula.memory.storage.rows import StoredSession


class Evening(NamedTuple):
    """How a user's nights stand before one of them begins, or goes on."""

    night: str
    """Its name."""
    done: Mapping[str, Mapping[str, Any]]
    """What stands in its journal."""
    why: str
    """Why there is to be no night (R1); nothing where there is."""
    since: float
    """When the last one ended; 0 before the first."""
    last: Mapping[str, Mapping[str, Any]]
    """What each phase reported when it was last done."""
    sessions: list[StoredSession]


def check_preconditions(
    connection: sa.Connection, user_id: int, day: str, now: float, *, night: str | None = None, force: bool = False
) -> Evening:
    """How a user's nights stand now.

    Args:
        connection: of a transaction.
        user_id: whose they are.
        day: the date where the user is.
        now: seconds since the epoch.
        night: its name; by default that of the one that was stopped lately, else the first of today that has not
            ended: a second night of a day is one of its own, not a repetition.
        force: whether there is to be one though the last was lately or nothing happened since.
    """
    name, done = (
        (night, journal.read_journal(connection, user_id, night))
        if night
        else _find_night(connection, user_id, day, now)
    )
    ended = journal.last_night(connection, user_id, END)
    last = journal.last_reports(connection, user_id)
    sessions = nights.sessions_of(connection, user_id)
    why = (
        ""
        if force or (done and END not in done)
        else _explain_wait(now, ended and ended[1], last.get(END, {}), sessions)
    )
    return Evening(name, done, why, ended[1] if ended else 0.0, last, sessions)


def _find_night(
    connection: sa.Connection, user_id: int, day: str, now: float
) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
    stopped = journal.find_unfinished(connection, user_id, END)
    if stopped and abs(now - stopped[1]) < CADENCE:
        return stopped[0], journal.read_journal(connection, user_id, stopped[0])
    for number in count(1):
        name = day if number == 1 else f"{day}-{number}"
        if END not in (done := journal.read_journal(connection, user_id, name)):
            return name, done
    raise AssertionError("there is always another number")


def _explain_wait(now: float, ended: float | None, end: Mapping[str, Any], sessions: list[StoredSession]) -> str:
    if ended is not None and 0 <= now - ended < CADENCE:
        return "The last night was less than 20 hours ago."
    if not any(session.messages >= MIN_MESSAGES and session.last > end.get(UP_TO, 0) for session in sessions):
        return f"No session with {MIN_MESSAGES} messages or more since the last night."
    return ""
