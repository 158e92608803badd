"""All sessions together, in bounded memory: what they add up to, and the timelines of those that went worst."""

import heapq
import time as clock
from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

from insula.coding.replay.agent import pick_worst
from insula.coding.replay.find import FoundTranscripts
from insula.coding.replay.look import OTHERS, REASONS, Look
from insula.coding.replay.model import Replayed, Totals
from insula.coding.replay.readers import Seen
from insula.coding.replay.session import Troubles, read_session
from insula.coding.step.corrections import UserCorrection, find_corrections
from insula.coding.step.senses.register import DEFAULT

KEPT = 50
"""Sessions whose timelines are kept."""
ROOM = 50_000
"""Actions on all timelines together; about 40 MB."""
WORST = 10
WORDS = 10
"""Of what users said and was not kept, the latest."""
SCORES = 2_000
"""Sessions of which it is kept what they say about rules, the newest: no more are read of the evidence either."""

Tell = Callable[[int], None]


class Score(NamedTuple):
    """What a session says about the failure patterns, and what its user asked for."""

    at: float
    session: str
    project: str
    patterns: dict[str, bool]
    path: str = ""
    """The file that says so."""
    place: str = ""
    """The folder that it says the session worked in."""
    asked: tuple[UserCorrection, ...] = ()
    """What its user asked for."""


class Gathered(NamedTuple):
    """What a look back found."""

    sessions: list[Replayed]
    """Those that went worst, with their timelines, the worst first."""
    totals: Totals
    scores: list[Score]
    """Of the newest sessions that tell the time, the earliest first."""


def gather_sessions(
    transcripts: FoundTranscripts, tell: Tell = lambda _: None, on: frozenset[str] = DEFAULT
) -> Gathered:
    """Read all that was found.

    Args:
        tell: told the bytes of each line that was read.
    """
    gathering, began = _Gathering(transcripts), clock.monotonic()
    for look in _look_at_all(transcripts, gathering, tell, on):
        gathering.add_look(look)
    gathering.totals.seconds = clock.monotonic() - began
    return gathering.make_result()


def _look_at_all(
    transcripts: FoundTranscripts, gathering: "_Gathering", tell: Tell, on: frozenset[str]
) -> Iterator[Look]:
    seen, troubles = Seen(), gathering.troubles

    def count_bytes(size: int) -> None:
        gathering.totals.bytes += size
        tell(size)

    for sources in transcripts.sessions:
        gathering.totals.files += len(sources)
        yield Look(read_session(sources, seen, troubles, count_bytes), on)


class _Gathering:
    """What is kept from one session to the next."""

    def __init__(self, transcripts: FoundTranscripts) -> None:
        self.totals = Totals(passed_over=dict(transcripts.passed_over))
        self.troubles = Troubles()
        self._kept: list[tuple[tuple[int, int, int], int, Replayed]] = []
        self._scores: list[tuple[float, int, Score]] = []
        self._number = count()
        self._points = 0

    def add_look(self, look: Look) -> None:
        """Takes in a session."""
        told, totals = look.replayed, self.totals
        totals.add_numbers(told)
        for reason, times in told.skipped.items():
            totals.skipped[reason if reason in totals.skipped or len(totals.skipped) < REASONS else OTHERS] += times
        if not told.tool_uses and not told.prompts and not told.points:
            return  # a file of leftovers, such as titles, is no session
        totals.sessions += 1
        totals.hosts[told.host] += 1
        totals.readings.update(told.readings)
        totals.rungs.update(told.rungs)
        totals.worst = pick_worst([*totals.worst, *told.moments], WORST)
        not_kept = [word for word in told.words if not word.is_kept]
        totals.words = sorted([*totals.words, *not_kept], key=lambda word: -word.at)[:WORDS]
        self._extend_span(told)
        self._keep_score(look)
        self._keep_timeline(told)

    def _extend_span(self, told: Replayed) -> None:
        totals = self.totals
        if told.began:
            totals.began = min(told.began, totals.began or told.began)
            totals.ended = max(told.ended, totals.ended)

    def _keep_score(self, look: Look) -> None:
        told = look.replayed
        if told.began:
            asked = tuple(find_corrections(told.id, look.said))
            score = Score(told.ended, told.id, look.project, told.patterns, told.path, look.place, asked)
            heapq.heappush(self._scores, (told.ended, next(self._number), score))
            if len(self._scores) > SCORES:
                heapq.heappop(self._scores)

    def _keep_timeline(self, told: Replayed) -> None:
        """Keep its timeline while it is among the worst and there is room; the least bad ones go."""
        badness = (told.moments[0].tokens if told.moments else 0, told.tokens, told.tool_uses)
        heapq.heappush(self._kept, (badness, next(self._number), told))
        self._points += len(told.points)
        while len(self._kept) > KEPT or (self._points > ROOM and len(self._kept) > 1):
            self._points -= len(heapq.heappop(self._kept)[2].points)

    def make_result(self) -> Gathered:
        """What came of it."""
        sessions = [told for _, _, told in sorted(self._kept, key=lambda kept: kept[0], reverse=True)]
        scores = [score for _, _, score in sorted(self._scores, key=lambda kept: kept[:2])]
        self.totals.incomplete = dict(self.troubles)
        return Gathered(sessions, self.totals, scores)
