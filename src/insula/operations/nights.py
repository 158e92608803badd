"""What nights changed, a line for each change, with what takes it back; where one changed nothing there is no line."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from insula.memory.storage.rows import StoredPhaseReport
from insula.night.cycle import END, PhaseName, SleepReport
from insula.night.phases import PHASES
from insula.night.telling import DONE, PhaseAccount, describe_journalled, describe_phase, order_phases

READING: Mapping[str, str] = {
    "off": "no model reads what you said to note facts",
    "night": "your model reads what you said at night and notes its facts",
    "idle": "your model reads what you said at night, and once you have said nothing for a minute, and notes its facts",
}
"""When a model reads, by the setting `understanding`."""
UNDER_WAY = 300.0
"""Seconds since its last phase after which a night that has not ended was stopped."""


class UndoAction(NamedTuple):
    """What takes a change back: a decision on a piece of guidance, or on a memory."""

    of: str
    """`guidance` or `memory`."""
    do: str
    id: str

    @classmethod
    def parse(cls, command: str) -> "UndoAction":
        """The action of a command such as `guidance forget g1f…`."""
        return cls(*command.split(" ", 2))

    @property
    def command(self) -> str:
        """The same at the terminal."""
        return f"insula {self.of} {self.do} {self.id}"


class NightChange(NamedTuple):
    """Something that a night changed."""

    text: str
    undo: UndoAction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NightChanges:
    """A night, by what it changed."""

    night: str
    changes: tuple[NightChange, ...] = ()
    failed: tuple[str, ...] = ()
    """Why steps of it failed."""
    skipped: str = ""
    """Why there was none."""
    progress: str = ""
    """How far it is; empty where it is over."""
    goes_on: bool = False
    """Whether somebody is at it now, here or on another machine."""


def list_nights(reports: Iterable[StoredPhaseReport], now: float = math.inf) -> list[NightChanges]:
    """The nights of the journal, the latest first.

    Args:
        reports: of their phases, oldest first.
        now: the moment, by which a night that has not ended is told from one that was stopped.
    """
    by_night = group_reports(reports)
    latest = next(reversed(by_night), "")
    return [
        NightChanges(
            night=night,
            changes=_list_steps(describe_journalled(stage.phase, stage.report) for stage in done),
            **(_describe_progress(done, now) if night == latest else {}),
        )
        for night, done in reversed(by_night.items())
    ]


def group_reports(reports: Iterable[StoredPhaseReport]) -> dict[str, list[StoredPhaseReport]]:
    """The reports of each night, by its name."""
    by_night: dict[str, list[StoredPhaseReport]] = {}
    for report in reports:
        by_night.setdefault(report.night, []).append(report)
    return by_night


def describe_report(report: SleepReport) -> NightChanges:
    """The night that was just run."""
    return NightChanges(
        night=report.date,
        changes=_list_steps(describe_phase(one) for one in report.phases if one.state != "failed"),
        failed=tuple(f"{describe_phase(phase_report).title}: {phase_report.why}" for phase_report in report.failed),
        skipped=report.skipped,
    )


def _describe_progress(done: Sequence[StoredPhaseReport], now: float) -> dict[str, Any]:
    if any(stage.phase == END for stage in done):
        return {}
    goes_on, steps = now - done[-1].at < UNDER_WAY, f"{len(done)} of {len(PHASES)} steps"
    said = f"Under way: {steps} are done." if goes_on else f"Stopped after {steps}; the next night goes on from there."
    return {"progress": said, "goes_on": goes_on}


def _list_steps(steps: Iterable[PhaseAccount]) -> tuple[NightChange, ...]:
    """What steps changed, in the order of a night; what two of them say of one piece of guidance stands once."""
    changes, seen = list[NightChange](), set[UndoAction | None]()
    for account in order_phases(steps):
        if account.is_quiet or account.name == PhaseName.FILE:  # which only writes down what the others changed
            continue
        texts = account.found or ((account.said,) if account.said != DONE else ())
        made = [
            NightChange(f"{text[:1].upper()}{text[1:]}", UndoAction.parse(undo) if undo else None)
            for text, undo in zip_longest(texts, account.undo[: len(texts)])
        ]
        changes += [change for change in made if change.undo is None or change.undo not in seen]
        seen.update(change.undo for change in changes)
        changes += [NightChange(each.format_line()) for each in account.effects]
    return tuple(changes)
