"""What coding agents were stuck at, taken from the traces of the hook to the user's ledger before a night (K5)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from insula.coding.step import trace
from insula.coding.step.ladder import FLAG
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage.store import Store
from insula.metacognition.facade import note_stuck
from insula.types import IMPASSE

SESSIONS = "sessions"
PREFIX = "hook-"
"""What stands before the id of an agent's session on the ledger."""
MOST = 64
"""Sessions that are looked through, the latest."""
TEXT, USER = "text", "user"


class StuckSession(NamedTuple):
    """A session of an agent that came to the top of the ladder."""

    session: str
    problem: str
    """The user's last words before it, as the trace has them."""
    reason: str


async def record_stuck(store: Store, user: str, home: Path) -> int:
    """Write down what is not on the ledger yet; returns how much that was."""
    taken = 0
    for stuck in find_stuck(home):
        with on_behalf_of(user):
            place = await store.resolve_place(user, stuck.session)
            known = await store.sessions.read_ledger(place, kinds=[IMPASSE], limit=1)
        if not known:
            await note_stuck(store, user, stuck.session, stuck.problem, stuck.reason)
            taken += 1
    return taken


def find_stuck(home: Path) -> Iterator[StuckSession]:
    """The sessions whose loudest text was given, and that had been asked something."""
    for name in _latest_folders(home / SESSIONS):
        words = ""
        for record in _read_records(home / SESSIONS / name):
            if record.get("e") == USER and isinstance(said := record.get("words"), str) and said.strip():
                words = said
            if record.get("e") == TEXT and record.get("rung") == FLAG and not record.get("withheld") and words:
                yield StuckSession(f"{PREFIX}{name}", words, str(record.get("text", "")))
                break


def _read_records(folder: Path) -> list[dict[str, Any]]:
    try:
        return trace.read_trace(str(folder))[0]
    except OSError:
        return []


def _latest_folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            known = sorted(((entry.stat().st_mtime, entry.name) for entry in entries if entry.is_dir()), reverse=True)
    except OSError:
        return []
    return [name for _, name in known[:MOST]]
