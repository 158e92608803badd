"""What the hook was worth: what it said in past sessions, whether it was heeded, what followed, and what it cost.

Read from the traces that the hook wrote. A text is worth what its sessions do better than those from which it was
withheld by lot; until there are enough of both, nothing is claimed.
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from insula.guidance import SHOWN
from insula.step import trace
from insula.step.digest import compile_rules
from insula.step.evidence import read as read_evidence
from insula.step.senses.o2 import CHARS_PER_TOKEN
from insula.value import is_number

DAY = 86_400.0
ENOUGH = 10
"""Troubles that ended, told and withheld each, before their difference is spoken of."""
_BYTES = 1 << 24
"""Of a trace that are read."""
_CONFIDENCE = 1.96
"""Standard errors to either side of a difference that hold it in 95 of 100 cases."""

Record = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Trouble:
    """Something that went wrong and was spoken of, or would have been."""

    id: str
    session: str
    project: str
    """The hash of it."""
    at: float
    sense: str
    family: str
    text: str
    """The last one."""
    rung: int
    texts: int = 0
    chars: int = 0
    withheld: bool = False
    """By lot, so that it can be compared."""
    heeded: bool | None = None
    turns: int | None = None
    """From the first text to its end; None where it has not ended."""
    minutes: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """How much sooner troubles end that were told: the difference of the means, in turns."""

    told: int
    withheld: int
    """Troubles that ended."""
    turns_told: float | None = None
    turns_withheld: float | None = None
    difference: float | None = None
    """Turns less where it was told; None where there is not enough evidence."""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of a rule that sessions were told."""

    rule: str
    advice: str
    state: str
    kept: int
    """Sessions that were told it and kept it, ..."""
    broken: int
    """... and that broke it."""


@dataclass(slots=True, kw_only=True)
class Worth:
    """All of it."""

    days: float
    sessions: int = 0
    calls: int = 0
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    """Latest first."""
    rules: list[Told] = field(default_factory=list[Told])
    effect: Effect = Effect(told=0, withheld=0)

    @property
    def told(self) -> list[Trouble]:
        """Those that were spoken of."""
        return [one for one in self.troubles if not one.withheld]

    @property
    def cost(self) -> int:
        """About how many tokens the texts were."""
        return sum(one.chars for one in self.told) // CHARS_PER_TOKEN


def worth(home: str, days: float, now: float) -> Worth:
    """What the hook was worth in the last days.

    Args:
        home: the folder of hook state.
        days: how far to look back.
        now: seconds since the epoch.
    """
    found, since = Worth(days=days), now - days * DAY
    for folder in _folders(Path(home, "sessions"), since):
        records, _ = trace.read(str(folder), 0, _BYTES)
        calls = sum(record.get("e") == "action" for record in records)
        found.sessions += "agents" not in folder.parts and calls > 0
        found.calls += calls
        found.troubles += _troubles(folder.name, records, since)
    found.troubles.sort(key=lambda one: -one.at)
    found.rules = _rules(home, since, now)
    found.effect = _effect(found.troubles)
    return found


def trouble(home: str, name: str) -> Trouble | None:
    """The trouble of that id, whenever it was; None where there is none."""
    for folder in _folders(Path(home, "sessions"), 0.0):
        records, _ = trace.read(str(folder), 0, _BYTES)
        for one in _troubles(folder.name, records, 0.0):
            if one.id == name:
                return one
    return None


def _folders(sessions: Path, since: float) -> Iterator[Path]:
    """The folders of agents whose trace was written since."""
    for path in sorted((*sessions.glob(f"*/{trace.FILE}"), *sessions.glob(f"*/agents/*/{trace.FILE}"))):
        if path.stat().st_mtime >= since:
            yield path.parent


def _troubles(session: str, records: list[Record], since: float) -> list[Trouble]:
    found: dict[str, Trouble] = {}
    project = ""
    for record in records:
        kind = record.get("e")
        if kind == "start":
            project = str(record.get("project", "")) or project
        elif kind == "text" and is_number(record.get("at")) and record["at"] >= since and record.get("id"):
            _spoken(found.setdefault(str(record["id"]), _begun(record, session, project)), record)
        elif kind == "heeded" and (one := found.get(str(record.get("id", "")))) is not None:
            one.heeded = record.get("yes") is True
        elif kind == "ended":
            _ended(found, record)
    return list(found.values())


def _begun(record: Record, session: str, project: str) -> Trouble:
    return Trouble(
        id=str(record["id"]),
        session=session,
        project=project,
        at=record["at"],
        sense=str(record.get("sense", "")),
        family=str(record.get("family", "")),
        text="",
        rung=0,
        withheld=record.get("withheld") is True,
    )


def _spoken(one: Trouble, record: Record) -> None:
    one.text, one.rung = str(record.get("text", "")), int(record.get("rung") or 0)
    one.texts += 1
    one.chars += len(one.text)


def _ended(found: dict[str, Trouble], record: Record) -> None:
    one = found.get(str(record.get("id", "")))
    if one is not None and one.turns is None:
        one.turns, one.tokens = int(record.get("turns", 0)), int(record.get("tokens", 0))
        one.minutes = float(record.get("seconds", 0.0)) / 60


def _rules(home: str, since: float, now: float) -> list[Told]:
    evidence = read_evidence(home)
    projects = {item.project for items in evidence.values() for item in items}
    rules = {rule.id: rule for project in sorted(projects) for rule in compile_rules(home, project, now)}
    told: list[Told] = []
    for name, rule in rules.items():
        shown = [item for item in evidence.get(name, []) if item.arm == SHOWN and item.at >= since]
        broken = sum(item.happened for item in shown)
        if shown or rule.life.told:
            kept = len(shown) - broken
            told.append(Told(rule=name, advice=rule.advice, state=rule.life.state, kept=kept, broken=broken))
    return sorted(told, key=lambda one: (-(one.kept + one.broken), one.rule))


def _effect(troubles: list[Trouble]) -> Effect:
    told = [float(one.turns) for one in troubles if one.turns is not None and one.rung and not one.withheld]
    held = [float(one.turns) for one in troubles if one.turns is not None and one.rung and one.withheld]
    if min(len(told), len(held)) < ENOUGH:
        return Effect(told=len(told), withheld=len(held))
    means = statistics.mean(told), statistics.mean(held)
    error = (statistics.variance(told) / len(told) + statistics.variance(held) / len(held)) ** 0.5
    difference = means[1] - means[0]
    return Effect(
        told=len(told),
        withheld=len(held),
        turns_told=means[0],
        turns_withheld=means[1],
        difference=difference,
        interval=(difference - _CONFIDENCE * error, difference + _CONFIDENCE * error),
    )
