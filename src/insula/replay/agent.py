"""One agent of a session, looked back at: what it did, what the senses would have felt and said, where it was stuck."""

from collections.abc import Iterable
from dataclasses import dataclass

from insula.replay import waste
from insula.replay.events import Done, Spent
from insula.replay.model import Moment, Point
from insula.replay.waste import Ledger
from insula.step.action import Action
from insula.step.evidence import ACTIONS
from insula.step.ladder import CALM
from insula.step.proprioception import Sensed, State, forget, hear, sense
from insula.step.senses import CLIMBING, Reading

MOMENTS = 400
"""Moments of an agent that are kept; when there are more, the worse half of them."""


def worst(moments: Iterable[Moment], count: int) -> list[Moment]:
    """So many of the moments that cost most, the worst first."""
    return sorted(moments, key=lambda one: (-one.tokens, one.at, one.first))[:count]


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
        self._counted = self._estimated = 0
        self._context = self._room = 0

    @property
    def spent(self) -> int:
        """Tokens so far: as the host counts them, else by characters."""
        return self._counted or self._estimated

    def pay(self, spent: Spent) -> None:
        """A request to the model."""
        self._counted += spent.fresh
        self._context, self._room = spent.context, spent.room or self._room

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
        action, before = done.action.but(context=self._context, room=self._room), self.spent
        sensed = sense(self._state, action)
        self._state = sensed.state
        self._estimated += waste.tokens(action)
        if action.ran and len(self.actions) < ACTIONS:
            self.actions.append(action)
        kind, wasted = self._ledger.judge(self._window(action), done.output)
        point = _point(action, sensed, step, self.name, timed, (kind, wasted))
        self._follow(point, sensed, before)
        return point, sensed

    def _window(self, action: Action) -> tuple[Action, ...]:
        return self._state.window if action.ran else (action,)

    def _follow(self, point: Point, sensed: Sensed, before: int) -> None:
        """Begin a stretch, go on with it, or end it: at the first of so many successes in a row."""
        stuck = next((reading for reading in sensed.readings if reading.sense in CLIMBING), None)
        if self._stretch is None:
            if stuck is None:
                return
            self._stretch = _Stretch(point, before, point, self.spent, stuck)
        stretch = self._stretch
        if stuck is None and point.ok:
            stretch.calm += 1
            if stretch.calm >= CALM:
                self.close()
            return
        stretch.calm, stretch.last, stretch.until = 0, point, self.spent
        stretch.estimated += point.tokens
        if stuck is not None and stuck.count >= stretch.reading.count:
            stretch.reading = stuck
        if sensed.text and sensed.rung > stretch.rung:
            stretch.said, stretch.rung = sensed.text, sensed.rung

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
        first, last = stretch.first, stretch.last
        self.moments.append(
            Moment(
                session="",
                first=first.step,
                last=last.step,
                at=first.at,
                seconds=max(0.0, last.at - first.at),
                tokens=max(stretch.estimated, stretch.until - stretch.spent),
                sense=stretch.reading.sense,
                count=stretch.reading.count,
                said=stretch.said,
                rung=stretch.rung,
                what=f"{first.tool} {first.target}".strip(),
                open=ended and stretch.calm == 0,
            )
        )


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
