"""How the service stands, without a word of anybody's: snapshots, speed, counters, health (S4, S9)."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from insula.errors import StoreFull
from insula.memory.storage import views
from insula.server.api.schema import ApiModel
from insula.server.problems import document_problems
from insula.server.users import Served, find_caller
from insula.session.snapshot import Adaptation, Snapshot
from insula.telemetry import Telemetry

router = APIRouter(tags=["service"])
mine = [Depends(find_caller)]
"""What tells of the service asks for a token, too, once anybody has one; that the process is up, everybody may know."""


class Status(ApiModel):
    """The last snapshot, and on request those before and what was adapted."""

    available: bool
    """Whether there has been a snapshot."""
    snapshot: Snapshot | None = None
    history: list[Snapshot] | None = None
    """Oldest first, the last one included."""
    adaptations: list[Adaptation] | None = None
    """What was changed for what reason, and how figures differed afterwards; oldest first."""


@router.get(
    "/agent/chat/metacog/status",
    response_model_exclude_none=True,
    responses=document_problems(401, 422),
    dependencies=mine,
)
async def get_status(
    service: Served,
    history: Annotated[int | None, Query(ge=0, le=1_000, description="How many snapshots before to show.")] = None,
) -> Status:
    """The last snapshot of the service, or that there has been none yet."""
    ring = service.mind.engine.regulator.ring
    told = Status(available=ring.last is not None, snapshot=ring.last)
    if history is not None:
        told.history = list(ring.snapshots[-history:]) if history else []
        told.adaptations = list(ring.adaptations[-history:]) if history else []
    return told


class SnapshotRhythm(ApiModel):
    """When snapshots are taken."""

    interval: int
    """User turns between two of them, now."""
    next_due_turn: int


class ServiceSpeed(ApiModel):
    """How fast turns are, and what was counted; a figure that does not exist yet is left out."""

    latency_p95_ms: float | None = None
    degraded: bool
    slowdown: float | None = None
    """How many times longer than usual the model takes for such answers."""
    turns: int
    counters: dict[str, float]
    metacog: SnapshotRhythm


@router.get(
    "/agent/chat/performance", response_model_exclude_none=True, responses=document_problems(401), dependencies=mine
)
async def get_performance(service: Served) -> ServiceSpeed:
    """How fast the service's model answers, and how often anything was done about it."""
    regulator = service.mind.engine.regulator
    now = regulator.measure_performance(service.chat.model.model_name, service.store.now())
    schedule = regulator.ring.schedule
    return ServiceSpeed(
        latency_p95_ms=now.latency_p95_ms,
        degraded=now.degraded,
        slowdown=now.slowdown,
        turns=regulator.turns,
        counters=_read_counters(service.mind.engine.telemetry),
        metacog=SnapshotRhythm(interval=schedule.interval, next_due_turn=schedule.due),
    )


def _read_counters(known: Telemetry) -> dict[str, float]:
    """The counters of S4, by the names that /metrics has for them."""
    counters = (known.snapshots, known.advisories, known.stm_high, known.degraded, known.adaptive_retrieval)
    samples = (sample for counter in counters for family in counter.collect() for sample in family.samples)
    return {sample.name: sample.value for sample in samples if sample.name.endswith("_total")}


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "Prometheus' text format.", "content": {"text/plain": {}}},
        **document_problems(401),
    },
    dependencies=mine,
)
async def get_metrics(service: Served) -> Response:
    """What was counted and timed, for Prometheus."""
    counted = generate_latest(service.mind.engine.telemetry.registry)
    return Response(counted, headers={"Content-Type": CONTENT_TYPE_LATEST})


class Health(ApiModel):
    """That it is so."""

    status: str = "ok"


@router.get("/health")
async def get_health() -> Health:
    """Whether the process is up."""
    return Health()


@router.get("/ready", responses=document_problems(401, 503), dependencies=mine)
async def get_readiness(service: Served) -> Health:
    """Whether a message would be answered and kept: the store can be written and grow, and the model has a name."""
    try:
        await service.store.run(views.check_ready)
    except StoreFull as error:
        raise HTTPException(503, service.hide_machine(str(error))) from error
    if not service.chat.model.model_name:
        raise HTTPException(503, "No model is known; start the server with --model.")
    return Health()
