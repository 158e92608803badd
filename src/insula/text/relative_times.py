"""What "last week" in a line told on some day means, as a date.

By the words of eight languages (`relative_times.json`) and the calendar. Only what is not in doubt is said: "next
Friday" in English is this week's for some and the next week's for others.
"""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from insula.text.analysis import LANGUAGES
from insula.text.grammar import UNSPACED
from insula.text.tables import load_table

WEEK = 7
_WORDS = "relative_times.json"
_MONTHS = 12


class Dated(NamedTuple):
    """A time as it was said, and when that is."""

    said: str
    when: str


def find_date(text: str, told: date, language: str) -> Dated | None:
    """The first time that a line names from the day on which it was told, and when that is.

    Args:
        language: that of the line; of another one, nothing is found.
    """
    if language not in LANGUAGES:
        return None
    for kind, step, pattern in _time_patterns(language):
        if match := pattern.search(text):
            when = _describe_time(kind, step, match, told, language)
            if when:
                return Dated(match[0], when)
    return None


def _describe_time(kind: str, step: int, match: re.Match[str], told: date, language: str) -> str:
    match kind:
        case "ago" | "ahead":
            count = _read_count(match["n"], language)
            return (
                _shift_date(count if kind == "ahead" else -count, _read_unit(match["unit"], language), told)
                if count
                else ""
            )
        case "day":
            return format_day(told + timedelta(days=step))
        case "week" | "weekend":
            return f"the {kind} {'before' if step < 0 else 'after'} {format_day(told)}"
        case "month":
            return _shift_month(told, step)
        case "year":
            return str(told.year + step)
        case "weekday":
            return format_day(_nearest_weekday(told, _read_weekday(match["day"], language), step))
        case _:
            monday = told - timedelta(days=told.weekday()) + timedelta(weeks=step)
            return format_day(monday + timedelta(days=_read_weekday(match["day"], language)))


def format_day(day: date) -> str:
    """A day as it stands in a prompt."""
    return f"{day.day} {day:%B %Y}"


def _shift_date(count: int, unit: str, told: date) -> str:
    """So many days are a day; of weeks, months and years people are seldom exact."""
    match unit:
        case "day":
            return format_day(told + timedelta(days=count))
        case "week":
            return f"about {format_day(told + timedelta(weeks=count))}"
        case "month":
            return f"about {_shift_month(told, count)}"
        case _:
            return f"about {told.year + count}"


def _shift_month(told: date, step: int) -> str:
    months = told.year * _MONTHS + told.month - 1 + step
    return f"{date(months // _MONTHS, months % _MONTHS + 1, 1):%B %Y}"


def _nearest_weekday(told: date, weekday: int, step: int) -> date:
    """The last such day before that on which it was told, or the first after it."""
    if step < 0:
        return told - timedelta(days=(told.weekday() - weekday - 1) % WEEK + 1)
    return told + timedelta(days=(weekday - told.weekday() - 1) % WEEK + 1)


def _read_count(said: str, language: str) -> int:
    return (
        int(said)
        if said.isascii() and said.isdigit()
        else _which_pattern(load_table(_WORDS)[language]["numbers"].split(), said) + 1
    )


def _read_weekday(said: str, language: str) -> int:
    return _which_pattern(load_table(_WORDS)[language]["weekdays"].split(), said)


def _read_unit(said: str, language: str) -> str:
    units: Mapping[str, str] = load_table(_WORDS)[language]["units"]
    return list(units)[_which_pattern(list(units.values()), said)]


def _which_pattern(patterns: list[str], said: str) -> int:
    return next(i for i, pattern in enumerate(patterns) if re.fullmatch(pattern, said, re.IGNORECASE))


@cache
def _time_patterns(language: str) -> list[tuple[str, int, re.Pattern[str]]]:
    """Kind, step and expression, the farther before the nearer: "the day before yesterday" holds "yesterday"."""
    raw = load_table(_WORDS)[language]
    steps: list[tuple[str, int, str]] = [
        (kind, int(step), text) for kind in _STEPPED for step, texts in raw.get(kind, {}).items() for text in texts
    ]
    counted: list[tuple[str, int, str]] = [(kind, 0, text) for kind in ("ago", "ahead") for text in raw[kind]]
    ordered = counted + sorted(steps, key=lambda step: -abs(step[1]) if step[0] == "day" else 0)
    return [(kind, step, _compile_pattern(text, language)) for kind, step, text in ordered]


_STEPPED = ("day", "week", "weekend", "month", "year", "weekday", "weekday_of_week")


def _compile_pattern(text: str, language: str) -> re.Pattern[str]:
    raw = load_table(_WORDS)[language]
    numbers = rf"(?:\d{{1,2}}|{'|'.join(raw['numbers'].split()[::-1])})"
    days, units = "|".join(raw["weekdays"].split()), "|".join(raw["units"].values())
    text = text.replace("(?P<n>N)", f"(?P<n>{numbers})").replace("(?P<day>D)", f"(?P<day>{days})")
    text = text.replace("(?P<unit>U)", f"(?P<unit>{units})")
    return re.compile(text if language in UNSPACED else rf"(?<![\w-])(?:{text})(?![\w-])", re.IGNORECASE)
