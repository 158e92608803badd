"""Wishes that no turn heard, because somebody else took the messages down: the night hears them, oldest first."""

from collections.abc import Iterable, Iterator, Sequence

from insula.memory.storage.changes import Change
from insula.memory.storage.rows import Kept, Noticed
from insula.memory.storage.vectors import Embed
from insula.memory.wishes import OwnWish, hear, heard_in
from insula.night.corrections import is_users
from insula.night.sessions import Heard
from insula.text.analysis import detect
from insula.types import TURN


def unheard(
    kept: Sequence[Kept], sessions: Iterable[Heard], signals: Iterable[Noticed], now: float, embed: Embed | None = None
) -> list[Change]:
    """What the wishes change that were said where no turn listened.

    Args:
        kept: the user's guidance.
        sessions: those since the last night.
        signals: of those sessions; a turn that was over has heard its message.
        now: seconds since the epoch.
        embed: makes vectors; without one nothing is heard.
    """
    turns = {(one.session_id, one.turn) for one in signals if one.kind == TURN}
    said = sorted((each for one in sessions for each in _said(one, turns, embed)), key=lambda each: each[0])
    standing, changes = tuple(kept), list[Change]()
    for message, wishes, talk in said:
        made = hear(standing, wishes, message, now, session=talk)
        standing, changes = made.kept, changes + list(made.changes)
    return changes


def _said(
    one: Heard, turns: set[tuple[int, int]], embed: Embed | None
) -> Iterator[tuple[int, tuple[OwnWish, ...], frozenset[int]]]:
    """The wishes of a session, each with the id of its message and those of the session."""
    talk = frozenset(line.id for line in one.lines)
    for place, line in enumerate(one.lines):
        if is_users(line) and (one.session.id, line.turn) not in turns:
            before = one.lines[:place]
            previous = next((each.content for each in reversed(before) if each.provenance == "user"), "")
            if found := heard_in(one.said[line.id], before, detect(previous, "en"), embed):
                yield line.id, found, talk
