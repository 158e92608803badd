"""What was learned of a user, as preferences, lessons and rules: each with what it is for, since when, and why.

A preference is what the user wants of every answer, in their own words. A lesson is what conversations taught a night.
A rule is what coding agents are told (`operations.rules`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from insula.coding.step.digest import ProjectRule
from insula.errors import NotFound
from insula.guidance import ACTIVE, CORROBORATED, HEARD, MINIMUM, MUTED, PINNED, PROPOSED, Life
from insula.memory.storage import views
from insula.memory.storage.ledger import GuidancePiece
from insula.memory.storage.rows import Cited, StoredGuidance
from insula.memory.storage.store import Store
from insula.memory.wishes import is_told, is_wish
from insula.memory.wishes import preference_words as words_of
from insula.night import curation
from insula.night.curation import ExplainedPiece
from insula.night.guidelines import SUBJECT
from insula.night.soul.document import Document, parse_document
from insula.text.analysis import surface_forms
from insula.text.wording import count_noun, count_times, day_of, join_parts
from insula.turn.guidance import ActiveLesson, find_lessons
from insula.worth import Worth

Kind = Literal["preference", "lesson", "rule"]
KINDS: Mapping[Kind, str] = {"preference": "Preferences", "lesson": "Lessons", "rule": "Rules of your coding agents"}
Standing = Literal["used", "waits", "muted", "gone"]
STANDINGS: tuple[Standing, ...] = ("used", "waits", "muted", "gone")
SOURCES = 6
"""Messages that are quoted for one piece, the latest."""
ONCE = "Used after you say it again, or now if you accept it."
OWN = "your own word is never left out by lot, so there is nothing to compare with"
STATES: Mapping[str, str] = {
    "proposed": "not used yet",
    "said once": "said once",
    "active": "used",
    "accepted": "used",
    "retired": "retired, since it does not help",
    "pinned": "pinned by you",
    "muted": "muted by you",
    "pruned": "forgotten",
}
"""How a piece stands, as a person reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceItem:
    """A preference, a lesson or a rule."""

    id: str
    """By which a person decides on it."""
    kind: Kind
    text: str
    standing: Standing
    state: str
    """The same in a few words."""
    about: str
    """When it is used."""
    why: str
    """What it rests on."""
    waits: str = ""
    """Why it is not used yet."""
    since: float = 0.0
    """When it was learned, in seconds since the epoch; 0 where that is not known."""
    verdict: str = "not measured"
    measured: str = ""
    """What the verdict on its effect rests on."""
    effect: Worth | None = None
    sources: tuple[Cited, ...] = ()
    actions: tuple[str, ...] = ()
    """What a person can do with it, the most usual first."""
    wording: str = ""
    """The words that a person may correct; empty where they are not theirs to change."""
    piece: GuidancePiece | None = None
    """As the memory holds it; None for a rule."""


def kind_of(kept: StoredGuidance) -> Kind:
    """Whether a piece of a user's guidance is a preference or a lesson."""
    return "preference" if is_wish(kept) else "lesson"


def guidance_record(kept: StoredGuidance, state: str) -> dict[str, Any]:
    """A piece of a user's guidance as JSON holds it."""
    return {
        "id": kept.name,
        "kind": kind_of(kept),
        "advice": kept.advice,
        "state": state,
        "trigger": list(kept.trigger),
        "section": kept.section,
        "author": kept.author,
        "created_at": kept.created_at,
    }


def explained_record(explained: ExplainedPiece) -> dict[str, Any]:
    """A piece with its reasons as JSON holds it: when it was last told, where it is from, and what became of it."""
    return {
        **guidance_record(explained.piece.kept, explained.state),
        "told": explained.told,
        "sources": [origin._asdict() for origin in explained.origins],
        "history": [{"at": state.at, "by": state.author, "why": state.why} for state in explained.past],
    }


async def list_guidance(store: Store, user: str) -> list[GuidanceItem]:
    """The preferences and lessons of a user, what is used no more among them: preferences first, what is used first."""
    pieces = await curation.list_pieces(store, user)
    user_id = await store.nights.find_user_id(user)
    named = sorted({each for piece in pieces for each in piece.kept.citations[-SOURCES:]})
    quoted = await store.guidance.read_cited(user_id, named) if user_id is not None else []
    past = await store.guidance.list_revisions(user_id, SUBJECT, 1) if user_id is not None else []
    document = parse_document(past[0].content) if past else Document()
    return describe_pieces(pieces, {quote.id: quote for quote in quoted}, store.now(), document)


def describe_pieces(
    pieces: Sequence[GuidancePiece], cited: Mapping[int, Cited], now: float, document: Document
) -> list[GuidanceItem]:
    """Pieces of guidance with all that is known of them.

    Args:
        document: SOUL.md as it stands.
    """
    told = {advice.id: advice for advice in find_lessons([piece.kept for piece in pieces if not piece.retired], now)}
    lines = frozenset(line.id for line in document.derived)
    items = [_describe_piece(piece, told.get(piece.kept.id), cited, now, piece.kept.key in lines) for piece in pieces]
    return sorted(items, key=lambda item: (list(KINDS).index(item.kind), STANDINGS.index(item.standing)))


def _describe_piece(
    piece: GuidancePiece, advice: ActiveLesson | None, cited: Mapping[int, Cited], now: float, in_document: bool
) -> GuidanceItem:
    kept = piece.kept
    sources = tuple(cited[each] for each in kept.citations[-SOURCES:] if each in cited)
    if kept.section:
        made = _describe_line(kept, in_document)
    else:
        made = _describe_wish(kept, sources) if is_wish(kept) else _describe_lesson(kept, advice, sources, now)
    undo = ("undo",) if piece.is_decided else ()
    actions = (*made.actions, *undo)
    made = replace(made, wording=made.text, sources=sources, since=kept.created_at, piece=piece, actions=actions)
    if not piece.retired:
        return made
    was_used = kind_of(kept) == "lesson" or is_told(kept)
    why = f"{'used no more' if was_used else 'never used'}: {curation.tell_user(piece.retired)}"
    return replace(made, state=why, standing="gone", waits="", actions=undo, wording="")


def _allowed_actions(mode: str, *, waits: bool) -> tuple[str, ...]:
    accept = ("accept",) if waits and not mode else ()
    return (*accept, *{MUTED: ("unmute", "forget"), PINNED: ("unpin", "mute", "forget")}.get(mode, _USUAL))


_USUAL = ("mute", "forget", "pin")


def _describe_trigger(kept: StoredGuidance, sources: Sequence[Cited]) -> str:
    """When it is used, in the words of the person; a trigger is kept as stems, which are no words."""
    if not kept.trigger:
        return "Always."
    named = surface_forms(kept.trigger, [cited.content for cited in sources])
    return f"When you mention {', '.join(named)}." if named else "When its topic comes up."


def _describe_wish(wish: StoredGuidance, sources: Sequence[Cited]) -> GuidanceItem:
    """What a user wants of every answer, in their own words."""
    used = is_told(wish) and wish.mode != MUTED
    return GuidanceItem(
        id=wish.name,
        kind="preference",
        text=words_of(wish),
        standing="used" if used else "muted" if wish.mode == MUTED else "waits",
        state=STATES.get(wish.mode, wish.mode) if wish.mode else "used" if used else "said once",
        about=_describe_trigger(wish, sources),
        why="You said so.",
        measured=OWN,
        waits="" if used or wish.mode else ONCE,
        actions=_allowed_actions(wish.mode, waits=not used),
    )


def _describe_line(line: StoredGuidance, in_document: bool) -> GuidanceItem:
    """What a night learned for SOUL.md; the document is told as a whole, so no line of it is compared."""
    used = in_document and line.mode != MUTED
    return GuidanceItem(
        id=line.name,
        kind="lesson",
        text=line.advice,
        standing="used" if used else "muted" if line.mode == MUTED else "waits",
        state=STATES.get(line.mode or (ACTIVE if used else PROPOSED), line.mode),
        about=f"Where it bears on a message; SOUL.md: {line.section}.",
        why=f"A night wrote it, from {count_noun(len(line.citations), 'message')}.",
        measured="SOUL.md is used as a whole",
        waits="" if used or line.mode else "Used once another conversation shows it, too, or now if you accept it.",
        actions=_allowed_actions(line.mode, waits=not used),
    )


def _describe_lesson(
    lesson: StoredGuidance, advice: ActiveLesson | None, sources: Sequence[Cited], now: float
) -> GuidanceItem:
    life = lesson.assess(now)
    own = advice is not None and advice.own and not lesson.mode
    return GuidanceItem(
        id=lesson.name,
        kind="lesson",
        text=lesson.advice,
        standing="used" if advice is not None else "muted" if lesson.mode == MUTED else "waits",
        state="used" if own else STATES.get(life.state, life.state),
        about=_describe_trigger(lesson, sources),
        why=_describe_counts(life),
        verdict="not measured" if own else life.verdict,
        measured=OWN if own else _describe_effect(life),
        effect=life.effect,
        waits="" if own else _why_it_waits(life, "conversation", life.tally.detections),
        actions=_allowed_actions(lesson.mode, waits=advice is None),
    )


def describe_rule(rule: ProjectRule) -> GuidanceItem:
    """A rule that coding agents are told, or may be told one day."""
    life, wish = rule.life, rule.wish
    waits = wish is not None and not life.is_told and life.state != MUTED
    accept = ("accept",) if waits else ()
    said = f"You said so on {day_of(wish.times[0].at)}{f', of {wish.about}' if wish.about else ''}." if wish else ""
    return GuidanceItem(
        id=rule.id,
        kind="rule",
        text=f"“{wish.words}”" if wish else rule.advice,
        standing="used" if life.is_told else "muted" if life.state == MUTED else "waits",
        state=STATES.get(life.state, life.state),
        about="In one project, where you asked for it." if wish else f"{rule.pattern.replace('-', ' ')}.",
        why=" ".join(filter(None, (said, life.reason or _describe_counts(life)))),
        verdict=life.verdict,
        measured=_describe_effect(life),
        effect=life.effect,
        waits=ONCE if life.state == HEARD else _why_it_waits(life, "project", life.tally.places),
        actions=(*accept, *{MUTED: ("unmute",), PINNED: ("unpin", "mute")}.get(life.state, ("mute", "pin"))),
    )


def _describe_counts(life: Life) -> str:
    tally = life.tally
    if not tally.records:
        return "No session has shown anything yet."
    needed = f"Missed in {count_noun(tally.detections, 'session')} without it" if tally.detections else ""
    told = (
        f"followed {count_times(tally.suppressions)} and ignored {count_times(tally.breaches)}"
        if tally.shown_count
        else ""
    )
    return join_parts((needed, told)) or "Not needed so far."


def _why_it_waits(life: Life, place: str, seen: int) -> str:
    if life.state != PROPOSED or seen >= CORROBORATED:
        return ""
    return f"Used once {CORROBORATED} {place}s show the need; {seen or 'none'} did so far."


def _describe_effect(life: Life) -> str:
    tally, effect = life.tally, life.effect
    if effect is None:
        told, withheld = min(tally.shown_count, MINIMUM), min(tally.withheld, MINIMUM)
        return f"{told} of {MINIMUM} sessions with it, and {withheld} of {MINIMUM} without"
    return (
        f"failed in {tally.breaches} of {tally.shown_count} sessions with it and {tally.withheld_failed} of "
        f"{tally.withheld} without: {100 * effect.estimate:+.0f} points less often, with 95 % certainty between "
        f"{100 * effect.low:+.0f} and {100 * effect.high:+.0f}"
    )


NOTHING = "Turn {turn} of the conversation {session!r} saved nothing that still stands; see what is saved on the page."


async def find_saved(store: Store, user: str, session: str, turn: int) -> list[GuidancePiece]:
    """The preferences that stand because of what was said in a turn, and did not stand before it."""
    said = set(await store.read(views.said_in, user, session, turn))
    every = await curation.list_pieces(store, user) if said else []
    return [piece for piece in every if _is_new(piece, said, every)]


async def undo_saved(store: Store, user: str, session: str, turn: int, soul: Path | None = None) -> None:
    """Take back what a turn saved, and let what it had replaced count again.

    Raises:
        NotFound: it saved nothing that still stands.
    """
    pieces = await find_saved(store, user, session, turn)
    if not pieces:
        raise NotFound(NOTHING.format(turn=turn, session=session))
    for piece in pieces:
        before = [each for each in await curation.list_pieces(store, user) if each.by == piece.kept.key]
        for each in before:
            await curation.decide_piece(store, user, soul, each.kept.name, "undo")
        if not before:  # what is brought back retires what took its place
            await curation.decide_piece(store, user, soul, piece.kept.name, "forget")


def _is_new(piece: GuidancePiece, said: set[int], every: Sequence[GuidancePiece]) -> bool:
    """Whether a preference stands since some messages; what it took over from those that it replaced is not its own."""
    kept = piece.kept
    replaced = {message for each in every if each.by == kept.key for message in each.kept.citations}
    own = set(kept.citations) - replaced
    before = kept._replace(citations=tuple(own - said))
    stood = bool(before.citations) and is_told(before)
    return not piece.retired and is_wish(kept) and is_told(kept) and not own.isdisjoint(said) and not stood
