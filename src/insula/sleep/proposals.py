"""Lessons in the making: mistakes that want the same about the same, and the one sentence that says so (K5, K7, R9)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from insula.memory.changes import Change, Lesson, Revision
from insula.memory.rows import Kept
from insula.sleep.mistakes import CATEGORIES, MANNER, OWN, Category, Mistake
from insula.sleep.sessions import Heard
from insula.text import triggers
from insula.text.corrections import alike

ALIKE = 0.6
"""From this likeness of their words on, two corrections ask for the same."""
ADVICE_CHARS = 200
TOPIC_WORDS = 3
TOPIC_CHARS = 40

_ASKS = "When the user asks about {topic}, "
_SAID: Mapping[Category, str] = {
    "repetition": 'do not repeat yourself; they said: "{wanted}"',
    "missing": 'also give what they missed: "{wanted}"',
    "unasked": 'do not give what they did not ask for: "{wanted}"',
    "language": 'answer in the language they want: "{wanted}"',
    "length": 'answer at the length they want: "{wanted}"',
    "tone": 'answer in the tone they want: "{wanted}"',
    "format": 'answer in the form they want: "{wanted}"',
    "misread": 'do not misread them; they mean: "{wanted}"',
    "fact": 'also keep to what they corrected: "{wanted}"',
}
_SEEN: Mapping[Category, str] = {
    "repetition": "do not repeat an earlier answer; add what is new.",
    "missing": "also answer every part of the question.",
    "unasked": "do not add what they did not ask for.",
    "language": "also mind the language: answer in theirs.",
    "length": "also mind the length that the question calls for.",
    "tone": "also keep to your own tone.",
    "format": "also mind the form of the answer.",
    "misread": "answer that very question first, not a neighbouring one.",
    "fact": "also check the facts before you state them.",
}
_STUCK = "two answers in a row fell short before: do not try the same again; ask what is missing."
_ALWAYS = 'The user always wants this: "{wanted}"'
"""The sentences of all lessons: ours, with the user's own clause in quotation marks."""


@dataclass(slots=True, kw_only=True)
class Proposal:
    """A lesson in the making: mistakes that want the same about the same."""

    key: str
    origin: str
    category: str
    wanted: str
    trigger: tuple[str, ...]
    topic: Mapping[str, str]
    citations: set[int]
    sessions: set[int]
    kept: Kept | None = None
    grown: bool = field(default=False)


def gathered(kept: Iterable[Kept], mistakes: Iterable[tuple[Heard, Mistake]]) -> list[Proposal]:
    """The lessons that are new or gained something; the same wish about the same is one lesson, however often."""
    proposals = [known(lesson) for lesson in kept]
    for one, mistake in mistakes:
        if mistake.refused or mistake.manner or not _says_something(mistake):
            continue
        match = next((proposal for proposal in proposals if is_of(mistake, proposal)), None)
        if match is None:
            proposals.append(_new(mistake, one.session.id))
        else:
            _grow(match, mistake, one.session.id)
    return [proposal for proposal in proposals if proposal.grown]


def _says_something(mistake: Mistake) -> bool:
    """A correction needs words and, unless it is the user's wish, something that it is about."""
    if mistake.origin in OWN:
        return bool(mistake.wanted)
    noticed = mistake.origin in ("flagged", "stuck") and triggers.tells(mistake.topic.values())
    return bool(mistake.trigger) and (bool(mistake.wanted) or noticed)


def known(lesson: Kept) -> Proposal:
    """A lesson that there is, to which more may be added."""
    origin, category, _ = (*lesson.key.split("/"), "", "")[:3]
    return Proposal(
        key=lesson.key,
        origin=origin,
        category=category,
        wanted=_quoted(lesson.advice),
        trigger=lesson.trigger,
        topic={},
        citations=set(lesson.citations),
        sessions={int(session) for session, *_ in lesson.evidence},
        kept=lesson,
    )


def _quoted(advice: str) -> str:
    """The user's clause in one of our sentences; all of a text that a person wrote."""
    first, last = advice.find('"'), advice.rfind('"')
    return advice[first + 1 : last] if 0 <= first < last else "" if advice.startswith(_ASKS[:20]) else advice


def _new(mistake: Mistake, session: int) -> Proposal:
    what = f"{' '.join(sorted(mistake.trigger))}|{' '.join(mistake.wanted.lower().split())}"
    return Proposal(
        key=f"{mistake.origin}/{mistake.category}/{sha256(what.encode()).hexdigest()[:16]}",
        origin=mistake.origin,
        category=mistake.category,
        wanted=mistake.wanted,
        trigger=mistake.trigger,
        topic=mistake.topic,
        citations=set(mistake.citations),
        sessions={session},
        grown=True,
    )


def _grow(proposal: Proposal, mistake: Mistake, session: int) -> None:
    """Another mistake of the same kind: its messages are cited, and the trigger becomes what all have in common."""
    proposal.grown |= not proposal.citations.issuperset(mistake.citations)
    proposal.citations.update(mistake.citations)
    if session in proposal.sessions or _is_a_persons(proposal.kept) or proposal.origin == "wish":
        return
    proposal.sessions.add(session)
    shared = tuple(term for term in proposal.trigger if term in mistake.trigger)
    if shared or proposal.category in MANNER:
        proposal.trigger = shared
        proposal.topic = {term: mistake.topic[term] for term in shared}


def _is_a_persons(lesson: Kept | None) -> bool:
    return lesson is not None and (lesson.author == "person" or bool(lesson.mode))


def is_of(mistake: Mistake, proposal: Proposal) -> bool:
    """Whether a mistake is one more of those that a lesson is about."""
    if not mistake.wanted:
        same = mistake.origin == proposal.origin and mistake.category == proposal.category
        return same and _near(mistake, proposal)
    if mistake.origin == "wish" and proposal.origin != "wish":
        return False
    if not proposal.wanted or alike(mistake.wanted, proposal.wanted) < ALIKE:
        return False
    return _near(mistake, proposal)


def _near(mistake: Mistake, proposal: Proposal) -> bool:
    """Whether both are about the same; how one wants to be answered may be the same about everything."""
    if not proposal.trigger or (mistake.wanted and mistake.category == proposal.category in MANNER):
        return True
    shared = [mistake.topic[term] for term in mistake.trigger if term in proposal.trigger]
    says_what = bool(mistake.wanted) or triggers.tells(shared)
    return says_what and triggers.overlap(mistake.trigger, proposal.trigger) >= triggers.SAME


def advice(proposal: Proposal) -> str:
    """One sentence of ours with the user's words in it."""
    old = proposal.kept
    if old and (_is_a_persons(old) or proposal.trigger == old.trigger):
        return old.advice
    frame = _frame(proposal)
    wanted, room = proposal.wanted.replace('"', "'").rstrip(" .。"), ADVICE_CHARS - len(frame)
    return frame.replace("{wanted}", wanted if len(wanted) <= room else wanted[:room].rstrip() + "…")


def _frame(proposal: Proposal) -> str:
    if proposal.origin == "wish" or not proposal.trigger:
        return _ALWAYS
    about = _ASKS.format(topic=_topic(proposal.topic))
    if proposal.origin == "stuck":
        return about + _STUCK
    return about + (_SAID if proposal.wanted else _SEEN)[_category(proposal.category)]


def _category(name: str) -> Category:
    for category in CATEGORIES:
        if category == name:
            return category
    return "misread"


def _topic(topic: Mapping[str, str]) -> str:
    """A few words that say what it is about, the rarest first."""
    words: list[str] = []
    for text in list(topic.values())[:TOPIC_WORDS]:
        if sum(map(len, words)) + len(text) <= TOPIC_CHARS:
            words.append(text)
    return ", ".join(words) or "the same"


def changes(proposal: Proposal, advice: str) -> Iterator[Change]:
    """What a lesson changes, with its old state kept."""
    old = proposal.kept
    trigger = old.trigger if old and _is_a_persons(old) else proposal.trigger
    if old and (trigger, advice) != (old.trigger, old.advice):
        evidence = {"trigger": list(old.trigger), "citations": list(old.citations)}
        yield Revision(f"lesson:{old.key}", "night", old.advice, evidence)
    author = old.author if old else "derived"
    yield Lesson(proposal.key, advice, trigger, "", author, tuple(sorted(proposal.citations)))
