"""What is understood of how the agent worked (R2, R3): one look back over the sessions since the last night.

A model reads the turns of the day and proposes, or without one the sessions are searched for questions that were asked
again (K6). Of a model only what the user's own words bear out is kept (R7), what may act in a prompt is not (R9), and
what was known already gains support instead of a second life.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from insula.errors import ModelRefused
from insula.guidance import CAP, START, STRENGTH
from insula.memory.storage.changes import Forget, InsightChange, Noted
from insula.memory.storage.nights import UP_TO
from insula.memory.storage.rows import TranscriptLine, Understood
from insula.memory.storage.vectors import Embed
from insula.night import prompts
from insula.night.agreement import says_same
from insula.night.cycle import Night, Result
from insula.night.grounding import (
    ITEM_CHARS,
    CitedProposal,
    DroppedProposal,
    Ground,
    find_harm,
    list_passages,
    list_sayings,
    read_own,
    read_text,
    sift_proposals,
    words_behind,
)
from insula.night.operations import (
    MOST,
    JudgedOperations,
    Operation,
    judge_operations,
    retirement_limit,
)
from insula.night.prompts import ask_model, total_usage
from insula.night.records import (
    CONTEXT,
    LATEST,
    MESSAGES,
    Records,
    choose_records,
    find_outdated,
    list_corrections,
    list_guidelines,
    list_preferences,
    list_standing,
    list_stated,
    read_records,
    read_through,
    still_open,
)
from insula.night.second_look import DOES_WITHOUT, WORDS, Pair, look_again
from insula.screening import screen_text
from insula.text.analysis import analyse_text
from insula.text.pasted import own_words
from insula.text.wording import count_noun, join_parts
from insula.types import REFLECTION

if TYPE_CHECKING:
    from insula.llm.model import Model

ROOMS = (40_000, 6_000)
"""Characters of records in the prompt, and in a second one where the model refuses the first: a small model reads 4,096
tokens in all. Of the least telling sessions the turns are left out, and the oldest records that do not fit."""
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


class ProposedItems(NamedTuple):
    """What is to be sifted, and what that took."""

    items: Sequence[CitedProposal]
    usage: dict[str, int]
    left_out: int = 0
    """Sessions for which there was no room."""
    operations: Sequence[Operation] = ()
    """What is to become of the guidance that stands."""


class KeptInsights(NamedTuple):
    """What is written of the insights that were kept."""

    changes: tuple[InsightChange, ...]
    added: tuple[str, ...]
    """What was not known before."""
    merged: int
    """Said the same as another of this night, or as one that was there."""


async def reflect_on_days(night: Night) -> Result:
    """The phase: look back, keep what is grounded, propose principles.

    Raises:
        InsulaError: the model did not answer, or not with anything of use: nothing is stored, and the next start asks
            again.
    """
    records = await read_records(night)
    counts = {"new": len(records.new), "earlier": len(records.earlier)}
    if not records.new:
        return Result({"sessions": counts, UP_TO: night.last_seen}, skipped="No session is new.")
    proposed = ProposedItems(still_open(*await read_through(night, records.sessions)), total_usage(()))
    if night.model:
        asked = await _by_model(night, night.model, records)
        proposed = asked._replace(items=[*proposed.items, *asked.items])
    cited = {session for item in (*proposed.items, *proposed.operations) for session in item.sessions}
    ground = await _read_ground(night, records, cited)
    own = [
        item
        for item in proposed.items
        if item.about and not find_harm(item.text) and not read_text(item.about, night.embed).is_about_people
    ]
    others = [item for item in proposed.items if not item.about]
    sifted, dropped = sift_proposals(others, ground, await list_preferences(night), night.embed)
    revised = judge_operations(proposed.operations, await list_guidelines(night), ground, night.embed)
    unfit = ""
    if night.model and (sifted or revised.fit):
        sifted, revised, refused, unfit = await _look_again(night, night.model, sifted, revised, ground)
        dropped += refused
    items = [*own, *sifted]
    known = await night.store.nights.list_insights(night.user_id, KNOWN)
    gone = await _forget_outdated(night, records, known)
    known = [insight for insight in known if insight.id not in {each.memory_id for each in gone}]
    kept = merge_insights([item for item in items if not item.section], known, records)
    principles = [item for item in items if item.section]
    learned = items or revised.fit
    report = {
        "proposed": len(proposed.items),
        "grounded": len(items),
        "dropped": dict(Counter(item.reason for item in dropped)),
        "quarantined": [_dropped_record(item) for item in dropped],
        "operations": [operation.model_dump(mode="json") for operation in revised.fit],
        "refused_operations": revised.refused,
        "by": "model" if night.model else "without a model",
        "sessions": counts | {"left_out": proposed.left_out},
        "insights": len(kept.added),
        "merged": kept.merged,
        "candidates": [
            {"section": item.section, "advice": item.text, "sessions": [*item.sessions], "messages": [*item.messages]}
            for item in principles
        ],
        "usage": proposed.usage,
        UP_TO: records.new[-1].last,
    }
    done = Noted(
        records.new[-1].id,
        REFLECTION,
        f"{len(kept.added)} understood, {len(principles)} proposed, {len(revised.fit)} revised",
        {"insights": len(kept.added), "candidates": len(principles), "operations": len(revised.fit)},
    )
    return Result(
        report,
        [*gone, *kept.changes, *([done] if learned else [])],
        "" if learned or unfit else "There was nothing to learn that its sessions bear out.",
        says=[*_describe_result(kept, len(revised.fit), night.model is not None), *_says_unfit(unfit)],
    )


async def _look_again(
    night: Night,
    model: "Model",
    items: Sequence[CitedProposal],
    revised: JudgedOperations,
    ground: Mapping[int, Ground],
) -> tuple[list[CitedProposal], JudgedOperations, list[DroppedProposal], str]:
    """What is left of a reflection when the model has read it again beside the words that it rests on: the user's, and
    those of the guidance that it puts otherwise; and why nothing of this model is kept, if that is so."""
    standing = {guidance.name: guidance.advice for guidance in await list_guidelines(night)}
    pairs = [Pair(words_behind(proposal, ground)[:WORDS], proposal.text) for proposal in items]
    worded = [operation for operation in revised.fit if operation.text]
    pairs += [Pair(" ".join(standing[name] for name in operation.ids)[:WORDS], operation.text) for operation in worded]
    result = await look_again(night, model, pairs)
    why = result.why[: len(items)]
    kept = [proposal for proposal, reason in zip(items, why, strict=True) if not reason]
    dropped = [DroppedProposal(proposal, reason) for proposal, reason in zip(items, why, strict=True) if reason]
    refusals = dict(zip(map(id, worded), result.why[len(items) :], strict=True))
    reasons = [result.unfit or refusals.get(id(operation), "") for operation in revised.fit]
    refused = [
        {"do": operation.do, "why": reason} for operation, reason in zip(revised.fit, reasons, strict=True) if reason
    ]
    fit = [operation for operation, reason in zip(revised.fit, reasons, strict=True) if not reason]
    return kept, JudgedOperations(fit, [*revised.refused, *refused]), dropped, result.unfit


def _says_unfit(unfit: str) -> Iterator[str]:
    if unfit:
        yield DOES_WITHOUT.format(why=f"{unfit[0].upper()}{unfit[1:]}")


def _describe_result(kept: KeptInsights, revised: int, by_model: bool) -> Iterator[str]:
    """What a person is told; not of what is only proposed, since one conversation is no pattern."""
    parts = [
        f"understood {count_noun(len(kept.added), 'new thing')}" if kept.added else "",
        f"reworded or took out {count_noun(revised, 'lesson')} of SOUL.md" if revised else "",
    ]
    if said := join_parts(parts):
        yield f"{said[:-1]}, with the model." if by_model else said
        yield from kept.added


# What bears it out


async def _read_ground(night: Night, records: Records, cited: Collection[int]) -> dict[int, Ground]:
    """What the cited sessions hold: the user's own words, and what is nobody's; no other session is read."""
    lines = await night.lines_of([session for session in records.sessions if session in cited], MESSAGES)
    ground = {session: Ground(()) for session in records.sessions}
    for session, said in lines.items():
        ground[session] = Ground(list_sayings(said, night.embed), _foreign_passages(said, night.embed))
    return ground


def _foreign_passages(lines: Sequence[TranscriptLine], embed: Embed | None) -> frozenset[tuple[str, ...]]:
    """Passages of what tools returned or the user pasted; the latest, up to `EVIDENCE_CHARS`."""
    left, passages = EVIDENCE_CHARS, set[tuple[str, ...]]()
    for line, own in reversed([*zip(lines, read_own(lines, embed), strict=True)]):
        if line.provenance not in ("user", "tool") or left <= 0:
            continue
        if line.provenance == "tool" or own_words(own.content) != line.content:
            passages |= list_passages(line.content[:left])
        left -= len(line.content)
    return frozenset(passages)


# What is proposed


async def _by_model(night: Night, model: "Model", records: Records) -> ProposedItems:
    """What the model proposes; it is asked again with fewer records where it refuses, as for a prompt too long."""
    try:
        return await _ask_reflection(night, model, records, ROOMS[0])
    except ModelRefused:
        return await _ask_reflection(night, model, records, ROOMS[1])


async def _ask_reflection(night: Night, model: "Model", records: Records, room_for_turns: int) -> ProposedItems:
    shown, stands = await choose_records(night, records, room_for_turns), await list_standing(night)
    answer = await ask_model(
        night,
        model,
        ANSWER,
        prompts.reflection_prompt(
            shown.days,
            shown.earlier,
            stands,
            await list_stated(night),
            await list_corrections(night, shown.days),
            retirement_limit(len(stands)),
        ),
        Reflection,
        purpose=PURPOSE,
        max_tokens=MAX_TOKENS,
        temperature=TEMPERATURE,
    )
    written = Reflection.model_validate(answer["value"])
    left_out = len(records.sessions) - len(shown.days) - len(shown.earlier)
    return ProposedItems(tuple(_list_proposals(written)), answer["usage"], left_out, tuple(written.operations))


def _list_proposals(written: Reflection) -> Iterator[CitedProposal]:
    for point in (*written.explanation, *written.procedures, *written.advice):
        yield CitedProposal(point.text, tuple(point.sessions), quotes=tuple(filter(None, point.quotes)))
    for principle in written.principles:
        yield CitedProposal(
            principle.text,
            tuple(principle.sessions),
            section=principle.section,
            quotes=tuple(filter(None, principle.quotes)),
        )


async def _forget_outdated(night: Night, records: Records, known: Sequence[Understood]) -> list[Forget]:
    read, turns = await read_through(night, records.sessions)
    return find_outdated(known, read, frozenset(session.id for session in records.new), turns)


# What is kept


def confidence_from_sessions(sessions: int) -> float:
    """How much is to be made of what so many sessions show: as of any guidance (`insula.guidance`)."""
    return min(CAP, (START * STRENGTH + sessions) / (STRENGTH + sessions))


def merge_insights(items: Iterable[CitedProposal], known: Sequence[Understood], records: Records) -> KeptInsights:
    """The insights to write: new ones, and known ones that more sessions now show."""
    support: dict[str, set[int]] = {insight.content: set(insight.sessions) for insight in known}
    before = {insight.content: set(insight.sessions) for insight in known}
    merged = 0
    for item in items:
        same_as = next((content for content in support if says_same(content, item.text)), None)
        merged += same_as is not None
        support.setdefault(same_as or item.text, set()).update(item.sessions)
    changed = {content: sessions for content, sessions in support.items() if sessions != before.get(content, set())}
    changes = tuple(_make_insight(content, sessions, records) for content, sessions in changed.items())
    return KeptInsights(changes, tuple(content for content in changed if content not in before), merged)


def _make_insight(content: str, sessions: set[int], records: Records) -> InsightChange:
    """An insight with what its evidence makes of it: one that explains trouble matters more."""
    sure = confidence_from_sessions(len(sessions))
    troubled = any(records.trouble.get(session) for session in sessions)
    held = set(analyse_text(content).terms)
    summaries = [records.summaries[session] for session in sorted(sessions & records.summaries.keys())]
    topics = dict.fromkeys(
        topic for summary in summaries for topic in summary.topics if held & set(analyse_text(topic).terms)
    )
    return InsightChange(
        content=content,
        topics=tuple(topics)[:TOPICS],
        sessions=tuple(sorted(sessions)),
        importance=round(sure + (1 - sure) / 2 if troubled else sure, 4),
        confidence=round(sure, 4),
    )


def _dropped_record(dropped: DroppedProposal) -> dict[str, object]:
    """What was dropped, for the eyes of a person."""
    shown = screen_text(dropped.item.text, SHOWN_CHARS).text
    return {"reason": dropped.reason, "text": shown, "sessions": list(dropped.item.sessions)}
