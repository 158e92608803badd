"""Statements that every turn runs: put together once, and on SQLite given to its own cursor.

What SQLAlchemy does for each run of a statement (looking it up, binding its values, wrapping its rows) costs more than
SQLite does: 1 to 2 ms of a turn with its 25 statements. On PostgreSQL, where a round trip costs more than either, and
where what a unit of work wrote is noted as it runs, SQLAlchemy runs them.

A list is bound as one value, so that the statement is the same text for lists of any length: SQLAlchemy's own `IN` puts
the text together anew at each call, with a parameter for each value, and the database has to read it anew.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

SQLITE = "sqlite"
"""What SQLAlchemy calls it."""
Values = Mapping[str, Any]
"""What is bound, by its name."""


class _Text(NamedTuple):
    """A statement as SQLite reads it."""

    sql: str
    parameters: Sequence[tuple[str, Callable[[Any], Any] | None, Any]]
    """Each name in its place, with what makes its value SQLite's, and its value where none is given."""

    def bind_values(self, values: Values) -> list[Any]:
        return [
            value if convert is None or value is None else convert(value)
            for name, convert, default in self.parameters
            for value in (values.get(name, default),)
        ]


class Prepared:
    """A statement whose columns hold what SQLite's driver returns as it is: texts, numbers, bytes."""

    def __init__(self, statement: sa.Executable) -> None:
        self._statement = statement
        self._texts: dict[tuple[str, ...], _Text] = {}
        """By what is bound: what an insertion leaves out is no column of it."""

    def fetch_rows(self, connection: sa.Connection, values: Values) -> Sequence[Any]:
        """Run it, and return all its rows, their columns in its order."""
        if (file := sqlite_of(connection)) is None:
            return connection.execute(self._statement, dict(values)).all()
        text = self._find_text(connection, values)
        return file.execute(text.sql, text.bind_values(values)).fetchall()

    def fetch_row(self, connection: sa.Connection, values: Values) -> Any:
        """Run it, and return the one row that it has."""
        (row,) = self.fetch_rows(connection, values)
        return row

    def fetch_values(self, connection: sa.Connection, values: Values) -> list[Any]:
        """Run it, and return the only column of its rows."""
        return [value for (value,) in self.fetch_rows(connection, values)]

    def write_rows(self, connection: sa.Connection, rows: Sequence[Values]) -> None:
        """Run it for each of some rows, which bind the same names; it returns nothing."""
        if (file := sqlite_of(connection)) is None:
            connection.execute(self._statement, [*map(dict, rows)])
        else:
            text = self._find_text(connection, rows[0])
            file.executemany(text.sql, [*map(text.bind_values, rows)])

    def _find_text(self, connection: sa.Connection, values: Values) -> _Text:
        if (known := self._texts.get(names := tuple(values))) is None:
            known = self._texts[names] = _compile_text(self._statement, connection.dialect, names)
        return known


def sqlite_of(connection: sa.Connection) -> Connection | None:
    """SQLite's own connection, which is within the same transaction; None of another database."""
    driver = connection.connection.dbapi_connection
    return driver if isinstance(driver, Connection) else None


def _compile_text(statement: sa.Executable, dialect: sa.Dialect, names: Sequence[str]) -> _Text:
    made = cast(Any, statement).compile(
        dialect=dialect,
        column_keys=names if isinstance(statement, sa.UpdateBase) else None,
    )
    compiled = cast(SQLCompiler, made)
    defaults = compiled.params
    if missing := [name for name, bound in compiled.binds.items() if bound.required and name not in names]:
        raise KeyError(f"{missing} is to be bound in: {compiled}")
    parameters = [
        (name, _find_converter(compiled, name, dialect), defaults.get(name)) for name in compiled.positiontup or ()
    ]
    return _Text(str(compiled), parameters)


def _find_converter(compiled: SQLCompiler, name: str, dialect: sa.Dialect) -> Callable[[Any], Any] | None:
    return compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect)


class _Listed(UserDefinedType[Iterable[Any]]):
    """A list: JSON for SQLite, an array for PostgreSQL."""

    cache_ok = True

    def bind_processor(self, dialect: sa.Dialect) -> Callable[..., Any]:
        return _dump_list if dialect.name == SQLITE else list


def _dump_list(values: Iterable[Any]) -> str:
    return json.dumps(list(values))


class _Among(FunctionElement[bool]):
    inherit_cache = True
    type: Any = sa.types.NULLTYPE  # what is Boolean is compared with 1, and then no index is used


def is_among(column: sa.Column[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether a column holds one of the values of the list that is bound as `name`."""
    return _Among(column, sa.bindparam(name, type_=_Listed()))


@compiles(_Among)
def _compile_any(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, listed = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY({listed})"


@compiles(_Among, SQLITE)
def _compile_in(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, listed = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({listed}))"  # noqa: S608 no value is in it
