"""What was said: a user's sessions, and the transcript of each with what was made of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException
from pydantic import Field

from insula.memory.storage import views
from insula.memory.storage.rows import LedgerEntry, TranscriptLine
from insula.memory.storage.views import list_exchanges
from insula.server.api.schema import PAGE, ApiModel, Before, Limit, Moment
from insula.server.problems import document_problems, show_harmless
from insula.server.users import CurrentUser, Served
from insula.types import TURN
from insula.value import is_object

router = APIRouter(prefix="/agent", tags=["sessions"])


class ShownSession(ApiModel):
    """One conversation."""

    id: int
    session: Annotated[str, Field(validation_alias="name")]
    turns: int
    started_at: Moment
    last_at: Moment


class SessionsPage(ApiModel):
    """A page of them, those begun last first."""

    sessions: list[ShownSession]
    next: int | None
    """What to give as `before` for the next page; null on the last."""


@router.get("/sessions", responses=document_problems(401, 403, 422, 503))
async def list_sessions(service: Served, user: CurrentUser, before: Before = None, limit: Limit = PAGE) -> SessionsPage:
    """A user's sessions."""
    rows = await service.store.read(views.list_sittings, user, before, limit + 1)
    more = rows[limit - 1].id if len(rows) > limit else None
    return SessionsPage.model_validate({"sessions": rows[:limit], "next": more})


class ShownLine(ApiModel):
    """One line of a transcript."""

    provenance: str
    """`user`, `assistant` or `tool`."""
    speaker: str
    content: str
    at: Moment


class TurnSign(ApiModel):
    """A signal of a turn."""

    id: int
    kind: str
    reason: str


class TranscriptTurn(ApiModel):
    """One turn: what was said, and what was made of it."""

    turn: int
    lines: list[ShownLine]
    confidence: dict[str, Any] | None = None
    """Before the response, as `level` and `score`."""
    assessment: dict[str, Any] | None = None
    """Of the response, as `score`, `flags` and `parts`."""
    hedged: bool = False
    recalled: Sequence[dict[str, Any]] = ()
    """What was recalled: each memory with its `id`, `score`, and whether it was `shown` to the model."""
    controls: dict[str, Any] | None = None
    """What the turn was allowed to use."""
    lessons: Sequence[dict[str, Any]] = ()
    """Ids of the lessons that it brought up, each with its `arm`."""
    signals: Sequence[TurnSign] = ()
    """All but `meta:turn`, which is told in the fields above."""


class TranscriptPage(ApiModel):
    """A stretch of a session, oldest first."""

    session: str
    turns: list[TranscriptTurn]
    next: int | None
    """What to give as `before` for the turns before these; null at the beginning."""


@router.get("/sessions/{session:path}", responses=document_problems(401, 403, 404, 422, 503))
async def get_transcript(
    service: Served, user: CurrentUser, session: str, before: Before = None, limit: Limit = PAGE
) -> TranscriptPage:
    """What was said in a session, with the confidence and the assessment of each turn."""
    talk = await service.store.read(views.read_talk, user, session, before, limit)
    if talk is None:
        raise HTTPException(
            404, f"There is no session {show_harmless(session)!r} of this user; /agent/sessions lists them."
        )
    turns = [_show_exchange(*exchange) for exchange in list_exchanges(talk)]
    return TranscriptPage(session=session, turns=turns, next=turns[0].turn if turns and turns[0].turn > 1 else None)


_UNTOLD: Mapping[str, Any] = {}


def _show_exchange(turn: int, said: Sequence[TranscriptLine], noticed: Sequence[LedgerEntry]) -> TranscriptTurn:
    record = next((signal.data for signal in noticed if signal.kind == TURN), _UNTOLD)
    return TranscriptTurn(
        turn=turn,
        lines=[ShownLine.model_validate(line) for line in said],
        confidence=record.get("confidence"),
        assessment=record.get("assessment"),
        hedged=bool(record.get("hedged")),
        recalled=[recalled if is_object(recalled) else {"id": recalled} for recalled in record.get("recalled", [])],
        controls=record.get("controls"),
        lessons=record.get("lessons", []),
        signals=[TurnSign.model_validate(signal) for signal in noticed if signal.kind != TURN],
    )
