"""What becomes of a response: judged by what stood before the model, told to a person, and left to the next turn."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import NamedTuple

from insula.claims import DEFAULT, REGISTER, Claimed, say
from insula.memory.item import REMEMBERED_CHARS
from insula.memory.storage.rows import Said
from insula.metacognition.reading import RECENT_RESPONSES, brought
from insula.redaction import redact
from insula.session.adaptation import Stage
from insula.session.saved import Advisory
from insula.text.analysis import LANGUAGES, UNKNOWN, Analysis, detect
from insula.text.questions import asks
from insula.turn import impasse, insights, lessons, mending
from insula.turn.instructions import may_show
from insula.turn.mending import Mend
from insula.turn.source import Source, source
from insula.turn.verdict import Verdict, verdict
from insula.types import (
    CONFIDENCE_LOW,
    HEDGE_THRESHOLD,
    TURN,
    Arm,
    Assessment,
    Confidence,
    Controls,
    Level,
    Memory,
    PoorRecord,
    Recalled,
    Signal,
    SignalKind,
    SignalRecord,
    TurnRecord,
    Usage,
)

SAID_BEFORE = 6
"""Messages of the session that a response may draw on beside what was recalled."""
TOPIC_TERMS = 40
"""Terms of a message that stand on the ledger as its topic."""
OF_DATA = frozenset({"leak", "forbidden_pattern", "other_person", "ignored_memory", "constraint"})
"""What speaks against data, too: the rest is about words and their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What became of a response."""

    response: str
    """The text for the user: hedged where it should be, else as it was given."""
    assessment: Assessment | None
    """None where the assessment itself failed (counted, and the response left as it was)."""
    hedged: bool
    signals: tuple[Signal, ...]
    verdict: Verdict | None = None
    """What a person is told of it: its source, what it contradicts, what was saved; mostly nothing."""
    sources: tuple[Memory, ...] = ()
    """The remembered lines that the response surely says; mostly none."""
    saved: tuple[str, ...] = ()
    """What of the message was learned, in the user's words: what it wants of answers, and tells of them."""
    again: str = ""
    """What to tell the model where it is to be asked once more at once; empty where it is not (`retry`)."""
    advisories: tuple[Advisory, ...] = ()
    """What the turn went without because its model is slow or working memory full, likewise."""
    troubles: tuple[str, ...] = ()
    """Sentences on what failed in Insula itself, where the turn was finished by `Metacognition.finish`."""


class Note(NamedTuple):
    """What a turn has to say on the ledger."""

    kind: SignalKind
    reason: str
    data: SignalRecord


@dataclass(frozen=True, kw_only=True)
class Given:
    """What stood before the model: all that a response is judged by, and that the record of the turn names."""

    message: str
    analysis: Analysis | None
    forgetting: Sequence[Claimed] = ()
    """What the person is told of their request to forget something."""
    saved: Sequence[str]
    """What the message wants of all answers to come, in the user's words."""
    told: str = ""
    """What it tells of the user's life, likewise."""
    history: Sequence[Said]
    is_read: bool
    """Whether memory could be read."""
    confidence: Confidence
    recalled: Sequence[Recalled]
    shown: frozenset[int]
    personal: bool
    lessons: Sequence[lessons.Used]
    insights: Sequence[insights.Recalled]
    mend: Mend | None
    before: impasse.Judged | None
    """What is kept of the turn before."""
    controls: Controls
    skipped: Sequence[Stage]
    claims: frozenset[str] = DEFAULT
    """Those that may be made."""
    made: frozenset[str] = frozenset()
    """Those that were made before the model."""

    @cached_property
    def topic(self) -> frozenset[str]:
        """The terms of the message."""
        return frozenset(self.analysis.terms if self.analysis else ())

    @property
    def language(self) -> str:
        """The language of the message."""
        return self.analysis.language if self.analysis else UNKNOWN

    @property
    def level(self) -> Level | None:
        """How sure memory was; None where it could not be asked."""
        return self.confidence.level if self.analysis is not None and self.is_read else None

    @property
    def learned(self) -> tuple[str, ...]:
        """What of the message was learned, each thing once."""
        return tuple(dict.fromkeys(filter(None, [*self.saved, self.told])))

    @property
    def responses(self) -> list[str]:
        """The last responses of the session."""
        return [said.content for said in self.history if said.provenance == "assistant"][-RECENT_RESPONSES:]

    @property
    def memory(self) -> list[Recalled | str]:
        """What the response may draw on: what was recalled from a person or a tool, and what was said just now."""
        if self.level is None:
            return []
        known = [one for one in self.recalled if may_show(one) and one.memory.provenance in {"user", "tool"}]
        said = [line.content[:REMEMBERED_CHARS] for line in self.history if line.provenance == "user"]
        return [*known, *said[-SAID_BEFORE:]]

    def spoken(self, response: str) -> str:
        """The response's language; the message's where it is too short to tell, or none that can be hedged in."""
        spoken = detect(response, self.language)
        return spoken if spoken in LANGUAGES else self.language

    def verdict(self, judged: Assessment, response: str) -> Verdict:
        """What a person is told of the turn."""
        asked = bool(self.analysis and asks(self.analysis))
        sure = self.source(judged, response) if asked and self.level not in {None, "low"} else None
        return verdict(
            self.confidence,
            judged,
            sure,
            self.saved,
            forgetting=self.forgetting,
            asked=asked,
            personal=self.personal,
            claims=self.claims,
        )

    def source(self, judged: Assessment, response: str) -> Source | None:
        """The remembered line that a response surely says, or surely contradicts."""
        return source(self.message, response, self.recalled, self.shown, judged.flags, self.language)

    def left(self, judged: Assessment) -> mending.Shortfall | None:
        """What this turn leaves to the next."""
        return mending.shortfall(judged, impasse.impasse(self.before, impasse.judged(judged, self.topic)))


def of_data(judged: Assessment) -> Assessment:
    """What holds of a response that is data: words that it lacks say nothing against it."""
    faults = tuple(fault for fault in judged.faults if fault.flag in OF_DATA)
    if judged.passed or faults:
        return replace(judged, unanswered=())
    flags = tuple(flag for flag in judged.flags if flag in OF_DATA)
    return replace(
        judged, score=max(judged.score, HEDGE_THRESHOLD), flags=flags, faults=(), unanswered=(), unclear=True
    )


def again(given: Given, judged: Assessment) -> str:
    """What to ask once more with at once; nothing where no fault can be named."""
    left = mending.shortfall(judged)
    if judged.outcome != "doubtful" or left is None:
        return ""
    said = mending.sentence(left, given.language, frozenset(REGISTER))  # who sets `retry` asks for all of them
    return said.text if said else ""


def notes(
    given: Given, response: str, judged: Assessment, told: Verdict, usage: Usage, doubt: Claimed | None
) -> Iterator[Note]:
    """What the ledger holds of an assessed response: the record of the turn, and that it scored low where it did."""
    record = _record(given, judged, usage, doubt is not None)
    record["claims"] = sorted(given.made.union(*(said.claims for said in (*told.said, *filter(None, [doubt])))))
    record["verdict"] = told.kind
    if given.mend is not None:
        record["mend"] = mending.record(given.mend, mending.is_mended(given.mend.shortfall, response, judged))
    record["quoted"] = _quoted(given, judged, told)
    yield Note(TURN, "the turn is over", record)
    if judged.score < HEDGE_THRESHOLD:
        why = ", ".join(judged.flags) or "several parts fell short"
        data: PoorRecord = {
            "score": judged.score,
            "flags": list(judged.flags),
            "unanswered": [redact(text) for text in judged.unanswered],
        }
        yield Note(CONFIDENCE_LOW, say("why.noticed", "noticed.low", score=judged.score, flags=why).text, data)


def _record(given: Given, judged: Assessment, usage: Usage, hedged: bool) -> TurnRecord:
    record: TurnRecord = {
        "confidence": {"level": given.confidence.level, "score": round(given.confidence.score, 4)},
        "unadjusted": round(given.confidence.unadjusted, 4),
        "assessment": {
            "score": round(judged.score, 4),
            "flags": list(judged.flags),
            "parts": asdict(judged.parts),
            **({"unclear": True} if judged.unclear else {}),
        },
        "hedged": hedged,
        "topic": sorted(given.topic)[:TOPIC_TERMS],
        "recalled": brought(given.recalled, given.shown),
        "controls": {**asdict(given.controls), "skipped": list(given.skipped)},
        "usage": {"input": usage.input_tokens, "output": usage.output_tokens},
        "seconds": round(usage.seconds, 4),
    }
    if given.lessons:
        record["lessons"] = lessons.record(given.lessons)
    if given.insights:
        record["insights"] = [Arm(id=one.id, arm=one.arm) for one in given.insights]
    return record


def _quoted(given: Given, judged: Assessment, told: Verdict) -> dict[str, object]:
    """What the record of a turn quotes of messages and memories, reasons too; erased with any of them."""
    left = given.left(judged)
    faults = [{"flag": fault.flag, "about": redact(fault.about)} for fault in judged.faults if fault.about]
    return {
        "verdict": {"said": redact(told.text), "tone": told.tone, "line": redact(told.line)},
        **({"reasons": [redact(text) for text in given.confidence.reasons]} if given.confidence.reasons else {}),
        **({"unanswered": [redact(text) for text in judged.unanswered]} if judged.unanswered else {}),
        **({"faults": faults} if faults else {}),
        **({"shortfall": left.record()} if left else {}),
    }
