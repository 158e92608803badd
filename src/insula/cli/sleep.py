"""`insula sleep`: run the night now, and see what was learned."""

import asyncio
import json as jsonlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict

from rich.console import Console
from rich.status import Status

from insula import settings as settings_module
from insula.agent import identity as identity_module
from insula.cli import stuck
from insula.cli.common import LOG_FILE, account_of, log_to, memory_of, soul_of
from insula.llm.local import weights_of
from insula.llm.models import resolve
from insula.memory import embedding
from insula.memory.storage.store import Store
from insula.metacognition.meaning import made_up
from insula.night.cycle import SleepReport, State, sleep_cycle
from insula.night.phases import PHASES, understanding_phases
from insula.night.telling import NOTHING, ordered, told
from insula.settings import Settings

TEST = "test"
MARKS: Mapping[State, str] = {"done": "✓", "before": "·", "skipped": "–", "failed": "✗"}


def run(*, user: str, everybody: bool, model: str | None, force: bool, json: bool) -> int:
    """Run the night of a user, or of all; returns the exit code: 0, or 1 where a phase failed."""
    settings = settings_module.load()
    log_to(settings_module.home() / LOG_FILE)
    with asleep():
        reports = asyncio.run(_nights(settings, user, everybody, model, force))
    if json:
        print(jsonlib.dumps([asdict(report) for report in reports], indent=2, default=str))
    else:
        for report in reports:
            if everybody:
                print(report.user)
            show(report)
        _end(reports)
    return int(any(report.failed for report in reports))


async def _nights(
    settings: Settings,
    user: str,
    everybody: bool,
    model: str | None,
    force: bool,
) -> list[SleepReport]:
    home = settings_module.home()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(memory_of(settings)))
        identity = identity_module.load(
            settings.identity or home / identity_module.FILE, required=bool(settings.identity)
        )
        embed = embedding.usable(embedding.named(settings.embed))
        name = model or settings.model
        llm = await stack.enter_async_context(resolve(name, settings.weights)) if understands(name) else None
        reports: list[SleepReport] = []
        for each in await store.nights.users() if everybody else [user]:
            if each == user and not everybody:
                await stuck.take(store, each, home)
            await made_up(store, each, embed)
            reports.append(
                await sleep_cycle(
                    store,
                    each,
                    understanding_phases(PHASES, settings.understanding, settings.understanding_tokens),
                    zone=settings.zone_of(each),
                    identity=identity,
                    model=llm,
                    account=account_of(settings),
                    soul=soul_of(each),
                    embed=embed,
                    force=force,
                )
            )
        return reports


def understands(name: str) -> bool:
    """Whether a model is asked to understand anybody: an embedded one writes fluently, not truly; `test` nothing."""
    return name != TEST and weights_of(name) is None


def asleep() -> Status:
    """A spinner on standard error while the night goes on; nothing where no person is looking."""
    return Console(stderr=True).status("sleeping on it; this may take a while with a large model")


def show(report: SleepReport) -> None:
    """Print what a night has to say: what was learned, and what failed; a sentence where that is nothing."""
    news = [one for one in ordered(map(told, report.phases)) if not one.is_quiet]
    for one in news:
        print(f"{MARKS[one.state]}  {one.name:<14} {one.said}", flush=True)
        for line in (*one.found, *(effect.said() for effect in one.measured)):
            print(f"{'':<17} • {line}")
    if not news and not report.skipped:
        print(NOTHING)


def _end(reports: Sequence[SleepReport]) -> None:
    if not reports:
        print("Nobody has said anything yet, so nobody sleeps; talk first: insula chat")
    for report in reports:
        if report.skipped:
            remedy = " (--force sleeps all the same)" if report.gated else ""
            print(f"No night for {report.user}: {report.skipped}{remedy}")
        elif report.failed:
            names = ", ".join(phase.name for phase in report.failed)
            print(f"insula: {names} failed; `insula sleep --user {report.user}` goes on from there.", file=sys.stderr)
