"""A person's word on what was learned: why it was, and accept, mute, pin, edit, forget, undo, erase (P4, R9)."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, HTTPException, Path
from pydantic import Field

from insula.errors import InputError
from insula.memory.storage.ledger import Do
from insula.night import curation
from insula.operations.guidance import explained_record, guidance_record
from insula.server.api.schema import ApiModel, Moment, RequestBody
from insula.server.problems import document_problems
from insula.server.users import CurrentUser, Served, turn_into_conflicts

WORDS = 1_000
"""Characters of new words that are read; a lesson has fewer, and that is said."""

router = APIRouter(prefix="/agent/lessons", tags=["lessons"], dependencies=[Depends(turn_into_conflicts)])


async def find_lesson(
    service: Served,
    user: CurrentUser,
    name: Annotated[str, Path(min_length=1, max_length=40, description="The id of a lesson, or its beginning.")],
) -> str:
    """The name of a lesson that there is."""
    try:
        await curation.find_piece(service.store, user, name)
    except InputError as error:
        problem = "This user has no lesson of that id, or several whose ids begin so; /agent/lessons lists them."
        raise HTTPException(404, problem) from error
    return name


Name = Annotated[str, Depends(find_lesson)]


class LearnedLesson(ApiModel):
    """A lesson or a preference."""

    id: str
    """The same in SOUL.md, in commands and in what a turn reports."""
    kind: str
    """`preference` or `lesson`."""
    advice: str
    state: str
    trigger: list[str]
    """Terms of a message that bring it up; empty where it holds always."""
    section: str
    """Of SOUL.md; empty for a lesson."""
    author: str
    """`derived` or `person`."""
    created_at: Moment


class LearnedLessons(ApiModel):
    """All of them, what was retired included."""

    lessons: list[LearnedLesson]


class SourceLine(ApiModel):
    """A message that it was learned from."""

    memory: int
    """By which it is erased."""
    session: str
    content: str
    at: Moment


class LessonEvent(ApiModel):
    """What became of it once."""

    at: Moment
    by: str
    """`user` in a talk, `person` by a command, `night`."""
    why: str


class LessonCounts(ApiModel):
    """What sessions say of it; each that had the opportunity counts once."""

    sessions: Annotated[int, Field(validation_alias="records")]
    detections: int
    """It was not told, and the mistake happened."""
    suppressions: int
    """It was told, and the mistake did not happen."""
    breaches: int
    """It was told, and the mistake happened all the same."""
    absences: int
    """It was not told, and the mistake did not happen."""
    shown: Annotated[int, Field(validation_alias="shown_count")]
    withheld: int
    """By lot, so that there is something to compare with."""
    withheld_failed: int


class LessonEffect(ApiModel):
    """How much less often the mistake happens where it is told: the rate withheld less the rate shown."""

    estimate: float
    low: float
    """Of the interval that holds it with 95 % certainty."""
    high: float


class LessonReasons(LearnedLesson):
    """A lesson with its reasons, and what it was worth."""

    told: Moment | None
    """When it was last told."""
    sources: list[SourceLine]
    history: list[LessonEvent]
    evidence: LessonCounts
    confidence: float
    """That it is needed and kept."""
    verdict: str
    """`works`, `hurts`, `no effect worth while` or `not enough evidence`, which is usual."""
    effect: LessonEffect | None
    """Null for too few sessions."""


class LessonDecision(RequestBody):
    """What is to be done with it."""

    do: Do
    text: Annotated[str, Field(max_length=WORDS)] = ""
    """The new words, to edit it."""


class ErasedLesson(ApiModel):
    """That a lesson is gone for good."""

    erased: str
    left: str | None
    """Why SOUL.md was left alone, if it was."""


_READS = document_problems(401, 403, 422, 503)
_FINDS = document_problems(401, 403, 404, 422, 503)
_DECIDES = document_problems(401, 403, 404, 409, 422, 503)


@router.get("", responses=_READS)
async def list_lessons(service: Served, user: CurrentUser) -> LearnedLessons:
    """All that was learned of the user, and how each stands."""
    pieces, now = await curation.list_pieces(service.store, user), service.store.now()
    records = (guidance_record(piece.kept, curation.describe_state(piece, now)) for piece in pieces)
    return LearnedLessons(lessons=[LearnedLesson(**record) for record in records])


@router.get("/{name}", responses=_FINDS)
async def get_lesson(service: Served, user: CurrentUser, name: Name) -> LessonReasons:
    """One of them, with the messages that it was learned from, what became of it, its evidence and its effect."""
    explained = await curation.explain_piece(service.store, user, name)
    life = explained.piece.kept.assess(service.store.now())
    return LessonReasons(
        **explained_record(explained),
        evidence=LessonCounts.model_validate(life.tally),
        confidence=round(life.confidence, 4),
        verdict=life.verdict,
        effect=LessonEffect.model_validate(life.effect) if life.effect else None,
    )


@router.post("/{name}", responses=_DECIDES)
async def decide_lesson(
    service: Served, user: CurrentUser, name: Name, word: Annotated[LessonDecision, Body()]
) -> LessonReasons:
    """Accept, mute, unmute, pin, unpin, edit, forget it, or undo the last decision on it."""
    await curation.decide_piece(service.store, user, service.soul_of(user), name, word.do, word.text)
    return await get_lesson(service, user, name)


@router.delete("/{name}", responses=_FINDS)
async def erase_lesson(service: Served, user: CurrentUser, name: Name) -> ErasedLesson:
    """Erase it for good; the messages that it was learned from stay, and are erased as memories are."""
    left = await curation.erase_piece(service.store, user, name, service.soul_of(user))
    return ErasedLesson(erased=name, left=service.hide_machine(left) or None)
