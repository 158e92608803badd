"""How the service stands, without a word of anybody's: snapshots, speed, counters, health (S4, S9)."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, Counter, generate_latest

from insula.errors import StoreFull
from insula.memory.storage import views
from insula.metacognition import Metacognition
from insula.server.api.schema import ApiModel
from insula.server.problems import document_problems
from insula.server.users import find_caller, service_of
from insula.session.adaptation import Adaptation
from insula.session.snapshot import Snapshot

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
    request: Request,
    history: Annotated[int | None, Query(ge=0, le=1_000, description="How many snapshots before to show.")] = None,
) -> Status:
    """The last snapshot of the service, or that there has been none yet."""
    ring = service_of(request).chat.metacognition.engine.regulator.ring
    values: dict[str, Any] = {"available": ring.last is not None}
    if ring.last:
        values["snapshot"] = ring.last
    if history is not None:
        values["history"] = list(ring.snapshots[-history:]) if history else []
        values["adaptations"] = list(ring.adaptations[-history:]) if history else []
    return Status(**values)


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
async def get_performance(request: Request) -> ServiceSpeed:
    """How fast the service's model answers, and how often anything was done about it."""
    chat = service_of(request).chat
    metacognition, model = chat.metacognition, chat.model.model_name
    regulator = metacognition.engine.regulator
    now = regulator.measure_performance(model, metacognition.store.now())
    schedule = regulator.ring.schedule
    return ServiceSpeed(
        latency_p95_ms=now.latency_p95_ms,
        degraded=now.degraded,
        slowdown=now.slowdown,
        turns=regulator.turns,
        counters=_read_counters(metacognition),
        metacog=SnapshotRhythm(interval=schedule.interval, next_due_turn=schedule.due),
    )


def _read_counters(metacognition: Metacognition) -> dict[str, float]:
    """The counters of S4, by the names that /metrics has for them."""
    known = metacognition.engine.telemetry
    counters = (known.snapshots, known.advisories, known.stm_high, known.degraded, known.adaptive_retrieval)
    return dict(_read_counter(counter) for counter in counters)


def _read_counter(counter: Counter) -> tuple[str, float]:
    total = next(sample for family in counter.collect() for sample in family.samples if sample.name.endswith("_total"))
    return total.name, total.value


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "Prometheus' text format.", "content": {"text/plain": {}}},
        **document_problems(401),
    },
    dependencies=mine,
)
async def get_metrics(request: Request) -> Response:
    """What was counted and timed, for Prometheus."""
    registry = service_of(request).chat.metacognition.engine.telemetry.registry
    return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


class Health(ApiModel):
    """That it is so."""

    status: str = "ok"


@router.get("/health")
async def get_health() -> Health:
    """Whether the process is up."""
    return Health()


@router.get("/ready", responses=document_problems(401, 503), dependencies=mine)
async def get_readiness(request: Request) -> Health:
    """Whether a message would be answered and kept: the store can be written and grow, and the model has a name."""
    service = service_of(request)
    store = service.chat.metacognition.store
    try:
        await store.run(views.check_ready)
    except StoreFull as error:
        raise HTTPException(503, service.hide_machine(str(error))) from error
    if not service.chat.model.model_name:
        raise HTTPException(503, "No model is known; start the server with --model.")
    return Health()
