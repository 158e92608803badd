"""Queries that the user's own model predicts: what they are worth, and the scores of lines that have some.

Authors played a strong model: for the conversations of `extract.py`, what people told in four tables of days
(`life.py`), and some lives. They saw what was told alone, and wrote what the same person may ask later (`read/`). The
scores are fitted on three tables of days and on one half of the conversations; the fourth table, the other half and the
lives no fit reads.

    python -m insula_bench.predicted [--write]
"""

import argparse
import asyncio
import json as jsonlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.heads import (
    Vector,
    answer_affinities,
    limit_odds,
    load_cards,
    log_odds,
    predict_chance,
    read_request,
)
from insula.memory.relevance import answer_odds
from insula.memory.retrieval.embedding import embed_text
from insula.metacognition import Metacognition
from insula.metacognition.turn import Turn
from insula.testing import ScriptedModel
from insula.turn.instructions import NONE, is_own_line
from insula_bench import extract, life, readings
from insula_bench.gate import logistic
from insula_bench.heads import NEEDLESS, PACKAGE, TRAVELLERS, everyday

Array = npt.NDArray[np.float64]
Row = dict[str, Any]

TABLES = ("sixteenth", "seventeenth", "twenty_second")
"""Tables of days that no head learned from: what heads say of these is worth what it is anywhere."""
LET_IN = 0.01
"""The share of questions of the world for which lines may be let in."""
KEPT: Mapping[str, float] = {"question": 0.95, "request": 0.85}
"""The share of the authors' queries that are kept: of questions of the world, set beside any statement, some three in a
hundred would be."""
WITHOUT = ("near", "near_affinity", "overlap")
DIGITS = 4


class Asked(NamedTuple):
    """A message after all that was told had been read, and the user's lines that came up for it."""

    kind: str
    """`told`, `untold` or `world`."""
    personal: float
    """The log-odds that only its user can have told what it asks."""
    odds: Array
    """Of each line, the log-odds that it answers by what was told alone."""
    expected: Array
    """Of each line, the cosine of the nearest question that was predicted for it."""
    answers: npt.NDArray[np.bool_]

    def weighed(self, line: Array) -> Array:
        """Of each line, the log-odds that it answers."""
        return line[0] * self.odds + line[1] * self.expected + line[2]

    def features(self, line: Array) -> list[float]:
        """What lets in the line for which that is likeliest, as `insula.turn.gate` weighs it."""
        weighed = self.weighed(line)
        at = int(weighed.argmax())
        return [self.personal, float(weighed[at]), float(self.expected[at]), 1.0]


def main() -> None:
    """Fit the scores, and print or write them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="Write them into the package.")
    card = fit()
    print(jsonlib.dumps(card, indent=1))
    if parser.parse_args().write:
        path = PACKAGE / "heads.json"
        cards = {**jsonlib.loads(path.read_text("utf-8")), "predicted": card}
        path.write_text(jsonlib.dumps(cards, indent=1, ensure_ascii=False) + "\n", "utf-8")


def fit() -> Row:
    """The card of the scores."""
    least = {kind: round(float(np.quantile(one, 1 - KEPT[kind])), DIGITS) for kind, one in _scores().items()}
    load_cards()["predicted"]["least"] = least  # what is read below is kept by it
    asked = asyncio.run(_ask_all())
    told = [one for one in asked if len(one.odds)]
    rows = np.vstack([np.column_stack([one.odds, one.expected, np.ones(len(one.odds))]) for one in told])
    line = logistic(rows, np.concatenate([one.answers for one in told]))
    gate = np.array([one.features(line) for one in told])
    kind = np.array([one.kind for one in told])
    lets = logistic(gate[kind != "untold"], (kind == "told")[kind != "untold"])
    lets[-1] -= float(np.quantile(gate[kind == "world"] @ lets, 1 - LET_IN))
    known = np.isin(kind, ("told", "untold"))
    held = logistic(gate[known][:, [1, 3]], (kind == "told")[known])
    return {
        "line": _named(("odds", "expected", "intercept"), line),
        "limit": _named(("odds", "expected", "intercept"), _fit_limit()),
        "held": _named(("best", "intercept"), held),
        "lines": _named(("personal", "best", "expected", "intercept"), lets),
        "least": least,
        "task": {"least": round(_fit_task(), DIGITS)},
        "takes": {name: round(float((gate[kind == name] @ lets >= 0).mean()), 3) for name in sorted(set(kind))},
    }


def _named(names: Sequence[str], weights: Array) -> dict[str, float]:
    return {name: round(float(value), DIGITS) for name, value in zip(names, weights, strict=True)}


async def _ask_all() -> list[Asked]:
    asked: list[Asked] = []
    for table in TABLES:
        for language in life.languages():
            rows = life.read(table, language)
            async with life.person([row["text"] for row in rows if row["kind"] == "told"]) as (mind, clock):
                await readings.read_told(mind, table, language, rows)
                for row in rows:
                    if row["kind"] in {"world", "personal", "both"}:
                        clock.advance(life.HOUR)
                        kind = "world" if row["kind"] == "world" else "told" if row["told"] else "untold"
                        asked.append(await _ask(mind, row["id"], row["text"], kind, row.get("value") or ()))
    for row, answer in _conversations("1"):
        async with extract.tell(row) as (mind, clock):
            await extract.read_all(mind, ScriptedModel(extract.scripted(row, answer)))
            clock.advance(life.DAY)
            for question in row["questions"]:
                value = [] if question["answer"] is None else [question["answer"]]
                kind = "told" if value else "untold"
                asked.append(await _ask(mind, question["ask"], question["ask"], kind, value))
    return asked


def _conversations(half: str) -> Iterator[tuple[Row, Row]]:
    folder = files("insula_bench") / "extract_data"
    said, answers = (
        [jsonlib.loads(line) for line in (folder / f"{name}_{half}.jsonl").read_text("utf-8").splitlines()]
        for name in ("conversations", "answers")
    )
    by_id = {row["id"]: row["answer"] for row in answers}
    yield from ((row, by_id[row["id"]]) for row in said if row["id"] in by_id)


async def _ask(mind: Metacognition, session: str, text: str, kind: str, value: Sequence[str]) -> Asked:
    turn = mind.turn(life.USER, f"asked {session}", text)
    await turn.before_model()
    own = [one for one in turn.recalled if is_own_line(one) and "expected" in one.parts]
    odds = [answer_odds({name: one.parts.get(name, 0.0) for name in WITHOUT}) for one in own]
    held = [any(each.casefold() in one.memory.content.casefold() for each in value) for one in own]
    expected = [one.parts["expected"] for one in own]
    return Asked(kind, _personal(turn), np.array(odds), np.array(expected), np.array(held, bool))


def _personal(turn: Turn) -> float:
    chance = turn._gate.personal  # pyright: ignore[reportPrivateUsage]
    return NONE if chance is None else log_odds(chance)


def _fit_limit() -> Array:
    """How likely a line limits the answer, of the log-odds without queries and of the nearest predicted request.

    It is moved so that it takes as many questions of the world, and real messages, as may be, at the point from which
    limits are shown.
    """
    rows, labels, world = list[list[float]](), list[bool](), list[list[list[float]]]()
    for table in TABLES:
        for language in life.languages():
            told = {row["id"]: row for row in readings.reading(table, language)}
            for row in life.read(table, language):
                if row["kind"] not in {"world", "shaped"}:
                    continue
                pairs = {number: pair for number, one in told.items() if (pair := _pair_limit(row["text"], one))}
                needs = row.get("needs") or ()
                rows += pairs.values()
                labels += [number in needs for number in pairs]
                if row["kind"] == "world" and pairs and not needs:
                    world.append(list(pairs.values()))  # of each message all its lines
    weights = logistic(np.array(rows), np.array(labels))
    taken = [
        float(np.quantile([max(float(np.array(pair) @ weights) for pair in pairs) for pairs in kind], 1 - LET_IN))
        for kind in (world, list(_pair_real()))
    ]
    weights[-1] += load_cards()["limits"]["points"]["show"] - max(taken)
    return weights


def _fit_task() -> float:
    """The cosine with any of the predicted tasks of all people of a language that few of what is asked reach."""
    tasks: dict[str, list[Vector]] = {}
    asked: dict[str, list[Vector]] = {}
    for row, answer in _conversations("1"):
        language = row["language"]
        wanted = (text for each in answer["preferences"] for text in each["requests"])
        tasks.setdefault(language, []).extend(map(embed_text, wanted))
        asked.setdefault(language, []).extend(embed_text(question["ask"]) for question in row["questions"])
    near = [float((np.array(tasks[name]) @ vector).max()) for name, each in asked.items() for vector in each]
    return float(np.quantile(near, 1 - LET_IN))


def _pair_real() -> Iterator[list[list[float]]]:
    """What is weighed of each real message and of all lines of a life for which requests were predicted."""
    messages = [one for one in everyday() if one.is_real and not one.group.startswith(TRAVELLERS)]
    for language in life.languages():
        told = readings.reading("lives", language)
        texts = [one.text for one in messages if one.language == language]
        for text in texts[:: max(len(texts) // NEEDLESS, 1)][:NEEDLESS]:
            yield [pair for one in told if (pair := _pair_limit(text, one))]


def _pair_limit(text: str, told: Row) -> list[float]:
    """What is weighed of a request and of a line, where a request was predicted for that."""
    requests = [query for each in told["statements"] for query in each["requests"]]
    if not requests:
        return []
    vector = embed_text(text)
    facts = np.array([embed_text(_meaning(each)) for each in told["statements"]])
    odds = float(limit_odds(read_request(text, vector)[None, :], facts).max())
    return [odds, max(float(vector @ embed_text(query)) for query in requests), 1.0]


def _meaning(stated: Mapping[str, str]) -> str:
    return f"{stated['matter']}: {stated['span']}" if stated.get("matter") else stated["span"]


def _scores() -> dict[str, list[float]]:
    """How likely each predicted query needs its own statement, as `memory.relevance.is_needed_for` weighs it."""
    scores: dict[str, list[float]] = {"question": [], "request": []}
    for table in TABLES:
        for language in life.languages():
            for stated in (each for row in readings.reading(table, language) for each in row["statements"]):
                fact = embed_text(_meaning(stated))[None, :]
                for text in stated["questions"]:
                    vector = embed_text(text)
                    near = answer_affinities(read_request(text, vector)[None, :], fact)[0, 0]
                    odds = answer_odds({"near": float(vector @ fact[0]), "near_affinity": float(near)})
                    personal = log_odds(predict_chance("personal", text, vector) or 0.0)
                    scores["question"].append(odds + min(personal, 0.0))
                for text in stated["requests"]:
                    request = read_request(text, embed_text(text))[None, :]
                    scores["request"].append(float(limit_odds(request, fact)[0, 0]))
    return scores


if __name__ == "__main__":
    main()
