"""The application on a socket: uvicorn, with limits on what HTTP itself leaves open."""

import asyncio
import ctypes
import socket
import sys
from contextlib import suppress
from http import HTTPStatus
from typing import cast

import h11
import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from insula.server.middleware import HEAD_BYTES, HEAD_TOO_LARGE, LARGE_HEAD
from insula.server.problems import Problem
from insula.server.service import Service
from insula.server.turns import GRACE_SECONDS

HEAD_SECONDS = 15.0
"""How long a client may take to send the head of a request."""
CONNECTIONS = 2_000
"""Connections that are held; where there are more, new ones are closed at once. Twice what `crowd` lets in, so that the
others hear why."""
GRACEFUL_SECONDS = 15
"""How long a server that stops waits for requests under way, streams aside: they are ended at once. Turns are given
`GRACE_SECONDS` of them, so that who waits for one is told what became of it."""

M_ARENA_MAX = -8
"""The name of glibc's setting for its pools of memory (malloc.h)."""
ARENAS = 2
"""Pools that all threads share: by default each keeps one, and after a crowd the room in it that nobody uses."""


class PatientProtocol(H11Protocol):
    """A connection that is closed where no request is told of in time: uvicorn waits for ever."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] as uvicorn's own
        """Begin to wait, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
            return
        self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        """Take data in; once a request is there, its own limits hold."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._begin_waiting()

    def send_400_response(self, msg: str) -> None:
        """Say of what is no request why, as every other answer does."""
        failed, why = sys.exc_info()[1], f"{msg.removesuffix('.')}; send one as HTTP/1.1 has it (RFC 9112)."
        too_large = isinstance(failed, h11.RemoteProtocolError) and failed.error_status_hint == HEAD_TOO_LARGE
        problem = Problem.of_status(HEAD_TOO_LARGE, LARGE_HEAD) if too_large else Problem.of_status(400, why)
        answer = problem.make_response({"Connection": "close"})
        for event in (
            h11.Response(
                status_code=problem.status,
                headers=[*answer.raw_headers],
                reason=HTTPStatus(problem.status).phrase.encode(),
            ),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _begin_waiting(self) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._close_late)

    def _close_late(self) -> None:
        under_way = cast(RequestResponseCycle | None, self.cycle)
        if under_way is None or under_way.response_complete:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class StreamServer(uvicorn.Server):
    """A server whose streams end when it stops, which uvicorn would wait for."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop: streams first, then what is under way; turns that are not done in time are ended."""
        service = cast("Service | None", getattr(cast(Starlette, self.config.app).state, "service", None))
        if service is None:
            await super().shutdown(sockets)
            return
        service.live.close_streams()
        ending = asyncio.get_running_loop().call_later(GRACE_SECONDS, service.turns.cancel_all)
        await super().shutdown(sockets)
        ending.cancel()


def bound_arenas() -> None:
    """Let the threads of this process share few pools of memory, where the system's C library has such (mallopt(3))."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def make_server(app: FastAPI) -> StreamServer:
    """A server of the application, to be awaited with `serve()`; by default at a free port of this machine."""
    config = uvicorn.Config(
        app,
        port=0,
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_keep_alive=int(HEAD_SECONDS),  # else 5 s, at which clients give up theirs: a request may cross it
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    return StreamServer(config)
