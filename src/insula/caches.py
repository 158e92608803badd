"""Caches of what people said: bounded, kept for speed alone, and cleared where something is erased."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol, TypeVar

from insula import redaction, screening


class _Cached(Protocol):
    def cache_clear(self) -> object: ...


C = TypeVar("C", bound=_Cached)
K = TypeVar("K")
V = TypeVar("V")

_clearings: list[Callable[[], object]] = [redaction.clear_cache, screening.clear_cache]
"""Of those that know nothing of this module, since the hook runs them without it, and then of each further cache."""


class LatestEntries(OrderedDict[K, V]):
    """A dictionary of so many entries at most: those that were set last."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


def clear_on_erasure(cached: C) -> C:
    """Decorates a function with a cache (`functools.lru_cache`) that takes or gives somebody's words."""
    _clearings.append(cached.cache_clear)
    return cached


def clear_caches() -> None:
    """Clear the caches of this process that may hold somebody's words."""
    for clear in _clearings:
        clear()
