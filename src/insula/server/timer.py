"""What the server does between requests: nights in quiet hours (R1), and reading what was said once a user rests (K3a).

Both look again and again whose moment has come, and serve a few users at once.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import ClassVar

from insula.coding.step.digests import hash_text
from insula.errors import BudgetExceeded, InsulaError
from insula.memory.storage import unread
from insula.metacognition.nights import run_night
from insula.night.cycle import SleepReport, is_due
from insula.night.phases import understanding_phases
from insula.night.understanding import REST_SECONDS, read_next_lines
from insula.server.service import Service

log = logging.getLogger(__name__)

BEGINS, ENDS = time(2), time(5)
"""Quiet hours, by the clock on the user's wall (DESIGN R1)."""
SPREAD = timedelta(hours=2)
"""Each user's moment lies within the first hours of them; what is left is for nights that had to wait."""
NIGHT_AGAIN_SECONDS = 1_800.0
"""How long it waits before it goes on with a night that failed or that another process was at."""
READ_AGAIN_SECONDS, SPENT_SECONDS = 300.0, 3_600.0
"""How long a user waits whose lines could not be read, and whose tokens of the day are spent."""
AT_ONCE = 2
"""Users at once: one whose model is waited for holds up no other, and conversations come first."""
MOST = 100
"""Users at rest that one look finds; the others are found by the next."""
_DIGITS = 8


class Rounds(ABC):
    """Work on users, as their moment comes; whom it tried in vain is known here, all else in the store."""

    name: ClassVar[str]
    """Under which its failures are counted."""
    look_seconds: ClassVar[float]
    """How often it is looked whose moment has come."""

    def __init__(self, service: Service) -> None:
        self._service, self._store = service, service.store
        self._put_off: dict[str, tuple[float, float]] = {}

    async def run_forever(self) -> None:
        """Look whose moment has come, again and again; no failure ends it."""
        while True:
            try:
                await self.serve_waiting()
            except Exception:
                self._count_failure()
                log.exception("It could not be seen whose moment has come (%s); it is tried again.", self.name)
            await asyncio.sleep(self.look_seconds)

    async def serve_waiting(self) -> None:
        """Serve whose moment has come in their order, a few at once."""
        waiting = iter(await self.list_waiting())

        async def serve_next() -> None:
            for user in waiting:
                await self.serve_user(user)

        await asyncio.gather(*(serve_next() for _ in range(AT_ONCE)))

    @abstractmethod
    async def list_waiting(self) -> Sequence[str]:
        """The users whose moment has come, whoever has waited longest first."""

    @abstractmethod
    async def serve_user(self, user: str) -> None:
        """Do the work of one user, within their own boundary."""

    def put_off(self, user: str, seconds: float) -> None:
        """Let a user wait."""
        now = self._store.now()
        self._put_off[user] = now, now + seconds

    def is_put_off(self, user: str, now: float) -> bool:
        """Whether a user waits; a clock that was put back since ends that."""
        since, until = self._put_off.get(user, (now, now))
        return since <= now < until

    def _count_failure(self, where: str = "") -> None:
        self._service.mind.engine.telemetry.failures.labels(where or self.name).inc()


class NightTimer(Rounds):
    """Every user sleeps in their own quiet hours, if a night is due by then."""

    name = "timer"
    look_seconds = 60.0

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._settled: dict[str, date] = {}

    async def list_waiting(self) -> Sequence[str]:
        """The users whose hour of the night has come."""
        now = self._store.now()
        waiting = [user for user in await self._store.nights.list_users() if self._is_time(user, now)]
        return sorted(waiting, key=lambda user: night_delay(user, self._local_time(user, now).date()))

    async def serve_user(self, user: str) -> None:
        """The night of a user if one is due."""
        if not self._is_time(user, self._store.now()):  # the quiet hours may be over by now
            return
        try:
            done = await self._has_slept(user)
        except Exception:
            done = False
            self._count_failure("night")
            log.exception("A night failed; it goes on in half an hour.")
        if done:
            self._settled[user] = self._local_time(user, self._store.now()).date()
        else:
            self.put_off(user, NIGHT_AGAIN_SECONDS)

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
        if not BEGINS <= local.time() < ENDS or self._settled.get(user) == local.date() or self.is_put_off(user, now):
            return False
        begun = timedelta(hours=local.hour - BEGINS.hour, minutes=local.minute, seconds=local.second)
        return begun >= night_delay(user, local.date())

    def _local_time(self, user: str, now: float) -> datetime:
        return datetime.fromtimestamp(now, self._service.zone_of(user))


class Rests(Rounds):
    """Who has said nothing for a minute is read by their own model."""

    name = "understanding"
    look_seconds = 15.0

    async def list_waiting(self) -> Sequence[str]:
        """The users who rest."""
        now = self._store.now()
        self._put_off = {user: span for user, span in self._put_off.items() if self.is_put_off(user, now)}
        resting = await self._store.read(unread.list_resting, now, REST_SECONDS, MOST + len(self._put_off))
        return [user for user in resting if user not in self._put_off]

    async def serve_user(self, user: str) -> None:
        """Read the next lines of a user."""
        chat = self._service.chat
        try:
            await read_next_lines(
                self._store,
                user,
                chat.model,
                account=chat.account,
                embed=self._service.mind.engine.embed,
                tokens=self._service.understanding_tokens,
            )
        except BudgetExceeded:
            self.put_off(user, SPENT_SECONDS)
        except Exception as error:
            self.put_off(user, READ_AGAIN_SECONDS)
            self._count_failure()
            if isinstance(error, InsulaError):
                log.warning("Lines could not be read: %s", type(error).__name__)
            else:
                log.exception("Lines could not be read; it is tried again.")


def run_timer(service: Service) -> AbstractAsyncContextManager[None]:
    """The timer runs as long as the block, where the service wants one; a night under way goes on at the next start."""
    return run_beside(NightTimer(service).run_forever() if service.nightly else None)


def run_rests(service: Service) -> AbstractAsyncContextManager[None]:
    """Lines are read between turns as long as the block lasts, where that is wanted and a model is there for it."""
    wanted = service.understanding == "idle" and service.understands
    return run_beside(Rests(service).run_forever() if wanted else None)


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


def night_delay(user: str, day: date) -> timedelta:
    """How long after quiet hours begin a user's night begins: another lot for each night, so that nobody is always
    the last.
    """
    return SPREAD * (int(hash_text(f"{day} {user}", _DIGITS), 16) / 16**_DIGITS)


async def run_user_night(service: Service, user: str, *, force: bool = False) -> SleepReport:
    """Run the night of a user, or go on with one that was stopped.

    Args:
        force: whether to sleep though none is due.
    """
    chat = service.chat
    report = await run_night(
        service.mind.engine,
        user,
        model=chat.model if service.understands else None,
        soul=service.soul_of(user),
        force=force,
        phases=understanding_phases(service.understanding, service.understanding_tokens),
        zone=service.zone_of(user),
        account=chat.account,
    )
    phases = tuple(replace(phase, why=service.hide_machine(phase.why)) for phase in report.phases)
    return replace(report, phases=phases)
