"""What there is to learn from sessions without a model (K6): what comes back, what was corrected, what stayed open."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from insula.memory.assertion import statements
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.rows import Line, Noticed, Summarised
from insula.screening import screen
from insula.sleep import prompts
from insula.sleep.grounding import Item
from insula.sleep.mistakes import heard
from insula.text import triggers
from insula.text.analysis import analyse
from insula.text.corrections import MAX_CHARS, alike
from insula.text.manner import declines
from insula.text.questions import asks
from insula.types import PASS_THRESHOLD

RECURS = 2
"""Sessions from which a topic recurs."""
PATTERN = 3
"""Sessions from which it is a pattern, worth a line of SOUL.md."""
MOST_TOPICS = 5
REPEATED = 2
"""Corrections of the same kind from which they are worth knowing."""
ALIKE = 0.5
"""From this likeness on two corrections ask for the same."""
SAME_TOPIC = 0.25
"""Share of all their terms that two turns on one topic have in common (Jaccard; as for an impasse)."""
ANEW = 0.6
"""The same from which the second turn asks the first one's question anew."""
MOST_TURNS = 2_000
"""Turns that are looked through for open questions, the latest."""
QUOTE_CHARS = 200
"""Characters of a user's words in an item."""


class Reading(NamedTuple):
    """A session as it is looked through."""

    session_id: int
    lines: Sequence[Line]


class _Turn(NamedTuple):
    """What the ledger says of one."""

    session_id: int
    number: int
    topic: frozenset[str]
    low: bool
    passed: bool

    @property
    def key(self) -> tuple[int, int]:
        return self.session_id, self.number


class _Asked(NamedTuple):
    """A question, and whether the response declined it."""

    text: str
    declined: bool


def learned(
    new: Sequence[Summarised], earlier: Sequence[Summarised], read: Sequence[Reading], turns: Sequence[Noticed]
) -> list[Item]:
    """Everything that the sessions teach, the most supported first.

    Args:
        new: summaries since the last night.
        earlier: summaries before them.
        read: the sessions themselves, as far as they are looked through.
        turns: the signals of their turns, oldest first.
    """
    recent = frozenset(one.session_id for one in new)
    found = [*recurring(new, earlier), *corrected(read, recent), *still_open(read, turns)]
    return sorted(found, key=lambda item: -len(item.sessions))


def recurring(new: Sequence[Summarised], earlier: Sequence[Summarised]) -> list[Item]:
    """The topics of several sessions, one of them new: something to know, and no guidance."""
    sessions: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    written: dict[tuple[str, ...], str] = {}
    for one in (*earlier, *new):
        for topic in one.topics:
            if key := analyse(topic).terms:
                sessions[key].add(one.session_id)
                written[key] = topic
    recent = {one.session_id for one in new}
    often = [key for key, held in sessions.items() if len(held) >= _enough(written[key]) and held & recent]
    often.sort(key=lambda key: (-len(sessions[key]), key))
    return [item for key in often[:MOST_TOPICS] for item in _recurring(written[key], sessions[key])]


def _enough(topic: str) -> int:
    """Sessions from which a topic recurs: a short common word ("keep", "short") needs more than a name or a phrase."""
    return RECURS if triggers.tells(topic.split()) else PATTERN


def _recurring(topic: str, sessions: set[int]) -> Iterator[Item]:
    yield Item(prompts.RECURRING.format(topic=topic), tuple(sorted(sessions)), about=topic)


def corrected(read: Sequence[Reading], recent: frozenset[int]) -> list[Item]:
    """What the user asked for more than once, also lately, because the assistant did otherwise.

    It is something to know, and proposed as a principle in the user's own words.
    """
    groups: list[list[tuple[int, str]]] = []
    for session in read:
        for one in heard(session.lines):
            if not one.judged.wanted or one.refused(one.judged.wanted) or one.wishes:
                continue
            wanted = screen(one.judged.wanted, QUOTE_CHARS).text
            same = next((group for group in groups if alike(group[0][1], wanted) >= ALIKE), None)
            (same if same is not None else _started(groups)).append((session.session_id, wanted))
    return [item for group in groups if len(group) >= REPEATED and _lately(group, recent) for item in _corrected(group)]


def _lately(group: Sequence[tuple[int, str]], recent: frozenset[int]) -> bool:
    return any(session in recent for session, _ in group)


def _started(groups: list[list[tuple[int, str]]]) -> list[tuple[int, str]]:
    groups.append([])
    return groups[-1]


def _corrected(group: Sequence[tuple[int, str]]) -> Iterator[Item]:
    sessions = tuple(sorted({session for session, _ in group}))
    wanted = max((words for _, words in group), key=len)  # the fullest of several wordings
    yield Item(prompts.CORRECTED.format(wanted=wanted), sessions, about=wanted)
    if not _is_of_others(wanted):  # where they live is remembered; what to do is kept to
        yield Item(prompts.KEEP_TO.format(wanted=wanted), sessions, section="interaction", about=wanted)


def _is_of_others(wanted: str) -> bool:
    """Whether it tells of the user's people or of somebody by name, which is no way to answer."""
    told = statements(analyse(wanted), USER, ASSISTANT)
    return any(one.subjects - {"", USER, ASSISTANT} for one in told)


def still_open(read: Sequence[Reading], signals: Sequence[Noticed]) -> list[Item]:
    """Questions on which memory held nothing, that got no good answer or were asked anew, and never resolved later."""
    turns = [_turn(signal) for signal in signals[-MOST_TURNS:]]
    asked = _asked(read, {turn.key for turn in turns if turn.low and turn.topic})
    groups: list[tuple[_Turn, set[int]]] = []
    for place, turn in enumerate(turns):
        if turn.key in asked and _is_open(turn, asked[turn.key].declined, turns[place + 1 :]):
            same = next((sessions for first, sessions in groups if _likeness(first, turn) >= SAME_TOPIC), None)
            if same is None:
                groups.append((turn, {turn.session_id}))
            else:
                same.add(turn.session_id)
    return [_open(asked[first.key].text, sessions) for first, sessions in groups]


def _open(question: str, sessions: set[int]) -> Item:
    return Item(prompts.OPEN.format(question=question), tuple(sorted(sessions)), about=question)


def _turn(signal: Noticed) -> _Turn:
    data: Mapping[str, dict[str, object]] = signal.data
    score = data.get("assessment", {}).get("score", 1.0)
    return _Turn(
        session_id=signal.session_id,
        number=signal.turn,
        topic=frozenset(map(str, data.get("topic", ()))),
        low=data.get("confidence", {}).get("level") == "low",
        passed=isinstance(score, int | float) and score >= PASS_THRESHOLD,
    )


def _is_open(turn: _Turn, declined: bool, later: Sequence[_Turn]) -> bool:
    likeness = [(other, _likeness(turn, other)) for other in later]
    if any(not other.low and other.passed for other, alike in likeness if alike >= SAME_TOPIC):
        return False
    return declined or not turn.passed or any(other.low for other, alike in likeness if alike >= ANEW)


def _likeness(one: _Turn, other: _Turn) -> float:
    shared = len(one.topic & other.topic)
    return shared / len(one.topic | other.topic) if shared else 0.0


def _asked(read: Sequence[Reading], wanted: set[tuple[int, int]]) -> dict[tuple[int, int], _Asked]:
    """What the user asked in some turns (session and number), if anything, and whether it was declined."""
    found: dict[tuple[int, int], _Asked] = {}
    for session in read:
        for line in session.lines:
            key = session.session_id, line.turn
            if key in found and line.provenance == "assistant":
                found[key] = _Asked(found[key].text, _declines(line.content[:MAX_CHARS]))
            elif key in wanted and line.provenance == "user" and (text := _question(line.content[:MAX_CHARS])):
                found[key] = _Asked(text, False)
    return found


def _question(message: str) -> str:
    asked = asks(analyse(message))
    return screen(asked[0].text, QUOTE_CHARS).text if asked else ""


def _declines(response: str) -> bool:
    return declines(response, analyse(response).language)
