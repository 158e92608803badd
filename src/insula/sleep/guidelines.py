"""The phase that distils SOUL.md anew, and what a person does with it: see, undo, accept, reject (R4, R8, R10)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

from insula.errors import BudgetExceeded, InputError, ModelError
from insula.guidance import ACTIVE, CORROBORATED, MUTED, PROPOSED
from insula.memory import ledger
from insula.memory.changes import Change, Lesson, Revision
from insula.memory.erasure import DIGESTS
from insula.memory.rows import Kept, Revised
from insula.memory.store import Store
from insula.redaction import redact
from insula.sleep import draft, soul, soul_file
from insula.sleep.cycle import Night, Result
from insula.sleep.distil import Outcome, distil
from insula.sleep.operations import applied
from insula.sleep.sieve import Item
from insula.sleep.soul import Document, Section
from insula.sleep.view import forgotten, is_view, with_wishes, without_wishes
from insula.step.fingerprint import digest as fingerprint

SUBJECT, PROPOSAL = "soul", "soul:proposal"
"""Subjects of revisions: the document as it stood, and what waits for a person."""
NIGHT, PERSON = "night", "person"
REFLECTION = "reflection"
"""The phase whose report holds the principles that were found."""
PAST = 200
"""States of the document that are looked back on, the latest."""
WORDING_TOKENS = 1_500
WORDED = 40
"""Guidelines that a model is asked to word in one night."""
_SECTIONS: Mapping[str, Section] = {
    "personality": "Personality",
    "interaction": "Interaction principles",
    "patterns": "Known patterns",
    "growth": "Growth areas",
}


async def guide(night: Night) -> Result:
    """The phase: the document from what is supported by now, bounded, and with a person's word above all."""
    past = await night.store.guidance.revisions(night.user_id, SUBJECT, PAST)
    found = _found(night.soul, past)
    old, last = _base(found, past)
    kept = await night.store.guidance.lessons(night.user_id)
    gone = forgotten(last, old, kept) if last else []
    standing = [one for one in kept if one.key not in {each.key for each in gone}]
    revised, known = applied(await _operations(night), [lesson for lesson in kept if lesson.section])
    new = await _new(night, known)
    fresh = [one.item for key, one in new.items() if key not in {lesson.key for lesson in known}]
    items = _without(removed(past), [*[await _item(night, lesson, new) for lesson in known], *fresh])
    wording, unasked = await _worded(night, items, old)
    outcome = distil(without_wishes(old), items, wording, last=last and without_wishes(last))
    outcome = _shown_with_wishes(outcome, old, standing)
    waiting = await night.store.guidance.revisions(night.user_id, PROPOSAL, PAST)
    changes = [
        *gone,
        *revised,
        *_learned(outcome, known, new),
        *_revisions(outcome, found, old, past),
        *_proposals(outcome.proposal, outcome.reasons, waiting),
    ]
    report = _report(outcome, found, len(fresh)) | ({"failed": unasked} if unasked else {})
    if found and found.foreign:
        return Result(report, changes, skipped=f"{str(night.soul)!r} is not ours; look at it with: insula soul show")
    return Result(report, changes)


async def lay_down(night: Night) -> Result:
    """The phase: the document as it now stands, into its file.

    It is a phase of its own, so that a night that is stopped between the two still writes the file.
    """
    if SUBJECT not in await night.store.nights.journal(night.user_id, night.date):
        return Result({}, skipped="The document is not distilled yet.", waits=True)
    past = await night.store.guidance.revisions(night.user_id, SUBJECT, PAST)
    if night.soul is None or not past:
        return Result({}, skipped="There is no file, or nothing to write into it.")
    written, why = put_down(night.soul, past)
    return Result({"written": written}, skipped=why)


def holds(path: Path, state: Revised) -> bool:
    """Whether the file holds a state of the document already, or there is no file.

    Raises:
        InputError: the file cannot be read.
    """
    return soul_file.read(path, ()).digest in ("", soul.digest(state.content))


def put_down(path: Path, past: Sequence[Revised]) -> tuple[bool, str]:
    """Write the latest state of the document to its file; returns whether that changed it, and why it was left alone.

    Raises:
        InputError: the file cannot be read or written.
    """
    found = soul_file.read(path, known(past))
    if found.foreign:
        return False, f"{str(path)!r} is not ours; look at it with: insula soul show"
    digest = None if found.edited else soul_file.write(path, soul.parse(past[0].content), found.digest)
    if digest is None:
        return False, f"A person has changed {str(path)!r} meanwhile; the next night takes that in."
    return digest != found.digest, "" if digest != found.digest else "The file holds it already."


def _shown_with_wishes(outcome: Outcome, old: Document, kept: Sequence[Kept]) -> Outcome:
    """What a night made of the document, with the ledger's wishes in it."""
    document = with_wishes(outcome.document, old, kept)
    proposal = outcome.proposal and with_wishes(outcome.proposal, old, kept)
    why = {change.id: change.why for change in outcome.changes}
    return replace(outcome, document=document, proposal=proposal, changes=soul.diff(old, document, why))


def _found(path: Path | None, past: Sequence[Revised]) -> soul_file.Found | None:
    return soul_file.read(path, known(past)) if path else None


def known(past: Sequence[Revised]) -> frozenset[str]:
    """Digests of the documents that were written or accepted, also of those from which something was erased."""
    erased = (str(digest) for one in past for digest in one.evidence.get(DIGESTS, ()))
    return frozenset((*(soul.digest(one.content) for one in past), *erased))


def _base(found: soul_file.Found | None, past: Sequence[Revised]) -> tuple[Document, Document | None]:
    """What to distil from, and what the last night wrote."""
    last = soul.parse(past[0].content) if past else None
    return (found.document if found and found.edited else last or Document()), last


def removed(past: Sequence[Revised]) -> frozenset[str]:
    """The ids of guidelines that a person took out of the document, and did not bring back: they stay out."""
    if not any(one.author == PERSON for one in past):
        return frozenset()
    gone: set[str] = set()
    states = [(one.author, soul.parse(one.content)) for one in reversed(past)]
    for (_, before), (author, after) in pairwise(states):
        gone |= soul.taken_out(before, after) if author == PERSON else frozenset()
        gone -= {line.id for line in after.derived}
    return frozenset(gone)


def _without(gone: frozenset[str], items: Sequence[Item]) -> list[Item]:
    return [replace(item, state=MUTED) if item.id in gone else item for item in items]


async def _operations(night: Night) -> list[Mapping[str, Any]]:
    """What reflections since this phase was last done asked for, and was found fit."""
    reports = await night.store.nights.reports_after(night.user_id, REFLECTION, SUBJECT)
    return [one for report in reports for one in cast(Sequence[Mapping[str, Any]], report.get("operations", ()))]


class New(NamedTuple):
    """A principle that reflection found."""

    item: Item
    citations: tuple[int, ...]
    """The last message of each session that it cites."""


async def _new(night: Night, known: Sequence[Kept]) -> dict[str, New]:
    """The principles found since this phase was last done, by key; one on record already gains what it cites."""
    reports = await night.store.nights.reports_after(night.user_id, REFLECTION, SUBJECT)
    found = [one for report in reports for one in cast(Sequence[Mapping[str, Any]], report.get("candidates", ()))]
    sessions = {session.id: session for session in await night.store.nights.sessions_to_sleep_on(night.user_id)}
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


def section_of(kept: Kept) -> Section:
    """The section of SOUL.md in which a guideline stands."""
    return cast(Section, kept.section)


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


def _report(outcome: Outcome, found: soul_file.Found | None, new: int) -> dict[str, Any]:
    return {
        "new": new,
        "changes": [_shown(change) for change in outcome.changes],
        "waiting": list(outcome.reasons),
        "dropped": len(outcome.dropped),
        "edited_by_hand": bool(found and found.edited),
        "draft": dict(outcome.draft),
    }


def _shown(change: soul.Change) -> dict[str, str]:
    """A change of the document as JSON holds it."""
    return {"kind": change.kind, "text": change.text, "before": change.before, "why": change.why, "id": change.id}


# A person's hand.


async def adopt(store: Store, user: str, path: Path) -> str:
    """Take in what a person wrote since; returns the text that the model is told, and "" for a foreign file.

    Raises:
        InputError: the file cannot be read.
    """
    user_id = await store.nights.sleeper(user)
    if user_id is None:
        return ""
    past = await store.guidance.revisions(user_id, SUBJECT, PAST)
    found = soul_file.read(path, known(past))
    if found.edited and not found.foreign:
        text = soul.render(found.document)
        before = soul.parse(past[0].content) if past else Document()
        await store.guidance.retire(user_id, forgotten(before, found.document, await store.guidance.lessons(user_id)))
        await store.guidance.revise(user_id, Revision(SUBJECT, PERSON, text, {"why": "edited by hand"}))
    if not found.digest and past:
        return past[0].content  # written by a night without a file
    return soul.render(found.usable)


async def put(store: Store, user: str, path: Path | None, text: str, why: str) -> None:
    """Make `text` the document: what `undo` and `accept` do.

    Raises:
        InputError: the file was changed meanwhile.
    """
    user_id = await store.nights.sleeper(user)
    if user_id is None:
        raise InputError(f"Nothing is remembered of {user!r}; name another user with --user.")
    if path is not None:
        found = soul_file.read(path, known(await store.guidance.revisions(user_id, SUBJECT, PAST)))
        if soul_file.write(path, soul.parse(text), found.digest) is None:
            raise InputError(f"{str(path)!r} was changed meanwhile and is left as it is; try again.")
    await store.guidance.revise(user_id, Revision(SUBJECT, PERSON, text, {"why": why}))


async def reconcile(store: Store, user: str, before: str, after: str) -> None:
    """Let the ledger follow a person's choice of another state of the document: its wishes come and go with it."""
    user_id = await store.nights.sleeper(user)
    if user_id is None:
        return
    old, new = soul.parse(before), soul.parse(after)
    await store.guidance.retire(user_id, forgotten(old, new, await store.guidance.lessons(user_id)))
    shown = frozenset(line.id for line in new.derived if is_view(line.id))
    await store.run(ledger.bring_back, user_id, shown, store.now())
