"""Who else holds the words of a line that is erased: what the assistant made of it, what the user said elsewhere."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from insula.memory.storage.schema import messages
from insula.text.analysis import Sentence, analyse_text, words_of
from insula.text.wording import flatten_words

COMMON = 4
"""Other lines of the user's that may hold a word before it says nothing of the erased one."""
FEWEST = 2
"""Words that two lines share before one may repeat the other, where none of them is a name."""
BRIEF = 3
"""Words of a sentence that says little beside a number of the erased line ("Noted: 27.")."""
_NUMBER = re.compile(r"\d{2,}")
_LONG_NUMBER = re.compile(r"\d{5,}")
"""A number that nobody writes by chance; shorter ones, years among them, need other words beside them."""
_DIALLED = 7
"""Digits from which a number is one however it is grouped."""
_LINE = 8
"""The last digits of such a number, which stay whatever is dialled before them (+49 151 …, 0151 …)."""
_GROUPED = re.compile(r"(?<=\d)(?:[ ()./-]{1,2}|,)(?=\d)")
_THOUSANDS = re.compile(r"(?<=\d)[ .,'’\u00a0\u202f](?=\d{3}(?!\d))")
_LETTER = r"[^\W\d_\u3040-\u9fff]"
"""A letter of a script that writes blanks."""
_NAME = 3
"""Letters of a name."""
_INFLECTED = re.compile(r"[\u0370-\u052f]{4,}")
"""Names of Greek and Cyrillic, whose last letter changes with the case."""
_UNCASED = re.compile(
    r"[\u0590-\u08ff\u0900-\u0dff]{3,}|[\u30a1-\u30ff]{4,}|(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{2}(?![\u4e00-\u9fff])"
)
"""Words of scripts that write no capitals, but blanks, those of Katakana, and two characters that stand alone."""
_WORD = re.compile(r"[^\W_]{4,}")
_UNSPACED = re.compile(r"(?=([\u4e00-\u9fff]{3}))")
"""Three characters in a row, where neither blanks nor capitals tell a name from what stands around it."""


class Telling(NamedTuple):
    """What may tell a line from others."""

    words: frozenset[str]
    names: frozenset[str]
    """Names and long numbers, as they are written: one alone tells the line."""
    figures: frozenset[str]
    """Short numbers, and words where a name looks like any (a noun of German, the first of a sentence, a script without
    capitals): they tell it beside other words of it."""
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
    large = [_find_large_words(sentence, function) for sentence in analysis.sentences]
    capitals = {word for _, words in large for word in words}
    first = {word for word, _ in large if word}
    signs = {signs for signs in _UNSPACED.findall(text) if not _has_function_word(signs, function)}
    nouns = capitals if analysis.language == "de" else set[str]()
    long = {*_LONG_NUMBER.findall(text), *_LONG_NUMBER.findall(_GROUPED.sub("", text))}
    figures = nouns | first - capitals | {*_UNCASED.findall(text)} | {*_NUMBER.findall(text)} - long
    words = frozenset(analysis.terms)
    return Telling(words, frozenset(capitals - nouns | signs | long), frozenset(figures), words)


def _find_large_words(sentence: Sentence, function: frozenset[str]) -> tuple[str, list[str]]:
    """The first word of a sentence if it is written large as any is, and those written large within it."""
    large = [
        word.text if word.text[0].isupper() and len(word.text) >= _NAME and word.text.lower() not in function else ""
        for word in sentence.words
    ]
    return next(iter(large), ""), [word for word in large[1:] if word]


def repeats_line(told: Telling, line: str, *, replies: bool = False) -> bool:
    """Whether a line holds a name of another one, half of its words and two of them, or a figure with a word of it.

    Args:
        told: what may tell the other line.
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
        or (_speaks_to_user(sentence, analysis.language) and not told.words.isdisjoint(sentence.terms))
    )


def _speaks_to_user(sentence: Sentence, language: str) -> bool:
    """Whether a sentence says "you" and little else ("As you are pregnant, no wine.")."""
    return len(set(sentence.terms)) <= BRIEF and not words_of("second", language).isdisjoint(
        word.text.lower() for word in sentence.words
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
    whole = flatten_words(said.content)
    return echoes, [row.id for row in own if flatten_words(row.content) == whole or repeats_line(rare, row.content)]


def _has_function_word(signs: str, function: frozenset[str]) -> bool:
    return not function.isdisjoint((*signs, signs[:2], signs[1:]))


def _stands_in(name: str, text: str) -> bool:
    """Whether a text holds a name: as a word where words are spaced, a number but before an item of a list."""
    if name[0].isdigit():
        text = (_GROUPED if len(name) >= _DIALLED else _THOUSANDS).sub("", text)
        digits = name[-_LINE:] if len(name) > _LINE + 1 else rf"(?<!\d){name}"
        return bool(re.search(rf"{digits}(?!\d|[.)] )", text))
    if _INFLECTED.fullmatch(name):
        return bool(re.search(f"(?<!{_LETTER}){name[:-1]}{_LETTER}{{0,3}}(?!{_LETTER})", text))
    stem = name.removesuffix("s") if len(name) > _NAME else name
    forms = [form for form in (stem, stem.upper()) if form in text]
    return (name[0] >= "\u3040" and bool(forms)) or any(
        re.search(f"(?<!{_LETTER}){re.escape(form)}[sS]?(?!{_LETTER})", text) for form in forms
    )


def _drop_said_words(told: Telling, lines: Iterable[str], most: int = 0) -> frozenset[str]:
    """What of a telling stands in no more than some lines."""
    counts = dict.fromkeys((*told.words, *told.names, *told.figures), 0)
    for line in lines:
        held = {*analyse_text(line).terms, *(name for name in told.names | told.figures if _stands_in(name, line))}
        for word in held & counts.keys():
            counts[word] += 1
    return frozenset(word for word, times in counts.items() if times <= most)
