"""A night's report, in words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from insula.memory.rows import Done
from insula.replay.figures import many
from insula.sleep.cycle import SleepReport

Json = Mapping[str, Any]

TITLES = {
    "summaries": "Summed up",
    "consolidation": "Tidied memory",
    "mistakes": "Looked at mistakes",
    "reflection": "Reflected",
    "lessons": "Weighed lessons",
    "soul": "Wrote guidelines",
    "file": "Saved SOUL.md",
    "calibration": "Checked how sure to be",
    "trends": "Is quality rising?",
}
MARKS = {"failed": "failed", "skipped": "nothing to do", "before": "done before"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase of a night."""

    title: str
    said: str
    found: tuple[str, ...] = ()
    """What was learned, each in a line."""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One night."""

    name: str
    phases: tuple[Phase, ...]
    skipped: str = ""
    """Why there was none."""


def phase(name: str, state: str, found: Json, why: str = "") -> Phase:
    """How a phase went.

    Args:
        name: of the phase.
        state: `done`, `skipped`, `failed` or `before`.
        found: its report; of another version perhaps, and then as much of it as is understood.
        why: of one that was skipped or failed.
    """
    title = TITLES.get(name, name)
    if why:
        return Phase(title=title, said=why, failed=state == "failed")
    try:
        said, *more = _TOLD[name](found) if name in _TOLD and found else [MARKS.get(state, "done")]
    except (KeyError, TypeError, ValueError, AttributeError):
        said, more = "done", []
    return Phase(title=title, said=said, found=tuple(more), failed=state == "failed")


def _summaries(found: Json) -> list[str]:
    return [many(sum(found["summarised"].values()), "conversation")]


def _consolidation(found: Json) -> list[str]:
    merged, forgotten = len(found["merged"]), len(found["forgotten"])
    return [f"{many(merged, 'memory', 'memories')} merged and {forgotten} let go, of {found['looked_at']}"]


def _mistakes(found: Json) -> list[str]:
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in found["mistakes"].items())
    refused = f"; {many(found['quarantined'], 'text')} refused as unsafe" if found["quarantined"] else ""
    learned = [f"Learned: {one['advice']}" for one in (*found["lessons"], *found.get("wishes", ()))]
    return [f"{kinds or 'none'} in {many(found['sessions'], 'conversation')}{refused}", *learned]


def _reflection(found: Json) -> list[str]:
    how = "by a model" if found["by"] == "model" else "without a model"
    principles = [f"Candidate: {one['advice']}" for one in found["candidates"]]
    return [f"{many(found['insights'], 'insight')}, {how}", *principles]


def _lessons(found: Json) -> list[str]:
    kinds = ", ".join(many(count, kind) for kind, count in found["counted"].items())
    return [f"{many(len(found['lessons']), 'lesson')} looked at; evidence: {kinds or 'nothing new'}"]


def _soul(found: Json) -> list[str]:
    waits = "; one change waits for you" if found["waiting"] else ""
    changes = [f"{one['kind'].capitalize()}: {one['text'] or one['before']}" for one in found["changes"]]
    return [f"{many(len(changes), 'change')}{waits}", *changes]


def _file(found: Json) -> list[str]:
    return ["saved" if found["written"] else "it holds everything already"]


def _calibration(found: Json) -> list[str]:
    outcomes = f"{many(found['right'], 'answer')} held, {found['wrong']} did not"
    return [f"{outcomes}; confidence is high from {found['high']:.2f} on"]


def _trends(found: Json) -> list[str]:
    low, high = found["interval"]
    return [f"{found['verdict']}: {found['per_30_days']:+.3f} in 30 days, between {low} and {high}"]


_TOLD: Mapping[str, Callable[[Json], list[str]]] = {
    "summaries": _summaries,
    "consolidation": _consolidation,
    "mistakes": _mistakes,
    "reflection": _reflection,
    "lessons": _lessons,
    "soul": _soul,
    "file": _file,
    "calibration": _calibration,
    "trends": _trends,
}


def nights(reports: Iterable[Done], order: Sequence[str]) -> list[Night]:
    """The nights of the journal, the latest first.

    Args:
        reports: of their phases, oldest first.
        order: the names of the phases.
    """
    found: dict[str, dict[str, Phase]] = {}
    for one in reports:
        phases = found.setdefault(one.night, {})
        if one.phase in order:
            phases[one.phase] = phase(one.phase, "done", one.report)
    told = [
        Night(name=name, phases=tuple(of[each] for each in order if each in of)) for name, of in found.items() if of
    ]
    return told[::-1]


def of_report(report: SleepReport) -> Night:
    """The night that was just run."""
    phases = tuple(phase(one.name, one.state, one.found, one.why) for one in report.phases)
    return Night(name=report.date, phases=phases, skipped=report.skipped)
