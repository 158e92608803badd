"""`insula bench wishes`: how many wishes are heard by words alone and with their meaning, and the heads that hear them.

Each table, and each table of pairs, is told by heads that were fitted on the others alone (`wish_heads`).
"""

import json as jsonlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from insula.memory.encoding import USER
from insula.memory.manner import kinds
from insula.memory.related import Heads
from insula.text.wishing import wishes
from insula_bench import pairs, talks
from insula_bench.wish_heads import Pair as Told
from insula_bench.wish_heads import fitted as fit
from insula_bench.wish_heads import said

TABLES = tuple(f"wishes_{half}.jsonl" for half in ("dev", "held", "fresh", "third", "own", "fourth", "wide"))

Row = Mapping[str, Any]


def run(fitted: str | None, model: str | None, json: bool) -> int:
    """Measure each table and the pairs, and write the heads that were fitted on all where a file is named."""
    tables = {name: read(name) for name in TABLES}
    known = {name: pairs.read(name) for name in pairs.TABLES}
    told: list[Told] = [(one.language, one.old, one.new, one.relations[0]) for rows in known.values() for one in rows]
    report: dict[str, dict[str, str]] = {}
    for name, rows in tables.items():
        report[name] = measured(rows, fit(tables.values(), told, [row["text"] for row in rows]))
    for name, rows in known.items():
        report |= pairs.told_apart(name, rows, fit(tables.values(), told, [one.new for one in rows]))
    heads = fit(tables.values(), told)
    report["talks"] = {"taken for a wish, with meaning": _in_talks(heads)}
    report |= pairs.report(model) if model else {}
    if fitted:
        sentence, values, relations = (one.astype(np.float16) for one in (heads.kinds, heads.values, heads.relations))
        np.savez_compressed(fitted, sentence=sentence, values=values, relations=relations, names=np.array(heads.names))
    for name, found in report.items() if not json else ():
        print(f"{name:<38} " + "; ".join(f"{how}: {value}" for how, value in found.items()))
    if json:
        print(jsonlib.dumps(report, indent=2))
    return 0


def read(name: str) -> list[Row]:
    """A table: texts, with whether each is a standing wish."""
    text = (files("insula_bench") / name).read_text("utf-8")
    return [jsonlib.loads(line) for line in text.splitlines()]


def measured(rows: Sequence[Row], heads: Heads) -> dict[str, str]:
    """How many of the wishes are heard, and of the others taken for one: by words, and with meaning."""
    found: dict[str, str] = {}
    for how in ("words", "with meaning"):
        heard = [is_heard(row, heads if how != "words" else None) for row in rows]
        for what, standing in (("heard", True), ("taken for a wish", False)):
            mine = [one for one, row in zip(heard, rows, strict=True) if bool(row["standing"]) is standing]
            found[f"{what}, {how}"] = f"{sum(mine)} of {len(mine)}"
    return found


def _in_talks(heads: Heads) -> str:
    """How many lines of users who talk with an assistant are taken for a wish; few of them are one."""
    lines = [line for talk in talks.with_assistant() for line in talk.lines if line.speaker == USER]
    spoken = [{"text": line.text, "lang": "en"} for line in lines]
    return f"{sum(is_heard(one, heads) for one in spoken)} of {len(spoken)}"


def is_heard(row: Row, heads: Heads | None) -> bool:
    """Whether a text is taken for a standing wish."""
    parts = said(row["text"], row["lang"]) if heads is not None else ()
    meant = tuple(
        (one.part.text, round(float(kinds(one.vector, one.part.marks, heads.kinds)[0]), 3))
        for one in parts
        if heads is not None
    )
    return any(one.force == "standing" for one in wishes(row["text"], row["lang"], meant=meant))
