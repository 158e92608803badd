"""The phases that put SOUL.md together from the ledger of guidance, and lay it down in its file (R4, R8)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from insula.coding.step.digests import hash_text as fingerprint
from insula.guidance import ACTIVE, CORROBORATED, MUTED, PROPOSED
from insula.memory.storage.changes import Change, LessonChange, Retired, RevisionChange
from insula.memory.storage.ledger import list_pieces
from insula.memory.storage.rows import Revised, StoredGuidance
from insula.memory.wishes import CROWDED, WHY, is_wish
from insula.night.cycle import Night, PhaseName, Result
from insula.night.distil import Guideline, distil_document
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
from insula.night.soul import document as soul
from insula.night.soul import file as soul_file
from insula.night.soul.document import Document, Section
from insula.night.view import retire_removed, with_preferences
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
    revised, known = apply_operations(
        operations, [lesson for lesson in kept if lesson.section and lesson not in fallen]
    )
    new = await _read_principles(night, asked, over)
    ledger = _join_principles(known, new, night.now)
    out = removed_guidelines(past)
    offered = [
        replace(guideline, state=MUTED) if guideline.id in out else guideline
        for guideline in [await _make_guideline(night, lesson) for lesson in ledger.values()]
    ]
    outcome = distil_document(old, offered, last=last)
    document = with_preferences(outcome.document, standing)
    proposal = outcome.proposal and with_preferences(outcome.proposal, standing)
    differs = soul.diff_documents(old, document, outcome.dropped)
    waiting = await night.store.guidance.list_revisions(night.user_id, PROPOSAL, PAST)
    changes = [
        *gone,
        *revised,
        *_learn_guidelines(new, outcome.merged, ledger),
        *_list_revisions(document, differs, file, old, past),
        *_list_proposals(proposal, outcome.reasons, waiting),
    ]
    report = {
        "new": len(ledger) - len(known),
        "waiting": list(outcome.reasons),
        "dropped": len(outcome.dropped),
        "edited_by_hand": bool(file and file.edited),
        OVER: sorted(over),
    }
    foreign = NOT_OURS.format(path=str(night.soul)) if file and file.foreign else ""
    waits = " One waits for your word." if outcome.reasons else ""
    said = [f"{count_noun(len(differs), 'change')}.{waits}", *map(_describe_change, differs)]
    undo = [f"guidance {'forget' if change.kind == 'added' else 'undo'} {change.id}" for change in differs]
    news = [f"{text} {undo_by(command)}" for text, command in zip(said[1:], undo, strict=True)]
    news += [WAITS] if waits else []
    return Result(report, changes, foreign, says=said if news else (), undo=undo, news=news)


async def lay_down(night: Night) -> Result:
    """The phase: the document as it now stands, into its file.

    It is a phase of its own, so that a night that is stopped between the two still writes the file.
    """
    past = await night.store.guidance.list_revisions(night.user_id, SUBJECT, PAST)
    if night.soul is None or not past:
        return Result({"written": False}, skipped="There is no file, or nothing to write into it.")
    written, why = put_down(night.soul, past)
    return Result({"written": written}, skipped=why)


# The guidelines that are offered.


async def _list_revoked_words(night: Night, kept: Sequence[StoredGuidance]) -> frozenset[int]:
    """The messages that preferences were made of which the user has taken back, or wants otherwise: what else rests on
    them falls with them."""
    pieces = await night.store.run(list_pieces, night.user_id)
    taken_back = [piece.kept for piece in pieces if is_wish(piece.kept) and piece.retired not in STILL_SO]
    stand = {message for guidance in kept if is_wish(guidance) for message in guidance.citations}
    return frozenset(message for guidance in taken_back for message in guidance.citations) - stand


async def _read_principles(night: Night, asked: Sequence[Handover], over: Collection[int]) -> list[LessonChange]:
    """What reflections found since this phase was last done, but for what rests on words that are over."""
    summaries = await night.store.nights.list_summaries(night.user_id, SUMMARIES) if asked else []
    topics = {summary.session_id: summary.topics for summary in summaries}
    found: list[LessonChange] = []
    for proposed in (candidate for each in asked for candidate in each.candidates):
        if {*proposed.messages}.isdisjoint(over):
            section = SECTIONS[proposed.section]
            about = dict.fromkeys(topic for session in proposed.sessions for topic in topics.get(session, ()))
            named = key_of(section, proposed.advice), proposed.advice, tuple(about)[:TOPICS], section
            found.append(LessonChange(*named, "derived", tuple(proposed.messages)))
    return found


def key_of(section: str, advice: str) -> str:
    """The id of a guideline: the same for the same words."""
    return f"g{fingerprint(f'{section} {advice}'.lower(), 10)}"


def _join_principles(
    known: Sequence[StoredGuidance], new: Sequence[LessonChange], now: float
) -> dict[str, StoredGuidance]:
    """The guidelines of the ledger with those that reflections found, by key: of the same words it is one."""
    ledger = {guideline.key: guideline for guideline in known}
    for each in new:
        fresh = StoredGuidance(0, *each[:5], "", (), now, ())
        before = ledger.get(each.key, fresh)
        ledger[each.key] = before._replace(citations=tuple(dict.fromkeys((*before.citations, *each.citations))))
    return ledger


async def _make_guideline(night: Night, lesson: StoredGuidance) -> Guideline:
    cited = await night.store.guidance.read_cited(night.user_id, lesson.citations)
    sessions = frozenset(message.session for message in cited)
    by_support = ACTIVE if len(sessions) >= CORROBORATED else PROPOSED  # one session is no pattern (R9)
    return Guideline(
        id=lesson.key,
        section=section_of(lesson),
        text=lesson.advice,
        sessions=sessions,
        since=lesson.created_at,
        state=lesson.mode or by_support,
        said=lesson.author == PERSON,
    )


# What is written.


def _learn_guidelines(
    new: Sequence[LessonChange], merged: Mapping[str, str], ledger: Mapping[str, StoredGuidance]
) -> Iterator[Change]:
    """The new guidelines, as records; what says the same as another one gives that its support."""
    for each in new:
        into = ledger.get(merged.get(each.key, ""))
        yield each._replace(key=into.key, advice=into.advice, section=into.section) if into else each


def _list_revisions(
    document: Document,
    differs: Sequence[soul.SoulChange],
    file: soul_file.SoulFile | None,
    old: Document,
    past: Sequence[Revised],
) -> Iterator[Change]:
    text, before = soul.render_document(document), past[0].content if past else ""
    if file and file.edited and soul.render_document(old) != before:
        before = soul.render_document(old)
        yield RevisionChange(SUBJECT, PERSON, before, {"why": "edited by hand"})
    if text != before and not (file and file.foreign):
        yield RevisionChange(SUBJECT, NIGHT, text, {"changes": [asdict(change) for change in differs]})


def _list_proposals(proposal: Document | None, reasons: Sequence[str], waiting: Sequence[Revised]) -> Iterator[Change]:
    """What a person is asked: each thing once, whatever they said of it, and no longer than it is a question."""
    text = soul.render_document(proposal) if proposal else ""
    asked = next((revision.content for revision in waiting if revision.content), "")
    if text and text != asked:
        yield RevisionChange(PROPOSAL, NIGHT, text, {"reasons": list(reasons)})
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


def _describe_change(change: soul.SoulChange) -> str:
    return (WANTED if soul.is_preference(change.id) else SAYS)[change.kind].format(text=change.text or change.before)
