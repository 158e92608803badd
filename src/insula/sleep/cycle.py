"""A night: what happened by day becomes what the agent does better tomorrow, phase by phase (seeds 000, 004).

Each phase reads, decides and hands back what it changes; the store writes that and the journal's entry in one
transaction. So a phase is done exactly once, whatever is killed when; one that fails leaves the others standing (R6).
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from insula.errors import InsulaError
from insula.llm.budget import Account
from insula.memory.changes import Changes
from insula.memory.isolation import on_behalf_of
from insula.memory.nights import MIN_MESSAGES, UP_TO
from insula.memory.store import Store
from insula.memory.vectors import Embed
from insula.sleep.names import PhaseName, named
from insula.telemetry import NIGHT, PHASE, span
from insula.types import Calibration, Identity

if TYPE_CHECKING:
    from pydantic_ai.models import Model

log = logging.getLogger(__name__)

CADENCE = 20 * 3600.0
"""Seconds between two nights of a user (seed 004)."""
END = PhaseName.END
"""What stands in the journal when all phases of a night are done."""

T = TypeVar("T")
Json = Mapping[str, Any]
State = Literal["done", "skipped", "failed", "before"]
"""Of a phase; `before` where an earlier start of this night had done it."""


class Result(NamedTuple):
    """What a phase found, and what it changes."""

    report: Mapping[str, object]
    changes: Changes = ()
    skipped: str = ""
    """Why there was nothing to do, in a sentence."""
    waits: bool = False
    """Whether it could not be told yet: then the phase is not journalled, and is asked again at the next start."""


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

    @property
    def seen(self) -> int:
        """The last message that this phase had seen by then: by its place on the ledger, since clocks are put back."""
        found = self.last.get(UP_TO, 0)
        return found if isinstance(found, int) else 0

    async def once(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, which JSON must hold; from the journal where it was done before the night was stopped.

        For what costs: a call of a model is made once, and at most the one in flight is repeated.
        """
        known = self.done.get(name) or await self._noted(name)
        if "result" in known:
            return cast(T, known["result"])
        result = json.loads(json.dumps(await work()))  # what is read after a stop is what was read before it
        if await self.store.nights.note(self.user_id, self.date, name, {"result": result}):
            return result
        return cast(T, (await self._noted(name)).get("result", result))

    async def _noted(self, name: str) -> Json:
        """What stands in the journal by now: somebody else may be at this night, who thought that we were gone."""
        return (await self.store.nights.journal(self.user_id, self.date)).get(name, {})


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
    on_phase: Callable[[PhaseReport], None] | None = None,
) -> SleepReport:
    """Run the night of a user, or go on with one that was stopped.

    Args:
        store: where everything stands.
        user: whose night it is.
        phases: their names and what they do, in order.
        date: name of the night; by default today, with a number where today has had one.
        zone: where the user counts days; by default where the machine stands.
        identity: who the agent is.
        calibration: of confidence, which users' own begin with; by default the shipped one.
        model: writes summaries and reflections; without one they are made without.
        account: caps on what it may spend.
        soul: the user's SOUL.md; None keeps it in the store alone.
        embed: makes the vectors of what the night adds to memory.
        force: whether to sleep though the last night was less than 20 hours ago or nothing happened since.
        on_phase: called with each phase as it ends.

    Raises:
        StoreError: another version, with other phases, began this night.
    """
    user_id = await store.nights.sleeper(user)
    if user_id is None:
        why = f"Nothing is stored of {user!r}."
        return SleepReport(user=user, date=date or _day(store, zone), phases=(), skipped=why)
    async with store.nights.alone(user_id) as alone:
        with on_behalf_of(user):
            name = date or await _name(store, user_id, zone)
            done = await store.nights.journal(user_id, name)
            _check(done)
            why = "" if force else await _gate(store, user_id, done)
            why = why if alone else "Another process is at this night now."
            if why:
                return SleepReport(user=user, date=name, phases=(), skipped=why, gated=alone)
            last = await store.nights.slept(user_id, END)
            night = Night(
                store=store,
                user=user,
                user_id=user_id,
                date=name,
                now=store.now(),
                since=last[1] if last else 0.0,
                identity=identity or Identity(),
                calibration=calibration,
                model=model,
                account=account or Account(),
                soul=soul,
                embed=embed,
                done=done,
            )
            with span(NIGHT) as traced:
                report = SleepReport(user=user, date=name, phases=await _through(night, phases, on_phase))
                traced.set(state="failed" if report.failed else "done")
            return report


def _check(done: Mapping[str, Json]) -> None:
    """Hold that every phase in the journal is one of ours; an answer that was asked for has a colon in its name."""
    for name in done:
        if ":" not in name:
            named(name)


async def due(store: Store, user: str, zone: tzinfo | None = None) -> bool:
    """Whether a night of a user would find something to do now; `zone` as for `sleep_cycle`."""
    user_id = await store.nights.sleeper(user)
    if user_id is None:
        return False
    done = await store.nights.journal(user_id, await _name(store, user_id, zone))
    return not await _gate(store, user_id, done)


def _day(store: Store, zone: tzinfo | None) -> str:
    return datetime.fromtimestamp(store.now(), zone).strftime("%Y-%m-%d")


async def _name(store: Store, user_id: int, zone: tzinfo | None) -> str:
    """The night that was stopped lately, whatever day it is by now; else the first of today that has not ended.

    A second night of a day is one of its own, not a repetition.
    """
    stopped = await store.nights.unfinished(user_id, END)
    if stopped and abs(store.now() - stopped[1]) < CADENCE:
        return stopped[0]
    name = day = _day(store, zone)
    for number in count(2):
        if END not in await store.nights.journal(user_id, name):
            break
        name = f"{day}-{number}"
    return name


async def _gate(store: Store, user_id: int, done: Mapping[str, Json]) -> str:
    """Why there is to be no night (R1); nothing where there is."""
    if done and END not in done:
        return ""  # one that was stopped goes on
    last = await store.nights.slept(user_id, END)
    if last and 0 <= store.now() - last[1] < CADENCE:
        return "The last night was less than 20 hours ago."
    seen = (await store.nights.last_report(user_id, END)).get(UP_TO, 0)
    sessions = await store.nights.sessions_to_sleep_on(user_id)
    if not any(session.messages >= MIN_MESSAGES and session.last > seen for session in sessions):
        return f"No session with {MIN_MESSAGES} messages or more since the last night."
    return ""


async def _through(
    night: Night, phases: Sequence[tuple[PhaseName, Phase]], on_phase: Callable[[PhaseReport], None] | None
) -> tuple[PhaseReport, ...]:
    reports: list[PhaseReport] = []
    sessions = await night.store.nights.sessions_to_sleep_on(night.user_id)
    for name, phase in phases:
        reports.append(await _run(night, name, phase))
        if on_phase:
            on_phase(reports[-1])
    if not any(report.state == "failed" for report in reports):
        seen = min([max((one.last for one in sessions), default=0), *_seen(reports)])
        ended = await _run(night, END, lambda _: _ended(seen))
        reports += [ended] if ended.state == "failed" else []
    return tuple(reports)


def _seen(reports: Sequence[PhaseReport]) -> Iterator[int]:
    """What the phases have seen: a message that one of them has not is left for the next night."""
    for report in reports:
        if isinstance(seen := report.found.get(UP_TO), int):
            yield seen


async def _ended(seen: int) -> Result:
    return Result({UP_TO: seen})


async def _run(night: Night, name: PhaseName, phase: Phase) -> PhaseReport:
    with span(PHASE, phase=name) as traced:
        report = await _bounded(night, name, phase)
        traced.set(state=report.state)
    return report


async def _bounded(night: Night, name: PhaseName, phase: Phase) -> PhaseReport:
    """One phase within its own boundary."""
    if name in night.done:
        return PhaseReport(name=name, state="before", found=night.done[name])
    try:
        last = await night.store.nights.last_report(night.user_id, name)
        result = await phase(replace(night, last=last))
        if not result.waits:
            await night.store.nights.record(night.user_id, night.date, name, result.report, result.changes)
    except InsulaError as error:
        log.warning("The phase %s of the night of %s failed: %s", name, night.date, error)
        return PhaseReport(name=name, state="failed", why=str(error))
    except Exception as error:
        log.exception("The phase %s of the night of %s failed.", name, night.date)
        return PhaseReport(name=name, state="failed", why=f"It failed ({type(error).__name__}); the log says more.")
    if result.skipped:
        return PhaseReport(name=name, state="skipped", found=result.report, why=result.skipped)
    return PhaseReport(name=name, state="done", found=result.report)
