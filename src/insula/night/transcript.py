"""A session as it may stand in a prompt: bounded, one quoted line per message, and nothing in it that acts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from insula.memory.storage.rows import TranscriptLine
from insula.night.cycle import Night
from insula.screening import Reason, screen_text
from insula.types import Provenance

READ = 1_000
"""Messages of a session that are read, the last ones."""
CHARS = 12_000
"""Characters of a session that are looked at: its beginning and its end (the original's bound)."""
LINE_CHARS = 700
"""Characters of one message (the original's bound)."""
LINE_COST = 20
"""What quoting a line costs beside its text."""
CLEANED: frozenset[Reason] = frozenset({"secret", "hidden"})
"""Reasons that screening removes from a line; with any other the line is withheld."""


class QuotedLine(NamedTuple):
    """One message."""

    by: Provenance
    text: str
    """One safe line."""
    raw: str
    """As it was said, cut; for the eyes of functions alone."""
    withheld: str = ""
    """Why it may not be quoted."""


class SessionTranscript(NamedTuple):
    """What is looked at of a session."""

    beginning: tuple[QuotedLine, ...]
    end: tuple[QuotedLine, ...]
    before: int = 0
    """Messages before these that were not read."""
    between: int = 0
    """Messages left out between the beginning and the end."""

    @property
    def lines(self) -> tuple[QuotedLine, ...]:
        """What may be quoted, oldest first."""
        return tuple(line for line in self.beginning + self.end if not line.withheld)

    @property
    def withheld(self) -> Mapping[str, int]:
        """How many messages may not be quoted, by reason."""
        return Counter(line.withheld for line in self.beginning + self.end if line.withheld)


async def read_transcript(night: Night, session_id: int, messages: int) -> SessionTranscript:
    """The transcript of a session of so many messages."""
    return cut_transcript((await night.lines_of([session_id], READ))[session_id], messages)


def cut_transcript(lines: Sequence[TranscriptLine], messages: int) -> SessionTranscript:
    """The beginning and the end of `lines`, without what was derived (law 2)."""
    said = [line for line in lines if line.provenance != "derived"]
    first, last = _choose_ends(said)
    return SessionTranscript(
        tuple(map(quote_line, said[:first])),
        tuple(map(quote_line, said[last:])),
        before=max(0, messages - len(lines)),
        between=last - first,
    )


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


def quote_line(line: TranscriptLine) -> QuotedLine:
    """A line, screened. What stands far behind its end is never shown, and not looked at."""
    raw = line.content[: 2 * LINE_CHARS]
    safe = screen_text(raw, LINE_CHARS)
    why = next((reason for reason in safe.reasons if reason not in CLEANED), "")
    return QuotedLine(line.provenance, safe.text, raw[:LINE_CHARS], why)


def quote_messages(session: SessionTranscript) -> Iterator[dict[str, object]]:
    """The messages as objects for JSON, in which no message can pass for another."""
    if session.before:
        yield {"earlier messages left out": session.before}
    yield from map(_message_record, session.beginning)
    if session.between:
        yield {"messages left out here": session.between}
    yield from map(_message_record, session.end)


def _message_record(line: QuotedLine) -> dict[str, object]:
    return {"withheld": line.withheld} if line.withheld else {line.by: line.text}
