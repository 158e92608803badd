"""What a reflection looks back on: the turns of the day, the guidance that stands, corrections."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from insula.memory.storage.nights import MIN_MESSAGES
from insula.memory.storage.rows import StoredGuidance, StoredSession, StoredSignal, Summarised
from insula.memory.wishes import is_told, is_wish, preference_words
from insula.night import prompts
from insula.night.corrections import find_corrections
from insula.night.cycle import Night
from insula.night.grounding import find_harm
from insula.night.transcript import READ, quote_session
from insula.night.unsettled import SessionLines
from insula.screening import screen_text
from insula.types import CONFIDENCE_LOW, IMPASSE, TURN, SignalKind

LATEST, CONTEXT = 50, 50
"""New sessions that are reflected on, and earlier ones beside them; of both the latest."""
LOOKED_THROUGH = 200
"""Messages of a session that are searched for corrections and for questions asked again, the last ones."""
GUIDANCE = 40
"""Guidelines that a reflection is shown, the latest."""
CORRECTED = 20
"""Corrections that it is shown, the latest, and sessions that they are taken from."""
CORRECTION_CHARS = 300
PREFERENCES, FACTS, LINE_CHARS = 30, 40, 200
"""Preferences and facts that it is shown, the latest, and characters of each."""
TROUBLE: tuple[SignalKind, ...] = (CONFIDENCE_LOW, IMPASSE)
"""Signals of a turn that went badly."""
Json = dict[str, object]


class Records(NamedTuple):
    """What a night looks back on."""

    new: tuple[StoredSession, ...]
    """Those in which something was said since the last reflection."""
    earlier: tuple[StoredSession, ...]
    summaries: Mapping[int, Summarised]
    """By session, where there is one that may be quoted."""
    trouble: Mapping[int, int]
    """Session -> responses in it that went badly."""

    @property
    def sessions(self) -> tuple[int, ...]:
        """The numbers of all of them, oldest first."""
        return tuple(session.id for session in (*self.earlier, *self.new))


class ShownRecords(NamedTuple):
    """What of the records a model is shown."""

    days: list[Json]
    earlier: list[Json]

    @property
    def sessions(self) -> list[int]:
        """The numbers of the sessions: an answer may cite no others."""
        return sorted(int(str(record["session"])) for record in (*self.days, *self.earlier))


async def read_records(night: Night) -> Records:
    """The sessions of three messages or more, with what is known of each."""
    sessions = [session for session in await night.list_sessions() if session.messages >= MIN_MESSAGES]
    new = tuple([session for session in sessions if session.last > night.last_seen][-LATEST:])
    earlier = tuple([session for session in sessions if session.last <= night.last_seen][-CONTEXT:])
    summaries = await night.store.nights.list_summaries(night.user_id, LATEST + CONTEXT)
    signals = await night.store.nights.list_session_signals(night.user_id, TROUBLE, [session.id for session in new])
    trouble = Counter(session for session, _ in {(signal.session_id, signal.turn) for signal in signals})
    return Records(new, earlier, {summary.session_id: summary for summary in summaries if _is_safe(summary)}, trouble)


def _is_safe(summary: Summarised) -> bool:
    """Whether a summary may be quoted: it was screened when it was written, by the patterns of that day."""
    text = " ".join((summary.content, *summary.topics))
    return not screen_text(text, max(1, len(text))).reasons


async def choose_records(night: Night, records: Records, room: int) -> ShownRecords:
    """What of the records fits into so many characters: the most telling of the new sessions whole, others in short.

    Telling is a session in which the user corrected or asked for something of answers, or that went badly.
    """
    lines = await night.lines_of([session.id for session in records.new], READ)
    tells = {
        number: len(list(find_corrections(said, night.embed))) + records.trouble.get(number, 0)
        for number, said in lines.items()
    }
    days, earlier = list[Json](), list[Json]()
    for session in sorted(records.new, key=lambda session: (-tells[session.id], -session.last)):
        weak: Json = {"weak": records.trouble[session.id]} if records.trouble.get(session.id) else {}
        turns = quote_session(lines[session.id], session.messages)
        forms = [{"session": session.id, **weak, "turns": turns}, *_in_short(records, session, weak)]
        fits = next((form for form in forms if len(prompts.format_record(form)) <= room), None)
        if chosen := fits or (None if days else forms[-1]):  # one at least
            days.append(chosen)
            room -= len(prompts.format_record(chosen))
    for session in reversed(records.earlier):
        for form in _in_short(records, session, {}):
            room -= len(prompts.format_record(form))
            earlier += [form] if room >= 0 else []
    return ShownRecords(days, earlier[::-1])


def _in_short(records: Records, session: StoredSession, weak: Json) -> list[Json]:
    summary = records.summaries.get(session.id)
    if summary is None:
        return []
    return [{"session": session.id, "topics": list(summary.topics), **weak, "summary": summary.content}]


async def list_preferences(night: Night) -> list[str]:
    """What the user wants of all answers, in their own words, the latest."""
    kept = await night.store.guidance.list_lessons(night.user_id)
    return [preference_words(guidance) for guidance in kept if is_wish(guidance) and is_told(guidance)][-PREFERENCES:]


async def list_stated(night: Night) -> list[Json]:
    """What nothing that is learned may contradict: the user's preferences and the latest facts that they told."""
    wanted: list[Json] = [
        {"wants": text.text}
        for preference in await list_preferences(night)
        if not (text := screen_text(preference, LINE_CHARS)).reasons
    ]
    latest = await night.store.memories.list_memories(night.user, limit=FACTS)
    kept = (memory for memory in latest if memory.state == "long-term")
    facts = [memory for memory in kept if memory.provenance == "user" and memory.kind == "semantic"]
    return [
        *wanted,
        *({"said": memory.line[:LINE_CHARS]} for memory in facts[::-1] if memory.line and not memory.withheld),
    ]


async def list_guidelines(night: Night) -> list[StoredGuidance]:
    """The guidelines that stand."""
    return [guidance for guidance in await night.store.guidance.list_lessons(night.user_id) if guidance.section][
        -GUIDANCE:
    ]


async def list_standing(night: Night) -> list[Json]:
    """The guidelines that stand, as the model reads them: screened again, each with its id and support."""
    known = [guidance for guidance in await list_guidelines(night) if not find_harm(guidance.advice)]
    return [
        {"id": guidance.name, "text": guidance.advice, "sessions": len(set(guidance.citations))} for guidance in known
    ]


async def list_corrections(night: Night, days: Iterable[Json]) -> list[Json]:
    """What the user corrected in the days that are shown, in their own plain words."""
    latest = sorted(int(str(record["session"])) for record in days)[-CORRECTED:]
    lines = await night.lines_of(latest, LOOKED_THROUGH)
    said: list[Json] = [
        {"session": number, "user": text.text}
        for number in latest
        for each in find_corrections(lines[number], night.embed)
        if each.own
        and not each.explain_refusal(each.own)
        and not (text := screen_text(each.own, CORRECTION_CHARS)).reasons
    ]
    return said[-CORRECTED:]


async def read_through(night: Night, sessions: Sequence[int]) -> tuple[SessionLines, list[StoredSignal]]:
    """The transcripts of some sessions, and the records of their turns."""
    lines = await night.lines_of(sessions, LOOKED_THROUGH)
    turns = await night.store.nights.list_session_signals(night.user_id, [TURN], sessions)
    return lines, turns
