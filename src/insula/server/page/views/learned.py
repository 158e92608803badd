"""What was learned, with its evidence and effect: lessons of the agent, and rules of coding agents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from insula.guidance import CORROBORATED, MINIMUM, MUTED, PINNED, PROPOSED, UNKNOWN, Effect, Evidence, Life, live
from insula.memory.storage.ledger import Piece
from insula.memory.storage.rows import Cited, Kept
from insula.memory.wishes import is_wish, stands
from insula.memory.wishes import words as words_of
from insula.night import desk
from insula.replay import figures
from insula.server.page.views import words
from insula.step.digest import Rule
from insula.text.surface import written
from insula.turn.lessons import Advice, advised

SOURCES = 6
"""Messages that are quoted for one lesson, the latest."""
TOLD, NOTICED, MUTE, GONE = "Told", "Noticed, not told yet", "Muted by you", "Told no more"
GROUPS = (TOLD, NOTICED, MUTE, GONE)
"""Headings of what was learned, by how it stands."""
SAID: Mapping[str, str] = {
    **{do: f"The lesson {text}" for do, text in desk.DONE.items()},
    "forget": "The lesson is forgotten: it is told no more, until you undo that or say it again.",
    "erase": "It is erased for good. The messages that it was learned from stay, until you erase them.",
}
"""What a person is told of a decision."""


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
    """By which a person decides on it."""
    decisions: tuple[str, ...] = ()
    """What a person can do with it."""
    group: str = TOLD
    """Under which heading it stands."""
    is_rule: bool = False
    wording: str = ""
    """The words that a person may correct; empty where they are not theirs to change."""


class Placed(NamedTuple):
    """A rule of coding agents, and the project that it is told in; empty for all."""

    rule: Rule
    project: str


def lessons(pieces: Sequence[Piece], cited: Mapping[int, Cited], now: float) -> list[Card]:
    """The agent's lessons, wishes and guidelines, those that are told no more among them.

    Args:
        pieces: all that was learned.
        cited: the messages that it was learned from.
        now: seconds since the epoch.
    """
    told = {advice.id: advice for advice in advised([one.kept for one in pieces if not one.retired], now)}
    ordered = sorted(pieces, key=lambda one: bool(one.kept.section))
    cards = [_card(one, told.get(one.kept.id), cited, now) for one in ordered]
    return sorted(cards, key=lambda card: GROUPS.index(card.group))


def grouped(cards: Iterable[Card]) -> list[tuple[str, list[Card]]]:
    """Cards under the headings that they stand under."""
    every = list(cards)
    found = ((name, [one for one in every if one.group == name]) for name in GROUPS)
    return [(name, group) for name, group in found if group]


def holding(cards: Iterable[Card], text: str) -> list[Card]:
    """The cards that hold some words, in what they say or in what they were learned from."""
    wanted = text.casefold().split()
    return [one for one in cards if all(word in _searched(one) for word in wanted)]


def _searched(card: Card) -> str:
    return " ".join((card.advice, card.about, *(one.content for one in card.sources))).casefold()


def _card(piece: Piece, advice: Advice | None, cited: Mapping[int, Cited], now: float) -> Card:
    lesson = piece.kept
    sources = tuple(cited[each] for each in lesson.citations[-SOURCES:] if each in cited)
    if lesson.section:
        card = _guideline(lesson, sources)
    else:
        card = _wish(lesson, sources) if is_wish(lesson) else _lesson(lesson, advice, sources, now)
    undo = ("undo",) if piece.is_decided else ()
    if not piece.retired:
        return replace(card, decisions=(*card.decisions, *undo))
    why = f"told no more: {piece.retired}"
    return replace(card, state=why, told=False, waits="", decisions=undo, group=GONE, wording="")


def _decisions(lesson: Kept, *, waits: bool) -> tuple[str, ...]:
    mode = {MUTED: ("unmute",), PINNED: ("unpin", "mute")}.get(lesson.mode, ("pin", "mute"))
    return (*(("accept",) if waits and not lesson.mode else ()), *mode, "forget")


def _about(lesson: Kept, sources: Sequence[Cited]) -> str:
    """When it is told, in the words of the person; a trigger is kept as stems, which are no words."""
    if not lesson.trigger:
        return "Always."
    named = written(lesson.trigger, [one.content for one in sources])
    return f"When you mention {', '.join(named)}." if named else "When its topic comes up."


def _wish(wish: Kept, sources: tuple[Cited, ...]) -> Card:
    """A wish on how to answer, in the user's own words."""
    stand = stands(wish) and wish.mode != MUTED
    return Card(
        id=f"lesson-{wish.name}",
        name=wish.name,
        decisions=_decisions(wish, waits=not stand),
        advice=words_of(wish),
        wording=words_of(wish),
        group=TOLD if stand else MUTE if wish.mode == MUTED else NOTICED,
        state=words.STATES.get(wish.mode, wish.mode) if wish.mode else "your own wish" if stand else "asked once",
        told=stand,
        about=_about(wish, sources),
        evidence="Said in your own words.",
        verdict="not measured",
        measured="your own word is never withheld, so there is nothing to compare with",
        bar=None,
        sources=sources,
        waits="" if stand or wish.mode else "It is told once you say it again, or accept it.",
    )


def _guideline(line: Kept, sources: tuple[Cited, ...]) -> Card:
    """A line of SOUL.md that a night wrote; the document is told as a whole, so no line of it is compared."""
    told = line.mode != MUTED
    return Card(
        id=f"lesson-{line.name}",
        name=line.name,
        decisions=_decisions(line, waits=False),
        advice=line.advice,
        wording=line.advice,
        group=TOLD if told else MUTE,
        state=words.STATES.get(line.mode, "guideline"),
        told=told,
        about=f"Always, from SOUL.md: {line.section}.",
        evidence=f"A night wrote it, from {figures.many(len(line.citations), 'message')}.",
        verdict="not measured",
        measured="the guidelines are told as a whole",
        bar=None,
        sources=sources,
    )


def _lesson(lesson: Kept, advice: Advice | None, sources: tuple[Cited, ...], now: float) -> Card:
    held = [Evidence(session=s, at=at, arm=arm, happened=did) for s, arm, did, at in lesson.evidence]
    life = live(held, now, mode=lesson.mode)
    wish = advice is not None and advice.own and not lesson.mode
    return Card(
        id=f"lesson-{lesson.name}",
        name=lesson.name,
        decisions=_decisions(lesson, waits=advice is None),
        advice=lesson.advice,
        wording=lesson.advice,
        group=TOLD if advice is not None else MUTE if lesson.mode == MUTED else NOTICED,
        state="your own wish" if wish else words.STATES.get(life.state, life.state),
        told=advice is not None,
        about=_about(lesson, sources),
        evidence=_counts(life),
        verdict="not measured" if wish else _verdict(life.effect),
        measured="your own word is never withheld, so there is nothing to compare with" if wish else _measured(life),
        bar=_bar(life.effect),
        sources=sources,
        waits="" if wish else _waits(life, "conversation", life.tally.detections),
    )


def rules(found: Iterable[Placed]) -> list[Card]:
    """The rules that coding agents are told: those with evidence, of a person, or on which a person decided."""
    return [_rule(one) for one in found if _is_shown(one.rule)]


def _is_shown(rule: Rule) -> bool:
    return bool(rule.life.tally.records or rule.source or rule.wish or rule.life.state != PROPOSED)


def _rule(placed: Placed) -> Card:
    rule, life = placed.rule, placed.rule.life
    mode = {MUTED: ("unmute",), PINNED: ("unpin", "mute")}.get(life.state, ("pin", "mute"))
    wish = rule.wish is not None
    accept = ("accept",) if wish and not life.told and life.state != MUTED else ()
    return Card(
        id=f"rule-{rule.id}",
        name=rule.id,
        is_rule=True,
        decisions=(*accept, *mode),
        advice=rule.advice,
        state=words.STATES.get(life.state, life.state),
        told=life.told,
        about="You asked for it, in one project." if wish else rule.pattern.replace("-", " "),
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
        f"It could have mattered in {figures.many(tally.records, 'session')}: missed in {tally.detections} that were "
        f"not told it; of those that were, kept in {tally.suppressions} and broken in {tally.breaches}{last}. "
        f"Confidence {words.percent(life.confidence)}."
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
    near = effect.verdict == UNKNOWN and (effect.low > 0 or effect.high < 0)
    return (
        f"{100 * effect.estimate:+.0f} points fewer failures, between {100 * effect.low:+.0f} and "
        f"{100 * effect.high:+.0f} (95 %): failed in {tally.breaches} of {tally.shown} sessions with it and "
        f"{tally.withheld_failed} of {tally.withheld} without"
        + ("; it is looked at again each night, so more than these 95 % are asked for" if near else "")
    )


def _bar(effect: Effect | None) -> Bar | None:
    return bar(effect.low, effect.estimate, effect.high) if effect is not None else None


def bar(low: float, middle: float, high: float) -> Bar:
    """An effect between -1 and 1 with its interval, to be drawn."""
    ends = (round(50 + 50 * min(max(value, -1.0), 1.0)) for value in (low, middle, high))
    left, place, right = ends
    return Bar(low=left, high=max(right, left + 1), middle=place)


def citations(kept: Sequence[Kept]) -> list[int]:
    """The messages that are quoted."""
    return [each for one in kept for each in one.citations[-SOURCES:]]
