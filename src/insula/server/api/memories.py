"""What is remembered of a user: looked at, searched, corrected, pinned, muted, erased, and what of that is undone."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from insula.errors import InputError, NotFound
from insula.memory import views
from insula.memory.amendment import Do
from insula.memory.store import NAME_CHARS
from insula.operations.memories import change_memory, delete_memory
from insula.server.api.numbers import PAGE, Before, Id, Limit
from insula.server.problems import documented
from insula.server.users import CurrentUser, service_of
from insula.types import Memory

router = APIRouter(prefix="/agent", tags=["memories"])

WORDS = 4_000
"""Characters of new words that are read."""

EXAMPLE: dict[str, Any] = {
    "id": 1,
    "content": "I live in Lisbon.",
    "provenance": "user",
    "speaker": "user",
    "kind": "semantic",
    "session": "monday",
    "said_at": "2026-01-05T12:00:00Z",
    "stands": "long-term",
    "mode": "",
    "uses": 3,
    "importance": 0.7,
    "withheld": [],
    "metadata": {},
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
    mode: str
    """A person's word on it: `pinned`, `muted` or none."""
    uses: int
    importance: float
    withheld: list[str]
    """Why it is never shown to a model, if it is not."""
    metadata: dict[str, str | int | float | bool]
    """What the host said of it."""


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

    model_config = ConfigDict(json_schema_extra={"example": {"erased": 1, "left": None, "others": []}})

    erased: int
    left: str | None
    """Why SOUL.md was left alone, if it was."""
    others: list[int]
    """Ids of memories in which the user said the same words elsewhere: they stand."""


class Amendment(BaseModel):
    """What is to be done with a memory."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"do": "mute"}})

    do: Do
    text: Annotated[str, Field(max_length=WORDS)] = ""
    """The new words, to correct it."""


Searched = Annotated[str, Query(max_length=NAME_CHARS, description="Words that are looked for; best first.")]


@router.get("/memories", responses=documented(401, 403, 422, 503))
async def memories(
    request: Request, user: CurrentUser, before: Before = None, limit: Limit = PAGE, q: Searched = ""
) -> Memories:
    """What is remembered of a user, without what was retired; or what holds some words, on one page."""
    mind = service_of(request).chat.metacognition
    if q.strip():
        found = await mind.search(user, q, limit=limit)
        return Memories(memories=[_shown(hit.memory) for hit in found.hits], next=None)
    page = await mind.list(user, before=before, limit=limit)
    return Memories(memories=[_shown(one) for one in page.memories], next=page.next)


@router.get("/memories/{number}", responses=documented(401, 403, 404, 422, 503))
async def memory(request: Request, user: CurrentUser, number: Number) -> Told:
    """One memory with its history."""
    mind = service_of(request).chat.metacognition
    found, past = await mind.get(user, number), await mind.history(user, number)
    history = [{"author": one.author, "why": one.why} for one in past]
    return Told.model_validate({**views.record(found), "history": history})


@router.post("/memories/{number}", responses=documented(401, 403, 404, 409, 422, 503, 507))
async def decide(request: Request, user: CurrentUser, number: Number, word: Annotated[Amendment, Body()]) -> Told:
    """Correct, pin, unpin, mute or unmute a memory, or undo the last decision on it, a night's too."""
    try:
        await amend(request, user, number, word.do, word.text)
    except NotFound:
        raise
    except InputError as error:
        raise HTTPException(409, str(error)) from error
    return await memory(request, user, number)


async def amend(request: Request, user: str, number: int, do: Do, text: str = "") -> None:
    """Do what a person wants with a memory.

    Raises:
        NotFound: there is none such.
        InputError: that cannot be done with it.
    """
    metacognition = service_of(request).chat.metacognition
    await change_memory(metacognition.store, user, number, do, text)
    metacognition.engine.backlog.again(user)


@router.delete("/memories/{number}", responses=documented(401, 403, 404, 422, 503))
async def erase(request: Request, user: CurrentUser, number: Number) -> Erased:
    """Erase a memory for good, with the line that it came from and what was derived of its session."""
    service = service_of(request)
    metacognition = service.chat.metacognition
    gone = await delete_memory(metacognition.store, user, number, service.soul_of(user))
    metacognition.engine.backlog.again(user)
    return Erased(erased=number, left=service.told(gone.left) or None, others=list(gone.others))


def _shown(one: Memory) -> Remembered:
    return Remembered.model_validate(views.record(one))
