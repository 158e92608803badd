"""A night: what happened by day becomes what the agent does better tomorrow, phase by phase (seeds 000, 004).

Each phase reads, decides and hands back what it changes; the store writes that and the journal's entry in one
transaction. So a phase is done exactly once, whatever is killed when; one that fails leaves the others standing (R6).
"""

import json
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from insula.errors import InsulaError, StoreError
from insula.llm.budget import Account
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage import spending
from insula.memory.storage.changes import Changes
from insula.memory.storage.journal import check_preconditions, write_changes
from insula.memory.storage.nights import CADENCE, UP_TO
from insula.memory.storage.rows import StoredSession, StoredSignal, TranscriptLine
from insula.memory.storage.spending import Spent
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Embed
from insula.telemetry import NIGHT, PHASE, open_span
from insula.types import Calibration, Identity, Usage

if TYPE_CHECKING:
    from insula.llm.model import Model

__all__ = [
    "CADENCE",
    "END",
    "MeasuredEffect",
    "Night",
    "Phase",
    "PhaseName",
    "PhaseReport",
    "Result",
    "SleepReport",
    "State",
    "is_due",
    "sleep_cycle",
]

log = logging.getLogger(__name__)


class PhaseName(StrEnum):
    """A phase of a night; its value stands in the journal and on screens."""

    SUMMARIES = "summaries"
    CONSOLIDATION = "consolidation"
    STATEMENTS = "statements"
    MISTAKES = "mistakes"
    REFLECTION = "reflection"
    LESSONS = "lessons"
    SOUL = "soul"
    FILE = "file"
    CALIBRATION = "calibration"
    TRENDS = "trends"
    END = "end"
    """No phase of its own: what stands in the journal when all are done."""


END = PhaseName.END
RESTS_ON: Mapping[PhaseName, tuple[PhaseName, ...]] = {
    PhaseName.LESSONS: (PhaseName.MISTAKES,),
    PhaseName.SOUL: (PhaseName.STATEMENTS, PhaseName.MISTAKES, PhaseName.REFLECTION),
    PhaseName.FILE: (PhaseName.SOUL,),
}
"""The phases whose work a phase takes up: where one of them failed, it is done all the same, and again at the next
start. What these write is the same however often they do it."""
_DAY = 86_400.0

T = TypeVar("T")
Json = Mapping[str, Any]
State = Literal["done", "skipped", "failed", "before"]
"""Of a phase; `before` where an earlier start of this night had done it."""


class MeasuredEffect(NamedTuple):
    """An effect with the interval that holds it with 95 % probability: what it changes of a share, from -1 to 1."""

    what: str
    verdict: str
    estimate: float
    low: float
    high: float

    def format_figures(self) -> str:
        """The effect and its interval, in points of a hundred."""
        return f"{100 * self.estimate:+.0f} points, between {100 * self.low:+.0f} and {100 * self.high:+.0f} (95 %)"

    def format_line(self) -> str:
        """All of it, in a line."""
        return f"{self.what}: {self.verdict}, {self.format_figures()}"


class Result(NamedTuple):
    """What a phase found, what it changes, and what a person is told of it."""

    report: Mapping[str, object]
    """Figures and names, for programs."""
    changes: Changes = ()
    skipped: str = ""
    """Why there was nothing to do, in a sentence."""
    says: Sequence[str] = ()
    """What a person is told: a sentence, and what was learned or changed, each in a line; empty without news."""
    undo: Sequence[str] = ()
    """What takes back each of these lines, or the sentence where there are none: `guidance forget g1f…`."""
    news: Sequence[str] = ()
    """What the next talk begins with: what changed, each with the command that takes it back."""
    effects: Sequence[MeasuredEffect] = ()
    """Effects that came to be known."""

    def to_journal(self) -> dict[str, object]:
        """All of it as it stands in the journal."""
        effects = [effect._asdict() for effect in self.effects]
        told = {"says": [*self.says], "undo": [*self.undo], "news": [*self.news], "effects": effects}
        return {**self.report, **{key: value for key, value in told.items() if value}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One night of one user, as the phases see it."""

    store: Store
    user: str
    user_id: int
    date: str
    """Its name: the day that it belongs to, as the user counts days."""
    now: float
    since: float
    """When the last night was; 0 for the first."""
    identity: Identity
    calibration: Calibration | None = None
    """Of confidence, which the user's own begins with; None for the shipped one."""
    model: "Model | None" = None
    account: Account = field(default_factory=Account)
    soul: Path | None = None
    """The user's SOUL.md; None where it is kept in the store alone."""
    embed: Embed | None = None
    """Makes the vectors of statements; None leaves them to their words."""
    done: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Reports of what is journalled already."""
    last: Json = field(default_factory=dict[str, Any])
    """What this phase reported when it was last done, in an earlier night."""
    known: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    """What was read since a model was last asked: see `read_once`."""
    made: dict[Hashable, tuple[object, Any]] = field(default_factory=dict[Hashable, "tuple[object, Any]"])
    """What was made of what was read: see `made_of`."""

    @property
    def last_seen(self) -> int:
        """The last message that this phase had seen by then: by its place on the ledger, since clocks are put back."""
        last = self.last.get(UP_TO, 0)
        return last if isinstance(last, int) else 0

    async def once(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, which JSON must hold; from the journal where it was done before the night was stopped.

        For what costs: a call of a model is made once, and at most the one in flight is repeated.
        """
        known = self.done.get(name) or await self._read_note(name)
        if "result" in known:
            return cast(T, known["result"])
        result = json.loads(json.dumps(await work()))  # what is read after a stop is what was read before it
        self.known.clear()
        if await self.store.nights.note_answer(self.user_id, self.date, name, {"result": result}):
            return result
        return cast(T, (await self._read_note(name)).get("result", result))

    async def _read_note(self, name: str) -> Json:
        """What stands in the journal by now: somebody else may be at this night, who thought that we were gone."""
        return (await self.store.nights.read_journal(self.user_id, self.date)).get(name, {})

    async def read_once(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """What was read before, else what `read` gives; not beyond a question to a model, which takes its time: what
        was read before it may have been erased since.
        """
        if key not in self.known:
            self.known[key] = await read()
        return cast(T, self.known[key])

    def made_of(self, key: Hashable, of: object, make: Callable[[], T]) -> T:
        """What `make` makes of something that was read; of the same it is not made again."""
        known = self.made.get(key)
        if known is None or known[0] != of:
            known = self.made[key] = of, make()
        return cast(T, known[1])

    async def list_sessions(self) -> list[StoredSession]:
        """The user's sessions, oldest first."""
        return await self.read_once("sessions", lambda: self.store.nights.sessions_to_sleep_on(self.user_id))

    async def lines_of(self, sessions: Sequence[int], limit: int) -> dict[int, list[TranscriptLine]]:
        """The last lines of some sessions, each oldest first."""
        new = [number for number in sessions if self.known.get(("lines", number), (0,))[0] < limit]
        if new:
            read = await self.store.nights.lines_of(self.user_id, new, limit)
            self.known.update({("lines", number): (limit, lines) for number, lines in read.items()})
        return {number: cast("list[TranscriptLine]", self.known["lines", number][1])[-limit:] for number in sessions}

    async def list_signals(self, kind: str, days: float) -> list[StoredSignal]:
        """The signals of a kind in the last days, oldest first."""
        since = self.now - days * _DAY
        return await self.read_once((kind, days), lambda: self.store.nights.list_signals(self.user_id, [kind], since))


Phase = Callable[[Night], Awaitable[Result]]
"""A phase of a night: it reads, decides, and hands back what it found and what it changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseReport:
    """How one phase went."""

    name: PhaseName
    state: State
    found: Json = field(default_factory=dict[str, Any])
    why: str = ""
    """Of one that was skipped or failed: a sentence."""
    error: str = ""
    """Of one that failed: the name of the error, which holds nobody's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepReport:
    """One night of one user."""

    user: str
    date: str
    phases: tuple[PhaseReport, ...]
    skipped: str = ""
    """Why there was no night."""
    gated: bool = False
    """Whether there was none only because none is due: by force there is."""

    @property
    def failed(self) -> tuple[PhaseReport, ...]:
        """The phases that failed; the same night, started again, tries them anew."""
        return tuple(phase for phase in self.phases if phase.state == "failed")


async def sleep_cycle(  # noqa: PLR0913 one door, with a keyword for each thing that a night may need
    store: Store,
    user: str,
    phases: Sequence[tuple[PhaseName, Phase]],
    *,
    date: str | None = None,
    zone: tzinfo | None = None,
    identity: Identity | None = None,
    calibration: Calibration | None = None,
    model: "Model | None" = None,
    account: Account | None = None,
    soul: Path | None = None,
    embed: Embed | None = None,
    force: bool = False,
) -> SleepReport:
    """Run the night of a user, or go on with one that was stopped.

    Args:
        store: where everything stands.
        date: name of the night; by default today, with a number where today has had one.
        zone: where the user counts days; by default where the machine stands.
        calibration: of confidence, which users' own begin with; by default the shipped one.
        model: writes summaries and reflections; without one they are made without.
        account: caps on what it may spend.
        soul: the user's SOUL.md; None keeps it in the store alone.
        embed: makes the vectors of what the night adds to memory.
        force: whether to sleep though the last night was less than 20 hours ago or nothing happened since.

    Raises:
        StoreError: another version, with other phases, began this night.
    """
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        why = f"Nothing is stored of {user!r}."
        return SleepReport(user=user, date=date or _date_today(store, zone), phases=(), skipped=why)
    async with store.hold_night(user_id) as alone:
        preconditions = await store.run(
            check_preconditions, user_id, _date_today(store, zone), store.now(), night=date, force=force
        )
        _check_journal(preconditions.done)
        if why := preconditions.why if alone else "Another process is at this night now.":
            return SleepReport(user=user, date=preconditions.night, phases=(), skipped=why, gated=alone)
        account = account or Account()
        before = account.spent
        await _note_beginning(store, preconditions.night, user_id)
        night = Night(
            store=store,
            user=user,
            user_id=user_id,
            date=preconditions.night,
            now=store.now(),
            since=preconditions.since,
            identity=identity or Identity(),
            calibration=calibration,
            model=model,
            account=account,
            soul=soul,
            embed=embed,
            done=preconditions.done,
            known={"sessions": preconditions.sessions},
        )
        with on_behalf_of(user), open_span(NIGHT) as traced:
            report = SleepReport(
                user=user, date=night.date, phases=await _run_phases(night, phases, preconditions.last)
            )
            traced.add_attributes(state="failed" if report.failed else "done")
        await _note_end(night, report, _spent_since(before, account))
        return report


async def _note_beginning(store: Store, night: str, user_id: int) -> None:
    """Note that a night begins; where that cannot be written down, it goes on all the same."""
    try:
        await store.run(spending.begin_night, night, user_id, store.now())
    except StoreError as error:
        log.warning("That the night of %s began was not noted: %s", night, error)


async def _note_end(night: Night, report: SleepReport, spent: Spent) -> None:
    """Note how a night ended; where that fails, the night is as it is."""
    why = ", ".join(f"{failed.name}: {failed.error}" for failed in report.failed)
    state: spending.State = "failed" if why else "done"
    try:
        await night.store.run(spending.end_night, night.date, night.user_id, spent, state, why, night.store.now())
    except StoreError as error:
        log.warning("How the night of %s ended was not noted: %s", night.date, error)


def _spent_since(before: Usage, account: Account) -> Spent:
    now = account.spent
    tokens = now.input_tokens + now.output_tokens - before.input_tokens - before.output_tokens
    return Spent(now.calls - before.calls, tokens)


def _check_journal(done: Mapping[str, Json]) -> None:
    """Hold that every phase in the journal is one of ours; an answer that was asked for has a colon in its name."""
    for name in done:
        if ":" not in name and name not in [*PhaseName]:
            raise StoreError(
                f"The journal of the nights names a phase {name!r}, which this version of Insula does not have; "
                "open it with the version that wrote it."
            )


async def is_due(store: Store, user: str, zone: tzinfo | None = None) -> bool:
    """Whether a night of a user would find something to do now; `zone` as for `sleep_cycle`."""
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        return False
    return not (await store.run(check_preconditions, user_id, _date_today(store, zone), store.now())).why


def _date_today(store: Store, zone: tzinfo | None) -> str:
    return datetime.fromtimestamp(store.now(), zone).strftime("%Y-%m-%d")


async def _run_phases(
    night: Night, phases: Sequence[tuple[PhaseName, Phase]], last: Mapping[str, Json]
) -> tuple[PhaseReport, ...]:
    reports: list[PhaseReport] = []
    unsettled = set[PhaseName]()
    sessions = await night.list_sessions()
    for name, phase in phases:
        again = not unsettled.isdisjoint(RESTS_ON.get(name, ()))
        reports.append(await _run_phase(replace(night, last=last.get(name, {})), name, phase, again))
        if again or reports[-1].state == "failed":
            unsettled.add(name)
    if not any(report.state == "failed" for report in reports):
        seen = min([max((session.last for session in sessions), default=0), *_list_seen(reports)])
        ended = await _run_phase(night, END, lambda _: _end_result(seen))
        reports += [ended] if ended.state == "failed" else []
    return tuple(reports)


def _list_seen(reports: Sequence[PhaseReport]) -> Iterator[int]:
    """What the phases have seen: a message that one of them has not is left for the next night."""
    for report in reports:
        if isinstance(seen := report.found.get(UP_TO), int):
            yield seen


async def _end_result(seen: int) -> Result:
    return Result({UP_TO: seen})


async def _run_phase(night: Night, name: PhaseName, phase: Phase, again: bool = False) -> PhaseReport:
    with open_span(PHASE, phase=name) as traced:
        report = await _run_bounded(night, name, phase, again)
        traced.add_attributes(state=report.state)
    return report


async def _run_bounded(night: Night, name: PhaseName, phase: Phase, again: bool) -> PhaseReport:
    """One phase within its own boundary.

    Args:
        again: whether it is to be done again at the next start, and so is not journalled.
    """
    if name in night.done:
        return PhaseReport(name=name, state="before", found=night.done[name])
    try:
        result = await phase(night)
        if again:
            await night.store.run(write_changes, night.user_id, result.changes, night.store.now())
        else:
            await night.store.nights.record_phase(night.user_id, night.date, name, result.to_journal(), result.changes)
    except InsulaError as error:
        log.warning("The phase %s of the night of %s failed: %s", name, night.date, error)
        return PhaseReport(name=name, state="failed", why=str(error), error=type(error).__name__)
    except Exception as error:
        log.exception("The phase %s of the night of %s failed.", name, night.date)
        kind = type(error).__name__
        return PhaseReport(name=name, state="failed", why=f"It failed ({kind}); the log says more.", error=kind)
    if result.skipped:
        return PhaseReport(name=name, state="skipped", found=result.to_journal(), why=result.skipped)
    return PhaseReport(name=name, state="done", found=result.to_journal())
