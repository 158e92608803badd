"""Which lines were there before, in bounded memory."""

GENERATION = 300_000
"""Lines that are remembered at least; twice as many at most, in about 40 MB."""


class Seen:
    """The ids of lines that were read.

    What is long past is forgotten: a session is resumed in its own folder, and so stands near the one it repeats.
    """

    def __init__(self) -> None:
        self._new: set[int] = set()
        self._old: set[int] = set()

    def add(self, name: str) -> bool:
        """Takes note of an id; whether it is a new one. What has none is always new."""
        if not name:
            return True
        key = hash(name)
        if key in self._new or key in self._old:
            return False
        if len(self._new) >= GENERATION:
            self._new, self._old = set(), self._new
        self._new.add(key)
        return True
