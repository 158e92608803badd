"""`POST /agent/chat`: one message, and the answer with what metacognition made of it (S1, K2)."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from typing import Annotated, Any, cast

from fastapi import APIRouter, Body, HTTPException, Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from insula.agent.chat import MESSAGE_CHARS, Reply
from insula.errors import InsulaError
from insula.memory.storage.store import NAME_CHARS
from insula.server.problems import Problem, document_problems
from insula.server.service import Service
from insula.server.turns import WAITING, ResponsePieces, RunningTurns
from insula.server.users import Caller, service_of, settle_user
from insula.session.adaptation import Stage
from insula.session.saved import Advisory
from insula.session.snapshot import Snapshot
from insula.text.analysis import clean_text
from insula.turn.verdict import Kind, Tone
from insula.types import Flag, Level, Outcome

log = logging.getLogger(__name__)
router = APIRouter(prefix="/agent", tags=["chat"])

HEARTBEAT_SECONDS = 15.0
"""After which a stream in which nothing happens says that it is alive (the HTML standard's own advice)."""
STREAM = "text/event-stream"
KEPT = "The message is kept; send it again when that is mended."
LOST = "The message could not be kept either; send it again when that is mended."


def _not_empty(message: str) -> str:
    if not clean_text(message).strip():
        raise ValueError("there is nothing in it; write something")
    return message


class ChatMessage(BaseModel):
    """What a user says. Only text is taken, and never a history: that is the server's own."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"example": {"user": "ana", "session": "monday", "message": "Where do I live?"}},
    )

    user: Annotated[str, Field(min_length=1, max_length=NAME_CHARS)] | None = None
    """With a token it may be left out: the token says it."""
    session: Annotated[str, Field(min_length=1, max_length=NAME_CHARS)]
    message: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS), AfterValidator(_not_empty)]


class ConfidenceEstimate(BaseModel):
    """How likely memory held what the message needed."""

    level: Level
    score: float
    reasons: list[str]


class PartScores(BaseModel):
    """What the self-monitor looked at."""

    responsiveness: float
    completeness: float
    consistency: float
    length_ok: bool
    repetition: bool
    likelihood: float | None = None
    """How sure the model was of its words, where it tells."""


class ShownFault(BaseModel):
    """A fault with what shows it."""

    flag: Flag
    about: str


class MonitorJudgement(BaseModel):
    """What the self-monitor thinks of the response."""

    score: float
    flags: list[Flag]
    passed: bool
    parts: PartScores
    unanswered: list[str]
    """Questions of the message that no part of the response matches."""
    outcome: Outcome = "passed"
    """`unclear`: what could not be told, which is neither hedged nor learned from."""
    faults: list[ShownFault] = []
    """The flags that something shows, each with what does: a line of memory, a demand of the message."""


class TurnVerdict(BaseModel):
    """What the turn came to, for a person."""

    kind: Kind
    text: str
    tone: Tone = "sure"
    """How it is meant: `good` where the answer says what was told, `doubt` where it says otherwise, else `sure`."""


class TurnSignal(BaseModel):
    """A signal of this turn."""

    kind: str
    reason: str


class RecalledMemory(BaseModel):
    """A memory that was recalled."""

    id: int
    score: float
    shown: bool
    """Whether it stood before the model; else it came up, and does not bear on the message."""


class LessonTold(BaseModel):
    """A lesson that the message brought up."""

    id: int
    arm: str
    """`shown` to the model, or `withheld` by lot."""


class Tokens(BaseModel):
    """What the response cost."""

    input: int
    output: int


class Milliseconds(BaseModel):
    """What the turn took."""

    model: float
    added: float
    """By metacognition."""


class TurnLimits(BaseModel):
    """What the turn was allowed to use."""

    max_context_items: int
    consolidation_threshold: float
    stm_capacity: int
    retry: int = 0
    """How often the model may be asked once more in a turn."""
    history_share: float = 1.0
    """Share of the conversation that was sent along, of what usually is."""
    skipped: list[Stage]
    """Stages that it went without, under severe load."""


EXAMPLE: dict[str, Any] = {
    "turn": 5,
    "session": "monday",
    "message": "Where do I live?",
    "response": "You live in Lisbon.",
    "confidence": {"level": "high", "score": 0.86, "reasons": ["1 memory matches lisbon"]},
    "assessment": {
        "score": 1.0,
        "flags": [],
        "passed": True,
        "parts": {
            "responsiveness": 1.0,
            "completeness": 1.0,
            "consistency": 1.0,
            "length_ok": True,
            "repetition": False,
        },
        "unanswered": [],
        "outcome": "passed",
        "faults": [],
    },
    "hedged": False,
    "verdict": {"kind": "used", "text": "From what you told me on 5 January 2026: “I live in Lisbon.”", "tone": "good"},
    "signals": [{"kind": "meta:turn", "reason": "the turn is over"}],
    "recalled": [{"id": 1, "score": 0.71, "shown": True}],
    "lessons": [],
    "tokens": {"input": 212, "output": 6},
    "ms": {"model": 840.2, "added": 7.9},
    "controls": {
        "max_context_items": 16,
        "consolidation_threshold": 0.55,
        "stm_capacity": 32,
        "retry": 0,
        "history_share": 1.0,
        "skipped": [],
    },
    "error": None,
    "troubles": [],
    "metacog": {
        "version": 1,
        "ts": 1767614400.0,
        "turn_counter": 5,
        "performance": {"degraded": False},
        "recent_consolidation_selectivity": 0.5,
        "stm_utilization": 0.125,
        "stm_capacity": 32,
        "last_user_turn_status": "stored",
    },
}


class ChatAnswer(BaseModel):
    """One exchange, as it ended."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    turn: int
    """Its number within the session, from 1; 0 where nothing of it could be kept, and `troubles` says why."""
    session: str
    message: str
    response: str
    confidence: ConfidenceEstimate
    assessment: MonitorJudgement | None
    hedged: bool
    verdict: TurnVerdict | None = None
    signals: list[TurnSignal]
    recalled: list[RecalledMemory]
    lessons: list[LessonTold]
    tokens: Tokens
    ms: Milliseconds
    controls: TurnLimits
    error: str | None
    troubles: list[str]
    """What failed in Insula itself: with none, and a turn above 0, the exchange is on the disk."""
    metacog: Snapshot | None = None
    """The snapshot of the service, in the turns in which one is due."""
    advisories: list[Advisory] | None = None
    """What the turn went without because the model is slow or working memory full; left out where that is nothing."""


_STREAMED = {
    "description": "The exchange; as a stream: `delta` events with pieces of the response, which are provisional, and "
    "one `reply` event with the exchange, which alone is stored, or one `error` event with a problem.",
    "content": {
        STREAM: {
            "schema": {"type": "string"},
            "example": 'event: delta\ndata: {"text": "You live"}\n\nevent: reply\ndata: {"turn": 1, …}\n\n',
        }
    },
}


@router.post(
    "/chat",
    response_model=ChatAnswer,
    response_model_exclude_unset=True,
    responses={200: _STREAMED, **document_problems(401, 403, 408, 413, 422, 429, 502, 503, 504)},
)
async def answer_chat(request: Request, said: Annotated[ChatMessage, Body()], caller: Caller) -> ChatAnswer | Response:
    """Answer a message; with `Accept: text/event-stream` as it comes.

    A turn that began is finished and stored though its client goes away. Where the model fails, there is no answer,
    and the message is kept all the same.
    """
    user, service = settle_user(caller, said.user, said.session), service_of(request)
    turns = queue_of(request, user)
    if STREAM in request.headers.get("accept", ""):
        return EventSourceResponse(_stream_exchange(service, turns, user, said), headers={"X-Accel-Buffering": "no"})
    outcome = await answer_message(service, turns, user, said)
    return (
        outcome.make_response()
        if isinstance(outcome, Problem)
        else ChatAnswer.model_validate(_reply_record(outcome, service))
    )


def queue_of(request: Request, user: str) -> RunningTurns:
    """Where the turns of a user wait.

    Raises:
        HTTPException: 429, too many do.
    """
    turns = cast(RunningTurns, request.app.state.turns)
    if turns.count_turns(user) >= WAITING:
        raise HTTPException(429, f"{WAITING} messages of this user wait for an answer; send more once they have it.")
    return turns


async def answer_message(service: Service, turns: RunningTurns, user: str, said: ChatMessage) -> Reply | Problem:
    """One exchange, once it is over."""
    kept = asyncio.Event()
    task = turns.queue_turn(user, lambda: service.chat.reply(user, said.session, said.message, on_kept=kept.set))
    await asyncio.wait([task])
    return _read_outcome(task, kept.is_set(), service)


async def _stream_exchange(
    service: Service, turns: RunningTurns, user: str, said: ChatMessage
) -> AsyncGenerator[bytes]:
    """The events of one exchange."""
    pieces, kept = ResponsePieces(), asyncio.Event()
    task = turns.queue_turn(
        user,
        lambda: service.chat.reply(user, said.session, said.message, on_delta=pieces.add_piece, on_kept=kept.set),
    )
    task.add_done_callback(lambda _: pieces.end_pieces())
    async for text in pieces.read_pieces(HEARTBEAT_SECONDS):
        yield _format_event("delta", {"text": text}) if text else KEEPALIVE_COMMENT
    outcome = _read_outcome(task, kept.is_set(), service)
    if isinstance(outcome, Problem):
        yield _format_event("error", outcome.model_dump(exclude_none=True))
    else:
        yield _format_event("reply", _reply_record(outcome, service))


def _read_outcome(task: asyncio.Task[Reply], kept: bool, service: Service) -> Reply | Problem:
    """What became of a turn that is over; `kept` says whether its message is on the disk, as only the write knows."""
    stands = KEPT if kept else LOST
    if task.cancelled():
        return Problem.of_status(503, f"The server stops before there is a response. {stands}")
    if (error := task.exception()) is not None:
        return _unexpected_problem(error, service)
    reply = task.result()
    return Problem.of_error(reply.failure, service, stands) if reply.failure else reply


def _reply_record(reply: Reply, service: Service) -> dict[str, Any]:
    """The reply as its user may read it."""
    return {**reply.record(), "troubles": [service.hide_machine(trouble) for trouble in reply.troubles]}


def _unexpected_problem(error: BaseException, service: Service) -> Problem:
    if isinstance(error, InsulaError):
        return Problem.of_error(error, service)
    log.error("A turn failed.", exc_info=error)
    return Problem.of_failure(error)


def _format_event(kind: str, data: Any) -> bytes:
    return format_sse_event(event=kind, data_str=json.dumps(data))
