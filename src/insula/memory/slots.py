"""Whether a statement holds the kind of value that a question asks for: a colour, an hour, a name, an amount.

The words of eight languages stand in `slots.json`. What cannot be told of a statement passes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from insula.memory.assertion import Question, Statement
from insula.memory.cue import months
from insula.memory.subject import people
from insula.text.analysis import LANGUAGES, fold
from insula.text.answers import carries, names_in
from insula.text.grammar import UNSPACED

WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
"""Elsewhere they are written small, or every noun is not."""


def filled(question: Question, statement: Statement) -> bool | None:
    """Whether a statement holds what a question asks for; None where it asks for no value that can be told."""
    told = [_TOLD[slot](question, statement) for slot in _slots(question)]
    if question.ask.kind in {"number", "time"}:
        told.append(carries(question.ask.kind, statement.text, statement.language))
    return all(told) if told else None


def _slots(question: Question) -> Iterator[str]:
    for slot in _TOLD:
        if (pattern := _pattern(slot, "asked", question.language)) and pattern.search(question.text.replace("’", "'")):
            yield slot


def _named(question: Question, statement: Statement) -> bool:
    """Whether a statement holds a name that the question does not."""
    if statement.language in UNSPACED or statement.language == "de":
        return _says("name", statement) or bool(_new_names(question, statement))
    return bool(_new_names(question, statement))


def _new_names(question: Question, statement: Statement) -> set[str]:
    asked = {fold(word) for word in re.findall(r"\w+", question.text.lower())}
    common = people(statement.language if statement.language in LANGUAGES else "en").words.get("names", frozenset())
    words = re.findall(r"[^\W\d_][\w'-]*", statement.text)
    found = (
        {fold(name) for name in names_in(statement.text, statement.language)}
        - asked
        - WEEKDAYS
        - months(statement.language)
    )
    if statement.language == "de":
        return {name for name in found if name in common}
    first = fold(words[0].lower()) if words else ""
    return {name for name in found if name != first or name in common}


def _amount(question: Question, statement: Statement) -> bool:
    return carries("number", statement.text, statement.language)


def _who(question: Question, statement: Statement) -> bool:
    others = {path for path in statement.mentions if "/" in path or path.isalpha()} - question.subjects - {"user", ""}
    return bool(others) or bool(_new_names(question, statement)) or statement.language in UNSPACED


def _which(question: Question, statement: Statement) -> bool:
    if statement.language in UNSPACED:
        return _says("which", statement)
    return statement.language == "de" or bool(_new_names(question, statement))


def _says(slot: str, statement: Statement) -> bool:
    pattern = _pattern(slot, "told", statement.language)
    return pattern is None or bool(pattern.search(statement.text.replace("’", "'")))


def _saying(slot: str) -> Callable[[Question, Statement], bool]:
    return lambda question, statement: _says(slot, statement)


_TOLD: Mapping[str, Callable[[Question, Statement], bool]] = {
    "name": _named,
    "colour": _saying("colour"),
    "hour": _saying("hour"),
    "amount": _amount,
    "which": _which,
    "reason": _saying("reason"),
    "who": _who,
}


@cache
def _pattern(slot: str, side: str, language: str) -> re.Pattern[str] | None:
    raw: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(
        (files("insula.memory") / "slots.json").read_text("utf-8")
    )
    words = raw[slot][side].get(language)
    if words is None:
        return None
    return re.compile(words if language in UNSPACED else rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
