"""An archive of a user: all that is known of one, as JSON Lines with a checksum, for another store or another day.

The first line says what it is, each further one holds a row of a table or a file, the last one the digest of all before
it. What is made from the rest (the index, the counts of terms) is left out and made anew. Every table of a user's is in
it: those that the schema will have one day, too.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.exc import CompileError, OperationalError, StatementError

from insula.errors import InputError, NotFound
from insula.memory.retrieval import index
from insula.memory.storage import nights
from insula.memory.storage.schema import VERSION, memories, metadata, terms, users

FORMAT = 1
SEALED = "sha256"
TABLES = tuple(
    table for table in metadata.sorted_tables if "user_id" in table.c and "id" in table.c and table is not terms
)
"""What belongs to a user, each table after those that it refers to."""
_LISTS = {"lessons.citations": "messages"}
_ALSO = {"memories.after_id": "memories", "summaries.up_to": "messages"}
"""Columns that refer to rows without saying so in the schema."""
_BATCH = 500
_UNFIT = (StatementError, CompileError, KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""What a row that does not fit comes to: another type, a number too great, a reference to nothing."""

Row = dict[str, Any]


class Archive(NamedTuple):
    """What an archive holds, read and checked."""

    user: str
    rows: Mapping[str, list[Row]]
    files: Mapping[str, str]


def lines(connection: sa.Connection, user: str, files: Mapping[str, str]) -> Iterator[str]:
    """The lines of a user's archive, as the store stands at one moment.

    Raises:
        NotFound: nothing is stored of the user.
    """
    index.begin_read(connection)
    user_id = find_user_id(connection, user)
    seal = sha256()
    for record in _list_records(connection, user, user_id, files):
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        seal.update(line.encode("utf-8", "surrogatepass"))
        yield line
    yield json.dumps({SEALED: seal.hexdigest()}) + "\n"


def find_user_id(connection: sa.Connection, user: str) -> int:
    """The id of a user.

    Raises:
        InputError: nothing is stored of the user.
    """
    if (user_id := nights.user_id(connection, user)) is None:
        raise NotFound(
            f"Nothing is stored of {user!r} in this memory; see that the name is right (`insula user list` has those "
            "of the memory that the commands use)."
        )
    return user_id


def _list_records(connection: sa.Connection, user: str, user_id: int, files: Mapping[str, str]) -> Iterator[Row]:
    yield {"insula": FORMAT, "schema": VERSION, "user": user}
    for table in TABLES:
        query = sa.select(table).where(table.c.user_id == user_id).order_by(table.c.id)
        for row in connection.execute(query).mappings():
            yield {
                "table": table.name,
                "row": {name: _encode_value(value) for name, value in row.items() if name != "user_id"},
            }
    for name, text in files.items():
        yield {"file": name, "text": text}


def _encode_value(value: object) -> object:
    return {"base64": b64encode(value).decode()} if isinstance(value, bytes) else value


def read_archive(data: bytes) -> Archive:
    """An archive as it was written.

    Raises:
        InputError: it is none, was cut or edited, or is of a newer version.
    """
    *body, last = data.splitlines(keepends=True) or [b""]
    head, seal = _parse_record(body[0] if body else last), _parse_record(last)
    if "insula" not in head:
        raise InputError("The file is no archive of Insula; give one that `insula user export` wrote.")
    if head["insula"] != FORMAT or str(head.get("schema")) > VERSION:
        raise InputError("The archive was written by a newer version of Insula; upgrade Insula where you have it from")
    if SEALED not in seal:
        raise InputError("The archive ends too early; it was cut. Take a whole copy of it.")
    if seal[SEALED] != sha256(b"".join(body)).hexdigest():
        raise InputError("The archive was changed after it was written, so it is not taken; take an unchanged copy.")
    rows, files = dict[str, list[Row]](), dict[str, str]()
    for record in map(_parse_record, body[1:]):
        match record:
            case {"file": str(name), "text": str(text)}:
                files[name] = text
            case {"table": str(name), "row": {**row}}:
                rows.setdefault(name, []).append(row)
            case _:
                raise InputError("A line of the archive is none that Insula writes; take an unchanged copy of it.")
    if unknown := rows.keys() - {table.name for table in TABLES}:
        raise InputError(f"The archive holds {min(unknown)!r}, which this version does not know; upgrade Insula.")
    return Archive(str(head.get("user", "")), rows, files)


def _parse_record(line: bytes) -> Row:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast(Row, value) if isinstance(value, dict) else {}


def unpack_archive(connection: sa.Connection, user: str, archive: Archive, at: float) -> int:
    """Write all of an archive under a user's name; returns how many rows that are.

    Raises:
        InputError: something is stored of that user already, or a row does not fit.
    """
    index.begin_write(connection)
    if nights.user_id(connection, user) is not None:
        raise InputError(f"Something is stored of {user!r} already; import under another name, or `restore` instead.")
    made = connection.execute(sa.insert(users).values(name=user, created_at=at).returning(users.c.id))
    user_id = made.scalar_one()
    try:
        _insert_rows(connection, user_id, archive.rows)
        _index_memories(connection, user_id)
    except OperationalError:
        raise  # the disk, and no row
    except _UNFIT as error:
        raise InputError("A row of the archive does not fit the tables; take an unchanged copy of it.") from error
    return sum(map(len, archive.rows.values()))


def _insert_rows(connection: sa.Connection, user_id: int, kept: Mapping[str, list[Row]]) -> None:
    moved = {table.name: _plan_ids(connection, table, kept.get(table.name, ())) for table in TABLES}
    for table in TABLES:
        rows = [_renumber_row(table, row, moved) | {"user_id": user_id} for row in kept.get(table.name, ())]
        for start in range(0, len(rows), _BATCH):
            connection.execute(sa.insert(table), rows[start : start + _BATCH])


class _IdShift(NamedTuple):
    """How the rows of a table are numbered anew."""

    ids: frozenset[int]
    """As the archive has them."""
    by: int
    """What is added, so that they are free."""

    def map_id(self, old: int) -> int:
        """The new id of a row that must be in the archive: none refers to what is somebody else's.

        Raises:
            KeyError: it is not.
        """
        if old not in self.ids:
            raise KeyError(old)
        return old + self.by


def _plan_ids(connection: sa.Connection, table: sa.Table, rows: Iterable[Row]) -> _IdShift:
    ids = frozenset(int(row["id"]) for row in rows)
    return _IdShift(ids, index.reserve_ids(connection, table, min(ids), max(ids)) if ids else 0)


def _renumber_row(table: sa.Table, row: Row, moved: Mapping[str, _IdShift]) -> Row:
    """A row with its new ids, and bytes where they are bytes."""
    change: dict[str, Callable[[Any], Any]] = {"id": moved[table.name].map_id}
    for column in table.c:
        name = f"{table.name}.{column.name}"
        target = next((key.column.table.name for key in column.foreign_keys), "")
        if target in moved:
            change[column.name] = moved[target].map_id
        elif name in _ALSO:
            change[column.name] = lambda old, by=moved[_ALSO[name]].by: old + by
        elif name in _LISTS:
            change[column.name] = lambda old, by=moved[_LISTS[name]].by: [each + by for each in old]
        elif name == "revisions.subject":
            change[column.name] = lambda old: _renumber_subject(str(old), moved["memories"].by)
        elif isinstance(column.type, sa.LargeBinary):
            change[column.name] = lambda old: b64decode(old["base64"])
    known = {column.name for column in table.c}
    return {
        name: change[name](value) if name in change and value is not None else value
        for name, value in row.items()
        if name in known
    }


def _renumber_subject(subject: str, by: int) -> str:
    number = subject.removeprefix(nights.MEMORY)
    return f"{nights.MEMORY}{int(number) + by}" if number != subject and number.isdigit() else subject


def read_long_term(connection: sa.Connection, user_id: int) -> list[index.Entry]:
    """What is in a user's long-term memory, as it is indexed."""
    mine = sa.and_(memories.c.user_id == user_id, memories.c.promoted_at.is_not(None), memories.c.retired_at.is_(None))
    rows = connection.execute(sa.select(memories.c.id, memories.c.claims, memories.c.kind).where(mine)).all()
    return index.entries_of(*rows)


def _index_memories(connection: sa.Connection, user_id: int) -> None:
    """Index what is in long-term memory."""
    entries = read_long_term(connection, user_id)
    for start in range(0, len(entries), _BATCH):
        index.add_entries(connection, user_id, entries[start : start + _BATCH])
