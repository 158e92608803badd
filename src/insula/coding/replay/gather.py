"""All sessions together, in bounded memory: what they add up to, and the timelines of those that went worst."""

import time as clock
from collections.abc import Callable
from typing import NamedTuple

from insula.coding.replay.agent import pick_worst
from insula.coding.replay.find import FoundTranscripts
from insula.coding.replay.look import Look
from insula.coding.replay.model import Replayed, Totals
from insula.coding.replay.readers import Seen
from insula.coding.replay.session import read_session
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
    totals, seen, began = Totals(passed_over=dict(transcripts.passed_over)), Seen(), clock.time()
    kept, scores = list[Replayed](), list[Score]()

    def count_bytes(size: int) -> None:
        totals.bytes += size
        tell(size)

    for sources in transcripts.sessions:
        totals.files += len(sources)
        look = Look(read_session(sources, seen, totals.incomplete, count_bytes), on)
        told = look.replayed
        count_session(totals, told)
        if not told.is_session:
            continue
        kept = _keep_worst([*kept, told])
        if told.began:
            asked = tuple(find_corrections(told.id, look.said))
            scores.append(Score(told.ended, told.id, look.project, told.patterns, asked))
    totals.seconds = clock.time() - began
    return Gathered(kept, totals, sorted(scores, key=lambda score: score.at)[-SCORES:])


def count_session(totals: Totals, told: Replayed) -> None:
    """Add a session to what all add up to."""
    totals.add_numbers(told)
    totals.skipped.update(told.skipped)
    if not told.is_session:
        return
    totals.sessions += 1
    totals.hosts[told.host] += 1
    totals.readings.update(told.readings)
    totals.rungs.update(told.rungs)
    totals.worst = pick_worst([*totals.worst, *told.moments], WORST)
    not_kept = [word for word in told.words if not word.is_kept]
    totals.words = sorted([*totals.words, *not_kept], key=lambda word: -word.at)[:WORDS]
    if told.began:
        totals.began = min(told.began, totals.began or told.began)
        totals.ended = max(told.ended, totals.ended)


def _keep_worst(sessions: list[Replayed]) -> list[Replayed]:
    """Those that went worst, the worst first, as many as there is room for their timelines."""
    ranked = sorted(sessions, key=_rank_session, reverse=True)[:KEPT]
    while len(ranked) > 1 and sum(len(told.points) for told in ranked) > ROOM:
        ranked.pop()
    return ranked


def _rank_session(told: Replayed) -> tuple[int, int, int]:
    return told.moments[0].tokens if told.moments else 0, told.tokens, told.tool_uses
