"""What is remembered of a user, to be looked at and erased."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import BaseModel, ConfigDict

from insula.memory import views
from insula.server.api.numbers import PAGE, Before, Id, Limit
from insula.server.problems import documented
from insula.server.users import CurrentUser, service_of
from insula.sleep import forgetting

router = APIRouter(prefix="/agent", tags=["memories"])

EXAMPLE: dict[str, Any] = {
    "id": 1,
    "content": "I live in Lisbon.",
    "provenance": "user",
    "speaker": "user",
    "kind": "semantic",
    "session": "monday",
    "said_at": "2026-01-05T12:00:00Z",
    "stands": "long-term",
    "uses": 3,
    "importance": 0.7,
    "withheld": [],
}

HISTORY: dict[str, Any] = EXAMPLE | {"history": [{"author": "night", "why": "merged into 7: the same"}]}

Number = Annotated[Id, Path(description="The id of a memory.", examples=[1])]


class Remembered(BaseModel):
    """A memory, with where it is from and how it stands."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: int
    content: str
    """Empty where it was erased."""
    provenance: str
    speaker: str
    kind: str
    session: str
    said_at: datetime
    stands: str
    """`long-term`, `working`, or `retired`: merged, forgotten or erased."""
    uses: int
    importance: float
    withheld: list[str]
    """Why it is never shown to a model, if it is not."""


class Memories(BaseModel):
    """A page of them, newest first."""

    model_config = ConfigDict(json_schema_extra={"example": {"memories": [EXAMPLE], "next": None}})

    memories: list[Remembered]
    next: int | None
    """What to give as `before` for the next page; null on the last."""


class Change(BaseModel):
    """What became of a memory."""

    author: str
    why: str


class Told(Remembered):
    """A memory with its history."""

    model_config = ConfigDict(json_schema_extra={"example": HISTORY})

    history: list[Change]


class Erased(BaseModel):
    """That a memory is gone for good."""

    model_config = ConfigDict(json_schema_extra={"example": {"erased": 1, "left": None}})

    erased: int
    left: str | None
    """Why SOUL.md was left alone, if it was."""


@router.get("/memories", responses=documented(401, 403, 422, 503))
async def memories(request: Request, user: CurrentUser, before: Before = None, limit: Limit = PAGE) -> Memories:
    """What is remembered of a user, without what was retired."""
    rows = await service_of(request).chat.metacognition.store.read(views.remembered, user, before, limit + 1)
    found = [Remembered.model_validate(views.record(memory, stands)) for memory, stands in rows[:limit]]
    return Memories(memories=found, next=found[-1].id if len(rows) > limit else None)


@router.get("/memories/{number}", responses=documented(401, 403, 404, 422, 503))
async def memory(request: Request, user: CurrentUser, number: Number) -> Told:
    """One memory with its history."""
    store = service_of(request).chat.metacognition.store
    user_id = await store.nights.sleeper(user)
    found = await store.memories.shown(user_id, number) if user_id is not None else None
    if found is None:
        raise _missing(number)
    memory, stands, history = found
    changes = [{"author": author, "why": why} for author, why in history]
    return Told.model_validate({**views.record(memory, stands), "history": changes})


@router.delete("/memories/{number}", responses=documented(401, 403, 404, 422, 503))
async def erase(request: Request, user: CurrentUser, number: Number) -> Erased:
    """Erase a memory for good, with the line that it came from and what was derived of its session."""
    service = service_of(request)
    left = await forgetting.erase(service.chat.metacognition.store, user, number, service.soul_of(user))
    if left is None:
        raise _missing(number)
    service.chat.metacognition.backlog.again(user)
    return Erased(erased=number, left=service.told(left) or None)


def _missing(number: int) -> HTTPException:
    return HTTPException(404, f"There is no memory {number} of this user; /agent/memories lists them.")
