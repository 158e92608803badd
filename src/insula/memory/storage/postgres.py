"""What is PostgreSQL's own: connections through a pool, patience with an outage, leases between machines, row security.

Nothing of a session outlives a transaction (no prepared statements, no session locks, no settings), so that a pooler in
transaction mode may stand between. Whether a server will do, and its errors as ours, stand here, too.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from insula.errors import InsulaError, SettingsError, StoreError, StoreFull, StoreLocked
from insula.memory.privacy.isolation import SETTING, WHOSE
from insula.memory.storage.prepared import Prepared
from insula.memory.storage.schema import make_tables, memories, users

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


log = logging.getLogger(__name__)

T = TypeVar("T")

SCHEMES = ("postgresql://", "postgres://")
CONNECTIONS = 8
"""Connections, and threads, that one process holds at most; a server of PostgreSQL has 100 by default for all."""
PATIENCE = 90.0
"""Seconds for which an outage is waited out before it is an error."""
PAUSES = (0.05, 5.0)
"""Seconds before the second try, doubled from one to the next, and the most."""
LEASE = 30.0
"""Seconds after which a night is anybody's whose holder has not said that it is still at it."""
_UPGRADING = 7_227_001
"""The lock under which one process at a time makes the tables."""
_STALE = 86_400.0
_SLACK = 1_000
"""Ids that others may take while room is made for an archive."""

BEST = Prepared(
    sa.text("""
SELECT memory_id FROM jsonb_each_text(CAST(:weights AS jsonb)) AS weight JOIN postings ON postings.term = weight.key
WHERE postings.user_id = :user GROUP BY memory_id
ORDER BY sum(CAST(trunc(CAST(weight.value AS double precision) * count
    / (count + CAST(:short AS double precision) + CAST(:long AS double precision) * length)) AS bigint)) DESC,
    memory_id DESC
LIMIT :limit""")
)
"""The memories that hold some weighted terms, best first."""

RESIDUE = (
    "PostgreSQL keeps the words of erased rows in its files a while. A superuser takes them away with: DELETE FROM "
    "pg_statistic; VACUUM FULL; ANALYZE; SELECT pg_switch_wal(); CHECKPOINT; and archives of the write-ahead log, "
    "replicas and backups of the server have to be made anew."
)
"""`VACUUM FULL` makes tables and indexes anew; `ANALYZE` leaves the statistics of a table that was emptied."""
_own = sa.MetaData()
commits = sa.Table(
    "commits",
    _own,
    sa.Column("thread", sa.Text, primary_key=True),
    sa.Column("unit", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
)
"""The last unit of work that each thread wrote: where a connection breaks while it commits, what became of it."""
leases = sa.Table(
    "leases",
    _own,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("until", sa.DateTime(timezone=True), nullable=False),
)
"""Who is at what, until when by the server's own clock: those of machines differ."""

_NEW = insert(commits)
_MARK = _NEW.on_conflict_do_update(
    index_elements=["thread"], set_={"unit": _NEW.excluded.unit, "at": sa.func.clock_timestamp()}
)
_MARKED = sa.select(commits.c.unit).where(commits.c.thread == sa.bindparam("mine")).with_for_update()
_HOLD = sa.select(users.c.id).where(users.c.id == sa.bindparam("user")).with_for_update(key_share=True)


class PostgresServer:
    """A store on a server, for as many units of work at once as there are connections.

    Args:
        url: `postgresql://user:password@host:port/database`.
        forget: called where what is known of the rows may be wrong from now on.

    Raises:
        SettingsError: the URL cannot be read, or psycopg is not installed.
    """

    threads = CONNECTIONS
    shared = True
    residue = RESIDUE

    def __init__(self, url: str, forget: Callable[[], None]) -> None:
        parsed = parse_url(url)
        self.name = parsed.set(drivername="postgresql").render_as_string(hide_password=True)
        self.url = url
        self._forget = forget
        self._engine = sa.create_engine(
            parsed,
            pool_size=self.threads,
            max_overflow=0,
            pool_use_lifo=True,
            hide_parameters=True,
            connect_args={"prepare_threshold": None, "connect_timeout": 5, "application_name": "insula"},
        )
        event.listen(self._engine, "before_cursor_execute", _note_write)
        self._me = uuid4().hex
        self._opening, self._opened = threading.Lock(), False

    def prepare_storage(self) -> None:
        """There is nothing to make: a database is made by whoever runs the server."""

    def reads_apart(self) -> bool:
        """Nobody does: each of its units of work stands beside the others."""
        return False

    def read_unit(self, work: Callable[[sa.Connection], T]) -> T:
        """Do one unit of work that only reads."""
        return self.run_unit(work)

    def run_unit(self, work: Callable[[sa.Connection], T]) -> T:
        """Do one unit of work in a transaction, exactly once, an outage of up to `PATIENCE` seconds notwithstanding.

        Raises:
            StoreError: the server cannot be used; the message says why and what to do.
        """
        self._open_server()
        until, pause = time.monotonic() + PATIENCE, PAUSES[0]
        while True:
            try:
                return self._attempt_unit(work, until)
            except DBAPIError as error:
                self._forget()
                if not is_transient(error) or time.monotonic() > until:
                    raise explain_error(error, self.name) from error
                log.warning("%s It is tried again.", explain_error(error, self.name))
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])

    def _attempt_unit(self, work: Callable[[sa.Connection], T], until: float) -> T:
        unit = uuid4().hex
        with self._engine.connect() as connection:
            connection.info.update(writes=False, held=set[int]())
            transaction = connection.begin()
            if user := WHOSE.get():
                _speak_for(connection, user)
            result = work(connection)
            writes = connection.info["writes"]
            if writes:
                connection.execute(_MARK, {"thread": self._thread, "unit": unit})
            try:
                transaction.commit()
                return result
            except DBAPIError as error:
                if not (writes and is_transient(error)):
                    raise
                undecided = error
        if self._is_committed(unit, until):
            return result
        raise undecided

    @property
    def _thread(self) -> str:
        return f"{self._me}.{threading.get_ident()}"

    def _is_committed(self, unit: str, until: float) -> bool:
        """Whether a unit of work was committed whose connection broke meanwhile; waits for one that still is.

        Raises:
            StoreError: the server is away for too long to tell.
        """
        pause = PAUSES[0]
        while True:
            try:
                with self._engine.begin() as connection:
                    return connection.execute(_MARKED, {"mine": self._thread}).scalar() == unit
            except DBAPIError as error:
                if time.monotonic() > until:
                    raise explain_error(error, self.name) from error
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])

    def _open_server(self) -> None:
        """See at first use whether the server will do, and make the tables where there are none."""
        with self._opening:
            if self._opened:
                return
            try:
                with self._engine.begin() as connection:
                    check_server(connection, self.name)
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_UPGRADING)))
                    if make_tables(connection, self.name):
                        _own.create_all(connection)
                        isolate_users(connection)
                    connection.execute(sa.delete(commits).where(commits.c.at < _seconds_ago(_STALE)))
            except DBAPIError as error:
                raise explain_error(error, self.name) from error
            self._opened = True

    def scrub_erased(self) -> bool:
        """Let go of the rows that were erased; False where somebody may still see them."""
        try:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                for table in memories.metadata.tables:
                    connection.exec_driver_sql(f"VACUUM {table}")
        except DBAPIError as error:
            log.warning("%s", explain_error(error, self.name))
            return False
        return True

    @asynccontextmanager
    async def hold_night(self, user_id: int) -> AsyncGenerator[bool]:
        """Hold a user's night, with whether nobody else does; who is killed lets go of it when the lease is over."""
        name, holder = f"night:{user_id}", uuid4().hex
        if not await asyncio.to_thread(self.run_unit, lambda connection: take_lease(connection, name, holder)):
            yield False
            return
        renewing = asyncio.create_task(self._renew_lease(name, holder))
        try:
            yield True
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
            await asyncio.to_thread(self.run_unit, lambda connection: release_lease(connection, name, holder))

    async def _renew_lease(self, name: str, holder: str) -> None:
        while True:
            await asyncio.sleep(LEASE / 3)
            with suppress(InsulaError):  # it is tried again; every phase is written once all the same
                await asyncio.to_thread(self.run_unit, lambda connection: take_lease(connection, name, holder))

    def close(self) -> None:
        """Let go of the connections."""
        with suppress(DBAPIError):
            if self._opened:
                with self._engine.begin() as connection:
                    connection.execute(sa.delete(commits).where(commits.c.thread.startswith(f"{self._me}.")))
        self._engine.dispose()


def isolate_users(connection: sa.Connection) -> None:
    """Let a transaction on behalf of a user meet that user's rows alone, whatever it asks for (row-level security)."""
    for table in memories.metadata.sorted_tables:
        if table is users or "user_id" in table.c:
            isolate_table(connection, table.name)


def isolate_table(connection: sa.Connection, table: str) -> None:
    """Let a transaction on behalf of a user meet that user's rows of a table alone."""
    whose = f"current_setting('{SETTING}', true)"
    house = f"(SELECT coalesce({whose}, '') = '')"
    own = f"(SELECT id FROM users WHERE name = {whose})"  # noqa: S608 of this file's own words
    mine = f"name = (SELECT {whose})" if table == users.name else f"user_id = {own}"
    connection.exec_driver_sql(f"CREATE POLICY insula_own ON {table} USING ({house} OR {mine})")
    connection.exec_driver_sql(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    connection.exec_driver_sql(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")  # the tables' owner is who asks


def is_server(address: str) -> bool:
    """Whether an address is that of a server."""
    return address.startswith(SCHEMES)


def parse_url(url: str) -> sa.URL:
    """A URL as the driver takes it.

    Raises:
        SettingsError: it cannot be read, or the driver is not there.
    """
    try:
        import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]

        return sa.make_url(url).set(drivername="postgresql+psycopg")
    except ImportError as error:
        raise SettingsError(
            "A memory on PostgreSQL needs a driver that is not installed; run: pip install 'psycopg[binary]>=3.3'"
        ) from error
    except (ArgumentError, ValueError) as error:
        raise SettingsError(
            "The URL of the memory cannot be read; give INSULA_STORE as postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        ) from error


def _lease_could_renew() -> sa.ColumnElement[bool]:
    """Whether holders could have been heard for a whole lease: while the server was away nobody could renew one."""
    return sa.func.pg_postmaster_start_time() < _seconds_ago(LEASE)


def take_lease(connection: sa.Connection, name: str, holder: str) -> bool:
    """Take hold of a name for a while, or go on with it; False where somebody else does."""
    new = insert(leases).values(name=name, holder=holder, until=_seconds_ago(-LEASE))
    mine = sa.or_(sa.and_(leases.c.until < sa.func.clock_timestamp(), _lease_could_renew()), leases.c.holder == holder)
    taken = new.on_conflict_do_update(
        index_elements=["name"], set_={"holder": holder, "until": _seconds_ago(-LEASE)}, where=mine
    )
    return connection.execute(taken.returning(leases.c.name)).first() is not None


def list_holders(connection: sa.Connection, prefix: str) -> list[str]:
    """Who holds the names that begin so."""
    there = sa.or_(leases.c.until >= sa.func.clock_timestamp(), sa.not_(_lease_could_renew()))
    held = sa.and_(leases.c.name.startswith(prefix, autoescape=True), there)
    return list(connection.execute(sa.select(leases.c.holder).where(held)).scalars())


def release_lease(connection: sa.Connection, name: str, holder: str) -> None:
    """Let go of a name."""
    connection.execute(sa.delete(leases).where(leases.c.name == name, leases.c.holder == holder))


def begin_write(connection: sa.Connection, user_id: int | None = None) -> None:
    """Keep others from writing what is a user's until the transaction ends."""
    held: set[int] = connection.info["held"]
    if user_id is not None and user_id not in held:
        connection.execute(_HOLD, {"user": user_id})
        held.add(user_id)


def begin_read(connection: sa.Connection) -> None:
    """Begin to read: all that is read from now on is as it stands at one moment, whoever writes meanwhile."""
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def check_room(_: sa.Connection) -> None:
    """The disk of a server is its own affair: it says of each transaction whether it is kept."""


def reserve_ids(connection: sa.Connection, table: sa.Table, first: int, last: int) -> int:
    """What is to be added to some ids for them to be free: room is kept for them behind those that others take now."""
    numbers = sa.func.pg_get_serial_sequence(table.name, "id")
    taken = sa.func.setval(numbers, sa.func.nextval(numbers) + _SLACK + last - first + 1)
    return connection.execute(sa.select(taken)).scalar_one() - last


def _speak_for(connection: sa.Connection, user: str) -> None:
    """Let this transaction meet a user's rows alone. It is no query: what comes next may still choose what it sees."""
    from psycopg.sql import Literal

    connection.exec_driver_sql(f"SET LOCAL {SETTING} TO {Literal(user).as_string()}".replace("%", "%%"))


def _note_write(connection: sa.Connection, _: object, statement: str, *__: object) -> None:
    """Note whether a unit of work writes."""
    if not statement.lstrip().startswith(("SELECT", "WITH", "SET")):
        connection.info["writes"] = True


def _seconds_ago(seconds: float) -> sa.ColumnElement[Any]:
    return sa.func.clock_timestamp() - sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)
