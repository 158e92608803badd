"""Lessons: what a user corrected comes back when it is about the same, and its outcome is counted (K5, K7, R9, P4).

`learn` goes before `reinforce`, which then counts the very sessions that a lesson was learned from: a lesson of one
session is only proposed, and the second one makes it active. A user's own standing wish is told at once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from insula.guidance import ARMS, NONE, SHOWN, UNKNOWN, Evidence, Life, live
from insula.memory.changes import Change, Lesson, Lived, Revision
from insula.memory.rows import Kept, Noticed
from insula.memory.wishes import is_wish, stands
from insula.screening import screen
from insula.sleep.cycle import UP_TO, Night, Result
from insula.sleep.mistakes import (
    CATEGORIES,
    CONFIDENCE_LOW,
    IMPASSE,
    MANNER,
    OWN,
    TURN,
    Category,
    Mistake,
    found,
    is_users,
    terms_of,
)
from insula.sleep.unheard import Heard, unheard
from insula.text import triggers
from insula.text.corrections import alike

SESSIONS = 500
"""Sessions that one night hears, the oldest first."""
LINES = 1_000
"""Lines of a session that are read."""
ALIKE = 0.6
"""From this likeness of their words on, two corrections ask for the same."""
ADVICE_CHARS = 200
TOPIC_WORDS = 3
TOPIC_CHARS = 40
MOST = 20
"""Lessons that one night proposes or changes."""
SHOWN_REFUSALS = 50
"""Refusals that the report names; all are counted."""

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


async def learn(night: Night) -> Result:
    """Propose lessons from the sessions since the last night, and add what they say to those that there are."""
    heard, signals = await _heard(night)
    if not heard:
        return Result({UP_TO: night.seen}, skipped="No session since the last night.")
    mistakes = [(one, mistake) for one in heard for mistake in one.mistakes]
    said = unheard(await night.store.guidance.lessons(night.user_id), heard, signals, night.now)
    refused = [_refusal(one, mistake, [mistake.refused]) for one, mistake in mistakes if mistake.refused]
    told: list[tuple[Proposal, str]] = []
    for proposal in _gathered(await _lessons(night), mistakes):
        text = screen(_advice(proposal), ADVICE_CHARS)
        if text.reasons:
            refused += [_refusal(one, mistake, text.reasons) for one, mistake in mistakes if _is_of(mistake, proposal)]
        else:
            told.append((proposal, text.text))
    changes = [*said, *(change for one in told[:MOST] for change in _changes(*one))]
    skipped = "" if mistakes else "Nothing went wrong, and nobody wished for anything."
    report = _learned(heard, told[:MOST], refused) | {
        "wishes": _wished(await night.store.guidance.lessons(night.user_id), heard)
    }
    return Result(await _with_memories(night, report), changes, "" if report["wishes"] else skipped)


def _wished(kept: Iterable[Kept], heard: Sequence[Heard]) -> list[dict[str, Any]]:
    """The wishes that stand and were said since the last night: the day has heard them."""
    said = {line.id for one in heard for line in one.lines}
    fresh = (one for one in kept if is_wish(one) and stands(one) and said.intersection(one.citations))
    return [{"id": one.name, "advice": one.advice, "citations": list(one.citations)} for one in fresh]


async def _with_memories(night: Night, report: dict[str, Any]) -> dict[str, Any]:
    """The report with each message named by its memory, which a person may look at and erase."""
    named = [*report["lessons"], *report["wishes"]]
    cited = await night.store.guidance.cited(night.user_id, [each for one in named for each in one["citations"]])
    of = {one.id: one.memory for one in cited}
    for one in named:
        one["memories"] = [of[each] for each in one["citations"] if each in of]
    return report


def _learned(
    heard: Sequence[Heard], told: Iterable[tuple[Proposal, str]], refused: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The report: what went wrong how often, what is proposed, and what is refused and why."""
    return {
        "sessions": len(heard),
        "mistakes": dict(Counter(mistake.category for one in heard for mistake in one.mistakes)),
        "lessons": [_proposed(*one) for one in told],
        "quarantined": len(refused),
        "refused": list(refused[:SHOWN_REFUSALS]),
        UP_TO: heard[-1].session.last,
    }


async def reinforce(night: Night) -> Result:
    """Count what each session since the last night says of the lessons whose trigger appeared in it."""
    heard, signals = await _heard(night)
    kept = [one for one in await night.store.guidance.lessons(night.user_id) if not one.section]
    seen = {UP_TO: heard[-1].session.last if heard else night.seen}
    if not kept:
        return Result(seen, skipped="There are no lessons yet.")
    arms = _arms(signals)
    lived = [outcome for one in heard for lesson in kept if (outcome := _lived(lesson, one, arms))]
    new = [outcome for outcome in lived if str(outcome.session_id) not in _sessions_of(kept, outcome.lesson_id)]
    lives = [(lesson, live(_evidence(lesson, new, night.now), night.now, mode=lesson.mode)) for lesson in kept]
    kinds = Counter(_kind(outcome) for outcome in new)
    report = {"sessions": len(heard), "counted": dict(kinds), "lessons": [_stands(*one) for one in lives]}
    return Result(report | seen, new)


# What the sessions say.


async def _heard(night: Night) -> tuple[list[Heard], list[Noticed]]:
    """The sessions since the last night with what went wrong in them, oldest first, and their signals.

    A session that goes on is heard anew as a whole; what there are too many of is heard by the next night.
    """
    sessions = await night.store.nights.sessions_to_sleep_on(night.user_id)
    fresh = [session for session in sessions if session.last > night.seen][:SESSIONS]
    kinds = (TURN, CONFIDENCE_LOW, IMPASSE)
    signals = await night.store.nights.noticed_in(night.user_id, kinds, [session.id for session in fresh])
    read = [(one, await night.store.nights.lines_of(night.user_id, one.id, LINES)) for one in fresh]
    terms = {line.id: terms_of(line) for _, lines in read for line in lines if is_users(line)}
    rarity = Counter(term for held in terms.values() for term in held)
    of: dict[int, list[Noticed]] = {}
    for signal in signals:
        of.setdefault(signal.session_id, []).append(signal)
    heard: list[Heard] = []
    for one, lines in read:
        mine = of.get(one.id, [])
        held = tuple(terms[line.id] for line in lines if line.id in terms)
        heard.append(Heard(one, tuple(lines), found(lines, mine, rarity), held))
    return heard, signals


async def _lessons(night: Night) -> list[Kept]:
    return [one for one in await night.store.guidance.lessons(night.user_id) if not (one.section or is_wish(one))]


# Learning.


def _gathered(kept: Iterable[Kept], mistakes: Iterable[tuple[Heard, Mistake]]) -> list[Proposal]:
    """The lessons that are new or gained something; the same wish about the same is one lesson, however often."""
    proposals = [_known(lesson) for lesson in kept]
    for one, mistake in mistakes:
        if mistake.refused or mistake.manner or not _says_something(mistake):
            continue
        match = next((proposal for proposal in proposals if _is_of(mistake, proposal)), None)
        if match is None:
            proposals.append(_new(mistake, one.session.id))
        else:
            _grow(match, mistake, one.session.id)
    return [proposal for proposal in proposals if proposal.grown]


def _says_something(mistake: Mistake) -> bool:
    """A correction needs words and, unless it is the user's wish, something that it is about."""
    if mistake.origin in OWN:
        return bool(mistake.wanted)
    return bool(mistake.trigger) and bool(mistake.wanted or mistake.origin in ("flagged", "stuck"))


def _known(lesson: Kept) -> Proposal:
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


def _is_of(mistake: Mistake, proposal: Proposal) -> bool:
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
    return triggers.overlap(mistake.trigger, proposal.trigger) >= triggers.SAME


def _advice(proposal: Proposal) -> str:
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


def _changes(proposal: Proposal, advice: str) -> Iterator[Change]:
    old = proposal.kept
    trigger = old.trigger if old and _is_a_persons(old) else proposal.trigger
    if old and (trigger, advice) != (old.trigger, old.advice):
        evidence = {"trigger": list(old.trigger), "citations": list(old.citations)}
        yield Revision(f"lesson:{old.key}", "night", old.advice, evidence)
    author = old.author if old else "derived"
    yield Lesson(proposal.key, advice, trigger, "", author, tuple(sorted(proposal.citations)))


def _proposed(proposal: Proposal, advice: str) -> dict[str, Any]:
    return {
        "key": proposal.key,
        "advice": advice,
        "new": proposal.kept is None,
        "citations": sorted(proposal.citations),
    }


def _refusal(one: Heard, mistake: Mistake, reasons: Iterable[str]) -> dict[str, Any]:
    """Where the text stands and why nothing is learned from it: never the text."""
    return {"why": ", ".join(reasons), "session": one.session.name, "message": mistake.citations[-1]}


# Reinforcing.


def _arms(signals: Iterable[Noticed]) -> dict[tuple[int, int], str]:
    """(session, lesson) -> whether it was shown or withheld in it, as the turns recorded it."""
    arms: dict[tuple[int, int], str] = {}
    for signal in signals:
        for used in signal.data.get("lessons", ()):
            place = signal.session_id, int(used["id"])
            if used["arm"] in ARMS and arms.get(place) != SHOWN:
                arms[place] = used["arm"]
    return arms


def _lived(lesson: Kept, one: Heard, arms: Mapping[tuple[int, int], str]) -> Lived | None:
    """What a session says of a lesson; None where it had no opportunity."""
    arm = arms.get((one.session.id, lesson.id))
    proposal = _known(lesson)
    happened = any(_is_of(mistake, proposal) for mistake in one.mistakes)
    if arm is None and not happened and not any(triggers.appears(lesson.trigger, terms) for terms in one.terms):
        return None
    return Lived(lesson.id, one.session.id, arm or NONE, happened)


def _sessions_of(kept: Iterable[Kept], lesson_id: int) -> set[str]:
    return {session for lesson in kept if lesson.id == lesson_id for session, *_ in lesson.evidence}


def _evidence(lesson: Kept, new: Iterable[Lived], now: float) -> list[Evidence]:
    old = [Evidence(session=s, at=at, arm=arm, happened=happened) for s, arm, happened, at in lesson.evidence]
    mine = [one for one in new if one.lesson_id == lesson.id]
    return old + [Evidence(session=str(one.session_id), at=now, arm=one.arm, happened=one.happened) for one in mine]


def _kind(outcome: Lived) -> str:
    return Evidence(session="", at=0.0, arm=outcome.arm, happened=outcome.happened).kind


def _stands(lesson: Kept, life: Life) -> dict[str, Any]:
    """Where a lesson stands, and what it is known to do."""
    effect = life.effect
    known: object = UNKNOWN
    if effect:
        known = {"verdict": effect.verdict, "estimate": effect.estimate, "low": effect.low, "high": effect.high}
    counts = {"shown": life.tally.shown, "withheld": life.tally.withheld, "records": life.tally.records}
    confidence = round(life.confidence, 4)
    state = "your wish" if stands(lesson) and not lesson.mode else life.state
    return {"id": lesson.id, "key": lesson.key, "state": state, "confidence": confidence, "effect": known} | counts
