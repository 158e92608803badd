"""Vectors of texts: float16 in the store, and in memory of those who are asked, so that the nearest are found."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from insula.errors import InputError

_BYTES = np.dtype(np.float16).itemsize
_MORE = 1_000

Array = npt.NDArray[np.float32]
Vector = Array
"""An embedding of unit length, made by `embedded`."""
Embed = Callable[[str], Sequence[float] | npt.NDArray[Any]]
"""Any function from a text to its embedding, of any length; `embedding` names those that there are."""
Read = Callable[[int, int], Iterable[tuple[int, bytes]]]
"""The packed vectors of a user after a memory's id and of a size in bytes, with their ids, in the order of the ids."""

HELD_BYTES = 512 * 2**20
"""What may be held of all users: 340,000 vectors of 384 dimensions. Beyond that go those who were not asked longest."""
NOTHING = b""
"""The vector of a text of which nothing is remembered."""
UNRELATED = 0.1
"""Cosine of two texts that have nothing to do with each other: the median of questions and turns drawn at random from
our own talks, LoCoMo and REALTALK (0.07 to 0.10)."""
BATCH = 64
"""The nearest come in batches: this many, and where they do not do, a thousand at a time."""


def embedded(embed: Embed, text: str) -> Vector:
    """The embedding of a text, at unit length.

    Raises:
        InputError: what the function returned is no list of finite numbers.
    """
    made = embed(text)
    try:
        array = np.asarray(made, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise InputError(
            f"The embedding returned no vector of numbers but {type(made).__name__} of shape {array.shape}; "
            f"it must return one finite number for each dimension."
        )
    return (array / (np.linalg.norm(array) or 1.0)).astype(np.float32)


def packed(vector: Vector) -> bytes:
    """A vector as float16, two bytes a dimension."""
    return vector.astype(np.float16).tobytes()


def cosine(vector: Vector, stored: bytes) -> float:
    """Cosine of a vector with a packed one, in [-1, 1]; 0 where their dimensions differ."""
    other = np.frombuffer(stored, dtype=np.float16).astype(np.float32)
    return float(np.clip(vector @ other, -1.0, 1.0)) if vector.shape == other.shape else 0.0


def nearness(vector: Vector, stored: bytes) -> float:
    """How near in meaning two vectors are, in [0, 1]: 0 where they are no nearer than what is unrelated."""
    return max(cosine(vector, stored) - UNRELATED, 0.0) / (1 - UNRELATED)


class Neighbourhoods:
    """The vectors of the users who were asked last, compared with a cue's all at once: exact, 10 ms for 10^5 of 384.

    They are read once, and after that only what is new. What is erased is left out by whoever reads the memories, and
    forgotten here with `forget`.
    """

    def __init__(self, held_bytes: int = HELD_BYTES) -> None:
        self._held_bytes = held_bytes
        self._users: dict[int, _Neighbourhood] = {}
        self._too_many: set[int] = set()

    def nearest(self, user_id: int, vector: Vector, read: Read) -> Iterator[list[int]]:
        """The ids of a user's memories, nearest to a vector first, in batches; none where they are too many to be held.

        In batches, since whoever reads the memories leaves some out: who asks the same again and again has many
        questions that are nearest to a question, and hide what answers it.
        """
        if user_id in self._too_many:
            return
        here = self._users.pop(user_id, None)
        if here is None or here.dimensions != vector.size:
            here = _Neighbourhood(vector.size)
        here.extend(read(here.last, here.row_bytes))
        if here.size > self._held_bytes:
            self._too_many.add(user_id)
            return
        self._users[user_id] = here
        while sum(one.size for one in self._users.values()) > self._held_bytes:
            del self._users[next(iter(self._users))]
        yield from here.nearest(vector)

    def add(self, user_id: int, found: Sequence[tuple[int, bytes]]) -> None:
        """Take in vectors that were made later than those of memories after them."""
        here = self._users.get(user_id)
        if here is not None:
            here.add([(number, one) for number, one in found if number <= here.last and len(one) == here.row_bytes])

    def forget(self, user_id: int | None = None) -> None:
        """Let go of a user's vectors, or of all."""
        if user_id is None:
            self._users.clear()
            self._too_many.clear()
        else:
            self._users.pop(user_id, None)
            self._too_many.discard(user_id)


class _Neighbourhood:
    """One user's vectors, as the rows of an array that is half as large again whenever it is full."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.last = 0
        self._count = 0
        self._ids: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._rows: Array = np.empty((0, dimensions), np.float32)

    @property
    def size(self) -> int:
        return self._rows[: self._count].nbytes

    @property
    def row_bytes(self) -> int:
        return self.dimensions * _BYTES

    def extend(self, found: Iterable[tuple[int, bytes]]) -> None:
        new = list(found)
        self.add(new)
        if new:
            self.last = new[-1][0]

    def add(self, new: Sequence[tuple[int, bytes]]) -> None:
        if not new:
            return
        count = self._count + len(new)
        if count > len(self._ids):
            room = max(count, len(self._ids) * 3 // 2) - self._count
            self._ids = _longer(self._ids[: self._count], room)
            self._rows = _longer(self._rows[: self._count], room)
        self._ids[self._count : count] = [number for number, _ in new]
        self._rows[self._count : count] = np.frombuffer(b"".join(one for _, one in new), np.float16).reshape(
            len(new), self.dimensions
        )
        self._count = count

    def nearest(self, vector: Vector) -> Iterator[list[int]]:
        distance = -(self._rows[: self._count] @ vector)
        best = np.argpartition(distance, BATCH)[:BATCH] if self._count > BATCH else np.arange(self._count)
        yield self._ids[best[np.argsort(distance[best], kind="stable")]].tolist()
        distance[best] = np.inf
        rest = np.argsort(distance, kind="stable")[: self._count - len(best)]
        for at in range(0, len(rest), _MORE):
            yield self._ids[rest[at : at + _MORE]].tolist()


def _longer(array: npt.NDArray[Any], by: int) -> npt.NDArray[Any]:
    return np.concatenate([array, np.empty((by, *array.shape[1:]), array.dtype)])
