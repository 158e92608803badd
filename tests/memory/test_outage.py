"""A server that is away, unfit, or dies at the worst moment: a sentence, patience, and nothing lost or done twice."""

import asyncio
import secrets
import time
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

import postgres as server_of_tests
from insula.errors import SettingsError, StoreError, StoreFull, StoreNewer
from insula.language.owner import ASSISTANT, USER
from insula.memory.item import NewItem, new_item
from insula.memory.retrieval.query import encode_claims
from insula.memory.storage import postgres
from insula.memory.storage.postgres import PostgresServer
from insula.memory.storage.store import Store
from insula.text.analysis import analyse_text

pytestmark = pytest.mark.anyio


def item(text: str) -> NewItem:
    analysis = analyse_text(text)
    return new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), ())


async def refused(url: str, error: type[StoreError] = StoreError) -> str:
    with pytest.raises(error) as raised:
        await Store.open(url)
    assert "secret" not in str(raised.value)
    return str(raised.value)


async def test_a_server_that_is_away_is_said_at_once() -> None:
    said = await refused("postgresql://me:secret@127.0.0.1:1/insula")
    assert "postgresql://me:***@127.0.0.1:1/insula" in said
    assert "does not answer" in said


async def test_a_url_that_cannot_be_read_is_said_without_its_password() -> None:
    with pytest.raises(SettingsError, match="INSULA_STORE") as raised:
        await Store.open("postgresql://me:secret@host:port/x")
    assert "secret" not in str(raised.value)


async def test_a_wrong_password_and_a_database_that_is_not_there_are_told_apart(server: str) -> None:
    head, _, host = server.partition("@")
    assert "check the user and password" in await refused(f"{head.rpartition(':')[0]}:secret@{host}")
    assert "createdb" in await refused(f"{server.rpartition('/')[0]}/nowhere")


async def test_an_old_server_is_named(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "OLDEST", 990_000)
    assert "too old; upgrade it to 15" in await refused(database)


async def test_an_encoding_that_holds_not_every_text_is_named(server: str) -> None:
    with server_of_tests.database(server, "template0", "ENCODING 'LATIN1' LOCALE 'C'") as url:
        assert "LATIN1" in await refused(url)


async def test_a_database_that_is_read_only_is_named(server: str) -> None:
    with server_of_tests.database(server) as url:
        with psycopg.connect(server, autocommit=True) as connection:
            name = url.rpartition("/")[2]
            connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
        assert "read-only" in await refused(url, StoreFull)


async def test_a_user_who_may_make_no_tables_is_told_what_to_grant(server: str) -> None:
    role, word = f"insula_{secrets.token_hex(4)}", secrets.token_hex(8)
    with server_of_tests.database(server) as url, psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{word}'".encode())
        try:
            assert "GRANT CREATE" in await refused(f"postgresql://{role}:{word}@{url.partition('@')[2]}")
        finally:
            connection.execute(f"DROP ROLE {role}".encode())


KILL = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"""


def kill(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(KILL)


async def test_a_connection_that_broke_between_two_turns_is_not_noticed(database: str) -> None:
    async with await Store.open(database) as store:
        place = await store.resolve_place("me", "s")
        await asyncio.to_thread(kill, database)
        assert (await store.resolve_place("me", "t")).user_id == place.user_id


async def test_what_is_killed_halfway_is_done_again_and_done_once(database: str) -> None:
    tries: list[int] = []

    def work(connection: sa.Connection) -> None:
        tries.append(1)
        connection.execute(sa.text("INSERT INTO strategies VALUES ('m', :kind, 's', 1, 0, 0)"), {"kind": "k"})
        if len(tries) == 1:
            kill(database)
        connection.execute(sa.text("SELECT 1"))

    async with await Store.open(database) as store:
        await store.run(work)
        assert len(tries) == 2
        assert await store.run(lambda connection: connection.execute(sa.text("SELECT * FROM strategies")).all())


@pytest.mark.parametrize("committed", [True, False])
async def test_a_connection_that_breaks_while_it_commits_loses_nothing_and_doubles_nothing(
    database: str, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    async with await Store.open(database) as store:
        dialect = server_in(store)._engine.dialect  # pyright: ignore[reportPrivateUsage] the moment is made here
        commit, broken = dialect.do_commit, list[int]()

        def breaks(connection: sa.PoolProxiedConnection) -> None:
            if broken:
                return commit(connection)
            broken.append(1)
            if committed:
                commit(connection)
            held: Any = connection.driver_connection
            held.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(dialect, "do_commit", breaks)
        insert = sa.text("INSERT INTO snapshots(service, turn_counter, data, at) VALUES ('s', 1, '{}', 0)")
        await store.run(lambda connection: connection.execute(insert))
        assert broken
        count = sa.text("SELECT count(*) FROM snapshots")
        assert await store.run(lambda connection: connection.execute(count).scalar()) == 1


def server_in(store: Store) -> PostgresServer:
    found = store._backend  # pyright: ignore[reportPrivateUsage]
    assert isinstance(found, PostgresServer)
    return found


async def test_an_outage_in_the_middle_is_waited_out(server: str, database: str) -> None:
    """The whole server is not stopped here, which other tests use: its database takes nobody in for a while."""
    name = database.rpartition("/")[2]

    def admit(allowed: bool) -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT {-1 if allowed else 0}'.encode())
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.execute(query, [name])

    role, word = f"insula_{secrets.token_hex(4)}", secrets.token_hex(8)
    with psycopg.connect(server, autocommit=True) as connection:  # a superuser's connections have no limit
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{word}'".encode())
        connection.execute(f"GRANT pg_read_all_data, pg_write_all_data TO {role}".encode())
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}".encode())
    async with await Store.open(f"postgresql://{role}:{word}@{database.partition('@')[2]}") as store:
        await asyncio.to_thread(admit, False)
        waiting = [asyncio.create_task(store.resolve_place("me", f"s{number}")) for number in range(5)]
        await asyncio.sleep(0.5)
        assert not any(one.done() for one in waiting)
        await asyncio.to_thread(admit, True)
        assert len({place.session_id for place in await asyncio.gather(*waiting)}) == 5
    with psycopg.connect(f"{server.rpartition('/')[0]}/{name}", autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())


async def test_two_at_once_on_one_user_wait_for_each_other_and_number_their_turns(database: str) -> None:
    async with await Store.open(database) as one, await Store.open(database) as other:
        place = await one.resolve_place("me", "s")
        said = [store.sessions.write_message(place, item(f"Word {n}.")) for n in range(20) for store in (one, other)]
        turns = [turn for turn, _ in await asyncio.gather(*said)]
        assert sorted(turns) == list(range(1, 41))


async def test_one_holds_a_night_until_it_lets_go_or_is_silent_for_too_long(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await Store.open(database) as one, await Store.open(database) as other:
        async with (
            one.hold_night(7) as mine,
            other.hold_night(7) as theirs,
            other.hold_night(8) as another,
        ):
            assert (mine, theirs, another) == (True, False, True)
        async with other.hold_night(7) as theirs:
            assert theirs
        monkeypatch.setattr(postgres, "LEASE", -1.0)  # who holds it has been silent
        async with one.hold_night(7) as mine, other.hold_night(7) as theirs:
            assert (mine, theirs) == (True, True)


async def test_a_store_that_a_newer_version_wrote_is_refused_and_left_alone(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        assert "newer version" in await refused(database, StoreNewer)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)


@pytest.mark.parametrize(
    ("state", "error", "said"),
    [
        ("53100", StoreFull, "disk of the server"),
        ("25006", StoreFull, "read-only"),
        ("42501", StoreError, "grant the right"),
        ("XX000", StoreError, "see the log"),
    ],
)
async def test_what_the_server_refuses_in_the_middle_is_said_and_leaves_nothing(
    database: str, state: str, error: type[StoreError], said: str
) -> None:
    def work(connection: sa.Connection) -> None:
        connection.execute(sa.text("INSERT INTO snapshots(service, turn_counter, data, at) VALUES ('s', 1, '{}', 0)"))
        connection.execute(sa.text(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"))

    async with await Store.open(database) as store:
        with pytest.raises(error, match=said):
            await store.run(work)
        count = sa.text("SELECT count(*) FROM snapshots")
        assert await store.run(lambda connection: connection.execute(count).scalar()) == 0


async def test_the_clocks_of_machines_decide_nothing_about_who_holds_a_night(database: str) -> None:
    def tomorrow() -> float:
        return time.time() + 86_400

    async with await Store.open(database) as one, await Store.open(database, tomorrow) as other:
        async with one.hold_night(7) as mine, other.hold_night(7) as theirs:
            assert (mine, theirs) == (True, False)
        async with other.hold_night(7) as theirs, one.hold_night(7) as mine:
            assert (mine, theirs) == (False, True)


async def test_a_server_that_just_came_back_lets_nobody_lose_a_night(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it was away nobody could say that they are still at it."""
    async with await Store.open(database) as store:
        assert await store.run(postgres.take_lease, "night:7", "mine")
        expired = postgres.leases.update().values(until=sa.func.clock_timestamp() - sa.text("interval '1 hour'"))
        await store.run(lambda connection: connection.execute(expired))
        with monkeypatch.context() as patched:
            patched.setattr(postgres, "LEASE", 10 * 365 * 86_400.0)  # it has not been back for that long
            assert not await store.run(postgres.take_lease, "night:7", "other")
            assert await store.run(postgres.list_holders, "night:") == ["mine"]
            assert await store.run(postgres.take_lease, "night:7", "mine")
        await store.run(lambda connection: connection.execute(expired))
        monkeypatch.setattr(postgres, "LEASE", 0.001)
        assert await store.run(postgres.take_lease, "night:7", "other")
