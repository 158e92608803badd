"""The phase that learns without a model: preferences that no turn heard, and what was corrected again (K6, R9).

It goes before `lessons`, which counts what the same sessions say of a lesson.
"""

from collections.abc import Iterable, Iterator, Mapping

from insula.memory.storage.changes import LessonChange
from insula.memory.storage.nights import UP_TO
from insula.memory.storage.rows import StoredGuidance, name_of
from insula.memory.wishes import is_told, is_wish, preference_words
from insula.night.corrections import Corrected, lessons_of
from insula.night.cycle import Night, Result
from insula.night.grounding import ABOUT_PEOPLE, about_no_answers, without_people
from insula.night.sessions import LearningSession, corrected_before, since_last_night
from insula.night.wanted import PLACES, asked_again, find_doubtful, find_unheard, requests_since
from insula.night.wording import count_noun, join_parts, undo_by

MOST = 20
"""Lessons that one night makes or bears out."""
SOURCES = 6
"""Memories that a line names as its source."""
SHOWN_REFUSALS = 50
"""Refusals that the report names; all are counted."""
Refused = Mapping[str, str | int]
"""Where a text stands from which nothing is learned (`session`, `message`), and `why`: never the text."""


async def learn_corrections(night: Night) -> Result:
    """Hear the preferences that no turn heard, and make lessons of what was corrected again."""
    heard, signals = await since_last_night(night)
    if not heard:
        return Result({UP_TO: night.last_seen}, skipped="No session since the last night.")
    kept = await night.store.guidance.list_lessons(night.user_id)
    said = find_unheard(kept, heard, signals, night.now, night.embed)
    new, earlier, places = await requests_since(night, heard)
    again = asked_again(new, earlier, kept, night.now, night.embed)
    corrected = [
        without_people(each, night.embed) for one in heard for each in about_no_answers(one.corrections, night.embed)
    ]
    before = [without_people(each, night.embed) for each in await corrected_before(night, heard)] if corrected else []
    twice = [one for one in again if isinstance(one, LessonChange)]
    asked = {each for one in twice for each in one.citations}
    lessons = [one for one in lessons_of(corrected, before, kept) if asked.isdisjoint(one.citations)][:MOST]
    told_before = {one["id"] for one in night.last.get("wishes", ())}
    fresh = [one for one in kept if is_wish(one) and is_told(one) and one.created_at > night.since]
    doubtful = find_doubtful([one for one in fresh if one.name not in told_before], kept, night.embed)
    wishes = [
        *((one.name, one.advice, one.citations) for one in fresh if one.name not in told_before),
        *((name_of(one.key, ""), one.advice, one.citations) for one in twice),
    ]
    refused = [*_list_refused(heard), *_list_private(corrected, heard)]
    known = {one.key for one in kept}
    cited = [each for one in lessons for each in one.citations] + [each for *_, cites in wishes for each in cites]
    memories = {one.id: one.memory for one in await night.store.guidance.read_cited(night.user_id, cited)}
    report = {
        "sessions": len(heard),
        "corrections": len(corrected),
        "lessons": [
            {"key": one.key, "advice": one.advice, "new": one.key not in known, "citations": [*one.citations]}
            for one in lessons
        ],
        "wishes": [{"id": name, "advice": advice, "citations": [*cites]} for name, advice, cites in wishes],
        PLACES: places,
        "quarantined": len(refused),
        "refused": refused[:SHOWN_REFUSALS],
        UP_TO: heard[-1].session.last,
    }
    quiet = not (wishes or lessons or said or again or refused)
    parts = (
        f"{count_noun(len(lessons), 'lesson')} from now on" if lessons else "",
        f"{count_noun(len(wishes), 'new preference')} of yours" if wishes else "",
        f"from {count_noun(len(refused), 'text')} nothing is learned, since they give orders" if refused else "",
    )
    asks = [_conflict_question(*doubtful)] if doubtful else []
    told = (
        *(f"From now on: {one.advice}{_cite_memories(one.citations, memories)}" for one in lessons),
        *(f"You want: {advice}{_cite_memories(cites, memories)}" for _, advice, cites in wishes),
    )
    return Result(
        report,
        [*said, *again, *lessons],
        "Nothing was corrected a second time, and nobody asked for anything." if quiet else "",
        says=[join_parts(parts), *told, *asks] if any(parts) else (),
        news=[*asks, *(_describe_lesson(one) for one in lessons if one.key not in known)],
    )


def _conflict_question(older: StoredGuidance, newer: StoredGuidance) -> str:
    """A question that is put once, on two preferences that may not both hold."""
    return (
        f"Do both hold, “{preference_words(older)}” and “{preference_words(newer)}”? "
        f"(only the newer: insula guidance forget {older.name}; "
        f"only the older: insula guidance forget {newer.name})"
    )


def _describe_lesson(one: LessonChange) -> str:
    return f"From now on: {one.advice} {undo_by('guidance forget', name_of(one.key, ''))}"


def _cite_memories(citations: Iterable[int], memories: Mapping[int, int]) -> str:
    """The memories that somebody who wants it gone would erase, the latest where there are many."""
    numbers = [memories[each] for each in citations if each in memories]
    more = f" and {len(numbers) - SOURCES} more" if len(numbers) > SOURCES else ""
    shown = ", ".join(map(str, numbers[-SOURCES:]))
    return f" (from {'memory' if len(numbers) == 1 else 'memories'} {shown}{more})" if numbers else ""


def _list_refused(heard: Iterable[LearningSession]) -> Iterator[Refused]:
    for one in heard:
        for message, why in one.refused:
            yield {"why": why, "session": one.session.name, "message": message}


def _list_private(corrected: Iterable[Corrected], heard: Iterable[LearningSession]) -> Iterator[Refused]:
    """Where corrections stand that tell of somebody."""
    names = {one.session.id: one.session.name for one in heard}
    for one in corrected:
        if one.refused == ABOUT_PEOPLE:
            yield {"why": ABOUT_PEOPLE, "session": names[one.session_id], "message": one.citations[-1]}
