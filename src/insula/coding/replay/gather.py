"""All sessions together, in bounded memory: what they add up to, and the timelines of those that went worst."""

import heapq
import time as clock
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import PurePath
from typing import NamedTuple

from insula import guidance
from insula.coding.replay.agent import pick_worst
from insula.coding.replay.find import FoundTranscripts
from insula.coding.replay.look import OTHERS, REASONS, Look
from insula.coding.replay.model import PatternCount, ProposedRule, Replayed, Totals
from insula.coding.replay.readers import Seen
from insula.coding.replay.session import Troubles, read_session
from insula.coding.step.corrections import UserCorrection, group_corrections
from insula.coding.step.corrections import find_corrections as asked_in_session
from insula.coding.step.patterns import PATTERNS
from insula.coding.step.senses.register import DEFAULT
from insula.guidance import ACTIVE, NONE, PROPOSED, Evidence

KEPT = 50
"""Sessions whose timelines are kept."""
ROOM = 50_000
"""Actions on all timelines together; about 40 MB."""
WORST = 10
REMARKS = 10
RULES = 200
"""Rules in the user's words that are kept."""
"""Of what users did, so many are kept, the latest."""
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
        self._could, self._happened = Counter[str](), Counter[str]()
        self._places: dict[str, set[str]] = {}

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
        totals.announced += sum(bool(remark.said) for remark in told.remarks)
        not_kept = [word for word in told.words if not word.is_kept]
        totals.words = sorted([*totals.words, *not_kept], key=lambda word: -word.at)[:REMARKS]
        totals.remarks = sorted([*totals.remarks, *told.remarks], key=lambda remark: -remark.at)[:REMARKS]
        self._extend_span(told)
        self._count_patterns(look)
        self._keep_timeline(told)

    def _extend_span(self, told: Replayed) -> None:
        totals = self.totals
        if told.began:
            totals.began = min(told.began, totals.began or told.began)
            totals.ended = max(told.ended, totals.ended)

    def _count_patterns(self, look: Look) -> None:
        told = look.replayed
        happened = [pattern for pattern, yes in told.patterns.items() if yes]
        self._could.update(list(told.patterns))
        self._happened.update(happened)
        for pattern in happened if look.project else ():
            self._places.setdefault(pattern, set()).add(look.project)
        if told.began:
            asked = tuple(asked_in_session(told.id, look.said))
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
        self.totals.failures = self._list_failures(scores)
        self.totals.proposed = _list_proposed(scores)
        return Gathered(sessions, self.totals, scores)

    def _list_failures(self, scores: list[Score]) -> list[PatternCount]:
        failures = [
            PatternCount(
                pattern=pattern.id,
                advice=pattern.advice,
                sessions=self._could[pattern.id],
                happened=self._happened[pattern.id],
                projects=len(self._places.get(pattern.id, ())),
                state=_judge_pattern(scores, pattern.id),
            )
            for pattern in PATTERNS
            if self._could[pattern.id]
        ]
        return sorted(failures, key=lambda failure: -failure.happened)


def _list_proposed(scores: list[Score]) -> list[ProposedRule]:
    """What the users of these sessions said in two of a project; what has no folder founds no rule."""
    asked: dict[str, list[UserCorrection]] = {}
    places: dict[str, str] = {}
    for score in scores:
        asked.setdefault(score.project, []).extend(score.asked)
        places.setdefault(score.project, PurePath(score.place.replace("\\", "/")).name[:80])
    rules = [
        ProposedRule(
            words=wish.words,
            about=wish.about,
            at=wish.times[0].at,
            times=len(wish.times),
            project=places[project],
        )
        for project, said in asked.items()
        for wish in group_corrections(said if project else ())
        if wish.is_repeated
    ]
    return sorted(rules, key=lambda rule: (-rule.times, -rule.at))[:RULES]


def _judge_pattern(scores: list[Score], pattern: str) -> str:
    """Whether these sessions alone would have the rule told by now, in a project or in all.

    What has no folder counts nowhere: there is no project in which it could be told.
    """
    evidence = [
        Evidence(session=score.session, at=score.at, arm=NONE, happened=score.patterns[pattern], project=score.project)
        for score in scores
        if pattern in score.patterns and score.project
    ]
    now = clock.time()
    groups = dict[str, list[Evidence]]()
    for score in evidence:
        groups.setdefault(score.project, []).append(score)
    lives = [guidance.assess_guidance(group, now) for group in groups.values()]
    active = any(life.state == ACTIVE for life in (*lives, guidance.assess_guidance(evidence, now, widely=True)))
    return ACTIVE if active else PROPOSED
