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


class Sure(BaseModel):
    """Confidence, as a record holds it."""

    level: Text
    score: Share
    reasons: list[Text] = []


class Found(BaseModel):
    """A fault, and what shows it."""

    flag: Text
    about: Text = ""


class Good(BaseModel):
    """An assessment, as a record holds it."""

    score: Share
    flags: list[Text] = []
    parts: dict[Text, Share | bool | None] = {}
    unanswered: list[Text] = []
    faults: list[Found] = []
    outcome: Text = ""
    unclear: bool = False

    @property
    def could_not_tell(self) -> bool:
        """Whether it could not be judged."""
        return self.unclear or self.outcome == "unclear"


class Told(BaseModel):
    """The verdict of a turn."""

    kind: Text
    text: Text = ""
    tone: Tone = "sure"
    line: Text = ""


class Scored(BaseModel):
    """A memory that was recalled."""

    id: Id
    score: Share | None = None
    shown: bool = True


class Drawn(BaseModel):
    """A lesson that was told, or withheld by lot."""

    id: Id
    arm: Text


class Noticed(BaseModel):
    """A signal of the turn."""

    kind: Text
    reason: Text


class Spent(BaseModel):
    """Tokens or milliseconds, by what they were spent on."""

    input: int | None = None
    output: int | None = None
    model: FiniteFloat | None = None
    added: FiniteFloat | None = None


class Allowed(BaseModel):
    """What the turn was allowed to use."""

    max_context_items: int | None = None
    consolidation_threshold: FiniteFloat | None = None


class Facts(BaseModel):
    """What is known of a turn: the record of a reply, or as much of it as the ledger keeps."""

    turn: Id
    session: Text
    message: Text = ""
    response: Text = ""
    confidence: Sure | None = None
    assessment: Good | None = None
    hedged: bool = False
    verdict: Told | None = None
    signals: list[Noticed] = []
    recalled: list[Scored] = []
    lessons: list[Drawn] = []
    tokens: Spent = Spent()
    ms: Spent = Spent()
    controls: Allowed | None = None
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
class Shown:
    """A turn for the template."""

    facts: Facts
    sure: Gauge | None
    good: Gauge | None
    recalled: tuple[tuple[Memory, Scored], ...] = ()
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
        return {one.flag: one.about for one in known if one.about}

    @property
    def judged(self) -> str:
        """What the person said of the answer; empty where they said nothing."""
        said = next((one.reason for one in self.facts.signals if one.kind == JUDGED), "")
        return f"You said: {said.removeprefix('the user says that ')}." if said else ""

    @property
    def noticed(self) -> list[Noticed]:
        """What is worth saying beyond that the turn is over."""
        return [one for one in self.facts.signals if one.kind not in (TURN, JUDGED)]


def shown(
    facts: Facts, memories: Mapping[int, Memory], lessons: Mapping[int, StoredGuidance], normal: Controls
) -> Shown:
    """A turn, with the texts of what it names.

    Args:
        facts: what is known of it.
        memories: the user's, by id; one that is gone is left out.
        lessons: likewise.
        normal: what a turn may use where nothing is amiss.
    """
    sure, good = facts.confidence, facts.assessment
    word, tone = words.quality(good.score, told=not good.could_not_tell) if good else ("", "good")
    return Shown(
        facts=facts,
        sure=Gauge(name="How sure", word=sure.level, score=sure.score, tone="sure") if sure else None,
        good=Gauge(name="How good", word=word, score=good.score, tone=tone) if good else None,
        recalled=tuple((memories[one.id], one) for one in facts.recalled if one.id in memories),
        lessons=tuple((lessons[one.id], one.arm == "shown") for one in facts.lessons if one.id in lessons),
        allowed=tuple(_allowed(facts.controls, normal)) if facts.controls else (),
        spent=tuple(_spent(facts)),
    )


def _allowed(controls: Allowed, normal: Controls) -> Iterable[str]:
    items, threshold = controls.max_context_items, controls.consolidation_threshold
    if items is not None:
        lowered = f", lowered from {normal.max_context_items}" if items < normal.max_context_items else ", as usual"
        yield f"Up to {items} memories before the model{lowered}."
    if threshold is not None and threshold > normal.consolidation_threshold:
        yield "Fewer new memories were stored than usual, because many items waited."


def _spent(facts: Facts) -> Iterable[str]:
    tokens, ms = facts.tokens, facts.ms
    if tokens.input is not None and tokens.output is not None:
        yield f"{tokens.input:,} tokens read and {tokens.output:,} written."
    if ms.model is not None:
        added = f", and {describe_duration(ms.added)} to watch it" if ms.added is not None else ""
        yield f"{describe_duration(ms.model)} for the model{added}."


def of_session(session: str, talk: SessionStretch) -> list[Facts]:
    """The turns of a session, oldest first, as far as transcript and ledger know them."""
    said: dict[int, list[TalkLine]] = {}
    noticed: dict[int, list[LedgerEntry]] = {}
    for line in talk.lines:
        said.setdefault(line.turn, []).append(line)
    for one in talk.noticed:
        noticed.setdefault(one.turn, []).append(one)
    return [_remembered(session, turn, said[turn], noticed.get(turn, [])) for turn in sorted(said)]


def _remembered(session: str, turn: int, lines: Sequence[TalkLine], signals: Sequence[LedgerEntry]) -> Facts:
    mine = [line.content for line in lines if line.provenance != "assistant"]
    theirs = [line.content for line in lines if line.provenance == "assistant"]
    nothing: Mapping[str, Any] = {}
    over = next((one.data for one in signals if one.kind == TURN), nothing)
    facts = {
        "turn": turn,
        "session": session,
        "message": "\n\n".join(mine)[:MOST_CHARS],
        "response": "\n\n".join(theirs)[:MOST_CHARS],
        "signals": [{"kind": one.kind, "reason": one.reason} for one in signals],
        "error": None if theirs or not signals else UNANSWERED,
    }
    try:
        return Facts.model_validate(_known(over) | facts)
    except ValidationError:  # another version wrote it: what was said is shown all the same
        return Facts.model_validate(facts)


def _known(over: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a turn on the ledger, in the words of a reply's record."""
    usage, seconds = over.get("usage", {}), over.get("seconds")
    recalled = over.get("recalled")
    named = ("hedged", "lessons", "controls")
    quoted: Mapping[str, Any] = over.get("quoted", {})
    judged, kind, sure = over.get("assessment"), over.get("verdict"), over.get("confidence")
    found = {"faults": quoted.get("faults", []), "unanswered": quoted.get("unanswered", [])}
    return {
        **{name: over[name] for name in named if name in over},
        **({"confidence": {**sure, "reasons": quoted.get("reasons", [])}} if is_object(sure) else {}),
        **({"assessment": {**judged, **found}} if is_object(judged) else {}),
        **({"verdict": {"kind": kind, **_told(quoted.get("verdict", {}))}} if isinstance(kind, str) else {}),
        "recalled": [one if is_object(one) else {"id": one} for one in recalled] if is_list(recalled) else [],
        "tokens": {name: usage[name] for name in ("input", "output") if name in usage},
        "ms": {"model": 1_000 * seconds, "added": over.get("added_ms")} if isinstance(seconds, int | float) else {},
    }


def _told(quoted: Mapping[str, Any]) -> dict[str, Any]:
    """What was said under an answer; older records have a sentence for each, by another name, which is not shown."""
    if "said" not in quoted:
        return {}
    return {"text": quoted["said"], **{name: quoted[name] for name in ("tone", "line") if name in quoted}}
