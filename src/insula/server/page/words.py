"""What the pages call things, for people who never heard of metacognition."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, NamedTuple

from insula.claims import claim_keys, say_claim
from insula.memory.storage.rows import LedgerEntry
from insula.operations.adaptations import CAUSES, describe_duration
from insula.operations.guidance import STATES
from insula.session.conditions import describe_slowdown
from insula.session.snapshot import Cause, Performance, Ring
from insula.text.wording import count_times
from insula.turn.verdict import KINDS, explain_source
from insula.types import (
    ADAPTATION,
    CONFIDENCE_LOW,
    HEDGE_THRESHOLD,
    IMPASSE,
    JUDGED,
    PASS_THRESHOLD,
    REFLECTION,
    TURN,
    Controls,
    SignalKind,
)
from insula.value import is_object
from insula.worth import Worth

__all__ = ["STATES", "count_times", "describe_duration"]  # which the templates say, too

Tone = Literal["sure", "good", "doubt", "poor"]

PARTS = {
    "responsiveness": "addresses the question",
    "completeness": "answers all of it",
    "consistency": "fits your message's language and the agent's identity",
    "likelihood": "the model was sure of its words",
}
SIGNALS: Mapping[str, str] = {
    TURN: "Answered",
    CONFIDENCE_LOW: "Poor answer",
    IMPASSE: "Stuck",
    REFLECTION: "Reflected",
    JUDGED: "Judged by you",
    ADAPTATION: "Adapted",
}
LOUD: tuple[SignalKind, ...] = (CONFIDENCE_LOW, IMPASSE)
"""Signals that something went wrong."""
STANDS = {"long-term": "in long-term memory", "working": "not yet in long-term memory", "retired": "merged, or let go"}
ISO_DAY = len("2026-01-31")
_GAP = "\N{NO-BREAK SPACE}"


def describe_quality(score: float, *, told: bool = True) -> tuple[str, Tone]:
    """How good an answer is, in a word, and in which tone that is shown; whether that could be told at all."""
    if not told:
        return "not checked", "sure"
    if score >= PASS_THRESHOLD:
        return "good", "good"
    return ("doubtful", "doubt") if score >= HEDGE_THRESHOLD else ("poor", "poor")


def describe_author(name: str) -> str:
    """Who decided something, as the person reads it."""
    return {"person": "you", "user": "you", "night": "the night"}.get(name, name)


def describe_night(name: str) -> str:
    """A night by the day that it belongs to; of several of one day each but the first with its number."""
    day, number = name[:ISO_DAY], name[ISO_DAY:].removeprefix("-")
    try:
        shown = f"{date.fromisoformat(day).day} {date.fromisoformat(day):%b %Y}"
    except ValueError:  # somebody gave it another name
        return name
    return f"{shown}, number {number}" if number else shown


def describe_flag(name: str) -> str:
    """A flag of the self-monitor."""
    known = f"flag.{name}" in claim_keys("why.fault")
    return say_claim("why.fault", f"flag.{name}").text if known else name.replace("_", " ")


def came_to(kind: str) -> str:
    """A verdict of which the ledger kept the kind alone."""
    return next((explain_source(each).text for each in KINDS if each == kind), kind.replace("_", " "))


def describe_signal(kind: str) -> str:
    """What was noticed."""
    return SIGNALS.get(kind, kind.removeprefix("meta:").replace("-", " ").capitalize())


def describe_notice(kind: str, reason: str, data: Mapping[str, Any]) -> str:
    """What was noticed, in a line: of a turn that is over, what was made of it."""
    if kind == CONFIDENCE_LOW:
        return describe_poor(reason)
    sure, good = data.get("confidence"), data.get("assessment")
    if kind != TURN or not is_object(sure) or not is_object(good):
        return reason
    return f"{_format_share('sure', sure)}, {_format_share('good', good)}"


def describe_poor(reason: str) -> str:
    """Why an answer counted as poor, with what it lacked in words; the ledger names it by its flags."""
    scored, _, flags = reason.partition(": ")
    if not flags:
        return scored
    said = "; ".join(map(describe_flag, flags.split(", ")))
    return say_claim("why.noticed", "noticed.poor", score=scored.rpartition(" ")[2], flags=said).text


def _format_share(name: str, part: Mapping[str, Any]) -> str:
    score = part.get("score")
    return f"{name} {format_percent(score)}" if isinstance(score, int | float) else f"{name} unknown"


def format_percent(share: float) -> str:
    """63 %."""
    return f"{100 * share:.0f}{_GAP}%"


class EffectBar(NamedTuple):
    """An effect and its interval on a scale from -100 % to +100 %, as places from 0 to 100."""

    low: int
    high: int
    middle: int


def make_bar(effect: Worth) -> EffectBar:
    """An effect between -1 and 1 with its interval, to be drawn."""
    ends = (round(50 + 50 * min(max(value, -1.0), 1.0)) for value in (effect.low, effect.estimate, effect.high))
    left, place, right = ends
    return EffectBar(low=left, high=max(right, left + 1), middle=place)


def describe_now(performance: Performance, ring: Ring, recent: Sequence[LedgerEntry], normal: Controls) -> str:
    """How the service stands, in two sentences.

    Args:
        recent: the records of the user's last turns, the latest first.
        normal: what a turn may use where nothing is amiss.
    """
    slow, used = performance.slowdown, ring.last.stm_utilization if ring.last else None
    parts = [
        describe_slowdown(slow) if slow is not None else "",
        f"working memory is {format_percent(used)} full" if used is not None else "",
    ]
    said = " and ".join(part for part in parts if part)
    state = f"{said[0].upper()}{said[1:]}." if said else "There is too little to say whether the model is slow."
    return f"{state} {_describe_limit(ring, recent, normal)}"


def _describe_limit(ring: Ring, recent: Sequence[LedgerEntry], normal: Controls) -> str:
    """What the user's last answer could use: other users' conversations may be under another load."""
    allowed = recent[0].data.get("controls") if recent else None
    limit = allowed.get("max_context_items") if is_object(allowed) else None
    if not isinstance(limit, int | float) or limit >= normal.max_context_items:
        return f"Up to {normal.max_context_items} memories go into an answer, as usual."
    moves: list[Cause] = [
        adaptation.reason
        for adaptation in ring.adaptations
        if adaptation.lever == "max_context_items" and adaptation.reason != "stable"
    ]
    why = f"Because {CAUSES.get(moves[-1], moves[-1])}, up" if moves else "Up"
    return f"{why} to {limit:.0f} memories went into your last answer instead of {normal.max_context_items}."
