"""A person's word on what was learned: why it was, and accept, mute, pin, edit, forget, undo, erase."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from insula.memory.storage.ledger import Do
from insula.night import curation
from insula.operations.guidance import guidance_record
from insula.server.api.numbers import Moment
from insula.server.problems import document_problems
from insula.server.users import CurrentUser, service_of, turn_into_conflicts

WORDS = 1_000
"""Characters of new words that are read; a lesson has fewer, and that is said."""
EXAMPLE: dict[str, Any] = {
    "id": "w3f1c0a9b2e",
    "advice": "From now on use Celsius.",
    "state": "your wish",
    "trigger": [],
    "section": "",
    "author": "derived",
    "created_at": "2026-01-06T03:00:00Z",
}
PAST: dict[str, Any] = {"at": "2026-01-06T03:00:00Z", "by": "user", "why": "said"}
SOURCE: dict[str, Any] = {
    "memory": 5,
    "session": "monday",
    "content": "From now on use Celsius.",
    "at": "2026-01-06T03:00:00Z",
}
REASONS: dict[str, Any] = EXAMPLE | {"told": None, "sources": [SOURCE], "history": [PAST]}


router = APIRouter(prefix="/agent/lessons", tags=["rules"], dependencies=[Depends(turn_into_conflicts)])
Name = Annotated[str, Path(min_length=1, max_length=40, description="The id of a lesson, or its beginning.")]


class LearnedLesson(BaseModel):
    """A lesson or a preference."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: str
    """The same in SOUL.md, in commands and in what a turn reports."""
    advice: str
    state: str
    trigger: list[str]
    section: str
    author: str
    created_at: Moment


class LearnedLessons(BaseModel):
    """All of them, what was retired included."""

    model_config = ConfigDict(json_schema_extra={"example": {"lessons": [EXAMPLE]}})

    lessons: list[LearnedLesson]


class SourceLine(BaseModel):
    """A message that it was learned from."""

    memory: int
    session: str
    content: str
    at: Moment


class LessonEvent(BaseModel):
    """What became of it once."""

    at: Moment
    by: str
    """`user` in a talk, `person` by a command, `night`."""
    why: str


class LessonReasons(LearnedLesson):
    """A lesson with its reasons."""

    model_config = ConfigDict(json_schema_extra={"example": REASONS})

    told: Moment | None
    """When it was last told."""
    sources: list[SourceLine]
    history: list[LessonEvent]


class LessonDecision(BaseModel):
    """What is to be done with it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"do": "mute"}})

    do: Do
    text: Annotated[str, Field(max_length=WORDS)] = ""
    """The new words, to edit it."""


_FINDS = document_problems(401, 403, 409, 422, 503)


@router.get("", responses=_FINDS)
async def list_lessons(request: Request, user: CurrentUser) -> LearnedLessons:
    """All that was learned of the user, and how each stands."""
    store = service_of(request).chat.metacognition.store
    return LearnedLessons(
        lessons=[
            LearnedLesson(**guidance_record(piece.kept, curation.describe_state(piece, store.now())))
            for piece in await curation.list_pieces(store, user)
        ]
    )


@router.get("/{name}", responses=_FINDS)
async def get_lesson(request: Request, user: CurrentUser, name: Name) -> LessonReasons:
    """One of them, with the messages that it was learned from and what became of it."""
    return await _read_reasons(request, user, name)


@router.post("/{name}", responses=_FINDS)
async def decide_lesson(
    request: Request, user: CurrentUser, name: Name, word: Annotated[LessonDecision, Body()]
) -> LessonReasons:
    """Accept, mute, unmute, pin, unpin, edit, forget it, or undo the last decision on it."""
    service = service_of(request)
    await curation.decide_piece(service.chat.metacognition.store, user, service.soul_of(user), name, word.do, word.text)
    return await _read_reasons(request, user, name)


class ErasedLesson(BaseModel):
    """That a lesson is gone for good."""

    model_config = ConfigDict(json_schema_extra={"example": {"erased": "w3f1c0a9b2e", "left": None}})

    erased: str
    left: str | None
    """Why SOUL.md was left alone, if it was."""


@router.delete("/{name}", responses=_FINDS)
async def erase_lesson(request: Request, user: CurrentUser, name: Name) -> ErasedLesson:
    """Erase it for good; the messages that it was learned from stay, and are erased as memories are."""
    service = service_of(request)
    left = await curation.erase_piece(service.chat.metacognition.store, user, name, service.soul_of(user))
    return ErasedLesson(erased=name, left=service.hide_machine(left) or None)


async def _read_reasons(request: Request, user: str, name: str) -> LessonReasons:
    piece = await curation.explain_piece(service_of(request).chat.metacognition.store, user, name)
    history = [
        {"at": revised.at, "by": revised.author, "why": str(revised.evidence.get("why", ""))} for revised in piece.past
    ]
    reasons = {"told": piece.told, "sources": piece.origins, "history": history}
    return LessonReasons.model_validate(guidance_record(piece.piece.kept, piece.state) | reasons, from_attributes=True)
