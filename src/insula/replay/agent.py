"""One agent of a session, looked back at: what it did, what the senses would have felt and said, where it was stuck."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from insula.replay import waste
from insula.replay.events import Done, Spent
from insula.replay.model import Moment, Point
from insula.replay.waste import Ledger
from insula.step.action import WINDOW, Action
from insula.step.evidence import ACTIONS
from insula.step.ladder import CALM
from insula.step.proprioception import Sensed, State, forget, hear, sense
from insula.step.senses import CLIMBING, Reading, Window, errors_in_a_row

_CYCLE = "cycle of "
MOMENTS = 400
"""Moments of an agent that are kept; when there are more, the worse half of them."""


def worst(moments: Iterable[Moment], count: int) -> list[Moment]:
    """So many of the moments that cost most, the worst first."""
    return sorted(moments, key=lambda one: (-one.tokens, one.at, one.first))[:count]


class _Recent(NamedTuple):
    """An action that a row may begin with."""

    action: Action
    point: Point
    spent: int
    """What the agent had spent before it."""


@dataclass(slots=True)
class _Stretch:
    """A moment that is still going on."""

    first: Point
    spent: int
    """What the agent had spent before it."""
    last: Point
    until: int
    """What it had spent by then."""
    reading: Reading
    row: Point
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

    def __init__(self, name: str) -> None:
        self.name = name
        self.actions: list[Action] = []
        self.moments: list[Moment] = []
        self._state = State()
        self._ledger = Ledger()
        self._stretch: _Stretch | None = None
        self._before: tuple[_Stretch, Moment] | None = None
        self._recent: deque[_Recent] = deque(maxlen=WINDOW)
        self._counted = self._estimated = 0
        self._context = self._window_size = 0

    @property
    def spent(self) -> int:
        """Tokens so far: as the host counts them, else by characters."""
        return self._counted or self._estimated

    @property
    def estimated(self) -> int:
        """Tokens of all its actions by their characters, of which those in vain are a part."""
        return self._estimated

    def pay(self, spent: Spent) -> None:
        """A request to the model."""
        self._counted += spent.fresh
        self._context, self._window_size = spent.context, spent.context_window or self._window_size

    def listen(self, at: float) -> None:
        """The user speaks."""
        self._state = hear(self._state, at)
        self.close()

    def forget(self) -> None:
        """The context is compacted."""
        self._state = forget(self._state)
        self._ledger.forget()

    def act(self, done: Done, step: int, timed: bool) -> tuple[Point, Sensed]:
        """An action.

        Args:
            done: it.
            step: its number in the session.
            timed: whether the transcript tells the time.
        """
        action, before = done.action.replace(context=self._context, context_window=self._window_size), self.spent
        sensed = sense(self._state, action)
        self._state = sensed.state
        self._estimated += waste.tokens(action)
        if action.ran and len(self.actions) < ACTIONS:
            self.actions.append(action)
        kind, wasted = self._ledger.judge(self._window(action), done.output)
        point = _point(action, sensed, step, self.name, timed, (kind, wasted))
        if action.ran:
            self._recent.append(_Recent(action, point, before))
        self._follow(point, sensed)
        return point, sensed

    def _window(self, action: Action) -> tuple[Action, ...]:
        return self._state.window if action.ran else (action,)

    def _follow(self, point: Point, sensed: Sensed) -> None:
        """Begin a stretch, go on with it, or end it: at the first of so many successes in a row."""
        stuck = next((reading for reading in sensed.readings if reading.sense in CLIMBING), None)
        if self._stretch is None and stuck is not None:
            self._stretch = self._begun(stuck, point)
        elif stretch := self._stretch:
            if stuck is None and point.ok:
                stretch.calm += 1
                if stretch.calm >= CALM:
                    self.close()
                return
            stretch.estimated += point.tokens
        if stretch := self._stretch:
            self._note(stretch, point, stuck)
            if sensed.text and sensed.rung > stretch.rung:
                stretch.said, stretch.rung = sensed.text, sensed.rung

    def _note(self, stretch: _Stretch, point: Point, stuck: Reading | None) -> None:
        stretch.calm, stretch.last, stretch.until = 0, point, self.spent
        if stuck is not None and stuck.count >= stretch.reading.count:
            row = self._row(stuck)
            stretch.reading, stretch.row = stuck, row[0].point
            if row[0].point.step < stretch.first.step:
                earlier = [one.point.tokens for one in row if one.point.step < stretch.first.step]
                stretch.first, stretch.spent = row[0].point, row[0].spent
                stretch.estimated += sum(earlier)

    def _begun(self, stuck: Reading, point: Point) -> _Stretch:
        """A stretch begins where the row does, and not where it has become long enough to be felt.

        Where the row reaches into the stretch before, what went well between was no progress, and that one goes on.
        """
        row = self._row(stuck)
        if self._before is not None and row[0].point.step <= self._before[0].last.step:
            before, moment = self._before
            self.moments = [one for one in self.moments if one is not moment]
            before.estimated += point.tokens
            return before
        first, estimated = row[0], sum(one.point.tokens for one in row)
        return _Stretch(first.point, first.spent, point, self.spent, stuck, first.point, estimated)

    def _row(self, stuck: Reading) -> list[_Recent]:
        """The actions from the first one that a reading counts."""
        recent, window = list(self._recent), self._state.window
        first = window[-_reach(stuck, window)]
        return next((recent[at:] for at, one in enumerate(recent) if one.action is first), recent[-1:])

    def close(self, ended: bool = False) -> None:
        """End the stretch that goes on, if any.

        Args:
            ended: whether it ends because the session does.
        """
        if (stretch := self._stretch) is None:
            return
        self._stretch = None
        if len(self.moments) >= MOMENTS:
            self.moments = worst(self.moments, MOMENTS // 2)
        moment = _moment(stretch, ended)
        self.moments.append(moment)
        self._before = stretch, moment


def _moment(stretch: _Stretch, ended: bool) -> Moment:
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


def _reach(reading: Reading, window: Window) -> int:
    """How many actions back the row begins that a reading counts."""
    back = reading.count
    if reading.form == "again":  # with steps between that went well
        back = _back_to(errors_in_a_row(window)[-1], window)
    elif reading.form.startswith(_CYCLE):
        back = reading.count * int(reading.form.removeprefix(_CYCLE))
    elif reading.form == "reread":  # with other steps between
        same = [action for action in window if (action.call, action.result) == (window[-1].call, window[-1].result)]
        back = _back_to(same[-reading.count], window)
    return min(back, len(window))


def _back_to(action: Action, window: Window) -> int:
    return next(back for back, one in enumerate(reversed(window), 1) if one is action)


def _point(action: Action, sensed: Sensed, step: int, agent: str, timed: bool, wasted: waste.Waste) -> Point:
    felt = sensed.sense or next((reading.sense for reading in sensed.readings), "")
    return Point(
        step=step,
        at=action.at if timed else 0.0,
        tool=action.tool,
        kind=action.kind,
        target=action.target,
        ok=action.ok,
        tokens=waste.tokens(action),
        agent=agent,
        error=action.error,
        sense=felt,
        rung=sensed.rung,
        said=sensed.text,
        waste=wasted[0],
        wasted=wasted[1],
    )
