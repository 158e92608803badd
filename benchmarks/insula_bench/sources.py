"""`insula bench sources`: under which replies stands where they come from, or that the user told otherwise.

Each row of a table (`sources/`, eight languages, an author each who saw neither code nor other tables) holds what
somebody told, what they ask weeks later, and replies that say the `same` as was told, an `other` value, or `neither`.
What was told is told, the question asked, and each reply finished as a turn of its own.
"""

import asyncio
import json as jsonlib
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from importlib.resources import files
from typing import Any

from insula import Metacognition
from insula.memory.retrieval.embedding import embed_text
from insula.testing import FrozenClock, memory_store
from insula.text.analysis import LANGUAGES

TABLES = (1, 2, 3)
WEEKS = timedelta(days=20)


def run(json: bool, show: bool) -> int:
    """Print how many replies of each kind are called what, and return the exit code."""
    figures: dict[str, dict[str, str]] = {}
    for table in TABLES:
        counts = Counter[str]()
        for language in LANGUAGES:
            for row in _read_rows(table, language):
                for reply, line in zip(row["replies"], asyncio.run(_live(row)), strict=True):
                    kind = reply["states"]
                    counts.update([kind, *([f"{kind}: {_name_line(line)}"] if line else [])])
                    if show and line and (_name_line(line), kind) not in {("source", "same"), ("otherwise", "other")}:
                        print(f"{language} · {row['question']} · {kind}: {reply['text']} · {line}")
        names = sorted(name for name in counts if ":" in name)
        figures[f"table {table}"] = {name: f"{counts[name]} of {counts[name.partition(':')[0]]}" for name in names}
    lines = (f"{table}: {name}: {count}" for table, found in figures.items() for name, count in found.items())
    print(jsonlib.dumps(figures, indent=2) if json else "\n".join(lines))
    return 0


def _read_rows(table: int, language: str) -> Iterator[dict[str, Any]]:
    file = files("insula_bench") / "sources" / f"{language}_{table}.jsonl"
    yield from map(jsonlib.loads, file.read_text("utf-8").splitlines())


async def _live(row: dict[str, Any]) -> list[str]:
    """What stands under each reply of a row."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        for number, text in enumerate(row["told"]):
            await mind.observe("user", f"told {number}", text)
        clock.advance(WEEKS.total_seconds())
        lines = list[str]()
        for number, reply in enumerate(row["replies"]):
            async with mind.turn("user", f"asked {number}", row["question"]) as turn:
                verdict = turn.finish(reply["text"]).verdict
            lines += [next((said.text for said in verdict.said if _name_line(said.text)), "") if verdict else ""]
        return lines


def _name_line(line: str) -> str:
    if line.startswith("From what you told me"):
        return "source"
    return "otherwise" if line.startswith("You told me otherwise") else ""
