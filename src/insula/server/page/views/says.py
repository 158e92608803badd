"""The register of claims for a page, and for whoever else puts it into a table."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from insula.claims import Place
from insula.coding.replay.claims import ClaimEntry

PLACES: Mapping[Place, str] = {
    "request": "Before a model",
    "reply": "In or under a reply",
    "why": "To who asks why",
    "night": "What a night says",
    "call": "Beside a call of a coding agent",
}
NONE = "–"


class ClaimRow(NamedTuple):
    """A claim with its figures in words."""

    id: str
    asserts: str
    yours: str
    measured: str
    right: str
    on: bool
    why: str


class ClaimGroup(NamedTuple):
    """The claims of one place."""

    title: str
    rows: tuple[ClaimRow, ...]

    @property
    def counted(self) -> bool:
        """Whether any of them has figures; what is said to who asks has none."""
        return any({row.yours, row.measured, row.right} != {NONE} for row in self.rows)


def group_claims(entries: Sequence[ClaimEntry]) -> list[ClaimGroup]:
    """The register by where a claim stands."""
    return [
        ClaimGroup(title, tuple(make_row(entry) for entry in entries if entry.claim.place == place))
        for place, title in PLACES.items()
    ]


def make_row(entry: ClaimEntry) -> ClaimRow:
    """A claim with its figures in words."""
    return ClaimRow(
        entry.claim.id,
        entry.claim.asserts,
        format_yours(entry),
        format_measured(entry),
        format_precision(entry),
        entry.on,
        entry.claim.kept,
    )


def format_yours(entry: ClaimEntry) -> str:
    """How often it was made to the user per 1,000, of how many, and how often they called it wrong."""
    if (rate := entry.your_rate) is None or entry.yours is None:
        return NONE
    wrong = f", {entry.yours.wrong} wrong" if entry.yours.wrong else ""
    return f"{round(rate, 1):g} ({entry.yours.made} of {entry.yours.of}{wrong})"


def format_measured(entry: ClaimEntry) -> str:
    """How often it is made in ordinary life per 1,000, and how often wrongly."""
    figures = entry.claim.measured
    if figures is None or figures.per_1000 is None:
        return NONE
    wrong = f", wrong {figures.wrong_per_1000:g}" if figures.wrong_per_1000 is not None else ""
    return f"{figures.per_1000:g}{wrong}"


def format_precision(entry: ClaimEntry) -> str:
    """In which share of judged cases it is right, with the interval."""
    figures = entry.claim.measured
    if (share := entry.precision) is None or figures is None:
        return NONE
    of, low, high = (round(100 * value) for value in share)
    return f"{of} % [{low}, {high}] of {figures.of}"
