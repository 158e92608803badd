"""What turns went without while a lever was moved, counted and named (S3, S11)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from insula.session.conditions import DEGRADED, Reason

Lever = Literal[
    "max_context_items", "consolidation_threshold", "history_share", "retry", "skipped_stages", "snapshot_interval"
]
OF_SPEED: frozenset[Lever] = frozenset(("history_share", "retry", "skipped_stages"))
"""Levers that only a slow model moves."""
METACOG: Literal["metacog"] = "metacog"

Count = Annotated[int, Field(ge=1)]


class Record(BaseModel):
    """A frozen record that can be written as JSON; what is None is left out of it, never written as null or zero (S2).

    Raises:
        pydantic.ValidationError: a field is missing, unknown or out of range, or a number is not finite.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # No return annotation: with one, the JSON schema of a subclass would say "an object" and nothing of its fields.
    @model_serializer(mode="wrap")
    def _without_unknown(self, handler: SerializerFunctionWrapHandler):
        return {name: value for name, value in handler(self).items() if value is not None}


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
