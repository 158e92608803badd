"""A user's nights over HTTP: what they brought, and one now (R1, R6)."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict

from insula.memory.storage import views
from insula.memory.storage.rows import StoredPhaseReport
from insula.night.cycle import END
from insula.server.api.numbers import Before, Limit, Moment
from insula.server.problems import document_problems
from insula.server.timer import run_user_night
from insula.server.turns import RunningTurns
from insula.server.users import CurrentUser, service_of

router = APIRouter(prefix="/agent", tags=["night"])

NIGHTS = 14
"""Nights on a page, where the request does not say: two weeks."""
_DONE: dict[str, Any] = {
    "name": "consolidation",
    "state": "done",
    "found": {"merged": [], "forgotten": [], "looked_at": 12},
    "why": "",
}


_NIGHT: dict[str, Any] = {
    "night": "2026-01-06",
    "ended": True,
    "last_at": "2026-01-06T03:00:04Z",
    "phases": [_DONE],
}


class NightPhase(BaseModel):
    """How one phase of a night went."""

    name: str
    state: str
    """`done`, `skipped`, `failed`, or `before` where an earlier start of this night had done it."""
    found: Mapping[str, Any]
    why: str = ""


class ShownNight(BaseModel):
    """One night."""

    model_config = ConfigDict(json_schema_extra={"example": _NIGHT})

    night: str
    ended: bool
    """Whether all of its phases are done; where not, the same night goes on when it is started again."""
    last_at: Moment
    phases: list[NightPhase]


class NightsPage(BaseModel):
    """A page of them, latest first."""

    model_config = ConfigDict(json_schema_extra={"example": {"nights": [_NIGHT], "next": None}})

    nights: list[ShownNight]
    next: int | None
    """What to give as `before` for the next page; null on the last."""


class NightReport(BaseModel):
    """How the night went that was asked for."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"night": "2026-01-06", "skipped": "", "gated": False, "phases": [_DONE]}}
    )

    night: str
    skipped: str
    """Why there was no night, in a sentence; empty where there was one."""
    gated: bool
    """Whether there was none only because none is due: with `force` there is."""
    phases: list[NightPhase]


@router.get("/sleep", responses=document_problems(401, 403, 422, 503))
async def list_nights(request: Request, user: CurrentUser, before: Before = None, limit: Limit = NIGHTS) -> NightsPage:
    """What a user's nights reported, phase by phase."""
    rows = await service_of(request).chat.metacognition.store.read(views.list_phase_reports, user, before, limit + 1)
    by_night: dict[str, list[StoredPhaseReport]] = {}
    for row in rows:
        by_night.setdefault(row.night, []).append(row)
    latest = sorted(by_night.values(), key=lambda done: done[-1].id, reverse=True)
    more = len(latest) > limit
    return NightsPage(
        nights=[_show_night(done) for done in latest[:limit]], next=latest[limit - 1][0].id if more else None
    )


@router.post("/sleep", responses=document_problems(401, 403, 422, 503))
async def run_sleep(
    request: Request,
    user: CurrentUser,
    force: Annotated[bool, Query(description="Sleep though the last night was lately, or nothing happened.")] = False,
) -> NightReport:
    """Run a user's night now; it goes on though the client goes away."""
    turns = cast(RunningTurns, request.app.state.turns)
    report = await asyncio.shield(turns.start_work(run_user_night(service_of(request), user, force=force)))
    phases = [NightPhase.model_validate(done, from_attributes=True) for done in report.phases]
    return NightReport(night=report.date, skipped=report.skipped, gated=report.gated, phases=phases)


def _show_night(done: list[StoredPhaseReport]) -> ShownNight:
    return ShownNight(
        night=done[0].night,
        ended=any(stage.phase == END for stage in done),
        last_at=done[-1].at,
        phases=[NightPhase(name=stage.phase, state="done", found=stage.report) for stage in done if stage.phase != END],
    )
