"""Who is let in: by which name and token, what they may send and how slowly, and what stands on every answer."""

import asyncio
import json
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from api_service import TOKENS, Client, MakeService, Serve, say
from starlette.types import Message, Receive, Scope, Send

from insula import InputError
from insula.errors import SettingsError
from insula.server import serving, tokens
from insula.server.middleware import BODY_BYTES, HEADERS, Bodies, Crowd, SecurityHeaders
from insula.server.tokens import ADDRESSES, FILE, FREE, MOST_FAILURES, MOST_SECONDS, Attempts, Keys, delay_seconds
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


HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.",
    "localhost:",
    "localhost:80@evil.example",
    "",
    "a/../localhost",
)


async def test_no_answer_is_given_under_a_name_of_somebody_elses(make_service: MakeService, client: Client) -> None:
    here = client(make_service())
    for path in ("/health", "/agent/memories?user=ana", "/", "/static/page.css", "/nothing"):
        for host in HOSTS:
            found = await here.get(path, headers={"Host": host})
            assert found.status_code == 400, (path, host)
            assert "Host" in found.json()["detail"], (path, host)


async def test_two_host_headers_are_one_too_many(make_service: MakeService, served: Serve) -> None:
    async with served(make_service()) as url:
        found = await raw(
            url, b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        assert found.startswith(b"HTTP/1.1 400 ")


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


FRAMINGS = (
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
)


async def test_games_with_headers_get_nothing(make_service: MakeService, served: Serve) -> None:
    async with served(make_service()) as url:
        for framing in FRAMINGS:
            found = await raw(
                url,
                b"POST /agent/chat HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: */*\r\n" + framing,
                pause=0.05,
            )
            assert re.match(rb"HTTP/1.1 4\d\d ", found), (framing[:200], found[:200])
            assert b'"memories"' not in found, framing[:200]


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


async def test_a_head_that_is_too_large_is_refused_with_a_sentence(make_service: MakeService, served: Serve) -> None:
    async with served(make_service()) as url:
        for head in (b"X-Long: " + b"x" * 80_000, b"X: y\r\n" * 30_000, b"X: " + b"x" * 2_000_000):
            reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
            with suppress(ConnectionError):
                await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n") + await reader.read(300)
            writer.close()
            assert answer.startswith(b"HTTP/1.1 431 "), head[:20]
            assert b"longer than 65,536 bytes" in answer, head[:20]


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


# Tokens are kept as digests, end when they should, and are no door that can be tried for ever


DAY = 86_400.0


@pytest.fixture(autouse=True)
def somebody_waits(nobody_waits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insula.server.tokens.FIRST_SECONDS", 1.0)


ANA = {"Authorization": f"Bearer {TOKENS['ana']}"}


def kept(path: Path, *users: str, days: float = 1.0, now: float = 0.0) -> list[str]:
    """New tokens of users, put into the file."""
    made: list[str] = []
    for user in users:
        text, every = tokens.add_token(tokens.read_tokens(path), user, "", now, days)
        tokens.write_tokens(path, every)
        made.append(text)
    return made


def test_what_is_kept_opens_nothing(tmp_path: Path) -> None:
    (text,) = kept(tmp_path / FILE, "ana")
    raw = (tmp_path / FILE).read_text()
    assert text not in raw
    keys = Keys(tmp_path / FILE, lambda: 0.0)
    found = keys.find_token(text)
    assert found and (found.user, found.name) == ("ana", "ana-1")
    assert keys.find_token(json.loads(raw)[0]["digest"]) is None


def test_a_token_ends_on_its_day(tmp_path: Path) -> None:
    clock = [0.0]
    day, ever = *kept(tmp_path / FILE, "ana"), *kept(tmp_path / FILE, "ben", days=0)
    keys = Keys(tmp_path / FILE, lambda: clock[0])
    clock[0] = DAY - 1
    assert keys.find_token(day)
    clock[0] = DAY
    assert keys.find_token(day) is None
    assert keys.find_token(ever)
    assert keys, "that it is over opens no door"


def test_names_are_told_apart(tmp_path: Path) -> None:
    kept(tmp_path / FILE, "ana", "ana")
    known = tokens.read_tokens(tmp_path / FILE)
    assert [one.name for one in known] == ["ana-1", "ana-2"]
    with pytest.raises(InputError, match="There is a token 'ana-2' already"):
        tokens.add_token(known, "ben", "ana-2", 0.0, 1)
    with pytest.raises(InputError, match="can be seen"):
        tokens.add_token(known, "ben", "a\x1b[2Jb", 0.0, 1)
    with pytest.raises(InputError, match="no token 'x'"):
        tokens.remove_token(known, "x")
    assert tokens.revoke_user(tmp_path / FILE, "ana") == 2
    assert tokens.read_tokens(tmp_path / FILE) == ()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"name": 1}]', "[" * 10_000])
def test_a_file_that_holds_no_tokens_is_said_and_opens_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    (tmp_path / FILE).chmod(0o600)
    with pytest.raises(SettingsError, match="are no tokens; take the file away"):
        tokens.read_tokens(tmp_path / FILE)
    keys = Keys(tmp_path / FILE)
    assert keys
    assert keys.find_token(text) is None


def test_a_file_that_others_may_read_opens_nothing(tmp_path: Path) -> None:
    (text,) = kept(tmp_path / FILE, "ana", days=0)
    keys = Keys(tmp_path / FILE)
    assert keys.find_token(text)
    (tmp_path / FILE).chmod(0o640)
    assert keys.find_token(text) is None
    (tmp_path / FILE).chmod(0o600)
    assert keys.find_token(text)


def test_who_tries_again_and_again_waits_longer_and_is_refused_in_the_end(caplog: pytest.LogCaptureFixture) -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    waited = [attempts.note_failure("192.0.2.1") for _ in range(MOST_FAILURES + 1)]
    assert waited[:FREE] == [delay_seconds(1)] * FREE
    assert waited[:-1] == sorted(one for one in waited if one is not None)
    assert waited[-2:] == [MOST_SECONDS, None]
    assert attempts.note_failure("192.0.2.2") == delay_seconds(1), "others are not made to wait for it"
    clock[0] += 601
    assert attempts.note_failure("192.0.2.1") == delay_seconds(1)
    for number in range(2 * ADDRESSES):
        attempts.note_failure(str(number))
    assert len(attempts._failures) == ADDRESSES  # pyright: ignore[reportPrivateUsage]
    assert "a token from 192.0.2.1 is nobody's; 51 in ten minutes" in caplog.text


async def test_wrong_tokens_are_slowed_and_right_ones_are_not(
    make_service: MakeService, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("insula.server.users.asyncio.sleep", wait)
    here = client(make_service(tokens=TOKENS))
    statuses = {
        (await here.get("/ready", headers={"Authorization": f"Bearer wrong{number}"})).status_code
        for number in range(MOST_FAILURES)
    }
    assert statuses == {401}
    assert waited == sorted(waited) and waited[-1] == MOST_SECONDS
    refused = await here.post("/sign-in", data={"token": "wrong-token"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "600")
    assert (await here.get("/ready", headers=ANA)).status_code == 200


@pytest.mark.parametrize("by", ["revoking it", "erasing its user"])
async def test_a_stream_ends_with_the_token_that_opened_it(
    make_service: MakeService, served: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr("insula.server.live.POLL_SECONDS", 0.1)
    texts = kept(tmp_path / FILE, "ana", "ben", days=0)
    mine, other = ({"Authorization": f"Bearer {text}"} for text in texts)
    async with served(make_service()) as url, httpx2.AsyncClient(base_url=url, timeout=30) as browser:
        said = {"session": "monday", "message": "I live in Lisbon."}
        assert (await browser.post("/agent/chat", json=said, headers=mine)).status_code == 200
        async with (
            browser.stream("GET", "/signals", headers=mine) as ending,
            browser.stream("GET", "/signals", headers=other) as going_on,
        ):
            lines, others = ending.aiter_lines(), going_on.aiter_lines()
            assert (await anext(lines)).startswith("id:")
            assert (await anext(others)).startswith("id:")
            if by == "revoking it":
                tokens.revoke_user(tmp_path / FILE, "ana")
            else:
                assert (await browser.post("/agent/data/erase", json={"name": "ana"}, headers=mine)).status_code == 200
            assert "data" not in "".join([line async for line in lines])  # it ends
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    while True:
                        await anext(others)
        assert (await browser.get("/agent/sessions", headers=mine)).status_code == 401
        again = await browser.get("/signals", headers=mine)
        assert (again.status_code, "token" in again.json()["detail"].lower()) == (401, True)
