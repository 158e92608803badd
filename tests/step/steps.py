"""Short ways to write down what an agent did."""

from collections.abc import Iterable

from insula.coding.step.fingerprint import make_action
from insula.coding.step.proprioception import Sensed, sense_action
from insula.coding.step.senses import EVERY
from insula.coding.step.state import State

Step = tuple[str, str] | tuple[str, str, str]
"""Command, output and, where it is not the shell's, the tool."""


def follow(steps: Iterable[Step], seconds: float = 1.0, state: State | None = None) -> list[Sensed]:
    """What is sensed after each step by all senses, `seconds` apart; an output that begins with `!` is a failure."""
    state, outcomes = state or State(), list[Sensed]()
    for number, (command, output, *tool) in enumerate(steps):
        name = tool[0] if tool else "Bash"
        given = {"command": command} if name == "Bash" else {"file_path": command.split()[0]}
        if name == "Edit":  # each another one, but where the change itself is named
            given["new_string"] = command.partition(" ")[2] or str(number)
        done = make_action(
            tool=name,
            input=given,
            output=output.lstrip("!"),
            at=1_000 + number * seconds,
            ok=not output.startswith("!"),
        )
        outcomes.append(sense_action(state, done, EVERY))
        state = outcomes[-1].state
    return outcomes


def said(outcomes: Iterable[Sensed]) -> list[str]:
    """The texts, in order."""
    return [sensed.text for sensed in outcomes if sensed.text]


def senses(outcomes: Iterable[Sensed]) -> set[str]:
    """The names of the senses that felt something."""
    return {reading.sense for sensed in outcomes for reading in sensed.readings}
