"""What a load test counts: what fails, what is lost, and what is told to the wrong one."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from insula_bench.load_client import Listener, Listeners
from insula_bench.load_sessions import Session

Json = dict[str, Any]


class Answers:
    """A server on loopback that answers by a script: what a broken one would."""

    def __init__(self, *replies: bytes) -> None:
        self.received: list[bytes] = []
        self._replies = iter(replies)
        self._connections: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def at(self) -> AsyncGenerator[int]:
        """Serve on a port, which is the value."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]
            await asyncio.gather(*self._connections)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.append(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
            self.received.append(head + await reader.readexactly(length))
            if (reply := next(self._replies, b"")) == b"":
                break
            writer.write(reply)
        writer.close()


def http(body: object, status: str = "200 OK") -> bytes:
    sent = json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent


def exchange(number: int, response: str = "Noted.", **changed: object) -> Json:
    return {"turn": number, "response": response, "troubles": [], "ms": {"added": 5.0, "model": 52.0}, **changed}


def transcript(*lines: tuple[str, str]) -> Json:
    turns = [
        {"turn": k, "lines": [{"provenance": "user", "content": a}, {"provenance": "assistant", "content": b}]}
        for k, (a, b) in enumerate(lines, 1)
    ]
    return {"turns": turns, "next": None}


pytestmark = pytest.mark.anyio


async def test_a_turn_is_acknowledged_or_it_says_why_not() -> None:
    replies = (
        exchange(1, metacog={"turn_counter": 5}),
        exchange(0),
        exchange(2, troubles=["The disk is full."]),
    )
    refused = http({"detail": "Try again."}, "503 Service Unavailable")
    async with Answers(*map(http, replies), refused).at() as port:
        session = Session(port, "ana", 1)
        turns = [await session.say(f"Message {k}") for k in range(5)]
        session.close()
    assert (turns[0].failure, turns[0].number, turns[0].snapshot) == ("", 1, 5)
    assert turns[0].ms > 0
    assert [bool(turn.failure) for turn in turns] == [False, True, True, True, True]
    assert "The disk is full." in turns[2].failure
    assert turns[3].failure == "503: Try again."
    assert "IncompleteReadError" in turns[4].failure, "the connection was cut"


@pytest.mark.parametrize(
    ("kept", "lost"),
    [
        ([("a", "Noted."), ("b", "Noted.")], 0),
        ([("a", "Noted.")], 1),
        ([("a", "Noted."), ("b", "Something else.")], 1),
    ],
)
async def test_a_turn_that_the_transcript_lacks_or_has_otherwise_is_lost(
    kept: list[tuple[str, str]], lost: int
) -> None:
    async with Answers(http(exchange(1)), http(exchange(2)), http(transcript(*kept))).at() as port:
        session = Session(port, "ana", 1)
        await session.say("a")
        await session.say("b")
        assert await session.lost() == lost
        session.close()


STREAM = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nid: 4\n\n\r\n"
    b'40\r\ndata: {"session": "ana.s1"}\nid: 5\n\n: ping\n\ndata: {"session": "ana.s2"}\nid: 7\n\n\r\n'
)


async def test_a_listener_keeps_what_it_was_told() -> None:
    server = Answers(STREAM, b"")
    async with server.at() as port, Listeners(port, ["ana"]) as listeners:
        while len(listeners.all[0].heard) < 2:
            await asyncio.sleep(0.001)
    one = listeners.all[0]
    assert (one.began, one.heard, one.foreign) == (4, [5, 7], 0)
    assert b"user=ana" in server.received[0]


@pytest.mark.parametrize(
    ("heard", "foreign", "wrong"),
    [
        ([5, 7], 0, False),
        ([5], 0, True),
        ([5, 7, 7], 0, True),
        ([7, 5], 0, True),
        ([5, 7], 1, True),
    ],
)
def test_a_listener_is_wrong_unless_it_was_told_all_of_its_user_once(
    heard: list[int], foreign: int, wrong: bool
) -> None:
    one = Listener("ana")
    one.began, one.heard, one.foreign = 4, heard, foreign
    assert one.is_wrong([3, 4, 5, 7]) is wrong
