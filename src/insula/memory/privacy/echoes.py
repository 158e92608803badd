"""Who else holds the words of a line that is erased: what the assistant made of it, what the user said elsewhere."""

import re
from collections.abc import Iterable

import sqlalchemy as sa

from insula.memory.storage.schema import messages
from insula.text.analysis import analyse_text

COMMON = 4
"""Other lines of the user's that may hold a word before it says nothing of the erased one."""
FEWEST = 2
"""Words that two lines share before one may repeat the other, where none of them is a name or a number."""
_WORDS = re.compile(r"[^\W_]{4,}|\d{2,}")
_UNSPACED = re.compile(r"(?=([\u4e00-\u9fff]{3}))")
"""Three characters in a row, where neither blanks nor capitals tell a name from what stands around it."""
_NAMES = re.compile(r"(?<=[^.!?\s] )(?:[A-ZÀ-ÖØ-Þ][^\W\d_]{2,})|\d{2,}")
"""What is written large within a sentence, and numbers."""


def words_of(text: str) -> frozenset[str]:
    """The words of a text that may tell it from others."""
    return frozenset((*_WORDS.findall(text.lower()), *analyse_text(text).terms))


def names_of(text: str) -> frozenset[str]:
    """The names and numbers of a text."""
    return frozenset((*map(str.lower, _NAMES.findall(text)), *_UNSPACED.findall(text)))


def repeats_line(words: frozenset[str], names: frozenset[str], line: str) -> bool:
    """Whether a line holds a name or number of another one, or at least half of its telling words, and two of them."""
    held = _held_by(line) & (words | names)
    return bool(held & names) or len(held & words) >= max(FEWEST, (len(words) + 1) // 2)


def find_echoes(connection: sa.Connection, user_id: int, message_id: int) -> tuple[list[int], list[int]]:
    """Messages that hold the words of one: what the assistant said with them, and what the user said elsewhere.

    An echo is a line of the assistant's, after that one, that holds a name or number which nobody had said before it,
    or half of the words that nobody had.
    """
    columns = (messages.c.id, messages.c.provenance, messages.c.content)
    query = sa.select(*columns).where(messages.c.user_id == user_id, messages.c.content != "").order_by(messages.c.id)
    rows = connection.execute(query).all()
    said = next((row.content for row in rows if row.id == message_id), "")
    words, names = words_of(said), names_of(said)
    new, told = _drop_said_words(words | names, (row.content for row in rows if row.id < message_id)), words | names
    echoes = [
        row.id
        for row in rows
        if row.id > message_id and row.provenance != "user" and repeats_line(words & new, names & new, row.content)
    ]
    own = [
        (row.id, row.content, _held_by(row.content))
        for row in rows
        if row.provenance == "user" and row.id != message_id
    ]
    rare = {word for word in told if sum(word in held for _, _, held in own) <= COMMON}
    others = [number for number, text, _ in own if repeats_line(words & rare, names & rare, text)]
    return echoes, others


def _held_by(line: str) -> frozenset[str]:
    return words_of(line) | names_of(line)


def _drop_said_words(words: frozenset[str], before: Iterable[str]) -> frozenset[str]:
    """The words of a line that stand in no other."""
    return words.difference(*map(_held_by, before))
