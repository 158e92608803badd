"""How the nights of all users go, over HTTP: for who looks after the server, and without a word of anybody's."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from insula.memory.storage import spending
from insula.memory.storage.spending import NightsProgress
from insula.server.api.numbers import Moment
from insula.server.problems import document_problems
from insula.server.users import check_operator, service_of

router = APIRouter(prefix="/agent", tags=["night"])

_DATE: dict[str, Any] = {
    "date": "2026-01-06",
    "begun": 1000,
    "done": 990,
    "under_way": 6,
    "stopped": 1,
    "failed": 2,
    "capped": 1,
    "again": 12,
    "a_minute": 480.0,
    "began": "2026-01-06T02:00:01Z",
    "ended": "2026-01-06T02:02:05Z",
    "spent": {"calls": 3020.0, "tokens": 2104000.0, "cost": 0.0},
    "cap": {"calls": 5000.0, "tokens": None, "cost": None},
}
_FAILURE: dict[str, Any] = {
    "user": "ana",
    "night": "2026-01-06",
    "why": "reflection: ModelTimeout",
    "tries": 6,
    "at": "2026-01-06T02:01:00Z",
}


class ModelAmount(BaseModel):
    """Of what a model takes; null where nothing is capped."""

    calls: float | None
    tokens: float | None
    cost: float | None


class DateOfAll(BaseModel):
    """The nights of one date."""

    model_config = ConfigDict(json_schema_extra={"example": _DATE})

    date: str
    begun: int
    done: int
    under_way: int
    stopped: int
    """Whose process ended before them; they go on when the user's night is run again."""
    failed: int
    capped: int
    """That were not begun, because all of the date had spent what they may."""
    again: int
    """That were tried more than once."""
    a_minute: Annotated[float, AfterValidator(lambda rate: round(rate, 2))]
    """Nights that ended in a minute: of late while some are under way, else from the first to the last."""
    began: Annotated[Moment | None, BeforeValidator(lambda at: at or None)]
    ended: Annotated[Moment | None, BeforeValidator(lambda at: at or None)]
    spent: ModelAmount
    cap: ModelAmount


class FailedNight(BaseModel):
    """A night that failed."""

    model_config = ConfigDict(json_schema_extra={"example": _FAILURE})

    user: str
    night: str
    why: str
    """The steps that failed, each with the name of its error."""
    tries: int
    at: Moment


class AllNights(BaseModel):
    """How the nights of all users go."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"waiting": 27, "workers": ["night-1-4711"], "dates": [_DATE], "failures": [_FAILURE]}
        }
    )

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
async def all_nights(request: Request) -> NightsProgress:
    """How the nights of all users go: counts and amounts by date, what failed, and which workers live."""
    store = service_of(request).chat.metacognition.store
    return await store.read(spending.read_progress, store.now(), shared=store.is_shared)
