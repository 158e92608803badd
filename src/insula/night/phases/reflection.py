"""What is understood of how the agent worked (R2, R3): one look back over the sessions since the last night.

A model reads the turns of the day and proposes, or without one the sessions are searched for questions that were asked
again (K6). Of a model only what the user's own words bear out is kept (R7), what may act in a prompt is not (R9), and
what was known already gains support instead of a second life.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypedDict

from pydantic import BaseModel, Field

from insula.errors import ModelRefused
from insula.guidance import CAP, START, STRENGTH
from insula.language.handed import Hands
from insula.language.heads import chance
from insula.memory.retrieval.embedding import hands_of
from insula.memory.storage.changes import Forget, Insight, Noted
from insula.memory.storage.rows import Line, Understood
from insula.night import prompts
from insula.night.agreement import same
from insula.night.asking import ask, total
from insula.night.corrections import own_lines
from insula.night.cycle import Night, Result
from insula.night.grounding import ITEM_CHARS, Dropped, Ground, Item, harm, passages, sift
from insula.night.operations import MOST, Operation, forms, judged, room
from insula.night.records import (
    CONTEXT,
    LATEST,
    Records,
    corrected,
    days,
    fitting,
    guidance,
    preferences,
    quality,
    read_through,
    record,
    records,
    seen,
    standing,
    stated,
    unanswered,
)
from insula.night.support import TELLS, read_text, sayings
from insula.night.transcript import READ
from insula.night.unsettled import outdated, still_open
from insula.screening import screen
from insula.text.analysis import analyse
from insula.text.pasted import own_words
from insula.types import REFLECTION

if TYPE_CHECKING:
    from pydantic_ai.models import Model

ROOMS = (40_000, 6_000)
"""Characters of records in the prompt, and in a second one where the model refuses the first: a small model reads 4,096
tokens in all. The oldest records that do not fit are left out, and of the least telling sessions the turns."""
EVIDENCE_CHARS = 40_000
"""Characters of the user's lines of a session that an item is looked for in, the latest."""
KNOWN = 500
"""Insights that a new one is compared with, the latest."""
MAX_TOKENS = 1_500
TEMPERATURE = 0.3
"""The original's."""
QUOTES, QUOTE_CHARS = 4, 300
"""Quotations of an item, and characters of one, at most."""
TOPICS = 5
"""Topics of an insight."""
SHOWN_CHARS = 160
"""Characters of what was dropped, in the report."""
PURPOSE = "reflection"
ANSWER = "reflection:answer"

Text = Annotated[str, Field(min_length=1, max_length=ITEM_CHARS + 1)]
"""One character more than is allowed: a text that was cut is seen to be too long."""
Sessions = Annotated[list[int], Field(max_length=LATEST + CONTEXT)]
Quotes = Annotated[list[Annotated[str, Field(max_length=QUOTE_CHARS)]], Field(max_length=QUOTES)]


class Point(BaseModel):
    """Something understood, and the sessions that show it."""

    text: Text
    sessions: Sessions
    quotes: Quotes = []


class Principle(BaseModel):
    """Something to do or not to do, and the sessions that show it."""

    text: Text
    section: Literal["interaction", "personality", "patterns", "growth"]
    sessions: Sessions
    quotes: Quotes = []


class Reflection(BaseModel):
    """What there is to learn."""

    explanation: Annotated[list[Point], Field(max_length=5)]
    principles: Annotated[list[Principle], Field(max_length=8)]
    procedures: Annotated[list[Point], Field(max_length=5)]
    advice: Annotated[list[Point], Field(max_length=5)]
    operations: Annotated[list[Operation], Field(max_length=MOST)] = []


def answering(sessions: Sequence[int], ids: Sequence[str]) -> type[Reflection]:
    """The form of an answer that names no other sessions and guidance than there are.

    A model that keeps to a form cannot cite what is not there; of one that does not, each item is judged by itself.
    """

    class Answer(Reflection):
        @classmethod
        def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
            schema = super().model_json_schema(*args, **options)
            cited = {"items": {"type": "integer", "enum": [*sessions]}, "minItems": 1}
            for name in ("Point", "Principle"):
                schema["$defs"][name]["properties"]["sessions"] |= cited
            asked = {"items": {"anyOf": forms(ids, sessions)}} if ids else {"items": {"type": "object"}}
            schema["properties"]["operations"] = {"type": "array", "maxItems": min(MOST, len(ids)), **asked}
            schema["$defs"].pop("Operation")
            return schema

    return Answer


class Candidate(TypedDict):
    """A principle for SOUL.md, as the soul phase reads it from the journal."""

    section: str
    advice: str
    sessions: list[int]


class Quarantined(TypedDict):
    """What was dropped, for the eyes of a person."""

    reason: str
    text: str
    sessions: list[int]


class Unchanged(TypedDict):
    """No summary was new."""

    sessions: dict[str, int]
    summaries_up_to: int


class Report(Unchanged):
    """What was understood, proposed and revised."""

    proposed: int
    grounded: int
    dropped: dict[str, int]
    quarantined: list[Quarantined]
    operations: list[dict[str, Any]]
    refused_operations: list[dict[str, Any]]
    by: str
    insights: int
    understood: list[str]
    """What is new of it, in words."""
    merged: int
    candidates: list[Candidate]
    usage: dict[str, int]


class Proposed(NamedTuple):
    """What is to be sifted, and what that took."""

    items: Sequence[Item]
    usage: dict[str, int]
    left_out: int = 0
    """Summaries for which there was no room."""
    operations: Sequence[Operation] = ()
    """What is to become of the guidance that stands."""


class Kept(NamedTuple):
    """What is written of the insights that were kept."""

    changes: tuple[Insight, ...]
    added: tuple[str, ...]
    """What was not known before."""
    merged: int
    """Said the same as another of this night, or as one that was there."""


async def reflect(night: Night) -> Result:
    """The phase: look back, keep what is grounded, propose principles.

    Raises:
        InsulaError: the model did not answer, or not with anything of use: nothing is stored, and the next start asks
            again.
    """
    found = await records(night)
    if not found.new:
        return Result(
            Unchanged(sessions={"new": 0, "earlier": len(found.earlier)}, summaries_up_to=seen(night)),
            skipped="No new summary since the last night.",
        )
    proposed = await (_by_model(night, night.model, found) if night.model else _without(night, found))
    cited = {session for one in (*proposed.items, *proposed.operations) for session in one.sessions}
    ground = await _ground(night, found, cited)
    wanted = await preferences(night)
    own = [item for item in proposed.items if item.about and not harm(item.text) and not _tells(night, item)]
    items, dropped = sift([item for item in proposed.items if not item.about], ground, wanted, night.embed)
    items = [*own, *items]
    known = await night.store.nights.insights(night.user_id, KNOWN)
    gone = await _outdated(night, found, known)
    known = [one for one in known if one.id not in {each.memory_id for each in gone}]
    kept = insights([item for item in items if not item.section], known, found)
    principles = candidates([item for item in items if item.section])
    revised = judged(proposed.operations, await guidance(night), ground, night.embed)
    report: Report = {
        "proposed": len(proposed.items),
        "grounded": len(items),
        "dropped": dict(Counter(one.reason for one in dropped)),
        "quarantined": [_shown(one) for one in dropped],
        "operations": revised.fit,
        "refused_operations": revised.refused,
        "by": "model" if night.model else "without a model",
        "sessions": {"new": len(found.new), "earlier": len(found.earlier), "left_out": proposed.left_out},
        "insights": len(kept.added),
        "understood": list(kept.added),
        "merged": kept.merged,
        "candidates": principles,
        "usage": proposed.usage,
        "summaries_up_to": max(one.memory_id for one in found.new),
    }
    done = Noted(
        found.new[-1].session_id,
        REFLECTION,
        f"{len(kept.added)} understood, {len(principles)} proposed, {len(revised.fit)} revised",
        {"insights": len(kept.added), "candidates": len(principles), "operations": len(revised.fit)},
    )
    learned = items or revised.fit
    skipped = "" if learned else "There was nothing to learn that its sessions bear out."
    return Result(report, [*gone, *kept.changes, *([done] if learned else [])], skipped)


def _tells(night: Night, item: Item) -> bool:
    """Whether a question of the user's tells something of somebody, too: that is remembered, and guides nothing."""
    text = read_text(item.about, night.embed, bids=False)
    return (chance("fact", text.text, text.vector) or 0.0) >= TELLS


# What bears it out


async def _ground(night: Night, found: Records, cited: Collection[int]) -> dict[int, Ground]:
    """What the cited sessions hold: the user's own words, and what is nobody's; no other session is read."""
    known = [session for session in found.all if session in cited]
    lines = await night.lines_of(known, READ)
    hands, found_in = hands_of(night.embed), {session: Ground(()) for session in found.all}
    for session, said in lines.items():
        found_in[session] = Ground(sayings(said, night.embed), _foreign(said, hands))
    return found_in


def _foreign(lines: Sequence[Line], hands: Hands) -> frozenset[tuple[str, ...]]:
    """Passages of what tools returned or the user pasted; the latest, up to `EVIDENCE_CHARS`."""
    room, found = EVIDENCE_CHARS, set[tuple[str, ...]]()
    for line, own in reversed([*zip(lines, own_lines(lines, hands), strict=True)]):
        if line.provenance not in ("user", "tool") or room <= 0:
            continue
        if line.provenance == "tool" or own_words(own.content) != line.content:
            found |= passages(line.content[:room])
        room -= len(line.content)
    return frozenset(found)


# What is proposed


async def _by_model(night: Night, model: "Model", found: Records) -> Proposed:
    """What the model proposes; it is asked again with fewer records where it refuses, as for a prompt too long."""
    told = fitting(found, ROOMS[0])
    try:
        answer = await _asked(night, model, told, ROOMS[0])
    except ModelRefused:
        told = fitting(found, ROOMS[1])
        answer = await _asked(night, model, told, ROOMS[1])
    written = Reflection.model_validate(answer["value"])
    return Proposed(tuple(_items(written)), answer["usage"], len(found.all) - len(told.all), tuple(written.operations))


async def _asked(night: Night, model: "Model", told: Records, room_for_turns: int) -> dict[str, Any]:
    stands = await standing(night)
    return await ask(
        night,
        model,
        ANSWER,
        prompts.reflection(
            await days(night, told, room_for_turns),
            [record(one, 0) for one in told.earlier],
            stands,
            await stated(night),
            await corrected(night, told),
            await unanswered(night, told),
            await quality(night),
            room(len(stands)),
        ),
        answering([*told.all], [str(one["id"]) for one in stands]),
        purpose=PURPOSE,
        max_tokens=MAX_TOKENS,
        temperature=TEMPERATURE,
    )


def _items(written: Reflection) -> Iterator[Item]:
    for point in (*written.explanation, *written.procedures, *written.advice):
        yield Item(point.text, tuple(point.sessions), quotes=tuple(filter(None, point.quotes)))
    for one in written.principles:
        yield Item(one.text, tuple(one.sessions), section=one.section, quotes=tuple(filter(None, one.quotes)))


async def _without(night: Night, found: Records) -> Proposed:
    read, turns = await read_through(night, found)
    return Proposed(still_open(read, turns), total(()))


async def _outdated(night: Night, found: Records, known: Sequence[Understood]) -> list[Forget]:
    read, turns = await read_through(night, found)
    return outdated(known, read, _recent(found), turns)


def _recent(found: Records) -> frozenset[int]:
    return frozenset(one.session_id for one in found.new)


# What is kept


def confidence(sessions: int) -> float:
    """How much is to be made of what so many sessions show: as of any guidance (`insula.guidance`)."""
    return min(CAP, (START * STRENGTH + sessions) / (STRENGTH + sessions))


def insights(items: Sequence[Item], known: Sequence[Understood], found: Records) -> Kept:
    """The insights to write: new ones, and known ones that more sessions now show."""
    support: dict[str, set[int]] = {one.content: set(one.sessions) for one in known}
    before = {one.content: set(one.sessions) for one in known}
    merged = 0
    for item in items:
        same_as = next((content for content in support if same(content, item.text)), None)
        merged += same_as is not None
        support.setdefault(same_as or item.text, set()).update(item.sessions)
    changed = {content: sessions for content, sessions in support.items() if sessions != before.get(content, set())}
    changes = tuple(_insight(content, sessions, found) for content, sessions in changed.items())
    return Kept(changes, tuple(content for content in changed if content not in before), merged)


def _insight(content: str, sessions: set[int], found: Records) -> Insight:
    """An insight with what its evidence makes of it: one that explains trouble matters more."""
    sure = confidence(len(sessions))
    troubled = any(found.trouble.get(session) for session in sessions)
    return Insight(
        content=content,
        topics=_topics(content, sessions, found),
        sessions=tuple(sorted(sessions)),
        importance=round(sure + (1 - sure) / 2 if troubled else sure, 4),
        confidence=round(sure, 4),
    )


def _topics(content: str, sessions: set[int], found: Records) -> tuple[str, ...]:
    """The topics of its sessions that an insight speaks of."""
    held, all_records = set(analyse(content).terms), found.all
    topics = [topic for session in sorted(sessions & all_records.keys()) for topic in all_records[session].topics]
    return tuple(dict.fromkeys(topic for topic in topics if held & set(analyse(topic).terms)))[:TOPICS]


def candidates(items: Sequence[Item]) -> list[Candidate]:
    """Principles for SOUL.md, as the soul phase reads them from the journal."""
    found: list[Item] = []
    for item in items:
        place = next((i for i, other in enumerate(found) if same(other.text, item.text)), None)
        if place is None:
            found.append(item)
        else:
            both = {*found[place].sessions, *item.sessions}
            found[place] = found[place]._replace(sessions=tuple(sorted(both)))
    return [{"section": item.section, "advice": item.text, "sessions": list(item.sessions)} for item in found]


def _shown(one: Dropped) -> Quarantined:
    """What was dropped, for the eyes of a person."""
    shown = screen(one.item.text, SHOWN_CHARS).text
    return {"reason": one.reason, "text": shown, "sessions": list(one.item.sessions)}
