"""What becomes of a response: judged by what stood before the model, told to a person, and left to the next turn.

Functions of the turn, which hold no state of their own. One that is shown while it is made is judged when it is whole.
"""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from insula.claims import REGISTER, Claimed, say_claim
from insula.errors import InputError
from insula.memory.item import REMEMBERED_CHARS
from insula.metacognition.reading import RECENT_RESPONSES, record_recalled
from insula.redaction import redact
from insula.session.snapshot import Advisory
from insula.text.analysis import LANGUAGES, detect_language
from insula.text.questions import find_asks
from insula.text.wording import flatten_words
from insula.turn import feedback, guidance
from insula.turn.confidence import estimate_confidence
from insula.turn.instructions import may_show
from insula.turn.source import AnswerSource, find_source
from insula.turn.verdict import Verdict, describe_preferences, make_verdict
from insula.types import (
    CONFIDENCE_LOW,
    HEDGE_THRESHOLD,
    TURN,
    Assessment,
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

if TYPE_CHECKING:
    from insula.metacognition.turn import Turn


def pass_pieces(
    finish: Callable[[object], object], pieces: AsyncIterable[str] | Iterable[str]
) -> AsyncIterator[str] | Iterator[str]:
    """The pieces as they come; `finish` is called with all of them behind the last, and not where there is no last."""
    if not isinstance(pieces, AsyncIterable | Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{str(pieces)[:40]!r} is no stream; give the pieces of text as a model makes them.")
    return _pass_async(finish, pieces) if isinstance(pieces, AsyncIterable) else _pass_iterable(finish, pieces)


def _pass_iterable(finish: Callable[[object], object], pieces: Iterable[str]) -> Iterator[str]:
    heard: list[str] = []
    for piece in filter(_is_text, pieces):
        heard.append(piece)
        yield piece
    finish("".join(heard))


async def _pass_async(finish: Callable[[object], object], pieces: AsyncIterable[str]) -> AsyncIterator[str]:
    heard: list[str] = []
    async for piece in pieces:
        if _is_text(piece):
            heard.append(piece)
            yield piece
    finish("".join(heard))


def _is_text(piece: object) -> bool:
    """Whether a piece holds text: a client's last one may hold None."""
    if piece is not None and not isinstance(piece, str):
        kind = type(piece).__name__
        raise InputError(f"A piece of the stream is a {kind} and no text; give the text that is in each of them.")
    return bool(piece)


SAID_BEFORE = 6
"""Messages of the session that a response may draw on beside what was recalled."""
TOPIC_TERMS = 40
"""Terms of a message that stand on the ledger as its topic."""
QUOTED_CHARS = 12
"""Characters of a remembered line from which on an answer that holds it has quoted it."""
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
    """The remembered lines that the response surely says."""
    saved: tuple[str, ...] = ()
    """What was learned of the message, in the user's words."""
    is_silent: bool = False
    """Whether the model answered without a word; then `response` says so, and is not stored."""
    again: str = ""
    """What to tell the model where it is to be asked once more at once; empty where it is not (`retry`)."""
    advisories: tuple[Advisory, ...] = ()
    """What the turn went without, likewise."""
    troubles: tuple[str, ...] = ()
    """What failed in Insula itself, where `Metacognition.finish` finished the turn."""


class LedgerNote(NamedTuple):
    """What a turn has to say on the ledger."""

    kind: SignalKind
    reason: str
    data: SignalRecord


def topic_of(turn: "Turn") -> frozenset[str]:
    """The terms of the message."""
    return frozenset(turn.analysis.terms if turn.analysis else ())


def level_of(turn: "Turn") -> Level | None:
    """How sure memory was; None where it could not be asked."""
    return turn.confidence.level if turn.analysis is not None and turn.is_read else None


def saved_by(turn: "Turn") -> list[str]:
    """What the message wants of all answers to come, in the user's words."""
    return [wish.words for wish in turn.heard if not wish.lifts]


def recent_responses(turn: "Turn") -> list[str]:
    """The last responses of the session."""
    return [said.content for said in turn.history if said.provenance == "assistant"][-RECENT_RESPONSES:]


def usable_memory(turn: "Turn") -> list[Recalled | str]:
    """What the response may draw on: what was recalled from a person or a tool, and what was said just now."""
    if level_of(turn) is None:
        return []
    known = [
        recalled for recalled in turn.recalled if may_show(recalled) and recalled.memory.provenance in {"user", "tool"}
    ]
    said = [line.content[:REMEMBERED_CHARS] for line in turn.history if line.provenance == "user"]
    return [*known, *said[-SAID_BEFORE:]]


def response_language(turn: "Turn", response: str) -> str:
    """The response's language; the message's where it is too short to tell, or none that can be hedged in."""
    spoken = detect_language(response, turn.language)
    return spoken if spoken in LANGUAGES else turn.language


def judge_turn(turn: "Turn", judged: Assessment, response: str, claims: frozenset[str]) -> Verdict:
    """What a person is told of the turn."""
    asked = bool(turn.analysis and find_asks(turn.analysis))
    sure: AnswerSource | None = None
    if asked and level_of(turn) is not None:
        sure = find_source(turn.message, response, turn.recalled, turn.shown, judged.flags, turn.language)
    return make_verdict(
        turn.confidence,
        judged,
        sure,
        changes=[
            *describe_preferences(saved_by(turn), turn.ended, turn.language),
            *([turn.forgetting.under_reply] if turn.forgetting else []),
        ],
        asked=asked,
        personal=turn.personal,
        quotes=quotes_memory(turn, response),
        claims=claims,
    )


def quotes_memory(turn: "Turn", response: str) -> bool:
    """Whether a response says a line that stood before the model word for word."""
    said = _plain_words(response)
    lines = (_plain_words(recalled.told) for recalled in turn.recalled if recalled.memory.id in turn.shown)
    return any(len(line) >= QUOTED_CHARS and line in said for line in lines)


def _plain_words(text: str) -> str:
    """A text without its line breaks, capitals and last full stop."""
    return flatten_words(text).rstrip(".。!！")


def shortfall_of(turn: "Turn", judged: Assessment, before: feedback.JudgedTurn | None) -> feedback.Shortfall | None:
    """What this turn leaves to the next."""
    return feedback.find_shortfall(
        judged, feedback.find_impasse(before, feedback.summarize_turn(judged, topic_of(turn)))
    )


def of_data(judged: Assessment) -> Assessment:
    """What holds of a response that is data: words that it lacks say nothing against it."""
    faults = tuple(fault for fault in judged.faults if fault.flag in OF_DATA)
    if judged.passed or faults:
        return replace(judged, unanswered=())
    flags = tuple(flag for flag in judged.flags if flag in OF_DATA)
    return replace(
        judged, score=max(judged.score, HEDGE_THRESHOLD), flags=flags, faults=(), unanswered=(), unclear=True
    )


def ask_again(turn: "Turn", judged: Assessment) -> str:
    """What to ask once more with at once; nothing where no fault can be named."""
    left = feedback.find_shortfall(judged)
    if judged.outcome != "doubtful" or left is None:
        return ""
    said = feedback.feedback_sentence(left, turn.language, frozenset(REGISTER))  # who sets `retry` asks for all of them
    return said.text if said else ""


def ledger_notes(
    turn: "Turn",
    response: str,
    judged: Assessment,
    told: Verdict,
    usage: Usage,
    doubt: Claimed | None,
    left: feedback.Shortfall | None,
) -> Iterator[LedgerNote]:
    """What the ledger holds of an assessed response: the record of the turn, and that it scored low where it did."""
    record = _turn_record(turn, judged, usage, doubt is not None)
    record["claims"] = sorted(turn.words.claims.union(*(said.claims for said in (*told.said, *filter(None, [doubt])))))
    record["verdict"] = told.kind
    if turn.mend is not None:
        record["mend"] = feedback.record_feedback(turn.mend, feedback.is_mended(turn.mend.shortfall, response, judged))
    record["quoted"] = _quoted_record(turn, judged, told, left)
    yield LedgerNote(TURN, "the turn is over", record)
    if judged.score < HEDGE_THRESHOLD:
        why = ", ".join(judged.flags) or "several parts fell short"
        data: PoorRecord = {
            "score": judged.score,
            "flags": list(judged.flags),
            "unanswered": [redact(text) for text in judged.unanswered],
        }
        yield LedgerNote(
            CONFIDENCE_LOW, say_claim("why.noticed", "noticed.low", score=judged.score, flags=why).text, data
        )


def _turn_record(turn: "Turn", judged: Assessment, usage: Usage, hedged: bool) -> TurnRecord:
    record: TurnRecord = {
        "confidence": {"level": turn.confidence.level, "score": round(turn.confidence.score, 4)},
        "unadjusted": round(turn.confidence.unadjusted, 4),
        "assessment": {
            "score": round(judged.score, 4),
            "flags": list(judged.flags),
            "parts": asdict(judged.parts),
            **({"unclear": True} if judged.unclear else {}),
        },
        "hedged": hedged,
        "topic": sorted(topic_of(turn))[:TOPIC_TERMS],
        "recalled": record_recalled(turn.recalled, turn.shown),
        "controls": {**asdict(turn.controls), "skipped": list(turn.skipped)},
        "usage": {"input": usage.input_tokens, "output": usage.output_tokens},
        "seconds": round(usage.seconds, 4),
    }
    if turn.lessons:
        record["lessons"] = guidance.record_arms(turn.lessons)
    if turn.insights:
        record["insights"] = guidance.record_arms(turn.insights)
    return record


def _quoted_record(
    turn: "Turn", judged: Assessment, told: Verdict, left: feedback.Shortfall | None
) -> dict[str, object]:
    """What the record of a turn quotes of messages and memories, reasons too; erased with any of them."""
    faults = [{"flag": fault.flag, "about": redact(fault.about)} for fault in judged.faults if fault.about]
    reasons = turn.confidence.reasons
    if turn.engine.estimate is not estimate_confidence:  # ours quotes what is stored, which holds no secret
        reasons = map(redact, reasons)
    return {
        "verdict": {"said": redact(told.text), "tone": told.tone, "line": redact(told.line)},
        **({"reasons": list(reasons)} if turn.confidence.reasons else {}),
        **({"unanswered": [redact(text) for text in judged.unanswered]} if judged.unanswered else {}),
        **({"faults": faults} if faults else {}),
        **({"shortfall": left.to_record()} if left else {}),
    }
