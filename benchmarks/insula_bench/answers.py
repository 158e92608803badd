"""`insula bench answers`: what the self-monitor makes of messages, memory and responses that a person judged.

Each line of a table holds a message, the lines that stood before the model, their level, a response, and whether it
is fine; what is not names the flags that it deserves. A false alarm is a fine response that does not pass. A line of a
table of demands holds a message with a response that keeps what it demands of the form of the answer, and one that
breaks it; of one that only looks like a demand the first alone.
"""

import json as jsonlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula.memory.retrieval.embedding import embed_text, resolve_embedding
from insula.memory.storage.vectors import Embed
from insula.stats import wilson
from insula.turn import monitor
from insula.turn.checks.memory import MemoryUse
from insula.turn.monitor import assess
from insula.types import HEDGE_THRESHOLD, Assessment, Level

Figures = dict[str, Any]

TABLES = ("triples_*.jsonl", "constraints_*.jsonl")
"""The tables beside this file: the monitor was built with all of them, so their figures are those of development."""
SHOWN_CHARS = 160
CERTAIN = frozenset(
    {"constraint", "wrong_code", "wrong_language", "leak", "echo", "needless_refusal", "declines", "ignored_memory"}
    | {"other_person"}
)
"""Kinds of which the goal is 85 %."""
FINE, DEMAND = "fine:", "constraint:"
"""What stands before the kind of a demand: its answer keeps it, or breaks it."""
DEMANDED = frozenset[str]({"constraint", "incomplete", "wrong_language"})
"""What is flagged of an answer that breaks one."""


class Triple(NamedTuple):
    """A message, what memory held, and a response, with what a person makes of it."""

    kind: str
    language: str
    message: str
    memory: tuple[str, ...]
    level: Level
    recent: tuple[str, ...]
    response: str
    fine: bool
    flags: frozenset[str]


class Judged(NamedTuple):
    """A triple, and what the monitor makes of it."""

    triple: Triple
    assessment: Assessment

    @property
    def right(self) -> bool:
        """Whether the monitor agrees: a fine response passes, another does not."""
        return self.assessment.passed is self.triple.fine


def run(data: str | None, json: bool, show: bool, embedding: bool = False, alone: bool = False) -> int:
    """Judge every line, print the figures, and return the exit code.

    Args:
        alone: count instead what each check alone catches.

    Raises:
        InputError: the table cannot be read.
    """
    embed = resolve_embedding(embed_text) if embedding else None
    tables = [Path(data)] if data else shipped()
    if alone:
        print(jsonlib.dumps(measure_checks([one for path in tables for one in read(path)]), indent=2))
        return 0
    found = {path.stem: [judge(one, embed) for one in read(path)] for path in tables}
    judged = [one for each in found.values() for one in each]
    figures = measure(judged)
    if len(found) > 1:
        figures["tables"] = {name: measure(each) for name, each in found.items()}
    if json:
        print(jsonlib.dumps(figures, indent=2, ensure_ascii=False))
        return 0
    tell(figures)
    if show:
        tell_wrong(judged)
    return 0


def shipped() -> list[Path]:
    """The tables that stand beside this file, a later one as soon as it is there."""
    folder = Path(str(files("insula_bench")))
    return [path for pattern in TABLES for path in sorted(folder.glob(pattern))]


def read(path: Path) -> list[Triple]:
    """The lines of a table.

    Raises:
        InputError: there is none, or a line of it lacks what it needs.
    """
    try:
        text = path.read_text("utf-8")
        rows = [jsonlib.loads(line) for line in text.splitlines() if line.strip()]
        return [one for raw in rows for one in (_demanded(raw) if "kept" in raw else [_triple(raw)])]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"The table {str(path)!r} cannot be read ({error}); give JSON Lines with kind, lang, message, memory, "
            "level, response, fine and flags, or with kind, lang, message, kept and broken."
        ) from error


def _triple(raw: dict[str, Any]) -> Triple:
    return Triple(
        kind=raw["kind"],
        language=raw["lang"],
        message=raw["message"],
        memory=tuple(raw["memory"]),
        level=raw["level"],
        recent=tuple(raw.get("recent", ())),
        response=raw["response"],
        fine=bool(raw["fine"]),
        flags=frozenset(raw["flags"]),
    )


def _demanded(raw: dict[str, Any]) -> list[Triple]:
    """A demand on the form of an answer, with the response that keeps it and the one that breaks it."""
    kept, broken = raw["kept"], raw.get("broken")
    found = [(f"{FINE}{raw['kind']}", kept, True), (f"{DEMAND}{raw['kind']}", broken, False)]
    return [
        Triple(kind, raw["lang"], raw["message"], (), "low", (), response, fine, frozenset() if fine else DEMANDED)
        for kind, response, fine in found
        if response
    ]


def judge(one: Triple, embed: Embed | None = None) -> Judged:
    """What the monitor makes of a triple."""
    return Judged(one, assess(one.message, one.response, one.recent, memory=one.memory, level=one.level, embed=embed))


def measure_checks(triples: Sequence[Triple]) -> Figures:
    """For each check how many bad responses nothing else catches, and how many fine ones fail by it alone."""
    whole = [judge(one).assessment.passed for one in triples]
    figures: Figures = {}
    for check in monitor.CHECKS:
        others = tuple(other for other in monitor.CHECKS if other is not check)
        with patch.object(monitor, "CHECKS", others):
            figures[check.__name__ if isinstance(check, FunctionType) else str(check)] = _count_changed(triples, whole)
    for name, without in (("compare_with_memory", MemoryUse()), ("is_far", False)):
        with patch.object(monitor, name, return_value=without):
            figures[name] = _count_changed(triples, whole)
    return figures


def _count_changed(triples: Sequence[Triple], whole: Sequence[bool]) -> Figures:
    changed = [
        one.fine for one, passed in zip(triples, whole, strict=True) if judge(one).assessment.passed and not passed
    ]
    return {"caught": changed.count(False), "false_alarms": changed.count(True)}


def measure(judged: Sequence[Judged]) -> Figures:
    """The figures of a table."""
    fine = [one for one in judged if one.triple.fine]
    bad = [one for one in judged if not one.triple.fine]
    named = [one for one in bad if not one.right or one.triple.flags & set(one.assessment.flags)]
    certain = [one for one in bad if one.triple.kind.partition(":")[0] in CERTAIN]
    return {
        "n": len(judged),
        "fine": len(fine),
        "false_alarms": _share([not one.right for one in fine]),
        "false_alarms_that_could_not_tell": sum(one.assessment.unclear for one in fine),
        "fine_below_hedging": sum(one.assessment.score < HEDGE_THRESHOLD for one in fine),
        "caught": _share([one.right for one in bad]),
        "caught_certain_kinds": _share([one.right for one in certain]),
        "caught_by_another_flag": len(bad) - len(named),
        "kinds": _by((one.triple.kind, one.right) for one in judged),
        "languages": {
            "fine": _by((one.triple.language, one.right) for one in fine),
            "bad": _by((one.triple.language, one.right) for one in bad),
        },
    }


def _share(held: Sequence[bool]) -> Figures:
    if not held:
        return {"n": 0}
    low, high = wilson(sum(held), len(held))
    return {"n": len(held), "of": sum(held), "share": round(sum(held) / len(held), 3), "interval": [low, high]}


def _by(found: Iterable[tuple[str, bool]]) -> dict[str, list[int]]:
    """Name -> how many are right, and of how many."""
    right: Counter[str] = Counter()
    total: defaultdict[str, int] = defaultdict(int)
    for name, agrees in found:
        right[name] += agrees
        total[name] += 1
    return {name: [right[name], total[name]] for name in sorted(total)}


def tell(figures: Figures) -> None:
    """Print the figures as a person reads them."""
    console = Console(highlight=False)
    for name in ("false_alarms", "caught", "caught_certain_kinds"):
        if one := figures[name]:
            low, high = one.get("interval", ("–", "–"))
            console.print(f"{name.replace('_', ' ')}: {one.get('of', 0)} of {one['n']} \\[{low}, {high}]")
    console.print(
        f"fine ones below {HEDGE_THRESHOLD}: {figures['fine_below_hedging']}; of the false alarms could not tell: "
        f"{figures['false_alarms_that_could_not_tell']}; caught by another flag: {figures['caught_by_another_flag']}"
    )
    table = Table("kind", "agrees", "of", box=None, header_style="dim")
    for kind, (right, of) in figures["kinds"].items():
        table.add_row(kind, str(right), str(of))
    console.print(table)
    if tables := figures.get("tables"):
        table = Table("table", "false alarms", "below 0.5", "certain kinds", "all faults", box=None, header_style="dim")
        for name, one in tables.items():
            alarms, certain, caught = (_of(one[key]) for key in ("false_alarms", "caught_certain_kinds", "caught"))
            table.add_row(name, alarms, str(one["fine_below_hedging"]), certain, caught)
        console.print(table)
    table = Table("language", "fine: agrees", "of", "bad: agrees", "of", box=None, header_style="dim")
    for language, (right, of) in figures["languages"]["fine"].items():
        table.add_row(language, str(right), str(of), *map(str, figures["languages"]["bad"].get(language, (0, 0))))
    console.print(table)


def _of(share: Figures) -> str:
    return f"{share.get('of', 0)} of {share['n']}"


def tell_wrong(judged: Iterable[Judged]) -> None:
    """Print every line that the monitor judges otherwise than the person, and those with another flag."""
    console = Console(highlight=False, soft_wrap=True)
    for one in judged:
        flags = set(one.assessment.flags)
        if one.right and (one.triple.fine or flags & one.triple.flags):
            continue
        what = "false alarm" if one.triple.fine else "other flag" if one.right else "missed"
        found = ", ".join(one.assessment.flags) or "nothing"
        console.print(f"{what}: {one.triple.kind} ({one.triple.language}), {one.assessment.score:.2f}, found {found}")
        for name, text in (("asked", one.triple.message), ("held", " ".join(one.triple.memory))):
            console.print(f"    {name}: {text[:SHOWN_CHARS]}", markup=False)
        console.print(f"    said: {' '.join(one.triple.response.split())[:SHOWN_CHARS]}", markup=False)
