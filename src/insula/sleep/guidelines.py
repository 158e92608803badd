"""The phase that distils SOUL.md anew, and what a person does with it: see, undo, accept, reject (R4, R8, R10)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from insula.errors import InputError
from insula.guidance import ACTIVE, CORROBORATED, PROPOSED
from insula.memory.changes import Change, Lesson, Revision
from insula.memory.nights import Kept, Revised
from insula.memory.store import Store
from insula.sleep import draft, soul, soul_file
from insula.sleep.cycle import Night, Result
from insula.sleep.distil import Outcome, distil
from insula.sleep.sieve import Item
from insula.sleep.soul import Document, Section
from insula.step.fingerprint import digest as fingerprint

SUBJECT, PROPOSAL = "soul", "soul:proposal"
"""Subjects of revisions: the document as it stood, and what waits for a person."""
NIGHT, PERSON = "night", "person"
REFLECTION = "reflection"
"""The phase whose report holds the principles that were found."""
WORDING_TOKENS = 1_500
_SECTIONS: Mapping[str, Section] = {
    "personality": "Personality",
    "interaction": "Interaction principles",
    "patterns": "Known patterns",
    "growth": "Growth areas",
}


async def guide(night: Night) -> Result:
    """The phase: the document from what is supported by now, bounded, and with a person's word above all."""
    past = await night.store.revisions(night.user_id, SUBJECT)
    found = _found(night.soul, past)
    old, last = _base(found, past)
    known = [lesson for lesson in await night.store.lessons(night.user_id) if lesson.section]
    new = await _new(night, known)
    fresh = [one.item for key, one in new.items() if key not in {lesson.key for lesson in known}]
    items = [*[await _item(night, lesson, new) for lesson in known], *fresh]
    outcome = distil(old, items, await _worded(night, items, old), last=last)
    changes = [*_learned(outcome, known, new), *_revisions(outcome, found, old, past)]
    report = _report(outcome, found, len(fresh))
    if found and found.foreign:
        return Result(report, changes, skipped=f"{str(night.soul)!r} is not ours; look at it with: insula soul show")
    return Result(report, changes, after=lambda: _write(night.soul, outcome.document, found))


def _found(path: Path | None, past: Sequence[Revised]) -> soul_file.Found | None:
    return soul_file.read(path, known(past)) if path else None


def known(past: Sequence[Revised]) -> frozenset[str]:
    """Digests of the documents that were written or accepted."""
    return frozenset(soul.digest(one.content) for one in past)


def _base(found: soul_file.Found | None, past: Sequence[Revised]) -> tuple[Document, Document | None]:
    """What to distil from, and what the last night wrote."""
    last = soul.parse(past[0].content) if past else None
    return (found.document if found and found.edited else last or Document()), last


class New(NamedTuple):
    """A principle that tonight's reflection found."""

    item: Item
    citations: tuple[int, ...]
    """The last message of each session that it cites."""


async def _new(night: Night, known: Sequence[Kept]) -> dict[str, New]:
    """The principles that tonight's reflection found, by key; one on record already gains what it cites."""
    journal = await night.store.journal(night.user_id, night.date)
    found = cast(Sequence[Mapping[str, Any]], journal.get(REFLECTION, {}).get("candidates", ()))
    sessions = {session.id: session for session in await night.store.sessions_to_sleep_on(night.user_id)}
    items: dict[str, New] = {}
    for one in found:
        section = _SECTIONS.get(str(one["section"]))
        cited = [sessions[int(each)] for each in one["sessions"] if int(each) in sessions]
        if section is None or not cited:
            continue
        text, backed = str(one["advice"]), frozenset(each.name for each in cited)
        item = Item(
            id=key_of(section, text), section=section, text=text, sessions=backed, since=night.now, state=_state(backed)
        )
        items[item.id] = New(item, tuple(each.last for each in cited))
    return items


def key_of(section: str, advice: str) -> str:
    """The id of a guideline: the same for the same words."""
    return f"g{fingerprint(f'{section} {advice}'.lower(), 10)}"


def _state(sessions: frozenset[str]) -> str:
    """One session is no pattern (R9)."""
    return ACTIVE if len(sessions) >= CORROBORATED else PROPOSED


async def _item(night: Night, lesson: Kept, new: Mapping[str, New]) -> Item:
    cited = await night.store.cited(night.user_id, lesson.citations)
    again = new[lesson.key].item.sessions if lesson.key in new else frozenset[str]()
    sessions = frozenset(one.session for one in cited) | again
    return Item(
        id=lesson.key,
        section=cast(Section, lesson.section),
        text=lesson.advice,
        sessions=sessions,
        since=lesson.created_at,
        state=lesson.mode or _state(sessions),
        said=lesson.author == PERSON,
        sources=tuple(one.content for one in cited),
    )


async def _worded(night: Night, items: Sequence[Item], old: Document) -> str:
    """A model's wording of what enters; empty where there is no model or nothing new to say."""
    here = {line.id for line in old.derived}
    entering = [(item.id, item.text) for item in items if item.state == ACTIVE and item.id not in here]
    if night.model is None or not entering:
        return ""
    model = night.model

    async def ask() -> str:
        from insula.llm.client import Prompt, generate

        prompt = Prompt(prompt=draft.ask(entering))
        made = await generate(
            model, prompt, purpose="soul", account=night.account, max_tokens=WORDING_TOKENS, temperature=0.4
        )
        return made.text

    return await night.once("soul:draft", ask)


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
    if outcome.proposal:
        waiting = {"reasons": list(outcome.reasons)}
        changes.append(Revision(PROPOSAL, NIGHT, soul.render(outcome.proposal), waiting))
    return changes


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


def _write(path: Path | None, document: Document, found: soul_file.Found | None) -> None:
    if path is not None and document.lines:
        soul_file.write(path, document, found.digest if found else "")


# A person's hand.


async def adopt(store: Store, user: str, path: Path) -> str:
    """Take in what a person wrote since; returns the text that the model is told, and "" for a foreign file.

    Raises:
        InputError: the file cannot be read.
    """
    user_id = await store.sleeper(user)
    if user_id is None:
        return ""
    past = await store.revisions(user_id, SUBJECT)
    found = soul_file.read(path, known(past))
    if found.edited and not found.foreign:
        text = soul.render(found.document)
        await store.revise(user_id, Revision(SUBJECT, PERSON, text, {"why": "edited by hand"}))
    if not found.digest and past:
        return past[0].content  # written by a night without a file
    return soul.render(found.usable)


async def put(store: Store, user: str, path: Path | None, text: str, why: str) -> None:
    """Make `text` the document: what `undo` and `accept` do.

    Raises:
        InputError: the file was changed meanwhile.
    """
    user_id = await store.sleeper(user)
    if user_id is None:
        raise InputError(f"Nothing is remembered of {user!r}; name another user with --user.")
    if path is not None:
        found = soul_file.read(path, known(await store.revisions(user_id, SUBJECT)))
        if soul_file.write(path, soul.parse(text), found.digest) is None:
            raise InputError(f"{str(path)!r} was changed meanwhile and is left as it is; try again.")
    await store.revise(user_id, Revision(SUBJECT, PERSON, text, {"why": why}))
