"""Who else holds the words of a line that is erased: what the assistant made of it, what the user said elsewhere."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from insula.memory.storage.schema import messages
from insula.text.analysis import analyse_text, words_of

COMMON = 4
"""Other lines of the user's that may hold a word before it says nothing of the erased one."""
FEWEST = 2
"""Words that two lines share before one may repeat the other, where none of them is a name."""
BRIEF = 3
"""Words of a sentence that says little beside a number of the erased line ("Noted: 27.")."""
_NUMBER = re.compile(r"\d{2,}")
_LONG_NUMBER = re.compile(r"\d{5,}")
"""A number that nobody writes by chance; shorter ones, years among them, need other words beside them."""
_LETTER = r"[^\W\d_\u3040-\u9fff]"
"""A letter of a script that writes blanks."""
_CAPITAL = re.compile(r"(?<=[^.!?\s] |.[\u3040-\u9fff])[A-ZÀ-ÖØ-Þ]" + f"{_LETTER}{{2,}}")
"""What is written large within a sentence."""
_WORD = re.compile(r"[^\W_]{4,}")
_UNSPACED = re.compile(r"(?=([\u4e00-\u9fff]{3}))")
"""Three characters in a row, where neither blanks nor capitals tell a name from what stands around it."""


class Telling(NamedTuple):
    """What may tell a line from others."""

    words: frozenset[str]
    names: frozenset[str]
    """Names and long numbers, as they are written: one alone tells the line."""
    figures: frozenset[str]
    """Short numbers, and the nouns of German, where a name looks like any: they tell it beside other words of it."""
    beside: frozenset[str]
    """All its words, be they said elsewhere, too."""

    def keep(self, known: frozenset[str]) -> "Telling":
        """What of it is among some words."""
        return Telling(self.words & known, self.names & known, self.figures & known, self.beside)


def split_words(text: str) -> frozenset[str]:
    """The terms of a text, and its longer words as they are written, which are the same in another language."""
    return frozenset((*_WORD.findall(text.lower()), *analyse_text(text).terms))


def find_telling(text: str) -> Telling:
    """Find what may tell a text from others."""
    analysis = analyse_text(text)
    function = words_of("function", analysis.language)
    capitals = {word for word in _CAPITAL.findall(text) if word.lower() not in function}
    signs = {signs for signs in _UNSPACED.findall(text) if not _has_function_word(signs, function)}
    nouns = capitals if analysis.language == "de" else set[str]()
    long = {*_LONG_NUMBER.findall(text)}
    figures = nouns | {*_NUMBER.findall(text)} - long
    words = frozenset(analysis.terms)
    return Telling(words, frozenset(capitals - nouns | signs | long), frozenset(figures), words)


def repeats_line(told: Telling, line: str, *, replies: bool = False) -> bool:
    """Whether a line holds a name of another one, half of its words and two of them, or a figure with a word of it.

    Args:
        told: what may tell the other line.
        line: the line.
        replies: whether it answers the other, and a figure needs no other word.
    """
    if any(_stands_in(name, line) for name in (told.names | told.figures if replies else told.names)):
        return True
    analysis = analyse_text(line)
    if len(told.words.intersection(analysis.terms)) >= max(FEWEST, (len(told.words) + 1) // 2):
        return True
    return any(
        len(set(sentence.terms)) <= BRIEF or len(told.beside.intersection(sentence.terms)) > len(figures)
        for sentence in analysis.sentences
        if (figures := [figure for figure in told.figures if _stands_in(figure, sentence.text)])
    )


def find_echoes(connection: sa.Connection, user_id: int, message_id: int) -> tuple[list[int], list[int]]:
    """Messages that hold the words of one: what the assistant said with them, and what the user said elsewhere.

    An echo is a line of the assistant's, after that one, that repeats what nobody had said before it.
    """
    columns = (messages.c[name] for name in ("id", "provenance", "content", "session_id", "turn"))
    query = sa.select(*columns).where(messages.c.user_id == user_id, messages.c.content != "").order_by(messages.c.id)
    rows = connection.execute(query).all()
    said = next((row for row in rows if row.id == message_id), None)
    if said is None:
        return [], []
    told = find_telling(said.content)
    new = told.keep(_drop_said_words(told, (row.content for row in rows if row.id < message_id)))
    echoes = [
        row.id
        for row in rows
        if row.id > message_id
        and row.provenance != "user"
        and repeats_line(new, row.content, replies=(row.session_id, row.turn) == (said.session_id, said.turn))
    ]
    own = [row for row in rows if row.provenance == "user" and row.id != message_id]
    rare = told.keep(_drop_said_words(told, (row.content for row in own), COMMON))
    return echoes, [row.id for row in own if repeats_line(rare, row.content)]


def _has_function_word(signs: str, function: frozenset[str]) -> bool:
    return not function.isdisjoint((*signs, signs[:2], signs[1:]))


def _stands_in(name: str, text: str) -> bool:
    """Whether a text holds a name: as a word where words are spaced, a number but before an item of a list."""
    if name not in text:
        return False
    letter, after = (r"\d", r"(?!\d|[.)] )") if name[0].isdigit() else (_LETTER, f"s?(?!{_LETTER})")
    return name[0] >= "\u3040" or bool(re.search(f"(?<!{letter}){re.escape(name)}{after}", text))


def _drop_said_words(told: Telling, lines: Iterable[str], most: int = 0) -> frozenset[str]:
    """What of a telling stands in no more than some lines."""
    counts = dict.fromkeys((*told.words, *told.names, *told.figures), 0)
    for line in lines:
        held = {*analyse_text(line).terms, *(name for name in told.names | told.figures if _stands_in(name, line))}
        for word in held & counts.keys():
            counts[word] += 1
    return frozenset(word for word, times in counts.items() if times <= most)
