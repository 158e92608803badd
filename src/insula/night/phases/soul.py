"""The phase that distils SOUL.md anew from what several sessions back, with a person's word above all (R4, R8)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

from insula.errors import BudgetExceeded, ModelError
from insula.guidance import ACTIVE, CORROBORATED, MUTED, PROPOSED
from insula.memory.storage.changes import Change, Lesson, Retired, Revision
from insula.memory.storage.rows import Kept, Revised
from insula.night import draft, prompts, soul
from insula.night.cycle import Night, Result
from insula.night.distil import Outcome, distil
from insula.night.guidelines import NIGHT, PAST, PERSON, PROPOSAL, SUBJECT, known, removed, section_of
from insula.night.names import PhaseName
from insula.night.operations import applied
from insula.night.sieve import Item
from insula.night.soul import Document, Section
from insula.night.soul import file as soul_file
from insula.night.view import forgotten, with_wishes, without_wishes
from insula.redaction import redact
from insula.step.fingerprint import digest as fingerprint

WORDING_TOKENS = 1_500
WORDED = 40
"""Guidelines that a model is asked to word in one night."""
NO_PRINCIPLE = "a correction word for word is no principle"
_SECTIONS: Mapping[str, Section] = {
    "personality": "Personality",
    "interaction": "Interaction principles",
    "patterns": "Known patterns",
    "growth": "Growth areas",
}


class Changed(TypedDict):
    """A change of the document."""

    kind: str
    text: str
    before: str
    why: str
    id: str


class Report(TypedDict):
    """What became of the document."""

    new: int
    changes: list[Changed]
    waiting: list[str]
    """Why a change waits for a person's word."""
    dropped: int
    edited_by_hand: bool
    draft: dict[str, Any]
    failed: NotRequired[str]
    """Why a model did not word it."""


async def guide(night: Night) -> Result:
    """The phase: the document from what is supported by now, bounded, and with a person's word above all."""
    past = await night.store.guidance.revisions(night.user_id, SUBJECT, PAST)
    found = _found(night.soul, past)
    old, last = _base(found, past)
    kept = await night.store.guidance.lessons(night.user_id)
    empty = _withdrawn(kept)
    withdrawn = [Retired(one.key, NIGHT, NO_PRINCIPLE) for one in empty]
    kept = [one for one in kept if one not in empty]
    gone = forgotten(last, old, kept) if last else []
    standing = [one for one in kept if one.key not in {each.key for each in gone}]
    reports = await night.store.nights.reports_after(night.user_id, PhaseName.REFLECTION, PhaseName.SOUL)
    revised, known = applied(_operations(reports), [lesson for lesson in kept if lesson.section])
    new = await _new(night, reports)
    fresh = [one.item for key, one in new.items() if key not in {lesson.key for lesson in known}]
    items = _without(removed(past), [*[await _item(night, lesson, new) for lesson in known], *fresh])
    wording, unasked = await _worded(night, items, old)
    outcome = distil(_distilled(old, empty), items, wording, last=last and _distilled(last, empty))
    outcome = _shown_with_wishes(outcome, old, standing)
    waiting = await night.store.guidance.revisions(night.user_id, PROPOSAL, PAST)
    changes = [
        *withdrawn,
        *gone,
        *revised,
        *_learned(outcome, known, new),
        *_revisions(outcome, found, old, past),
        *_proposals(outcome.proposal, outcome.reasons, waiting),
    ]
    report = _report(outcome, found, len(fresh), unasked)
    if found and found.foreign:
        return Result(
            report, changes, skipped=f"{str(night.soul)!r} is not ours; look at it with: insula guidance soul show"
        )
    return Result(report, changes)


def _withdrawn(kept: Sequence[Kept]) -> list[Kept]:
    """The guidelines that earlier versions made of a correction word for word, unless a person vouched for one."""
    return [one for one in kept if one.section and not one.mode and one.advice.startswith(prompts.KEPT_TO)]


def _distilled(document: Document, withdrawn: Sequence[Kept]) -> Document:
    """The document as it is distilled: without the wishes, and without what is withdrawn."""
    here = {line.id for line in document.derived}
    gone = [one.name for one in withdrawn if one.name in here]
    return without_wishes(soul.revise(document, remove=gone) if gone else document)


def _shown_with_wishes(outcome: Outcome, old: Document, kept: Sequence[Kept]) -> Outcome:
    """What a night made of the document, with the ledger's wishes in it."""
    document = with_wishes(outcome.document, old, kept)
    proposal = outcome.proposal and with_wishes(outcome.proposal, old, kept)
    why = {change.id: change.why for change in outcome.changes}
    return replace(outcome, document=document, proposal=proposal, changes=soul.diff(old, document, why))


def _found(path: Path | None, past: Sequence[Revised]) -> soul_file.Found | None:
    return soul_file.read(path, known(past)) if path else None


def _base(found: soul_file.Found | None, past: Sequence[Revised]) -> tuple[Document, Document | None]:
    """What to distil from, and what the last night wrote."""
    last = soul.parse(past[0].content) if past else None
    return (found.document if found and found.edited else last or Document()), last


def _without(gone: frozenset[str], items: Sequence[Item]) -> list[Item]:
    return [replace(item, state=MUTED) if item.id in gone else item for item in items]


def _operations(reports: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What reflections since this phase was last done asked for, and was found fit."""
    return [one for report in reports for one in cast(Sequence[Mapping[str, Any]], report.get("operations", ()))]


class New(NamedTuple):
    """A principle that reflection found."""

    item: Item
    citations: tuple[int, ...]
    """The last message of each session that it cites."""


async def _new(night: Night, reports: Sequence[Mapping[str, Any]]) -> dict[str, New]:
    """The principles found since this phase was last done, by key; one on record already gains what it cites."""
    found = [one for report in reports for one in cast(Sequence[Mapping[str, Any]], report.get("candidates", ()))]
    sessions = {session.id: session for session in await night.sessions()}
    items: dict[str, New] = {}
    for one in found:
        section = _SECTIONS.get(str(one["section"]))
        cited = [sessions[int(each)] for each in one["sessions"] if int(each) in sessions]
        text, backed = str(one["advice"]), frozenset(each.name for each in cited)
        if section is None or not cited or not text:
            continue
        if before := items.get(key_of(section, text)):
            backed |= before.item.sessions
        item = Item(
            id=key_of(section, text), section=section, text=text, sessions=backed, since=night.now, state=_state(backed)
        )
        earlier = before.citations if before else ()
        items[item.id] = New(item, tuple(dict.fromkeys((*earlier, *(each.last for each in cited)))))
    return items


def key_of(section: str, advice: str) -> str:
    """The id of a guideline: the same for the same words."""
    return f"g{fingerprint(f'{section} {advice}'.lower(), 10)}"


def _state(sessions: frozenset[str]) -> str:
    """One session is no pattern (R9)."""
    return ACTIVE if len(sessions) >= CORROBORATED else PROPOSED


async def _item(night: Night, lesson: Kept, new: Mapping[str, New]) -> Item:
    cited = await night.store.guidance.cited(night.user_id, lesson.citations)
    again = new[lesson.key].item.sessions if lesson.key in new else frozenset[str]()
    sessions = frozenset(one.session for one in cited) | again
    return Item(
        id=lesson.key,
        section=section_of(lesson),
        text=lesson.advice,
        sessions=sessions,
        since=lesson.created_at,
        state=lesson.mode or _state(sessions),
        said=lesson.author == PERSON,
        sources=tuple(one.content for one in cited),
    )


async def _worded(night: Night, items: Sequence[Item], old: Document) -> tuple[str, str]:
    """A model's wording of what enters, and why there is none; both empty without a model or anything new to say."""
    here = {line.id for line in old.derived}
    entering = [(item.id, item.text) for item in items if item.state == ACTIVE and item.id not in here][:WORDED]
    if night.model is None or not entering:
        return "", ""
    model = night.model

    async def ask() -> str:
        from insula.llm.client import Prompt, generate

        prompt = Prompt(prompt=draft.ask(entering))
        made = await generate(
            model, prompt, purpose="soul", account=night.account, max_tokens=WORDING_TOKENS, temperature=0.4
        )
        return redact(made.text)[: draft.MOST_CHARS + 1]  # one more than is read: it is seen to be too long

    try:
        return await night.once("soul:draft", ask), ""
    except (ModelError, BudgetExceeded) as error:
        return "", type(error).__name__


def _learned(outcome: Outcome, known: Sequence[Kept], new: Mapping[str, New]) -> list[Change]:
    """The new guidelines, as records; what one repeats gains its support."""
    merged = {gone.id: gone.into for gone in outcome.dropped if gone.into}
    sections = {lesson.key: lesson for lesson in known}
    changes: list[Change] = []
    for key, (item, citations) in new.items():
        into = sections.get(merged.get(key, ""))
        name, advice, section = (into.key, into.advice, into.section) if into else (key, item.text, item.section)
        changes.append(Lesson(name, advice, (), section, "derived", citations))
    return changes


def _revisions(outcome: Outcome, found: soul_file.Found | None, old: Document, past: Sequence[Revised]) -> list[Change]:
    text, before = soul.render(outcome.document), past[0].content if past else ""
    changes: list[Change] = []
    if found and found.edited and soul.render(old) != before:
        changes.append(Revision(SUBJECT, PERSON, soul.render(old), {"why": "edited by hand"}))
        before = soul.render(old)
    if text != before and not (found and found.foreign):
        changes.append(Revision(SUBJECT, NIGHT, text, {"changes": [_shown(change) for change in outcome.changes]}))
    return changes


def _proposals(whole: Document | None, reasons: Sequence[str], waiting: Sequence[Revised]) -> list[Change]:
    """What a person is asked: each thing once, whatever they said of it, and no longer than it is a question."""
    text = soul.render(whole) if whole else ""
    asked = next((one.content for one in waiting if one.content), "")
    if text and text != asked:
        return [Revision(PROPOSAL, NIGHT, text, {"reasons": list(reasons)})]
    if not text and waiting and waiting[0].content:
        return [Revision(PROPOSAL, NIGHT, "", {"why": "nothing waits any more"})]
    return []


def _report(outcome: Outcome, found: soul_file.Found | None, new: int, unasked: str) -> Report:
    report: Report = {
        "new": new,
        "changes": [_shown(change) for change in outcome.changes],
        "waiting": list(outcome.reasons),
        "dropped": len(outcome.dropped),
        "edited_by_hand": bool(found and found.edited),
        "draft": dict(outcome.draft),
    }
    if unasked:
        report["failed"] = unasked
    return report


def _shown(change: soul.Change) -> Changed:
    """A change of the document as JSON holds it."""
    return {"kind": change.kind, "text": change.text, "before": change.before, "why": change.why, "id": change.id}
