"""The phases that put SOUL.md together from the ledger of guidance, and lay it down in its file (R4, R8)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from insula.coding.step.digests import hash_text as fingerprint
from insula.guidance import ACTIVE, CORROBORATED, MUTED, PROPOSED
from insula.memory.storage.changes import Change, LessonChange, Retired, RevisionChange
from insula.memory.storage.ledger import list_pieces
from insula.memory.storage.rows import Revised, StoredGuidance
from insula.memory.wishes import CROWDED, WHY, is_wish
from insula.night import soul
from insula.night.cycle import Night, PhaseName, Result
from insula.night.distil import DistilResult, Guideline, distil_document
from insula.night.guidelines import (
    NIGHT,
    PAST,
    PERSON,
    PROPOSAL,
    SUBJECT,
    known_digests,
    put_down,
    removed_guidelines,
    section_of,
)
from insula.night.operations import Handover, apply_operations
from insula.night.soul import Document, Section
from insula.night.soul import file as soul_file
from insula.night.view import is_view, retire_removed, with_wishes, without_wishes
from insula.text.wording import count_noun, undo_by

SECTIONS: Mapping[str, Section] = {
    "personality": "Personality",
    "interaction": "Interaction principles",
    "patterns": "Known patterns",
    "growth": "Growth areas",
}
TOPICS, SUMMARIES = 8, 200
"""Topics that bring a guideline up, and summaries that they are taken from, the latest."""
OVER = "over"
"""Under which the report of a night holds the messages of revoked preferences: what a person brought back stays."""
REVOKED = "the user took back the words that it rests on"
STILL_SO = frozenset({"", WHY["same"], CROWDED})
"""Why a preference stands no more, though the user has not taken it back."""
WAITS = "A change of SOUL.md waits for your word: insula guidance soul propose"
NOT_OURS = "{path!r} is not ours; look at it with: insula guidance soul show"


async def render_soul(night: Night) -> Result:
    """The phase: the document from what is supported by now, bounded, and with a person's word above all."""
    past = await night.store.guidance.list_revisions(night.user_id, SUBJECT, PAST)
    file = soul_file.read_soul(night.soul, known_digests(past)) if night.soul else None
    last = soul.parse_document(past[0].content) if past else None
    old = file.document if file and file.edited else last or Document()
    kept = await night.store.guidance.list_lessons(night.user_id)
    gone = retire_removed(last, old, kept) if last else []
    standing = [guidance for guidance in kept if guidance.key not in {each.key for each in gone}]
    reports = await night.store.nights.reports_after(night.user_id, PhaseName.REFLECTION, PhaseName.SOUL)
    asked = [Handover.model_validate(report) for report in reports]
    operations = [operation for each in asked for operation in each.operations]
    over = await _list_revoked_words(night, kept)
    newly = over - {*night.last.get(OVER, ())}
    nights = [lesson for lesson in kept if lesson.section and not lesson.mode and lesson.author != PERSON]
    fallen = [lesson for lesson in nights if newly & {*lesson.citations}]
    gone += [Retired(lesson.key, NIGHT, REVOKED) for lesson in fallen]
    revised, guidelines = apply_operations(
        operations, [lesson for lesson in kept if lesson.section and lesson not in fallen]
    )
    new = await _read_principles(night, asked, over)
    offered = [await _make_guideline(night, lesson, new) for lesson in guidelines]
    fresh = [principle.guideline for key, principle in new.items() if key not in {lesson.key for lesson in guidelines}]
    out = removed_guidelines(past)
    offered = [
        replace(guideline, state=MUTED) if guideline.id in out else guideline for guideline in (*offered, *fresh)
    ]
    outcome = distil_document(without_wishes(old), offered, last=last and without_wishes(last))
    outcome = _with_wishes(outcome, old, standing)
    waiting = await night.store.guidance.list_revisions(night.user_id, PROPOSAL, PAST)
    changes = [
        *gone,
        *revised,
        *_learn_guidelines(outcome, guidelines, new),
        *_list_revisions(outcome, file, old, past),
        *_list_proposals(outcome, waiting),
    ]
    report = {
        "new": len(fresh),
        "changes": [_change_record(change) for change in outcome.changes],
        "waiting": list(outcome.reasons),
        "dropped": len(outcome.dropped),
        "edited_by_hand": bool(file and file.edited),
        OVER: sorted(over),
    }
    foreign = NOT_OURS.format(path=str(night.soul)) if file and file.foreign else ""
    return Result(report, changes, foreign, says=[*_describe_result(outcome)], news=[*_describe_changes(outcome)])


async def lay_down(night: Night) -> Result:
    """The phase: the document as it now stands, into its file.

    It is a phase of its own, so that a night that is stopped between the two still writes the file.
    """
    past = await night.store.guidance.list_revisions(night.user_id, SUBJECT, PAST)
    if night.soul is None or not past:
        return Result({"written": False}, skipped="There is no file, or nothing to write into it.")
    written, why = put_down(night.soul, past)
    return Result({"written": written}, skipped=why, says=["SOUL.md is written."] if written else ())


# The guidelines that are offered.


class ReflectedPrinciple(NamedTuple):
    """A principle that reflection found."""

    guideline: Guideline
    citations: tuple[int, ...]
    """The messages of the user's that bear it out, one of each session that it cites."""
    topics: tuple[str, ...]
    """Of these sessions, as their summaries name them: what they were about brings it up."""


async def _list_revoked_words(night: Night, kept: Sequence[StoredGuidance]) -> frozenset[int]:
    """The messages that preferences were made of which the user has taken back, or wants otherwise: what else rests on
    them falls with them."""
    pieces = await night.store.run(list_pieces, night.user_id)
    taken_back = [piece.kept for piece in pieces if is_wish(piece.kept) and piece.retired not in STILL_SO]
    stand = {message for guidance in kept if is_wish(guidance) for message in guidance.citations}
    return frozenset(message for guidance in taken_back for message in guidance.citations) - stand


async def _read_principles(
    night: Night, asked: Sequence[Handover], over: Collection[int]
) -> dict[str, ReflectedPrinciple]:
    """What reflections found since this phase was last done, by key, unless it rests on words that are over; of the
    same words it is one."""
    sessions = {session.id: session for session in await night.list_sessions()}
    summaries = await night.store.nights.list_summaries(night.user_id, SUMMARIES) if asked else []
    topics = {summary.session_id: summary.topics for summary in summaries}
    principles: dict[str, ReflectedPrinciple] = {}
    for proposed in (candidate for each in asked for candidate in each.candidates):
        section = SECTIONS.get(proposed.section)
        cited = [sessions[each] for each in proposed.sessions if each in sessions]
        if section is None or not cited or not proposed.advice or {*proposed.messages} & {*over}:
            continue
        key = key_of(section, proposed.advice)
        before = principles.get(key)
        backed = frozenset(each.name for each in cited) | (before.guideline.sessions if before else frozenset[str]())
        guideline = Guideline(
            id=key,
            section=section,
            text=proposed.advice,
            sessions=backed,
            since=night.now,
            state=_support_state(backed),
        )
        backing = proposed.messages or [each.last for each in cited]
        citations = (*(before.citations if before else ()), *backing)
        about = (
            *(before.topics if before else ()),
            *(each for session in cited for each in topics.get(session.id, ())),
        )
        principles[key] = ReflectedPrinciple(
            guideline, tuple(dict.fromkeys(citations)), tuple(dict.fromkeys(about))[:TOPICS]
        )
    return principles


def key_of(section: str, advice: str) -> str:
    """The id of a guideline: the same for the same words."""
    return f"g{fingerprint(f'{section} {advice}'.lower(), 10)}"


def _support_state(sessions: frozenset[str]) -> str:
    """One session is no pattern (R9)."""
    return ACTIVE if len(sessions) >= CORROBORATED else PROPOSED


async def _make_guideline(night: Night, lesson: StoredGuidance, new: Mapping[str, ReflectedPrinciple]) -> Guideline:
    cited = await night.store.guidance.read_cited(night.user_id, lesson.citations)
    again = new[lesson.key].guideline.sessions if lesson.key in new else frozenset[str]()
    sessions = frozenset(message.session for message in cited) | again
    return Guideline(
        id=lesson.key,
        section=section_of(lesson),
        text=lesson.advice,
        sessions=sessions,
        since=lesson.created_at,
        state=lesson.mode or _support_state(sessions),
        said=lesson.author == PERSON,
    )


# What is written.


def _with_wishes(outcome: DistilResult, old: Document, kept: Sequence[StoredGuidance]) -> DistilResult:
    """What a night made of the document, with the ledger's preferences in it."""
    document = with_wishes(outcome.document, old, kept)
    proposal = outcome.proposal and with_wishes(outcome.proposal, old, kept)
    why = {change.id: change.why for change in outcome.changes}
    return replace(outcome, document=document, proposal=proposal, changes=soul.diff_documents(old, document, why))


def _learn_guidelines(
    outcome: DistilResult, known: Sequence[StoredGuidance], new: Mapping[str, ReflectedPrinciple]
) -> Iterator[Change]:
    """The new guidelines, as records; what one repeats gains its support."""
    merged = {gone.id: gone.into for gone in outcome.dropped if gone.into}
    ledger = {lesson.key: lesson for lesson in known}
    for key, (guideline, citations, topics) in new.items():
        into = ledger.get(merged.get(key, ""))
        name, advice, section = (
            (into.key, into.advice, into.section) if into else (key, guideline.text, guideline.section)
        )
        yield LessonChange(name, advice, topics, section, "derived", citations)


def _list_revisions(
    outcome: DistilResult, file: soul_file.SoulFile | None, old: Document, past: Sequence[Revised]
) -> Iterator[Change]:
    text, before = soul.render_document(outcome.document), past[0].content if past else ""
    if file and file.edited and soul.render_document(old) != before:
        before = soul.render_document(old)
        yield RevisionChange(SUBJECT, PERSON, before, {"why": "edited by hand"})
    if text != before and not (file and file.foreign):
        yield RevisionChange(SUBJECT, NIGHT, text, {"changes": [_change_record(change) for change in outcome.changes]})


def _list_proposals(outcome: DistilResult, waiting: Sequence[Revised]) -> Iterator[Change]:
    """What a person is asked: each thing once, whatever they said of it, and no longer than it is a question."""
    text = soul.render_document(outcome.proposal) if outcome.proposal else ""
    asked = next((revision.content for revision in waiting if revision.content), "")
    if text and text != asked:
        yield RevisionChange(PROPOSAL, NIGHT, text, {"reasons": list(outcome.reasons)})
    if not text and waiting and waiting[0].content:
        yield RevisionChange(PROPOSAL, NIGHT, "", {"why": "nothing waits any more"})


# What is told of it.


SAYS = {
    "added": "From now on: {text}",
    "changed": "Put otherwise: {text}",
    "removed": "No longer: {text}",
}
WANTED = {"added": "You want: {text}", "changed": "You want: {text}", "removed": "You no longer want: {text}"}
"""What is said of a change of a guideline, and of a preference."""


def _describe_result(outcome: DistilResult) -> Iterator[str]:
    changes, waits = outcome.changes, " One waits for your word." if outcome.reasons else ""
    if changes or waits:
        yield f"{count_noun(len(changes), 'change')}.{waits}"
        yield from map(_describe_change, changes)


def _describe_changes(outcome: DistilResult) -> Iterator[str]:
    for change in outcome.changes:
        command = "guidance forget" if change.kind == "added" else "guidance undo"
        yield f"{_describe_change(change)} {undo_by(command, change.id)}"
    if outcome.reasons:
        yield WAITS


def _describe_change(change: soul.SoulChange) -> str:
    return (WANTED if is_view(change.id) else SAYS)[change.kind].format(text=change.text or change.before)


def _change_record(change: soul.SoulChange) -> dict[str, str]:
    """A change of the document as JSON holds it."""
    return {"kind": change.kind, "text": change.text, "before": change.before, "why": change.why, "id": change.id}
