"""How a text speaks: that it declines, hedges or is informal; that a user wants it said again.

The phrases of each language stand in `manner.json` as alternatives of a regular expression.
"""

import re
from functools import cache

from insula.text.analysis import LANGUAGES
from insula.text.grammar import compile_words
from insula.text.tables import load_table

MAX_CHARS = 4_000
"""A text is read up to here: what it says of itself, it says early."""

_GLANCE = 120
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\U0001f1e6-\U0001f1ff]")
_LOUD = re.compile(r"[!！]{2,}|[?？][!！]|[!！][?？]")


def declines_answer(text: str, language: str) -> bool:
    """Whether a text says that it cannot, will not or does not know."""
    return _matches_manner("decline", text, language)


def apologises(text: str, language: str) -> bool:
    """Whether a text is sorry, or says that it found or understood nothing; in English where its language is none."""
    return _matches_manner("sorry", text, language if language in LANGUAGES else "en")


def says_untold(text: str, language: str) -> bool:
    """Whether a text says that one was never told."""
    return _matches_manner("untold", text, language)


def refuses_request(text: str, language: str) -> bool:
    """Whether a text turns the request itself down ("I cannot help with that"), and not merely what is not known."""
    return _matches_manner("refuse", text, language)


def is_harmful(text: str, language: str) -> bool:
    """Whether a message names what an assistant may well refuse to help with."""
    return _matches_manner("harm", text, language)


def opens_with_subject(text: str, language: str) -> bool:
    """Whether a text opens by speaking of a thing of its own, and of neither of two that were named before."""
    glance = text[:_GLANCE]
    return _matches_manner("subject", glance, language) and not _matches_manner("one_of", glance, language)


def hedges_answer(text: str, language: str) -> bool:
    """Whether a text already says that it is not certain."""
    return _matches_manner("hedge", text, language)


def wants_again(text: str, language: str) -> bool:
    """Whether a user asks for something to be said again."""
    return _matches_manner("again", text, language)


def is_informal(text: str) -> bool:
    """Whether a text uses emoji or doubled exclamation marks."""
    return bool(_EMOJI.search(text[:MAX_CHARS]) or _LOUD.search(text[:MAX_CHARS]))


def _matches_manner(manner: str, text: str, language: str) -> bool:
    return language in LANGUAGES and bool(_manner_pattern(manner, language).search(text[:MAX_CHARS].replace("’", "'")))


@cache
def _manner_pattern(manner: str, language: str) -> re.Pattern[str]:
    return compile_words(load_table("manner.json")[language][manner], language, re.IGNORECASE)
