"""The nights of a user, as their page shows them."""

from collections.abc import Iterable
from dataclasses import dataclass

from insula.memory.rows import Done
from insula.sleep.cycle import SleepReport
from insula.sleep.telling import Told, journalled, ordered, told


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One night."""

    name: str
    phases: tuple[Told, ...]
    skipped: str = ""
    """Why there was none."""


def nights(reports: Iterable[Done]) -> list[Night]:
    """The nights of the journal, the latest first; `reports` of their phases stand oldest first."""
    found: dict[str, list[Told]] = {}
    for one in reports:
        found.setdefault(one.night, []).append(journalled(one.phase, one.report))
    return [Night(name=name, phases=tuple(ordered(phases))) for name, phases in found.items()][::-1]


def of_report(report: SleepReport) -> Night:
    """The night that was just run."""
    return Night(name=report.date, phases=tuple(map(told, report.phases)), skipped=report.skipped)
