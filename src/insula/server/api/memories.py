"""The memory of a user over HTTP: add, search, list, get, correct, pin, mute, undo, erase."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, cast

from fastapi import APIRouter, Body, HTTPException, Path, Query
from pydantic import BeforeValidator, Field

from insula.agent.chat import MESSAGE_CHARS
from insula.errors import InputError, NotFound
from insula.memory.privacy.amendment import Do
from insula.memory.storage import views
from insula.memory.storage.filters import Filters, read_filter
from insula.memory.storage.store import NAME_CHARS
from insula.metacognition.observing import ADDED, amend_fact
from insula.metacognition.searching import SearchHit
from insula.operations.memories import delete_memory, forget_memories
from insula.server.api.schema import PAGE, ApiModel, Before, Id, Limit, Name, RequestBody
from insula.server.problems import document_problems
from insula.server.users import CurrentUser, Served
from insula.types import Bearing, Level, Memory, MemoryKind

router = APIRouter(prefix="/agent", tags=["memories"])

WORDS = 4_000
"""Characters of new words that are read."""
MESSAGES = 200
"""Messages that are added by one request at most."""

Number = Annotated[Id, Path(description="The id of a memory.", examples=[1])]


class ShownMemory(ApiModel):
    """A memory, with where it is from and how it stands."""

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


class MemoriesPage(ApiModel):
    """A page of them, newest first."""

    memories: list[ShownMemory]
    next: int | None
    """What to give as `before` for the next page; null on the last."""


class MemoryChange(ApiModel):
    """What became of a memory."""

    author: str
    why: str
    at: datetime


class RememberedDetail(ShownMemory):
    """A memory with its history."""

    history: list[MemoryChange]


class ErasedMemory(ApiModel):
    """That a memory is gone for good."""

    erased: int
    left: str | None
    """Why SOUL.md was left alone, if it was."""
    others: list[int]
    """Ids of memories in which the user said the same words elsewhere: they stand."""


class Amendment(RequestBody):
    """What is to be done with a memory."""

    do: Do
    text: Annotated[str, Field(max_length=WORDS)] = ""
    """The new words, to correct it."""


class AddedMessage(RequestBody):
    """A message that was said elsewhere."""

    role: Literal["user", "assistant", "tool", "system", "developer"] = "user"
    """What `system` and `developer` say is left out: it is nobody's memory."""
    content: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS)]
    name: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    """Who spoke, where more than one person talks."""
    at: str | None = None
    """When, as ISO 8601; now by default."""
    id: str | int | None = None
    """What has the id of a message that was added to this session before is not added again."""


def _list_messages(given: object) -> object:
    return [{"content": given}] if isinstance(given, str) else given


class Addition(RequestBody):
    """What is to be remembered."""

    messages: Annotated[
        list[AddedMessage],
        Field(min_length=1, max_length=MESSAGES),
        BeforeValidator(_list_messages, json_schema_input_type=list[AddedMessage] | str),
    ]
    """A text alone is one of the user's."""
    session: Name = ADDED
    metadata: dict[str, str | int | float | bool] | None = None
    """What you say of them, to find them by."""


class AddedMemories(ApiModel):
    """The ids of the new memories; of what was added before there is none."""

    ids: list[int]


class MemoryFilter(RequestBody):
    """Which memories are wanted; what is left out wants any."""

    session: Name | None = None
    kind: MemoryKind | None = None
    since: Name | None = None
    """When they were said at the earliest, as ISO 8601."""
    metadata: dict[str, str | int | float | bool] | None = None
    """Each name with just this value."""


class MemoryQuery(MemoryFilter):
    """What is looked for."""

    query: Annotated[str, Field(min_length=1, max_length=WORDS)]
    """A question, or words."""
    limit: Annotated[int, Field(ge=1, le=200)] = 10


class MemoryHit(ApiModel):
    """A memory that a search brought."""

    memory: ShownMemory
    score: float
    bearing: Bearing
    """It `answers`, did once (`history`), `bears` on it, or is an `other` matter."""


class FoundMemories(ApiModel):
    """What a search brought, and how sure it is that memory holds what was asked."""

    level: Level
    score: float
    answered: bool
    hits: list[MemoryHit]
    nearest: list[MemoryHit]
    """Where there are no hits, the lines that come nearest; they answer nothing."""


class ForgottenMemories(ApiModel):
    """Which memories are gone for good."""

    erased: list[int]
    left: str | None


Searched = Annotated[str, Query(max_length=NAME_CHARS, description="Words that are looked for; best first.")]


@router.get("/memories", responses=document_problems(401, 403, 422, 503))
async def list_memories(
    service: Served,
    user: CurrentUser,
    before: Before = None,
    limit: Limit = PAGE,
    q: Searched = "",
    session: Annotated[Name | None, Query(description="Of this conversation alone.")] = None,
    kind: Annotated[MemoryKind | None, Query(description="Of this kind alone.")] = None,
    since: Annotated[Name | None, Query(description="Said at the earliest then, as ISO 8601.")] = None,
    metadata: Annotated[str, Query(max_length=WORDS, description="With these names and values, as JSON.")] = "",
) -> MemoriesPage:
    """What is remembered of a user, without what was retired; or what holds some words, on one page."""
    named = {"session": session, "kind": kind, "since": since, "metadata": _read_json(metadata)}
    filters = _read_filters(named)
    if q.strip():
        result = await service.mind.search(user, q, limit=limit, **filters)
        return MemoriesPage(memories=[_show_memory(hit.memory) for hit in result.hits], next=None)
    page = await service.mind.list(user, before=before, limit=limit, **filters)
    return MemoriesPage(memories=[_show_memory(memory) for memory in page.memories], next=page.next)


@router.post("/memories", responses=document_problems(401, 403, 408, 413, 422, 503, 507))
async def add_memories(service: Served, user: CurrentUser, given: Annotated[Addition, Body()]) -> AddedMemories:
    """Remember what was said elsewhere, without answering it; all of it or nothing."""
    lines = [line.model_dump(exclude_none=True) for line in given.messages]
    return AddedMemories(ids=list(await service.mind.add(user, lines, session=given.session, metadata=given.metadata)))


@router.post("/memories/search", responses=document_problems(401, 403, 422, 503))
async def search_memories(service: Served, user: CurrentUser, asked: Annotated[MemoryQuery, Body()]) -> FoundMemories:
    """What answers a question or shares words with it, best first, and how sure that is; nothing is written."""
    filters = _read_filters(asked.model_dump(exclude={"query", "limit"}))
    result = await service.mind.search(user, asked.query, limit=asked.limit, **filters)
    return FoundMemories(
        level=result.level,
        score=result.score,
        answered=result.answered,
        hits=[_show_hit(hit) for hit in result.hits],
        nearest=[_show_hit(hit) for hit in result.nearest],
    )


@router.post("/memories/forget", responses=document_problems(401, 403, 422, 503))
async def forget_filtered(
    service: Served, user: CurrentUser, wanted: Annotated[MemoryFilter, Body()]
) -> ForgottenMemories:
    """Erase for good all memories that a filter wants; /agent/data/erase takes all that is kept of a user."""
    if not (filters := _read_filters(wanted.model_dump())):
        raise HTTPException(422, "The request names no filter, so nothing was erased; /agent/data/erase takes it all.")
    gone = await forget_memories(service.store, user, read_filter(filters), service.soul_of(user))
    service.mind.engine.backlog.reopen_user(user)
    return ForgottenMemories(erased=list(gone.memories), left=service.hide_machine(gone.left) or None)


@router.get("/memories/{number}", responses=document_problems(401, 403, 404, 422, 503))
async def get_memory(service: Served, user: CurrentUser, number: Number) -> RememberedDetail:
    """One memory with its history."""
    record = views.memory_record(await service.mind.get(user, number))
    return RememberedDetail.model_validate({**record, "history": await service.mind.history(user, number)})


@router.post("/memories/{number}", responses=document_problems(401, 403, 404, 409, 422, 503, 507))
async def decide_memory(
    service: Served, user: CurrentUser, number: Number, word: Annotated[Amendment, Body()]
) -> RememberedDetail:
    """Correct, pin, unpin, mute or unmute a memory, or undo the last decision on it, a night's too."""
    try:
        await amend_fact(service.mind.engine, user, number, word.do, word.text)
    except NotFound:
        raise
    except InputError as error:
        raise HTTPException(409, str(error)) from error
    return await get_memory(service, user, number)


@router.delete("/memories/{number}", responses=document_problems(401, 403, 404, 422, 503))
async def erase_memory(service: Served, user: CurrentUser, number: Number) -> ErasedMemory:
    """Erase a memory for good, with the line that it came from and what was derived of its session."""
    gone = await delete_memory(service.store, user, number, service.soul_of(user))
    service.mind.engine.backlog.reopen_user(user)
    return ErasedMemory(erased=number, left=service.hide_machine(gone.left) or None, others=list(gone.others))


def _show_memory(memory: Memory) -> ShownMemory:
    return ShownMemory.model_validate(views.memory_record(memory))


def _show_hit(hit: SearchHit) -> MemoryHit:
    return MemoryHit(memory=_show_memory(hit.memory), score=hit.score, bearing=hit.bearing)


def _read_filters(named: Mapping[str, object]) -> Filters:
    """The filters that a request names."""
    return cast(Filters, {name: value for name, value in named.items() if value})


def _read_json(text: str) -> object:
    try:
        return json.loads(text) if text else None
    except ValueError as error:
        raise HTTPException(422, 'The metadata is no JSON; give it as {"name": "value"}.') from error
