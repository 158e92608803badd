"""`insula bench follow-up`: whether it is told what answers the user's own question; `--write` fits it first.

`insula.language.follow_up` is fitted on what people say after an answer from memory, and after one that it is not known
(`follow_up_said/`, eight languages): sixty and thirty messages that give the right value, and as many that do not. The
figures are of languages that were left out, one by one. The points are where a share of what gives no answer is taken.
Then rows by other authors (`short/corrections_*`, `short/untold_*`), which no fit reads, are lived: told, asked,
answered, set right, and asked again in a new session; or asked, not known, told, and asked again.
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
from insula.language.follow_up import NAMES, Decision, FollowUp, describe_follow_up
from insula.language.heads import ScoreCard
from insula.memory.retrieval.embedding import embed_all, embed_text
from insula.testing import memory_store
from insula.text.analysis import LANGUAGES
from insula_bench.gate import logistic
from insula_bench.heads import PACKAGE
from insula_bench.short import read_rows

Array = npt.NDArray[Any]
TAKEN: Mapping[Decision, float] = {"corrects": 0.02, "tells": 0.05}
"""The share of what gives no answer that may be kept as one: of what was not known no old line stands behind it."""
DIGITS = 4
DECISIONS: Mapping[Decision, str] = {
    "corrects": "whether what a user says after an answer from memory sets it right",
    "tells": "whether what a user says after an answer that it is not known tells it",
}
TABLES: Mapping[str, tuple[str, str]] = {
    "corrections": ("sets right", "sets nothing right"),
    "untold": ("tells", "tells nothing"),
}
"""What the rows of a table are called, by whether they give the right value."""


def run(write: bool, json: bool) -> int:
    """Print what was told and what was shown, and where asked to write the weights first."""
    fitted = {decision: _fit_decision(decision) for decision in DECISIONS}
    if write:
        cards = {decision: card for decision, (card, _) in fitted.items()}
        text = jsonlib.dumps(cards, indent=1, ensure_ascii=False)
        (PACKAGE / "follow_up.json").write_text(f"{text}\n", "utf-8")
    figures = {name: figure for _, found in fitted.values() for name, figure in found.items()}
    figures |= asyncio.run(_live_rows())
    lines = (f"{name}: {value}" for name, value in figures.items())
    print(jsonlib.dumps(figures, indent=2) if json else "\n".join(lines))
    return 0


def _fit_decision(decision: Decision) -> tuple[ScoreCard, dict[str, str]]:
    """The card of a regression, and its figures of languages that were left out."""
    known, labels = dict[str, Array](), dict[str, npt.NDArray[np.bool_]]()
    for language in LANGUAGES:
        rows = _read_rows(decision, language)
        known[language] = np.array([*_describe_rows(rows, was_known=decision == "corrects")])
        labels[language] = np.array([row["corrects"] for row in rows])
    odds, truth = list[Array](), list[Array]()
    for left in LANGUAGES:
        others = [language for language in LANGUAGES if language != left]
        weights = _fit([known[each] for each in others], [labels[each] for each in others])
        odds.append(known[left] @ weights)
        truth.append(labels[left])
    found, right = np.concatenate(odds), np.concatenate(truth)
    point = float(np.quantile(found[~right], 1 - TAKEN[decision]))
    weights = zip((*NAMES, "intercept"), _fit([*known.values()], [*labels.values()]), strict=True)
    card: ScoreCard = {
        "decides": DECISIONS[decision],
        "weights": {name: round(float(value), DIGITS) for name, value in weights},
        "points": {"keep": round(point, DIGITS)},
    }
    return card, {
        f"{decision}, left out: heard": f"{int((found[right] >= point).sum())} of {int(right.sum())}",
        f"{decision}, left out: taken for it": f"{int((found[~right] >= point).sum())} of {int((~right).sum())}",
    }


def _fit(known: Sequence[Array], labels: Sequence[npt.NDArray[np.bool_]]) -> Array:
    return logistic(np.vstack(known), np.concatenate(labels))


def _describe_rows(rows: Sequence[Mapping[str, Any]], *, was_known: bool) -> Iterator[tuple[float, ...]]:
    said = [FollowUp(row["question"], row["answer"], row["next"], was_known) for row in rows]
    vectors = embed_all(embed_text, [text for each in said for text in each.texts])
    for each in said:
        yield (*describe_follow_up(each, vectors), 1.0)


def _read_rows(decision: Decision, language: str) -> list[Mapping[str, Any]]:
    path = files("insula_bench") / "follow_up_said" / decision / f"{language}.jsonl"
    return [jsonlib.loads(line) for line in path.read_text("utf-8").splitlines()]


async def _live_rows() -> dict[str, str]:
    counts = Counter[str]()
    for table, (right, other) in TABLES.items():
        for row in (row for language in LANGUAGES for row in read_rows(table, language)):
            kind = right if row["corrects"] else other
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

        if before := row.get("told", ""):
            await say("told", before)
        await say("asked", row["question"], row["answer"])
        kept = row["question"] in (await say("asked", row["next"])).told
        found = ["kept with the question"] if kept else []
        for name, question in (("asked again", row["question"]), ("asked in other words", row["again"])):
            turn = await say(name, question)
            lines = [line for line in turn.instructions.splitlines() if line.startswith("- ")]
            new = next((at for at, line in enumerate(lines) if row["next"][:25] in line), None)
            old = next((at for at, line in enumerate(lines) if before and before[:25] in line), None)
            if new is not None:
                found.append(f"{name}, shown")
                found += [f"{name}, before the old line"] if before and (old is None or new < old) else []
            elif old is not None:
                found.append(f"{name}, the old line alone")
            elif turn.personal and not lines:
                found.append(f"{name}, said to be untold")
        return found
