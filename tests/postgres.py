"""A server of PostgreSQL for the tests: one that a URL names, or Debian's own on loopback, started as needed.

    INSULA_TEST_POSTGRES=postgresql://… python -m pytest …
    python tests/postgres.py start | stop | restart

What is started is for tests alone: it does not wait for the disk.
"""

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pooler

ROLE = "insula_tests"
"""Who owns the databases of the tests: no superuser, whom row-level security would not hold."""
HOUSE = Path(__file__).parent.parent / ".venv"
NOTE = HOUSE / "postgres.url"
"""Where the URL of the server that was started stands."""
GIVEN = os.environ.get("INSULA_TEST_POSTGRES", "")
AWAY = "there is no PostgreSQL here (make postgres installs one; INSULA_TEST_POSTGRES=postgresql://… names one)"
SETTINGS = (
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "max_connections=200",
    "shared_buffers=256MB",
)


def server() -> str:
    """The URL of a server that answers; empty where there is none."""
    found = GIVEN or (NOTE.read_text().strip() if NOTE.exists() else "")
    return found if found and _answers(found) else ""


def _answers(url: str) -> bool:
    try:
        import psycopg
    except ImportError:
        return False
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def database(url: str, template: str = "template0", more: str = "ENCODING 'UTF8'") -> Generator[str]:
    """A database of its own, as a URL; gone when the block ends."""
    import psycopg

    name, word = f"insula_{secrets.token_hex(8)}", hashlib.sha256(url.encode()).hexdigest()[:16]
    with psycopg.connect(url, autocommit=True) as connection:
        with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{word}'".encode())
        connection.execute(f'CREATE DATABASE "{name}" OWNER {ROLE} TEMPLATE "{template}" {more}'.encode())
    try:
        yield f"postgresql://{ROLE}:{word}@{url.rpartition('@')[2].rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def programs() -> Path | None:
    """The folder of the server's programs, of the newest version."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: int(one.parts[-3]))
    found = debian[-1] if debian else shutil.which("initdb")
    return Path(found).parent if found else None


def _install() -> None:
    """Take Debian's, and its pooler, where that may be done."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("insula: installing PostgreSQL and PgBouncer for the tests", file=sys.stderr)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=False, env=quiet)
        wanted = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "postgresql", "pgbouncer"]
        subprocess.run(wanted, check=False, env=quiet, stdout=subprocess.DEVNULL)


def _run(*command: str | Path) -> None:
    """Run a program of the server's, which does not run as root."""
    user = "postgres" if os.geteuid() == 0 else None
    subprocess.run(command, check=True, user=user, cwd="/", stdout=subprocess.DEVNULL)


def _folder() -> Path:
    """Where the data lies: where the server's own user may write, for each checkout its own."""
    mine = hashlib.sha256(str(HOUSE.resolve()).encode()).hexdigest()[:8]
    return Path(f"/var/lib/postgresql/insula-tests-{mine}") if os.geteuid() == 0 else HOUSE / "postgres"


def start() -> bool:
    """Start the server, made if there is none; False where it cannot be had."""
    if server():
        return True
    if programs() is None or not pooler.program():
        _install()
    if (found := programs()) is None:
        return False
    folder, word = _folder(), secrets.token_urlsafe(16)
    if not (folder / "PG_VERSION").exists() or not NOTE.exists():
        shutil.rmtree(folder, ignore_errors=True)
        password = Path("/tmp") / f"insula-{secrets.token_hex(8)}"
        password.write_text(word)
        password.chmod(0o644 if os.geteuid() == 0 else 0o600)
        made = ("-U", "insula", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", f"--pwfile={password}")
        _run(found / "initdb", "-D", folder, *made)
        password.unlink()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        NOTE.touch(mode=0o600)
        NOTE.write_text(f"postgresql://insula:{word}@127.0.0.1:{port}/postgres")
    _run(found / "pg_ctl", "-D", folder, "-l", folder / "log", "-w", "-o", _options(), "start")
    return bool(server())


def _options() -> str:
    port = NOTE.read_text().strip().rpartition("/")[0].rpartition(":")[2]
    return " ".join(f"-c {one}" for one in (*SETTINGS, f"port={port}"))


def stop(mode: str = "fast") -> None:
    """Stop the server: `fast`, or `immediate` as if it had crashed."""
    if found := programs():
        _run(found / "pg_ctl", "-D", _folder(), "-m", mode, "-w", "stop")


def restart(mode: str = "immediate") -> None:
    """Stop the server, and start it again."""
    stop(mode)
    start()


if __name__ == "__main__":
    if sys.argv[1:] == ["stop"]:
        stop()
    elif sys.argv[1:] == ["restart"]:
        restart()
    else:
        try:
            answers = start()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"insula: PostgreSQL does not start ({error})", file=sys.stderr)
            answers = False
        said = f"PostgreSQL answers; its URL is in {str(NOTE)!r}" if answers else f"{AWAY}, so its tests are skipped"
        print(f"insula: {said}", file=sys.stderr)
