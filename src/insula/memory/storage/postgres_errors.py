"""What PostgreSQL cannot do for us, and why: whether a server will do, and its errors as ours."""

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError

from insula.errors import StoreError, StoreFull, StoreLocked

OLDEST = 150_000
"""The oldest version that is supported: 15.0."""

_FOUND = sa.text("""
SELECT current_setting('server_version_num')::int, current_setting('server_version'),
    current_setting('server_encoding'), current_setting('transaction_read_only') = 'on',
    has_schema_privilege(current_schema(), 'CREATE')
""")


def check_server(connection: sa.Connection, name: str) -> None:
    """See whether a server will do.

    Raises:
        StoreError: it is too old, holds no Unicode, is read-only, or tables may not be made there.
    """
    number, version, encoding, read_only, may_create = connection.execute(_FOUND).one()
    if number < OLDEST:
        raise StoreError(
            f"The server at {name!r} is PostgreSQL {version}, which is too old; upgrade it to 15 or newer."
        )
    if encoding != "UTF8":
        raise StoreError(
            f"The database at {name!r} has the encoding {encoding}, which cannot hold every text; make one with: "
            "createdb --encoding=UTF8 --template=template0 NAME"
        )
    if read_only:
        raise StoreFull(f"The database at {name!r} is read-only, perhaps a standby; give the URL of the primary.")
    if not may_create and not sa.inspect(connection).has_table("alembic_version"):
        raise StoreError(
            f"The user of {name!r} may not make tables there; let them: GRANT CREATE, USAGE ON SCHEMA public TO …"
        )


_AWAY = ("08", "57P", "53300", "40001", "40P01", "55P03", "25P03")
"""Beginnings of the states of errors that pass: a server that is away, stops or starts, is full of connections, and
transactions that got in each other's way."""
_FINAL = ("password authentication failed", "no password supplied", "does not exist", "no pg_hba.conf entry")


def is_transient(error: DBAPIError) -> bool:
    """Whether an error may be gone at the next try."""
    state, said = _sql_state(error), str(error.orig)
    if state:
        return state.startswith(_AWAY)
    away = error.connection_invalidated or isinstance(error, OperationalError)
    return away and not any(why in said for why in _FINAL)


def _sql_state(error: DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""


def _server_message(error: DBAPIError) -> str:
    """What the server says of it, but for details, which quote the row."""
    diagnosis = getattr(error.orig, "diag", None)
    return " ".join((getattr(diagnosis, "message_primary", None) or str(error.orig)).split())


def explain_error(error: DBAPIError, name: str) -> StoreError:
    """The database's error as one of ours, with what to do about it."""
    state, said = _sql_state(error), _server_message(error)
    if "password authentication failed" in said or "no password supplied" in said or state.startswith("28"):
        return StoreError(f"The server at {name!r} does not let this user in; check the user and password of its URL.")
    if state == "3D000" or ("database" in said and "does not exist" in said):
        return StoreError(f"There is no database at {name!r}; make it with createdb, or correct the URL.")
    if state == "42501":
        return StoreError(f"The user of {name!r} may not do this ({said}); grant the right, or give another user.")
    if state == "25006":
        return StoreFull(f"The database at {name!r} is read-only, perhaps a standby; give the URL of the primary.")
    if state in {"53100", "58030"}:
        return StoreFull(
            f"The disk of the server at {name!r} is full; free some space and say it again: what was said just now is "
            "not kept."
        )
    if state in {"40001", "40P01", "55P03"}:
        return StoreLocked(f"Others were writing the same at {name!r}; try again.")
    if is_transient(error):
        return StoreError(f"The server at {name!r} does not answer ({said[:160]}); see that it runs, and try again.")
    return StoreError(f"The memory at {name!r} could not be used ({state}: {said[:300]}); see the log and try again.")
