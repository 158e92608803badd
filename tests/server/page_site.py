"""A server of the pages on loopback, in a thread of its own, with a scripted model and a clock that can be moved."""

import asyncio
import socket
import threading
import time
from collections.abc import Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from insula.agent.chat import Chat, Reply
from insula.agent.requests import KeptRequests
from insula.coding.replay.find import find_transcripts
from insula.memory.storage import journal
from insula.memory.storage.changes import LessonChange
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.curation import REQUESTS
from insula.night.soul import Document
from insula.server.app import create_app
from insula.server.page.lookback import Lookback
from insula.server.service import Service
from insula.server.serving import StreamServer, make_server
from insula.server.tokens import Keys
from insula.session.latency import ANSWER, Observation
from insula.session.regulator import EndedTurn
from insula.testing import Request, ScriptedModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

T = TypeVar("T")

ANSWERS = {
    "My sister Ana moved to Lisbon in May.": "Noted: your sister Ana moved to Lisbon in May.",
    "Where does Ana live?": "Ana lives in Lisbon.",
    "What is the capital of Mongolia, and how many people live there?": "The capital of Mongolia is Ulaanbaatar.",
    "How do I bake bread?": "Blue.",
    "Name three kinds of bread, as a numbered list.": "Rye.",
}
PATIENCE = 60.0
"""Seconds that a server may take to start or stop."""


class Clock:
    """The time of the store: the real one, and what was added."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass(slots=True)
class Site:
    """A server that runs."""

    url: str
    service: Service
    clock: Clock
    loop: asyncio.AbstractEventLoop
    server: StreamServer
    thread: threading.Thread = field(default_factory=threading.Thread)

    @property
    def store(self) -> Store:
        """Where everything stands."""
        return self.service.chat.metacognition.store

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the server's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def say(self, user: str, session: str, *messages: str) -> list[Reply]:
        """Have a conversation without a browser."""
        return [self.run(self.service.chat.reply(user, session, message)) for message in messages]

    def end_elsewhere(self, seconds: float) -> None:
        """End a turn in another session, whose model took so long for a hundred tokens."""
        at, regulator = self.clock(), self.service.chat.metacognition.engine.regulator
        seen = Observation(at, ANSWER, seconds, 100)
        turn = EndedTurn(at=at, ms=1_000 * seconds, answered=True, stored=True, observation=seen)
        self.loop.call_soon_threadsafe(regulator.end_turn, "elsewhere", "scripted", turn)

    def stop(self) -> None:
        """End the server, as if somebody had pressed Ctrl-C."""
        self.server.should_exit = True
        self.thread.join(PATIENCE)


def answer(request: Request) -> str:
    """What the model of the tests says."""
    said = request.prompt.partition("\n\n(")[0]  # without the turn's reminder
    return ANSWERS.get(said, f"You said: {said}")


def guidelines(connection: sa.Connection, user_id: int, document: Document, source: int) -> None:
    """Let the lines of a document have been learned from a message."""
    for line in document.derived:
        lesson = LessonChange(line.id, line.text, (), line.section or "", "derived", (source,))
        journal.apply_change(lesson, connection, user_id, 0.0)


@contextmanager
def site(
    home: Path,
    *,
    model: "Model | None" = None,
    tokens: Mapping[str, str] | None = None,
    transcripts: Path | None = None,
    port: int = 0,
    claims: Sequence[str] = (),
) -> Generator[Site]:
    """A server, until the block ends.

    Args:
        home: where SOUL.md and the database lie.
        model: who answers.
        tokens: user -> token.
        transcripts: of coding agents; none by default.
        port: of the address; any free one by default.
        claims: that are switched on.
    """
    ready, made = threading.Event(), list[Site]()
    (home / "none").mkdir(exist_ok=True)

    async def serve() -> None:
        clock = Clock()
        async with await Store.open(home / "insula.db", clock) as store:
            metacognition = Metacognition(store, claims=claims)
            service = Service(
                chat=Chat(
                    metacognition,
                    model or ScriptedModel(answer),
                    requests=KeptRequests(lambda user: home / "users" / user / REQUESTS),
                ),
                model="scripted",
                soul_of=lambda user: home / "users" / user / "SOUL.md",
                keys=Keys(tokens or {}),
                home=home,
            )
            app = create_app(service)
            app.state.lookback = Lookback(lambda: find_transcripts([transcripts or home / "none"]))
            running = make_server(app)
            with socket.create_server(("127.0.0.1", port)) as bound:
                url = f"http://127.0.0.1:{bound.getsockname()[1]}"
                made.append(Site(url, service, clock, asyncio.get_running_loop(), running))
                ready.set()
                await running.serve(sockets=[bound])

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    opened = made[0]
    opened.thread = thread
    end = time.monotonic() + PATIENCE
    while not opened.server.started and time.monotonic() < end:
        time.sleep(0.01)
    try:
        yield opened
    finally:
        opened.stop()
