"""What a message is after: a fact of the user's own life, or anything else.

What stands before the model follows from it (K4): only a question that nobody but the user could have answered is told
what memory holds of it, and that a guess would be an invention.
"""

import json
import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files

from insula.text.analysis import LANGUAGES, Analysis
from insula.text.grammar import UNSPACED
from insula.text.questions import Ask, AskKind, asks

_MADE: frozenset[AskKind] = frozenset({"how_to", "code", "request"})
"""Asks for what is to be made or done, which no memory answers; "¿Cómo se llama…?" is a name all the same."""
_MARK = re.compile("[?？]")


def is_personal(analysis: Analysis, known: Collection[str] = ()) -> bool:
    """Whether a message asks for a fact about the user, their people or their things.

    Args:
        analysis: the message.
        known: names of people whom memory knows, lower-case; a question about one of them is personal, too.

    Returns:
        Whether any of its questions is of that kind. Advice ("Should I…?"), instructions ("How do I…?"), texts to write
        and questions about the world are not; outside the known languages nothing is.
    """
    if analysis.language not in LANGUAGES:
        return False
    return any(is_of_user(ask, analysis.language, known) for ask in asks(analysis))


def wants_advice(ask: Ask, language: str) -> bool:
    """Whether a question asks for advice or help, which no memory holds."""
    return language in LANGUAGES and _found("advice", ask.text.replace("’", "'"), language)


def is_of_user(ask: Ask, language: str, known: Collection[str] = ()) -> bool:
    """The same of one of its questions, in a known language."""
    text = ask.text.replace("’", "'")
    if wants_advice(ask, language):
        return False
    if _found("remember", text, language):
        return True
    told = ask.kind == "list" and not _MARK.search(text)  # "Name three…", not "What are my hobbies?"
    if told or (ask.kind in _MADE and not _found("called", text, language)):
        return False
    return _found("own", text, language) or _names(text, language, known)


def _names(text: str, language: str, known: Collection[str]) -> bool:
    if language in UNSPACED:
        return any(name in text.lower() for name in known)
    return not frozenset(known).isdisjoint(_words(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def _found(what: str, text: str, language: str) -> bool:
    return bool(_pattern(what, language).search(text))


@cache
def _pattern(what: str, language: str) -> re.Pattern[str]:
    phrases = _data()[language][what]
    return re.compile(phrases if language in UNSPACED else rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)


@cache
def _data() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.turn") / "aim.json").read_text("utf-8"))
