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

from insula import Chat, Metacognition
from insula.agent.chat import Reply
from insula.agent.requests import KeptRequests
from insula.errors import ModelUnavailable
from insula.memory.storage import journal
from insula.memory.storage.changes import LessonChange, RevisionChange
from insula.memory.storage.store import Store
from insula.night.curation import REQUESTS
from insula.night.soul import document as soul
from insula.night.soul.document import Document
from insula.server.app import create_app
from insula.server.service import Service
from insula.server.serving import StreamServer, make_server
from insula.server.tokens import FILE, Keys, Token, digest_token, write_tokens
from insula.session.conditions import ANSWER, Observation
from insula.session.regulator import EndedTurn
from insula.testing import Request, ScriptedModel

if TYPE_CHECKING:
    from insula.llm.model import Model

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

    @property
    def soul(self) -> Path:
        """Where the SOUL.md of the user of this machine lies."""
        return self.soul_path("me")

    def soul_path(self, user: str) -> Path:
        """Where a user's SOUL.md lies."""
        path = self.service.soul_of(user)
        assert path is not None
        return path

    def list_users(self) -> list[str]:
        """Of whom anything is kept."""
        return self.run(self.store.nights.list_users())

    def read_request(self, user: str, session: str, turn: int) -> str:
        """All that reached the model in a turn."""
        assert self.service.chat.requests is not None
        return " ".join(one.text for one in self.service.chat.requests.find_request(user, session, turn) or ())

    def guide(self, user: str = "me") -> None:
        """Two states of SOUL.md, and a change that waits."""
        self.say(user, "one", "I work at night.")
        first = soul.revise_document(soul.Document(), add=[("Personality", "p1", "Be brief.")])
        second = soul.revise_document(first, add=[("Interaction principles", "p2", "Name the platform.")])
        third = soul.revise_document(second, remove=["p1"])
        self.run(self._write_guidance(user, first, second, third))
        self.soul_path(user).parent.mkdir(parents=True, exist_ok=True)
        self.soul_path(user).write_text(soul.render_document(second))

    async def _write_guidance(self, user: str, first: Document, second: Document, third: Document) -> None:
        user_id = await self.store.nights.find_user_id(user)
        assert user_id is not None
        (said, *_) = await self.store.guidance.read_cited(user_id, list(range(1, 100)))
        await self.store.run(guidelines, user_id, second, said.id)
        changed: dict[str, Any] = {"changes": [dict[str, Any]()]}
        waits: dict[str, Any] = {"reasons": ["it drops a supported item."]}
        steps = (("soul", first, changed), ("soul", second, changed), ("soul:proposal", third, waits))
        for subject, document, why in steps:
            change = RevisionChange(subject, "night", soul.render_document(document), why)
            await self.store.guidance.write_changes(user_id, change)

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


def _refuse(_: Request) -> str:
    raise ModelUnavailable("The model 'scripted' cannot be reached; start it, then send the message again.")


def guidelines(connection: sa.Connection, user_id: int, document: Document, source: int) -> None:
    """Let the lines of a document have been learned from a message."""
    for line in document.derived:
        lesson = LessonChange(line.id, line.text, (), line.section or "", "derived", (source,))
        journal.apply_change(lesson, connection, user_id, 0.0)


def keys_of(folder: Path, tokens: Mapping[str, str] | None) -> Keys:
    """Who may come in: each user with a token of theirs."""
    if tokens:
        made = [
            Token(name=user, user=user, digest=digest_token(text), made=0.0, expires=None)
            for user, text in tokens.items()
        ]
        write_tokens(folder / FILE, made)
    return Keys(folder / FILE)


@contextmanager
def site(
    home: Path,
    *,
    model: "Model | None" = None,
    tokens: Mapping[str, str] | None = None,
    port: int = 0,
    claims: Sequence[str] = (),
    away: bool = False,
) -> Generator[Site]:
    """A server, until the block ends.

    Args:
        home: where SOUL.md and the database lie.
        model: who answers.
        tokens: user -> token.
        port: of the address; any free one by default.
        claims: that are switched on.
        away: whether no model can be reached.
    """
    ready, made = threading.Event(), list[Site]()

    async def serve() -> None:
        clock = Clock()
        async with await Store.open(home / "insula.db", clock) as store:
            metacognition = Metacognition(store, claims=claims)
            service = Service(
                chat=Chat(
                    metacognition,
                    model or ScriptedModel(_refuse if away else answer),
                    requests=KeptRequests(lambda user: home / "users" / user / REQUESTS),
                ),
                model="scripted",
                soul_of=lambda user: home / "users" / user / "SOUL.md",
                keys=keys_of(home, tokens),
                home=home,
            )
            running = make_server(create_app(service))
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
