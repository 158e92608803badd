"""A session as one stream of events: its files and subagents side by side, in the order in which things happened."""

import heapq
import time as clock
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from insula.coding.replay import lines
from insula.coding.replay.find import FORMATS, GEMINI, TranscriptFile
from insula.coding.replay.lines import open_transcript
from insula.coding.replay.readers import (
    OtherEvent,
    ReplayedCall,
    Row,
    Seen,
    Skipped,
    TranscriptCall,
    TranscriptEvent,
    WorkingFolder,
    make_done,
)
from insula.coding.replay.readers.gemini import CHATS

HELD = 64
"""Events that wait for an earlier one: the results of calls at once are written out of order."""
MOST_OPEN = 64
"""Files of a session that are read side by side; the others follow."""
JUST_NOW = 60.0
"""A file that was written so many seconds ago may be in the middle of a line."""
STILL_WRITTEN = "last line that is still being written"

Count = Callable[[int], None]
Troubles = dict[str, str]
"""Path -> what of it could not be read."""
OrderedEvent = ReplayedCall | OtherEvent


class Stream(NamedTuple):
    """One session: who it is, and what happened in it, earliest first."""

    id: str
    host: str
    path: str
    events: Iterator[tuple[float, OrderedEvent]]


def read_session(sources: Sequence[TranscriptFile], seen: Seen, troubles: Troubles, count: Count) -> Stream:
    """The session in files that belong together."""
    first = sources[0]
    parts = [_order_events(_read_events(source, seen, troubles, count)) for source in sources]
    return Stream(first.session, first.host, str(first.path), _merge_parts(parts))


def _read_events(source: TranscriptFile, seen: Seen, troubles: Troubles, count: Count) -> Iterator[TranscriptEvent]:
    rows = _read_rows(source, troubles, count)
    if source.host == GEMINI:
        yield from _find_place(source)
    yield from FORMATS[source.host].reader(seen, source.agent, source.session).read_events(rows)


def _find_place(source: TranscriptFile) -> Iterator[TranscriptEvent]:
    """Gemini CLI notes the folder of a project in a file beside the transcripts."""
    parents = source.path.absolute().parents
    chats = next((folder for folder in parents if folder.name == CHATS), parents[0])
    try:
        with open_transcript(chats.parent / ".project_root") as stream:
            root = stream.read(4_096).decode("utf-8").strip()
    except (OSError, ValueError):
        root = ""
    if root:
        yield WorkingFolder(root)


def _read_rows(source: TranscriptFile, troubles: Troubles, count: Count) -> Iterator[Row | Skipped]:
    """The lines of a file; what could not be read of it is noted."""
    path = str(source.path)
    try:
        with open_transcript(source.path) as stream:
            for row in (lines.read_document if source.document else lines.read_rows)(stream, count):
                if isinstance(row, Skipped) and row.reason == lines.CUT and _is_being_written(source):
                    row = Skipped(STILL_WRITTEN)  # noqa: PLW2901 the same line by its better name
                elif isinstance(row, Skipped):
                    troubles.setdefault(path, f"it has a {row.reason}")
                yield row
    except OSError as error:
        troubles[path] = f"it cannot be read to its end ({error.strerror or error})"
        yield Skipped("rest of a file that cannot be read", broken=True)


def _is_being_written(source: TranscriptFile) -> bool:
    try:
        return clock.time() - source.path.stat().st_mtime < JUST_NOW
    except OSError:
        return False


# Order.


def _order_events(events: Iterable[TranscriptEvent]) -> Iterator[tuple[float, OrderedEvent]]:
    """The events with their times, each at most `HELD` places early; what has no time stands where it stood.

    Texts go here: what waits is small.
    """
    heap, latest = list[tuple[float, int, OrderedEvent]](), 0.0
    for number, event in enumerate(events):
        at = 0.0 if isinstance(event, WorkingFolder | Skipped) else event.at
        latest = at or latest
        heapq.heappush(heap, (at or latest, number, make_done(event) if isinstance(event, TranscriptCall) else event))
        if len(heap) > HELD:
            early = heapq.heappop(heap)
            yield early[0], early[2]
    while heap:
        at, _, told = heapq.heappop(heap)
        yield at, told


def _merge_parts(parts: Sequence[Iterator[tuple[float, OrderedEvent]]]) -> Iterator[tuple[float, OrderedEvent]]:
    slots = [chain.from_iterable(parts[number::MOST_OPEN]) for number in range(min(MOST_OPEN, len(parts)))]
    return heapq.merge(*slots, key=lambda told: told[0])
