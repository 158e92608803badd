"""What is asked of which memory: real questions, and ways of not knowing that are made from the same data.

Only `ANSWERABLE` and what is made (`swapped`, `foreign`, `around_erased`) is ever fitted on, so that no label of an
adversarial question is needed and every user's own memory can make its own.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from insula.language.owner import ASSISTANT, USER
from insula.text.analysis import analyse_text
from insula.types import Provenance
from insula_bench.locomo import ADVERSARIAL, Conversation, Question
from insula_bench.mtrag import Task
from insula_bench.talks import DETAIL, UNTOLD

ANSWERABLE = "answerable"
ANOTHER = "another_person"
WRONG_DETAIL = "wrong_detail"
SWAPPED = "swapped_name"
FOREIGN = "foreign_topic"
ERASED = "erased"
AROUND_ERASED = "erased_with_neighbours"
NEVER_TOLD = "never_told"
UNANSWERABLE = "unanswerable"

FOREIGN_EACH = 120
"""Questions of other conversations that each is asked."""
SEED = 7
_NEIGHBOURS = (-1, 0, 1)


_LABELLED = {DETAIL: WRONG_DETAIL, UNTOLD: NEVER_TOLD}


class Entry(NamedTuple):
    """A text to be remembered."""

    id: str
    session: str
    speaker: str
    listener: str
    provenance: Provenance
    text: str
    at: float


class Probe(NamedTuple):
    """A question to a memory, and what is known about it."""

    kind: str
    text: str
    evidence: frozenset[str] = frozenset()
    erased: frozenset[str] = frozenset()
    """What is erased before it is asked."""
    context: frozenset[str] = frozenset()
    """Terms of the talk before."""
    group: str = ""
    """What is drawn together when intervals are made; by default the memory's own."""


class World(NamedTuple):
    """A memory and what is asked of it."""

    name: str
    entries: tuple[Entry, ...]
    probes: tuple[Probe, ...]


def talks(conversations: Sequence[Conversation], wrong: frozenset[str] = frozenset()) -> Iterator[World]:
    """Each conversation with its questions and the made ones; `wrong` are questions whose label is known to be."""
    for talk in conversations:
        entries = tuple(_entries(talk))
        known = {entry.id for entry in entries}
        asked = [one for one in talk.questions if one.text not in wrong]
        probes = [probe for one in asked for probe in _asked(talk, one, known, entries)]
        yield World(talk.name, entries, (*probes, *_foreign(talk, conversations)))


def chats(conversations: Sequence[Conversation], wrong: frozenset[str] = frozenset()) -> Iterator[World]:
    """The same as talks of a user with an assistant: the first speaker is the user, who asks in the first person."""
    for talk in conversations:
        user = talk.speakers[0]
        entries = tuple(_entries(_as_chat(talk)))
        spoken = {entry.id: entry.speaker for entry in entries}
        probes: list[Probe] = []
        for one in talk.questions:
            if one.text in wrong or _named(talk, one.text) != [user]:
                continue
            text = re.sub(rf"\b{user}'s\b", "my", re.sub(rf"\b{user}\b(?!')", "I", one.text))
            if one.category == ADVERSARIAL:
                probes.append(Probe(ANOTHER, text))
            elif any(spoken.get(cited) == USER for cited in one.evidence):
                probes.append(Probe(ANSWERABLE, text, one.evidence & spoken.keys()))
        yield World(talk.name, entries, tuple(probes))


def _as_chat(talk: Conversation) -> Conversation:
    names = dict(zip(talk.speakers, (USER, ASSISTANT), strict=True))
    lines = tuple(line._replace(speaker=names[line.speaker]) for line in talk.lines)
    return talk._replace(speakers=(USER, ASSISTANT), lines=lines)


def collections(tasks: Sequence[Task]) -> Iterator[World]:
    """Each collection of passages, pooled with all that agents said in its talks, and the questions to it."""
    for name in sorted({task.collection for task in tasks}):
        own = [task for task in tasks if task.collection == name]
        probes = [probe for task in own for probe in _of_task(task)]
        others = [task for task in tasks if task.collection != name and task.answerability == "ANSWERABLE"]
        chosen = random.Random(SEED).sample(others, min(len(own), len(others)))
        foreign = [Probe(FOREIGN, task.question, context=_context(task), group=task.id) for task in chosen]
        yield World(name, tuple(_documents(own)), (*probes, *foreign))


def _documents(tasks: Iterable[Task]) -> Iterator[Entry]:
    seen: set[str] = set()
    for task in tasks:
        agent = [text for speaker, text in task.before if speaker != "user"]
        said = [(f"{task.id} {i}", text) for i, text in enumerate(agent)]
        for source, text in (*task.passages, *said):
            if source not in seen and text.strip():
                seen.add(source)
                yield Entry(source, source, "document", USER, "tool", text, float(len(seen)))


def _of_task(task: Task) -> Iterator[Probe]:
    evidence = frozenset(source for source, _ in task.passages)
    kind = task.answerability.lower()
    yield Probe(kind, task.question, evidence, context=_context(task), group=task.id)
    if kind == ANSWERABLE and evidence:
        yield Probe(ERASED, task.question, erased=evidence, context=_context(task), group=task.id)


def _context(task: Task) -> frozenset[str]:
    return frozenset(term for _, text in task.before for term in analyse_text(text).terms)


def _entries(talk: Conversation) -> Iterator[Entry]:
    for line in talk.lines:
        listener = talk.speakers[line.speaker == talk.speakers[0]]
        provenance: Provenance = "assistant" if line.speaker == ASSISTANT else "user"
        yield Entry(line.id, line.session, line.speaker, listener, provenance, line.text, line.at)


def _asked(talk: Conversation, one: Question, known: set[str], entries: Sequence[Entry]) -> Iterator[Probe]:
    evidence = one.evidence & known
    if one.category in _LABELLED:
        yield Probe(_LABELLED[one.category], one.text, evidence)
    elif one.category == ADVERSARIAL:
        speakers = {entry.id: entry.speaker for entry in entries}
        said_by_asked = any(speakers[cited] in _named(talk, one.text) for cited in evidence)
        yield Probe(WRONG_DETAIL if said_by_asked else ANOTHER, one.text, evidence)
    elif evidence:
        yield Probe(ANSWERABLE, one.text, evidence)
        yield Probe(ERASED, one.text, erased=evidence)
        yield Probe(AROUND_ERASED, one.text, erased=_around(evidence, entries))
        if len(named := _named(talk, one.text)) == 1:
            yield Probe(SWAPPED, _renamed(one.text, named[0], talk.speakers[talk.speakers[0] == named[0]]))


def _around(evidence: frozenset[str], entries: Sequence[Entry]) -> frozenset[str]:
    places = [place for place, entry in enumerate(entries) if entry.id in evidence]
    around = {place + step for place in places for step in _NEIGHBOURS}
    return frozenset(entries[place].id for place in around if 0 <= place < len(entries))


def _foreign(talk: Conversation, conversations: Sequence[Conversation]) -> list[Probe]:
    """Questions of other conversations, asked with the names of this one: a topic that it never touched."""
    others = [
        (other, one.text)
        for other in conversations
        if other is not talk
        for one in other.questions
        if one.category not in {ADVERSARIAL, *_LABELLED}
    ]
    chance = random.Random(f"{SEED} {talk.name}")
    chosen = chance.sample(others, min(FOREIGN_EACH, len(others)))
    return [Probe(FOREIGN, _adopted(text, other, talk, chance.random() < 0.5)) for other, text in chosen]


def _adopted(text: str, other: Conversation, talk: Conversation, turned: bool) -> str:
    for old, new in zip(other.speakers, talk.speakers[:: -1 if turned else 1], strict=True):
        text = _renamed(text, old, new)
    return text


def _named(talk: Conversation, text: str) -> list[str]:
    return [name for name in talk.speakers if re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)]


def _renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", new, text, flags=re.IGNORECASE)
