"""A night in words: one renderer for the terminal and the page."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from insula.claims import quote_claim
from insula.memory.storage import views
from insula.memory.storage.store import Store
from insula.night.cycle import END, Json, MeasuredEffect, PhaseName, PhaseReport, State
from insula.value import is_list

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
    PhaseName.END: "Ended",
}
ELSEWHERE = "A phase of another version of Insula."
BEFORE = "done before, in this same night"
DONE = "done"
NOTHING = "Nothing new was learned."
"""What a night says that has nothing to say."""
NEWS = 3
"""Lines that the next talk begins with, at most."""
TITLE = "Since last night:"
OFF = "(off: news = false in insula.toml)"


class PhaseAccount(NamedTuple):
    """One phase of a night, as a person reads it; what it says is the claim `night.NAME` of the register."""

    name: str
    title: str
    state: State
    said: str
    found: tuple[str, ...] = ()
    """What was learned or changed, each in a line."""
    undo: tuple[str, ...] = ()
    """What takes back each of these lines, or what it says where there are none."""
    effects: tuple[MeasuredEffect, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it has to be done again."""
        return self.state == "failed"

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing that a person should hear of it."""
        skipped = self.state in ("skipped", "before") and self.name != PhaseName.SOUL
        return not self.failed and (skipped or (self.said == DONE and not (self.found or self.effects)))


def describe_phase(phase: PhaseReport) -> PhaseAccount:
    """How a phase went; of a report that another version wrote, as much as is understood."""
    why = BEFORE if phase.state == "before" else phase.why
    if why:
        return PhaseAccount(phase.name, TITLES[phase.name], phase.state, why)
    said, *more = _claim_lines(phase.name, phase.found, "says") or [DONE]
    undo = tuple(map(str, phase.found.get("undo", ())))
    return PhaseAccount(
        phase.name, TITLES[phase.name], phase.state, said, tuple(more), undo, _read_effects(phase.found)
    )


def _claim_lines(name: str, report: Json, key: str) -> list[str]:
    """What a phase says, each line a claim of the register."""
    lines = report.get(key)
    return [quote_claim(f"night.{name}", str(line)).text for line in lines] if is_list(lines) else []


def _read_effects(report: Json) -> tuple[MeasuredEffect, ...]:
    try:
        return tuple(MeasuredEffect(**record) for record in cast("list[Json]", report.get("effects", ())))
    except TypeError:
        return ()  # of another version


def describe_journalled(name: str, report: Json) -> PhaseAccount:
    """A phase as the journal holds it; one that this version does not have is named, and said to be another's."""
    if name not in TITLES:
        return PhaseAccount(name, name, "done", ELSEWHERE)
    return describe_phase(PhaseReport(name=PhaseName(name), state="done", found=report))


def order_phases(phases: Iterable[PhaseAccount]) -> list[PhaseAccount]:
    """Phases in the order of a night, those of another version last; its end is none."""
    order = list(TITLES)
    shown = (account for account in phases if account.name != END)
    return sorted(
        shown, key=lambda account: order.index(PhaseName(account.name)) if account.name in TITLES else len(order)
    )


async def changed_last_night(store: Store, user: str) -> tuple[str, ...]:
    """What the last night changed, in three lines at most; nothing once something was said since."""
    user_id = await store.nights.find_user_id(user)
    done = await store.read(views.list_phase_reports, user, None, 1) if user_id is not None else []
    if user_id is None or not done or done[-1].phase != END:
        return ()
    sessions = await store.nights.sessions_to_sleep_on(user_id)
    if any(session.ended_at > done[-1].at for session in sessions):
        return ()
    lines = [line for report in done for line in _claim_lines(report.phase, report.report, "news")]
    more = len(lines) - NEWS + 1
    return tuple(lines) if len(lines) <= NEWS else (*lines[: NEWS - 1], f"… and {more} more: insula guidance soul diff")
