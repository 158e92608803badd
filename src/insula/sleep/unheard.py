"""Wishes that no turn heard, because somebody else took the messages down: the night hears them, oldest first."""

from collections.abc import Iterable, Iterator, Sequence

from insula.memory.changes import Change
from insula.memory.rows import Kept, Noticed
from insula.memory.wishes import OwnWish, hear, wished
from insula.sleep.corrections import is_users
from insula.sleep.sessions import Heard
from insula.text.analysis import detect
from insula.types import TURN


def unheard(kept: Sequence[Kept], sessions: Iterable[Heard], signals: Iterable[Noticed], now: float) -> list[Change]:
    """What the wishes change that were said where no turn listened.

    Args:
        kept: the user's guidance.
        sessions: those since the last night.
        signals: of those sessions; a turn that was over has heard its message.
        now: seconds since the epoch.
    """
    turns = {(one.session_id, one.turn) for one in signals if one.kind == TURN}
    said = sorted((each for one in sessions for each in _said(one, turns)), key=lambda each: each[0])
    standing, changes = tuple(kept), list[Change]()
    for message, wishes, talk in said:
        made = hear(standing, wishes, message, now, session=talk)
        standing, changes = made.kept, changes + list(made.changes)
    return changes


def _said(one: Heard, turns: set[tuple[int, int]]) -> Iterator[tuple[int, tuple[OwnWish, ...], frozenset[int]]]:
    """The wishes of a session, each with the id of its message and those of the session."""
    talk = frozenset(line.id for line in one.lines)
    previous, response, tools = "", "", list[str]()
    for line in one.lines:
        if line.provenance == "tool":
            tools.append(line.content)
        elif line.provenance == "assistant":
            response = line.content
        elif is_users(line):
            if (one.session.id, line.turn) not in turns:
                language = detect(line.content, detect(previous, "en"))
                if found := wished(one.said[line.id], language, previous, response, tools):
                    yield line.id, found, talk
            previous, response = line.content, ""
