"""`insula worker`: run the nights of many users beside other workers."""

import asyncio
import logging
import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from insula import settings as settings_module
from insula.cli.common import LOG_FILE, account_of, log_to, memory_of
from insula.cli.opening import load_identity, open_night_model
from insula.cli.options import ReadingModel
from insula.errors import SettingsError
from insula.memory.retrieval import embedding
from insula.memory.storage.store import Store
from insula.metacognition.reading import catch_up
from insula.night.phases import understanding_phases
from insula.settings import Settings

if TYPE_CHECKING:
    from insula.night.durable import Limits, WorkerConfig


def worker(
    model: ReadingModel = None,
    name: Annotated[str | None, typer.Option(help="This worker's own; by default host and process.")] = None,
    at_once: Annotated[int, typer.Option(help="Nights that this worker is at.", min=1)] = 8,
    everywhere: Annotated[int | None, typer.Option(help="Nights that all workers are at.", min=1)] = None,
    per_minute: Annotated[int | None, typer.Option(help="Nights that all begin in a minute.", min=1)] = None,
    tenant_at_once: Annotated[int | None, typer.Option(help="Nights of one tenant (acme/ana).", min=1)] = None,
    tenant_per_minute: Annotated[int | None, typer.Option(help="Nights of one tenant in a minute.", min=1)] = None,
) -> int:
    """Run nightly processing for many users (needs PostgreSQL), each in their quiet hours."""
    from insula.night.durable import Limits

    limits = Limits(
        at_once=at_once,
        everywhere=everywhere,
        per_minute=per_minute,
        tenant_at_once=tenant_at_once,
        tenant_per_minute=tenant_per_minute,
    )
    settings = settings_module.load_settings()
    log_to(settings_module.home() / LOG_FILE, logging.INFO)
    return asyncio.run(_run_worker(settings, model, name, limits))


async def _run_worker(settings: Settings, model: str | None, name: str | None, limits: "Limits") -> int:
    from insula.night.durable import run_worker

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with _open_house(settings, model, name, limits) as house, run_worker(house):
        print(f"insula · worker {house.executor} on {house.store.path} · Ctrl-C stops it", flush=True)
        await stopped.wait()
    return 0


@asynccontextmanager
async def _open_house(
    settings: Settings, model: str | None, name: str | None, limits: "Limits"
) -> AsyncGenerator["WorkerConfig"]:
    """What a worker needs, by the settings."""
    from insula.night.durable import WorkerConfig

    url = memory_of(settings)
    if settings.store is None:
        raise SettingsError(
            "Nights on many machines need a memory on PostgreSQL; set INSULA_STORE=postgresql://USER:PASSWORD@HOST/NAME"
        )
    who, embed = load_identity(settings), embedding.resolve_embedding(embedding.embedding_by_name(settings.embed))
    chosen = model or settings.model
    zones = [settings.time_zone or "UTC", *(user.time_zone for user in settings.users.values() if user.time_zone)]
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(url))
        llm = await stack.enter_async_context(open_night_model(settings, chosen))
        house = WorkerConfig(
            store=store,
            url=url,
            model=llm,
            embed=embed,
            account=lambda: account_of(settings),
            prepare=lambda user: catch_up(store, user, embed),
            zone_of=settings.zone_of,
            zones=tuple(dict.fromkeys(zones)),
            provider=chosen.partition(":")[0] if llm is not None and "://" not in chosen else "",
            identity=who,
            limits=limits,
            phases=understanding_phases(settings.understanding, settings.understanding_tokens),
        )
        yield replace(house, executor=name) if name else house
