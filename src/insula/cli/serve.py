"""`insula serve`: the agent over HTTP, with its metrics and its page."""

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import Annotated

import typer
import uvicorn
from rich.console import Console

from insula import settings as settings_module
from insula.cli.common import HOST, LOG_FILE, PORT, log_to, model_understands, soul_of
from insula.cli.lines import print_warning
from insula.cli.opening import open_agent
from insula.cli.options import Port
from insula.errors import InputError, SettingsError
from insula.server import tokens
from insula.server.app import create_app
from insula.server.service import LOOPBACK, Service
from insula.server.serving import StreamServer, bound_arenas, make_server
from insula.server.tokens import Keys
from insula.settings import Settings
from insula.text import analysis

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 they are recognised here, not bound to
"""Addresses that stand for all of a machine's: no request names them as its host."""
UNNAMED = "Only requests to localhost are answered; name what others reach this server by with --allow-host NAME."


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on; another than this machine's own needs tokens.")
    ] = HOST,
    port: Port = PORT,
    model: Annotated[str | None, typer.Option(help="As for `insula chat`.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name by which the server is reached; repeatable.")
    ] = None,
) -> int:
    """Start the server: a page to talk on, the API and the metrics."""
    bound_arenas()
    allowed = allow_host or ()
    settings, home = settings_module.load_settings(), settings_module.home()
    tokens.read_tokens(home / tokens.FILE)  # what is none is said at once
    keys = Keys(home / tokens.FILE)
    log_to(home / LOG_FILE, logging.INFO)
    with bind_socket(host, port) as listening:
        address = listening.getsockname()
        if not (ip_address(address[0]).is_loopback or keys):
            raise SettingsError(
                f"At {host!r} others can reach the server, and nobody needs a token; give each user one with: "
                "insula token new NAME, or leave --host out."
            )
        if keys.are_gone:
            print_warning(tokens.NONE_LEFT)
        if address[0] in EVERYWHERE and not allowed:
            print_warning(UNNAMED)
        return asyncio.run(
            _serve_app(settings, keys, model or settings.model, listening, _allowed_names(host, address[0], allowed))
        )


class ForegroundServer(StreamServer):
    """A server that says where it is, and that lets the command end as it should when a signal stops it."""

    def __init__(self, config: uvicorn.Config, address: str) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say where."""
        await super().startup(sockets)
        print(f"insula · {self._address} · Ctrl-C stops it", flush=True)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop on a signal; the base class raises it once more at the end, and the store would not be closed."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def _serve_app(
    settings: Settings, keys: Keys, name: str, listening: socket.socket, hosts: tuple[str, ...]
) -> int:
    status = Console(stderr=True).status("waking the model")
    status.start()
    try:
        async with open_agent(settings, name) as chat:
            await asyncio.to_thread(analysis.warm_up)  # one of many talks will need it, and none is to wait for it
            if chat.metacognition.store.is_shared:
                chat.metacognition.engine.service += f":{listening.getsockname()[1]}"
            await chat.metacognition.engine.restore_state()
            service = Service(
                chat=chat,
                model=name,
                soul_of=soul_of,
                keys=keys,
                home=settings_module.home(),
                hosts=hosts,
                understands=model_understands(name),
                understanding=settings.understanding,
                understanding_tokens=settings.understanding_tokens,
                zone_of=settings.zone_of,
                nightly=settings.store is None,  # on a server of PostgreSQL nights are run by workers
            )
            status.stop()
            server = make_server(create_app(service))
            await ForegroundServer(server.config, _server_url(listening)).serve([listening])
    finally:
        status.stop()
    return 0


@contextmanager
def bind_socket(host: str, port: int) -> Generator[socket.socket]:
    """A socket that listens, taken before a model is woken: an address in use is said at once."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server((str(address[0]), port), family=family, backlog=2048)
    except (OSError, UnicodeError, OverflowError) as error:
        raise InputError(_explain_failure(host, port, error)) from error
    with listening:
        # asyncio sets this only where a socket names its protocol; else each answer waits 40 ms for an ACK (Nagle).
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listening


def _explain_failure(host: str, port: int, error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host!r} is in use, perhaps by another `insula serve`; end that one, or give --port."
    if isinstance(error, PermissionError):
        return f"Port {port} may not be used by you; choose one above 1023 with --port."
    reason = str(getattr(error, "strerror", None) or error).partition(" (while")[0]
    return f"The server cannot listen on {host!r}, port {port} ({reason}); give another --host or --port."


def _allowed_names(host: str, address: str, allowed: Sequence[str]) -> tuple[str, ...]:
    """The names that requests may call the server by."""
    own = () if address in EVERYWHERE else (host, address)
    return tuple(dict.fromkeys([*LOOPBACK, *own, *allowed]))


def _server_url(listening: socket.socket) -> str:
    address, port = listening.getsockname()[:2]
    return f"http://{f'[{address}]' if ':' in address else address}:{port}"
