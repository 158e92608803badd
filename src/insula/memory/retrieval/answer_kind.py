"""Whether a statement holds the kind of value that a question asks for: a colour, an hour, a name, an amount.

The words of eight languages stand in `slots.json`. What cannot be told of a statement passes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files

from insula.language.owner import people
from insula.language.statements import Question, Statement
from insula.memory.retrieval.query import months
from insula.text.analysis import LANGUAGES, fold, term_of
from insula.text.answers import AskKind, carries, names_in
from insula.text.grammar import UNSPACED, grammar

WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
"""Elsewhere they are written small, or every noun is not."""

ASKED = 64
"""Questions of which is kept what they ask for: each is compared with hundreds of statements."""
BRIEF = 3
"""An answer of so many words may be a place alone."""
_WORD = re.compile(r"\w+")


def filled(question: Question, statement: Statement) -> bool | None:
    """Whether a statement holds what a question asks for; None where it asks for no value that can be told."""
    told = None
    for holds in _held(question, statement):
        if not holds:
            return False
        told = True
    return told


def _held(question: Question, statement: Statement) -> Iterator[bool]:
    """Of each value that a question asks for whether a statement holds it."""
    slots = _slots(question.text, question.language)
    yield from (_TOLD[slot](question, statement) for slot in slots)
    if question.ask.kind == "number" and not {"age", "amount"}.intersection(slots):
        yield _amount(question, statement)
    if question.ask.kind == "time" and "hour" not in slots and not _someday(question):
        yield _timed(statement)
    if question.ask.kind == "open" and _is_elsewhere(question, statement):
        yield False
    if question.ask.kind == "choice":
        yield from _chosen(question, statement)
    if question.ask.kind != "yes_no" and _is_nothing_new(question, statement):
        yield False


def _is_nothing_new(question: Question, statement: Statement) -> bool:
    """Whether a statement holds no content word that the question does not: "I bought a novel" names none."""
    if statement.language in UNSPACED or statement.language != question.language or not statement.terms:
        return False
    return statement.terms <= question.terms and not re.search(r"\d", statement.text)


def _chosen(question: Question, statement: Statement) -> list[bool]:
    """Whether a statement holds one of the things between which a question lets choose; empty where it names none."""
    if statement.language in UNSPACED or statement.language != question.language:
        return []
    terms = _options(question.text, question.language)
    return [bool(terms & statement.terms)] if terms else []


@lru_cache(maxsize=ASKED)
def _options(text: str, language: str) -> frozenset[str]:
    """The things between which a question lets choose."""
    options = [part.split() for part in grammar(language).choice.split(text) if part]
    near = {word for part in options[:-1] for word in part[-1:]} | {word for part in options[1:] for word in part[:3]}
    return frozenset(term for word in near if (term := term_of(word.strip("?!.,").lower(), language)))


def counts(question: Question) -> bool:
    """Whether a question asks how many there are: not how tall or how old somebody is."""
    pattern = _pattern("count", "asked", question.language)
    return bool(pattern and pattern.search(question.text.replace("’", "'")))


def _answer(statement: Statement) -> str:
    """What a statement says, without the question that it answers."""
    return statement.text.rpartition("? ")[2]


def _someday(question: Question) -> bool:
    return "いつか" in question.text


def _timed(statement: Statement) -> bool:
    return any(carries(kind, _answer(statement), statement.language) for kind in _TIMES)


def _is_elsewhere(question: Question, statement: Statement) -> bool:
    """Whether all that a statement adds to a "what" is a place: "she studies in Graz" does not say what."""
    if statement.language in UNSPACED or statement.language != question.language:
        return False
    asked, known = _words(question.text), question.terms
    words = _WORD.findall(statement.text.lower())
    terms = ((at, term_of(word, statement.language)) for at, word in enumerate(words) if word not in asked)
    new = [at for at, term in terms if term and term not in known]
    before = _PLACED.get(statement.language, frozenset[str]())
    return bool(new) and all(before.intersection(words[max(0, at - 2) : at]) - asked for at in new)


@lru_cache(maxsize=ASKED)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


@lru_cache(maxsize=ASKED)
def _folded(text: str) -> frozenset[str]:
    return frozenset(map(fold, _words(text)))


@lru_cache(maxsize=ASKED)
def _slots(text: str, language: str) -> tuple[str, ...]:
    """What values a question asks for."""
    plain = text.replace("’", "'")
    return tuple(slot for slot in _TOLD if (pattern := _pattern(slot, "asked", language)) and pattern.search(plain))


def _named(question: Question, statement: Statement) -> bool:
    """Whether a statement holds a name that the question does not."""
    if statement.language in UNSPACED or statement.language == "de":
        return _says("name", statement) or bool(_new_names(question, statement))
    return bool(_new_names(question, statement))


def _new_names(question: Question, statement: Statement) -> set[str]:
    named = names_in(statement.text, statement.language)
    found = {fold(name) for name in named} - _folded(question.text) - WEEKDAYS - months(statement.language)
    if not found:
        return found
    common = people(statement.language if statement.language in LANGUAGES else "en").words.get("names", frozenset())
    words = re.findall(r"[^\W\d_][\w'-]*", statement.text)
    if statement.language == "de":
        return {name for name in found if name in common}
    first = fold(words[0].lower()) if words else ""
    stands = len(words) > 1 and words[1].lower() in _IS  # "Hart is my surname"
    return {name for name in found if name != first or stands or name in common}


def _dated(question: Question, statement: Statement) -> bool:
    return _timed(statement)


def _amount(question: Question, statement: Statement) -> bool:
    return carries("number", _answer(statement), statement.language) or (
        _pattern("amount", "told", statement.language) is not None and _says("amount", statement)
    )


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


_TIMES: tuple[AskKind, ...] = ("time", "number")
_IS = frozenset({"is", "was", "est", "es", "era", "é", "è"})
_PLACED = {
    language: frozenset(words.split())
    for language, words in {
        "en": "in at to",
        "es": "en a",
        "pt": "em no na nos nas a",
        "it": "in a al nel nella",
        "fr": "à en au",
        "de": "in im nach bei",
    }.items()
}
"""Words before a place; the English "a" is none."""
_COMMON_WHERE = "in near"
_WHERE = {
    language: frozenset(f"{words} {_COMMON_WHERE}".split())
    for language, words in {
        "en": "at by from on to under of between behind above inside outside around across next beside home into",
        "es": "en a de del desde sobre cerca entre detrás al hacia por",
        "pt": "em no na nos nas de do da dos das a ao à aos às pra para por pelo pela sob perto num numa",
        "it": "a ad di del della dello dei dal dalla da nel nella nello nei al allo alla ai sul sulla su presso vicino",
        "fr": "à a de d en sur sous chez dans près au aux du des vers",
        "de": "im bei beim nach aus am an auf zu zur zum ins ans unter hinter neben vor zwischen über von vom daheim",
    }.items()
}
"""Words before a place, and before other things, too."""

_TOLD: Mapping[str, Callable[[Question, Statement], bool]] = {
    "name": _named,
    "colour": _saying("colour"),
    "hour": _saying("hour"),
    "day": _dated,
    "amount": _amount,
    "which": _which,
    "age": _saying("age"),
    "reason": _saying("reason"),
    "who": _who,
}


@cache
def _pattern(slot: str, side: str, language: str) -> re.Pattern[str] | None:
    raw: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(
        (files("insula.memory.retrieval") / "answer_kind.json").read_text("utf-8")
    )
    words = raw[slot][side].get(language)
    if words is None:
        return None
    return re.compile(words if language in UNSPACED else rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
