"""A turn as the conversation shows it: what was said, how sure, how good, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from insula.memory.storage.rows import LedgerEntry, SessionStretch, StoredGuidance, TalkLine
from insula.operations.adaptations import describe_duration
from insula.server.api.numbers import Id
from insula.server.page.views import words
from insula.server.page.views.words import Tone
from insula.turn.verdict import is_saved
from insula.types import JUDGED, TURN, Controls, Memory
from insula.value import is_list, is_object

MOST_CHARS = 400_000
"""Characters of one text that the page shows."""
UNANSWERED = "There was no answer; the message is kept."

Text = Annotated[str, Field(max_length=MOST_CHARS)]
Share = Annotated[float, Field(ge=0, le=1)]


class ConfidenceRecord(BaseModel):
    """Confidence, as a record holds it."""

    level: Text
    score: Share
    reasons: list[Text] = []


class FaultRecord(BaseModel):
    """A fault, and what shows it."""

    flag: Text
    about: Text = ""


class AssessmentRecord(BaseModel):
    """An assessment, as a record holds it."""

    score: Share
    flags: list[Text] = []
    parts: dict[Text, Share | bool | None] = {}
    unanswered: list[Text] = []
    faults: list[FaultRecord] = []
    outcome: Text = ""
    unclear: bool = False

    @property
    def could_not_tell(self) -> bool:
        """Whether it could not be judged."""
        return self.unclear or self.outcome == "unclear"


class VerdictRecord(BaseModel):
    """The verdict of a turn."""

    kind: Text
    text: Text = ""
    tone: Tone = "sure"
    line: Text = ""


class RecalledRecord(BaseModel):
    """A memory that was recalled."""

    id: Id
    score: Share | None = None
    shown: bool = True


class LessonRecord(BaseModel):
    """A lesson that was told, or withheld by lot."""

    id: Id
    arm: Text


class NoticedSignal(BaseModel):
    """A signal of the turn."""

    kind: Text
    reason: Text


class SpentRecord(BaseModel):
    """Tokens or milliseconds, by what they were spent on."""

    input: int | None = None
    output: int | None = None
    model: FiniteFloat | None = None
    added: FiniteFloat | None = None


class LimitsRecord(BaseModel):
    """What the turn was allowed to use."""

    max_context_items: int | None = None
    consolidation_threshold: FiniteFloat | None = None


class TurnFacts(BaseModel):
    """What is known of a turn: the record of a reply, or as much of it as the ledger keeps."""

    turn: Id
    session: Text
    message: Text = ""
    response: Text = ""
    confidence: ConfidenceRecord | None = None
    assessment: AssessmentRecord | None = None
    hedged: bool = False
    verdict: VerdictRecord | None = None
    signals: list[NoticedSignal] = []
    recalled: list[RecalledRecord] = []
    lessons: list[LessonRecord] = []
    tokens: SpentRecord = SpentRecord()
    ms: SpentRecord = SpentRecord()
    controls: LimitsRecord | None = None
    error: Text | None = None
    troubles: list[Text] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A share, in a word and as a bar."""

    name: str
    word: str
    score: float
    tone: Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn for the template."""

    facts: TurnFacts
    sure: Gauge | None
    good: Gauge | None
    recalled: tuple[tuple[Memory, RecalledRecord], ...] = ()
    lessons: tuple[tuple[StoredGuidance, bool], ...] = ()
    """With whether it was told."""
    allowed: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    can_undo: bool = False
    """Whether what it saved still stands."""

    @property
    def parts(self) -> list[tuple[str, float]]:
        """What the assessment looked at, in words, with its share."""
        known = self.facts.assessment.parts if self.facts.assessment else {}
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
        known = self.facts.assessment.faults if self.facts.assessment else []
        return {fault.flag: fault.about for fault in known if fault.about}

    @property
    def judged(self) -> str:
        """What the person said of the answer; empty where they said nothing."""
        said = next((signal.reason for signal in self.facts.signals if signal.kind == JUDGED), "")
        return f"You said: {said.removeprefix('the user says that ')}." if said else ""

    @property
    def noticed(self) -> list[NoticedSignal]:
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
    word, tone = words.describe_quality(good.score, told=not good.could_not_tell) if good else ("", "good")
    return ShownTurn(
        facts=facts,
        sure=Gauge(name="How sure", word=sure.level, score=sure.score, tone="sure") if sure else None,
        good=Gauge(name="How good", word=word, score=good.score, tone=tone) if good else None,
        recalled=tuple((memories[memory.id], memory) for memory in facts.recalled if memory.id in memories),
        lessons=tuple((lessons[drawn.id], drawn.arm == "shown") for drawn in facts.lessons if drawn.id in lessons),
        allowed=tuple(_describe_limits(facts.controls, normal)) if facts.controls else (),
        spent=tuple(_describe_spent(facts)),
    )


def _describe_limits(controls: LimitsRecord, normal: Controls) -> Iterable[str]:
    items, threshold = controls.max_context_items, controls.consolidation_threshold
    if items is not None:
        lowered = f", lowered from {normal.max_context_items}" if items < normal.max_context_items else ", as usual"
        yield f"Up to {items} memories before the model{lowered}."
    if threshold is not None and threshold > normal.consolidation_threshold:
        yield "Fewer new memories were stored than usual, because many items waited."


def _describe_spent(facts: TurnFacts) -> Iterable[str]:
    tokens, ms = facts.tokens, facts.ms
    if tokens.input is not None and tokens.output is not None:
        yield f"{tokens.input:,} tokens read and {tokens.output:,} written."
    if ms.model is not None:
        added = f", and {describe_duration(ms.added)} to watch it" if ms.added is not None else ""
        yield f"{describe_duration(ms.model)} for the model{added}."


def of_session(session: str, talk: SessionStretch) -> list[TurnFacts]:
    """The turns of a session, oldest first, as far as transcript and ledger know them."""
    said: dict[int, list[TalkLine]] = {}
    noticed: dict[int, list[LedgerEntry]] = {}
    for line in talk.lines:
        said.setdefault(line.turn, []).append(line)
    for entry in talk.noticed:
        noticed.setdefault(entry.turn, []).append(entry)
    return [_read_turn(session, turn, said[turn], noticed.get(turn, [])) for turn in sorted(said)]


def _read_turn(session: str, turn: int, lines: Sequence[TalkLine], signals: Sequence[LedgerEntry]) -> TurnFacts:
    mine = [line.content for line in lines if line.provenance != "assistant"]
    theirs = [line.content for line in lines if line.provenance == "assistant"]
    nothing: Mapping[str, Any] = {}
    over = next((entry.data for entry in signals if entry.kind == TURN), nothing)
    facts = {
        "turn": turn,
        "session": session,
        "message": "\n\n".join(mine)[:MOST_CHARS],
        "response": "\n\n".join(theirs)[:MOST_CHARS],
        "signals": [{"kind": entry.kind, "reason": entry.reason} for entry in signals],
        "error": None if theirs or not signals else UNANSWERED,
    }
    try:
        return TurnFacts.model_validate(_read_record(over) | facts)
    except ValidationError:  # another version wrote it: what was said is shown all the same
        return TurnFacts.model_validate(facts)


def _read_record(over: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a turn on the ledger, in the words of a reply's record."""
    usage, seconds = over.get("usage", {}), over.get("seconds")
    recalled = over.get("recalled")
    named = ("hedged", "lessons", "controls")
    quoted: Mapping[str, Any] = over.get("quoted", {})
    judged, kind, sure = over.get("assessment"), over.get("verdict"), over.get("confidence")
    faults = {"faults": quoted.get("faults", []), "unanswered": quoted.get("unanswered", [])}
    return {
        **{name: over[name] for name in named if name in over},
        **({"confidence": {**sure, "reasons": quoted.get("reasons", [])}} if is_object(sure) else {}),
        **({"assessment": {**judged, **faults}} if is_object(judged) else {}),
        **({"verdict": {"kind": kind, **_read_verdict(quoted.get("verdict", {}))}} if isinstance(kind, str) else {}),
        "recalled": [memory if is_object(memory) else {"id": memory} for memory in recalled]
        if is_list(recalled)
        else [],
        "tokens": {name: usage[name] for name in ("input", "output") if name in usage},
        "ms": {"model": 1_000 * seconds, "added": over.get("added_ms")} if isinstance(seconds, int | float) else {},
    }


def _read_verdict(quoted: Mapping[str, Any]) -> dict[str, Any]:
    """What was said under an answer; older records have a sentence for each, by another name, which is not shown."""
    if "said" not in quoted:
        return {}
    return {"text": quoted["said"], **{name: quoted[name] for name in ("tone", "line") if name in quoted}}
