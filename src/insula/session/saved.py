"""What turns went without while a lever was moved, counted and named (S3, S11)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from insula.session.conditions import DEGRADED, Reason
from insula.session.record import Record

Lever = Literal[
    "max_context_items", "consolidation_threshold", "history_share", "retry", "skipped_stages", "snapshot_interval"
]
OF_SPEED: frozenset[Lever] = frozenset(("history_share", "retry", "skipped_stages"))
"""Levers that only a slow model moves."""
METACOG: Literal["metacog"] = "metacog"

Count = Annotated[int, Field(ge=1)]


class Saved(Record):
    """What turns really went without, counted; absent where it is nothing."""

    memories: Count | None = None
    """That would have stood before the model."""
    candidates: Count | None = None
    """Memories that recall would have scored."""
    promotions: Count | None = None
    """Things said that would be in long-term memory by now: from this turn on they wait in working memory."""
    history_chars: Count | None = None
    """Of the conversation that would have been sent along."""
    vectors: Count | None = None
    """Of responses: made after their turns, and nobody waits for them."""
    calls: Count | None = None
    """Of a model: a second answer, a second judge."""
    output_tokens: Count | None = None
    """That those calls would have asked for."""

    def __add__(self, other: "Saved") -> "Saved":
        mine, theirs = dict(self), dict(other)
        return Saved(**{name: (mine[name] or 0) + (theirs[name] or 0) or None for name in mine})

    def __bool__(self) -> bool:
        return any(dict(self).values())

    @property
    def words(self) -> str:
        """What it was, in a line for a person."""
        return ", ".join(_FORMS[name].format(many=many) for name, many in dict(self).items() if many)


_FORMS = {
    "memories": "{many:,} fewer memories shown",
    "candidates": "{many:,} fewer memories scored",
    "promotions": "{many:,} not yet in long-term memory",
    "history_chars": "{many:,} fewer characters of the conversation sent",
    "vectors": "{many:,} responses read after their turn",
    "calls": "{many:,} fewer calls of a model",
    "output_tokens": "{many:,} fewer tokens asked for",
}


class Advisory(Record):
    """That a turn went without something, and for what reason: for whoever runs the agent, never for its model (S3)."""

    source_system: Literal["metacog"] = METACOG
    reason: Reason
    lever: Lever
    saved: Saved


def make_advisories(saved: Mapping[Lever, Saved], reasons: Sequence[Reason]) -> tuple[Advisory, ...]:
    """What there is to say of what was saved; nothing where nothing was, or where no condition holds.

    Args:
        saved: by lever.
        reasons: the conditions that hold; where both do, what they lower together is said of the first.
    """
    if not reasons:
        return ()
    return tuple(
        Advisory(reason=DEGRADED if lever in OF_SPEED else reasons[0], lever=lever, saved=counts)
        for lever, counts in saved.items()
        if counts
    )
