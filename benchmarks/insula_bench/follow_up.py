"""`insula bench follow-up`: whether it is told what answers the user's own question; `--write` fits it first.

`insula.language.follow_up` is fitted on what people say after an answer from memory, and after one that it is not known
(`follow_up_said/`, eight languages): sixty and thirty messages that give the right value, and as many that do not; and
on two for each that tell of another matter, mostly of a change (`changes/`). The figures are of languages that were
left out, one by one. The points are where a share of what gives no answer is taken.
Then rows by other authors (`short/corrections_*`, `short/untold_*`), which no fit reads, are lived: told, asked,
answered, set right, and asked again in a new session; or asked, not known, told, and asked again; and each with a line
on another matter instead (`short/facts_*`).
"""

import asyncio
import json as jsonlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from insula import Metacognition, Turn
from insula.language.follow_up import NAMES, Decision, FollowUp, Score, describe_follow_up
from insula.language.heads import ScoreCard
from insula.memory.retrieval.embedding import embed_all, embed_text
from insula.metacognition.hearing import ASKED_CHARS
from insula.testing import memory_store
from insula.text.analysis import LANGUAGES
from insula_bench.gate import logistic
from insula_bench.heads import PACKAGE
from insula_bench.short import read_rows

Array = npt.NDArray[Any]
CHANGES = ("first", "second", "told")
STEP = 7
"""From one line on another matter to the next, so that neighbours are of several people."""
TAKEN: Mapping[Decision, float] = {"corrects": 0.02, "tells": 0.05}
"""The share of what gives no answer, on the same matter, that may be kept as one: of what was not known no old line
stands behind it."""
OTHER_TAKEN = 0.04
"""The share of messages on another matter that may be."""
OTHERS = 2
"""Messages on another matter beside each row."""
NEAR, GIVES, OTHER = range(3)
"""What a message is: on the same matter and no answer, the answer, or on another matter."""
FIRST = NAMES[:4]
"""What the first regression weighs; the second weighs all."""
DIGITS = 4
DECISIONS: Mapping[Decision, Mapping[Score, str]] = {
    "corrects": {
        "corrects": "whether what a user says after an answer from memory sets it right",
        "corrects_here": "whether it speaks of that, and of no other matter",
    },
    "tells": {
        "tells": "whether what a user says after an answer that it is not known tells it",
        "tells_here": "whether it speaks of that, and of no other matter",
    },
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
        cards = {score: card for found, _ in fitted.values() for score, card in found.items()}
        text = jsonlib.dumps(cards, indent=1, ensure_ascii=False)
        (PACKAGE / "follow_up.json").write_text(f"{text}\n", "utf-8")
    figures = {name: figure for _, found in fitted.values() for name, figure in found.items()}
    figures |= asyncio.run(_live_rows())
    lines = (f"{name}: {value}" for name, value in figures.items())
    print(jsonlib.dumps(figures, indent=2) if json else "\n".join(lines))
    return 0


def _fit_decision(decision: Decision) -> tuple[dict[str, ScoreCard], dict[str, str]]:
    """The cards of both regressions, and their figures of languages that were left out."""
    near = {language: _read_rows(decision, language) for language in LANGUAGES}
    others = {
        language: [row for number, each in enumerate(rows) for row in _list_others(each, language, number)]
        for language, rows in near.items()
    }
    known = {language: _describe_rows([*near[language], *others[language]], decision) for language in LANGUAGES}
    groups = {
        language: np.array([int(row["corrects"]) for row in near[language]] + [OTHER] * len(others[language]))
        for language in LANGUAGES
    }
    odds = np.vstack(
        [
            _weigh(
                known[left],
                _fit(
                    [known[each] for each in LANGUAGES if each != left],
                    [groups[each] for each in LANGUAGES if each != left],
                ),
            )
            for left in LANGUAGES
        ]
    )
    group = np.concatenate([*groups.values()])
    share = TAKEN[decision]
    points = (
        float(np.quantile(odds[group == NEAR, 0], 1 - share)),
        float(np.quantile(odds[group == OTHER, 1], 1 - OTHER_TAKEN)),
    )
    weights = _fit([*known.values()], [*groups.values()])
    names = (FIRST, NAMES)
    cards: dict[str, ScoreCard] = {
        score: {
            "decides": decides,
            "weights": {
                name: round(float(value), DIGITS)
                for name, value in zip((*names[at], "intercept"), weights[at], strict=True)
            },
            "points": {"keep": round(points[at], DIGITS)},
        }
        for at, (score, decides) in enumerate(DECISIONS[decision].items())
    }
    kept = np.all(odds >= points, axis=1)
    shown = (("heard", GIVES), ("taken for it", NEAR), ("another matter taken for it", OTHER))
    return cards, {
        f"{decision}, left out: {name}": f"{np.count_nonzero(kept[group == some])} of {np.count_nonzero(group == some)}"
        for name, some in shown
    }


def _fit(known: Sequence[Array], groups: Sequence[Array]) -> tuple[Array, Array]:
    """The weights of both regressions: of what gives the answer against what is near it, and against other matters."""
    read, group = np.vstack(known), np.concatenate(groups)
    first, second = group != OTHER, group != NEAR
    return (
        logistic(_with_one(read[first][:, : len(FIRST)]), group[first] == GIVES),
        logistic(_with_one(read[second]), group[second] == GIVES),
    )


def _weigh(known: Array, weights: tuple[Array, Array]) -> Array:
    """The log-odds of both regressions, a column for each."""
    return np.stack([_with_one(known[:, : len(FIRST)]) @ weights[0], _with_one(known) @ weights[1]], axis=1)


def _with_one(known: Array) -> Array:
    return np.hstack([known, np.ones((len(known), 1))])


def _describe_rows(rows: Sequence[Mapping[str, Any]], decision: Decision) -> Array:
    said = [FollowUp(row["question"], row["answer"], row["next"], decision == "corrects") for row in rows]
    vectors = embed_all(embed_text, [text for each in said for text in each.texts])
    return np.array([describe_follow_up(each, vectors) for each in said])


def _list_others(row: Mapping[str, Any], language: str, number: int) -> list[dict[str, Any]]:
    """The same question and answer, before messages on another matter."""
    lines = _list_changes(language)
    return [{**row, "next": lines[(OTHERS * number + each) * STEP % len(lines)]} for each in range(OTHERS)]


@cache
def _list_changes(language: str) -> list[str]:
    """What tells of a change, and what stands near it, of people whose questions the rows do not ask."""
    lines = list[str]()
    for folder in CHANGES:
        path = files("insula_bench") / "changes" / folder / f"{language}.jsonl"
        for row in map(jsonlib.loads, path.read_text("utf-8").splitlines()):
            new = row["new"]
            lines += [*([new] if isinstance(new, str) else new), *row["apart"]]
    return [line for line in lines if len(line) <= ASKED_CHARS]


def _read_rows(decision: Decision, language: str) -> list[Mapping[str, Any]]:
    path = files("insula_bench") / "follow_up_said" / decision / f"{language}.jsonl"
    return [jsonlib.loads(line) for line in path.read_text("utf-8").splitlines()]


async def _live_rows() -> dict[str, str]:
    counts = Counter[str]()
    for table, (right, other) in TABLES.items():
        for language in LANGUAGES:
            told = [row["text"] for row in read_rows("facts", language) if row["kind"] == "statement"]
            for number, row in enumerate(read_rows(table, language)):
                kind = right if row["corrects"] else other
                counts[kind] += 1
                counts.update(f"{kind}: {what}" for what in await _live_row(row))
                counts[f"{right}, another matter"] += 1
                is_kept = await _is_kept({**row, "next": told[number % len(told)]})
                counts[f"{right}, another matter: kept with the question"] += is_kept
    return {name: f"{counts[name]} of {counts[name.partition(':')[0]]}" for name in sorted(counts) if ":" in name}


async def _is_kept(row: Mapping[str, Any]) -> bool:
    async with memory_store() as store:
        mind = Metacognition(store, holdout=0.0)
        for message, reply in ((row["question"], row["answer"]), (row["next"], "OK.")):
            async with mind.turn("ana", "asked", message) as turn:
                turn.finish(reply)
        return row["question"] in turn.told


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
