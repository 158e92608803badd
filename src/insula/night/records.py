"""What a reflection looks back on: the turns of the day, guidance that stands, corrections, how a session is quoted.

Among it are questions that were asked again and never answered (K6). That something was talked about often teaches
nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

from insula.memory.storage.changes import Forget
from insula.memory.storage.nights import MIN_MESSAGES
from insula.memory.storage.rows import (
    StoredGuidance,
    StoredSession,
    StoredSignal,
    Summarised,
    TranscriptLine,
    Understood,
)
from insula.memory.wishes import is_told, is_wish, preference_words
from insula.night import prompts
from insula.night.corrections import READ, find_corrections, is_users, terms_of
from insula.night.cycle import Night
from insula.night.grounding import CitedProposal, find_harm
from insula.screening import Reason, screen_text
from insula.text.analysis import analyse_text
from insula.text.answers import declines_answer, says_untold
from insula.text.grammar import UNSPACED
from insula.text.questions import find_asks
from insula.types import CONFIDENCE_LOW, IMPASSE, PASS_THRESHOLD, TURN, Provenance, SignalKind

MESSAGES = 1_000
"""Messages of a session that are read, the last ones."""
CHARS = 12_000
"""Characters of a session that are looked at: its beginning and its end (the original's bound)."""
LINE_CHARS = 700
"""Characters of one message (the original's bound)."""
LINE_COST = 20
"""What quoting a line costs beside its text."""
CLEANED: frozenset[Reason] = frozenset({"secret", "hidden"})
"""Reasons that screening removes from a line; with any other the line is withheld."""
Record = Mapping[str, object]
"""A message, or how many are left out."""


def quote_session(lines: Sequence[TranscriptLine], messages: int) -> list[Record]:
    """The beginning and the end of a session of so many messages, as objects for JSON in which no message can pass for
    another; without what was derived (law 2).
    """
    said = [line for line in lines if line.provenance != "derived"]
    first, last = _choose_ends(said)
    before, between = messages - len(lines), last - first
    return [
        *([{"earlier messages left out": before}] if before > 0 else []),
        *map(_quote_line, said[:first]),
        *([{"messages left out here": between}] if between else []),
        *map(_quote_line, said[last:]),
    ]


def list_texts(quoted: Iterable[Record]) -> list[str]:
    """What was said, of a session as it is quoted."""
    return [str(text) for record in quoted for by, text in record.items() if by in get_args(Provenance)]


def _choose_ends(lines: Sequence[TranscriptLine]) -> tuple[int, int]:
    """How many lines of the beginning, and from which on those of the end, go into `CHARS`."""
    costs = [min(len(line.content), LINE_CHARS) + LINE_COST for line in lines]
    if sum(costs) <= CHARS:
        return len(lines), len(lines)
    return _count_fitting(costs), len(costs) - _count_fitting(costs[::-1])


def _count_fitting(costs: Sequence[int]) -> int:
    """How many of these go into half of the room; since all of them do not go into it, no line is counted twice."""
    spent = 0
    for count, cost in enumerate(costs):
        spent += cost
        if spent > CHARS // 2:
            return count
    return len(costs)


def _quote_line(line: TranscriptLine) -> Record:
    """A line, screened. What stands far behind its end is never shown, and not looked at."""
    safe = screen_text(line.content[: 2 * LINE_CHARS], LINE_CHARS)
    why = next((reason for reason in safe.reasons if reason not in CLEANED), "")
    return {"withheld": why} if why else {line.provenance: safe.text}


ASKED_AGAIN = 2
"""Sessions in which a question must have been asked to be worth knowing: who asks once may not miss the answer."""
SAME_TOPIC = 0.25
"""Share of all their terms that two turns on one topic have in common (Jaccard; as for an impasse)."""
SAME = 0.5
"""The same share from which on two questions are one that was asked again."""
TOLD = 0.5
"""Share of the terms of a question that a line holds which tells what was asked."""
MOST_TURNS = 2_000
"""Turns that are looked through for open questions, the latest."""
BARE, BARE_UNSPACED = 1, 3
"""Content words of its own of a response that says nothing but that it does not know; of scripts without spaces, pairs
of characters."""
QUOTE_CHARS = 200
"""Characters of a user's words in an item."""
ANSWERED = "what was asked has been answered since"


SessionLines = Mapping[int, Sequence[TranscriptLine]]
"""The lines of some sessions."""


class _Turn(NamedTuple):
    """What the ledger says of one, and what the user asked in it."""

    session_id: int
    number: int
    topic: frozenset[str]
    low: bool
    passed: bool
    """Whether nothing certain speaks against the response."""
    hedged: bool
    """Whether words of ours stand before the response: it is not the response that says it does not know."""
    question: str = ""
    line: int = 0
    """The id of the question's."""
    declined: bool = False
    """Whether the response declined it."""

    @property
    def is_open(self) -> bool:
        """Whether it was asked what memory held nothing on, and the response declined it."""
        return self.low and bool(self.topic) and self.declined and not self.hedged

    @property
    def is_answer(self) -> bool:
        """Whether memory held something, and the response says it."""
        return not self.low and self.passed and not self.declined


def still_open(read: SessionLines, signals: Sequence[StoredSignal]) -> list[CitedProposal]:
    """Questions that were asked in two sessions or more, on which memory held nothing, that the responses declined, and
    that nobody has answered since.
    """
    turns, told = _read_turns(read, signals), list(_list_told(read))
    groups: list[tuple[_Turn, set[int]]] = []
    answers = [turn for turn in turns if turn.is_answer]
    for turn in turns:
        later = (each for each in answers if each[:2] > turn[:2])
        if not turn.is_open or _is_answered(turn.topic, later, (terms for line, terms in told if line > turn.line)):
            continue
        same = next((sessions for first, sessions in groups if _term_likeness(first.topic, turn.topic) >= SAME), None)
        if same is None:
            groups.append((turn, {turn.session_id}))
        else:
            same.add(turn.session_id)
    often = [(first.question, tuple(sorted(sessions))) for first, sessions in groups if len(sessions) >= ASKED_AGAIN]
    return [
        CitedProposal(prompts.OPEN.format(question=question), sessions, about=question)
        for question, sessions in sorted(often, key=lambda item: -len(item[1]))
    ]


def find_outdated(
    known: Iterable[Understood], read: SessionLines, recent: frozenset[int], signals: Sequence[StoredSignal]
) -> list[Forget]:
    """What was understood and is no insight any more: a question that the sessions since have answered."""
    turns = [turn for turn in _read_turns(read, signals) if turn.session_id in recent and turn.is_answer]
    told = [terms for _, terms in _list_told({session: read[session] for session in recent & read.keys()})]
    asked = {
        insight.id: frozenset(analyse_text(insight.content.removeprefix(prompts.ASKED)).terms)
        for insight in known
        if insight.content.startswith(prompts.ASKED)
    }
    return [Forget(number, ANSWERED) for number, topic in asked.items() if _is_answered(topic, turns, told)]


def _read_turns(read: SessionLines, signals: Sequence[StoredSignal]) -> list[_Turn]:
    turns = {(signal.session_id, signal.turn): _read_turn(signal) for signal in signals[-MOST_TURNS:]}
    for session, lines in read.items():
        for line in lines:
            if (turn := turns.get((session, line.turn))) is None:
                continue
            if line.provenance == "assistant" and turn.question:
                turn = turn._replace(declined=_declines_answer(line.content[:READ], turn.question))
            elif line.provenance == "user" and (question := _extract_question(line.content[:READ])):
                turn = turn._replace(question=question, line=line.id, declined=False)
            turns[session, line.turn] = turn
    return list(turns.values())


def _read_turn(signal: StoredSignal) -> _Turn:
    data: Mapping[str, dict[str, object]] = signal.data
    judged = data.get("assessment", {})
    score = judged.get("score", 1.0)
    return _Turn(
        session_id=signal.session_id,
        number=signal.turn,
        topic=frozenset(map(str, data.get("topic", ()))),
        low=data.get("confidence", {}).get("level") == "low",
        passed=bool(judged.get("unclear")) or (isinstance(score, int | float) and score >= PASS_THRESHOLD),
        hedged=bool(data.get("hedged")),
    )


def _is_answered(topic: frozenset[str], later: Iterable[_Turn], told: Iterable[frozenset[str]]) -> bool:
    """Whether a later turn answers something of a topic, or a later line tells it."""
    known = any(_term_likeness(topic, turn.topic) >= SAME_TOPIC for turn in later)
    return known or any(len(topic & terms) >= TOLD * len(topic) for terms in told)


def _term_likeness(terms: frozenset[str], other: frozenset[str]) -> float:
    shared = len(terms & other)
    return shared / len(terms | other) if shared else 0.0


def _list_told(read: SessionLines) -> Iterator[tuple[int, frozenset[str]]]:
    """The lines in which the user asks nothing, each as its id and its terms."""
    for lines in read.values():
        for line in lines:
            if is_users(line) and not _extract_question(line.content[:READ]):
                yield line.id, terms_of(line)


def _extract_question(message: str) -> str:
    asked = find_asks(analyse_text(message))
    return screen_text(asked[0].text, QUOTE_CHARS).text if asked else ""


def _declines_answer(response: str, question: str) -> bool:
    """Whether a response says that one was never told, or no more than that it does not know or cannot tell.

    "It depends on the size", or a long answer that also says what it does not know, declines nothing.
    """
    asked = analyse_text(question)
    said = analyse_text(response, default=asked.language)
    if says_untold(response, said.language):
        return True
    bare = BARE_UNSPACED if said.language in UNSPACED else BARE
    return len({*said.terms} - {*asked.terms}) <= bare and declines_answer(response, said.language)


LATEST, CONTEXT = 50, 50
"""New sessions that are reflected on, and earlier ones beside them; of both the latest."""
LOOKED_THROUGH = 200
"""Messages of a session that are searched for corrections and for questions asked again, the last ones."""
GUIDANCE = 40
"""Guidelines that a reflection is shown, the latest."""
CORRECTED = 20
"""Corrections that it is shown, the latest, and sessions that they are taken from."""
CORRECTION_CHARS = 300
PREFERENCES, FACTS, CONTEXT_CHARS = 30, 40, 200
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
    lines = await night.lines_of([session.id for session in records.new], MESSAGES)
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
        if not (text := screen_text(preference, CONTEXT_CHARS)).reasons
    ]
    latest = await night.store.memories.list_memories(night.user, limit=FACTS)
    kept = (memory for memory in latest if memory.state == "long-term")
    facts = [memory for memory in kept if memory.provenance == "user" and memory.kind == "semantic"]
    return [
        *wanted,
        *({"said": memory.line[:CONTEXT_CHARS]} for memory in facts[::-1] if memory.line and not memory.withheld),
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
