"""`insula bench wishes`: how many preferences are heard at once or once asked for again, and how many invented.

Each line of the tables is a message, with whether its writer wants every answer to be otherwise; the pairs say what a
newer message makes of a preference that stands.
"""

import json as jsonlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal

from insula.language.owner import USER
from insula.text.wishing import wishes
from insula_bench import pairs, talks

TABLES = tuple(f"wishes_{half}.jsonl" for half in ("dev", "held", "fresh", "third", "own", "fourth", "wide", "fifth"))

Row = Mapping[str, Any]
Heard = Literal["standing", "asked", ""]
"""What a message is taken for: a preference, a request that stands once it is made again, or neither."""


def run(model: str | None, json: bool) -> int:
    """Measure each table, the pairs, and what people say in talks."""
    report = {name: measured(read(name)) for name in TABLES}
    for name in pairs.TABLES:
        known = pairs.read(name)
        report[name] = pairs.measured(known, [pairs.by_words(pair) for pair in known])
    lines = [line.text for talk in talks.with_assistant() for line in talk.lines if line.speaker == USER]
    heard = Counter(heard_in(line, "en") for line in lines)
    report["talks"] = {"taken for a preference": f"{heard['standing']} of {len(lines)}"}
    report |= pairs.report(model) if model else {}
    for name, found in report.items() if not json else ():
        print(f"{name:<38} " + "; ".join(f"{how}: {value}" for how, value in found.items()))
    if json:
        print(jsonlib.dumps(report, indent=2))
    return 0


def read(name: str) -> list[Row]:
    """A table: texts, with whether each is a standing wish."""
    text = (files("insula_bench") / name).read_text("utf-8")
    return [jsonlib.loads(line) for line in text.splitlines()]


def measured(rows: Sequence[Row]) -> dict[str, str]:
    """How many preferences are heard, and how many of the other messages are taken for one."""
    counts = Counter((bool(row["standing"]), heard_in(row["text"], row["lang"])) for row in rows)
    told, others = (sum(counts[kind, heard] for heard in ("standing", "asked", "")) for kind in (True, False))
    return {
        "heard at once": f"{counts[True, 'standing']} of {told}",
        "once asked for again": f"{counts[True, 'standing'] + counts[True, 'asked']} of {told}",
        "invented": f"{counts[False, 'standing']} of {others}",
        "invented where asked again": f"{counts[False, 'standing'] + counts[False, 'asked']} of {others}",
    }


def heard_in(text: str, language: str) -> Heard:
    """What a message is taken for."""
    forces = {one.force for one in wishes(text, language)}
    return "standing" if "standing" in forces else "asked" if "asked" in forces else ""
