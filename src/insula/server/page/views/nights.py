"""The nights of a user, as their page shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from insula.memory.rows import Done
from insula.replay.visible import visible
from insula.server.page.views.learned import Bar, bar
from insula.sleep.cycle import SleepReport
from insula.sleep.telling import Names, Told, journalled, ordered, told
from insula.value import is_list, is_object

NAMED = 120
"""Characters of what an effect is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """An effect with its interval, to be drawn."""

    what: str
    verdict: str
    said: str
    bar: Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase, in words."""

    title: str
    said: str
    failed: bool
    found: tuple[str, ...]
    plots: tuple[Plot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One night."""

    name: str
    phases: tuple[Phase, ...]
    skipped: str = ""
    """Why there was none."""


def nights(reports: Iterable[Done], names: Names) -> list[Night]:
    """The nights of the journal, the latest first; `reports` of their phases stand oldest first.

    Args:
        reports: of the journal.
        names: what lessons and insights say.
    """
    found: dict[str, list[Told]] = {}
    for one in reports:
        found.setdefault(one.night, []).append(journalled(one.phase, one.report, names))
    return [Night(name=name, phases=_phases(phases)) for name, phases in found.items()][::-1]


def of_report(report: SleepReport, names: Names) -> Night:
    """The night that was just run."""
    return Night(name=report.date, phases=_phases([told(one, names) for one in report.phases]), skipped=report.skipped)


def insights(reports: Iterable[Mapping[str, Any]]) -> list[int]:
    """The insights whose effects reports name."""
    named = (one for report in reports if is_list(found := report.get("insights")) for one in found if is_object(one))
    return [one["id"] for one in named if isinstance(one.get("id"), int)]


def _phases(phases: Iterable[Told]) -> tuple[Phase, ...]:
    return tuple(_phase(one) for one in ordered(phases))


def _phase(one: Told) -> Phase:
    plots = tuple(
        Plot(
            what=visible(each.what, NAMED).rstrip("."),
            verdict=each.verdict,
            said=each.figures(),
            bar=bar(each.low, each.estimate, each.high),
        )
        for each in one.measured
    )
    return Phase(title=one.title, said=one.said, failed=one.failed, found=one.found, plots=plots)
