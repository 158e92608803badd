"""Vectors of texts: float16 in the store, and in memory of those who are asked, so that the nearest are found.

What a memory states gets its vectors with the memory's own, so that the memory alone tells what is to come.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from insula.errors import InputError, InsulaError
from insula.memory.storage.prepared import Prepared, is_among
from insula.memory.storage.rows import Embedded, Unembedded
from insula.memory.storage.schema import UNEMBEDDED, memories, statements

_BYTES = np.dtype(np.float16).itemsize
_MORE = 1_000
_WORD = 64
_CACHED = 32_768
"""Vectors that are compared at once: what is worked out of them stays in the processor's cache."""

Array = npt.NDArray[np.float32]
Signs = npt.NDArray[np.uint64]
Vector = Array
"""An embedding of unit length, made by `embed_normalised`."""
Embed = Callable[[str], Sequence[float] | npt.NDArray[Any]]
"""Any function from a text to its embedding, of any length; `embedding` names those that there are."""
Read = Callable[[int, int], Iterable[tuple[int, bytes]]]
"""The next packed vectors of a user after a memory's id and of a size in bytes, with their ids, in their order; none
after the last."""

HELD_BYTES = 128 * 2**20
"""What may be held of all users: the signs of 1.8 million vectors. Beyond that go those who were not asked longest."""
STALE_SECONDS = 600.0
"""For so long what another process makes of old memories may be missed; then all is read anew."""
NOTHING = b""
"""The vector of a text of which nothing is remembered."""
UNRELATED = 0.1
"""Cosine of two texts that have nothing to do with each other: the median of questions and turns drawn at random from
our own talks, LoCoMo and REALTALK (0.07 to 0.10)."""
BATCH = 128
"""The nearest come in batches: this many, and where they do not do, a thousand at a time. Of 12,000 texts and 88,000
means of two, 99.7 % of the 16 that are nearest to a question are in the first batch."""


def embed_normalised(embed: Embed, text: str) -> Vector:
    """The embedding of a text, at unit length.

    Raises:
        InputError: the function failed, or what it returned is no list of finite numbers.
    """
    try:
        made = embed(text)
    except InsulaError:
        raise
    except Exception as error:  # whatever a user's own function raises is the reason
        raise InputError(
            f"The embedding failed at a text ({error!r}); mend it, or name another: `use` or `none`."
        ) from error
    return to_unit_length(made)


def to_unit_length(made: Sequence[float] | npt.NDArray[Any]) -> Vector:
    """What an embedding returned, at unit length.

    Raises:
        InputError: it is no list of finite numbers.
    """
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


def pack_vector(vector: Vector) -> bytes:
    """A vector as float16, two bytes a dimension."""
    return vector.astype(np.float16).tobytes()


def unpack_vectors(stored: Sequence[bytes | None]) -> list[Vector | None]:
    """Vectors out of float16, those of a size all at once; None where there is none."""
    vectors: list[Vector | None] = [None] * len(stored)
    for size in {len(packed) for packed in stored if packed}:
        alike = [at for at, packed in enumerate(stored) if packed and len(packed) == size]
        for at, row in zip(alike, _stack_rows([stored[at] or b"" for at in alike], size), strict=True):
            vectors[at] = row
    return vectors


def cosines_with(vector: Vector, stored: Sequence[bytes | None]) -> list[float]:
    """Cosine of a vector with packed ones, in [-1, 1]; 0 where there is none, or one of other dimensions."""
    result = [0.0] * len(stored)
    alike = [at for at, packed in enumerate(stored) if packed and len(packed) == vector.size * _BYTES]
    if alike:
        rows = _stack_rows([stored[at] or b"" for at in alike], vector.size * _BYTES)
        for at, cosine in zip(alike, np.clip(rows @ vector, -1.0, 1.0).tolist(), strict=True):
            result[at] = cosine
    return result


def _stack_rows(stored: Sequence[bytes], size: int) -> Array:
    """Packed vectors of one size as rows."""
    return np.frombuffer(b"".join(stored), np.float16).reshape(len(stored), size // _BYTES).astype(np.float32)


def cosine_nearness(cosine: float) -> float:
    """How near in meaning two texts are by the cosine of their vectors, in [0, 1]."""
    return max(cosine - UNRELATED, 0.0) / (1 - UNRELATED)


class Near(NamedTuple):
    """The ids of memories, nearest to a vector first, in batches."""

    first: list[int]
    more: Iterator[list[int]]


class Neighbourhoods:
    """The signs of the vectors of the users who were asked last, compared with a cue's all at once: 1 ms for 10^5.

    Signs alone put what is near first, in a sixteenth of the room; who reads the memories compares those exactly. They
    are read once, and after that only what is new. What is erased is left out by whoever reads the memories, and
    forgotten here with `drop_cached`.
    """

    def __init__(self, held_bytes: int = HELD_BYTES) -> None:
        self._held_bytes = held_bytes
        self._locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)
        """One a user, since several threads ask: one reads a user's vectors, and who asks of the same waits for it."""
        self._emptied = 0
        self._users: dict[int, _Neighbourhood] = {}
        self._too_many: set[int] = set()

    def find_nearest(self, user_id: int, vectors: Sequence[Vector], read: Read) -> list[Near]:
        """The ids of a user's memories, nearest to each vector first; nothing where they are too many to be held.

        In batches, since whoever reads the memories leaves some out: who asks the same again and again has many
        questions that are nearest to a question, and hide what answers it.
        """
        with self._locks[user_id]:
            here = None if user_id in self._too_many else self._find_cached(user_id, vectors[0].size)
            if here is None or not self._read_new(user_id, here, read):
                return []
            return [Near(next(batches), batches) for batches in map(here.find_nearest, vectors)]

    def _find_cached(self, user_id: int, dimensions: int) -> "_Neighbourhood":
        """What is held of a user, unless it is of other vectors, or too old."""
        here, now = self._users.pop(user_id, None), time.monotonic()
        if here is None or here.dimensions != dimensions or now - here.begun > STALE_SECONDS:
            return _Neighbourhood(dimensions, now)
        return here

    def _read_new(self, user_id: int, here: "_Neighbourhood", read: Read) -> bool:
        """Read what is new of a user; False where it is too much to be held."""
        emptied = self._emptied
        while new := list(read(here.last, here.row_bytes)):
            here.add_vectors(new)
            here.last = new[-1][0]
            if here.size > self._held_bytes:
                self._too_many.add(user_id)
                return False
        if emptied == self._emptied:
            self._users[user_id] = here
        while (
            len(held := list(self._users.items()))
            and sum(neighbourhood.size for _, neighbourhood in held) > self._held_bytes
        ):
            self._users.pop(held[0][0], None)  # those who were not asked longest
        return True

    def add_vectors(self, user_id: int, new: Sequence[tuple[int, bytes]]) -> None:
        """Take in vectors that were made later than those of memories after them."""
        with self._locks[user_id]:
            here = self._users.get(user_id)
            if here is None:
                return
            late = {number: packed for number, packed in new if number <= here.last and len(packed) == here.row_bytes}
            if late:
                here.add_vectors([(number, late[number]) for number in late.keys() - here.known_ids([*late])])

    def drop_cached(self, user_id: int | None = None) -> None:
        """Let go of a user's vectors, or of all."""
        if user_id is None:
            self._emptied += 1  # what is being read just now is not held
            self._users.clear()
            self._too_many.clear()
            return
        with self._locks[user_id]:
            self._users.pop(user_id, None)
            self._too_many.discard(user_id)


class _Neighbourhood:
    """The signs of one user's vectors, 64 to a word, a column for each, in an array that grows by half when full."""

    def __init__(self, dimensions: int, begun: float) -> None:
        self.begun = begun
        self.dimensions = dimensions
        self.row_bytes = dimensions * _BYTES
        self.last = 0
        self._count = 0
        self._ids: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._signs: Signs = np.empty((-(-dimensions // _WORD), 0), np.uint64)

    @property
    def size(self) -> int:
        return self._count * (self._ids.itemsize + self._signs.itemsize * len(self._signs))

    def known_ids(self, ids: Sequence[int]) -> set[int]:
        here = self._ids[: self._count]
        return {*here[np.isin(here, ids)].tolist()}

    def add_vectors(self, new: Sequence[tuple[int, bytes]]) -> None:
        if not new:
            return
        count = self._count + len(new)
        if count > len(self._ids):
            room = max(count, len(self._ids) * 3 // 2) - len(self._ids)
            self._ids = np.concatenate([self._ids, np.empty(room, np.int64)])
            self._signs = np.concatenate([self._signs, np.empty((len(self._signs), room), np.uint64)], axis=1)
        rows = np.frombuffer(b"".join(packed for _, packed in new), np.float16).reshape(len(new), self.dimensions)
        self._ids[self._count : count] = [number for number, _ in new]
        self._signs[:, self._count : count] = _sign_columns(rows.astype(np.float32))
        self._count = count

    def find_nearest(self, vector: Vector) -> Iterator[list[int]]:
        ids, count = self._ids, self._count  # more may be added while somebody reads what is nearest
        differ = np.zeros(count, np.uint16)
        words = [
            (held[:count], asked)
            for held, asked in zip(self._signs, _sign_columns(vector[np.newaxis])[:, 0], strict=True)
        ]
        for at in range(0, count, _CACHED):
            part = slice(at, at + _CACHED)
            for held, asked in words:
                differ[part] += np.bitwise_count(held[part] ^ asked)
        last = np.searchsorted(np.bincount(differ).cumsum(), BATCH)  # how much the last of the first batch differs
        near = np.flatnonzero(differ <= last)
        best = near[np.argsort(differ[near], kind="stable")][:BATCH]
        yield ids[best].tolist()
        differ[best] = np.iinfo(np.uint16).max
        rest = np.argsort(differ, kind="stable")[: count - len(best)]
        for at in range(0, len(rest), _MORE):
            yield ids[rest[at : at + _MORE]].tolist()


def _sign_columns(rows: Array) -> Signs:
    """Which dimensions of each vector are above its mean, as columns of words."""
    bits = np.packbits(rows > rows.mean(axis=1, keepdims=True), axis=1)
    whole = np.zeros((len(rows), -(-rows.shape[1] // _WORD) * _WORD // 8), np.uint8)
    whole[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(whole.view(np.uint64).T)


AT_ONCE = 1_000
"""Vectors that are read at once: what it takes to compare them is held on to."""


_BEFORE = memories.alias("before")
_PAIRS = sa.select(
    memories.c.id, memories.c.content, memories.c.provenance, sa.func.coalesce(_BEFORE.c.content, "").label("before")
).join(_BEFORE, sa.and_(_BEFORE.c.id == memories.c.after_id, _BEFORE.c.provenance != "derived"), isouter=True)
_TO_COME = sa.text(UNEMBEDDED)
_AMONG = Prepared(
    _PAIRS.where(
        memories.c.user_id + 0 == sa.bindparam("user"), is_among(memories.c.id, "ids"), memories.c.vector.is_(None)
    )
)
_STATED = (
    sa.select(statements.c.memory_id, statements.c.text)
    .where(is_among(statements.c.memory_id, "ids"), statements.c.vector.is_(None))
    .order_by(statements.c.id)
)
_NEXT = Prepared(
    sa.select(memories.c.id, memories.c.vector)
    .where(memories.c.user_id == sa.bindparam("user"), memories.c.id > sa.bindparam("after"))
    .where(memories.c.vector.is_not(None), sa.func.length(memories.c.vector) == sa.bindparam("size"))
    .order_by(memories.c.id)
    .limit(AT_ONCE)
)
_EMBED = Prepared(sa.update(memories).where(memories.c.id == sa.bindparam("one")).values(vector=sa.bindparam("made")))
_MEANT = Prepared(
    sa.update(statements)
    .where(statements.c.memory_id == sa.bindparam("one"), statements.c.text == sa.bindparam("said"))
    .values(vector=sa.bindparam("made"))
)


def read_vectors(connection: sa.Connection, user_id: int, after: int, size: int) -> Iterable[tuple[int, bytes]]:
    """The next vectors of a user's memories after an id, of a size in bytes, with their ids, in their order."""
    return _NEXT.fetch_rows(connection, {"user": user_id, "after": after, "size": size})


def list_unembedded(connection: sa.Connection, user_id: int, limit: int) -> list[Unembedded]:
    """The latest of a user's memories whose vector is to come, newest first."""
    mine = sa.select(memories.c.id).where(memories.c.user_id == user_id, _TO_COME)
    latest = mine.order_by(memories.c.id.desc()).limit(limit)
    rows = connection.execute(_PAIRS.where(memories.c.id.in_(latest)).order_by(memories.c.id.desc()))
    return _add_statements(connection, [Unembedded(*row) for row in rows])


def _add_statements(connection: sa.Connection, rows: Sequence[Unembedded]) -> list[Unembedded]:
    """The same with those of their statements whose vectors are to come."""
    texts: dict[int, dict[str, None]] = {}
    for row in connection.execute(_STATED, {"ids": [row.id for row in rows]}):
        texts.setdefault(row.memory_id, {})[row.text] = None
    return [row._replace(stated=tuple(texts.get(row.id, ()))) for row in rows]


def write_vectors(connection: sa.Connection, user_id: int, made: Sequence[Embedded]) -> list[tuple[int, bytes]]:
    """Write vectors, but of what has changed since it was read; returns those of memories that were written."""
    asked = {"user": user_id, "ids": [embedded.row.id for embedded in made]}
    as_before = {tuple(row) for row in _AMONG.fetch_rows(connection, asked)}
    there = [embedded for embedded in made if embedded.row[:-1] in as_before]
    if there:
        _EMBED.write_rows(connection, [{"one": embedded.row.id, "made": embedded.vector} for embedded in there])
    meant = [
        {"one": embedded.row.id, "said": text, "made": made}
        for embedded in there
        for text, made in embedded.stated.items()
    ]
    if meant:
        _MEANT.write_rows(connection, meant)
    return [(embedded.row.id, embedded.vector) for embedded in there]


def clear_vectors(connection: sa.Connection, user_id: int, size: int) -> None:
    """Take vectors of another size, which another embedding made: they are made anew.

    They are made anew from the latest on, so that the oldest tells whether there are any.
    """
    length = sa.func.length(memories.c.vector)
    mine = sa.and_(memories.c.user_id == user_id, memories.c.vector.is_not(None), length > len(NOTHING))
    oldest = connection.execute(sa.select(length).where(mine).order_by(memories.c.id).limit(1)).scalar()
    if oldest not in (None, size):
        connection.execute(sa.update(memories).where(mine, length != size).values(vector=None))
        others = sa.and_(statements.c.user_id == user_id, sa.func.length(statements.c.vector) != size)
        connection.execute(sa.update(statements).where(others).values(vector=None))
