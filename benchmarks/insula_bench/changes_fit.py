"""The fit of what tells that a later line changes what an older one says, on `changes/told`.

For eighty facts of a life in each language somebody wrote two lines that change it and two that are near it and do not.
A logistic regression on vectors tells a line of a change from others. What it counts for, beside how alike people ask
for both lines and how near the newer one is to what is asked, is fitted on those lives, with half of the lines told
after them; there the first regression has not read the language. The point is where a share of questions on what did
not change get another line beside their own.
"""

import json as jsonlib
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.heads import SCALE, load_cards
from insula.memory.relevance import describe_change, read_direction
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.text.analysis import LANGUAGES, analyse_text
from insula.text.pasted import split_units
from insula_bench import life
from insula_bench.changes import OLD, judge_lines, read_rows
from insula_bench.gate import logistic
from insula_bench.heads import PACKAGE

Array = npt.NDArray[Any]

LIVES: Mapping[str, str] = {
    "en": "lives",
    "es": "lives_2",
    "fr": "lives_3",
    "de": "lives_4",
    "it": "lives_5",
    "pt": "lives_6",
    "zh": "lives_7",
    "ja": "lives_8",
}
"""The life whose facts are changed in `changes/told`."""
TAKEN = 0.55
"""The share of questions on what did not change, all lines of a life looked at, that another line may stand beside.
Chosen with the counts of `lived` in view: at 0.4 its 482 questions on what did not change got 990 lines instead of
1,083, and of 160 changes 112 were shown instead of 115."""
RIDGE, STEPS = 300.0, 8
"""What draws the weights on a vector to nothing (the best of 30, 100 and 300 on the second table), and steps of
Newton's method."""
CHANGED = 0.3
"""What all lines that change something count for beside all others."""
NAMES = ("alike", "change", "near")
DIGITS = 4


def write_weights() -> None:
    """Fit what tells a change, and write it into the package."""
    save: Any = np.savez_compressed  # typed as if no array could be called anything
    lines = {language: _list_lines(language) for language in LANGUAGES}
    save(PACKAGE / "changes.npz", change=_fit_lines(lines.values()).astype(np.float16))
    load_cards()["changes"] = _make_card(dict.fromkeys((*NAMES, "intercept"), 0.0), math.inf)
    card = _fit_card(lines)
    load_cards()["changes"] = card
    path = PACKAGE / "heads.json"
    cards = {**jsonlib.loads(path.read_text("utf-8")), "changes": card}
    path.write_text(jsonlib.dumps(cards, indent=1, ensure_ascii=False) + "\n", "utf-8")


class Lines(NamedTuple):
    """The vectors of lines and of their sentences, and of each whether its line tells a change, and its weight."""

    rows: Array
    changed: npt.NDArray[np.bool_]
    counts: Array


def _list_lines(language: str) -> Lines:
    rows, labels, counts = list[Array](), list[bool](), list[float]()
    changes = read_rows("told", language)
    lines = [(text, True) for row in changes for text in row["new"]]
    lines += [(text, False) for row in changes for text in row["apart"]]
    lines += [(row["text"], False) for row in life.read(LIVES[language], language)]
    for text, is_change in lines:
        pieces = list(dict.fromkeys([text, *split_units(analyse_text(text, default=language))]))
        rows += embed_each(embed_text, pieces)
        labels += [is_change] * len(pieces)
        counts += [1 / len(pieces)] * len(pieces)
    return Lines(np.array(rows), np.array(labels), np.array(counts))


def _fit_lines(read: Iterable[Lines]) -> Array:
    """The weights that tell a change by the vector of a line, the bias last, by Newton's method."""
    rows, changed, counts = (np.concatenate(part) for part in zip(*read, strict=True))
    counts[changed] *= CHANGED * counts[~changed].sum() / counts[changed].sum()
    rows = np.column_stack([SCALE * rows, np.ones(len(rows))]).astype(np.float64)
    weights, ridge = np.zeros(rows.shape[1]), RIDGE * np.eye(rows.shape[1])
    ridge[-1, -1] = 1.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        hessian = (rows * (counts * chance * (1 - chance))[:, None]).T @ rows + ridge
        weights -= np.linalg.solve(hessian, rows.T @ (counts * (chance - changed)) + ridge @ weights)
    return weights


class Pairs(NamedTuple):
    """What is known of the later lines of a question whose own line answers best, and whether each changes that."""

    features: Array
    changed: npt.NDArray[np.bool_]


def _list_pairs(language: str, tells: Array) -> Iterator[Pairs]:
    """Of each question of a life, with half of what somebody wrote of its changes told after it."""
    facts = life.read(LIVES[language], language)
    told = enumerate(read_rows("told", language))
    changes = {row["id"]: (row["new"][at % 2], row["apart"][at % 2]) for at, row in told}
    later = [(number, text) for number, pair in changes.items() for text in pair]
    lines = dict(enumerate([*(row["text"] for row in facts), *(text for _, text in later)], OLD))
    new = {number: at for at, (number, text) in enumerate(later, OLD + len(facts)) if text == changes[number][0]}
    asks = [(at, row["id"], ask) for at, row in enumerate(facts, OLD) for ask in row["asks"]]
    for (own, number, _), judged in zip(asks, judge_lines(lines, [ask for *_, ask in asks], language), strict=True):
        found = judged.found
        if max(found, key=lambda line: found[line].odds) != own:
            continue
        asked_for = read_direction(found[own])
        parts = {line: describe_change(found[line], asked_for) for line in found if line > own}
        known = {line: each for line, each in parts.items() if each}
        for line, each in known.items():
            answer = found[line].answer
            assert answer is not None  # noqa: S101 else nothing is known of it
            assert answer.vector is not None  # noqa: S101
            each["change"] = float(SCALE * answer.vector @ tells[:-1] + tells[-1])
        if known:
            features = [[*(each[name] for name in NAMES), 1.0] for each in known.values()]
            yield Pairs(np.array(features), np.array([line == new.get(number) for line in known]))


def _fit_card(lines: Mapping[str, Lines]) -> Any:
    """What is known of two lines counts for, and the points."""
    pairs = list[Pairs]()
    for language in LANGUAGES:
        others = [read for name, read in lines.items() if name != language]
        pairs += _list_pairs(language, _fit_lines(others))
    features = np.vstack([pair.features for pair in pairs])
    changed = np.concatenate([pair.changed for pair in pairs])
    weights = logistic(features, changed)
    kept = [float((pair.features @ weights).max()) for pair in pairs if not pair.changed.any()]
    beside = float(np.quantile(kept, 1 - TAKEN))
    found = round(float(((features @ weights)[changed] >= beside).mean()), 3)
    card = _make_card(dict(zip((*NAMES, "intercept"), map(float, weights), strict=True)), beside)
    read = {"lines": len(changed), "changes": int(changed.sum()), "unchanged": len(kept)}
    return card | {"fitted_on": read, "at_points": {"beside": {"finds": found}}}


def _make_card(weights: Mapping[str, float], beside: float) -> Any:
    return {
        "decides": "whether a later line changes the matter of an older one that answers",
        "weights": {name: round(value, DIGITS) for name, value in weights.items()},
        "points": {"beside": round(beside, DIGITS)},
    }
