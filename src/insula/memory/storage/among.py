"""Membership in a list that is bound as one value, so that the statement is the same text for lists of any length.

SQLAlchemy's own `IN` puts the text together anew at each call, with a parameter for each value, and the database has to
read it anew.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

from insula.memory.storage import sqlite


class _Listed(UserDefinedType[Iterable[Any]]):
    """A list: JSON for SQLite, an array for PostgreSQL."""

    cache_ok = True

    def bind_processor(self, dialect: sa.Dialect) -> Callable[..., Any]:
        return _dump_list if dialect.name == sqlite.NAME else list


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


@compiles(_Among, sqlite.NAME)
def _compile_in(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, listed = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({listed}))"  # noqa: S608 no value is in it
