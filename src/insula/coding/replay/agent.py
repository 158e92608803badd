"""One agent of a session, looked back at: what it did, what the senses would have felt and said, where it was stuck."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from insula.coding.replay.model import Moment, TimelinePoint
from insula.coding.replay.readers import ReplayedCall, TokenUsage, UserPrompt
from insula.coding.step.action import Action
from insula.coding.step.evidence import ACTIONS
from insula.coding.step.instructions.instruction import Instruction
from insula.coding.step.proprioception import Sensed, forget_context, sense_action, sense_end, take_instructions
from insula.coding.step.senses import BEFORE_CALLS, CLIMBING
from insula.coding.step.senses.register import DEFAULT
from insula.coding.step.state import Reading, State

CALM = 3
"""Successes in a row after which a stretch is over, where its trouble does not come back."""
REACH = 400
"""Actions back that a stretch may begin with."""
CHARS_PER_TOKEN = 4
"""The usual estimate for English and code, where a transcript counts no tokens of single calls."""
AT_ONCE = frozenset(BEFORE_CALLS)
"""Senses that climb no ladder and yet feel what went wrong, in one moment."""


def pick_worst(moments: Iterable[Moment], count: int) -> list[Moment]:
    """So many of the moments that cost most, the worst first."""
    return sorted(moments, key=lambda moment: (-moment.tokens, moment.at, moment.first))[:count]


def count_tokens(action: Action) -> int:
    """About how many tokens a call and its result are."""
    return action.chars // CHARS_PER_TOKEN


class _Step(NamedTuple):
    """An action, and what the agent had spent before it and after it."""

    turn: int
    point: TimelinePoint
    before: int
    after: int


@dataclass(slots=True)
class _Stretch:
    """A moment that is still going on, from the first action of its trouble."""

    steps: list[_Step]
    reading: Reading
    row: TimelinePoint
    """What the row began with that the reading counts."""
    said: str = ""
    rung: int = 0
    calm: int = 0
    """Successes in a row since."""

    def make_moment(self, ended: bool = False) -> Moment:
        """The moment that it was; what went well at its end is no part of it."""
        steps = self.steps[: len(self.steps) - self.calm]
        first, last = steps[0].point, steps[-1].point
        return Moment(
            session="",
            first=first.step,
            last=last.step,
            at=first.at,
            seconds=max(0.0, last.at - first.at) if first.at else 0.0,
            # Requests are counted late, and not by every host; so by the characters of the actions, where that is more.
            tokens=max(sum(step.point.tokens for step in steps), steps[-1].after - steps[0].before),
            sense=self.reading.sense,
            count=self.reading.count,
            said=self.said,
            rung=self.rung,
            what=f"{self.row.tool} {self.row.target}".strip(),
            open=ended and self.calm == 0,
        )


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
        self._last: _Stretch | None = None
        self._recent: deque[_Step] = deque(maxlen=REACH)
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

    def take_stop(self, said: str, done: tuple[Action, ...]) -> Sensed:
        """The agent stops.

        Args:
            said: its last words.
        """
        sensed = sense_end(self._state.replace(done=done), said, self._on)
        self._state = sensed.state.replace(done=None)
        if sensed.text and sensed.said is not None and self._recent:
            last = self._recent[-1]
            self._add_instant(last._replace(point=replace(last.point, tool="", target=f"“{sensed.said.said}”")), sensed)
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
        self._recent.append(_Step(self._state.turn.number, point, before, self.token_count))
        if sensed.said is not None and sensed.said.sense in AT_ONCE:
            self._add_instant(self._recent[-1], sensed)
        self._follow_stretch(self._recent[-1], sensed)
        return point, sensed

    def _add_instant(self, step: _Step, sensed: Sensed) -> None:
        if sensed.said is not None:
            now = step._replace(before=step.after)
            self.moments.append(_Stretch([now], sensed.said, step.point, said=sensed.text).make_moment())

    def _follow_stretch(self, step: _Step, sensed: Sensed) -> None:
        """Begin a stretch, go on with it, or end it: at the first of so many successes in a row."""
        stuck = next((reading for reading in sensed.readings if reading.sense in CLIMBING), None)
        if self._stretch is None:
            self._stretch = self._begin_stretch(stuck) if stuck is not None else None
        else:
            self._stretch.steps.append(step)
        if (stretch := self._stretch) is None:
            return
        stretch.calm = stretch.calm + 1 if stuck is None and step.point.ok else 0
        if stuck is not None and stuck.count >= stretch.reading.count:
            stretch.reading, stretch.row = stuck, self._list_row(stuck)[0].point
        if sensed.text and sensed.rung > stretch.rung:
            stretch.said, stretch.rung = sensed.text, sensed.rung
        if stretch.calm >= CALM:
            self.close_stretch()

    def _begin_stretch(self, stuck: Reading) -> _Stretch:
        """A stretch begins where the trouble does, and not where it has become long enough to be felt.

        Where the trouble is that of the stretch before, what went well between was no progress, and that one goes on.
        """
        steps = self._list_row(stuck)
        last, self._last = self._last, None
        if last is None:
            return _Stretch(steps, stuck, steps[0].point)
        told = last.make_moment()
        if steps[0].point.step > told.last and last.reading.key != stuck.key:
            return _Stretch(steps, stuck, steps[0].point)
        self.moments = [moment for moment in self.moments if moment != told]
        known = last.steps[-1].point.step
        last.steps += [step for step in self._recent if step.point.step > known]
        return last

    def _list_row(self, stuck: Reading) -> list[_Step]:
        """The actions since the trouble of a reading began, as far as they are known."""
        return [step for step in self._recent if step.turn >= stuck.first] or [self._recent[-1]]

    def close_stretch(self, ended: bool = False) -> None:
        """End the stretch that goes on, if any.

        Args:
            ended: whether it ends because the session does.
        """
        if self._stretch is not None:
            self.moments.append(self._stretch.make_moment(ended))
            self._last, self._stretch = self._stretch, None


def _make_point(action: Action, sensed: Sensed, step: int, agent: str) -> TimelinePoint:
    felt = sensed.sense or next((reading.sense for reading in sensed.readings), "")
    return TimelinePoint(
        step=step,
        at=action.at,
        tool=action.tool,
        target=action.target,
        ok=action.ok,
        tokens=count_tokens(action),
        agent=agent,
        sense=felt,
        rung=sensed.rung,
        said=sensed.text,
    )
