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
from insula.text.wording import count_noun, join_parts, undo_by

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
        without_people(each, night.embed)
        for session in heard
        for each in about_no_answers(session.corrections, night.embed)
    ]
    before = [without_people(each, night.embed) for each in await corrected_before(night, heard)] if corrected else []
    twice = [change for change in again if isinstance(change, LessonChange)]
    asked = {each for lesson in twice for each in lesson.citations}
    lessons = [lesson for lesson in lessons_of(corrected, before, kept) if asked.isdisjoint(lesson.citations)][:MOST]
    told_before = {wish["id"] for wish in night.last.get("wishes", ())}
    fresh = [
        preference
        for preference in kept
        if is_wish(preference) and is_told(preference) and preference.created_at > night.since
        if preference.name not in told_before
    ]
    doubtful = find_doubtful(fresh, kept, night.embed)
    wishes = [
        *((preference.name, preference.advice, preference.citations) for preference in fresh),
        *((name_of(lesson.key, ""), lesson.advice, lesson.citations) for lesson in twice),
    ]
    learned = [(name_of(lesson.key, ""), lesson.advice, lesson.citations) for lesson in lessons]
    refused = [*_list_refused(heard), *_list_private(corrected, heard)]
    cited = [message for *_, citations in (*learned, *wishes) for message in citations]
    memories = {message.id: message.memory for message in await night.store.guidance.read_cited(night.user_id, cited)}
    report = {
        "sessions": len(heard),
        "corrections": len(corrected),
        "lessons": len(lessons),
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
        *(f"From now on: {advice}{_cite_memories(cites, memories)}" for _, advice, cites in learned),
        *(f"You want: {advice}{_cite_memories(cites, memories)}" for _, advice, cites in wishes),
    )
    undo = [f"guidance forget {name}" for name, *_ in (*learned, *wishes)]
    known = {name_of(preference.key, "") for preference in kept}
    news = (
        f"From now on: {advice} {undo_by(f'guidance forget {name}')}"
        for name, advice, _ in learned
        if name not in known
    )
    return Result(
        report,
        [*said, *again, *lessons],
        "Nothing was corrected a second time, and nobody asked for anything." if quiet else "",
        says=[join_parts(parts), *told, *asks] if any(parts) else (),
        undo=undo,
        news=[*asks, *news],
    )


def _conflict_question(older: StoredGuidance, newer: StoredGuidance) -> str:
    """A question that is put once, on two preferences that may not both hold."""
    return (
        f"Do both hold, “{preference_words(older)}” and “{preference_words(newer)}”? "
        f"(only the newer: insula guidance forget {older.name}; "
        f"only the older: insula guidance forget {newer.name})"
    )


def _cite_memories(citations: Iterable[int], memories: Mapping[int, int]) -> str:
    """The memories that somebody who wants it gone would erase, the latest where there are many."""
    numbers = [memories[each] for each in citations if each in memories]
    more = f" and {len(numbers) - SOURCES} more" if len(numbers) > SOURCES else ""
    shown = ", ".join(map(str, numbers[-SOURCES:]))
    return f" (from {'memory' if len(numbers) == 1 else 'memories'} {shown}{more})" if numbers else ""


def _list_refused(heard: Iterable[LearningSession]) -> Iterator[Refused]:
    for session in heard:
        for message, why in session.refused:
            yield {"why": why, "session": session.session.name, "message": message}


def _list_private(corrected: Iterable[Corrected], heard: Iterable[LearningSession]) -> Iterator[Refused]:
    """Where corrections stand that tell of somebody."""
    names = {session.session.id: session.session.name for session in heard}
    for correction in corrected:
        if correction.refused == ABOUT_PEOPLE:
            yield {"why": ABOUT_PEOPLE, "session": names[correction.session_id], "message": correction.citations[-1]}
