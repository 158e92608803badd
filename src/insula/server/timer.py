"""The server's night timer: every user sleeps in their own quiet hours, if a night is due by then (R1).

It goes on beside the server's requests for as long as a block lasts.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from insula.coding.step.digests import hash_text
from insula.metacognition.nights import run_night
from insula.night.cycle import SleepReport, is_due
from insula.night.phases import understanding_phases
from insula.server.service import Service

log = logging.getLogger(__name__)

BEGINS, ENDS = time(2), time(5)
"""Quiet hours, by the clock on the user's wall (DESIGN R1)."""
SPREAD = timedelta(hours=2)
"""Each user's moment lies within the first hours of them; what is left is for nights that had to wait."""
LOOK_SECONDS = 60.0
"""How often the timer looks whose moment has come."""
AGAIN_SECONDS = 1_800.0
"""How long it waits before it goes on with a night that failed or that another process was at."""
AT_ONCE = 2
"""Nights at once: one that waits for its model holds up no other, and conversations come first."""
_DIGITS = 8


@asynccontextmanager
async def run_timer(service: Service) -> AsyncGenerator[None]:
    """The timer runs as long as the block, where the service wants one; a night under way goes on at the next start."""
    async with run_beside(NightTimer(service).run_forever() if service.nightly else None):
        yield


class NightTimer:
    """Knows whom it has looked after tonight; whether a night is due stands in the store, and survives restarts."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._store = service.chat.metacognition.store
        self._settled: dict[str, date] = {}
        self._again: dict[str, float] = {}

    async def run_forever(self) -> None:
        """Look whose moment has come, again and again; no failure ends it."""
        while True:
            try:
                await self.run_due_nights()
            except Exception:
                self._count_failure("timer")
                log.exception("The night timer could not see who is there; it looks again.")
            await asyncio.sleep(LOOK_SECONDS)

    async def run_due_nights(self) -> None:
        """Run the nights whose moment has come, a few at once, whoever has waited longest first."""
        now = self._store.now()
        waiting = [user for user in await self._store.nights.list_users() if self._is_time(user, now)]
        users = iter(sorted(waiting, key=lambda user: night_delay(user, self._local_time(user, now).date())))
        await asyncio.gather(*(self._work_users(users) for _ in range(AT_ONCE)))

    async def _work_users(self, users: Iterator[str]) -> None:
        for user in users:
            if self._is_time(user, self._store.now()):  # the quiet hours may be over by now
                await self._run_night(user)

    async def _run_night(self, user: str) -> None:
        """The night of a user if one is due, within its own boundary."""
        try:
            done = await self._has_slept(user)
        except Exception:
            done = False
            self._count_failure("night")
            log.exception("A night failed; it goes on in half an hour.")
        now = self._store.now()
        if done:
            self._settled[user] = self._local_time(user, now).date()
        else:
            self._again[user] = now + AGAIN_SECONDS

    async def _has_slept(self, user: str) -> bool:
        """Whether nothing is left to do for a user tonight."""
        if not await is_due(self._store, user, self._service.zone_of(user)):
            return True
        report = await run_user_night(self._service, user)
        for phase in report.failed:
            self._count_failure("night")
            log.warning("The phase %s of the night of %s failed; it goes on in half an hour.", phase.name, report.date)
        if not (report.failed or report.skipped):
            log.info("The night of %s is over.", report.date)
        return not report.failed and (not report.skipped or report.gated)

    def _is_time(self, user: str, now: float) -> bool:
        local = self._local_time(user, now)
        if not BEGINS <= local.time() < ENDS or self._settled.get(user) == local.date():
            return False
        if 0 < self._again.get(user, now) - now <= AGAIN_SECONDS:
            return False
        return _time_since(BEGINS, local) >= night_delay(user, local.date())

    def _local_time(self, user: str, now: float) -> datetime:
        return datetime.fromtimestamp(now, self._service.zone_of(user))

    def _count_failure(self, where: str) -> None:
        self._service.chat.metacognition.engine.telemetry.failures.labels(where).inc()


def night_delay(user: str, day: date) -> timedelta:
    """How long after quiet hours begin a user's night begins: another lot for each night, so that nobody is always
    the last.
    """
    return SPREAD * (int(hash_text(f"{day} {user}", _DIGITS), 16) / 16**_DIGITS)


def _time_since(begun: time, local: datetime) -> timedelta:
    return timedelta(hours=local.hour - begun.hour, minutes=local.minute - begun.minute, seconds=local.second)


async def run_user_night(service: Service, user: str, *, force: bool = False) -> SleepReport:
    """Run the night of a user, or go on with one that was stopped.

    Args:
        force: whether to sleep though none is due.

    Raises:
        StoreError: the store cannot be used.
    """
    chat = service.chat
    report = await run_night(
        chat.metacognition.engine,
        user,
        model=chat.model if service.understands else None,
        soul=service.soul_of(user),
        force=force,
        phases=understanding_phases(service.understanding, service.understanding_tokens),
        zone=service.zone_of(user),
        account=chat.account,
    )
    return replace(
        report,
        phases=tuple(
            replace(phase_report, why=service.hide_machine(phase_report.why)) for phase_report in report.phases
        ),
    )


@asynccontextmanager
async def run_beside(work: Coroutine[None, None, None] | None) -> AsyncGenerator[None]:
    """Run work until the block ends, and cancel it then; with None nothing runs."""
    task = asyncio.create_task(work) if work is not None else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
