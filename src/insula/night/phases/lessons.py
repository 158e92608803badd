"""The phase that counts what each session says of the lessons whose trigger appeared in it (K5, P4)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NotRequired, TypedDict, cast

from insula.guidance import ARMS, HURTS, NONE, PRUNED, RETIRED, SHOWN, UNKNOWN, Evidence, Life, live
from insula.memory.storage.changes import Forget, Lived
from insula.memory.storage.rows import Kept, Noticed, name_of
from insula.memory.wishes import stands, words
from insula.night.corrections import AGAIN, is_again, is_again_lesson, quoted
from insula.night.cycle import Night, Result
from insula.night.effects import Weighed, weighed
from insula.night.sessions import Heard, since_last_night
from insula.text import triggers
from insula.text.corrections import alike
from insula.types import TURN

DAYS = 365
"""Days whose turns say what an insight is worth."""
_DAY = 86_400.0
WISH = "your wish"
"""How a standing wish of the user's stands."""


class Effect(TypedDict):
    """What a lesson does, compared with itself withheld."""

    verdict: str
    estimate: float
    low: float
    high: float


class Standing(TypedDict):
    """Where a lesson stands, and what it is known to do."""

    id: int
    key: str
    state: str
    confidence: float
    effect: Effect | str
    shown: int
    withheld: int
    records: int


class Ended(TypedDict):
    """A lesson that is told no more since this night."""

    advice: str
    state: str


class Report(TypedDict):
    """What the sessions since the last night say of the lessons."""

    sessions: NotRequired[int]
    counted: NotRequired[dict[str, int]]
    lessons: NotRequired[list[Standing]]
    insights: NotRequired[list[Weighed]]
    ended: NotRequired[list[Ended]]
    news: NotRequired[list[str]]
    """The names of lessons and insights whose effect came to be known this night."""
    up_to: int


async def reinforce(night: Night) -> Result:
    """Count what each session since the last night says of the lessons whose trigger appeared in it."""
    heard, signals = await since_last_night(night)
    kept = [one for one in await night.store.guidance.lessons(night.user_id) if not one.section]
    seen = heard[-1].session.last if heard else night.seen
    turns = await night.noticed(TURN, DAYS)
    effects = weighed(turns)
    if not kept and not effects:
        return Result(Report(up_to=seen), skipped="There are no lessons yet.")
    arms = _arms(signals)
    lived = [outcome for one in heard for lesson in kept if (outcome := _lived(lesson, one, arms))]
    new = [outcome for outcome in lived if str(outcome.session_id) not in _sessions_of(kept, outcome.lesson_id)]
    lives = [(lesson, live(_evidence(lesson, new, night.now), night.now, mode=lesson.mode)) for lesson in kept]
    kinds = Counter(_kind(outcome) for outcome in new)
    stand = [_stands(*one) for one in lives]
    bad = [Forget(one["id"], "answers went worse where it was told") for one in effects if one["verdict"] == HURTS]
    report = Report(sessions=len(heard), counted=dict(kinds), lessons=stand, insights=effects, up_to=seen)
    known = _known(stand, effects)
    last = cast(Report, night.last)
    before = _known(last.get("lessons", ()), last.get("insights", ()))
    report["news"] = [name for name, verdict in known.items() if before.get(name) != verdict]
    report["ended"] = list(_ended(lives, last))
    return Result(report, [*new, *bad])


def _known(lessons: Iterable[Standing], insights: Iterable[Weighed]) -> dict[str, str]:
    """The effects that are known, by the name of what has them."""
    measured = {name_of(one["key"], ""): one["effect"] for one in lessons}
    found = {name: one["verdict"] for name, one in measured.items() if not isinstance(one, str)}
    found |= {f"insight {one['id']}": one["verdict"] for one in insights}
    return {name: verdict for name, verdict in found.items() if verdict != UNKNOWN}


def _ended(lives: Iterable[tuple[Kept, Life]], last: Report) -> Iterator[Ended]:
    before = {one["id"]: one["state"] for one in last.get("lessons", ())}
    for lesson, life in lives:
        if life.state in (RETIRED, PRUNED) and before.get(lesson.id, life.state) != life.state:
            yield Ended(advice=lesson.advice, state=life.state)


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
    happened = _is_asked_again(lesson, one)
    if arm is None and not happened and not any(triggers.appears(lesson.trigger, terms) for terms in one.terms):
        return None
    return Lived(lesson.id, one.session.id, arm or NONE, happened)


def _is_asked_again(lesson: Kept, one: Heard) -> bool:
    """Whether the user said in a session what a lesson says, though it may have been told."""
    if is_again_lesson(lesson):
        mine = (each for each in one.corrections if lesson.key.startswith(f"{each.kind}/"))
        return any(is_again(each, quoted(lesson), lesson.trigger) for each in mine)
    return any(alike(each, words(lesson)) >= AGAIN for each in one.asked)


def _sessions_of(kept: Iterable[Kept], lesson_id: int) -> set[str]:
    return {session for lesson in kept if lesson.id == lesson_id for session, *_ in lesson.evidence}


def _evidence(lesson: Kept, new: Iterable[Lived], now: float) -> list[Evidence]:
    old = [Evidence(session=s, at=at, arm=arm, happened=happened) for s, arm, happened, at in lesson.evidence]
    mine = [one for one in new if one.lesson_id == lesson.id]
    return old + [Evidence(session=str(one.session_id), at=now, arm=one.arm, happened=one.happened) for one in mine]


def _kind(outcome: Lived) -> str:
    return Evidence(session="", at=0.0, arm=outcome.arm, happened=outcome.happened).kind


def _stands(lesson: Kept, life: Life) -> Standing:
    """Where a lesson stands, and what it is known to do."""
    effect = life.effect
    does: Effect | str = UNKNOWN
    if effect:
        does = Effect(verdict=effect.verdict, estimate=effect.estimate, low=effect.low, high=effect.high)
    state = WISH if stands(lesson) and not lesson.mode else life.state
    return {
        "id": lesson.id,
        "key": lesson.key,
        "state": state,
        "confidence": round(life.confidence, 4),
        "effect": does,
        "shown": life.tally.shown,
        "withheld": life.tally.withheld,
        "records": life.tally.records,
    }
