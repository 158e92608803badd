"""A turn as the conversation shows it: what was said, how sure, how good, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from insula.memory.storage.rows import LedgerEntry, SessionStretch, StoredGuidance, TranscriptLine
from insula.memory.storage.views import list_exchanges
from insula.operations.adaptations import describe_duration
from insula.server.api.schema import (
    ConfidenceEstimate,
    Id,
    LessonTold,
    Milliseconds,
    MonitorJudgement,
    RecalledMemory,
    Tokens,
    TurnLimits,
    TurnSignal,
    TurnVerdict,
)
from insula.server.page import words
from insula.server.page.words import Tone
from insula.turn.verdict import is_saved
from insula.types import JUDGED, PASS_THRESHOLD, TURN, Controls, Memory
from insula.value import is_object

MOST_CHARS = 400_000
"""Characters of one text that the page shows."""
UNANSWERED = "There was no answer; the message is kept."


Text = Annotated[str, Field(max_length=MOST_CHARS)]


class TurnFacts(BaseModel):
    """What is known of a turn: the record of a reply, or as much of it as the ledger keeps."""

    turn: Id
    session: str
    message: Text = ""
    is_erased: bool = False
    """Whether the message was erased."""
    response: Text = ""
    confidence: ConfidenceEstimate | None = None
    assessment: MonitorJudgement | None = None
    hedged: bool = False
    verdict: TurnVerdict | None = None
    signals: list[TurnSignal] = []
    recalled: list[RecalledMemory] = []
    lessons: list[LessonTold] = []
    tokens: Tokens | None = None
    ms: Milliseconds | None = None
    controls: TurnLimits | None = None
    error: str | None = None
    troubles: list[str] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A share, in a word and as a bar."""

    word: str
    score: float
    tone: Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn for the template."""

    facts: TurnFacts
    sure: Gauge | None
    good: Gauge | None
    recalled: tuple[tuple[Memory, RecalledMemory], ...] = ()
    lessons: tuple[tuple[StoredGuidance, bool], ...] = ()
    """With whether it was told."""
    allowed: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    can_undo: bool = False
    """Whether what it saved still stands."""

    @property
    def parts(self) -> list[tuple[str, float]]:
        """What the assessment looked at, in words, with its share."""
        known = asdict(self.facts.assessment.parts) if self.facts.assessment else {}
        told = ((name, known.get(part)) for part, name in words.PARTS.items())
        return [(name, float(share)) for name, share in told if share is not None]

    @property
    def told(self) -> list[str]:
        """What stands under the answer, mostly nothing; of a turn whose words are gone nothing is left of it."""
        return self.facts.verdict.text.splitlines() if self.facts.verdict else []

    @property
    def says_saved(self) -> bool:
        """Whether it says under the answer that something was saved."""
        return any(map(is_saved, self.told))

    @property
    def came_to(self) -> str:
        """What memory had to do with the answer, for who asks why."""
        return words.came_to(self.facts.verdict.kind) if self.facts.verdict else ""

    @property
    def about(self) -> dict[str, str]:
        """Flag -> what shows it."""
        known = self.facts.assessment.faults if self.facts.assessment else ()
        return {fault.flag: fault.about for fault in known if fault.about}

    @property
    def judged(self) -> str:
        """What the person said of the answer; empty where they said nothing."""
        said = next((signal.reason for signal in self.facts.signals if signal.kind == JUDGED), "")
        return f"You said: {said.removeprefix('the user says that ')}." if said else ""

    @property
    def noticed(self) -> list[TurnSignal]:
        """What is worth saying beyond that the turn is over."""
        return [signal for signal in self.facts.signals if signal.kind not in (TURN, JUDGED)]


def show_turn(
    facts: TurnFacts, memories: Mapping[int, Memory], lessons: Mapping[int, StoredGuidance], normal: Controls
) -> ShownTurn:
    """A turn, with the texts of what it names.

    Args:
        memories: the user's, by id; one that is gone is left out.
        normal: what a turn may use where nothing is amiss.
    """
    sure, good = facts.confidence, facts.assessment
    word, tone = words.describe_quality(good.score, told=good.outcome != "unclear") if good else ("", "good")
    return ShownTurn(
        facts=facts,
        sure=Gauge(word=sure.level, score=sure.score, tone="sure") if sure else None,
        good=Gauge(word=word, score=good.score, tone=tone) if good else None,
        recalled=tuple((memories[memory.id], memory) for memory in facts.recalled if memory.id in memories),
        lessons=tuple((lessons[drawn.id], drawn.arm == "shown") for drawn in facts.lessons if drawn.id in lessons),
        allowed=tuple(_describe_limits(facts.controls, normal)) if facts.controls else (),
        spent=tuple(_describe_spent(facts)),
    )


def _describe_limits(controls: TurnLimits, normal: Controls) -> Iterable[str]:
    items = controls.max_context_items
    lowered = f", lowered from {normal.max_context_items}" if items < normal.max_context_items else ", as usual"
    yield f"Up to {items} memories before the model{lowered}."
    if controls.consolidation_threshold > normal.consolidation_threshold:
        yield "Fewer new memories were stored than usual, because many items waited."


def _describe_spent(facts: TurnFacts) -> Iterable[str]:
    if facts.tokens:
        yield f"{facts.tokens.input:,} tokens read and {facts.tokens.output:,} written."
    if facts.ms:
        added = f", and {describe_duration(facts.ms.added)} to watch it" if facts.ms.added is not None else ""
        yield f"{describe_duration(facts.ms.model)} for the model{added}."


def of_session(session: str, talk: SessionStretch) -> list[TurnFacts]:
    """The turns of a session, oldest first, as far as transcript and ledger know them."""
    return [_read_turn(session, *exchange) for exchange in list_exchanges(talk)]


def _read_turn(session: str, turn: int, lines: Sequence[TranscriptLine], signals: Sequence[LedgerEntry]) -> TurnFacts:
    mine = [line.content for line in lines if line.provenance != "assistant"]
    theirs = [line.content for line in lines if line.provenance == "assistant"]
    nothing: Mapping[str, Any] = {}
    over = next((entry.data for entry in signals if entry.kind == TURN), nothing)
    is_erased = bool(mine) and not any(mine)
    facts = {
        "turn": turn,
        "session": session,
        "message": "\n\n".join(mine)[:MOST_CHARS],
        "is_erased": is_erased,
        "response": "\n\n".join(theirs)[:MOST_CHARS],
        "signals": [{"kind": entry.kind, "reason": entry.reason} for entry in signals],
        "error": None if theirs or is_erased or not signals else UNANSWERED,
    }
    try:
        return TurnFacts.model_validate(_read_record(over) | facts)
    # Another version wrote it: what was said is shown all the same.
    except (ValidationError, TypeError, KeyError, AttributeError):
        return TurnFacts.model_validate(facts)


def _read_record(over: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a turn on the ledger, in the words of a reply's record."""
    quoted: Mapping[str, Any] = over.get("quoted", {})
    record = {name: over[name] for name in ("hedged", "lessons", "controls", "recalled") if name in over}
    if is_object(sure := over.get("confidence")):
        record["confidence"] = {**sure, "reasons": quoted.get("reasons", [])}
    if is_object(judged := over.get("assessment")):
        found = {name: quoted.get(name, []) for name in ("faults", "unanswered")}
        outcome = "unclear" if judged.get("unclear") else "passed"
        record["assessment"] = {"passed": judged["score"] >= PASS_THRESHOLD, "outcome": outcome, **judged, **found}
    if kind := over.get("verdict"):
        told = quoted.get("verdict", {})
        record["verdict"] = {"kind": kind, "text": told.get("said", ""), "tone": told.get("tone", "sure")}
    if usage := over.get("usage"):
        record |= {"tokens": usage, "ms": {"model": 1_000 * over["seconds"]}}
    return record
