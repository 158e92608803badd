"""`insula bench replies`: what is told of a sentence of a reply; `--write` fits `insula.language.replies` first.

It is fitted on sentences that stand in place of an answer, on others that use the same words and answer, and on plain
ones (`replies/`, eight languages, templates with a dozen matters), with what people tell of their lives and ask of the
world. Each template is left out in one of five folds, in all languages together, since they may be translations; the
figures come from the folds in which it was left out.
"""

import json as jsonlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.replies import MEANINGS, Meaning
from insula_bench import softmax
from insula_bench.heads import PACKAGE, Vectors, fold_of, pack_weights, rows_in
from insula_bench.softmax import Network

Array = npt.NDArray[Any]

FOLDS = 5
EPOCHS = 25
MATTERS = 8
"""Sentences that are made of a template."""
SLOTS = ("w", "d", "n")
"""What is filled in: a question, a deed, a thing."""
TAKEN = 0.0025
"""The share of ordinary sentences that may be taken for one in place of an answer."""
NEAR, PLAIN, LIFE = "near", "plain", "life"
ORDINARY = (PLAIN, LIFE)
"""Kinds of sentences by which the point is set."""


class Sentence(NamedTuple):
    """A sentence that the network learns from."""

    text: str
    kind: str
    meaning: Meaning
    group: str
    language: str


def run(write: bool) -> int:
    """Measure what was left out, and where asked to write what was fitted on all of it."""
    learned, vectors = list(learned_from()), Vectors()
    vectors.add(one.text for one in learned)
    left = left_out(learned, vectors)
    point = float(np.quantile(1 - left[[one.kind in ORDINARY for one in learned], 0], 1 - TAKEN))
    card = {
        "decides": "what a sentence of a reply says in place of an answer: not known, not told, refused, or may I help",
        "fitted_on": {"sentences": len(learned), "meant": sum(one.meaning != "none" for one in learned)},
        "points": {"said": round(point, 4)},
        "left_out": measure(learned, left, point),
    }
    if write:
        network = _fit(learned, vectors)
        save: Any = np.savez_compressed  # typed as if no array could be called anything
        save(PACKAGE / "replies.npz", **pack_weights({"hidden": network.hidden, "out": network.out}))
        (PACKAGE / "replies.json").write_text(jsonlib.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(jsonlib.dumps(card, indent=1, ensure_ascii=False))
    return 0


def learned_from() -> Iterator[Sentence]:
    """The sentences that the network learns from."""
    yield from _written()
    for folder, kind in (("life/lives", LIFE), ("ordinary", "asked")):
        for file, number, row in rows_in(folder):
            yield Sentence(row["text"], kind, "none", f"{kind} {row.get('group', number)}", file[:2])


def _written() -> Iterator[Sentence]:
    for file in sorted((files("insula_bench") / "replies").iterdir(), key=lambda one: one.name):
        rows = [jsonlib.loads(line) for line in file.read_text("utf-8").splitlines()]
        kinds: dict[str, list[str]] = {}
        for row in rows:
            kinds.setdefault(row["kind"], []).append(row["text"])
        for kind, templates in kinds.items():
            for number, template in enumerate(templates if kind not in SLOTS else ()):
                filled = (_fill(template, kinds, 5 * number + each) for each in range(MATTERS))
                for text in dict.fromkeys(filled):
                    yield Sentence(text, kind, _meaning_of(kind), f"{kind} {number}", file.name[:2])


def _fill(template: str, kinds: dict[str, list[str]], at: int) -> str:
    """A template with matters in its slots; those of capitals begin with one."""
    some = {slot: kinds[slot][at % len(kinds[slot])] for slot in SLOTS}
    return template.format(**some, **{slot.upper(): text[:1].upper() + text[1:] for slot, text in some.items()})


def _meaning_of(kind: str) -> Meaning:
    return MEANINGS[MEANINGS.index(kind)] if kind in MEANINGS else "none"


def left_out(learned: Sequence[Sentence], vectors: Vectors) -> Array:
    """The chance of each meaning of each sentence, by a network fitted without its group."""
    folds = np.array([fold_of(one.group, FOLDS) for one in learned])
    chances = np.zeros((len(learned), len(MEANINGS)), np.float32)
    for number in range(FOLDS):
        network = _fit([one for one, fold in zip(learned, folds, strict=True) if fold != number], vectors)
        out = np.flatnonzero(folds == number)
        chances[out] = softmax.softmax(network.odds(_rows([learned[at] for at in map(int, out)], vectors)))
    return chances


def _fit(learned: Sequence[Sentence], vectors: Vectors) -> Network:
    may = np.array([[one.meaning == meaning for meaning in MEANINGS] for one in learned])
    return softmax.fit(_rows(learned, vectors), may, EPOCHS)


def _rows(learned: Sequence[Sentence], vectors: Vectors) -> Array:
    return vectors.wide_rows([one.text for one in learned]).astype(np.float32)


def measure(learned: Sequence[Sentence], left: Array, point: float) -> dict[str, dict[str, str]]:
    """By language and in all: of each kind how many are taken, and of those in place of an answer how many for that."""
    taken, said = 1 - left[:, 0] >= point, left[:, 1:].argmax(1) + 1
    right = said == np.array([MEANINGS.index(one.meaning) for one in learned])
    found: dict[str, dict[str, str]] = {}
    for language in ("all", *sorted({one.language for one in learned})):
        for kind in dict.fromkeys(one.kind for one in learned):
            some = np.array([one.kind == kind and language in ("all", one.language) for one in learned])
            as_that = f", {int((taken & right & some).sum())} as that" if _meaning_of(kind) != "none" else ""
            found.setdefault(language, {})[kind] = f"{int((taken & some).sum())} of {int(some.sum())}{as_that}"
    return found
