"""How the heads are fitted that hear wishes by their meaning: `src/insula/memory/wishes.npz`.

Of sentences their kind (`wishes.txt`, the tables of wishes, and what people say in talks), of wishes their value
(`wish_values.txt`), of pairs their relation (the tables of pairs, and wishes beside what is no wish).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from insula.memory.embedding import use
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.manner import KINDS, row
from insula.memory.matter import DIMENSIONS, SCALE
from insula.memory.related import RELATIONS, Heads, Said, weighed
from insula.memory.vectors import Array
from insula.text.analysis import LANGUAGES, detect
from insula.text.marks import Part, marked
from insula.text.wishing import Relation, wishes
from insula_bench import matters, talks

Row = Mapping[str, Any]
Pair = tuple[str, str, str, Relation]
"""The language, a wish that stands, what was said later, and what that makes of it."""
FACTS, QUESTIONS, TALKED = 500, 300, 300
"""Sentences of `matters.txt`, and of each kind of talk, that are taken for plain ones."""
STEPS = 5
"""Of Newton's method."""
_MEANING, _MARKS, _EVEN, _VALUE = 15.0, 1.0, 1e-3, 12.0
"""Ridges: of what the embedding weighs, of what the marks weigh, of the intercept, of the values."""
_SURE, _LEAST, _SHARP = 12.0, 1e-3, 8.0
_OTHERS = 2
"""Sentences that change nothing, beside each wish that stands."""
_KIND = {"one_off": "once", "style_task": "once", "fact": "fact"}


def fitted(tables: Iterable[Sequence[Row]], pairs: Sequence[Pair], unseen: Iterable[str] = ()) -> Heads:
    """The heads, fitted on what was written and on the tables, but for some texts."""
    left_out = frozenset(unseen)
    kinds = _kinds([row for rows in tables for row in rows if row["text"] not in left_out])
    names, values = _values()
    known = Heads(kinds, names, values, np.zeros((0, 0), np.float32))
    return known._replace(relations=_relations([pair for pair in pairs if pair[2] not in left_out], known))


def said(message: str, language: str) -> list[Said]:
    """The parts of a message with their vectors."""
    return [Said(part, vector(part.text)) for part in _marked(message, language)]


def _kinds(rows: Sequence[Row]) -> Array:
    """A head of each kind; of a wish of several parts the one that is likest to a wish is taken for it."""
    some = [(_rows(row["text"], row["lang"]), row) for row in rows]
    sure = [(parts, _kind(row)) for parts, row in some if not row["standing"] or len(parts) == 1]
    open_ = [parts for parts, row in some if row["standing"] and len(parts) > 1]
    told = [(_rows(text, _language(text)), kind) for text, kind in _written()]
    told = [(parts, kind) for parts, kind in told if parts and (KINDS[kind] != "wish" or len(parts) == 1)]
    x = np.array([part for parts, _ in (*told, *sure) for part in parts])
    y = np.array([kind for parts, kind in (*told, *sure) for _ in parts])
    weight = np.array([1 / len(parts) ** 0.5 for parts, _ in (*told, *sure) for _ in parts], np.float32)
    first = _newton(x, (y == 0).astype(np.float32), weight)
    likest = [max(parts, key=lambda part: float(part @ first)) for parts in open_]
    if likest:
        x, y = np.vstack([x, likest]), np.concatenate([y, np.zeros(len(likest), int)])
        weight = np.concatenate([weight, np.ones(len(likest), np.float32)])
    each = (_newton(x, (y == kind).astype(np.float32), weight) for kind in range(len(KINDS)))
    return np.stack(list(each), axis=1)


def _kind(row: Row) -> int:
    return KINDS.index("wish" if row["standing"] else _KIND.get(row.get("kind", ""), "other"))


def _newton(x: Array, y: Array, weight: Array) -> Array:
    """A logistic regression with ridges."""
    x = x.astype(np.float32)
    ridge = np.full(x.shape[1], _MARKS, np.float32)
    ridge[:DIMENSIONS], ridge[-1] = _MEANING, _EVEN
    head = np.zeros(x.shape[1], np.float32)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(x @ head, -_SURE, _SURE)))
        curve = weight * np.maximum(chance * (1 - chance), _LEAST)
        hessian = x.T @ (x * curve[:, None]) + np.diag(ridge)
        head = head - np.linalg.solve(hessian, x.T @ (weight * (chance - y)) + ridge * head)
    return head.astype(np.float32)


def _values() -> tuple[tuple[str, ...], Array]:
    """The head of the values, with their names: a least squares fit, sharpened to chances."""
    names, texts, of = list[str](), list[str](), list[int]()
    for line in (files("insula_bench") / "wish_values.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            names.append(line[2:])
        else:
            texts += line.split(" | ")
            of += [len(names) - 1] * len(line.split(" | "))
    x = np.array([[*(SCALE * vector(text)), 1.0] for text in texts], np.float32)
    wanted = np.eye(len(names), dtype=np.float32)[of] - 1 / len(names)
    found = x.T @ np.linalg.solve(x @ x.T + _VALUE * np.eye(len(x), dtype=np.float32), wanted)
    return tuple(names), (_SHARP * found).astype(np.float32)


def _relations(pairs: Sequence[Pair], known: Heads) -> Array:
    """The head of the relations, one against the rest for each."""
    rng = np.random.default_rng(0)
    plain = [text for text, kind in _written() if KINDS[kind] not in ("wish", "lift")]
    more: list[Pair] = [
        (_language(text), pair[1], text, "unrelated")
        for pair in pairs
        for text in (plain[int(place)] for place in rng.integers(0, len(plain), _OTHERS))
    ]
    rows = [(nearest(pair, known), pair[3]) for pair in (*pairs, *more)]
    x = np.array([found for found, _ in rows if found is not None])
    y = np.array([RELATIONS.index(kind) for found, kind in rows if found is not None])
    mean, spread = x.mean(0), x.std(0) + _LEAST
    mean[-1], spread[-1] = 0.0, 1.0
    head = matters.fit(((x - mean) / spread).astype(np.float64), y, len(RELATIONS)) / spread[:, None]
    head[-1] -= mean @ head
    return head.astype(np.float32)


def nearest(pair: Pair, known: Heads) -> Array | None:
    """What tells of a pair: of the part of what was said later that is likeliest of the same slot."""
    found = [weighed(one, pair[1], vector(pair[1]), known) for one in said(pair[2], pair[0])]
    return max(found, key=lambda each: float(each[0]), default=None)


def _rows(text: str, language: str) -> list[Array]:
    return [row(one.vector, one.part.marks) for one in said(text, language)]


def _written() -> list[tuple[str, int]]:
    texts, kind = list[tuple[str, int]](), 0
    for line in (files("insula_bench") / "wishes.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            kind = KINDS.index(line[2:])
        else:
            texts += [(text.strip(), kind) for text in line.split(" | ")]
    sentences = matters.read()
    plain = [*_some(sentences.statements.texts, FACTS), *_some(sentences.questions.texts, QUESTIONS), *_talked()]
    return [*texts, *((text, KINDS.index("fact")) for text in plain)]


def _talked() -> list[str]:
    """What people say to each other of their lives, what an assistant advises, and what users say in every other talk
    with one, but for the wishes that their words tell."""
    two = [line.text for talk in talks.of_two() for line in talk.lines]
    lines = [line for talk in talks.with_assistant() for line in talk.lines]
    users = [line.text for talk in talks.with_assistant()[::2] for line in talk.lines if line.speaker == USER]
    advice = [line.text for line in lines if line.speaker == ASSISTANT]
    mine = [part.text for line in users if not wishes(line) for part in _marked(line, "en")]
    return [*mine, *_some(_parts(two), 4 * TALKED), *_some(_parts(advice), TALKED)]


def _parts(lines: Sequence[str]) -> list[str]:
    return [part.text for line in lines for part in _marked(line, "en")]


def _some(texts: Sequence[str], number: int) -> list[str]:
    return [texts[int(place)] for place in np.random.default_rng(0).permutation(len(texts))[:number]]


def _language(text: str) -> str:
    told = detect(text, "en")
    return told if told in LANGUAGES else "en"


@cache
def _marked(message: str, language: str) -> tuple[Part, ...]:
    return marked(message, language)


@cache
def vector(text: str) -> Array:
    """The embedding of a text."""
    return use(text)
