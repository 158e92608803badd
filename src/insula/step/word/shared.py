"""The ledger beside the trace of a session, where each hook of it can read it: those of subagents, and before a call.

~/.insula/sessions/<session>/words.json   {"v": 1, "words": […]}; there from the first word on
"""

import json
import os

from insula.step.trace import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from insula.step.word.said import Word

FILE = "words.json"


def publish(folder: str, words: "Sequence[Word]") -> None:
    """Put the ledger in place of the one before; nothing where there never was a word.

    Raises:
        OSError: it cannot be written.
    """
    path = f"{folder}/{FILE}"
    if not words and not os.path.exists(path):
        return
    temporary = f"{path}.{os.getpid()}"
    data = json.dumps({"v": VERSION, "words": [word.as_dict() for word in words]}, separators=(",", ":"))
    with open(temporary, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
    os.replace(temporary, path)


def is_there(folder: str) -> bool:
    """Whether the user of a session has said a word."""
    return os.path.exists(f"{folder}/{FILE}")


def read(folder: str) -> "tuple[Word, ...]":
    """The ledger of a session; empty where there is none."""
    try:
        with open(f"{folder}/{FILE}", "rb") as file:
            kept = json.loads(file.read())
        return _load(kept["words"]) if kept["v"] == VERSION else ()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ()


def _load(kept: object) -> "tuple[Word, ...]":
    from insula.step.word.said import load

    return load(kept)
