"""What the tests of the server share; the parts that they name stand in `api_service.py`."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import page_site
import pytest
from api_service import TOKENS, Client, MakeService, Replies, Serve, answer
from fastapi import FastAPI
from page_site import keys_of
from page_tab import Site, Sites
from playwright.sync_api import Browser, sync_playwright

from insula import Chat, Metacognition
from insula.agent.requests import KeptRequests
from insula.errors import StoreFull
from insula.night.curation import REQUESTS
from insula.server.app import create_app
from insula.server.service import Service
from insula.server.serving import make_server
from insula.testing import ScriptedModel

FLAGS = (
    "--no-sandbox",  # needed where root runs the tests
    *("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
)


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong token is answered at once; how long it waits has tests of its own."""
    monkeypatch.setattr("insula.server.tokens.FIRST_SECONDS", 0.0)


@asynccontextmanager
async def serve(service: Service) -> AsyncGenerator[str]:
    """Serve on loopback within the block, whose value is the address."""
    running = make_server(create_app(service))
    task = asyncio.create_task(running.serve())
    while not running.started:
        await asyncio.sleep(0.005)
        if task.done():
            task.result()
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.should_exit = True
    await task


@pytest.fixture
def served() -> Serve:
    """Serves a service on loopback within a block, whose value is the address."""
    return serve


@pytest.fixture
async def metacognition(anyio_backend: str, tmp_path: Path) -> AsyncGenerator[Metacognition]:
    """In a file of its own, which can be taken away."""
    async with await Metacognition.open(
        tmp_path / "insula.db", soul=lambda user: tmp_path / "users" / user / "SOUL.md"
    ) as opened:
        yield opened


@pytest.fixture
def make_service(metacognition: Metacognition, tmp_path: Path) -> MakeService:
    """Makes services over the store of the test."""

    def make(
        replies: Replies = answer,
        *,
        tokens: Mapping[str, str] | None = None,
        delay: float = 0.0,
        model: ScriptedModel | None = None,
    ) -> Service:
        return Service(
            chat=Chat(
                metacognition,
                model or ScriptedModel(replies, delay=delay),
                requests=KeptRequests(lambda user: tmp_path / "users" / user / REQUESTS),
            ),
            model="scripted",
            soul_of=lambda user: tmp_path / "users" / user / "SOUL.md",
            keys=keys_of(tmp_path, tokens),
            home=tmp_path,
        )

    return make


@pytest.fixture
async def client(anyio_backend: str) -> AsyncGenerator[Client]:
    """Makes clients that call a service in process, as somebody on this machine would."""
    made: list[httpx2.AsyncClient] = []

    def make(service: Service) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(create_app(service))
        made.append(httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1"))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    named = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not named:
        pytest.skip("There is no Chromium here; install it (apt-get install chromium), or name it with CHROMIUM=path.")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=named, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def site() -> Sites:
    """Starts servers of the pages."""
    return page_site.site


@pytest.fixture
def running(tmp_path: Path) -> Generator[Site]:
    with page_site.site(tmp_path) as started:
        yield started


@pytest.fixture(params=[{}, TOKENS], ids=["by name", "by token"])
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[FastAPI]:
    """An application in which something was said."""
    metacognition = asyncio.run(Metacognition.open(":memory:"))
    chat = Chat(metacognition, ScriptedModel(answer))
    keys = keys_of(tmp_path, request.param)
    service = Service(chat=chat, model="scripted", soul_of=lambda _: None, keys=keys, hosts=("testserver", "localhost"))
    asyncio.run(chat.reply("ana", "monday", "I live in Lisbon."))
    made = create_app(service)
    made.state.service.live.closed = True  # a stream that goes on for ever would never be checked
    yield made
    asyncio.run(metacognition.close())


@pytest.fixture
def full_disk(metacognition: Metacognition) -> Callable[[], AbstractContextManager[None]]:
    """Within the block nothing can be written for want of room."""

    async def full(*_: object, **__: object) -> None:
        raise StoreFull("The disk that holds the memory is full; make room, and try again.")

    @contextmanager
    def block() -> Generator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(metacognition.store), "run", full)
            yield

    return block


@pytest.fixture
def pragma(metacognition: Metacognition) -> Callable[[str], Awaitable[None]]:
    """Sets something of the file's own on the connection that writes."""

    async def put(words: str) -> None:
        await metacognition.store.run(lambda connection: connection.exec_driver_sql(f"PRAGMA {words}").close())

    return put
