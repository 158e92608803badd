"""A stretch of a session by its turns: what was said in each, and what was noticed; without a library of servers."""

from collections import defaultdict
from collections.abc import Sequence

from insula.memory.storage.rows import LedgerEntry, SessionStretch, TranscriptLine

MOST_CHARS = 2_000_000
"""Characters of a transcript that are told at once: ten of the longest messages; other turns come on the next page."""


def list_exchanges(talk: SessionStretch) -> list[tuple[int, list[TranscriptLine], list[LedgerEntry]]]:
    """The last turns of a stretch, oldest first, each with what was said in it and what was noticed."""
    said, noticed = defaultdict[int, list[TranscriptLine]](list), defaultdict[int, list[LedgerEntry]](list)
    for line in _latest_lines(talk.lines):
        said[line.turn].append(line)
    for entry in talk.noticed:
        noticed[entry.turn].append(entry)
    return [(turn, said[turn], noticed[turn]) for turn in sorted(said)]


def _latest_lines(lines: Sequence[TranscriptLine]) -> Sequence[TranscriptLine]:
    """Of lines, oldest first, those of the last turns that there is room for; of the very last one all."""
    room = MOST_CHARS
    for line in reversed(lines):
        room -= len(line.content)
        if room < 0 and line.turn < lines[-1].turn:
            return [talk_line for talk_line in lines if talk_line.turn > line.turn]
    return lines
