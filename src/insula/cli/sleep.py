"""`insula sleep`: run the night now, and see what was learned.

What coding agents were stuck at is taken from the traces of the hook to the user's ledger before it (K5).
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.status import Status

from insula import settings as settings_module
from insula.cli.common import LOG_FILE, account_of, log_to, memory_of, soul_of
from insula.cli.lines import print_folded, print_json, print_warning
from insula.cli.opening import load_identity, open_night_model
from insula.cli.options import Json, ReadingModel, User
from insula.coding.step import trace
from insula.coding.step.ladder import FLAG
from insula.llm.budget import Account
from insula.llm.model import Model
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval import embedding
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.metacognition.engine import Engine
from insula.metacognition.facade import note_stuck
from insula.metacognition.nights import run_night
from insula.night.cycle import SleepReport
from insula.night.phases import understanding_phases
from insula.operations.nights import NOTHING, describe_report
from insula.settings import Settings
from insula.types import IMPASSE

LINES = 3
"""Changes of a night that are shown."""


def sleep(
    user: User = "me",
    everybody: Annotated[bool, typer.Option("--all", help="The nights of all users.")] = False,
    model: ReadingModel = None,
    force: Annotated[bool, typer.Option("--force", help="Run even if the last night was under 20 hours ago.")] = False,
    json: Json = False,
) -> int:
    """Run the night now, and show what it changed: guidance, and memories that it merged or let go.

    The exit status is 1 where a phase failed; the next run goes on from there.
    """
    settings = settings_module.load_settings()
    log_to(settings_module.home() / LOG_FILE)
    with show_sleeping():
        reports = asyncio.run(_run_nights(settings, user, everybody, model, force))
    if json:
        print_json([asdict(report) for report in reports])
    else:
        for report in reports:
            if everybody:
                print(report.user)
            print_report(report)
        _end_command(reports)
    return int(any(report.failed for report in reports))


async def _run_nights(
    settings: Settings,
    user: str,
    everybody: bool,
    model: str | None,
    force: bool,
) -> list[SleepReport]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(memory_of(settings)))
        embed = embedding.embedding_by_name(settings.embed)
        engine = Metacognition(store, identity=load_identity(settings), embed=embed).engine
        llm = await stack.enter_async_context(open_night_model(settings, model or settings.model))
        reports: list[SleepReport] = []
        for each in await store.nights.list_users() if everybody else [user]:
            if each == user and not everybody:
                await record_stuck(store, each, settings_module.home())
            reports.append(await run_night_of(settings, engine, each, llm, account_of(settings), force=force))
        return reports


async def run_night_of(
    settings: Settings, engine: Engine, user: str, model: Model | None, account: Account, *, force: bool
) -> SleepReport:
    """Run the night of a user as the settings have it."""
    return await run_night(
        engine,
        user,
        model=model,
        soul=soul_of(user),
        force=force,
        phases=understanding_phases(settings.understanding, settings.understanding_tokens),
        zone=settings.zone_of(user),
        account=account,
    )


def show_sleeping() -> Status:
    """A spinner on standard error while the night goes on; nothing where no person is looking."""
    return Console(stderr=True).status("sleeping on it; this may take a while with a large model")


def print_report(report: SleepReport) -> None:
    """Print what a night changed, each with what takes it back, and what failed; a sentence where that is nothing."""
    changes = describe_report(report)
    for change in changes.changes[:LINES]:
        undo = f" (take it back: {change.undo.command})" if change.undo else ""
        print_folded(f"{change.text}{undo}", "• ", "  ")
    if (more := len(changes.changes) - LINES) > 0:
        print(f"… and {more} more: insula guidance")
    for why in changes.failed:
        print_folded(why, "✗ ", "  ")
    if not (changes.changes or changes.failed or changes.skipped):
        print(NOTHING)


def _end_command(reports: Sequence[SleepReport]) -> None:
    if not reports:
        print("Nobody has said anything yet, so nobody sleeps; talk first: insula chat")
    for report in reports:
        if report.skipped:
            remedy = " (--force sleeps all the same)" if report.gated else ""
            print(f"No night for {report.user}: {report.skipped}{remedy}")
        elif report.failed:
            names = ", ".join(phase.name for phase in report.failed)
            print_warning(f"{names} failed; `insula sleep --user {report.user}` goes on from there.")


SESSIONS = "sessions"
PREFIX = "hook-"
"""What stands before the id of an agent's session on the ledger."""
MOST = 64
"""Sessions that are looked through, the latest."""
TEXT, USER = "text", "user"


class StuckSession(NamedTuple):
    """A session of an agent that came to the top of the ladder."""

    session: str
    problem: str
    """The user's last words before it, as the trace has them."""
    reason: str


async def record_stuck(store: Store, user: str, home: Path) -> int:
    """Write down what is not on the ledger yet; returns how much that was."""
    taken = 0
    for stuck in find_stuck(home):
        with on_behalf_of(user):
            place = await store.resolve_place(user, stuck.session)
            known = await store.sessions.read_ledger(place, IMPASSE, limit=1)
        if not known:
            await note_stuck(store, user, stuck.session, stuck.problem, stuck.reason)
            taken += 1
    return taken


def find_stuck(home: Path) -> Iterator[StuckSession]:
    """The sessions whose loudest text was given, and that had been asked something."""
    for name in _latest_folders(home / SESSIONS):
        words = ""
        for record in _read_records(home / SESSIONS / name):
            if record.get("e") == USER and isinstance(said := record.get("words"), str) and said.strip():
                words = said
            if record.get("e") == TEXT and record.get("rung") == FLAG and not record.get("withheld") and words:
                yield StuckSession(f"{PREFIX}{name}", words, str(record.get("text", "")))
                break


def _read_records(folder: Path) -> list[dict[str, Any]]:
    try:
        return trace.read_trace(str(folder))[0]
    except OSError:
        return []


def _latest_folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            known = sorted(((entry.stat().st_mtime, entry.name) for entry in entries if entry.is_dir()), reverse=True)
    except OSError:
        return []
    return [name for _, name in known[:MOST]]
