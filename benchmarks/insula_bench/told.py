"""`insula bench told`: the small head that tells which sentences of a message tell a fact of the user's life.

`told.txt` holds sentences in eight languages written for this by hand: facts (`told`), and requests, greetings, parts
in games, words about answers and about the world (`other`). Beside them stand the lines of the small conversations, the
statements of `matters.txt`, and the wishes of `wishes.txt` and its tables, which are none. Measured is, for each table
of conversations left out of the fit, the share of lines that answer and are taken for facts; and of what is none, in
five folds, the share that is.
"""

import json as jsonlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from insula.memory.embedding import embedded_all, use
from insula.memory.telling import ANY, OWN, is_own, row
from insula.memory.vectors import Array
from insula.text.analysis import LANGUAGES, analyse
from insula.text.questions import statements
from insula_bench import matters
from insula_bench.conversations import read

TABLES = ("dev", "held", "later", "third", "fourth", "fifth")
WISHES = ("dev", "held", "fresh", "own", "wide", "third", "fourth", "fifth")
FOLDS, STEPS, RIDGE, EVEN = 5, 10, 5.0, 0.1
_SURE = 30.0


class Sentence(NamedTuple):
    """A sentence, whether it tells a fact, and the table that it is of."""

    text: str
    language: str
    told: bool
    table: str = ""
    answers: bool = False
    """Whether it is the line of a table that answers."""


def run(fitted: str | None, json: bool) -> int:
    """Measure the head, and write the one fitted on all where a file is named."""
    known = [*written(), *_matters(), *_wishes(), *_conversations()]
    x = np.array([row(vector, own=own) for vector, own in _rows(known)])
    y = np.array([one.told for one in known], np.float32)
    report: dict[str, float] = {"sentences": len(known), "facts": int(y.sum()), "taken": _taken(known, x, y)}
    report |= {table: _left_out(known, x, y, table) for table in TABLES}
    if fitted:
        np.savez_compressed(fitted, told=fit(x, y).astype(np.float16))
    print(jsonlib.dumps(report, indent=2) if json else "\n".join(f"{name}: {value}" for name, value in report.items()))
    return 0


def _left_out(known: Sequence[Sentence], x: Array, y: Array, table: str) -> float:
    """The share of the answering lines of a table that a head takes for facts that was fitted without the table."""
    head = fit(*(part[[one.table != table for one in known]] for part in (x, y)))
    found = _is_taken(x[[one.table == table and one.answers for one in known]], head)
    return round(float(found.mean()), 3)


def _taken(known: Sequence[Sentence], x: Array, y: Array) -> float:
    """The share of what was written as no fact that a head takes for one that was fitted on the others."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(y))
    other = np.array([not one.told for one in known])
    taken = [_is_taken(x[(fold == one) & other], fit(x[fold != one], y[fold != one])) for one in range(FOLDS)]
    return round(float(np.concatenate(taken).mean()), 3)


def _is_taken(x: Array, head: Array) -> npt.NDArray[np.bool_]:
    least = np.where(x[:, -2] > 0, OWN, ANY)
    return 1 / (1 + np.exp(-x @ head)) >= least


def fit(x: Array, y: Array) -> Array:
    """A logistic regression with ridges, by Newton's method."""
    ridge = np.full(x.shape[1], RIDGE)
    ridge[-2:] = EVEN
    head = np.zeros(x.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(x @ head, -_SURE, _SURE)))
        hessian = (x * (chance * (1 - chance))[:, None]).T @ x + np.diag(ridge)
        head -= np.linalg.solve(hessian, x.T @ (chance - y) + ridge * head)
    return head.astype(np.float32)


def _rows(known: Sequence[Sentence]) -> Iterator[tuple[Array, bool]]:
    vectors = embedded_all(use, [one.text for one in known])
    for one, vector in zip(known, vectors, strict=True):
        yield vector, is_own(one.text, one.language)


@cache
def written() -> tuple[Sentence, ...]:
    """The sentences that were written for this."""
    found, language, told = list[Sentence](), "en", False
    for line in (files("insula_bench") / "told.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            _, language, kind = line.split()
            told = kind == "told"
        else:
            found += [Sentence(text.strip(), language, told) for text in line.split(" | ") if text.strip()]
    return tuple(found)


def _matters() -> Iterator[Sentence]:
    for text in matters.read().statements.texts:
        yield Sentence(text, _language(text), told=True)


def _wishes() -> Iterator[Sentence]:
    kind = ""
    for line in (files("insula_bench") / "wishes.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            kind = line[2:]
        elif kind != "fact":
            yield from (Sentence(text.strip(), _language(text), told=False) for text in line.split(" | "))
    for table in WISHES:
        for line in (files("insula_bench") / f"wishes_{table}.jsonl").read_text("utf-8").splitlines():
            one = jsonlib.loads(line)
            yield Sentence(one["text"], one["lang"], told=one.get("kind") == "fact")


def _conversations() -> Iterator[Sentence]:
    folder = files("insula_bench")
    for table in TABLES:
        for one in read(str(folder / f"conversations_{table}.jsonl"), held=False):
            for line in one["told"]:
                analysis = analyse(line["text"])
                for sentence in statements(analysis) if line["who"] == "user" else ():
                    answers = bool(one["known"] and one["line"]) and sentence.text in one["line"]
                    yield Sentence(sentence.text, analysis.language, told=True, table=table, answers=answers)


def _language(text: str) -> str:
    found = analyse(text).language
    return found if found in LANGUAGES else "en"
