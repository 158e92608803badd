"""What was learned, with its evidence and effect: lessons of the agent, and rules of coding agents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from insula.guidance import CORROBORATED, MINIMUM, MUTED, PROPOSED, UNKNOWN, Effect, Evidence, Life, live
from insula.memory.rows import Cited, Kept
from insula.memory.wishes import is_wish, stands
from insula.memory.wishes import words as words_of
from insula.replay import figures
from insula.server.page.views import words
from insula.step.digest import Rule
from insula.turn.lessons import Advice, advised

SOURCES = 6
"""Messages that are quoted for one lesson, the latest."""
QUOTED = 240
"""Characters of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An effect and its interval on a scale from -100 % to +100 %, as places from 0 to 100."""

    low: int
    high: int
    middle: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A lesson or a rule."""

    id: str
    advice: str
    state: str
    told: bool
    about: str
    evidence: str
    verdict: str
    measured: str
    bar: Bar | None
    sources: tuple[Cited, ...] = ()
    waits: str = ""
    """Why it is not told yet."""
    name: str = ""
    """Of a lesson: by which a person decides on it."""
    decisions: tuple[str, ...] = ()
    """What a person can do with it."""


def lessons(kept: Sequence[Kept], cited: Mapping[int, Cited], now: float) -> list[Card]:
    """The agent's lessons, as they stand.

    Args:
        kept: lessons and guidelines; the latter stand in SOUL.md and are left out here.
        cited: the messages that they were learned from.
        now: seconds since the epoch.
    """
    told = {advice.id: advice for advice in advised(kept, now)}
    cards = (_wish(one, cited) if is_wish(one) else _lesson(one, told.get(one.id), cited, now) for one in _shown(kept))
    return list(cards)


def _shown(kept: Sequence[Kept]) -> list[Kept]:
    return [one for one in kept if not one.section]


def _decisions(lesson: Kept) -> tuple[str, ...]:
    mode = {"muted": ("unmute",), "pinned": ("unpin", "mute")}.get(lesson.mode, ("pin", "mute"))
    return (*mode, "forget")


def _wish(wish: Kept, cited: Mapping[int, Cited]) -> Card:
    """A wish on how to answer, in the user's own words."""
    stand = stands(wish) and wish.mode != MUTED
    return Card(
        id=f"lesson-{wish.name}",
        name=wish.name,
        decisions=_decisions(wish),
        advice=words_of(wish),
        state=words.STATES.get(wish.mode, wish.mode) if wish.mode else "told: your own wish" if stand else "asked once",
        told=stand,
        about=f"When you mention {', '.join(wish.trigger)}." if wish.trigger else "Always.",
        evidence="Said in your own words.",
        verdict="not measured",
        measured="your own word is never withheld, so there is nothing to compare with",
        bar=None,
        sources=tuple(cited[each] for each in wish.citations[-SOURCES:] if each in cited),
        waits="" if stand or wish.mode else "It is told once you say it again.",
    )


def _lesson(lesson: Kept, advice: Advice | None, cited: Mapping[int, Cited], now: float) -> Card:
    held = [Evidence(session=s, at=at, arm=arm, happened=did) for s, arm, did, at in lesson.evidence]
    life = live(held, now, mode=lesson.mode)
    wish = advice is not None and advice.own and not lesson.mode
    return Card(
        id=f"lesson-{lesson.name}",
        name=lesson.name,
        decisions=_decisions(lesson),
        advice=lesson.advice,
        state="told: your own wish" if wish else words.STATES.get(life.state, life.state),
        told=advice is not None,
        about=f"When you mention {', '.join(lesson.trigger)}." if lesson.trigger else "Always.",
        evidence=_counts(life),
        verdict="not measured" if wish else _verdict(life.effect),
        measured="your own word is never withheld, so there is nothing to compare with" if wish else _measured(life),
        bar=_bar(life.effect),
        sources=tuple(cited[each] for each in lesson.citations[-SOURCES:] if each in cited),
        waits="" if wish else _waits(life, "conversation", life.tally.detections),
    )


def rules(found: Iterable[Rule]) -> list[Card]:
    """The rules that coding agents are told, those with evidence or of a person alone."""
    return [_rule(one) for one in found if one.life.tally.records or one.source or one.life.state != PROPOSED]


def _rule(rule: Rule) -> Card:
    life = rule.life
    return Card(
        id=f"rule-{rule.id}",
        advice=rule.advice,
        state=words.STATES.get(life.state, life.state),
        told=life.told,
        about=rule.pattern.replace("-", " "),
        evidence=_counts(life),
        verdict=_verdict(life.effect),
        measured=_measured(life),
        bar=_bar(life.effect),
        waits=_waits(life, "project", life.tally.places),
    )


def _counts(life: Life) -> str:
    tally = life.tally
    if not tally.records:
        return "No session has had the opportunity to show anything yet."
    last = f"; last on {figures.day(tally.last)}" if tally.last else ""
    return (
        f"Of {figures.many(tally.records, 'session')} that could show it: seen untold in {tally.detections}, kept in "
        f"{tally.suppressions}, broken in {tally.breaches}{last}. Confidence {words.percent(life.confidence)}."
    )


def _waits(life: Life, place: str, seen: int) -> str:
    if life.state != PROPOSED or seen >= CORROBORATED:
        return ""
    return f"It is told once {CORROBORATED} {place}s show the need; {seen or 'none'} did so far."


def _verdict(effect: Effect | None) -> str:
    return effect.verdict if effect else UNKNOWN


def _measured(life: Life) -> str:
    tally, effect = life.tally, life.effect
    if effect is None:
        told, withheld = min(tally.shown, MINIMUM), min(tally.withheld, MINIMUM)
        return f"{told} of {MINIMUM} sessions with it, and {withheld} of {MINIMUM} without"
    return (
        f"{100 * effect.estimate:+.0f} points fewer failures, between {100 * effect.low:+.0f} and "
        f"{100 * effect.high:+.0f} (95 %): failed in {tally.breaches} of {tally.shown} sessions with it and "
        f"{tally.withheld_failed} of {tally.withheld} without"
    )


def _bar(effect: Effect | None) -> Bar | None:
    if effect is None:
        return None
    low, middle, high = (round(50 + 50 * value) for value in (effect.low, effect.estimate, effect.high))
    return Bar(low=low, high=max(high, low + 1), middle=middle)


def citations(kept: Sequence[Kept]) -> list[int]:
    """The messages that are quoted."""
    return [each for one in kept if not one.section for each in one.citations[-SOURCES:]]
