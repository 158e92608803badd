"""The register of claims in words: where a claim stands, how often it is made, and how often it is right."""

from collections.abc import Mapping

from insula.claims import Place
from insula.coding.replay.claims import ClaimEntry

UNCOUNTED = "–"
PLACES: Mapping[Place, str] = {
    "request": "Before a model",
    "reply": "In or under a reply",
    "why": "To who asks why",
    "night": "What a night says",
    "call": "Beside a call of a coding agent",
}


def format_yours(entry: ClaimEntry) -> str:
    """How often it was made to the user per 1,000, of how many, and how often they called it wrong."""
    if (rate := entry.your_rate) is None or entry.yours is None:
        return UNCOUNTED
    wrong = f", {entry.yours.wrong} wrong" if entry.yours.wrong else ""
    return f"{round(rate, 1):g} ({entry.yours.made} of {entry.yours.of}{wrong})"


def format_measured(entry: ClaimEntry) -> str:
    """How often it is made in ordinary life per 1,000, and how often wrongly."""
    figures = entry.claim.measured
    if figures is None or figures.per_1000 is None:
        return UNCOUNTED
    wrong = f", wrong {figures.wrong_per_1000:g}" if figures.wrong_per_1000 is not None else ""
    return f"{figures.per_1000:g}{wrong}"


def format_right(entry: ClaimEntry) -> str:
    """In which share of judged cases it is right, with the interval."""
    figures = entry.claim.measured
    if (share := entry.precision) is None or figures is None:
        return UNCOUNTED
    of, low, high = (round(100 * value) for value in share)
    return f"{of} % [{low}, {high}] of {figures.of}"
