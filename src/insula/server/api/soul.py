"""SOUL.md over HTTP: how it stands, how it came to be so, and a person's word on it (R8, R10)."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Path
from pydantic import Field

from insula.memory.storage import views
from insula.memory.storage.rows import Revised
from insula.night import guidelines
from insula.night.guidelines import SUBJECT, SoulState
from insula.server.api.schema import ApiModel, Id, Moment, RequestBody
from insula.server.problems import document_problems
from insula.server.service import Service
from insula.server.users import CurrentUser, Served, turn_into_conflicts

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

    text: Annotated[str, Field(validation_alias="content")]


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
async def get_soul(service: Served, user: CurrentUser) -> SoulDocument:
    """The document as it stands, with a person's edits of the file taken in."""
    state = await _read_state(service, user)
    return SoulDocument(
        text=state.text,
        revision=state.past[0].id if state.past else None,
        foreign=state.foreign,
        waiting=_show_proposal(state.waiting, state.text) if state.waiting else None,
    )


@router.get("/revisions", responses=_READS)
async def list_revisions(service: Served, user: CurrentUser) -> SoulRevisions:
    """How the document came to be what it is."""
    past = (await _read_state(service, user)).past
    return SoulRevisions(revisions=[SoulRevision.model_validate(state) for state in past])


@router.get("/revisions/{number}", responses=_FINDS)
async def get_revision(service: Served, user: CurrentUser, number: Number) -> WrittenRevision:
    """One state of the document."""
    return WrittenRevision.model_validate(await _find_revision(service, user, number))


@router.get("/diff", responses=_READS)
async def compare_revisions(service: Served, user: CurrentUser) -> SoulDiff:
    """What changed since the state before."""
    text, past, _, _ = await _read_state(service, user)
    old = past[1] if len(past) > 1 else None
    lines = guidelines.unified_diff(old.content if old else "", text)
    return SoulDiff(before=old.id if old else None, after=past[0].id if past else None, diff=lines)


@router.post("/undo", responses=_FINDS)
async def post_undo(service: Served, user: CurrentUser, back: Annotated[UndoTarget, Body()]) -> SoulDocument:
    """Go back to the state before, or to another one; that, too, can be undone."""
    if back.revision is not None:
        await _find_revision(service, user, back.revision)
    await guidelines.undo_revision(service.store, user, service.soul_of(user), back.revision)
    return await get_soul(service, user)


@router.post("/proposal", responses=_READS)
async def post_decision(service: Served, user: CurrentUser, word: Annotated[ProposalDecision, Body()]) -> SoulDocument:
    """Accept or reject the change that waits."""
    await guidelines.decide_proposal(service.store, user, service.soul_of(user), word.decision == "accept")
    return await get_soul(service, user)


async def _read_state(service: Service, user: str) -> SoulState:
    return await guidelines.read_soul_state(service.store, user, service.soul_of(user))


async def _find_revision(service: Service, user: str, number: int) -> Revised:
    state = await service.store.read(views.find_revision, user, SUBJECT, number)
    if state is None:
        raise HTTPException(404, f"There is no revision {number} of this user; /agent/soul/revisions lists them.")
    return state


def _show_proposal(waiting: Revised, text: str) -> SoulProposal:
    return SoulProposal(
        id=waiting.id,
        at=waiting.at,
        reasons=waiting.reasons,
        text=waiting.content,
        diff=guidelines.unified_diff(text, waiting.content),
    )
