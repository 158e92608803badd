"""PgBouncer before a server of the tests, in transaction mode: Debian's own, where it is installed."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

AWAY = "there is no PgBouncer here (make test-postgres installs Debian's)"
CONNECTIONS = 4
"""To the server, for all who come: fewer than they are, so that transactions of one meet different ones."""
PATIENCE = 10.0
SETTINGS = """[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {free}
unix_socket_dir =
auth_type = plain
auth_file = {users}
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
logfile = {log}
"""


def program() -> str:
    """Where it is; empty where it is not."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or ""


@contextmanager
def pooler(url: str) -> Generator[str]:
    """The same database behind a pooler, as a URL, as long as the block."""
    at = urlsplit(url)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        users, settings = here / "users", here / "settings"
        users.write_text(f'"{at.username}" "{at.password}"\n')
        words = {"host": at.hostname, "port": at.port, "free": free, "users": users, "log": here / "log"}
        settings.write_text(SETTINGS.format(connections=CONNECTIONS, **words))
        user = "postgres" if os.geteuid() == 0 else None  # it does not run as root
        if user:
            for path in (here, users, settings):
                shutil.chown(path, user)
        process = subprocess.Popen(
            [program(), "-q", settings], user=user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait(free)
            yield f"postgresql://{at.username}:{at.password}@127.0.0.1:{free}{at.path}"
        finally:
            process.terminate()
            process.wait()


def _wait(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise TimeoutError("PgBouncer does not answer")
