"""The phase that learns without a model: wishes that no turn heard, and what was corrected again (K6, R9).

It goes before `lessons`, which counts what the same sessions say of a lesson.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NotRequired, TypedDict

from insula.memory.storage.changes import Lesson, Retired
from insula.memory.storage.rows import Kept
from insula.memory.wishes import is_wish, stands
from insula.night.corrections import Corrected, is_again_lesson, lessons_of
from insula.night.cycle import Night, Result
from insula.night.sessions import Heard, corrected_before, since_last_night
from insula.night.support import ABOUT_PEOPLE, about_no_answers, without_people
from insula.night.unheard import unheard

MOST = 20
"""Lessons that one night makes or bears out."""
SHOWN_REFUSALS = 50
"""Refusals that the report names; all are counted."""
NIGHT = "night"
NOT_LEARNED = "no lesson is made of what the monitor thought of an answer, nor of one session alone"


class Learned(TypedDict):
    """A lesson that was made or borne out."""

    key: str
    advice: str
    new: bool
    told: bool
    """Whether it is told from this night on."""
    citations: list[int]
    memories: NotRequired[list[int]]
    """What a person may look at and erase."""


class Wished(TypedDict):
    """A wish that stands since the last night."""

    id: str
    advice: str
    citations: list[int]
    memories: NotRequired[list[int]]


class Refused(TypedDict):
    """Where a text stands from which nothing is learned, and why: never the text."""

    why: str
    session: str
    message: int


class Report(TypedDict):
    """What was corrected how often, what is learned of it, and what is refused."""

    sessions: int
    corrections: int
    lessons: list[Learned]
    wishes: list[Wished]
    quarantined: int
    refused: list[Refused]
    up_to: int


class Nothing(TypedDict):
    """No session was new."""

    up_to: int


async def learn(night: Night) -> Result:
    """Hear the wishes that no turn heard, and make lessons of what was corrected again."""
    heard, signals = await since_last_night(night)
    kept = await night.store.guidance.lessons(night.user_id)
    gone = [Retired(one.key, NIGHT, NOT_LEARNED) for one in kept if _is_of_earlier_versions(one)]
    if not heard:
        return Result(Nothing(up_to=night.seen), gone, skipped="No session since the last night.")
    said = unheard(kept, heard, signals, night.now, night.embed)
    corrected = [
        without_people(each, night.embed) for one in heard for each in about_no_answers(one.corrections, night.embed)
    ]
    before = [without_people(each, night.embed) for each in await corrected_before(night, heard)] if corrected else []
    lessons = list(lessons_of(corrected, before, kept))[:MOST]
    refused = [*_refused(heard), *_private(corrected, heard)]
    wishes = _wished(kept, night.since)
    report: Report = {
        "sessions": len(heard),
        "corrections": len(corrected),
        "lessons": [_learned(one, kept) for one in lessons],
        "wishes": wishes,
        "quarantined": len(refused),
        "refused": refused[:SHOWN_REFUSALS],
        "up_to": heard[-1].session.last,
    }
    await _name_memories(night, report)
    quiet = not (wishes or lessons or said or refused)
    skipped = "Nothing was corrected a second time, and nobody wished for anything." if quiet else ""
    return Result(report, [*gone, *said, *lessons], skipped)


def _private(corrected: Iterable[Corrected], heard: Iterable[Heard]) -> Iterator[Refused]:
    """Where corrections stand that tell of somebody."""
    names = {one.session.id: one.session.name for one in heard}
    for one in corrected:
        if one.refused == ABOUT_PEOPLE:
            yield {"why": ABOUT_PEOPLE, "session": names[one.session_id], "message": one.citations[-1]}


def _is_of_earlier_versions(one: Kept) -> bool:
    """Whether a lesson is one that earlier versions made of a flag, an impasse or a single correction; one that a
    person vouched for stays.
    """
    is_known = bool(one.section) or is_wish(one) or is_again_lesson(one)
    return not (is_known or one.mode or one.author == "person") and one.key.count("/") == 2


def _wished(kept: Iterable[Kept], since: float) -> list[Wished]:
    """The wishes that stand since the last night: the day has heard them."""
    fresh = (one for one in kept if is_wish(one) and stands(one) and one.created_at > since)
    return [{"id": one.name, "advice": one.advice, "citations": list(one.citations)} for one in fresh]


def _learned(one: Lesson, kept: Iterable[Kept]) -> Learned:
    new = all(each.key != one.key for each in kept)
    return {"key": one.key, "advice": one.advice, "new": new, "told": new, "citations": list(one.citations)}


async def _name_memories(night: Night, report: Report) -> None:
    """Name each message of the report by its memory, which a person may look at and erase."""
    named: list[Learned | Wished] = [*report["lessons"], *report["wishes"]]
    cited = await night.store.guidance.cited(night.user_id, [each for one in named for each in one["citations"]])
    of = {one.id: one.memory for one in cited}
    for one in named:
        one["memories"] = [of[each] for each in one["citations"] if each in of]


def _refused(heard: Sequence[Heard]) -> Iterator[Refused]:
    """Where the texts stand, and why nothing is learned from them: never the texts."""
    for one in heard:
        for message, why in one.refused:
            yield {"why": why, "session": one.session.name, "message": message}
