"""The phase that counts what each session says of the lessons whose trigger appeared in it (K5, P4)."""

from collections import Counter
from collections.abc import Iterable, Mapping

from insula.coding.step.corrections import measure_likeness
from insula.guidance import ARMS, NONE, PRUNED, RETIRED, SHOWN, Evidence, Life, assess_guidance
from insula.memory.storage.changes import Lived
from insula.memory.storage.nights import UP_TO
from insula.memory.storage.rows import StoredGuidance, StoredSignal
from insula.memory.wishes import preference_words
from insula.night.corrections import AGAIN, is_again, is_again_lesson, quote_user
from insula.night.cycle import MeasuredEffect, Night, Result
from insula.night.sessions import LearningSession, since_last_night
from insula.text import triggers
from insula.text.wording import count_noun
from insula.worth import UNKNOWN

ENDED = {RETIRED: "Retired, since it does not help", PRUNED: "Forgotten"}


async def reinforce_lessons(night: Night) -> Result:
    """Count what each session since the last night says of the lessons whose trigger appeared in it."""
    heard, signals = await since_last_night(night)
    kept = [lesson for lesson in await night.store.guidance.list_lessons(night.user_id) if not lesson.section]
    seen = heard[-1].session.last if heard else night.last_seen
    if not kept:
        return Result({UP_TO: seen}, skipped="There are no lessons yet.")
    arms = _read_arms(signals)
    lived = [outcome for session in heard for lesson in kept if (outcome := _judge_session(lesson, session, arms))]
    known = {lesson.id: {lived.session for lived in lesson.evidence} for lesson in kept}
    new = [outcome for outcome in lived if str(outcome.session_id) not in known[outcome.lesson_id]]
    evidence = [(outcome.lesson_id, _make_evidence(outcome, night.now)) for outcome in new]
    lives = [(lesson, _assess_lesson(lesson, evidence, night.now)) for lesson in kept]
    verdicts = {lesson.key: life.verdict for lesson, life in lives}
    states, known_effects = night.last.get("states", {}), night.last.get("effects_known", {})
    ended = [
        (lesson, life)
        for lesson, life in lives
        if life.state in ENDED and states.get(lesson.key, life.state) != life.state
    ]
    news = {key for key, verdict in verdicts.items() if verdict not in (UNKNOWN, known_effects.get(key))}
    report = {
        "sessions": len(heard),
        "counted": dict(Counter(each.kind for _, each in evidence)),
        "states": {lesson.key: life.state for lesson, life in lives},
        "effects_known": {key: verdict for key, verdict in verdicts.items() if verdict != UNKNOWN},
        UP_TO: seen,
    }
    said = f"{count_noun(len(ended), 'lesson')} {'is' if len(ended) == 1 else 'are'} used no more."
    return Result(
        report,
        new,
        says=[said, *(f"{ENDED[life.state]}: {lesson.advice}" for lesson, life in ended)] if ended else (),
        effects=[_measure_effect(*each) for each in lives if each[0].key in news],
    )


def _read_arms(signals: Iterable[StoredSignal]) -> dict[tuple[int, int], str]:
    """(session, lesson) -> whether it was shown or withheld in it, as the turns recorded it."""
    arms: dict[tuple[int, int], str] = {}
    for signal in signals:
        for used in signal.data.get("lessons", ()):
            place = signal.session_id, int(used["id"])
            if used["arm"] in ARMS and arms.get(place) != SHOWN:
                arms[place] = used["arm"]
    return arms


def _judge_session(
    lesson: StoredGuidance, session: LearningSession, arms: Mapping[tuple[int, int], str]
) -> Lived | None:
    """What a session says of a lesson; None where it had no opportunity."""
    arm = arms.get((session.session.id, lesson.id))
    happened = _is_asked_again(lesson, session)
    if (
        arm is None
        and not happened
        and not any(triggers.trigger_appears(lesson.trigger, terms) for terms in session.terms)
    ):
        return None
    return Lived(lesson.id, session.session.id, arm or NONE, happened)


def _is_asked_again(lesson: StoredGuidance, session: LearningSession) -> bool:
    """Whether the user said in a session what a lesson says, though it may have been told."""
    if is_again_lesson(lesson):
        mine = (each for each in session.corrections if lesson.key.startswith(f"{each.kind}/"))
        return any(is_again(each, quote_user(lesson), lesson.trigger) for each in mine)
    return any(measure_likeness(each, preference_words(lesson)) >= AGAIN for each in session.asked)


def _make_evidence(outcome: Lived, now: float) -> Evidence:
    return Evidence(session=str(outcome.session_id), at=now, arm=outcome.arm, happened=outcome.happened)


def _assess_lesson(lesson: StoredGuidance, new: Iterable[tuple[int, Evidence]], now: float) -> Life:
    """Where a lesson stands with some new evidence, each with the id of its lesson."""
    mine = (evidence for number, evidence in new if number == lesson.id)
    return assess_guidance([*lesson.evidence, *mine], now, mode=lesson.mode)


def _measure_effect(lesson: StoredGuidance, life: Life) -> MeasuredEffect:
    worth = life.effect
    assert worth is not None  # noqa: S101 its verdict is known
    return MeasuredEffect(lesson.advice, life.verdict, worth.estimate, worth.low, worth.high)
