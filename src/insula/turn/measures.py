"""Whether one value may follow from another: told in another measure, over another time, or as time has passed."""

import json
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from insula.text.analysis import LANGUAGES
from insula.text.grammar import UNSPACED
from insula.turn.lines import numbers
from insula.turn.values import says

CHARS = 400
"""So much of a text is read."""

_YEAR = re.compile(r"(?:19|20)\d\d")


class Unit(NamedTuple):
    """A unit of measure by its place in `known.json`: seconds and hours are of one kind, kilos of another."""

    kind: int
    place: int


def may_follow(said: str, held: str, asked: str, language: str) -> bool:
    """Whether the number of a reply may be worked out from that of a line, and so does not speak against it.

    Args:
        said: the reply.
        held: the line.
        asked: the question, which may ask for the measure ("in feet", "per year").
        language: theirs.
    """
    if language not in LANGUAGES:
        return False
    told, known, wanted = (_units(text[:CHARS], language) for text in (said, held, asked))
    if any(_is_another(one, known) for one in told | wanted):
        return True
    since = any(map(_YEAR.fullmatch, numbers(held, language)))
    return (since and any(one.kind == _TIME for one in told)) or _is_older(said, held, asked, language)


def _is_another(one: Unit, known: Iterable[Unit]) -> bool:
    """Whether a unit is of the kind of a known one, and none of them."""
    alike = [each for each in known if each.kind == one.kind]
    return bool(alike) and one not in alike


def _is_older(said: str, held: str, asked: str, language: str) -> bool:
    """Whether an age is given that is a year more than the line's."""
    if not says("age", asked, language):
        return False
    older = {str(int(value) + 1) for value in numbers(held, language) if value.isdigit()}
    return not older.isdisjoint(numbers(said, language))


_TIME = 0


@lru_cache(maxsize=1_024)
def _units(text: str, language: str) -> frozenset[Unit]:
    return frozenset(unit for unit, pattern in _patterns(language) if pattern.search(text))


@cache
def _patterns(language: str) -> tuple[tuple[Unit, re.Pattern[str]], ...]:
    raw: dict[str, dict[str, str]] = json.loads((files("insula.turn") / "known.json").read_text("utf-8"))
    kinds = [kind.split(" / ") for kind in raw[language]["measures"].split(" ;; ")]
    return tuple(
        (Unit(i, j), _compiled(unit.replace("_", " "), language))
        for i, kind in enumerate(kinds)
        for j, unit in enumerate(kind)
    )


def _compiled(unit: str, language: str) -> re.Pattern[str]:
    """A unit may stand right behind its number ("20kg"), and no letter beside it."""
    beside = rf"(?<![^\W\d_])(?<!['’])(?:{unit})(?![^\W\d_])"
    return re.compile(unit if language in UNSPACED else beside, re.IGNORECASE)
