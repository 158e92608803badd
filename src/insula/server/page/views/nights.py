"""The nights of a user, as their page shows them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from insula.memory.storage.rows import Done
from insula.night.cycle import END, SleepReport
from insula.night.phases import PHASES
from insula.night.telling import NOTHING, Names, Told, journalled, ordered, told
from insula.replay.visible import visible
from insula.server.page.views.learned import Bar, bar
from insula.value import is_list, is_object

UNDER_WAY = 300.0
"""Seconds since its last phase after which a night that has not ended was stopped."""
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
    quiet: tuple[str, ...] = ()
    """Titles of the phases that had nothing to say."""
    skipped: str = ""
    """Why there was none."""
    progress: str = ""
    """How far it is; empty where it is over."""
    goes_on: bool = False
    """Whether somebody is at it now, here or on another machine."""

    @property
    def nothing(self) -> str:
        """What is said of one that has nothing to say."""
        return "" if self.phases or self.skipped or self.progress else NOTHING


class Reading(NamedTuple):
    """When the model reads what was said, and what that took of what it may take in a day."""

    when: str
    spent: int
    most: int


WHEN: Mapping[str, str] = {
    "off": "The model does not read what you said to note its facts",
    "night": "At night the model reads what you said and notes its facts",
    "idle": "At night, and once you have said nothing for a minute, the model reads what you said and notes its facts",
}


def reading(understanding: str, spent: int, most: int) -> Reading:
    """How the reading of what was said stands, by the setting `understanding`."""
    return Reading(WHEN[understanding], spent, most)


def nights(reports: Iterable[Done], names: Names, now: float = math.inf) -> list[Night]:
    """The nights of the journal, the latest first; `reports` of their phases stand oldest first.

    Args:
        reports: of the journal.
        names: what lessons and insights say.
        now: the moment, by which a night that has not ended is told from one that was stopped.
    """
    found: dict[str, list[Done]] = {}
    for one in reports:
        found.setdefault(one.night, []).append(one)
    told = [_night(name, (journalled(one.phase, one.report, names) for one in done)) for name, done in found.items()][
        ::-1
    ]
    latest = next(reversed(found.values()), list[Done]())
    if not latest or any(one.phase == END for one in latest):
        return told
    return [_unfinished(told[0], now - latest[-1].at), *told[1:]]


def _unfinished(night: Night, since: float) -> Night:
    """A night that has not ended, with how far it is."""
    done = len(night.phases) + len(night.quiet)
    steps, goes_on = f"{done} of {len(PHASES)} steps", since < UNDER_WAY
    said = f"Under way: {steps} are done." if goes_on else f"Stopped after {steps}; the next night goes on from there."
    return replace(night, progress=said, goes_on=goes_on)


def of_report(report: SleepReport, names: Names) -> Night:
    """The night that was just run."""
    return _night(report.date, (told(one, names) for one in report.phases), report.skipped)


def insights(reports: Iterable[Mapping[str, Any]]) -> list[int]:
    """The insights whose effects reports name."""
    named = (one for report in reports if is_list(found := report.get("insights")) for one in found if is_object(one))
    return [one["id"] for one in named if isinstance(one.get("id"), int)]


def _night(name: str, phases: Iterable[Told], skipped: str = "") -> Night:
    every = ordered(phases)
    quiet = [one for one in every if one.is_quiet]
    return Night(
        name=name,
        phases=tuple(_phase(one) for one in every if one not in quiet),
        quiet=tuple(one.title for one in quiet),
        skipped=skipped,
    )


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
