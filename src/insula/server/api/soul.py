"""SOUL.md over HTTP: how it stands, how it came to be so, and a person's word on it (R8, R10)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from insula.memory.storage import views
from insula.memory.storage.rows import Revised
from insula.night import guidelines
from insula.night.guidelines import SUBJECT, SoulState
from insula.server.api.numbers import Id
from insula.server.problems import documented
from insula.server.users import CurrentUser, conflicts, service_of

router = APIRouter(prefix="/agent/soul", tags=["soul"], dependencies=[Depends(conflicts)])

Number = Annotated[Id, Path(description="The id of a revision.", examples=[3])]
EXAMPLE: dict[str, Any] = {
    "id": 3,
    "author": "night",
    "at": "2026-01-06T03:00:00Z",
    "why": "",
    "changes": [
        {"kind": "add", "text": "Answer in Portuguese.", "before": "", "why": "2 sessions", "id": "g0a1b2c3d4e"}
    ],
}
TEXT = "# SOUL\n\n## Interaction principles\n\n- Answer in Portuguese.\n"
DIFF = "--- before\n+++ after\n@@ -2,0 +3 @@\n+- Answer in Portuguese."


class Revision(BaseModel):
    """A state of the document, and what led to it."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: int
    author: str
    """`night` or `person`."""
    at: datetime
    why: str
    """In words, where a person made it."""
    changes: list[dict[str, Any]]
    """Each line that a night added, changed or dropped, with its reason."""


class Written(Revision):
    """A state of the document with its text."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE | {"text": TEXT}})

    text: str


class Proposal(BaseModel):
    """A change that waits for a person's word."""

    id: int
    at: datetime
    reasons: list[str]
    text: str
    diff: str


class Soul(BaseModel):
    """The document as it stands."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"text": TEXT, "revision": 3, "foreign": False, "waiting": None}}
    )

    text: str
    """What the model is told of; empty while nothing is learned."""
    revision: int | None
    foreign: bool
    """Whether another hand wrote the file, so that it is told to nobody and left alone."""
    waiting: Proposal | None


class Revisions(BaseModel):
    """All states, newest first."""

    model_config = ConfigDict(json_schema_extra={"example": {"revisions": [EXAMPLE]}})

    revisions: list[Revision]


class Diff(BaseModel):
    """What changed between two states, as a unified diff; empty where nothing did."""

    model_config = ConfigDict(json_schema_extra={"example": {"before": 2, "after": 3, "diff": DIFF}})

    before: int | None
    """Null for the empty document that there was in the beginning."""
    after: int | None
    diff: str


class Back(BaseModel):
    """To which state to go back."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"revision": 2}})

    revision: Id | None = None
    """By default to the one before."""


class Word(BaseModel):
    """A person's word on the change that waits."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"decision": "accept"}})

    decision: Literal["accept", "reject"]


_READS = documented(401, 403, 409, 422, 503)
_FINDS = documented(401, 403, 404, 409, 422, 503)


@router.get("", responses=_READS)
async def soul(request: Request, user: CurrentUser) -> Soul:
    """The document as it stands, with a person's edits of the file taken in."""
    return _soul(await _state(request, user))


@router.get("/revisions", responses=_READS)
async def revisions(request: Request, user: CurrentUser) -> Revisions:
    """How the document came to be what it is."""
    return Revisions(revisions=[Revision(**_revision(one)) for one in (await _state(request, user)).past])


@router.get("/revisions/{number}", responses=_FINDS)
async def revision(request: Request, user: CurrentUser, number: Number) -> Written:
    """One state of the document."""
    found = await _found(request, user, number)
    return Written(**_revision(found), text=found.content)


@router.get("/diff", responses=_FINDS)
async def diff(
    request: Request,
    user: CurrentUser,
    before: Annotated[
        Id | None, Query(alias="from", description="By default the state before the present one.")
    ] = None,
    after: Annotated[Id | None, Query(alias="to", description="By default the present state.")] = None,
) -> Diff:
    """What changed between two states."""
    text, past, _, _ = await _state(request, user)
    old = await _found(request, user, before) if before is not None else past[1] if len(past) > 1 else None
    new = await _found(request, user, after) if after is not None else None
    number = new.id if new else past[0].id if past else None
    lines = guidelines.unified_diff(old.content if old else "", new.content if new else text)
    return Diff(before=old.id if old else None, after=number, diff=lines)


@router.post("/undo", responses=_FINDS)
async def undo(request: Request, user: CurrentUser, back: Annotated[Back, Body()]) -> Soul:
    """Go back to the state before, or to another one; that, too, can be undone."""
    service = service_of(request)
    if back.revision is not None:
        await _found(request, user, back.revision)
    await guidelines.undo_revision(service.chat.metacognition.store, user, service.soul_of(user), back.revision)
    return _soul(await _state(request, user))


@router.post("/proposal", responses=_READS)
async def proposal(request: Request, user: CurrentUser, word: Annotated[Word, Body()]) -> Soul:
    """Accept or reject the change that waits."""
    service = service_of(request)
    accepted = word.decision == "accept"
    await guidelines.decide_proposal(service.chat.metacognition.store, user, service.soul_of(user), accepted)
    return _soul(await _state(request, user))


async def _state(request: Request, user: str) -> SoulState:
    service = service_of(request)
    return await guidelines.read_soul_state(service.chat.metacognition.store, user, service.soul_of(user))


async def _found(request: Request, user: str, number: int) -> Revised:
    store = service_of(request).chat.metacognition.store
    found = await store.read(views.find_revision, user, SUBJECT, number)
    if found is None:
        raise HTTPException(404, f"There is no revision {number} of this user; /agent/soul/revisions lists them.")
    return found


def _soul(state: SoulState) -> Soul:
    return Soul(
        text=state.text,
        revision=state.past[0].id if state.past else None,
        foreign=state.foreign,
        waiting=_proposal(state.waiting, state.text) if state.waiting else None,
    )


def _proposal(waiting: Revised, text: str) -> Proposal:
    return Proposal(
        id=waiting.id,
        at=_at(waiting),
        reasons=[str(reason) for reason in waiting.evidence.get("reasons", [])],
        text=waiting.content,
        diff=guidelines.unified_diff(text, waiting.content),
    )


def _revision(one: Revised) -> Mapping[str, Any]:
    why, changes = str(one.evidence.get("why", "")), one.evidence.get("changes", [])
    return {"id": one.id, "author": one.author, "at": _at(one), "why": why, "changes": changes}


def _at(one: Revised) -> datetime:
    return datetime.fromtimestamp(one.at, UTC)
