"""The words of eight languages for people and what joins their clauses, as `kinship.json` holds them."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from insula.text.analysis import LANGUAGES, fold, words_of
from insula.text.grammar import UNSPACED

NOBODY = ""
"""The subject of a clause that speaks of no being: it fits whoever is asked about."""
SOMEBODY = "?"
"""One who is spoken of as "he" or "she", and nobody knows who: not the one who speaks."""
CALLINGS = frozenset(
    {
        *("teacher", "doctor", "dentist", "coach", "student", "client", "boss", "tradesman", "shopkeeper", "driver"),
        *("lawyer", "officer", "apprentice", "hairdresser", "cleaner", "caretaker", "nanny", "tenant"),
    }
)
"""Beings that are also what somebody does: "我是老师" speaks of me."""


class People(NamedTuple):
    """The words of one language."""

    words: Mapping[str, frozenset[str]]
    beings: Mapping[str, str]
    """Word -> what being it names, by its English name."""
    function: frozenset[str]
    """Words that are nobody's name."""
    pattern: re.Pattern[str] | None = None
    """Unspaced languages: what names a being."""

    def being(self, word: str) -> str:
        """What being a word names, in the plural, too; empty for none."""
        known = self.beings.get(word) or (self.beings.get(word[:-1], "") if word.endswith("s") else "")
        if known or "-" not in word:
            return known
        prefix, _, rest = word.partition("-")
        kind = {"ex": "ex", "great": "greatparent"}.get(prefix)
        return kind if kind and self.being(rest) else self.being(word.replace("-", ""))


class Mention(NamedTuple):
    """A being in a clause."""

    path: str
    at: int
    """Which word of the clause."""
    oblique: bool = False
    """Whether a preposition stands before it: then it is hardly the subject."""
    genitive: bool = False
    """Whether that is "of": what it belongs to may be the subject ("my uncle" of "the boat of my uncle")."""
    named: str = ""
    """The name beside it: "my sister Ana"."""
    pronoun: bool = False


@cache
def people(language: str) -> People:
    """The words for people in a language; those of English where it has none."""
    raw = json.loads((files("insula.language") / "kinship.json").read_text("utf-8"))
    data = raw[language if language in LANGUAGES else "en"]
    plain = str if language in UNSPACED else fold  # "ど" is another sign than "と"
    beings = {plain(word): being for being, line in data["beings"].items() for word in line.split()}
    words = {name: frozenset(plain(line).split()) for name, line in data.items() if name not in {"beings", "name"}}
    if language not in UNSPACED:
        words["names"] = frozenset(map(fold, raw["names"].split()))
        words["titles"] = frozenset(raw["titles"].split())
        return People(words, beings, frozenset(map(fold, words_of("function", language))) | words["say"])
    kinds = {"first": words["first"], "third": words["third"], "second": words["second"], "being": beings.keys()}
    longest = {kind: "|".join(sorted(map(re.escape, some), key=len, reverse=True)) for kind, some in kinds.items()}
    named = f"(?P<name>{data['name']})"
    groups = "|".join(f"(?P<{kind}>{longest[kind]})" for kind in ("being", "first", "third", "second"))
    return People(words, beings, frozenset(), re.compile(f"{groups}|{named}"))


@cache
def joints(language: str) -> str:
    """Words that join clauses, as alternatives of a regular expression."""
    raw = json.loads((files("insula.language") / "kinship.json").read_text("utf-8"))
    return "|".join(
        re.escape(word).replace("_", " ")
        for word in raw[language if language in LANGUAGES else "en"].get("joints", "").split()
    )
