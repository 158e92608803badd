"""Who did what to guidance and data, when: one line each, without a word of what it was about.

An erased user is erased here, too: what is left says that somebody was erased.
"""

import json
import logging
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from insula import foreign
from insula.files import append_line, replace_file

log = logging.getLogger(__name__)

FILE = "audit.jsonl"
OLD = "audit.old.jsonl"
MOST_BYTES = 5_000_000
"""From which on the file is put aside, in the place of the one before: a year of a hundred acts a day."""


def log_access(home: Path, *, who: str, by: str, did: str, of: str = "", what: str = "") -> None:
    """Write down what was done; where that cannot be, it is logged, and what was done stands.

    Args:
        who: the user who did it; empty where nobody had to say.
        by: how they came: `terminal`, `page`, `token NAME`.
        did: what they did, in a word or two of ours.
    """
    at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
    line = {"at": at, "who": who, "by": by, "did": did, "of": of, "what": what}
    data = json.dumps({name: text for name, text in line.items() if text}).encode()
    path = home / FILE
    try:
        if path.exists() and path.stat().st_size > MOST_BYTES:
            path.replace(home / OLD)
        append_line(path, data)
    except OSError as error:
        log.warning("What was done (%s) could not be written down (%s).", did, foreign.why(error))


def forget_user(home: Path, user: str) -> None:
    """Take all that names a user out."""
    for path in (home / OLD, home / FILE):
        if lines := _read_entries(path):
            kept = [line for line in lines if user not in (line.get("who"), line.get("of"))]
            with suppress(OSError), replace_file(path) as file:
                file.writelines(f"{json.dumps(line)}\n".encode() for line in kept)


def _read_entries(path: Path) -> list[dict[str, Any]]:
    try:
        text = foreign.read(path, 2 * MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    entries: list[dict[str, Any]] = []
    for line in text.splitlines():
        with suppress(ValueError):
            if isinstance(entry := json.loads(line), dict):
                entries.append(cast(dict[str, Any], entry))
    return entries
