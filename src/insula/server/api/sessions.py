"""What was said: a user's sessions, and the transcript of each with what was made of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field

from insula.memory.storage import views
from insula.memory.storage.rows import LedgerEntry, TalkLine
from insula.server.api.numbers import PAGE, Before, Limit, Moment
from insula.server.problems import document_problems, show_harmless
from insula.server.users import CurrentUser, service_of
from insula.types import TURN
from insula.value import is_object

router = APIRouter(prefix="/agent", tags=["sessions"])

MOST_CHARS = 2_000_000
"""Characters of a transcript that are told at once: ten of the longest messages; other turns come on the next page."""


class ShownSession(BaseModel):
    """One conversation."""

    id: int
    session: Annotated[str, Field(validation_alias="name")]
    turns: int
    started_at: Moment
    last_at: Moment


class SessionsPage(BaseModel):
    """A page of them, those begun last first."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "sessions": [
                    {
                        "id": 1,
                        "session": "monday",
                        "turns": 5,
                        "started_at": "2026-01-05T12:00:00Z",
                        "last_at": "2026-01-05T12:09:00Z",
                    }
                ],
                "next": None,
            }
        }
    )

    sessions: list[ShownSession]
    next: int | None
    """What to give as `before` for the next page; null on the last."""


@router.get("/sessions", responses=document_problems(401, 403, 422, 503))
async def list_sessions(
    request: Request, user: CurrentUser, before: Before = None, limit: Limit = PAGE
) -> SessionsPage:
    """A user's sessions."""
    store = service_of(request).chat.metacognition.store
    rows = await store.read(views.list_sittings, user, before, limit + 1)
    more = rows[limit - 1].id if len(rows) > limit else None
    return SessionsPage.model_validate({"sessions": rows[:limit], "next": more}, from_attributes=True)


class ShownLine(BaseModel):
    """One line of a transcript."""

    provenance: str
    """`user`, `assistant` or `tool`."""
    speaker: str
    content: str
    at: Moment


class TurnSign(BaseModel):
    """A signal of a turn."""

    id: int
    kind: str
    reason: str


class TranscriptTurn(BaseModel):
    """One turn: what was said, and what was made of it."""

    turn: int
    lines: list[ShownLine]
    confidence: dict[str, Any] | None = None
    """Before the response, as `level` and `score`."""
    assessment: dict[str, Any] | None = None
    """Of the response, as `score`, `flags` and `parts`."""
    hedged: bool = False
    recalled: list[dict[str, Any]] = []
    """What was recalled: each memory with its `id`, `score`, and whether it was `shown` to the model."""
    controls: dict[str, Any] | None = None
    """What the turn was allowed to use."""
    lessons: list[dict[str, Any]] = []
    """Ids of the lessons that it brought up, each with its `arm`."""
    signals: list[TurnSign] = []
    """All but `meta:turn`, which is told in the fields above."""


class TranscriptPage(BaseModel):
    """A stretch of a session, oldest first."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "session": "monday",
                "turns": [
                    {
                        "turn": 1,
                        "lines": [
                            {
                                "provenance": "user",
                                "speaker": "user",
                                "content": "I live in Lisbon.",
                                "at": "2026-01-05T12:00:00Z",
                            },
                            {
                                "provenance": "assistant",
                                "speaker": "assistant",
                                "content": "Noted: you live in Lisbon.",
                                "at": "2026-01-05T12:00:01Z",
                            },
                        ],
                        "confidence": {"level": "low", "score": 0.08},
                        "assessment": {"score": 1.0, "flags": []},
                        "hedged": False,
                        "recalled": [{"id": 1, "score": 0.71}],
                        "lessons": [],
                        "signals": [],
                    }
                ],
                "next": None,
            }
        }
    )

    session: str
    turns: list[TranscriptTurn]
    next: int | None
    """What to give as `before` for the turns before these; null at the beginning."""


@router.get("/sessions/{session:path}", responses=document_problems(401, 403, 404, 422, 503))
async def get_transcript(
    request: Request, user: CurrentUser, session: str, before: Before = None, limit: Limit = PAGE
) -> TranscriptPage:
    """What was said in a session, with the confidence and the assessment of each turn."""
    store = service_of(request).chat.metacognition.store
    talk = await store.read(views.read_talk, user, session, before, limit)
    if talk is None:
        raise HTTPException(
            404, f"There is no session {show_harmless(session)!r} of this user; /agent/sessions lists them."
        )
    noticed = _by_turn(talk.noticed)
    lines = _by_turn(latest_lines(talk.lines))
    turns = [_show_exchange(turn, said, noticed.get(turn, [])) for turn, said in sorted(lines.items())]
    return TranscriptPage(session=session, turns=turns, next=turns[0].turn if turns and turns[0].turn > 1 else None)


_UNTOLD: Mapping[str, Any] = {}


def _show_exchange(turn: int, said: Sequence[TalkLine], noticed: Sequence[LedgerEntry]) -> TranscriptTurn:
    record = next((signal.data for signal in noticed if signal.kind == TURN), _UNTOLD)
    return TranscriptTurn(
        turn=turn,
        lines=[ShownLine.model_validate(line, from_attributes=True) for line in said],
        confidence=record.get("confidence"),
        assessment=record.get("assessment"),
        hedged=bool(record.get("hedged")),
        recalled=[recalled if is_object(recalled) else {"id": recalled} for recalled in record.get("recalled", [])],
        controls=record.get("controls"),
        lessons=record.get("lessons", []),
        signals=[TurnSign.model_validate(signal, from_attributes=True) for signal in noticed if signal.kind != TURN],
    )


def _by_turn(rows: Sequence[Any]) -> dict[int, list[Any]]:
    by_turn: dict[int, list[Any]] = {}
    for row in rows:
        by_turn.setdefault(cast(int, row.turn), []).append(row)
    return by_turn


def latest_lines(lines: Sequence[TalkLine]) -> Sequence[TalkLine]:
    """Of lines, oldest first, those of the last turns that there is room for; of the very last one all."""
    room = MOST_CHARS
    for line in reversed(lines):
        room -= len(line.content)
        if room < 0 and line.turn < lines[-1].turn:
            return [talk_line for talk_line in lines if talk_line.turn > line.turn]
    return lines
