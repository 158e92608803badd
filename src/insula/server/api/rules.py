"""What was learned of a user, lesson by lesson, with the evidence for it and its measured effect (P4, R9)."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from insula.guidance import ACTIVE, CORROBORATED, MUTED, PROPOSED, Evidence, Life, assess_guidance
from insula.memory.storage.rows import Cited, StoredGuidance
from insula.memory.storage.store import Store
from insula.memory.wishes import is_told, is_wish
from insula.night import guidelines, soul
from insula.server.api.numbers import Moment
from insula.server.problems import document_problems
from insula.server.users import CurrentUser, service_of
from insula.turn import wishes
from insula.turn.guidance import find_lessons
from insula.worth import UNKNOWN

router = APIRouter(prefix="/agent", tags=["rules"])

EXAMPLE: dict[str, Any] = {
    "id": 1,
    "name": "l3f1c0a9b2e",
    "advice": 'When the user asks about trains, also give what they missed: "the platform"',
    "trigger": ["train"],
    "section": "",
    "author": "derived",
    "state": "active",
    "told": True,
    "confidence": 0.57,
    "created_at": "2026-01-06T03:00:00Z",
    "evidence": {
        "sessions": 2,
        "detections": 2,
        "suppressions": 0,
        "breaches": 0,
        "absences": 0,
        "shown": 0,
        "withheld": 0,
        "withheld_failed": 0,
    },
    "effect": {"verdict": "not enough evidence", "estimate": None, "low": None, "high": None},
    "citations": [
        {
            "message": 3,
            "memory": 5,
            "session": "monday",
            "content": "You forgot the platform again.",
            "at": "2026-01-05T12:00:00Z",
        }
    ],
}


class RuleCounts(BaseModel):
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


class RuleEffect(BaseModel):
    """How much less often the mistake happens where it is told: the rate withheld less the rate shown."""

    verdict: str
    """`works`, `hurts`, `no effect worth while` or `not enough evidence`, which is usual."""
    estimate: float | None = None
    low: float | None = None
    """Of the interval that holds it with 95 % probability."""
    high: float | None = None


class SourceMessage(BaseModel):
    """A message of the user that it was learned from."""

    message: Annotated[int, Field(validation_alias="id")]
    memory: int
    """By which it is erased."""
    session: str
    content: str
    at: Moment


class LearnedRule(BaseModel):
    """A lesson; those of SOUL.md stand in `guidelines`."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    id: int
    name: str
    """By which commands, SOUL.md and `/agent/lessons` know it."""
    advice: str
    trigger: list[str]
    """Terms of a message that bring it up; empty where it holds always."""
    section: str
    """Of SOUL.md; empty for a lesson."""
    author: str
    """`derived` or `person`."""
    state: str
    """`proposed`, `active`, `retired`, `pruned`, or by a person's word `pinned` or `muted`."""
    told: bool
    """Whether the model is told of it when it comes up."""
    confidence: float | None
    """That it is needed and kept, of a lesson."""
    created_at: Moment
    evidence: RuleCounts | None
    """Of a lesson; one of SOUL.md has its sources alone."""
    effect: RuleEffect | None
    citations: list[SourceMessage]


class LearnedRules(BaseModel):
    """All of them."""

    model_config = ConfigDict(json_schema_extra={"example": {"lessons": [EXAMPLE], "guidelines": []}})

    lessons: list[LearnedRule]
    guidelines: list[LearnedRule]


@router.get("/rules", responses=document_problems(401, 403, 422, 503))
async def list_rules(request: Request, user: CurrentUser) -> LearnedRules:
    """Lessons, those of SOUL.md apart, with evidence, effect, state, and the messages that they were learned from."""
    service = service_of(request)
    store = service.chat.metacognition.store
    if (user_id := await store.nights.find_user_id(user)) is None:
        return LearnedRules(lessons=[], guidelines=[])
    kept = await store.guidance.list_lessons(user_id)
    numbers = {number for guidance in kept for number in guidance.citations}
    cited = {message.id: message for message in await store.guidance.read_cited(user_id, sorted(numbers))}
    told = {active.id for active in (*find_lessons(kept, store.now()), *wishes.active_preferences(kept))}
    here, gone = await _in_force(store, user_id)
    return LearnedRules(
        lessons=[_show_lesson(lesson, lesson.id in told, cited, store.now()) for lesson in kept if not lesson.section],
        guidelines=[_show_guideline(guideline, here, gone, cited) for guideline in kept if guideline.section],
    )


async def _in_force(store: Store, user_id: int) -> tuple[frozenset[str], frozenset[str]]:
    """The keys of the guidelines that stand in SOUL.md, and of those that a person took out of it."""
    past = await store.guidance.list_revisions(user_id, guidelines.SUBJECT, guidelines.PAST)
    document = soul.parse_document(past[0].content) if past else soul.Document()
    return frozenset(line.id for line in document.derived), guidelines.removed_guidelines(past)


def _show_lesson(lesson: StoredGuidance, told: bool, cited: Mapping[int, Cited], now: float) -> LearnedRule:
    evidence = (Evidence(session=s, at=at, arm=arm, happened=did) for s, arm, did, at in lesson.evidence)
    life = assess_guidance(evidence, now, mode=lesson.mode)
    state = life.state
    if is_wish(lesson) and not lesson.mode:
        state = ACTIVE if is_told(lesson) else PROPOSED
    return LearnedRule(
        **_common_fields(lesson, cited),
        state=state,
        told=told,
        confidence=round(life.confidence, 4),
        evidence=RuleCounts.model_validate(life.tally, from_attributes=True),
        effect=_show_effect(life),
    )


def _show_guideline(
    lesson: StoredGuidance, here: frozenset[str], gone: frozenset[str], cited: Mapping[int, Cited]
) -> LearnedRule:
    told = lesson.key in here
    backed = {cited[number].session for number in lesson.citations if number in cited}
    earned = ACTIVE if told or len(backed) >= CORROBORATED else PROPOSED
    state = MUTED if lesson.key in gone else lesson.mode or earned
    return LearnedRule(
        **_common_fields(lesson, cited), state=state, told=told, confidence=None, evidence=None, effect=None
    )


def _common_fields(lesson: StoredGuidance, cited: Mapping[int, Cited]) -> dict[str, Any]:
    return {
        "id": lesson.id,
        "name": lesson.name,
        "advice": lesson.advice,
        "trigger": list(lesson.trigger),
        "section": lesson.section,
        "author": lesson.author,
        "created_at": lesson.created_at,
        "citations": [
            SourceMessage.model_validate(cited[number], from_attributes=True)
            for number in lesson.citations
            if number in cited
        ],
    }


def _show_effect(life: Life) -> RuleEffect:
    if (effect := life.effect) is None:
        return RuleEffect(verdict=UNKNOWN)
    return RuleEffect(verdict=life.verdict, estimate=effect.estimate, low=effect.low, high=effect.high)
