"""A word to the model on how the session stands, within the room that memories have (S3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from insula.session.conditions import DEGRADED, STM_HIGH, Reason
from insula.types import Provenance

T = TypeVar("T")

TEXTS: Mapping[Reason, str] = {
    DEGRADED: "Responses have been slow lately. Where the question allows it, a short answer serves the user best.",
    STM_HIGH: "Much has come up in this session; not every memory may be shown. It is fine to ask for one.",
}
"""Awareness, not a command (P2); no figures, which would change the prompt from turn to turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisory:
    """An item of context that Insula itself adds."""

    reason: Reason
    text: str
    source_system: Literal["metacog"] = "metacog"
    provenance: Provenance = "derived"
    """Never stored, recalled or counted as evidence (law 2)."""


def advisories(reasons: Sequence[Reason]) -> tuple[Advisory, ...]:
    """One advisory for each condition that holds; none when all is well (law 3)."""
    return tuple(Advisory(reason=reason, text=TEXTS[reason]) for reason in reasons)


def fitted(items: Sequence[T], advised: Sequence[Advisory], limit: int) -> tuple[tuple[T, ...], tuple[Advisory, ...]]:
    """What goes into the context: together never more than `limit`.

    Args:
        items: memories, best first; the last of them make room.
        advised: they take no more than half of the room, and never that of the best memory.
        limit: `max_context_items` of this turn.
    """
    told = tuple(advised)[: max(0, limit // 2)]
    return tuple(items)[: max(0, limit - len(told))], told
