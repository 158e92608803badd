"""Nights over HTTP: what a user's brought, and one now (R1, R6); how those of all go, without a word of anybody's."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import AfterValidator, BeforeValidator

from insula.memory.storage import spending, views
from insula.memory.storage.rows import StoredPhaseReport
from insula.memory.storage.spending import NightsProgress
from insula.night.cycle import END
from insula.operations.nights import group_reports
from insula.server.api.schema import ApiModel, Before, Limit, Moment
from insula.server.problems import document_problems
from insula.server.timer import run_user_night
from insula.server.users import CurrentUser, Served, check_operator

router = APIRouter(prefix="/agent", tags=["night"])

NIGHTS = 14
"""Nights on a page, where the request does not say: two weeks."""


class NightPhase(ApiModel):
    """How one phase of a night went."""

    name: str
    state: str
    """`done`, `skipped`, `failed`, or `before` where an earlier start of this night had done it."""
    found: Mapping[str, Any]
    why: str = ""


class ShownNight(ApiModel):
    """One night."""

    night: str
    ended: bool
    """Whether all of its phases are done; where not, the same night goes on when it is started again."""
    last_at: Moment
    phases: list[NightPhase]


class NightsPage(ApiModel):
    """A page of them, latest first."""

    nights: list[ShownNight]
    next: int | None
    """What to give as `before` for the next page; null on the last."""


class NightReport(ApiModel):
    """How the night went that was asked for."""

    night: str
    skipped: str
    """Why there was no night, in a sentence; empty where there was one."""
    gated: bool
    """Whether there was none only because none is due: with `force` there is."""
    phases: list[NightPhase]


@router.get("/sleep", responses=document_problems(401, 403, 422, 503))
async def list_nights(service: Served, user: CurrentUser, before: Before = None, limit: Limit = NIGHTS) -> NightsPage:
    """What a user's nights reported, phase by phase."""
    rows = await service.store.read(views.list_phase_reports, user, before, limit + 1)
    latest = sorted(group_reports(rows).values(), key=lambda done: done[-1].id, reverse=True)
    more = len(latest) > limit
    return NightsPage(
        nights=[_show_night(done) for done in latest[:limit]], next=latest[limit - 1][0].id if more else None
    )


@router.post("/sleep", responses=document_problems(401, 403, 422, 503))
async def run_sleep(
    service: Served,
    user: CurrentUser,
    force: Annotated[bool, Query(description="Sleep though the last night was lately, or nothing happened.")] = False,
) -> NightReport:
    """Run a user's night now; it goes on though the client goes away."""
    report = await service.turns.finish_work(run_user_night(service, user, force=force))
    phases = [NightPhase.model_validate(done) for done in report.phases]
    return NightReport(night=report.date, skipped=report.skipped, gated=report.gated, phases=phases)


def _show_night(done: list[StoredPhaseReport]) -> ShownNight:
    return ShownNight(
        night=done[0].night,
        ended=any(stage.phase == END for stage in done),
        last_at=done[-1].at,
        phases=[NightPhase(name=stage.phase, state="done", found=stage.report) for stage in done if stage.phase != END],
    )


class ModelAmount(ApiModel):
    """Of what a model takes."""

    calls: float
    tokens: float


class DateOfAll(ApiModel):
    """The nights of one date."""

    date: str
    begun: int
    done: int
    under_way: int
    stopped: int
    """Whose process ended before them; they go on when the user's night is run again."""
    failed: int
    again: int
    """That were tried more than once."""
    a_minute: Annotated[float, AfterValidator(lambda rate: round(rate, 2))]
    """Nights that ended in a minute: of late while some are under way, else from the first to the last."""
    began: Annotated[Moment | None, BeforeValidator(lambda at: at or None)]
    ended: Annotated[Moment | None, BeforeValidator(lambda at: at or None)]
    spent: ModelAmount


class FailedNight(ApiModel):
    """A night that failed."""

    user: str
    night: str
    why: str
    """The steps that failed, each with the name of its error."""
    tries: int
    at: Moment


class AllNights(ApiModel):
    """How the nights of all users go."""

    waiting: int
    """Users of whom a night may find something new; counted up to ten thousand."""
    workers: list[str] | None
    """Those that live; null where the memory is a file, whose nights the server itself runs, or the command."""
    dates: list[DateOfAll]
    """The latest first."""
    failures: list[FailedNight]
    """The latest first."""


@router.get(
    "/sleep/all",
    response_model=AllNights,
    responses=document_problems(401, 403, 503),
    dependencies=[Depends(check_operator)],
)
async def all_nights(service: Served) -> NightsProgress:
    """How the nights of all users go: counts and amounts by date, what failed, and which workers live."""
    store = service.store
    return await store.read(spending.read_progress, store.now(), shared=store.is_shared)
