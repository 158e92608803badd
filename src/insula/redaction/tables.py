"""Secrets in the columns of tables and CSV, below a head that names them, and in the cell beside such a name."""

import re

from insula.redaction.shapes import KINDS, STATES
from insula.redaction.values import (
    compiled,
    has_digit,
    is_coined,
    is_key,
    is_mixed,
    is_number,
    is_solid,
    is_token,
    is_words,
)

TYPE_CHECKING = False  # `typing` and `collections.abc` cost the hook half a millisecond
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Cell = tuple[int, int, str]  # start, end, kind

_LEAST = 4
"""Characters of a value; what is shorter may be a mark before it."""
_DELIMITERS = ("|", "│", "\t", ";", ",", "  ")
_AROUND = " \t\r\"'`*"
_TAIL = r"(?:[s*:]|\d|[ _]?\([^)]{0,20}\)|[ _-](?:neu|new|temp|temporary|old|value|actual|current|initial))?$"
_USERS = (
    r"\b(?:users?|user_?name|log-?in|e-?mail|account|benutzer|nutzer|usuario|utente|usuário|identifiant|utilisateur"
    r"|name|nombre|nome|nom|host|server|site|service|konto|door)\b|用户|ユーザー"
)
"""What is in a table of passwords beside them; there a plain word is one, too."""
_HEADS = r"NAMES|\b(?:pass|pw|pin|puk|totp|(?:backup|recovery|access|door|alarm|gate) codes?)\b|(?<=door,)code$"
_HEAD = r"[^\W\d_]?[\w -]{0,23}$|[^ -~]{1,8}$"
"""What may stand before the name in the head of a column."""


def is_lone_code(value: str) -> bool:
    """Whether a value is a code: a number, or letters and digits."""
    return has_digit(value) and compiled(r"[A-Za-z\d-]{4,24}$").match(value) is not None


_TESTS = {"key": is_key, "pin": is_number, "code": is_lone_code}


def find_in_tables(text: str, lower: str, names: str) -> "Iterator[Cell]":
    """Where secrets stand below a head that is a name, up to the next blank line, or in the cell beside one.

    Args:
        text: the text.
        lower: the text in small letters.
        names: the pattern of the names.
    """
    names = _HEADS.replace("NAMES", names)
    heads, width, delimiter, has_users = list[tuple[int, str]](), 0, "", False
    for line in compiled(r"[^\n]+|\n(?=[ \t]*\n)").finditer(lower):
        if not line[0].strip():
            heads = []
        elif compiled(names).search(line[0]) and (found := _heads(line, names))[0]:
            heads, width, delimiter = found
            has_users = compiled(_USERS).search(line[0]) is not None
            cells = _cells(line, delimiter)
            beside = [(*cells[column + 1], kind) for column, kind in heads if column + 1 < len(cells)]
            yield from _secret(text, beside if delimiter != "," or len(cells) == len("ab") else (), has_users=False)
        elif heads and (len(cells := _cells(line, delimiter)) == width or '"' in line[0]):
            below = [(*cells[column], kind) for column, kind in heads if column < len(cells)]
            yield from _secret(text, below, has_users=has_users)


def _secret(text: str, cells: "Iterable[Cell]", *, has_users: bool) -> "Iterator[Cell]":
    for start, end, kind in cells:
        value = text[start:end]
        if end - start < _LEAST or compiled(r'["\\(]').search(value):
            continue
        if kind != "password":
            found = _TESTS.get(kind, is_token)(value)
        elif " " in value:
            found = has_users and value.count(" ") > 1 and is_words(value)
        else:
            plain = has_users and is_solid(value) and f" {value.lower()} " not in STATES
            found = is_mixed(value, whole=True) or is_coined(value) or plain
        if found:
            yield start, end, kind


def _heads(line: "re.Match[str]", names: str) -> "tuple[list[tuple[int, str]], int, str]":
    """The columns of a line whose heads are names, each with its kind; how many columns it has, and what parts them."""
    delimiter = next((mark for mark in _DELIMITERS if mark in line[0].strip()), "")
    is_code = delimiter not in "|│" and compiled(r"[(=]").search(line[0])
    cells = _cells(line, delimiter) if delimiter and not is_code else []
    heads: list[tuple[int, str]] = []
    for column, (start, end) in enumerate(cells):
        found = compiled(names).finditer(line.string, start, end)
        ends = [name for name in found if compiled(_TAIL).match(line.string[name.end() : end])]
        kinds = [KINDS.get(name[0], "code" if "code" in name[0] else "password") for name in ends]
        before = [line.string[start : name.start()] for name in ends]
        heads += [(column, kind) for kind, head in zip(kinds, before, strict=True) if compiled(_HEAD).match(head)]
    return heads, len(cells), delimiter


def _cells(line: "re.Match[str]", delimiter: str) -> "list[tuple[int, int]]":
    """Where the cells of a line stand, without blanks and quotes around them."""
    cells: list[tuple[int, int]] = []
    start = line.start()
    for cell in line[0].split(delimiter):
        if cell or delimiter != "  ":
            lead = len(cell) - len(cell.lstrip(_AROUND))
            cells.append((start + lead, start + max(lead, len(cell.rstrip(_AROUND)))))
        start += len(cell) + len(delimiter)
    return cells
