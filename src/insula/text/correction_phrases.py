"""How one corrects in each language: patterns compiled from `corrections.json`.

There a cue maps to alternatives of a regular expression, in which "^" is the beginning of a clause, behind courtesies.
They are searched in lower or upper case, with plain apostrophes.
"""

import json
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from insula.text.grammar import UNSPACED


class Phrases(NamedTuple):
    """The phrases of one language, ready to search with."""

    language: str
    patterns: dict[str, re.Pattern[str]]
    negators: frozenset[str]
    generic: frozenset[str]
    unspaced: bool
    whole: bool
    """Whether a negation may stand behind what it negates, so that it holds for its whole clause."""


@cache
def _load_data() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.text") / "corrections.json").read_text("utf-8"))


@cache
def load_phrases(language: str) -> Phrases:
    """The phrases of one of the known languages."""
    raw = _load_data()[language]
    kinds = raw.keys() - {"negators", "generic", "scope"}
    return Phrases(
        language,
        {kind: _compile_alternatives(raw[kind], raw["opener"], language in UNSPACED) for kind in kinds},
        frozenset(raw["negators"].split()),
        frozenset(raw["generic"].split()),
        language in UNSPACED,
        raw["scope"] == "clause",
    )


def _compile_alternatives(alternatives: str, opener: str, unspaced: bool) -> re.Pattern[str]:
    """Alternatives as one pattern, with "^" at the beginning of any clause."""
    begin = rf"(?:^|[，,、；;：:]\s*(?:{opener})*)" if unspaced else rf"(?:^|[,;:–—]\s*(?:(?:{opener})(?!\w)[\s,]*)*)"
    placed = re.sub(r"(?<!\[)\^", lambda _: begin, alternatives)
    if unspaced:
        return re.compile(placed)
    return re.compile(rf"(?:(?<!\w)|(?=[,;:–—]))(?:{placed})(?!\w)", re.IGNORECASE)
