"""One agent of a session, looked back at: what it did, what the senses would have felt and said, where it was stuck."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from insula.coding.replay.model import Moment, TimelinePoint
from insula.coding.replay.readers import ReplayedCall, TokenUsage, UserPrompt
from insula.coding.step.action import Action
from insula.coding.step.evidence import ACTIONS
from insula.coding.step.instructions.acts import ActHistory
from insula.coding.step.instructions.instruction import Instruction
from insula.coding.step.proprioception import Sensed, forget_context, sense_action, sense_end, take_instructions
from insula.coding.step.senses import BEFORE_CALLS, CLIMBING
from insula.coding.step.senses.register import DEFAULT
from insula.coding.step.state import Reading, State

CALM = 3
"""Successes in a row after which a stretch is over, where its trouble does not come back."""
REACH = 400
"""Turns back of which it is known with what action they began."""
CHARS_PER_TOKEN = 4
"""The usual estimate for English and code, where a transcript counts no tokens of single calls."""
AT_ONCE = frozenset(BEFORE_CALLS)
"""Senses that climb no ladder and yet feel what went wrong, in one moment."""
MOMENTS = 400
"""Moments of an agent that are kept; when there are more, the worse half of them."""


def pick_worst(moments: Iterable[Moment], count: int) -> list[Moment]:
    """So many of the moments that cost most, the worst first."""
    return sorted(moments, key=lambda moment: (-moment.tokens, moment.at, moment.first))[:count]


def count_tokens(action: Action) -> int:
    """About how many tokens a call and its result are."""
    return action.chars // CHARS_PER_TOKEN


class _Recent(NamedTuple):
    """A turn that a row may begin with."""

    nth: int
    point: TimelinePoint
    """Its first action."""
    spent: int
    """What the agent had spent before it."""


@dataclass(slots=True)
class _Stretch:
    """A moment that is still going on."""

    first: TimelinePoint
    spent: int
    """What the agent had spent before it."""
    last: TimelinePoint
    until: int
    """What it had spent by then."""
    reading: Reading
    row: TimelinePoint
    """What the row began with that the reading counts."""
    estimated: int = 0
    """Tokens of its actions by their characters; requests are counted late, and not by every host."""
    said: str = ""
    rung: int = 0
    calm: int = 0
    """Successes in a row since."""


class Agent:
    """The state of one agent while its events go by.

    Attributes:
        actions: what it did, for the patterns; as many as scoring takes in.
        moments: the stretches that are over.
    """

    def __init__(self, on: frozenset[str] = DEFAULT) -> None:
        self._on = on
        self.actions: list[Action] = []
        self.moments: list[Moment] = []
        self._state = State()
        self._stretch: _Stretch | None = None
        self._before: tuple[_Stretch, Moment] | None = None
        self._recent: deque[_Recent] = deque(maxlen=REACH)
        self._counted = self._estimated = 0
        self._context = self._window_size = 0

    @property
    def token_count(self) -> int:
        """Tokens so far: as the host counts them, else by characters."""
        return self._counted or self._estimated

    def add_usage(self, spent: TokenUsage) -> None:
        """A request to the model."""
        self._counted += spent.fresh
        self._context, self._window_size = spent.context, spent.context_window or self._window_size

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """What the user has said that stands."""
        return self._state.words

    def take_prompt(self, prompt: UserPrompt) -> None:
        """The user speaks."""
        self._state = take_instructions(self._state, prompt.at, prompt.heard)
        self.close_stretch()

    def take_stop(self, said: str, done: ActHistory) -> Sensed:
        """The agent stops.

        Args:
            said: its last words.
        """
        sensed = sense_end(self._state.replace(done=done), said, self._on)
        self._state = sensed.state.replace(done=None)
        if sensed.text and sensed.said is not None and self._recent:
            point = replace(self._recent[-1].point, tool="", target=f"“{sensed.said.said}”")
            self._add_instant(point, sensed.said, sensed.text)
        return sensed

    def take_compaction(self) -> None:
        """The context is compacted."""
        self._state = forget_context(self._state)

    def take_action(self, done: ReplayedCall, step: int, breaks: tuple[str, ...] = ()) -> tuple[TimelinePoint, Sensed]:
        """An action."""
        action, before = done.action.replace(context=self._context, context_window=self._window_size), self.token_count
        action = action.replace(breaks=breaks) if breaks else action
        sensed = sense_action(self._state, action, self._on)
        self._state = sensed.state
        self._estimated += count_tokens(action)
        if action.ran and len(self.actions) < ACTIONS:
            self.actions.append(action)
        point = _make_point(action, sensed, step, done.agent)
        nth = self._state.turn.number
        if not self._recent or self._recent[-1].nth != nth:
            self._recent.append(_Recent(nth, point, before))
        self._follow_stretch(point, sensed)
        return point, sensed

    def _follow_stretch(self, point: TimelinePoint, sensed: Sensed) -> None:
        """Begin a stretch, go on with it, or end it: at the first of so many successes in a row."""
        stuck = next((reading for reading in sensed.readings if reading.sense in CLIMBING), None)
        if self._stretch is None and stuck is not None:
            self._stretch = self._begin_stretch(stuck, point)
        elif stretch := self._stretch:
            if stuck is None and point.ok:
                stretch.calm += 1
                if stretch.calm >= CALM:
                    self.close_stretch()
                return
            stretch.estimated += point.tokens
        if sensed.said is not None and sensed.said.sense in AT_ONCE:
            self._add_instant(point, sensed.said, sensed.text)
        if stretch := self._stretch:
            self._extend_stretch(stretch, point, stuck)
            if sensed.text and sensed.rung > stretch.rung:
                stretch.said, stretch.rung = sensed.text, sensed.rung

    def _add_instant(self, point: TimelinePoint, reading: Reading, text: str) -> None:
        stretch = _Stretch(point, self.token_count, point, self.token_count, reading, point, point.tokens, said=text)
        self._keep_moment(_make_moment(stretch, False))

    def _extend_stretch(self, stretch: _Stretch, point: TimelinePoint, stuck: Reading | None) -> None:
        stretch.calm, stretch.last, stretch.until = 0, point, self.token_count
        if stuck is not None and stuck.count >= stretch.reading.count:
            row = self._find_start(stuck)
            stretch.reading, stretch.row = stuck, row.point
            if row.point.step < stretch.first.step:
                stretch.first, stretch.spent = row.point, row.spent

    def _begin_stretch(self, stuck: Reading, point: TimelinePoint) -> _Stretch:
        """A stretch begins where the trouble does, and not where it has become long enough to be felt.

        Where the trouble is that of the stretch before, what went well between was no progress, and that one goes on.
        """
        row = self._find_start(stuck)
        if self._before is not None and (
            row.point.step <= self._before[0].last.step or self._before[0].reading.key == stuck.key
        ):
            before, moment = self._before
            self.moments = [turn for turn in self.moments if turn is not moment]
            before.estimated += point.tokens
            return before
        estimated = sum(turn.point.tokens for turn in self._recent if turn.point.step >= row.point.step)
        return _Stretch(row.point, row.spent, point, self.token_count, stuck, row.point, estimated)

    def _find_start(self, stuck: Reading) -> _Recent:
        """The turn in which the trouble of a reading began, as far as it is known."""
        return next((turn for turn in self._recent if turn.nth >= stuck.first), self._recent[-1])

    def close_stretch(self, ended: bool = False) -> None:
        """End the stretch that goes on, if any.

        Args:
            ended: whether it ends because the session does.
        """
        if (stretch := self._stretch) is None:
            return
        self._stretch = None
        moment = _make_moment(stretch, ended)
        self._keep_moment(moment)
        self._before = stretch, moment

    def _keep_moment(self, moment: Moment) -> None:
        if len(self.moments) >= MOMENTS:
            self.moments = pick_worst(self.moments, MOMENTS // 2)
        self.moments.append(moment)


def _make_moment(stretch: _Stretch, ended: bool) -> Moment:
    first, last = stretch.first, stretch.last
    return Moment(
        session="",
        first=first.step,
        last=last.step,
        at=first.at,
        seconds=max(0.0, last.at - first.at) if first.at else 0.0,
        tokens=max(stretch.estimated, stretch.until - stretch.spent),
        sense=stretch.reading.sense,
        count=stretch.reading.count,
        said=stretch.said,
        rung=stretch.rung,
        what=f"{stretch.row.tool} {stretch.row.target}".strip(),
        open=ended and stretch.calm == 0,
    )


def _make_point(action: Action, sensed: Sensed, step: int, agent: str) -> TimelinePoint:
    felt = sensed.sense or next((reading.sense for reading in sensed.readings), "")
    return TimelinePoint(
        step=step,
        at=action.at,
        tool=action.tool,
        kind=action.kind,
        target=action.target,
        ok=action.ok,
        tokens=count_tokens(action),
        agent=agent,
        sense=felt,
        rung=sensed.rung,
        said=sensed.text,
    )
