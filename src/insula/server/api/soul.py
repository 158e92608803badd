"""SOUL.md over HTTP: how it stands, how it came to be so, and a person's word on it (R8, R10)."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query, Request

from insula.memory.storage import views
from insula.memory.storage.rows import Revised
from insula.night import guidelines
from insula.night.guidelines import SUBJECT, SoulState
from insula.server.api.schema import ApiModel, Id, Moment, RequestBody
from insula.server.problems import document_problems
from insula.server.users import CurrentUser, service_of, turn_into_conflicts

router = APIRouter(prefix="/agent/soul", tags=["soul"], dependencies=[Depends(turn_into_conflicts)])

Number = Annotated[Id, Path(description="The id of a revision.", examples=[3])]


class SoulRevision(ApiModel):
    """A state of the document, and what led to it."""

    id: int
    author: str
    """`night` or `person`."""
    at: Moment
    why: str
    """In words, where a person made it."""
    changes: list[dict[str, Any]]
    """Each line that a night added, changed or dropped, with its reason."""


class WrittenRevision(SoulRevision):
    """A state of the document with its text."""

    text: str


class SoulProposal(ApiModel):
    """A change that waits for a person's word."""

    id: int
    at: Moment
    reasons: list[str]
    text: str
    diff: str


class SoulDocument(ApiModel):
    """The document as it stands."""

    text: str
    """What the model is told of; empty while nothing is learned."""
    revision: int | None
    foreign: bool
    """Whether another hand wrote the file, so that it is told to nobody and left alone."""
    waiting: SoulProposal | None


class SoulRevisions(ApiModel):
    """All states, newest first."""

    revisions: list[SoulRevision]


class SoulDiff(ApiModel):
    """What changed between two states, as a unified diff; empty where nothing did."""

    before: int | None
    """Null for the empty document that there was in the beginning."""
    after: int | None
    diff: str


class UndoTarget(RequestBody):
    """To which state to go back."""

    revision: Id | None = None
    """By default to the one before."""


class ProposalDecision(RequestBody):
    """A person's word on the change that waits."""

    decision: Literal["accept", "reject"]


_READS = document_problems(401, 403, 409, 422, 503)
_FINDS = document_problems(401, 403, 404, 409, 422, 503)


@router.get("", responses=_READS)
async def get_soul(request: Request, user: CurrentUser) -> SoulDocument:
    """The document as it stands, with a person's edits of the file taken in."""
    return _show_soul(await _read_state(request, user))


@router.get("/revisions", responses=_READS)
async def list_revisions(request: Request, user: CurrentUser) -> SoulRevisions:
    """How the document came to be what it is."""
    return SoulRevisions(
        revisions=[SoulRevision(**_revision_fields(state)) for state in (await _read_state(request, user)).past]
    )


@router.get("/revisions/{number}", responses=_FINDS)
async def get_revision(request: Request, user: CurrentUser, number: Number) -> WrittenRevision:
    """One state of the document."""
    state = await _find_revision(request, user, number)
    return WrittenRevision(**_revision_fields(state), text=state.content)


@router.get("/diff", responses=_FINDS)
async def compare_revisions(
    request: Request,
    user: CurrentUser,
    before: Annotated[
        Id | None, Query(alias="from", description="By default the state before the present one.")
    ] = None,
    after: Annotated[Id | None, Query(alias="to", description="By default the present state.")] = None,
) -> SoulDiff:
    """What changed between two states."""
    text, past, _, _ = await _read_state(request, user)
    old = await _find_revision(request, user, before) if before is not None else past[1] if len(past) > 1 else None
    new = await _find_revision(request, user, after) if after is not None else None
    number = new.id if new else past[0].id if past else None
    lines = guidelines.unified_diff(old.content if old else "", new.content if new else text)
    return SoulDiff(before=old.id if old else None, after=number, diff=lines)


@router.post("/undo", responses=_FINDS)
async def post_undo(request: Request, user: CurrentUser, back: Annotated[UndoTarget, Body()]) -> SoulDocument:
    """Go back to the state before, or to another one; that, too, can be undone."""
    service = service_of(request)
    if back.revision is not None:
        await _find_revision(request, user, back.revision)
    await guidelines.undo_revision(service.chat.metacognition.store, user, service.soul_of(user), back.revision)
    return _show_soul(await _read_state(request, user))


@router.post("/proposal", responses=_READS)
async def post_decision(request: Request, user: CurrentUser, word: Annotated[ProposalDecision, Body()]) -> SoulDocument:
    """Accept or reject the change that waits."""
    service = service_of(request)
    accepted = word.decision == "accept"
    await guidelines.decide_proposal(service.chat.metacognition.store, user, service.soul_of(user), accepted)
    return _show_soul(await _read_state(request, user))


async def _read_state(request: Request, user: str) -> SoulState:
    service = service_of(request)
    return await guidelines.read_soul_state(service.chat.metacognition.store, user, service.soul_of(user))


async def _find_revision(request: Request, user: str, number: int) -> Revised:
    store = service_of(request).chat.metacognition.store
    state = await store.read(views.find_revision, user, SUBJECT, number)
    if state is None:
        raise HTTPException(404, f"There is no revision {number} of this user; /agent/soul/revisions lists them.")
    return state


def _show_soul(state: SoulState) -> SoulDocument:
    return SoulDocument(
        text=state.text,
        revision=state.past[0].id if state.past else None,
        foreign=state.foreign,
        waiting=_show_proposal(state.waiting, state.text) if state.waiting else None,
    )


def _show_proposal(waiting: Revised, text: str) -> SoulProposal:
    return SoulProposal(
        id=waiting.id,
        at=waiting.at,
        reasons=[str(reason) for reason in waiting.evidence.get("reasons", [])],
        text=waiting.content,
        diff=guidelines.unified_diff(text, waiting.content),
    )


def _revision_fields(state: Revised) -> Mapping[str, Any]:
    why, changes = str(state.evidence.get("why", "")), state.evidence.get("changes", [])
    return {"id": state.id, "author": state.author, "at": state.at, "why": why, "changes": changes}
