"""`POST /agent/chat`: one message, and the answer with what metacognition made of it (S1, K2)."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from insula.agent.chat import Reply
from insula.errors import InsulaError
from insula.server.api.schema import (
    ApiModel,
    ConfidenceEstimate,
    Id,
    LessonTold,
    Milliseconds,
    MonitorJudgement,
    Name,
    RecalledMemory,
    RequestBody,
    Said,
    Tokens,
    TurnLimits,
    TurnSignal,
    TurnVerdict,
)
from insula.server.problems import Problem, document_problems
from insula.server.service import Service
from insula.server.turns import WAITING, ResponsePieces
from insula.server.users import Caller, Served, settle_user
from insula.session.snapshot import Advisory, Snapshot

log = logging.getLogger(__name__)
router = APIRouter(prefix="/agent", tags=["chat"])

HEARTBEAT_SECONDS = 15.0
"""After which a stream in which nothing happens says that it is alive (the HTML standard's own advice)."""
STREAM = "text/event-stream"
KEPT = "The message is kept; send it again when that is mended."
LOST = "The message could not be kept either; send it again when that is mended."


class ChatMessage(RequestBody):
    """What a user says. Only text is taken, and never a history: that is the server's own."""

    user: Name | None = None
    """With a token it may be left out: the token says it."""
    session: Name
    message: Said


class ChatAnswer(ApiModel):
    """One exchange, as it ended."""

    turn: Id
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
async def answer_chat(
    request: Request, service: Served, said: Annotated[ChatMessage, Body()], caller: Caller
) -> ChatAnswer | Response:
    """Answer a message; with `Accept: text/event-stream` as it comes.

    A turn that began is finished and stored though its client goes away. Where the model fails, there is no answer,
    and the message is kept all the same.
    """
    user = settle_user(caller, said.user, said.session)
    check_queue(service, user)
    if STREAM in request.headers.get("accept", ""):
        return EventSourceResponse(_stream_exchange(service, user, said), headers={"X-Accel-Buffering": "no"})
    outcome = await answer_message(service, user, said)
    if isinstance(outcome, Problem):
        return outcome.make_response()
    return ChatAnswer.model_validate(_reply_record(outcome, service))


def check_queue(service: Service, user: str) -> None:
    """Refuse a message where too many of the user's wait."""
    if service.turns.count_turns(user) >= WAITING:
        raise HTTPException(429, f"{WAITING} messages of this user wait for an answer; send more once they have it.")


async def answer_message(service: Service, user: str, said: ChatMessage) -> Reply | Problem:
    """One exchange, once it is over."""
    kept = asyncio.Event()
    task = service.turns.queue_turn(
        user, lambda: service.chat.reply(user, said.session, said.message, on_kept=kept.set)
    )
    await asyncio.wait([task])
    return _read_outcome(task, kept.is_set(), service)


async def _stream_exchange(service: Service, user: str, said: ChatMessage) -> AsyncGenerator[bytes]:
    """The events of one exchange."""
    pieces, kept = ResponsePieces(), asyncio.Event()
    task = service.turns.queue_turn(
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
    if isinstance(error := task.exception(), InsulaError):
        return Problem.of_error(error, service)
    if error is not None:
        log.error("A turn failed.", exc_info=error)
        return Problem.of_failure(error)
    reply = task.result()
    return Problem.of_error(reply.failure, service, stands) if reply.failure else reply


def _reply_record(reply: Reply, service: Service) -> dict[str, Any]:
    """The reply as its user may read it."""
    return {**reply.record(), "troubles": [service.hide_machine(trouble) for trouble in reply.troubles]}


def _format_event(kind: str, data: Any) -> bytes:
    return format_sse_event(event=kind, data_str=json.dumps(data))
