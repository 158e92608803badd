"""What an agent admits or guesses in its last words, in eight languages."""

import json
import os
import re

_WORDS = "hedges.json"


def admits(words: str) -> bool:
    """Whether an agent's last words say themselves that something was not run or shown."""
    return bool(words) and re.search(_table()["admits"], words[-4_000:].lower()) is not None


def guesses(words: str) -> bool:
    """Whether an agent's last words explain something by a guess; code, tables and citations are none of its words."""
    if not words:
        return False
    own = re.sub(r"```.*?(?:```|\Z)|(?m:^[ \t]*[|>].*$)", " ", words[-4_000:], flags=re.DOTALL)
    return re.search(_table()["guesses"], own.lower()) is not None


def _table() -> "dict[str, str]":
    if not _READ:
        with open(os.path.join(os.path.dirname(__file__), _WORDS), encoding="utf-8") as file:
            _READ.update(json.loads(file.read()))
    return _READ


_READ: "dict[str, str]" = {}
