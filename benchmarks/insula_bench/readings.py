"""What a good reader takes from what the people of `life/` told: it stands in for the user's own model.

Other authors wrote it (`read/`), who saw what was told alone: each statement in the user's words, with what the same
person may ask later.
"""

import json as jsonlib
from importlib.resources import files
from typing import Any

from insula.metacognition import Metacognition
from insula.testing import ScriptedModel
from insula_bench import extract

Row = dict[str, Any]


def reading(table: str, language: str) -> list[Row]:
    """What was read in what a person of a table told; none where nobody has read it."""
    file = files("insula_bench") / "read" / table / f"{language}.jsonl"
    return [jsonlib.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []


async def read_told(mind: Metacognition, table: str, language: str, told: list[Row]) -> None:
    """Let it be read, once all of it was told."""
    texts = {row["id"]: row["text"] for row in told}
    read = [row for row in reading(table, language) if row["id"] in texts]
    said = {"lines": [{"n": number, "text": texts[row["id"]]} for number, row in enumerate(read)]}
    stated = [{"line": number, **each} for number, row in enumerate(read) for each in row["statements"]]
    await extract.read_all(mind, ScriptedModel(extract.scripted(said, {"statements": stated})))


async def read_said(mind: Metacognition, row: Row) -> None:
    """Let a message be read whose facts a table knows: a question of the world has none."""
    known: list[Row] = row["facts"] if row["kind"] == "statement" else []
    stated: list[Row] = [
        {"line": 0, "span": fact["span"], "owner": "speaker" if fact["owner"] == "user" else fact["owner"]}
        for fact in known
    ]
    said = {"lines": [{"n": 0, "text": row["text"]}]}
    await extract.read_all(mind, ScriptedModel(extract.scripted(said, {"statements": stated})))


FACTS_KNOWN = frozenset({"world", "statement", "no_statement"})
"""Kinds of messages of which the tables know what facts they tell."""
