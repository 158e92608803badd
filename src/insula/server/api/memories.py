"""What is remembered of a user: looked at, searched, corrected, pinned, muted, erased, and what of that is undone."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from insula.errors import InputError
from insula.memory import nights, views
from insula.memory.amendment import Do
from insula.memory.store import NAME_CHARS, Store
from insula.redaction import redact
from insula.server.api.numbers import PAGE, Before, Id, Limit
from insula.server.problems import documented
from insula.server.users import CurrentUser, service_of
from insula.sleep import forgetting

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
    store = service_of(request).chat.metacognition.store
    if q.strip():
        rows = await store.memories.search(user, q, limit)
    else:
        rows = await store.read(views.remembered, user, before, limit + 1)
    modes = await modes_of(store, user, [memory.id for memory, _ in rows])
    found = [
        Remembered.model_validate(views.record(memory, stands, modes.get(memory.id, "")))
        for memory, stands in rows[:limit]
    ]
    return Memories(memories=found, next=found[-1].id if len(rows) > limit else None)


async def modes_of(store: Store, user: str, ids: Sequence[int]) -> Mapping[int, str]:
    """What a person wants of some memories: `pinned` or `muted`, of those where that is so."""
    user_id = await store.nights.sleeper(user)
    said = await store.read(nights.words_on, user_id, ids) if user_id is not None else {}
    return {number: mode for number, mode in said.items() if mode}


@router.get("/memories/{number}", responses=documented(401, 403, 404, 422, 503))
async def memory(request: Request, user: CurrentUser, number: Number) -> Told:
    """One memory with its history."""
    store = service_of(request).chat.metacognition.store
    user_id = await store.nights.sleeper(user)
    found = await store.memories.shown(user_id, number) if user_id is not None else None
    if found is None:
        raise _missing(number)
    memory, stands, history = found
    mode = (await modes_of(store, user, [number])).get(number, "")
    changes = [{"author": author, "why": why} for author, why in history]
    return Told.model_validate({**views.record(memory, stands, mode), "history": changes})


@router.post("/memories/{number}", responses=documented(401, 403, 404, 409, 422, 503, 507))
async def decide(request: Request, user: CurrentUser, number: Number, word: Annotated[Amendment, Body()]) -> Told:
    """Correct, pin, unpin, mute or unmute a memory, or undo the last decision on it, a night's too."""
    try:
        await amend(request, user, number, word.do, word.text)
    except InputError as error:
        raise HTTPException(409, str(error)) from error
    return await memory(request, user, number)


async def amend(request: Request, user: str, number: int, do: Do, text: str = "") -> None:
    """Do what a person wants with a memory.

    Raises:
        HTTPException: 404, there is none such.
        InputError: that cannot be done with it.
    """
    metacognition = service_of(request).chat.metacognition
    user_id = await metacognition.store.nights.sleeper(user)
    if user_id is None or not await metacognition.store.memories.amend(user_id, number, do, redact(text)):
        raise _missing(number)
    metacognition.backlog.again(user)


@router.delete("/memories/{number}", responses=documented(401, 403, 404, 422, 503))
async def erase(request: Request, user: CurrentUser, number: Number) -> Erased:
    """Erase a memory for good, with the line that it came from and what was derived of its session."""
    service = service_of(request)
    store = service.chat.metacognition.store
    user_id = await store.nights.sleeper(user)
    others = await store.memories.others_holding(user_id, number) if user_id is not None else []
    left = await forgetting.erase(store, user, number, service.soul_of(user))
    if left is None:
        raise _missing(number)
    service.chat.metacognition.backlog.again(user)
    return Erased(erased=number, left=service.told(left) or None, others=[memory.id for memory in others])


def _missing(number: int) -> HTTPException:
    return HTTPException(404, f"There is no memory {number} of this user; /agent/memories lists them.")
