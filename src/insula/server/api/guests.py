"""`/v1`: metacognition for agents that run elsewhere, in any language: a turn begun and finished, an action felt.

The server keeps nothing between two requests: what is to be given back with the next one is the `state` of the answer
to the last. So any worker answers any of them, and a turn may wait for days.
"""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException
from pydantic import Field

from insula import senses
from insula.agent.chat import MESSAGE_CHARS
from insula.errors import InputError
from insula.memory.storage.store import NAME_CHARS
from insula.metacognition.suspended import read_suspended
from insula.server.api.schema import (
    ApiModel,
    ConfidenceEstimate,
    MonitorJudgement,
    Name,
    RequestBody,
    Said,
    TurnSignal,
    TurnVerdict,
)
from insula.server.problems import document_problems
from insula.server.users import Caller, Served, settle_user
from insula.session.snapshot import Advisory
from insula.types import Usage

router = APIRouter(prefix="/v1", tags=["guests"])

Kept = Annotated[str, Field(min_length=2, max_length=400_000)]
"""What an answer gave as `state`."""


class BegunMessage(RequestBody):
    """What a user says to an agent that runs elsewhere."""

    user: Name | None = None
    """With a token it may be left out: the token says it."""
    session: Name
    message: Said
    model: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    metadata: dict[str, str | int | float | bool] | None = None
    """What you say of the message, to find it by."""


class OpenedTurn(ApiModel):
    """What to put before the model, and what to give back with its answer."""

    turn: int
    """Its number within the session; 0 where it could not be kept, and `troubles` says why."""
    state: str
    """To be given back to `/v1/turns/finish`; it holds memories, so keep it where you keep the conversation."""
    instructions_stable: str
    """For the system prompt: the same from turn to turn."""
    instructions_now: str
    """To be put behind the user's message, within it."""
    confidence: ConfidenceEstimate
    troubles: list[str]


class TokenUse(RequestBody):
    """What the response cost."""

    input: Annotated[int, Field(ge=0, le=10**9)] = 0
    output: Annotated[int, Field(ge=0, le=10**9)] = 0
    seconds: Annotated[float, Field(ge=0, le=10**6)] = 0.0
    """From the request to the last token, without anything else; 0 where that is not known."""
    seconds_to_first_token: Annotated[float, Field(ge=0, le=10**6)] | None = None
    """Where the response was streamed, by a model that does not think unseen before."""


class TurnAnswer(RequestBody):
    """The answer to a turn that was begun."""

    user: Name | None = None
    state: Kept
    response: Annotated[str, Field(max_length=MESSAGE_CHARS)]
    usage: TokenUse = TokenUse()


class FinishedTurn(ApiModel):
    """What became of the answer."""

    response: str
    """The text for the user: hedged where it should be, else as it was given."""
    hedged: bool
    assessment: MonitorJudgement | None
    verdict: TurnVerdict | None
    sources: list[str]
    """The remembered lines that the answer surely says; mostly none."""
    saved: list[str]
    """What of the message was learned, in the user's words."""
    signals: list[TurnSignal]
    advisories: list[Advisory]
    """What the turn went without because its model is slow or working memory full; mostly empty."""
    troubles: list[str]
    """A turn that was finished before is said here, and nothing is written a second time."""


class ReportedAction(RequestBody):
    """A tool call of an agent that runs elsewhere."""

    state: Kept | None = None
    """What the answer to the call before gave; none for the first."""
    tool: Name
    input: Any = None
    output: Any = None
    ok: bool | None = None
    """Whether it succeeded; null where nothing says so but the output."""
    id: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    turn: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    """A name for the model's turn, equal for calls that it made at once; empty: each call is a turn."""
    at: Annotated[float, Field(ge=0, le=10**11)] = 0.0


class SenseNote(ApiModel):
    """One thing to tell the model."""

    text: str
    sense: str
    rung: int
    impasse: bool


class FeltAction(ApiModel):
    """What the senses feel after the call."""

    state: str
    note: SenseNote | None


@router.post("/turns", responses=document_problems(401, 403, 413, 422, 503))
async def begin_turn(service: Served, said: Annotated[BegunMessage, Body()], caller: Caller) -> OpenedTurn:
    """Begin a turn: what memory holds for the message, and how sure it is. The message is kept."""
    user = settle_user(caller, said.user, said.session)
    turn = service.mind.turn(user, said.session, said.message, model=said.model, metadata=said.metadata)
    turn.leave_out_identity()
    await turn.open_turn()
    return OpenedTurn(
        turn=turn.number,
        state=turn.to_json(),
        instructions_stable=turn.instructions_stable,
        instructions_now=turn.instructions_now,
        confidence=ConfidenceEstimate.model_validate(turn.confidence),
        troubles=[service.hide_machine(trouble) for trouble in turn.troubles],
    )


@router.post("/turns/finish", responses=document_problems(401, 403, 413, 422, 503))
async def finish_turn(service: Served, answered: Annotated[TurnAnswer, Body()], caller: Caller) -> FinishedTurn:
    """Finish a turn: the answer is assessed, hedged where it should be, and kept."""
    try:
        whose = read_suspended(answered.state).user
        settle_user(caller, whose)
        settle_user(whose, answered.user)
        spent = answered.usage
        usage = Usage(
            input_tokens=spent.input,
            output_tokens=spent.output,
            seconds=spent.seconds,
            seconds_to_first_token=spent.seconds_to_first_token,
        )
        result = await service.mind.finish(answered.state, answered.response, usage=usage)
    except InputError as error:
        raise HTTPException(422, str(error)) from error
    return FinishedTurn(
        response=result.response,
        hedged=result.hedged,
        assessment=MonitorJudgement.model_validate(result.assessment) if result.assessment else None,
        verdict=TurnVerdict.model_validate(result.verdict) if result.verdict else None,
        sources=[memory.content for memory in result.sources],
        saved=list(result.saved),
        signals=[TurnSignal.model_validate(signal) for signal in result.signals],
        advisories=list(result.advisories),
        troubles=[service.hide_machine(trouble) for trouble in result.troubles],
    )


@router.post("/actions", responses=document_problems(401, 413, 422))
async def feel_action(acted: Annotated[ReportedAction, Body()], caller: Caller) -> FeltAction:
    """Feel an action: now and then there is a sentence for the model. Nothing of it is kept."""
    del caller
    try:
        before = senses.load(json.loads(acted.state)) if acted.state else None
        done = senses.action(
            acted.tool, acted.input, acted.output, ok=acted.ok, at=acted.at, id=acted.id, turn=acted.turn
        )
        state, note = senses.feel(before, done)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise HTTPException(422, "The state is none of ours; give back what the answer before gave.") from error
    return FeltAction(state=json.dumps(senses.dump(state)), note=SenseNote.model_validate(note) if note else None)
