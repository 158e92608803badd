"""What kind of answer a problem wants, told before a model is asked, and from its reply where the words do not say it.

Only what is compared can be voted on: numbers, options, names, expressions. Code and prose are answered once.
"""

import re
from collections.abc import Mapping
from typing import Literal

from insula.text.analysis import analyse
from insula.text.questions import asks

Form = Literal["number", "choice", "name", "expression", "code", "text", "open"]
"""`open`: its reply will show it."""

READ_CHARS = 4_000
"""Characters of a problem that are read for what it asks: its end, where the question stands."""

_OF_ASK: Mapping[str, Form] = {
    "number": "number",
    "yes_no": "choice",
    "choice": "name",
    "code": "code",
    "person": "name",
    "place": "name",
    "name": "name",
    "time": "name",
    "list": "text",
    "how_to": "text",
    "why": "text",
}
_OPTION = re.compile(
    r"(?:(?<=\n)|(?<=[\s,;(])|^)\(?([A-Ha-h]|[1-8])[).:](?!\d)\s*([^\n]+?)(?=[\s,;]*\(?\b(?:[A-Ha-h]|[1-8])[).:](?!\d)|\n|$)"
)
_LETTER = r"\d*[a-z](?![^\W_])"
_UNKNOWN = re.compile(
    rf"(?<![^\W\d_])(?<!\w-){_LETTER}\s?(?:[²³]|[-+*/^=]\s?(?:{_LETTER}|\d|\())|(?:\d|\))\s?[-+*/^=]\s?{_LETTER}|\d\([a-z]"
)
"""A letter that is computed with: `3x + 5`, `x²`, `2(a - b)`."""
_DIGITS = re.compile(r"\d[\d.,]*")
_SYMBOLS = re.compile(r"[\s\d.,+*/×÷^()=%−-]*\d[\s\d.,+*/×÷^()=%?−-]*")


def form_of(problem: str) -> Form:
    """The kind of answer that a problem wants; `open` where its words do not say it."""
    text = problem[-READ_CHARS:]
    if len(options(text)) > 1:
        return "choice"
    if _SYMBOLS.fullmatch(text):
        return "number"
    asked = asks(analyse(text))
    kinds = [ask.kind for ask in asked]
    if "```" in text or (kinds and "code" in kinds and kinds[-1] != "number"):
        return "code"
    if _UNKNOWN.search(text) and set(kinds) <= {"number", "request", "open", "name"}:
        return "expression"
    if kinds and kinds[-1] == "time" and len(_DIGITS.findall(text)) > 1:
        return "number"
    return _OF_ASK.get(kinds[-1], "open") if kinds else "open"


def options(problem: str) -> Mapping[str, str]:
    """The options that a problem offers, by their letters or numbers: at least two, in order, from the first."""
    found: dict[str, str] = {}
    for name, words in _OPTION.findall(problem):
        expected = chr(ord("A") + len(found)) if not found or next(iter(found)) == "A" else str(len(found) + 1)
        if name.upper() == expected or (not found and name == "1"):
            found[name.upper()] = words.strip(" \t*,;.")
    return found if len(found) > 1 else {}
