"""`insula bench forget`: which requests to forget are recognised; `--write` fits `insula.language.forget` first.

It is fitted on requests to forget, each with a dozen matters, and on what is said with the same words and asks no such
thing (`forgetting/`; as people wrote them in `forgetting_said/`), the plainest of both with many facts; and on real and
composed messages, of which none asks it. Each template and each conversation is left out in one of five folds, and the
figures come from the folds in which it was left out.
"""

import json as jsonlib
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.forget import MEANINGS, Meaning
from insula.text.analysis import LANGUAGES, analyse_text
from insula_bench import heads, softmax
from insula_bench.compose import compose
from insula_bench.heads import PACKAGE, Message, Vectors, fold_of, pieces_of
from insula_bench.softmax import Network

Array = npt.NDArray[Any]

FOLDS = 5
COMPOSED = 2_500
"""Messages of each language that are composed."""
EPOCHS = 8
WEIGHS = {"meant": 0.8, "spelled": 0.6}
"""What the log-odds of the network and of the spelling count for."""
TAKEN = 0.0002
"""The share of real messages that may be taken for a request by mistake."""
NEAR = 0.05
"""The share of what people wrote with the same words, and that asks no such thing, that may be: real messages hold few
of them, and an offer that nobody asked for frightens."""
LIKELY = 0.1
"""The same where what is named is stored."""
OFTEN = 4
"""Of the requests that people wrote in a language, so many that hold a term make it one that they are made with."""


class Said(NamedTuple):
    """A message that the network learns from, and what it means."""

    message: Message
    meaning: Meaning


class Fitted(NamedTuple):
    """The network and its weights of n-grams."""

    network: Network
    spelled: Array

    def chances(self, pieces: Sequence[str], vectors: Vectors) -> Array:
        """The chance of each meaning, a row for each piece."""
        read = softmax.spelled_odds([vectors.spelled(one) for one in pieces], self.spelled)
        odds = WEIGHS["meant"] * self.network.odds(vectors.rows(pieces)) + WEIGHS["spelled"] * read
        return softmax.softmax(odds.astype(np.float32))


def run(write: bool, json: bool) -> int:
    """Measure what was left out, and where asked to write what was fitted on all of it."""
    said, vectors = list(learned_from()), Vectors()
    vectors.add(piece for one in said for piece in one.message.pieces)
    left = left_out(said, vectors)
    points = _points(said, left)
    point = points["offer"]
    found = {meaning: _share(said, left, meaning, point) for meaning in MEANINGS} | _taken(said, left, point)
    card = {
        "decides": "whether a message asks to have something forgotten: what it names, what was said before, or all",
        "fitted_on": {"messages": len(said), "real": sum(one.message.is_real for one in said)},
        "points": points,
        "left_out": found,
        "weighs": WEIGHS,
        "asking": {language: asking_terms(language) for language in LANGUAGES},
    }
    if write:
        fitted = _fit(said, vectors)
        arrays = {"hidden": fitted.network.hidden, "out": fitted.network.out, "spelled": fitted.spelled}
        save: Any = np.savez_compressed  # typed as if no array could be called anything
        save(PACKAGE / "forget.npz", **{name: one.astype(np.float16) for name, one in arrays.items()})
        (PACKAGE / "forget.json").write_text(jsonlib.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(jsonlib.dumps(card, indent=2) if json else "\n".join(f"{name}: {share}" for name, share in found.items()))
    return 0


def learned_from() -> list[Said]:
    """The messages that the network learns from."""
    asked = [Said(one, meaning) for one, meaning in heads.forgetting()]
    composed = (
        Message(one.text, pieces_of(one.text, one.language), one.language, False, one.group)
        for one in compose(count=COMPOSED)
    )
    return asked + [Said(one, "none") for one in (*composed, *heads.everyday(), *heads.ordinary())]


def left_out(said: Sequence[Said], vectors: Vectors) -> Array:
    """The chance of each meaning of each message, of its likeliest piece, by a network fitted without its group."""
    folds = np.array([fold_of(one.message.group, FOLDS) for one in said])
    chances = np.zeros((len(said), len(MEANINGS)), np.float32)
    for number in range(FOLDS):
        fitted = _fit([one for one, fold in zip(said, folds, strict=True) if fold != number], vectors)
        for at in map(int, np.flatnonzero(folds == number)):
            rows = fitted.chances(said[at].message.pieces, vectors)
            chances[at] = rows[int(np.argmin(rows[:, 0]))]
    return chances


def _fit(said: Sequence[Said], vectors: Vectors) -> Fitted:
    pieces = [(piece, one.meaning) for one in said for piece in one.message.pieces for _ in range(one.message.times)]
    may = np.array([[one == meaning for one in MEANINGS] for _, meaning in pieces])
    texts = [text for text, _ in pieces]
    network = softmax.fit(vectors.rows(texts), may, EPOCHS)
    return Fitted(network, softmax.fit_spelled([vectors.spelled(text) for text in texts], may))


def asking_terms(language: str) -> list[str]:
    """The terms that requests to forget are made with: of the templates all, of what people wrote those that return."""
    table = jsonlib.loads((files("insula_bench") / "forgetting" / f"{language}.json").read_text("utf-8"))
    templates = [text.format(m="") for kind in ("asks", "plain", "before", "all") for text in table[kind]]
    rows = [row for file, _, row in heads.rows_in("forgetting_said") if file.startswith(language)]
    made = {term for text in templates for term in analyse_text(text, default=language).terms}
    written = [{*analyse_text(row["text"], default=language).terms} for row in rows if row["meaning"] != "none"]
    counts = Counter(chain.from_iterable(written))
    return sorted(made | {term for term, count in counts.items() if count >= OFTEN})


def _points(said: Sequence[Said], left: Array) -> dict[str, float]:
    real = np.array([one.message.is_real for one in said])
    near = np.array(["-others said " in one.message.group for one in said])
    asks = 1 - left[:, 0]
    offer = max(float(np.quantile(asks[real], 1 - TAKEN)), float(np.quantile(asks[near], 1 - NEAR)))
    return {"offer": round(offer, 4), "likely": round(float(np.quantile(asks[near], 1 - LIKELY)), 4)}


def _share(said: Sequence[Said], left: Array, meaning: Meaning, point: float) -> str:
    """How many of a meaning are taken for a request, and how many of these for the right one."""
    within = left[[one.meaning == meaning for one in said]]
    taken = within[1 - within[:, 0] >= point]
    right = int((taken[:, 1:].argmax(1) + 1 == MEANINGS.index(meaning)).sum())
    return f"{len(taken)} of {len(within)}" + (f", {right} of them as that" if meaning != "none" else "")


def _taken(said: Sequence[Said], left: Array, point: float) -> dict[str, str]:
    """How many of the messages that ask no such thing are taken for a request."""
    is_taken = 1 - left[:, 0] >= point
    near = np.array(["-others " in one.message.group for one in said])
    real = np.array([one.message.is_real for one in said])
    return {
        name: f"{int(is_taken[some].sum())} of {int(some.sum())}" for name, some in (("near", near), ("real", real))
    }
