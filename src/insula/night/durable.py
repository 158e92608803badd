"""Nights on many machines: a durable engine (DBOS) on PostgreSQL schedules, queues and resumes them.

The engine decides who runs when; that nothing is done twice stands in the store, where each phase is journalled in the
transaction that changes what it changes. A worker that dies is missed by its lease, and its nights go to the others.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

from insula.errors import SettingsError, StoreError
from insula.llm.budget import Account
from insula.memory.storage import nights, postgres, spending
from insula.memory.storage.postgres import is_server
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Embed
from insula.night.cycle import Phase, PhaseName, SleepReport, sleep_cycle
from insula.night.phases import PHASES
from insula.types import Identity

try:
    from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetEnqueueOptions, SetWorkflowID
except ImportError as missing:
    raise SettingsError(
        "Nights on many machines need a durable engine that is not installed; install it with: "
        "pip install 'dbos>=3.4,<4' 'psycopg[binary]>=3.3'"
    ) from missing

if TYPE_CHECKING:
    from insula.llm.model import Model

log = logging.getLogger(__name__)

T = TypeVar("T")

VERSION = "night-1"
"""Of what a night's run is to the engine: runs of another version are left to workers of theirs."""
NIGHT, EVENING = "insula.night", "insula.evening"
QUEUE = "insula-nights"
QUIET_HOURS = "0 0,30 2-4 * * *"
"""When it is looked who sleeps, by the clock on users' walls: in quiet hours (DESIGN R1), each half hour."""
PAGE = 500
"""Users that are looked at, and put on the queue, at once."""
TRIES, PAUSE, BACK_OFF = 6, 5.0, 2.0
"""How often a night is tried, the seconds before the second time, and how much longer each pause is: five minutes in
all. What is not done by then, the next night goes on with."""
KEPT = timedelta(days=7)
"""How long what ended stays on the engine's record."""
AHEAD = 2
"""Nights that a worker takes from the queue, as a multiple of those that it is at: the engine looks twice a second
there, and a night that is over would else leave its place empty until then."""
_LOOK = postgres.LEASE / 3


class Unfinished(Exception):
    """A night that did not come to its end: it is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the workers keep to, all of them together."""

    at_once: int = 8
    """Nights that one worker is at."""
    everywhere: int | None = None
    """Nights that all are at: what the provider of the model allows."""
    per_minute: int | None = None
    """Nights that all of them begin in a minute: the provider's rate, by the calls of a night."""
    tenant_at_once: int | None = None
    """Nights of one tenant that all are at."""
    tenant_per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """What a worker needs to know to run a night."""

    store: Store
    url: str
    """Of the database, with its password."""
    model: "Model | None" = None
    embed: Embed | None = None
    """Makes the vectors of what a night adds to memory; None leaves it to its words."""
    account: Callable[[], Account] = Account
    """The caps of one night."""
    prepare: Callable[[str], Awaitable[object]] | None = None
    """What is done for a user before the night."""
    zone_of: Callable[[str], ZoneInfo | None] = lambda _: None
    zones: tuple[str, ...] = ("UTC",)
    """Where users sleep; in the first of them those who have no zone of their own."""
    provider: str = ""
    """Of the model; each has a queue of its own, and limits of its own."""
    identity: Identity | None = None
    limits: Limits = field(default_factory=Limits)
    phases: tuple[tuple[PhaseName, Phase], ...] = PHASES
    executor: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}")


def tenant_of(user: str) -> str:
    """To whom a user belongs: what stands before the first slash of the name, as in `acme/ana`."""
    tenant, slash, _ = user.partition("/")
    return tenant if slash else "-"


@asynccontextmanager
async def run_worker(house: WorkerConfig, *, works: bool = True) -> AsyncGenerator["Worker"]:
    """A worker that runs nights as long as the block; without `works` it only puts them on the queue.

    Raises:
        SettingsError: the store is no server.
    """
    if not is_server(house.url):
        raise SettingsError("Nights on many machines need a memory on PostgreSQL; set INSULA_STORE=postgresql://….")
    worker = Worker(house)
    await worker.launch_engine(works)
    beat = asyncio.create_task(worker.keep_alive()) if works else None
    try:
        yield worker
    finally:
        if beat:
            beat.cancel()
            with suppress(asyncio.CancelledError):
                await beat
        await worker.end_engine()


class Worker:
    """One of the processes that run nights."""

    def __init__(self, house: WorkerConfig) -> None:
        self.house = house
        self._queue = f"{QUEUE}-{house.provider}" if house.provider else QUEUE
        self._night: Any = None
        self._evening: Any = None
        self._threads = ThreadPoolExecutor(2, "insula-engine")
        """The engine is spoken to from these: in a thread that runs a loop, it would take that loop's threads along."""
        self._room = asyncio.Semaphore(house.limits.at_once)

    async def _call_engine(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def launch_engine(self, works: bool) -> None:
        """Let the engine begin; it schedules and runs nights only where it `works`."""
        await self._call_engine(lambda: self._launch_engine(works))

    def _launch_engine(self, works: bool) -> None:
        house = self.house
        config: DBOSConfig = {
            "name": "insula",
            "system_database_url": house.url.replace("postgres://", "postgresql://", 1),
            "application_version": VERSION,
            "executor_id": house.executor,
            "serializer": DBOSPortableJSONSerializer(),
            "use_listen_notify": False,  # a pooler would swallow it
            "db_engine_kwargs": {"connect_args": {"prepare_threshold": None, "application_name": "insula-engine"}},
            "scheduler_polling_interval_sec": 30.0,
            "log_level": "WARNING",
        }
        DBOS(config=config)
        self._night, self._evening = _register_workflows(self)
        DBOS.listen_queues([self._queue] if works else [])
        DBOS.launch()
        self._register_queue()
        if works:
            DBOS.apply_schedules(
                [
                    {
                        "schedule_name": f"{EVENING}-{zone}",
                        "workflow_fn": self._evening,
                        "schedule": QUIET_HOURS,
                        "cron_timezone": zone,
                        "context": {"zone": zone},
                    }
                    for zone in house.zones
                ]
            )

    def _register_queue(self) -> None:
        limits = self.house.limits
        DBOS.register_queue(
            self._queue,
            worker_concurrency=_worker_concurrency(limits),
            global_concurrency=limits.everywhere,
            limiter=_rate_limit(limits.per_minute),
            partition_concurrency=limits.tenant_at_once,
            partition_limiter=_rate_limit(limits.tenant_per_minute),
            polling_interval_sec=0.5,
            on_conflict="always_update",
        )

    async def end_engine(self) -> None:
        """Let the engine end; what it was at goes on elsewhere, or here at the next start."""
        await self._call_engine(lambda: DBOS.destroy(destroy_registry=True))
        self._threads.shutdown(wait=False)

    async def enqueue_due(self, zone: str | None = None, date: str | None = None) -> int:
        """Put the users on the queue for whom a night may find something new; returns how many.

        Args:
            zone: those alone who sleep there; by default all.
            date: the name of the nights; by default the day in the user's zone.
        """
        store, usual, after, called = self.house.store, ZoneInfo(self.house.zones[0]), 0, 0
        while page := await store.run(nights.list_waiting, after, store.now(), PAGE):
            after = page[-1][0]
            zones = [(number, user, self.house.zone_of(user) or usual) for number, user in page]
            here = [row for row in zones if zone is None or zone == row[2].key]
            due = [(number, user, date or _date_of(store.now(), where)) for number, user, where in here]
            await self._call_engine(lambda due=due: self._enqueue_nights(due))
            called += len(due)
        return called

    def _enqueue_nights(self, due: Sequence[tuple[int, str, str]]) -> None:
        limits = self.house.limits
        is_by_tenant = limits.tenant_at_once is not None or limits.tenant_per_minute is not None
        for number, user, date in due:
            tenant = tenant_of(user) if is_by_tenant else None
            with SetWorkflowID(f"night-{number}-{date}"), SetEnqueueOptions(queue_partition_key=tenant):
                DBOS.enqueue_workflow(self._queue, self._night, number, user, date)

    async def run_night(self, number: int, user: str, date: str) -> dict[str, Any]:
        """One user's night; returns what the engine notes down of it.

        Raises:
            Unfinished: it did not come to its end.
        """
        house = self.house
        async with self._room:
            if house.prepare:
                await house.prepare(user)
            report = await sleep_cycle(
                house.store,
                user,
                house.phases,
                date=date,
                zone=house.zone_of(user),
                identity=house.identity,
                model=house.model,
                account=house.account(),
                embed=house.embed,
            )
        return _summarise_report(report)

    async def keep_alive(self) -> None:
        """Say again and again that this worker is there, and take over from those who have not said so for long."""
        while True:
            try:
                await self.house.store.run(postgres.take_lease, _lease_name(self.house.executor), self.house.executor)
                await self.reclaim_runs()
            except StoreError as error:
                log.warning("The workers cannot be looked after: %s", error)
            except Exception:
                log.exception("Runs of dead workers could not be taken over; it is tried again.")
            await asyncio.sleep(_LOOK)

    async def reclaim_runs(self) -> int:
        """Put the runs of workers that died back on the queue; one worker at a time looks. Returns how many."""
        store, mine = self.house.store, self.house.executor
        if not await store.run(postgres.take_lease, "reclaim", mine):
            return 0
        alive = {mine, *await store.run(postgres.list_holders, _lease_name(""))}
        running = await self._call_engine(lambda: _list_runs(status="PENDING", queue_name=self._queue))
        dead = [run.workflow_id for run in running if run.executor_id not in alive]
        if dead:
            log.warning("%d nights of workers that died go to the others.", len(dead))
            await self._call_engine(lambda: DBOS.resume_workflows(dead, queue_name=self._queue))
        await self._clean_records()
        return len(dead)

    async def _clean_records(self) -> None:
        """Take what ended long ago off the engine's record, and off ours."""
        before = (datetime.now(UTC) - KEPT).isoformat()
        old = await self._call_engine(
            lambda: _list_runs(status=["SUCCESS", "ERROR"], completed_before=before, limit=PAGE)
        )
        if old:
            await self._call_engine(lambda: DBOS.delete_workflows([run.workflow_id for run in old]))
        await self.house.store.run(spending.drop_older_dates)


def _register_workflows(worker: Worker) -> tuple[Any, Any]:
    """What the engine runs: one user's night, tried again where it fails, and the call to bed in a time zone."""

    async def night(number: int, user: str, date: str) -> dict[str, Any]:
        options: Any = {
            "name": "sleep",
            "retries_allowed": True,
            "max_attempts": TRIES,
            "interval_seconds": PAUSE,
            "backoff_rate": BACK_OFF,
        }
        return await DBOS.run_step_async(options, worker.run_night, number, user, date)

    async def evening(_: datetime, context: Mapping[str, Any]) -> None:
        await worker.enqueue_due(str(context["zone"]))

    return DBOS.workflow(name=NIGHT)(night), DBOS.workflow(name=EVENING)(evening)


def _list_runs(**which: Any) -> list[Any]:
    """Runs on the engine's record, without what went in and came out."""
    return list(DBOS.list_workflows(load_input=False, load_output=False, **which))


def _lease_name(executor: str) -> str:
    return f"{spending.WORKER}{executor}"


def _worker_concurrency(limits: Limits) -> int:
    """Nights that a worker takes from the queue: none ahead of others where all together may be at so many alone."""
    if limits.everywhere is not None:
        return min(limits.at_once, limits.everywhere)
    return limits.at_once * (AHEAD if limits.tenant_at_once is None else 1)


def _rate_limit(per_minute: int | None) -> Any:
    return None if per_minute is None else {"limit": per_minute, "period": 60.0}


def _date_of(now: float, zone: ZoneInfo) -> str:
    return datetime.fromtimestamp(now, zone).strftime("%Y-%m-%d")


def _summarise_report(report: SleepReport) -> dict[str, Any]:
    """What the engine notes down of a night.

    Raises:
        Unfinished: a phase failed, or somebody else is at it.
    """
    if report.failed:
        raise Unfinished(", ".join(f"{failed.name}: {failed.why}" for failed in report.failed))
    if report.skipped and not report.gated:
        raise Unfinished(report.skipped)
    return {"state": "gated" if report.skipped else "done", "phases": len(report.phases)}
