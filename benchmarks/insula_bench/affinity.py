"""The projections behind `insula.language.heads.answer_affinities`: how people ask for what they told, in other words.

Questions and what was told are drawn together where the one asks for the other, among all that the same author wrote:
the loss is the cross entropy of the line that answers (InfoNCE: van den Oord et al. 2018, arXiv 1807.03748), with the
cosine of the shipped embedding beside a product of few dimensions, which is drawn to nothing. A question that no line
answers is drawn to a choice of its own, beside the lines: who told the vet's name and asks for her number is answered
by none, however near that is. Fitted on pairs that several people wrote (`asked/` and `sides/`, one file an author and
a language: `asks` for what the line tells, `unanswered` for another side of it; `owners/`: the same matters of oneself
and of one's people), on three tables of `life/`, on the small talks and on `matters.txt`; the lives on which the scores
of `gate.py` are reported are by others.
"""

import json as jsonlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.units import split_units
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.text.analysis import analyse_text
from insula_bench import life
from insula_bench.conversations import read as conversation_table

Array = npt.NDArray[np.float32]

DIMENSIONS = 48
EPOCHS, ASKED = 40, 256
"""Rounds through the authors, and questions of one that are read at once."""
RATE, DECAY, SECOND, EPSILON = 3e-3, 0.9, 0.99, 1e-8
LEFT_OUT = 0.3
"""The share of a vector's numbers that is left out at random in each step (dropout: Srivastava et al. 2014)."""
SHRINK = 0.003
CONSTANT = 0.5
"""Beside the numbers of a vector: what a question, or a line, counts for by itself."""
NOTHING = 0.45
"""How near the choice of no line is at first."""
SCALE = 20.0
"""What similarities are multiplied by in the loss."""
TABLES = ("dev", "held", "later", "third", "fourth", "fifth", "fresh")
LIVES = ("later", "third", "fourth")
"""Tables of `life/`: personal questions, more than half of which nothing answers."""
UNREAD = life.FURTHER[:4]
"""Tables of people's days that the projections are not fitted on: `gate` lives them."""
DAYS = (*LIVES, "fifth", "eleventh", "twelfth", "thirteenth", "fourteenth")
"""Those that they are fitted on. With the newer ones the line that answers stood first no more often, and plain
questions lost theirs ("What do I do for a living?" beside "I work as a teacher now.")."""
LEAST = 1e-12
OWNERS = 4
"""Of each matter of `owners/`."""
NO_ANSWER, NO_LINE = -1, -2
"""A line that answers none of the questions, and a question that none of the lines answers."""


class Pairs(NamedTuple):
    """What one author wrote."""

    asked: Sequence[str]
    told: Sequence[str]
    answers: npt.NDArray[np.bool_]
    """A row for each question, a column for each line: whether it answers."""


class Read(NamedTuple):
    """The same by their vectors."""

    asked: Array
    told: Array
    answers: npt.NDArray[np.bool_]


class Projections(NamedTuple):
    """What makes questions and lines comparable, the last row the bias; see `answer_affinities`."""

    asked: Array
    told: Array


def read_pairs() -> Iterator[Pairs]:
    """What each author wrote, the pieces of a line each by itself."""
    for file in _authored():
        rows = [jsonlib.loads(line) for line in file.read_text("utf-8").splitlines()]
        told = [(text, number) for number, row in enumerate(rows) for text in _texts(row["text"], file.name[:2])]
        told += [(near, NO_ANSWER) for row in rows for near in row.get("near", ())]
        asked = [(ask, number) for number, row in enumerate(rows) for ask in row["asks"]]
        asked += [(ask, NO_LINE) for row in rows for ask in row.get("unanswered", ())]
        yield _pairs(asked, told)
    for file in sorted((files("insula_bench") / "owners").iterdir(), key=lambda one: one.name):
        yield from _owned([jsonlib.loads(line) for line in file.read_text("utf-8").splitlines()])
    for table in DAYS:
        yield from (_life(life.read(table, language), language) for language in life.languages())
    yield _pairs(*_talks())
    yield _pairs(*_matters())


def _authored() -> Iterator[Traversable]:
    for folder in ("asked", "sides"):
        yield from sorted((files("insula_bench") / folder).iterdir(), key=lambda one: one.name)


def _owned(rows: Sequence[Mapping[str, Any]]) -> Iterator[Pairs]:
    """Two people who told of each matter how it is with two of four (I, my sister, …), and ask for all four."""
    for half in range(2):
        told = [(text, at) for at, row in enumerate(rows) if (at // OWNERS + at) % 2 == half for text in row["states"]]
        yield _pairs([(ask, at) for at, row in enumerate(rows) for ask in row["asks"]], told)


def _life(rows: Sequence[life.Row], language: str) -> Pairs:
    """What a person of `life/` told, as whole lines and in pieces, and what they ask."""
    told = [(text, row["id"]) for row in rows if row["kind"] == "told" for text in _texts(row["text"], language)]
    asks = [row for row in rows if row["kind"] == "personal"]
    answers = np.array([[line in row["needs"] for _, line in told] for row in asks])
    return Pairs([row["text"] for row in asks], [text for text, _ in told], answers)


def _texts(text: str, language: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((text, *_pieces(text, language))))


def _pieces(text: str, language: str) -> tuple[str, ...]:
    return split_units(analyse_text(text, default=language)) or (text,)


def _pairs(asked: Sequence[tuple[str, int]], told: Sequence[tuple[str, int]]) -> Pairs:
    answers = np.array([number for _, number in asked])[:, None] == np.array([number for _, number in told])[None, :]
    return Pairs([text for text, _ in asked], [text for text, _ in told], answers)


def _talks() -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """The questions of the small talks, each with the line that answers it."""
    tables = (str(files("insula_bench") / f"conversations_{table}.jsonl") for table in TABLES)
    rows = (one for table in tables for one in conversation_table(table, held=False))
    found = [(one["ask"], one["line"]) for one in rows if one["known"] and one["line"]]
    return [(ask, at) for at, (ask, _) in enumerate(found)], [(line, at) for at, (_, line) in enumerate(found)]


def _matters() -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Questions and statements on matters of people's lives: any of the one asks for any of the other."""
    asked: list[tuple[str, int]] = []
    told: list[tuple[str, int]] = []
    number = 0
    for line in (files("insula_bench") / "matters.txt").read_text("utf-8").splitlines():
        number += line.startswith("# ")
        if line.startswith(("? ", "! ")):
            (asked if line.startswith("? ") else told).extend((one.strip(), number) for one in line[2:].split("|"))
    return asked, told


def fit_projections() -> Projections:
    """Fit them, always from the same start, by Adam (Kingma and Ba 2014)."""
    data = [Read(_vectors(one.asked), _vectors(one.told), one.answers) for one in read_pairs()]
    dice = np.random.default_rng(0)
    width = data[0].asked.shape[1]
    weights = [dice.normal(0, 0.02, (width, DIMENSIONS)).astype(np.float32) for _ in range(2)]
    weights.append(np.array([NOTHING], np.float32))
    first = [np.zeros_like(one) for one in weights]
    second = [np.zeros_like(one) for one in weights]
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        for at in dice.permutation(len(data)):
            asked, told, answers = data[int(at)]
            some = dice.permutation(len(asked))[:ASKED]
            step += 1
            thinned = _thin(asked[some], dice), _thin(told, dice)
            for each, slope in enumerate(_slopes(asked[some], told, thinned, answers[some], weights)):
                first[each] += (1 - DECAY) * (slope - first[each])
                second[each] += (1 - SECOND) * (slope**2 - second[each])
                mean, spread = first[each] / (1 - DECAY**step), second[each] / (1 - SECOND**step)
                weights[each] -= rate * mean / (np.sqrt(spread) + EPSILON)
    asked, told = (np.vstack([one[:-1], CONSTANT * one[-1:]]) for one in weights[:2])
    return Projections(asked, told)


def _vectors(texts: Sequence[str]) -> Array:
    vectors = np.array(embed_each(embed_text, texts), np.float32)
    return np.column_stack([vectors, np.full(len(vectors), CONSTANT, np.float32)])


def _thin(rows: Array, dice: np.random.Generator) -> Array:
    """Some rows, with a share of their numbers left out, and what is counted for by itself kept."""
    kept = dice.random(rows.shape, np.float32) >= LEFT_OUT
    kept[:, -1] = True
    thinned = rows * kept
    thinned[:, :-1] /= 1 - LEFT_OUT
    return thinned


def _slopes(
    asked: Array,
    told: Array,
    thinned: tuple[Array, Array],
    answers: npt.NDArray[np.bool_],
    weights: Sequence[Array],
) -> tuple[Array, ...]:
    """How the loss grows with each weight."""
    seen, held = thinned
    questions, lines = seen @ weights[0], held @ weights[1]
    nearness = np.column_stack([asked @ told.T + questions @ lines.T, np.full(len(asked), weights[2][0])])
    rights = np.column_stack([answers, ~answers.any(axis=1)])
    chance = np.exp(SCALE * (nearness - nearness.max(axis=1, keepdims=True)))
    right = chance * rights
    wrong = chance / chance.sum(axis=1, keepdims=True) - right / np.maximum(right.sum(axis=1, keepdims=True), LEAST)
    slope = (SCALE * wrong / len(asked)).astype(np.float32)
    of_lines = slope[:, :-1]
    return (
        seen.T @ (of_lines @ lines) + SHRINK * weights[0],
        held.T @ (of_lines.T @ questions) + SHRINK * weights[1],
        slope[:, -1:].sum(axis=0),
    )
