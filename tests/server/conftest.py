"""What the tests of the server share; the parts that they name stand in `api_service.py`."""

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import httpx2
import pytest
from api_service import Client, MakeService, Replies, Serve, answer, serve

from insula.agent.chat import Chat
from insula.agent.requests import KeptRequests
from insula.metacognition import Metacognition
from insula.night.curation import REQUESTS
from insula.server.app import create_app
from insula.server.service import Service
from insula.server.tokens import FILE, Keys
from insula.testing import ScriptedModel


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong token is answered at once; how long it waits has tests of its own."""
    monkeypatch.setattr("insula.server.door.attempts.FIRST_SECONDS", 0.0)


@pytest.fixture
def served() -> Serve:
    """Serves a service on loopback within a block, whose value is the address."""
    return serve


@pytest.fixture
async def metacognition(anyio_backend: str, tmp_path: Path) -> AsyncGenerator[Metacognition]:
    """In a file of its own, which can be taken away."""
    async with await Metacognition.open(
        tmp_path / "insula.db", soul=lambda user: tmp_path / user / "SOUL.md"
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
                requests=KeptRequests(lambda user: tmp_path / user / REQUESTS),
            ),
            model="scripted",
            soul_of=lambda user: tmp_path / user / "SOUL.md",
            keys=Keys(tokens or {}, tmp_path / FILE),
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
