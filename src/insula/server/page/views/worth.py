"""What the hooks of this machine's coding agents were worth, for a page."""

import time
from typing import NamedTuple

from insula.coding.hosts import places
from insula.coding.replay.visible import show_safely
from insula.coding.replay.worth import EffectRow, HookWorth, NotedTrouble, format_effect, format_verdict, measure_worth
from insula.coding.step.wording import SIGN

DAYS = 30.0
LISTED = 12
LONGEST = 160
"""Characters of a text."""


class HookEffect(NamedTuple):
    """A line of the table."""

    row: EffectRow
    difference: str
    interval: str
    verdict: str


class SaidNote(NamedTuple):
    """A text, with what became of it."""

    one: NotedTrouble
    text: str


class HooksWorth(NamedTuple):
    """All of it."""

    worth: HookWorth
    effects: tuple[HookEffect, ...]
    said: tuple[SaidNote, ...]

    @property
    def texts(self) -> int:
        """How many were told."""
        return sum(trouble.texts for trouble in self.worth.told_troubles)


def measure_hooks() -> HooksWorth | None:
    """What was said in the last days, and whether it helped; None where no hook has seen a session."""
    home = places.find_home()
    if not (home / "sessions").is_dir():
        return None
    worth = measure_worth(str(home), DAYS, time.time())
    if not worth.sessions:
        return None
    said = (
        SaidNote(trouble, show_safely(trouble.text.removeprefix(SIGN), LONGEST)) for trouble in worth.troubles[:LISTED]
    )
    return HooksWorth(
        worth, tuple(HookEffect(row, *format_effect(row), format_verdict(row)) for row in worth.effects), tuple(said)
    )
