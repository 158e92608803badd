"""The closed words that the ledger of a session goes by: connectives, acts of version control, kinds of checks."""

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Table = dict[str, Any]

_WORDS = "words.json"


def table() -> "Table":
    """The table; read once in a process."""
    if not _READ:
        with open(os.path.join(os.path.dirname(__file__), _WORDS), encoding="utf-8") as file:
            _READ.update(json.loads(file.read()))
    return _READ


_READ: "Table" = {}
