"""Which of a user's memories are wanted, and what a host may say of one so that it is found by it."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import NamedTuple, TypedDict, get_args

import sqlalchemy as sa

from insula.errors import InputError
from insula.memory.storage.schema import memories, sessions
from insula.redaction import redact
from insula.types import MemoryKind
from insula.value import is_object

Scalar = str | int | float | bool
Metadata = Mapping[str, Scalar]
"""What a host says of a memory: names with texts, numbers or truth values."""

MOST_NAMES = 32
NAME_CHARS = 64
VALUE_CHARS = 500


class Filters(TypedDict, total=False):
    """Which memories are wanted; those that are left out want any."""

    session: str
    """The conversation that they are of."""
    kind: MemoryKind
    """`semantic` ones assert something, `episodic` ones only happened."""
    since: datetime | date | str
    """When they were said at the earliest; a text is ISO 8601, in UTC by default."""
    metadata: Metadata
    """What the host said of them: each name with just this value."""


class Filter(NamedTuple):
    """The same, read and checked."""

    session: str = ""
    kind: str = ""
    since: float | None = None
    metadata: tuple[str, ...] = ()
    """Each name with its value, as they stand in the JSON of a memory."""
    answers: bool = True
    """With what the assistant said."""
    retired: bool | None = False
    """What nights let go, not what is remembered; None for both."""

    @property
    def is_any(self) -> bool:
        """Whether all that is remembered is wanted."""
        return self == Filter()

    def sql_conditions(self) -> list[sa.ColumnElement[bool]]:
        """The same as conditions on `memories` joined with `sessions`."""
        memory = memories.c
        let_go = sa.and_(memory.retired_at.is_not(None), memory.content != "", memory.provenance != "derived")
        conditions = [] if self.retired is None else [let_go if self.retired else memory.retired_at.is_(None)]
        if self.session:
            conditions.append(sessions.c.name == self.session)
        if self.kind:
            conditions.append(memory.kind == self.kind)
        if self.since is not None:
            conditions.append(memory.said_at >= self.since)
        if not self.answers:
            conditions.append(memory.provenance != "assistant")
        # The one test for a part of a text that is exact in both databases, in capitals, too.
        return conditions + [sa.func.replace(memory.metadata, part, "") != memory.metadata for part in self.metadata]


def read_filter(wanted: Mapping[str, object]) -> Filter:
    """The filter that somebody gave by its names.

    Raises:
        InputError: there is no such filter, or its value is none.
    """
    known = Filters.__annotations__
    if unknown := [name for name in wanted if name not in known]:
        raise InputError(f"There is no filter {unknown[0]!r}; there are {', '.join(known)}.")
    session, kind = wanted.get("session") or "", wanted.get("kind") or ""
    if not isinstance(session, str):
        raise InputError(f"The session {session!r} is no name; give it as text.")
    if kind and kind not in get_args(MemoryKind):
        raise InputError(f"There is no kind of memory {kind!r}; there are {', '.join(get_args(MemoryKind))}.")
    parts = load_metadata(dump_metadata(wanted.get("metadata")))
    since = None if wanted.get("since") is None else read_moment(wanted["since"])
    return Filter(session, str(kind), since, tuple(_dump_pairs({name: value}) for name, value in parts.items()))


def read_moment(given: object) -> float:
    """A moment in seconds since the epoch.

    Raises:
        InputError: it is none.
    """
    moment = given
    if isinstance(given, str):
        try:
            moment = datetime.fromisoformat(given.strip())
        except ValueError:
            moment = None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time.min)
    if not isinstance(moment, datetime):
        raise InputError(f"{str(given)[:40]!r} is no date; give one as 2026-01-31 or 2026-01-31T12:00:00+01:00.")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def dump_metadata(given: object) -> str:
    """What a host says of a memory as it is kept: what stands within the braces of JSON, with a comma at either end, so
    that each name is found alike.

    Raises:
        InputError: it is no mapping of names to texts, numbers or truth values, or too much of one.
    """
    if not given:
        return ""
    if not is_object(given):
        raise InputError(
            f"The metadata {str(given)[:40]!r} is no mapping; give names with texts, numbers or truth values."
        )
    if len(given) > MOST_NAMES:
        raise InputError(f"The metadata has {len(given)} names and at most {MOST_NAMES} are kept; give fewer.")
    kept: dict[str, Scalar] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not 0 < len(name) <= NAME_CHARS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"{str(name)[:40]!r} is no name of metadata; give a text of 1 to {NAME_CHARS} characters.")
        if not isinstance(value, Scalar) or len(str(value)) > VALUE_CHARS or not _is_finite(value):
            raise InputError(
                f"The metadata {name!r} cannot be kept; give a text of up to {VALUE_CHARS} characters, a number, or "
                "true or false."
            )
        kept[redact(name)] = redact(value) if isinstance(value, str) else value
    return _dump_pairs(kept)


def load_metadata(kept: str) -> dict[str, Scalar]:
    """What a host said of a memory."""
    return json.loads(f"{{{kept[1:-1]}}}") if kept else {}


def _is_finite(value: Scalar) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _dump_pairs(pairs: Mapping[str, Scalar]) -> str:
    return f",{json.dumps(pairs, separators=(',', ':'))[1:-1]},"
