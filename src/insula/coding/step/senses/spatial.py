"""Spatial: the file that was changed is imported by many others."""

from insula.coding.step.action import Action
from insula.coding.step.state import Reading, State

NAME = "spatial"
LABEL = "a changed file that many import"

WIDE = 5
"""Importers from which a changed file has a blast radius (seed 002)."""


def feel(state: State, action: Action) -> Reading | None:
    """Whether many files import the one that was changed."""
    if action.importers < WIDE:
        return None
    return Reading(sense=NAME, count=action.importers, key=f"spatial {action.target}", label=action.label)


def fact(reading: Reading) -> str:
    """How many there are."""
    file = f"`{reading.label}`" if reading.label else "the file that you have just changed"
    return f"{reading.count} other files import {file}."


ADVICE = {0: ("Their tests show whether they still agree with it.", "They may rely on what was changed.")}
