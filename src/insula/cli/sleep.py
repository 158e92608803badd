"""`insula sleep`: run the night now, and see what was learned."""

import asyncio
import json as jsonlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any

from insula import settings as settings_module
from insula.agent import identity as identity_module
from insula.cli.common import DATABASE, LOG_FILE, account_of, counted, log_to, soul_of
from insula.llm.local import weights_of
from insula.llm.models import resolve
from insula.memory import embedding
from insula.memory.store import Store
from insula.metacognition.meaning import made_up
from insula.settings import Settings
from insula.sleep.cycle import PhaseReport, SleepReport, sleep_cycle
from insula.sleep.phases import PHASES

TEST = "test"


def run(*, user: str, everybody: bool, model: str | None, force: bool, json: bool) -> int:
    """Run the night of a user, or of all; returns the exit code: 0, or 1 where a phase failed."""
    settings = settings_module.load()
    log_to(settings_module.home() / LOG_FILE)
    reports = asyncio.run(_nights(settings, user, everybody, model, force, _quiet if json else show))
    if json:
        print(jsonlib.dumps([asdict(report) for report in reports], indent=2, default=str))
    else:
        _end(reports)
    return int(any(report.failed for report in reports))


async def _nights(
    settings: Settings,
    user: str,
    everybody: bool,
    model: str | None,
    force: bool,
    show: Callable[[PhaseReport], None],
) -> list[SleepReport]:
    home = settings_module.home()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(home / DATABASE))
        identity = identity_module.load(
            settings.identity or home / identity_module.FILE, required=bool(settings.identity)
        )
        embed = embedding.usable(embedding.named(settings.embed))
        name = model or settings.model
        llm = await stack.enter_async_context(resolve(name, settings.weights)) if understands(name) else None
        reports: list[SleepReport] = []
        for each in await store.nights.users() if everybody else [user]:
            if everybody and show is not _quiet:
                print(each)
            await made_up(store, each, embed)
            reports.append(
                await sleep_cycle(
                    store,
                    each,
                    PHASES,
                    zone=settings.zone_of(each),
                    identity=identity,
                    model=llm,
                    account=account_of(settings),
                    soul=soul_of(each),
                    force=force,
                    on_phase=show,
                )
            )
        return reports


def understands(name: str) -> bool:
    """Whether a model is asked to understand anybody: an embedded one writes fluently, not truly; `test` nothing."""
    return name != TEST and weights_of(name) is None


def _quiet(_: PhaseReport) -> None:
    """Says nothing."""


def show(phase: PhaseReport) -> None:
    """Print how a phase went, as it ends."""
    mark = {"done": "✓", "before": "·", "skipped": "–"}.get(phase.state, "✗")
    why = "done before, in this same night" if phase.state == "before" else phase.why
    said, *more = [why] if why else list(told(phase))
    print(f"{mark}  {phase.name:<14} {said}", flush=True)
    for line in more:
        print(f"{'':<17} {line}")


def told(phase: PhaseReport) -> Iterator[str]:
    """What a phase found, in words: a line, and one for each thing that was learned."""
    found: Any = phase.found
    match phase.name:
        case "summaries":
            made = found.get("summarised", {})
            how = ", ".join(f"{number} {by}" for by, number in made.items() if number)
            yield f"{counted(sum(made.values()), 'session')}: {how or 'none'}"
        case "consolidation":
            yield f"{len(found['merged'])} merged, {len(found['forgotten'])} forgotten, of {found['looked_at']}"
        case "mistakes":
            kinds = ", ".join(f"{count} {kind}" for kind, count in found["mistakes"].items())
            yield f"{counted(found['sessions'], 'session')}: {kinds or 'none'}; {found['quarantined']} refused"
            learned = [*found["lessons"], *found.get("wishes", ())]
            yield from (f"• {one['advice']} (from memories {_list(one.get('memories', ()))})" for one in learned)
        case "reflection":
            principles = counted(len(found["candidates"]), "principle")
            how = "by a model" if found["by"] == "model" else found["by"]
            yield f"{counted(found['insights'], 'insight')}, {principles}, {how}"
            yield from (f"• {one['advice']} (sessions {_list(one['sessions'])})" for one in found["candidates"])
        case "lessons":
            kinds = ", ".join(counted(count, kind) for kind, count in found["counted"].items())
            yield f"{counted(len(found['lessons']), 'lesson')}: {kinds or 'nothing new'}"
            yield from (f"• lesson {one['id']}: {one['state']}, {_effect(one['effect'])}" for one in found["lessons"])
        case "soul":
            changes = counted(len(found["changes"]), "change")
            yield changes + ("; one waits: insula soul propose" if found["waiting"] else "")
            yield from (f"{change['kind']}: {change['text'] or change['before']}" for change in found["changes"])
        case "trends":
            low, high = found["interval"]
            yield f"{found['verdict']}: {found['per_30_days']:+.3f} in 30 days [{low}, {high}]"
        case "calibration":
            yield f"{found['right']} right, {found['wrong']} wrong: high from {found['high']:.2f} on"
        case "file":
            yield "SOUL.md is written"
        case _:
            yield "done"


def _effect(effect: Any) -> str:
    """What a lesson is known to do: the verdict, with the difference and its interval where they are known."""
    if isinstance(effect, str):
        return effect
    return f"{effect['verdict']}: {effect['estimate']:+.2f} [{effect['low']:+.2f}, {effect['high']:+.2f}]"


def _list(numbers: Sequence[object]) -> str:
    return ", ".join(map(str, numbers))


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
