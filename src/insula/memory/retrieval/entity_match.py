"""Whether a statement may be about those whom a question asks about, under whatever name."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from insula.language.owner import NOBODY, USER, fits, names_of, people, same
from insula.language.statements import Question, Statement
from insula.memory.retrieval.answer_kind import counts
from insula.text.analysis import fold, term_of
from insula.text.grammar import UNSPACED

MOST = 0.5
"""The share of a question's words above which a statement tells what it asks."""


def aliases(told: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    """Who else a name or a path may mean, by the subjects of statements: "my sister Ana" makes them one."""
    found: dict[str, set[str]] = {}
    for subjects in {one for one in told if len(one) > 1}:
        names = {path for path in subjects if path and "/" not in path}
        paths = {path for path in subjects if "/" in path}
        if len(names) == 1 and len(paths) == 1 and "user" not in names:
            for path in (*names, *paths):
                found.setdefault(path, set()).update(names | paths)
    return {path: frozenset(others) for path, others in found.items()}


def meant(subjects: frozenset[str], named: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Those asked about under all their names; who is asked about by name is nobody of another name."""
    others = frozenset[str]().union(*(named.get(path, frozenset()) for path in subjects))
    if not names_of(subjects):
        return subjects | others
    known = any("/" in path for path in subjects)  # "my son Pablo" is not my boss Pablo
    return subjects if known else subjects | frozenset(path for path in others if "/" in path)


def of_owner(question: Question, statement: Statement) -> bool:
    """Whether a statement is about whom those asked about belong to: "I report to Dr Galli now" tells my boss."""
    owners = frozenset(path.rpartition("/")[0] for path in question.subjects if "/" in path)
    return question.ask.kind in {"person", "name"} and bool(owners & statement.subjects)


def is_beside(question: Question, statement: Statement) -> bool:
    """Whether a statement of the user's own speaks of the one asked about: "my godchild's christening …"."""
    asked = question.subjects - {USER, NOBODY}
    return statement.subjects <= {USER} and bool(asked & statement.mentions) and not _is_reported(statement)


def speaks_of(question: Question, statement: Statement) -> bool:
    """Whether a statement about somebody else speaks of those asked about, or is about whom they belong to.

    "The caretaker gave me a key" speaks of me; what I told Ana says nothing of her.
    """
    owners = {path.rpartition("/")[0] for path in question.subjects if path.count("/") > 1}
    if not owners.isdisjoint(statement.subjects):
        return not _is_reported(statement)
    beside = (statement.mentions - statement.subjects) & question.subjects
    return USER in beside or (bool(beside - {NOBODY}) and not _is_reported(statement))


def is_doubtful(statement: Statement) -> bool:
    """Whether a statement's subject is somebody by the capital alone, as "Pilates" is in "Pilates has moved"."""
    names = people(statement.language).words.get("names")
    known = names_of(statement.subjects)
    return bool(known) and names is not None and known == statement.subjects and names.isdisjoint(known)


def _is_reported(statement: Statement) -> bool:
    said = re.findall(r"\w+", fold(statement.text.lower()))
    return not people(statement.language).words["say"].isdisjoint(said)


def is_such(question: Question, statement: Statement) -> bool:
    """Whether a question asks of some being without saying whose, and a statement tells most of it of one such.

    "Whose cat had kittens?" and "which dog bit the postman?" ask of any cat and dog; "my son" is my own.
    """
    if question.ask.kind != "person" and _says_own(question.text, question.language):
        return False
    asked = question.terms - who_terms(question)
    kinds = {path.rpartition("/")[2] for path in question.subjects if "/" in path}
    of_kind = kinds & {path.rpartition("/")[2] for path in statement.subjects if "/" in path}
    return bool(of_kind) and len(asked & statement.terms) > MOST * len(asked)


@lru_cache(maxsize=64)  # it is asked of each statement
def _says_own(text: str, language: str) -> bool:
    """Whether a question says "my"."""
    words = people(language).words
    if language in UNSPACED:
        return any(word in text for word in words["first"])
    return not words["first_own"].isdisjoint(fold(word) for word in re.findall(r"\w+", text.lower()))


def _of_theirs(question: Question, subjects: frozenset[str]) -> bool:
    """Whether a statement is about one of theirs, and a question asks who of them: "who of us keeps bees?"."""
    return question.ask.kind == "person" and any(
        path.startswith(f"{one}/") for path in subjects for one in question.subjects
    )


@lru_cache(maxsize=512)
def is_about(question: Question, subjects: frozenset[str]) -> bool:
    """Whether a statement about some may be about whom the question asks about: few are spoken of in hundreds."""
    said = subjects - {""}
    if fits(question.subjects, said) or _of_theirs(question, subjects):
        return True
    if question.subjects == frozenset({USER}) and _of_kind_asked(question, subjects):
        return True
    things = {path for path in question.subjects if "/" in path}  # "how many cats do I have" asks about me
    owner = frozenset(path.rpartition("/")[0] for path in things)
    counted = question.ask.kind == "list" or (question.ask.kind == "number" and counts(question))
    return bool(things) and counted and fits(owner, said)


@lru_cache(maxsize=64)  # it is asked of each statement
def _kinds_named(text: str, language: str) -> frozenset[str]:
    """The kinds of the user's people that a question names."""
    known = people(language)
    words = re.findall(r"\w+", fold(text.lower()))
    return frozenset(f"{USER}/{being}" for word in words if (being := known.being(word)))


def _of_kind_asked(question: Question, subjects: frozenset[str]) -> bool:
    """Whether a statement is about one of the user's of whom the question names the kind: "which brother of mine"."""
    kinds = _kinds_named(question.text, question.language)
    return bool(kinds) and any(same(kind, path) for kind in kinds for path in subjects)


@lru_cache(maxsize=64)  # it is asked of each statement
def who_terms(question: Question) -> frozenset[str]:
    """The words of a question that say whom it is about: of "where is my uncle Mark from" all."""
    known, names = people(question.language), names_of(question.subjects)
    words = re.findall(r"[\w-]+", question.text.lower())
    who = {term_of(word, question.language) for word in words if fold(word) in names or known.being(fold(word))}
    return frozenset(term for term in who if term)
