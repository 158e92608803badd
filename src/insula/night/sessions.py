"""The sessions since the last night, with what the user corrected in them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from insula.language.handed import UsersWords, users_lines
from insula.memory.retrieval.embedding import hands_of
from insula.memory.storage.rows import StoredSession, StoredSignal, TranscriptLine
from insula.memory.storage.vectors import Embed
from insula.night.corrections import (
    Corrected,
    asked_in,
    corrected_in,
    find_corrections,
    is_users,
    own_lines,
    refused_in,
    stuck_in,
    terms_of,
)
from insula.night.cycle import Night
from insula.types import IMPASSE, TURN

SESSIONS = 500
"""Sessions that one night hears, the oldest first."""
LINES = 1_000
"""Lines of a session that are read."""
LOOKED_BACK, LOOKED_THROUGH = 100, 200
"""Earlier sessions that are searched for a correction that was made again, and lines of each, the latest."""


class LearningSession(NamedTuple):
    """A session as the phases that learn from it see it."""

    session: StoredSession
    lines: tuple[TranscriptLine, ...]
    corrections: tuple[Corrected, ...]
    """What the user put right, and what no answer was found to."""
    asked: tuple[str, ...]
    """What the user asked for or put right, in their own words."""
    said: Mapping[int, UsersWords]
    """What of each line the user said themselves, by its id."""
    refused: tuple[tuple[int, str], ...]
    """Ids of the messages from which nothing is learned, each with why."""
    terms: tuple[frozenset[str], ...]
    """Of each message of the user's."""


async def since_last_night(night: Night) -> tuple[list[LearningSession], list[StoredSignal]]:
    """The sessions since the last night with what came up in them, oldest first, and the records of their turns.

    A session that goes on is heard anew as a whole; what there are too many of is heard by the next night.
    """
    return await night.read_once(("heard", night.last_seen), lambda: _read_sessions(night))


async def corrected_before(night: Night, heard: Sequence[LearningSession]) -> list[Corrected]:
    """What the user corrected, or found no answer to, in the sessions before these."""
    new = {session.session.id for session in heard}
    earlier = [session.id for session in await night.list_sessions() if session.id not in new][-LOOKED_BACK:]
    lines = await night.lines_of(earlier, LOOKED_THROUGH)
    stuck = await night.store.nights.list_session_signals(night.user_id, [IMPASSE], earlier)
    hands = hands_of(night.embed)
    own = {session: own_lines(said, hands) for session, said in lines.items()}
    return [
        each
        for session, said in own.items()
        for each in (
            *corrected_in(session, find_corrections(said, night.embed)),
            *stuck_in(session, said, stuck),
        )
    ]


async def _read_sessions(night: Night) -> tuple[list[LearningSession], list[StoredSignal]]:
    fresh = [session for session in await night.list_sessions() if session.last > night.last_seen][:SESSIONS]
    within = [session.id for session in fresh]
    noticed = await night.store.nights.list_session_signals(night.user_id, [TURN, IMPASSE], within)
    stuck = [signal for signal in noticed if signal.kind == IMPASSE]
    said = await night.lines_of(within, LINES)
    read = [(session, said[session.id]) for session in fresh]
    heard = night.made_of(
        "heard", (read, stuck), lambda: [_read_session(session, lines, stuck, night.embed) for session, lines in read]
    )
    return heard, [signal for signal in noticed if signal.kind == TURN]


def _read_session(
    session: StoredSession, lines: Sequence[TranscriptLine], stuck: Sequence[StoredSignal], embed: Embed | None
) -> LearningSession:
    hands = hands_of(embed)
    own = own_lines(lines, hands)
    messages = list(find_corrections(own, embed))
    return LearningSession(
        session=session,
        lines=tuple(lines),
        corrections=(*corrected_in(session.id, messages), *stuck_in(session.id, own, stuck)),
        asked=asked_in(messages),
        said={line.id: said for line, said in zip(lines, users_lines(lines, hands), strict=True)},
        refused=refused_in(messages),
        terms=tuple(terms_of(line) for line in own if is_users(line)),
    )
