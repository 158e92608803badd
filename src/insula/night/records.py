"""What a reflection looks back on: summaries, the guidance that stands, corrections word for word, open questions."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from insula.memory.storage.rows import Kept, Noticed, Summarised
from insula.memory.wishes import is_wish, stands, words
from insula.night import prompts
from insula.night.corrections import heard
from insula.night.cycle import Night
from insula.night.grounding import harm
from insula.night.phases.trends import DAYS, FEWEST, TURNS, assessed
from insula.night.phases.trends import told as trend
from insula.night.transcript import READ, quoted, transcript
from insula.night.unsettled import Reading, still_open
from insula.screening import screen
from insula.types import CONFIDENCE_LOW, IMPASSE, TURN, SignalKind

LATEST, CONTEXT = 50, 50
"""Summaries that are reflected on, and earlier ones beside them."""
LOOKED_THROUGH = 200
"""Messages of a session that are searched for corrections without a model, the last ones."""
SUMMARIES = "summaries_up_to"
"""Where it is reported which summaries were reflected on."""
GUIDANCE = 40
"""Guidelines that a reflection is shown, the latest."""
CORRECTED = 20
"""Corrections that it is shown, the latest, and sessions that they are taken from."""
CORRECTION_CHARS = 300
PREFERENCES, FACTS, LINE_CHARS = 30, 40, 200
"""Preferences and facts that it is shown, the latest, and characters of each."""
OPEN_QUESTIONS = 10
"""Open questions that it is shown, the latest."""
_DAY = 86_400.0
TROUBLE: tuple[SignalKind, ...] = (CONFIDENCE_LOW, IMPASSE)
"""Signals of a turn that went badly."""


class Records(NamedTuple):
    """What a night looks back on."""

    new: tuple[Summarised, ...]
    earlier: tuple[Summarised, ...]
    trouble: Mapping[int, int]
    """Session -> responses in it that went badly."""

    @property
    def all(self) -> dict[int, Summarised]:
        """By session."""
        return {one.session_id: one for one in (*self.earlier, *self.new)}


async def records(night: Night) -> Records:
    found = [one for one in await night.store.nights.summaries(night.user_id, LATEST + CONTEXT) if _safe(one)]
    new = [one for one in found if one.memory_id > seen(night)][-LATEST:]
    earlier = [one for one in found if one.memory_id <= seen(night)][-CONTEXT:]
    signals = await night.store.nights.noticed_in(night.user_id, TROUBLE, [one.session_id for one in new])
    trouble = Counter(session for session, _ in {(signal.session_id, signal.turn) for signal in signals})
    return Records(tuple(new), tuple(earlier), trouble)


def seen(night: Night) -> int:
    """The last summary that was reflected on: one that was written since is new, whenever its session was."""
    found = night.last.get(SUMMARIES, 0)
    return found if isinstance(found, int) else 0


def fitting(found: Records, room: int) -> Records:
    """The latest records that fit into so many characters, the new ones before the earlier; at least one."""
    kept: set[int] = set()
    for one in (*reversed(found.new), *reversed(found.earlier)):
        room -= len(prompts.line(record(one, 0)))
        if room < 0 and kept:
            break
        kept.add(one.session_id)
    new, earlier = (tuple(one for one in part if one.session_id in kept) for part in (found.new, found.earlier))
    return found._replace(new=new, earlier=earlier)


def _safe(one: Summarised) -> bool:
    """Whether a summary may be quoted: it was screened when it was written, by the patterns of that day."""
    text = " ".join((one.content, *one.topics))
    return not screen(text, max(1, len(text))).reasons


def record(one: Summarised, weak: int) -> dict[str, object]:
    """A summary as the model reads it."""
    found: dict[str, object] = {"session": one.session_id, "messages": one.messages, "topics": list(one.topics)}
    return found | ({"weak": weak} if weak else {}) | {"summary": one.content}


async def days(night: Night, told: Records, room: int) -> list[dict[str, object]]:
    """The new sessions as the model reads them, the most telling first: whole while there is room, else in short.

    Telling is a session in which the user corrected or asked for something of answers, or that went badly.
    """
    lines = await night.lines_of([one.session_id for one in told.new], READ)
    tells = {one: len(list(heard(said))) + told.trouble.get(one, 0) for one, said in lines.items()}
    found: list[dict[str, object]] = []
    for one in sorted(told.new, key=lambda one: -tells[one.session_id]):
        said = list(quoted(transcript(lines[one.session_id], one.messages)))
        short = record(one, told.trouble.get(one.session_id, 0))
        whole = {key: value for key, value in short.items() if key in ("session", "weak")} | {"turns": said}
        chosen = whole if len(prompts.line(whole)) <= room else short
        room -= len(prompts.line(chosen))
        found.append(chosen)
    return found


async def preferences(night: Night) -> list[str]:
    """What the user wants of all answers, in their own words, the latest."""
    kept = await night.store.guidance.lessons(night.user_id)
    return [words(one) for one in kept if is_wish(one) and stands(one)][-PREFERENCES:]


async def stated(night: Night) -> list[dict[str, object]]:
    """What nothing that is learned may contradict: the user's preferences and the latest facts that they told."""
    wanted: list[dict[str, object]] = [
        {"wants": text.text} for one in await preferences(night) if not (text := screen(one, LINE_CHARS)).reasons
    ]
    latest = await night.store.memories.remembered(night.user, FACTS)
    facts = [one for one, is_kept in latest if is_kept and one.provenance == "user" and one.kind == "semantic"]
    return [*wanted, *({"said": one.line[:LINE_CHARS]} for one in facts[::-1] if one.line and not one.withheld)]


async def guidance(night: Night) -> list[Kept]:
    """The guidelines that stand."""
    return [one for one in await night.store.guidance.lessons(night.user_id) if one.section][-GUIDANCE:]


async def standing(night: Night) -> list[dict[str, object]]:
    """The guidance that stands, as the model reads it: screened again, each with its id and support."""
    known = [one for one in await guidance(night) if not harm(one.advice)]
    return [{"id": one.name, "text": one.advice, "sessions": len(set(one.citations))} for one in known]


async def corrected(night: Night, told: Records) -> list[dict[str, object]]:
    """What the user corrected in the sessions that are new, in their own plain words."""
    found: list[dict[str, object]] = []
    latest = told.new[-CORRECTED:]
    lines = await night.lines_of([one.session_id for one in latest], LOOKED_THROUGH)
    for one in latest:
        for said in heard(lines[one.session_id]):
            text = screen(said.own, CORRECTION_CHARS)
            if said.judged.kind and not said.refused(said.judged.wanted) and not text.reasons:
                found.append({"session": one.session_id, "user": text.text})
    return found[-CORRECTED:]


async def unanswered(night: Night, told: Records) -> list[dict[str, object]]:
    """The questions that were left open, in the user's own words, screened."""
    read, turns = await read_through(night, told)
    said = ((one, screen(one.about, CORRECTION_CHARS)) for one in still_open(read, turns)[-OPEN_QUESTIONS:])
    return [{"question": text.text, "sessions": list(one.sessions)} for one, text in said if not text.reasons]


async def quality(night: Night) -> list[dict[str, object]]:
    """Whether answers have been getting better or worse, where that is news."""
    turns = await night.noticed(TURN, DAYS)
    scores = assessed(turns)[-TURNS:]
    found = [trend(scores)] if len(scores) >= FEWEST else []
    return [{key: value for key, value in one.items() if key != "news"} for one in found if one["news"]]


async def read_through(night: Night, found: Records) -> tuple[list[Reading], list[Noticed]]:
    """The transcripts of all sessions, and the records of their turns."""
    lines = await night.lines_of([one.session_id for one in (*found.earlier, *found.new)], LOOKED_THROUGH)
    read = [Reading(session, said) for session, said in lines.items()]
    turns = await night.store.nights.noticed_in(night.user_id, [TURN], [*lines])
    return read, turns
