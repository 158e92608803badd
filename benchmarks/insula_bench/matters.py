"""`insula bench matters`: the small heads that tell what matter a question asks for and a statement tells.

`matters.txt` holds ninety matters of people's lives, each with questions ("?") and statements ("!") in eight languages,
written for this by hand. Each head is a softmax over the matters on the shipped embedding. Measured is how often the
heads tell the matter of sentences that they were not fitted on, in five folds.
"""

import json as jsonlib
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from insula.memory.embedding import use
from insula.memory.matter import SCALE

FOLDS = 5
STEPS, RATE, RIDGE = 120, 0.03, 3e-4
_BETAS, _TINY = (0.9, 0.99), 1e-8

Array = npt.NDArray[np.float64]


class Sentences(NamedTuple):
    """Sentences with the number of the matter of each."""

    texts: list[str]
    matters: list[int]


class Written(NamedTuple):
    """What was written: the names of the matters, their questions and their statements."""

    names: list[str]
    questions: Sentences
    statements: Sentences


def run(fitted: str | None, json: bool) -> int:
    """Measure the heads, and write those fitted on all where a file is named."""
    written = read()
    report: dict[str, float] = {"matters": len(written.names)}
    heads: dict[str, Array] = {}
    for name, sentences in (("question", written.questions), ("statement", written.statements)):
        x = _rows(np.array([use(text) for text in sentences.texts], float))
        y = np.array(sentences.matters)
        report[name + "s"] = len(y)
        report[name + "_accuracy"] = round(accuracy(x, y, len(written.names)), 3)
        heads[name] = fit(x, y, len(written.names))
    if fitted:
        small = {name: head.astype(np.float16) for name, head in heads.items()}
        np.savez_compressed(fitted, question=small["question"], statement=small["statement"])
    print(jsonlib.dumps(report, indent=2) if json else "\n".join(f"{name}: {value}" for name, value in report.items()))
    return 0


def read() -> Written:
    """The sentences that are shipped."""
    written, matter = Written([], Sentences([], []), Sentences([], [])), 0
    for line in (files("insula_bench") / "matters.txt").read_text("utf-8").splitlines():
        sign, _, rest = line.partition(" ")
        if sign == "#" and rest not in written.names:
            written.names.append(rest)
        if sign == "#":
            matter = written.names.index(rest)
        elif sign in {"?", "!"}:
            into = written.questions if sign == "?" else written.statements
            texts = [text.strip() for text in rest.split(" | ")]
            into.texts.extend(texts)
            into.matters.extend([matter] * len(texts))
    return written


def accuracy(x: Array, y: npt.NDArray[np.int64], matters: int) -> float:
    """The share of sentences whose matter a head tells that was fitted on the others."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(y))
    right = 0
    for one in range(FOLDS):
        head = fit(x[fold != one], y[fold != one], matters)
        right += int(((x[fold == one] @ head).argmax(axis=1) == y[fold == one]).sum())
    return right / len(y)


def fit(x: Array, y: npt.NDArray[np.int64], matters: int) -> Array:
    """The head that fits best: a column of weights for each matter, the last row its intercept."""
    head = np.zeros((x.shape[1], matters))
    mean, square = np.zeros_like(head), np.zeros_like(head)
    truth = np.eye(matters)[y]
    for step in range(1, STEPS + 1):
        odds = x @ head
        chance = np.exp(odds - odds.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        gradient = x.T @ (chance - truth) / len(x) + RIDGE * head
        mean = _BETAS[0] * mean + (1 - _BETAS[0]) * gradient
        square = _BETAS[1] * square + (1 - _BETAS[1]) * gradient**2
        head -= RATE * mean / (1 - _BETAS[0] ** step) / (np.sqrt(square / (1 - _BETAS[1] ** step)) + _TINY)
    return head


def _rows(vectors: Array) -> Array:
    return np.hstack([vectors * SCALE, np.ones((len(vectors), 1))])
