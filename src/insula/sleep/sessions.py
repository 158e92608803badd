"""The sessions since the last night, with what went wrong in them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from insula.memory.rows import Line, Noticed, Session
from insula.sleep.cycle import Night
from insula.sleep.mistakes import Mistake, found, is_users, terms_of
from insula.types import CONFIDENCE_LOW, IMPASSE, TURN, SignalKind

SESSIONS = 500
"""Sessions that one night hears, the oldest first."""
LINES = 1_000
"""Lines of a session that are read."""


class Heard(NamedTuple):
    """A session as the phases that learn from it see it."""

    session: Session
    lines: tuple[Line, ...]
    mistakes: tuple[Mistake, ...]
    terms: tuple[frozenset[str], ...]
    """Of each message of the user's."""


async def since_last_night(night: Night) -> tuple[list[Heard], list[Noticed]]:
    """The sessions since the last night with what went wrong in them, oldest first, and their signals.

    A session that goes on is heard anew as a whole; what there are too many of is heard by the next night.
    """
    return await night.kept(("heard", night.seen), lambda: _heard(night))


async def _heard(night: Night) -> tuple[list[Heard], list[Noticed]]:
    fresh = [session for session in await night.sessions() if session.last > night.seen][:SESSIONS]
    kinds: tuple[SignalKind, ...] = (TURN, CONFIDENCE_LOW, IMPASSE)
    within = [session.id for session in fresh]
    signals = await night.store.nights.noticed_in(night.user_id, kinds, within)
    said = await night.lines_of(within, LINES)
    read = [(one, said[one.id]) for one in fresh]
    return night.made_of("heard", (read, signals), lambda: _understood(read, signals)), signals


def _understood(read: Sequence[tuple[Session, list[Line]]], signals: Iterable[Noticed]) -> list[Heard]:
    terms = {line.id: terms_of(line) for _, lines in read for line in lines if is_users(line)}
    rarity = Counter(term for held in terms.values() for term in held)
    of: dict[int, list[Noticed]] = {}
    for signal in signals:
        of.setdefault(signal.session_id, []).append(signal)
    heard: list[Heard] = []
    for one, lines in read:
        mine = of.get(one.id, [])
        held = tuple(terms[line.id] for line in lines if line.id in terms)
        heard.append(Heard(one, tuple(lines), found(lines, mine, rarity), held))
    return heard
