"""`insula bench leaning`: the small head that tells whether a line bears on a question that it does not plainly answer.

It is fitted on all tables of small conversations but one and counted on that one, for each in turn; lines of other
conversations stand beside those of each, so that what is unrelated counts, too.
"""

import json as jsonlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.memory import assertion
from insula.memory.about import aliases, meant
from insula.memory.bearing import Told, may_lean
from insula.memory.embedding import use
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.leaning import LEAST, NAMES, features
from insula.memory.near import nearnesses
from insula.memory.slots import filled
from insula.text.analysis import analyse
from insula_bench.conversations import read

TABLES = ("dev", "held", "fresh", "third", "later", "fourth")
UNRELATED = 12
"""Lines of other conversations beside those of each, and what each weighs."""
WEIGHT = 0.2
RIDGE, STEPS, ROUNDS = 3.0, 30, 5
SHARES = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
"""Shares of unrelated lines between which is told how fast they fall."""

Array = npt.NDArray[np.float64]


class Pair(NamedTuple):
    """A question with a statement."""

    table: str
    conversation: int
    memory: int
    values: tuple[float, ...]
    answers: bool
    unrelated: bool


def run(fitted: str | None, json: bool) -> int:
    """Measure the head on each table left out, and write the one fitted on all where a file is named."""
    pairs = list(_pairs())
    report: dict[str, Any] = {table: _left_out(pairs, table) for table in TABLES}
    if fitted:
        Path(fitted).write_text(jsonlib.dumps(_written(pairs), indent=2) + "\n", "utf-8")
    print(jsonlib.dumps(report, indent=2) if json else "\n".join(f"{name}: {value}" for name, value in report.items()))
    return 0


def _left_out(pairs: Sequence[Pair], table: str) -> dict[str, float]:
    """The shares of lines that answer, of conversations without one, and of unrelated lines that bear on a question."""
    head = fit([one for one in pairs if one.table != table])
    best: dict[tuple[int, bool], float] = {}
    unrelated: list[bool] = []
    for one in pairs:
        if one.table != table:
            continue
        odds = _odds(head, one)
        if one.unrelated:
            unrelated.append(odds >= LEAST)
        else:
            key = one.conversation, one.answers
            best[key] = max(best.get(key, odds), odds)
    told = [odds >= LEAST for (_, answers), odds in best.items() if answers]
    known = {conversation for conversation, answers in best if answers}
    untold = [odds >= LEAST for (conversation, _), odds in best.items() if conversation not in known]
    shares = {"answering": told, "unknown": untold, "unrelated": unrelated}
    return {name: round(sum(some) / max(len(some), 1), 3) for name, some in shares.items()}


def fit(pairs: Sequence[Pair]) -> Array:
    """The head that fits best: a weight for each feature, the intercept last.

    Of a line of several statements the one that answers is the one that the head of the round before finds likeliest.
    """
    x = np.array([[*one.values, 1.0] for one in pairs])
    answers = np.array([one.answers for one in pairs])
    weight = np.array([WEIGHT if one.unrelated else 1.0 for one in pairs])
    chosen, head = answers.copy(), np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        used = ~answers | chosen
        head = _logistic(x[used], chosen[used], weight[used])
        odds = x @ head
        best: dict[tuple[int, int], int] = {}
        for at in np.flatnonzero(answers).tolist():
            key = pairs[at].conversation, pairs[at].memory
            if key not in best or odds[at] > odds[best[key]]:
                best[key] = at
        chosen = np.zeros(len(pairs), bool)
        chosen[list(best.values())] = True
    return head


def _logistic(x: Array, y: npt.NDArray[np.bool_], weight: Array) -> Array:
    """Newton's steps of a logistic regression, with a ridge on all but the intercept, by each feature's spread."""
    ridge = np.diag([*(RIDGE * x[:, :-1].var(axis=0)), 1e-6])
    head = np.zeros(x.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(x @ head, -30, 30)))
        slope = x.T @ (weight * (chance - y)) + ridge @ head
        bend = (x * (weight * chance * (1 - chance))[:, None]).T @ x + ridge
        head -= np.linalg.solve(bend, slope)
    return head


def _odds(head: Array, one: Pair) -> float:
    return float(np.dot(head[:-1], one.values) + head[-1])


def _written(pairs: Sequence[Pair]) -> dict[str, float]:
    """The head fitted on all, with how many unrelated lines have so much for them."""
    head = fit(pairs)
    unrelated = np.array([_odds(head, one) for one in pairs if one.unrelated])
    total = sum(one.unrelated for one in pairs)
    at = np.quantile(unrelated, [1 - share * total / len(unrelated) for share in SHARES])
    fall, luck = np.polyfit(at, np.log(SHARES), 1)
    values = dict(zip((*NAMES, "intercept"), head.tolist(), strict=True))
    return {name: round(value, 3) for name, value in (values | {"luck": luck, "fall": -fall}).items()}


def _pairs() -> Iterator[Pair]:
    told = {table: [_told(one) for one in _read(table)] for table in TABLES}
    rng, number = np.random.default_rng(0), 0
    for table in TABLES:
        pool = [each for lines in told[table] for each in lines]
        for one, own in zip(_read(table), told[table], strict=True):
            number += 1
            texts = {each.statement.text for each in own}
            picked = (pool[at] for at in rng.integers(0, len(pool), UNRELATED).tolist())
            others = [
                each._replace(memory=-at) for at, each in enumerate(picked, 1) if each.statement.text not in texts
            ]
            yield from _of(table, number, one, own, others)


def _of(table: str, number: int, one: dict[str, Any], own: Sequence[Told], others: Sequence[Told]) -> Iterator[Pair]:
    line = one.get("line") or ""
    answering = {at for at, each in enumerate(one["told"], 1) if one["known"] and line and line in each["text"]}
    named = aliases(each.statement.subjects for each in own)
    all_told = [*own, *others]
    for plain in assertion.questions(analyse(one["ask"]), USER, ASSISTANT):
        about = plain._replace(subjects=meant(plain.subjects, named), vector=use(plain.text))
        near = nearnesses(about, [each.statement for each in all_told])
        question = about._replace(vector=None)
        for each, how in zip(all_told, near, strict=True):
            if may_lean(question, each):
                values = features(question, each.statement, how, lacks=filled(question, each.statement) is False)
                yield Pair(table, number, each.memory, values, each.memory in answering, each.memory < 0)


def _read(table: str) -> list[dict[str, Any]]:
    return read(str(files("insula_bench") / f"conversations_{table}.jsonl"), held=False)


def _told(one: dict[str, Any]) -> list[Told]:
    """What the user of a conversation states, line by line."""
    found: list[Told] = []
    before: dict[int, list[assertion.Said]] = {}
    for at, line in enumerate(one["told"], 1):
        said = before.setdefault(line["session"], [])
        own = line["who"] == "user"
        if own:
            made = assertion.statements(analyse(line["text"]), USER, ASSISTANT, said)
            found += (Told(at, float(at), each._replace(vector=use(each.text))) for each in made)
        said.append(assertion.Said(line["text"], own))
    return found
