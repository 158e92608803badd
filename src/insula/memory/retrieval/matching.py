"""Whether a statement is about whom a question asks about, holds the kind of value that it asks for, and is over.

Only the user's own newer words end a statement: where a newer one of the same being says the same words with "no
longer", or the same words with another number and "now" (of a number, a rent or a salary also "my new"), or "moved
from" the very place that the older one calls home. Whatever else may have changed stands beside the newer line, and the
model reads both. The few words of eight languages stand in `ending.json`; in another language nothing is over.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from insula.caches import clear_on_erasure
from insula.language.owner import NOBODY, SOMEBODY, names_among, owners_may_match
from insula.language.statements import MessageQuestion, Statement
from insula.memory.storage.rows import StoredStatement
from insula.text.analysis import LANGUAGES, fold_accents
from insula.text.answers import carries_answer, names_in
from insula.text.grammar import UNSPACED, compile_words
from insula.text.tables import load_table


def find_aliases(owners: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    """Who else a name or a path may mean, by the owners of statements: "my sister Ana" makes them one."""
    aliases: dict[str, set[str]] = {}
    for several in {owner_names for owner_names in owners if len(owner_names) > 1}:
        names = {path for path in several if path and "/" not in path}
        paths = {path for path in several if "/" in path}
        if len(names) == 1 and len(paths) == 1 and "user" not in names:
            for path in (*names, *paths):
                aliases.setdefault(path, set()).update(names | paths)
    return {path: frozenset(others) for path, others in aliases.items()}


def add_aliases(owners: frozenset[str], aliases: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Those asked about under all their names; who is asked about by name is nobody of another name."""
    others = frozenset[str]().union(*(aliases.get(path, frozenset()) for path in owners))
    if not names_among(owners):
        return owners | others
    known = any("/" in path for path in owners)  # "my son Pablo" is not my boss Pablo
    return owners if known else owners | frozenset(path for path in others if "/" in path)


@clear_on_erasure
@lru_cache(maxsize=512)
def is_about(question: MessageQuestion, owners: frozenset[str]) -> bool:
    """Whether a statement about some may be about whom the question asks about: few are spoken of in hundreds."""
    if owners_may_match(question.subjects, owners - {NOBODY}):
        return True
    things = {path.rpartition("/")[0] for path in question.subjects if "/" in path}
    counted = question.ask.kind in {"list", "number"}  # "how many cats do I have" asks about me
    return bool(things) and counted and owners_may_match(frozenset(things), owners - {NOBODY})


def holds_answer(question: MessageQuestion, statement: Statement) -> bool | None:
    """Whether a statement holds the kind of value that a question asks for; None where that cannot be told."""
    kind, language = question.ask.kind, statement.language
    said = statement.text.rpartition("? ")[2]  # without the question that it answers
    if kind != "yes_no" and language == question.language and language not in UNSPACED:
        new = statement.terms - question.terms or any(map(str.isdigit, said))
        if statement.terms and not new:  # "I bought a novel" names none
            return False
    if kind in {"number", "time"}:
        return carries_answer(kind, said, language)
    if kind in {"name", "person"} and language not in UNSPACED and language != "de":  # there nouns have a capital
        first = said.split(maxsplit=1)[0] if said else ""
        return bool(names_in(said.removeprefix(first), language) - names_in(question.text, language)) or None
    return None


Form = Literal["so", "value", "home"]
_NUMBER = re.compile(r"\d+(?:[\d.,:/ -]*\d)?")
_NUMBER_UNSPACED = re.compile(
    "[0-9０-９〇一二三四五六七八九十百千万两両][0-9０-９〇一二三四五六七八九十百千万两両.,-]*"
)
_PHRASES = "supersession.json"
_TOKEN = re.compile(r"[^\W_]+|#")
_ENDS = " .!。！~～…"
_MARKS = re.compile(r"[\s、。，,！!]+")
_DOUBTFUL = frozenset({"negated", "ended", "before", "corrects"})
"""Marks of a statement that holds nothing which could end."""


class Key(NamedTuple):
    """The words of a statement in one of the forms in which another may end it."""

    form: Form
    words: str


class StatementForm(NamedTuple):
    """What a statement may be ended by, and what it ends."""

    held: tuple[Key, ...]
    ended: tuple[Key, ...]
    numbers: tuple[str, ...]


def find_superseded(told: Sequence[StoredStatement]) -> dict[int, int]:
    """The memories that are over, each with the one that ended it first: as it was read, else by its form."""
    sure = sorted(
        (uttered for uttered in told if _is_plain(uttered)), key=lambda uttered: (uttered.memory, uttered.said_at)
    )
    ends: dict[tuple[frozenset[str], Key], list[StoredStatement]] = defaultdict(list)
    for uttered in sure:
        for key in _read_uttered(uttered).ended:
            same = ends[uttered.statement.subjects, key]
            if not same or _read_uttered(same[-1]).numbers != _read_uttered(uttered).numbers:
                same.append(uttered)
    ended = {uttered.memory: uttered.ended_by for uttered in told if uttered.ended_by}
    for old in sure:
        if _DOUBTFUL.isdisjoint(old.statement.marks):
            for key in _read_uttered(old).held:
                new = _find_ender(old, key, ends.get((old.statement.subjects, key), ()))
                if new is not None:
                    ended[old.memory] = min(new, ended.get(old.memory, new))
    return ended


def _find_ender(old: StoredStatement, key: Key, ends: Sequence[StoredStatement]) -> int | None:
    """The first of the newer memories that end a statement; None where the newest says the same number again."""
    numbers = _read_uttered(old).numbers
    if key.form == "value" and ends and _read_uttered(ends[-1]).numbers == numbers:
        return None
    first = bisect_right(ends, old.memory, key=lambda uttered: uttered.memory)
    for new in ends[first : first + 2]:  # no two in a row have one number
        if new.said_at >= old.said_at and not (key.form == "value" and _read_uttered(new).numbers == numbers):
            return new.memory
    return None


def _read_uttered(uttered: StoredStatement) -> StatementForm:
    return read_statement(uttered.statement.text, uttered.statement.language)


def _is_plain(uttered: StoredStatement) -> bool:
    """Whether a statement is meant as a fact of somebody in particular, by the user."""
    said = uttered.statement
    nobody = any(path == NOBODY or path.startswith(SOMEBODY) for path in said.subjects)
    return bool(said.subjects) and not nobody and said.modality == "fact" and not uttered.by_tool


@clear_on_erasure
@lru_cache(maxsize=4_096)
def read_statement(text: str, language: str) -> StatementForm:
    """What a statement in a language holds and ends."""
    if language not in LANGUAGES:
        return StatementForm((), (), ())
    plain = _plain_text(text, language)
    number = _NUMBER_UNSPACED if language in UNSPACED else _NUMBER
    numbers = tuple(number.findall(plain))
    held, ended = set[Key](), set[Key]()
    if so := _key_words(plain, "drop", language):
        (ended if _compile_pattern("no_longer", language).search(plain) else held).add(Key("so", so))
    if numbers:
        value = Key("value", _key_words(number.sub("#", plain), "new", language))
        held.add(value)
        if _compile_pattern("now", language).search(plain):
            ended.add(value)
    if home := _compile_pattern("home", language).fullmatch(plain):
        held.add(Key("home", home["place"]))
    if moved := _compile_pattern("moved", language).fullmatch(plain):
        ended.add(Key("home", moved["place"]))
    return StatementForm(tuple(held), tuple(ended), numbers)


def _plain_text(text: str, language: str) -> str:
    """A text in lower case, without marks between its words, and of Chinese and Japanese without spaces."""
    lower = text.lower().replace("’", "'").strip(_ENDS)
    if language in UNSPACED:
        return _MARKS.sub("", lower)
    return " ".join(lower.replace("n't", " not").split()) if language == "en" else " ".join(lower.split())


def _key_words(plain: str, dropped: str, language: str) -> str:
    """The words of a statement, but for some; in any order where words are spaced."""
    if language in UNSPACED:
        return _compile_pattern(dropped, language).sub("", plain)
    words = _TOKEN.findall(fold_accents(_compile_pattern(dropped, language).sub(" ", plain)))
    return " ".join(sorted(word.removesuffix("s") if language == "en" else word for word in words))


@cache
def _compile_pattern(kind: str, language: str) -> re.Pattern[str]:
    return compile_words(load_table(_PHRASES, __package__)[language][kind], language)
