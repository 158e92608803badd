"""`insula bench word --fit`: fit the three heads of the user's word on composed sentences and write their weights.

What is reported comes from templates that the fit did not see: each template is left out in one of five folds.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from insula.coding.step.instructions import heads
from insula.coding.step.instructions.clauses import split_prose
from insula_bench.word_compose import FOLDER, LANGUAGES, Said, compose, read

PACKAGE = Path(__file__).parents[2] / "src" / "insula" / "coding" / "step" / "instructions"
EACH = {"prompt": 150, "report": 40, "demand": 40}
EPOCHS = 3
BATCH = 256
RATE = 0.5
DECAY = 2e-6
FOLDS = 5
NEITHER = ""
"""What ordinary prose means: none of what rules something out or takes it back; which of the others is not said."""
RULING = frozenset(("ban", "only", "how", "lift"))
ORDINARY = 0.3
"""What a clause of ordinary prose counts, next to a composed one."""
REPOSITORY = Path(__file__).parents[2]

Array = npt.NDArray[Any]


def fit(name: str, write: bool) -> dict[str, Any]:
    """Fit a head; its figures on templates that were left out.

    Args:
        name: `prompt` or `report`.
        write: whether its weights go into the package.
    """
    said = list(compose(EACH[name], classes=tuple(_sections(name))))
    if name == "prompt":
        demands = (f"demand {one}" for one in heads.DEMAND if one != "other")
        said += [one._replace(means="request") for one in compose(EACH["demand"], classes=tuple(demands))]
    said = list({(one.text, one.means): one for one in said}.values())
    if name == "prompt":
        said += [Said(text, NEITHER, "", text) for text in ordinary()]
    form = forms(name)
    flat, starts = _features(name, said, form)
    classes = heads.CLASSES[name]
    labels = np.array([classes.index(one.means.removeprefix(f"{name} ")) if one.means else -1 for one in said])
    folds = np.array([zlib.crc32(f"{one.language}{one.template}".encode()) % FOLDS for one in said])
    left_out = (folds == 0) & (labels >= 0)
    weights = _train(name, flat, starts, labels, np.flatnonzero(folds > 0))
    guessed = _predict(name, weights, flat, starts, np.flatnonzero(left_out))
    report = _figures(name, labels[left_out], guessed, [said[at] for at in np.flatnonzero(left_out)])
    if write:
        weights = _train(name, flat, starts, labels, np.arange(len(said)))
        data = np.clip(np.round(weights / heads.SCALE), -127, 127).astype(np.int8).tobytes()
        (PACKAGE / f"{name}.bin").write_bytes(zlib.compress(bytes(form) + data, 9))
    return report


def ordinary() -> list[str]:
    """Clauses of prose in which nothing is ruled out: what people ask of assistants, the docs of this repository."""
    messages = [
        json.loads(line)["messages"] for line in (Path(__file__).parent / "everyday.jsonl").open(encoding="utf-8")
    ]
    texts = [text for one in messages for text in one][:6_000]
    docs = [path.read_text("utf-8") for path in sorted((REPOSITORY / "docs").rglob("*.md"))]
    docs += [path.read_text("utf-8") for path in sorted((REPOSITORY / "src" / "insula").rglob("*.py"))]
    found = [clause for text in texts for clause in split_prose(text)]
    found += [
        piece.strip()
        for text in docs
        for line in re.findall(r"[A-Z][^\n`\"#=(){}|]{20,200}[.:;]", text)
        for piece in re.split(r"[,;:]\s+|\.\s", line)
    ]
    kept = [one for one in dict.fromkeys(found) if 8 <= len(one) <= heads.LONGEST]
    return [one for one in kept if zlib.crc32(one.encode()) % 5 < 3 or not one.isascii()]


def forms(name: str) -> bytearray:
    """A bit for each word that templates have outside their slots: those say how something is said."""
    bits = bytearray(heads.WORDS >> 3)
    formal = {*_sections(name), *_FORMAL}
    for language in LANGUAGES:
        sections = read(FOLDER / f"{language}.txt")
        for means, lines in sections.items():
            if means not in formal:
                continue
            for line in lines:
                for word in re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", re.sub(r"\{\w+\}", " ", line.lower())):
                    for each in {word, word.replace("'", "")}:
                        bit = zlib.crc32(each.encode()) & (heads.WORDS - 1)
                        bits[bit >> 3] |= 1 << (bit & 7)
    return bits


def _sections(name: str) -> list[str]:
    """The sections of templates that a head is fitted on."""
    return [one if name == "prompt" else f"{name} {one}" for one in heads.CLASSES[name]]


_FORMAL = {"slot PRE", "slot POST", "slot RPRE", "slot END"}


def _features(name: str, said: Sequence[Said], form: bytearray) -> tuple[Array, Array]:
    masked = [heads.mask_text(one.text) for one in said]
    rows = [heads.list_features(one, heads.split_tokens(one, form), heads.BUCKETS[name]) for one in masked]
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    return np.fromiter((bucket for row in rows for bucket in row), np.int32, int(starts[-1])), starts


def _train(name: str, flat: Array, starts: Array, labels: Array, chosen: Array) -> Array:
    """Softmax regression by Adagrad; a feature of a sentence counts one over the root of how many it has."""
    width = len(heads.CLASSES[name])
    weights = np.zeros((heads.BUCKETS[name], width), np.float32)
    squares = np.full((heads.BUCKETS[name], width), 1e-4, np.float32)
    counts = np.bincount(labels[chosen][labels[chosen] >= 0], minlength=width)
    balance = np.append(np.sqrt(counts.mean() / np.maximum(1, counts)), ORDINARY).astype(np.float32)
    open_to = np.array([one not in RULING for one in heads.CLASSES[name]])
    order = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for batch in np.array_split(order.permutation(chosen), max(1, len(chosen) // BATCH)):
            places, rows, sizes = _rows(flat, starts, batch, order)
            share = 1 / np.sqrt(np.maximum(1, sizes))
            edges = np.searchsorted(rows, np.arange(len(batch)))
            scores = np.add.reduceat(weights[places], edges) * share[:, None]
            chances = np.exp(scores - scores.max(1, keepdims=True))
            chances /= chances.sum(1, keepdims=True)
            known = labels[batch] >= 0
            chances[np.flatnonzero(known), labels[batch][known]] -= 1
            rest = chances[~known] * open_to
            chances[~known] -= rest / np.maximum(1e-9, rest.sum(1, keepdims=True))
            chances *= balance[labels[batch]][:, None]
            sorted_at = np.argsort(places, kind="stable")
            unique, edges = np.unique(places[sorted_at], return_index=True)
            gradient = np.add.reduceat((chances * share[:, None])[rows[sorted_at]], edges)
            gradient = gradient / len(batch) * 32 + DECAY * weights[unique]
            squares[unique] += gradient**2
            weights[unique] -= RATE * gradient / np.sqrt(squares[unique])
    return weights


def _rows(flat: Array, starts: Array, batch: Array, order: np.random.Generator | None) -> tuple[Array, Array, Array]:
    sizes = starts[batch + 1] - starts[batch]
    rows = np.repeat(np.arange(len(batch)), sizes)
    offsets: Array = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = flat[np.repeat(starts[batch], sizes) + offsets]
    if order is not None:  # a tenth of the features is hidden, so that no phrase alone decides
        kept = order.random(len(places)) > 0.1
        return places[kept], rows[kept], sizes
    return places, rows, sizes


def _predict(name: str, weights: Array, flat: Array, starts: Array, chosen: Array) -> Array:
    guessed: list[Array] = []
    for batch in np.array_split(chosen, max(1, len(chosen) // 4096)):
        places, rows, _sizes = _rows(flat, starts, batch, None)
        edges = np.searchsorted(rows, np.arange(len(batch)))
        guessed.append(np.add.reduceat(weights[places], edges).argmax(1))
    return np.concatenate(guessed)


def _figures(name: str, labels: Array, guessed: Array, said: Sequence[Said]) -> dict[str, Any]:
    classes = heads.CLASSES[name]
    truly, taken = [classes[int(label)] for label in labels], [classes[int(guess)] for guess in guessed]
    wrong = Counter(
        (one.language, label, guess, one.template)
        for one, label, guess in zip(said, truly, taken, strict=True)
        if label != guess
    )
    spoken = np.array([one.language for one in said])
    by_language = {
        language: round(float((labels == guessed)[spoken == language].mean()), 3)
        for language in dict.fromkeys(one.language for one in said)
    }
    return {
        "sentences": len(said),
        "right": round(float((labels == guessed).mean()), 3),
        "by_language": by_language,
        "by_class": {
            each: {
                "recall": round(float((guessed[labels == at] == at).mean()), 3),
                "precision": round(float((labels[guessed == at] == at).mean()), 3),
            }
            for at, each in enumerate(classes)
        },
        "wrong": [(*key, count) for key, count in wrong.most_common(60)],
    }
