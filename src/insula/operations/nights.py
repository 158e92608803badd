"""What nights changed, a line for each change, with what takes it back; where one changed nothing there is no line."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, cast

from insula.claims import quote_claim
from insula.memory.storage import views
from insula.memory.storage.rows import StoredPhaseReport
from insula.memory.storage.store import Store
from insula.night.cycle import END, Json, MeasuredEffect, PhaseName, SleepReport
from insula.night.phases import PHASES
from insula.value import is_list

READING: Mapping[str, str] = {
    "off": "no model reads what you said to note facts",
    "night": "your model reads what you said at night and notes its facts",
    "idle": "your model reads what you said at night, and once you have said nothing for a minute, and notes its facts",
}
"""When a model reads, by the setting `understanding`."""
TITLES: Mapping[PhaseName, str] = {
    PhaseName.SUMMARIES: "Summed up",
    PhaseName.CONSOLIDATION: "Tidied memory",
    PhaseName.STATEMENTS: "Read what you said",
    PhaseName.MISTAKES: "Looked for mistakes",
    PhaseName.REFLECTION: "Reflected",
    PhaseName.LESSONS: "Weighed what it learned",
    PhaseName.SOUL: "Chose what stands in SOUL.md",
    PhaseName.FILE: "Saved SOUL.md",
    PhaseName.CALIBRATION: "Checked how sure to be",
    PhaseName.TRENDS: "Checked whether answers get better",
}
"""What each phase does, in the order of a night."""
ELSEWHERE = "A phase of another version of Insula."
NOTHING = "Nothing new was learned."
"""What a night says that has nothing to say."""
UNDER_WAY = 300.0
"""Seconds since its last phase after which a night that has not ended was stopped."""
NEWS = 3
"""Lines that the next talk begins with, at most."""
TITLE = "Since last night:"
OFF = "(off: news = false in insula.toml)"


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
            changes=_list_changes({stage.phase: stage.report for stage in done}),
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
    done = {str(phase.name): phase.found for phase in report.phases if phase.state == "done"}
    skipped = {phase.name: phase.why for phase in report.phases if phase.state == "skipped"}
    foreign = (NightChange(skipped[PhaseName.SOUL]),) if PhaseName.SOUL in skipped else ()  # SOUL.md is not ours
    return NightChanges(
        night=report.date,
        changes=_list_changes(done) + foreign,
        failed=tuple(f"{TITLES[phase.name]}: {phase.why}" for phase in report.failed),
        skipped=report.skipped,
    )


def _describe_progress(done: Sequence[StoredPhaseReport], now: float) -> dict[str, Any]:
    if any(stage.phase == END for stage in done):
        return {}
    goes_on, steps = now - done[-1].at < UNDER_WAY, f"{len(done)} of {len(PHASES)} steps"
    said = f"Under way: {steps} are done." if goes_on else f"Stopped after {steps}; the next night goes on from there."
    return {"progress": said, "goes_on": goes_on}


def _list_changes(reports: Mapping[str, Json]) -> tuple[NightChange, ...]:
    """What phases changed, in the order of a night; what two of them say of one piece of guidance stands once.

    Args:
        reports: by the name of a phase; of one that this version does not have it is said that it is another's.
    """
    changes, seen = list[NightChange](), set[UndoAction | None]()
    for name in TITLES:
        made = list(_read_changes(name, reports.get(name, {})))
        changes += [change for change in made if change.undo is None or change.undo not in seen]
        seen.update(change.undo for change in made)
    changes += [NightChange(ELSEWHERE) for name in reports if name not in [*PhaseName]]
    return tuple(changes)


def _read_changes(name: str, report: Json) -> Iterator[NightChange]:
    """What a phase says that it changed, each line with what takes it back; as far as this version understands it."""
    said = _claim_lines(name, report, "says")
    texts = said[1:] or said  # the first one counts the others
    undo = map(str, report.get("undo", ()))
    for text, command in zip_longest(texts, [*undo][: len(texts)]):
        if text:  # one that an erasure emptied keeps its place beside what undid it
            yield NightChange(f"{text[:1].upper()}{text[1:]}", UndoAction.parse(command) if command else None)
    for effect in _read_effects(report):
        if effect.what:
            yield NightChange(effect.format_line())


def _claim_lines(name: str, report: Json, key: str) -> list[str]:
    """What a phase says, each line a claim of the register."""
    lines = report.get(key)
    return [quote_claim(f"night.{name}", str(line)).text for line in lines] if is_list(lines) else []


def _read_effects(report: Json) -> tuple[MeasuredEffect, ...]:
    try:
        return tuple(MeasuredEffect(**record) for record in cast("list[Json]", report.get("effects", ())))
    except TypeError:
        return ()  # of another version


async def changed_last_night(store: Store, user: str) -> tuple[str, ...]:
    """What the last night changed, in three lines at most; nothing once something was said since."""
    user_id = await store.nights.find_user_id(user)
    done = await store.read(views.list_phase_reports, user, None, 1) if user_id is not None else []
    if user_id is None or not done or done[-1].phase != END:
        return ()
    sessions = await store.nights.sessions_to_sleep_on(user_id)
    if any(session.ended_at > done[-1].at for session in sessions):
        return ()
    lines = [line for report in done for line in _claim_lines(report.phase, report.report, "news") if line]
    more = len(lines) - NEWS + 1
    return tuple(lines) if len(lines) <= NEWS else (*lines[: NEWS - 1], f"… and {more} more: insula guidance soul diff")
