"""The projections behind `insula.language.heads.answer_affinities`: how people ask for what they told, in other words.

Questions and what was told are drawn together where the one asks for the other, among all that the same author wrote:
the loss is the cross entropy of the line that answers (InfoNCE: van den Oord et al. 2018, arXiv 1807.03748), with the
cosine of the shipped embedding beside a product of few dimensions. Of a question a hidden layer reads what the encoder
saw at its places, too; of a line only its vector is kept. A question that no line answers is drawn to a choice of its
own, beside the lines: who told the vet's name and asks for her number is answered by none, however near that is. Fitted
on pairs that several people wrote (`asked/` and `sides/`, one file an author and a language: `asks` for what the line
tells, `unanswered` for another side of it; `owners/`: the same matters of oneself and of one's people), on whole lives
and on people's days (`life/`), on the small talks and on `matters.txt`; the lives on which the scores of `gate.py` are
reported are by others.
"""

import json as jsonlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.heads import DIMENSIONS, REQUEST, read_request
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.text.analysis import analyse_text
from insula.text.pasted import split_units
from insula_bench import life
from insula_bench.conversations import read as conversation_table

Array = npt.NDArray[np.float32]

SOUGHT, HIDDEN = 96, 128
"""Numbers that a question and a line are compared by, and the width of the layer on all that is read of a question."""
EPOCHS, ASKED = 20, 256
"""Rounds through the authors, and questions of one that are read at once."""
RATE, DECAY, SECOND, EPSILON = 1e-3, 0.9, 0.99, 1e-8
LEFT_OUT, LEFT_OUT_INSIDE = 0.5, 0.2
"""The share of what is read, and of the hidden layer, that is left out at random in each step (dropout: Srivastava et
al. 2014)."""
SPREAD = 0.04
"""How far from nothing the weights are at first."""
NOTHING = 0.45
"""How near the choice of no line is at first."""
SCALE = 20.0
"""What similarities are multiplied by in the loss."""
TABLES = ("dev", "held", "later", "third", "fourth", "fifth", "fresh")
LIVES = ("later", "third", "fourth")
"""Tables of `life/`: personal questions, more than half of which nothing answers."""
UNREAD = life.FURTHER[:4]
"""Tables of people's days that the projections are not fitted on: `gate` lives them."""
DAYS = (*LIVES, "fifth", *life.FURTHER[4:])
"""Those that they are fitted on."""
WHOLE_LIVES = ("lives_2", "lives_3", "lives_4", "lives_5", "lives_6", "lives_7", "lives_8")
"""Lives of 200 facts, each asked for twice; `gate` lives the first."""
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
    """The same as it is read."""

    asked: npt.NDArray[np.float16]
    """What `insula.language.heads.read_request` gives of each question."""
    told: Array
    answers: npt.NDArray[np.bool_]


class Weights(NamedTuple):
    """What is fitted; see `insula.language.heads.Projections`. The last row of the first three is the bias."""

    asked: Array
    told: Array
    hidden: Array
    out: Array
    nothing: Array
    """How near the choice of no line is."""


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
    for table in WHOLE_LIVES:
        for language in life.languages():
            yield from _whole_life(life.read(table, language), language)
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


def _whole_life(rows: Sequence[life.Row], language: str) -> Iterator[Pairs]:
    """Two people who told every other fact of a life, and ask for all of them, in two wordings each."""
    asked = [(ask, at) for at, row in enumerate(rows) for ask in row["asks"]]
    for half in range(2):
        told = [(text, at) for at, row in enumerate(rows) if at % 2 == half for text in _texts(row["text"], language)]
        yield _pairs(asked, told)


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


def fit_projections() -> Weights:
    """Fit them, always from the same start, by Adam (Kingma and Ba 2014)."""
    data = [Read(_read_questions(one.asked), _read_lines(one.told), one.answers) for one in read_pairs()]
    dice = np.random.default_rng(0)
    shapes = (DIMENSIONS + 1, SOUGHT), (DIMENSIONS + 1, SOUGHT), (REQUEST + 1, HIDDEN), (HIDDEN, SOUGHT)
    start = [(dice.normal(0, SPREAD, shape)).astype(np.float32) for shape in shapes]
    weights = Weights(*start, nothing=np.array([NOTHING], np.float32))
    for biased in weights[:3]:
        biased[-1] = 0
    first, second = ([np.zeros_like(one) for one in weights] for _ in range(2))
    step, steps = 0, EPOCHS * len(data)
    for _ in range(EPOCHS):
        for at in dice.permutation(len(data)):
            asked, told, answers = data[int(at)]
            some = dice.permutation(len(asked))[:ASKED]
            rate = RATE * (1 - step / steps)
            step += 1
            for each, slope in enumerate(_slopes(asked[some].astype(np.float32), told, answers[some], weights, dice)):
                first[each] += (1 - DECAY) * (slope - first[each])
                second[each] += (1 - SECOND) * (slope**2 - second[each])
                mean, spread = first[each] / (1 - DECAY**step), second[each] / (1 - SECOND**step)
                weights[each][...] -= rate * mean / (np.sqrt(spread) + EPSILON)
    return weights


def _read_questions(texts: Sequence[str]) -> npt.NDArray[np.float16]:
    vectors = embed_each(embed_text, texts)
    return np.array([read_request(*each) for each in zip(texts, vectors, strict=True)], np.float16)


def _read_lines(texts: Sequence[str]) -> Array:
    return np.array(embed_each(embed_text, texts), np.float32)


def _thin(rows: Array, share: float, dice: np.random.Generator) -> Array:
    """Some rows, with a share of their numbers left out."""
    kept = dice.random(rows.shape, np.float32) >= share
    return rows * kept / np.float32(1 - share)


def _slopes(
    asked: Array, told: Array, answers: npt.NDArray[np.bool_], weights: Weights, dice: np.random.Generator
) -> tuple[Array, ...]:
    """How the loss grows with each weight."""
    seen, held = _thin(asked, LEFT_OUT, dice), _thin(told, LEFT_OUT, dice)
    inner = seen @ weights.hidden[:-1] + weights.hidden[-1]
    felt = _thin(np.maximum(inner, 0), LEFT_OUT_INSIDE, dice)
    questions = seen[:, :DIMENSIONS] @ weights.asked[:-1] + weights.asked[-1] + felt @ weights.out
    lines = held @ weights.told[:-1] + weights.told[-1]
    near = asked[:, :DIMENSIONS] @ told.T + questions @ lines.T
    nearness = np.column_stack([near, np.full(len(asked), weights.nothing[0])])
    rights = np.column_stack([answers, ~answers.any(axis=1)])
    chance = np.exp(SCALE * (nearness - nearness.max(axis=1, keepdims=True)))
    right = chance * rights
    wrong = chance / chance.sum(axis=1, keepdims=True) - right / np.maximum(right.sum(axis=1, keepdims=True), LEAST)
    slope = (SCALE * wrong / len(asked)).astype(np.float32)
    of_questions, of_lines = slope[:, :-1] @ lines, slope[:, :-1].T @ questions
    back = (of_questions @ weights.out.T) * (felt > 0) / np.float32(1 - LEFT_OUT_INSIDE)
    return (
        _with_bias(seen[:, :DIMENSIONS], of_questions),
        _with_bias(held, of_lines),
        _with_bias(seen, back),
        felt.T @ of_questions,
        slope[:, -1:].sum(axis=0),
    )


def _with_bias(rows: Array, slopes: Array) -> Array:
    return np.vstack([rows.T @ slopes, slopes.sum(axis=0, keepdims=True)])
