"""Who is let in, what they may send and how slowly, and what stands on every answer."""

import asyncio
import json
import re
from contextlib import suppress
from urllib.parse import urlsplit

import httpx2
import pytest
from api_service import Client, MakeService, Serve, say
from starlette.types import Message, Receive, Scope, Send

from insula.server import serving
from insula.server.app import create_app
from insula.server.door.bodies import BODY_BYTES, Bodies
from insula.server.door.crowd import Crowd
from insula.server.door.gate import HostGate, host_of
from insula.server.door.headers import HEADERS, SecurityHeaders
from patience import DEADLOCK_SECONDS, until

pytestmark = pytest.mark.anyio

SAID = {"user": "ana", "session": "monday", "message": "I live in Lisbon."}


async def raw(url: str, *parts: bytes, pause: float = 0.0, limit: float = DEADLOCK_SECONDS) -> bytes:
    """Send bytes as they are, and read until the server closes."""
    reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        async with asyncio.timeout(limit):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST:80", "localhost"),
        ("127.0.0.1:8420", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::1]:8420", "::1"),
        ("evil.example", "evil.example"),
        ("localhost:", ""),
        ("localhost:80:80", "localhost:80"),
        ("localhost:x", ""),
        ("localhost:80@evil.example", ""),
        ("", ""),
    ],
)
def test_a_host_header_is_read_without_its_port(header: str, name: str) -> None:
    assert host_of(header) == name


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.", "0.0.0.0", "", "a/../localhost"]
)
@pytest.mark.parametrize("path", ["/health", "/agent/memories?user=ana", "/", "/static/page.css", "/nothing"])
async def test_no_answer_is_given_under_a_name_of_somebody_elses(
    host: str, path: str, make_service: MakeService, client: Client
) -> None:
    found = await client(make_service()).get(path, headers={"Host": host})
    assert found.status_code == 400
    assert "Host" in found.json()["detail"]


async def test_two_host_headers_are_one_too_many(make_service: MakeService, served: Serve) -> None:
    async with served(make_service()) as url:
        found = await raw(
            url, b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        assert found.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("hosts", [[], [b"localhost", b"localhost"], [b"localhost", b"evil.example"]])
async def test_a_request_names_one_host(hosts: list[bytes]) -> None:
    async def served_app(_: Scope, __: Receive, ___: Send) -> None:
        raise AssertionError("the application is not asked")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "headers": [(b"host", host) for host in hosts]}
    await HostGate(served_app, ["localhost"])(scope, receive, send)
    assert sent[0]["status"] == 400


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Origin": "http://127.0.0.1"}, True),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "http://127.0.0.1:81"}, False),
        ({"Origin": "http://127.0.0.1.evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ""}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1"}, False),
    ],
)
async def test_nothing_is_changed_for_pages_of_other_sites(
    headers: dict[str, str], allowed: bool, make_service: MakeService, client: Client
) -> None:
    service = make_service()
    here = client(service)
    found = [
        await here.post("/agent/chat", json=SAID, headers=headers),
        await here.post("/agent/sleep?user=ana", headers=headers),
        await here.post("/sign-in", content="token=x", headers=headers),
        await here.delete("/agent/memories/1?user=ana", headers=headers),
    ]
    assert [one.status_code == 403 for one in found] == [not allowed] * 4
    assert bool(await service.chat.metacognition.store.nights.list_users()) is allowed
    assert (await here.get("/health", headers=headers)).status_code == 200


async def test_signals_are_not_told_to_pages_of_other_sites(make_service: MakeService, client: Client) -> None:
    found = await client(make_service()).get("/signals?user=ana", headers={"Sec-Fetch-Site": "cross-site"})
    assert found.status_code == 403


async def test_every_answer_bears_the_headers(make_service: MakeService, client: Client) -> None:
    here = client(make_service(lambda _: ValueError("a fault of ours")))
    answers = [
        await here.get("/health"),
        await here.get("/nothing"),
        await here.put("/health"),
        await here.get("/agent/memories"),
        await here.get("/agent/memories?user=ana"),
        await here.get("/health", headers={"Host": "evil.example"}),
        await here.post("/agent/chat", content=b"x" * (BODY_BYTES + 1)),
        await here.post("/agent/chat", json=SAID, headers={"Accept": "text/event-stream"}),
        await here.get("/static/page.css"),
        await here.get("/static/../app.py"),
    ]
    assert {one.status_code for one in answers} == {200, 400, 404, 405, 413, 422}
    for found in answers:
        assert {name: found.headers[name] for name in HEADERS} == dict(HEADERS), found.url
        public = found.status_code == 200 and "/static" in str(found.url)
        assert found.headers["cache-control"] == ("public, no-cache" if public else "no-store")
        if found.status_code >= 400:
            assert found.headers["content-type"] == "application/problem+json"
            assert found.json()["status"] == found.status_code


async def test_a_fault_of_ours_is_a_problem_that_tells_nothing_of_us() -> None:
    async def broken(_: Scope, __: Receive, ___: Send) -> None:
        raise ValueError("/secret/path")

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(SecurityHeaders(broken)), base_url="http://x") as here:
        found = await here.get("/")
    assert (found.status_code, found.headers["x-content-type-options"]) == (500, "nosniff")
    assert "secret" not in found.text
    assert "ValueError" in found.json()["detail"]


async def test_a_body_is_counted_as_it_comes_whatever_its_header_says(make_service: MakeService, served: Serve) -> None:
    async with served(make_service()) as url:
        head = b"POST /agent/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        told = await raw(url, head + b"Content-Length: 99999999\r\n\r\n", b"{")
        assert told.startswith(b"HTTP/1.1 413 ")
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        streamed = await raw(url, head + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 16)
        assert streamed.startswith(b"HTTP/1.1 413 ")
        assert b"problem+json" in streamed
        async with httpx2.AsyncClient(base_url=url, timeout=DEADLOCK_SECONDS) as here:
            large = await here.post("/agent/chat", content=b"x" * 10_000_000)
            assert (large.status_code, "1,000,000 bytes" in large.json()["detail"]) == (413, True)
            assert (await say(here, "I live in Lisbon.")).status_code == 200


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Length: 99999999999999999999999999\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /agent/memories?user=a HTTP/1.1\r\n\r\n",
        b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        b"X\x00Y: z\r\n\r\n",
        b"Name : z\r\n\r\n",
        b" folded: z\r\n\r\n",
    ],
)
async def test_games_with_headers_get_nothing(framing: bytes, make_service: MakeService, served: Serve) -> None:
    async with served(make_service()) as url:
        found = await raw(
            url,
            b"POST /agent/chat HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: */*\r\n" + framing,
            pause=0.05,
        )
        assert re.match(rb"HTTP/1.1 4\d\d ", found), found[:200]
        assert b'"memories"' not in found


async def test_what_is_no_request_at_all_is_told_as_a_problem_too(make_service: MakeService, served: Serve) -> None:
    async with served(make_service()) as url:
        for bytes_ in (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"):
            found = await raw(url, bytes_)
            head, _, body = found.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 ")
            assert b"content-type: application/problem+json" in head.lower()
            assert json.loads(body)["status"] == 400
            assert "HTTP/1.1" in json.loads(body)["detail"]


async def test_a_body_that_comes_too_slowly_is_given_up() -> None:
    async def served_app(_: Scope, __: Receive, ___: Send) -> None:
        raise AssertionError("the application is not asked")

    async def never() -> Message:
        return await asyncio.Future()

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "headers": [(b"content-length", b"5")]}
    await Bodies(served_app, seconds=0.05)(scope, never, send)
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


@pytest.mark.parametrize("head", [b"X-Long: " + b"x" * 80_000, b"X: y\r\n" * 30_000, b"X: " + b"x" * 2_000_000])
async def test_a_head_that_is_too_large_is_refused_with_a_sentence(
    head: bytes, make_service: MakeService, served: Serve
) -> None:
    async with served(make_service()) as url:
        reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
        with suppress(ConnectionError):
            await writer.drain()
        answer = await reader.readuntil(b"\r\n\r\n") + await reader.read(300)
        writer.close()
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"longer than 65,536 bytes" in answer


async def test_a_client_that_goes_away_in_its_body_is_forgotten(make_service: MakeService, served: Serve) -> None:
    service = make_service()
    async with served(service) as url:
        reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
        del reader
        writer.write(b"POST /agent/chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{")
        await writer.drain()
        writer.close()
        await asyncio.sleep(0.1)
        assert await service.chat.metacognition.store.nights.list_users() == []


async def test_a_head_that_never_ends_is_not_waited_for(
    make_service: MakeService, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.2)
    async with served(make_service()) as url:
        dripping = [b"GET /health HTTP/1.1\r\n", *(f"X-{number}: y\r\n".encode() for number in range(8))]
        assert await raw(url, *dripping[:1]) == b""
        with pytest.raises((ConnectionError, TimeoutError)):  # nor where it comes drop by drop
            for _ in range(3):
                await raw(url, *dripping, pause=0.1, limit=0.01)
        monkeypatch.setattr(serving, "HEAD_SECONDS", 2.0)  # a busy machine may take its time to read what is there
        idle = await raw(url, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.endswith(b'{"status":"ok"}')


async def test_too_many_connections_are_closed_at_once(
    make_service: MakeService, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "CONNECTIONS", 3)
    async with served(make_service()) as url:
        held = [await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port) for _ in range(3)]
        await asyncio.sleep(0.05)
        with pytest.raises(ConnectionError):
            assert await raw(url, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", pause=0.05) == b""
            raise ConnectionResetError
        for _, writer in held:
            writer.close()
        async with httpx2.AsyncClient(base_url=url, timeout=DEADLOCK_SECONDS) as here:
            async with asyncio.timeout(DEADLOCK_SECONDS):
                while not await _is_served(here):
                    await asyncio.sleep(0.01)


async def _is_served(here: httpx2.AsyncClient) -> bool:
    """Whether there is room; the server hears of a connection that was closed when it hears of it."""
    try:
        return (await here.get("/health")).status_code == 200
    except httpx2.TransportError:
        return False


async def test_a_full_server_says_so_and_serves_on_when_there_is_room() -> None:
    gone, entered = asyncio.Event(), 0

    async def slow(_: Scope, __: Receive, send: Send) -> None:
        nonlocal entered
        entered += 1
        await gone.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    transport = httpx2.ASGITransport(Crowd(slow, most=2))
    async with httpx2.AsyncClient(transport=transport, base_url="http://x") as here:
        inside = [asyncio.create_task(here.get("/")) for _ in range(2)]
        await until(lambda: entered == 2)
        full = await here.get("/")
        assert (full.status_code, full.headers["retry-after"]) == (503, "5")
        gone.set()
        assert [(await one).status_code for one in inside] == [204, 204]
        assert (await here.get("/")).status_code == 204


async def test_an_answer_repeats_nothing_long(make_service: MakeService, client: Client) -> None:
    here = client(make_service())
    long = "<script>" * 5_000
    answers = [
        await here.get(f"/agent/sessions/{long}?user=ana"),
        await here.get("/agent/memories", params={"user": long}),
        await here.get("/agent/memories", params={"user": "ana", "limit": long}),
        await here.post("/agent/chat", json=SAID | {long: 1}),
        await here.post("/agent/chat", json=SAID | {"user": long, "session": long}),
        await here.get(f"/{long}"),
    ]
    for found in answers:
        assert found.status_code in {404, 422}
        assert len(found.content) < 2_000


async def test_the_description_names_every_route_with_an_example(make_service: MakeService) -> None:
    described = create_app(make_service()).openapi()
    assert "Problem" in described["components"]["schemas"]
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            content = route["responses"].get("200", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            if "$ref" in schema:
                name = schema["$ref"].rpartition("/")[2]
                assert "example" in described["components"]["schemas"][name], f"{method} {path}: {name}"
            for status, answer in route["responses"].items():
                assert status < "400" or list(answer["content"]) == ["application/problem+json"], (method, path, status)
    assert json.dumps(described)
