"""What a person may ask and say of an answer: what the model was told, and whether it was right."""

from typing import Annotated

from fastapi import APIRouter, Body, HTTPException, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from insula.agent.requests import RequestPart
from insula.calibration import load_shipped
from insula.memory.storage.store import NAME_CHARS
from insula.night import outcomes
from insula.server.api.schema import ApiModel, Id, RequestBody
from insula.server.problems import document_problems
from insula.server.service import Service
from insula.server.users import CurrentUser, Served

router = APIRouter(prefix="/agent/answers", tags=["answers"])

Session = Annotated[str, Query(max_length=NAME_CHARS, description="The conversation.", examples=["monday"])]
Number = Annotated[Id, Query(description="The turn within it.", examples=[1])]
NOT_ASKED = "No model was asked in this turn: Insula answered by itself."
NOT_KEPT = (
    "No request of this turn is kept: the last few hundred to this server's model are, until something is erased."
)


class RequestPiece(ApiModel):
    """A part of a request."""

    source: str
    tokens: int
    """About."""
    text: str


class ExactRequest(ApiModel):
    """What the model was told, in the order in which it read it."""

    parts: list[RequestPiece]
    tokens: int


class AnswerJudgement(RequestBody):
    """A person's word on an answer."""

    session: str = Field(max_length=NAME_CHARS)
    turn: Id
    right: bool


class JudgementOutcome(ApiModel):
    """What comes of it."""

    said: str


@router.get("/request", responses=document_problems(401, 403, 404, 422))
async def get_request(service: Served, user: CurrentUser, session: Session, turn: Number) -> ExactRequest:
    """The exact request of a turn, part by part, as long as it is kept."""
    if not (request_parts := await find_request(service, user, session, turn)):
        raise HTTPException(404, NOT_KEPT if request_parts is None else NOT_ASKED)
    pieces = [RequestPiece.model_validate(part) for part in request_parts]
    return ExactRequest(parts=pieces, tokens=sum(piece.tokens for piece in pieces))


async def find_request(service: Service, user: str, session: str, turn: int) -> list[RequestPart] | None:
    """The parts of a request, none where no model was asked; None where they are not kept."""
    requests = service.chat.requests
    return await run_in_threadpool(requests.find_request, user, session, turn) if requests else None


@router.post("/judge", responses=document_problems(401, 403, 422, 503))
async def post_judgement(
    service: Served, user: CurrentUser, word: Annotated[AnswerJudgement, Body()]
) -> JudgementOutcome:
    """Say that an answer was right, or wrong: it counts for how sure to be with this user, at once."""
    base = service.mind.engine.calibration or load_shipped()
    said = await outcomes.judge_answer(service.store, user, word.session, word.turn, word.right, base)
    return JudgementOutcome(said=said)
