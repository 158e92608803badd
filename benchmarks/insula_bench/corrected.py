"""`insula bench corrected`: whether it is told what sets an answer right; `--write` fits `insula.language.corrected`.

It is fitted on what people say after an answer from memory (`corrected/`, eight languages): sixty messages that give
the right value, and sixty that do not. The figures are of languages that were left out, one by one. The point is where
a share of what sets nothing right is taken. Then two hundred of each kind by another author (`short/corrections_*`),
which no fit reads, are lived: told, asked, answered, set right, and asked again in a new session.
"""

import asyncio
import json as jsonlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from insula import Metacognition, Turn
from insula.language.corrected import NAMES, Answered, describe_correction
from insula.memory.retrieval.embedding import embed_all, embed_text
from insula.testing import memory_store
from insula.text.analysis import LANGUAGES
from insula_bench.gate import logistic
from insula_bench.heads import PACKAGE
from insula_bench.short import read_rows

Array = npt.NDArray[Any]
TAKEN = 0.02
"""The share of what sets nothing right that may be kept as a right answer."""
DIGITS = 4
KEPT = "corrects the answer to"


def run(write: bool, json: bool) -> int:
    """Print what was told and what was shown, and where asked to write the weights first."""
    figures = _fit_weights(write)
    figures |= asyncio.run(_live_rows())
    lines = (f"{name}: {value}" for name, value in figures.items())
    print(jsonlib.dumps(figures, indent=2) if json else "\n".join(lines))
    return 0


def _fit_weights(write: bool) -> dict[str, str]:
    known, labels = dict[str, Array](), dict[str, npt.NDArray[np.bool_]]()
    for language in LANGUAGES:
        rows = _read_rows(language)
        known[language] = np.array([*_describe_rows(rows)])
        labels[language] = np.array([row["corrects"] for row in rows])
    odds, truth = list[Array](), list[Array]()
    for left in LANGUAGES:
        others = [language for language in LANGUAGES if language != left]
        weights = _fit([known[each] for each in others], [labels[each] for each in others])
        odds.append(known[left] @ weights)
        truth.append(labels[left])
    found, right = np.concatenate(odds), np.concatenate(truth)
    point = float(np.quantile(found[~right], 1 - TAKEN))
    if write:
        weights = _fit([*known.values()], [*labels.values()])
        card = {
            "decides": "whether what a user says after an answer from memory sets it right",
            "weights": {
                name: round(float(value), DIGITS) for name, value in zip((*NAMES, "intercept"), weights, strict=True)
            },
            "points": {"keep": round(point, DIGITS)},
        }
        text = jsonlib.dumps(card, indent=1, ensure_ascii=False)
        (PACKAGE / "corrected.json").write_text(f"{text}\n", "utf-8")
    return {
        "left out: told that it sets the answer right": f"{int((found[right] >= point).sum())} of {int(right.sum())}",
        "left out: taken for it": f"{int((found[~right] >= point).sum())} of {int((~right).sum())}",
    }


def _fit(known: Sequence[Array], labels: Sequence[npt.NDArray[np.bool_]]) -> Array:
    return logistic(np.vstack(known), np.concatenate(labels))


def _describe_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, ...]]:
    said = [Answered(row["question"], row["answer"], row["next"]) for row in rows]
    vectors = embed_all(embed_text, [text for each in said for text in each.texts])
    for each in said:
        yield (*describe_correction(each, vectors), 1.0)


def _read_rows(language: str) -> list[Mapping[str, Any]]:
    path = files("insula_bench") / "corrected" / f"{language}.jsonl"
    return [jsonlib.loads(line) for line in path.read_text("utf-8").splitlines()]


async def _live_rows() -> dict[str, str]:
    counts = Counter[str]()
    for language in LANGUAGES:
        for row in read_rows("corrections", language):
            kind = "sets right" if row["corrects"] else "sets nothing right"
            counts[kind] += 1
            counts.update(f"{kind}: {what}" for what in await _live_row(row))
    return {name: f"{counts[name]} of {counts[name.partition(':')[0]]}" for name in sorted(counts) if ":" in name}


async def _live_row(row: Mapping[str, Any]) -> list[str]:
    """What became of one: kept with its question, and what stands before the model when it is asked again."""
    async with memory_store() as store:
        mind = Metacognition(store, holdout=0.0)

        async def say(session: str, message: str, reply: str = "OK.") -> Turn:
            async with mind.turn("ana", session, message) as turn:
                turn.finish(reply)
            return turn

        await say("told", row["told"])
        await say("asked", row["question"], row["answer"])
        kept = KEPT in (await say("asked", row["next"])).told
        found = ["kept with the question"] if kept else []
        for name, question in (("asked again", row["question"]), ("asked in other words", row["again"])):
            lines = [line for line in (await say(name, question)).instructions.splitlines() if line.startswith("- ")]
            new = next((at for at, line in enumerate(lines) if row["next"][:25] in line), None)
            old = next((at for at, line in enumerate(lines) if row["told"][:25] in line), None)
            if new is not None:
                found.append(f"{name}, shown")
                found += [f"{name}, before the old line"] if old is None or new < old else []
            elif old is not None:
                found.append(f"{name}, the old line alone")
        return found
