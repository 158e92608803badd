"""Fewer items than there are, evenly from all of them: they stand sorted by kind."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(items: Sequence[T], limit: int | None) -> list[T]:
    """So many items, evenly from all of them; all for None or 0."""
    if not limit or limit >= len(items):
        return list(items)
    return [items[number * len(items) // limit] for number in range(limit)]
