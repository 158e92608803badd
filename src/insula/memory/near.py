"""How near statements are to a question, all at once: by words, by cosines, by the matters that the heads tell."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from insula.memory.assertion import Question, Statement
from insula.memory.matter import FLOOR, HEAD, common, matters_asked, matters_told, nearness, shared
from insula.memory.subject import names_of, people
from insula.memory.vectors import Vector
from insula.text.analysis import fold, term_of

COMMON = 0.03
"""Chance of a matter in common from which a statement answers though it lacks some of the question's words."""
SURE = 0.6
"""Chance from which a head is believed that a statement is on another matter."""
PLAIN = 0.5
"""Cosine from which the heads are not asked whether a statement is on another matter."""
APART = 0.02


class Near(NamedTuple):
    """How near a statement is to a question."""

    fit: float
    apart: bool = False
    """Whether it is surely on another matter."""
    whole: bool = True
    """Whether nothing is asked beside it: the matter is the same, or every word is there."""
    common: float = 0.0
    cosine: float = 0.0


def nearnesses(question: Question, told: Sequence[Statement]) -> list[Near]:
    """The nearness of each statement to a question."""
    asked = question.vector
    if asked is None:
        return [_by_words(question, one) for one in told]
    meant = [one.vector is not None and one.vector.shape == asked.shape for one in told]
    found = iter(_by_meaning(question, asked, [one for one, is_meant in zip(told, meant, strict=True) if is_meant]))
    return [next(found) if is_meant else _by_words(question, one) for one, is_meant in zip(told, meant, strict=True)]


def _by_words(question: Question, one: Statement) -> Near:
    return Near(nearness(None, None, shared(question, one)))


def _by_meaning(question: Question, asked: Vector, told: Sequence[Statement]) -> list[Near]:
    """The nearness of statements with vectors, all at once: a product of each by itself takes ten times as long."""
    if not told:
        return []
    rows = np.array([one.vector for one in told])
    cosines = (rows @ asked).astype(np.float64)
    asks = matters_asked(asked)
    known = [one.matters for one in told if one.matters is not None]
    tells = np.array(known) if len(known) == len(told) else matters_told(rows)
    if asks is None or tells is None:
        return [Near(nearness(one, None, 0.0), cosine=one) for one in cosines.tolist()]
    commons = (tells @ asks).astype(np.float64)
    fits = cosines + HEAD * np.log(commons + FLOOR)
    apart = (tells.max(axis=1) > SURE) & (asks.max() > SURE) & (commons < APART) & (cosines < PLAIN)
    by_terms = not question.terms <= who_terms(question._replace(vector=None))
    return [
        Near(
            fit,
            is_apart,
            common >= COMMON or (by_terms and question.terms <= one.terms) or question.language != one.language,
            common,
            cosine,
        )
        for one, fit, is_apart, common, cosine in zip(
            told, fits.tolist(), apart.tolist(), commons.tolist(), cosines.tolist(), strict=True
        )
    ]


def alike(old: Statement, new: Statement) -> float:
    """How near two statements are in matter."""
    if old.vector is None or new.vector is None or old.vector.shape != new.vector.shape:
        both = old.terms | new.terms
        return len(old.terms & new.terms) / len(both) if both else 0.0
    return nearness(float(old.vector @ new.vector), common(old, new), 0.0)


@lru_cache(maxsize=64)  # it is asked of each statement
def who_terms(question: Question) -> frozenset[str]:
    """The words of a question that say whom it is about: of "where is my uncle Mark from" all."""
    known, names = people(question.language), names_of(question.subjects)
    words = re.findall(r"[\w-]+", question.text.lower())
    who = {term_of(word, question.language) for word in words if fold(word) in names or known.being(fold(word))}
    return frozenset(term for term in who if term)
