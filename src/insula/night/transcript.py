"""A session as it may stand in a prompt: bounded, one quoted line per message, and nothing in it that acts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from insula.memory.storage.rows import TranscriptLine
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
