"""Which questions were asked again and never answered (K6). That something was talked about often teaches nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from insula.memory.storage.changes import Forget
from insula.memory.storage.rows import StoredSignal, TranscriptLine, Understood
from insula.night import prompts
from insula.night.corrections import READ, is_users, terms_of
from insula.night.grounding import CitedProposal
from insula.screening import screen_text
from insula.text.analysis import analyse_text
from insula.text.grammar import UNSPACED
from insula.text.manner import declines_answer, says_untold
from insula.text.questions import find_asks
from insula.types import PASS_THRESHOLD

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
