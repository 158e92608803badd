"""Two users never see each other's data: over every route that there is, and every stream."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from api_service import answer
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from insula.agent.chat import Chat
from insula.memory.storage import views
from insula.memory.storage.changes import Insight, Lesson, Revision, Summary
from insula.metacognition import Metacognition
from insula.night.guidelines import PROPOSAL, SUBJECT
from insula.server.app import create_app
from insula.server.service import Service
from insula.server.tokens import Keys
from insula.server.users import COOKIE
from insula.testing import ScriptedModel
from patience import DEADLOCK_SECONDS

pytestmark = pytest.mark.anyio

SECRETS = ("zanzibox", "quixotrop", "marzipod")
"""Words that only one user ever says; each stands in all that is derived of what they said."""
NAMES = ["ana", "Ana", "ana ", "an", "ana2", "a%", "_na", "á", "a\u0301", "1", "0", "ben' OR '1'='1", "*", "ana;--"]
SESSIONS = ["monday", "%", "soul", "1", "../ana"]


@dataclass
class Answer:
    """What a request brought, as far as it came."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])
    body: bytes = b""

    @property
    def text(self) -> str:
        """All of it, in which to search."""
        return str(self.headers) + self.body.decode("utf-8", "replace")


async def ask(
    app: FastAPI,
    method: str,
    path: str,
    query: Mapping[str, object],
    headers: Mapping[str, str],
    body: bytes = b"",
    patience: float = 0.1,
    until: Callable[[bytes], bool] | None = None,
) -> Answer:
    """Call the application, and go away where the answer does not end: once it tells something, or after a while."""
    raw = quote(path, safe="/%")
    told, found, over = False, Answer(), asyncio.Event()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": raw.encode(),
        "query_string": urlencode(query).encode(),
        "root_path": "",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"content-length", str(len(body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in headers.items()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }

    async def receive() -> dict[str, Any]:
        nonlocal told
        if not told:
            told = True
            return {"type": "http.request", "body": body, "more_body": False}
        try:
            async with asyncio.timeout(patience):
                await over.wait()
        except TimeoutError:
            pass
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found.status, found.headers = message["status"], list(message["headers"])
        else:
            found.body += message.get("body", b"")
            if not message.get("more_body") or (until is not None and until(found.body)):
                over.set()

    await app(scope, receive, send)
    return found


async def _live(
    metacognition: Metacognition, service: Service, user: str, session: str, secrets: tuple[str, ...]
) -> None:
    """A user says secrets, sleeps over them, and has guidance that quotes them."""
    for word in secrets:
        await service.chat.reply(user, session, f"My {word} is a {word}, and what of my {word}?")
    store = metacognition.store
    user_id = await store.nights.sleeper(user)
    assert user_id is not None
    (here,) = await store.nights.sessions_to_sleep_on(user_id)
    quoted = " ".join(secrets)
    text = f"# SOUL\n\n## Interaction principles\n\n- Mind the {quoted}.\n"
    changes = [
        Summary(here.id, f"About {quoted}.", secrets, 6, here.last),
        Insight(f"The user minds {quoted}.", secrets, (here.id,), 0.5, 0.5),
        Lesson("asked/x", f"Mind the {quoted}.", secrets, "", "derived", (1, 2, 3)),
        Lesson("g1", f"Mind {quoted}.", (), "Interaction principles", "derived", (1,)),
        Revision(SUBJECT, "night", text, {"changes": [{"kind": "add", "text": quoted}]}),
        Revision(SUBJECT, "night", text + f"- And {quoted}.\n", {"changes": []}),
        Revision(PROPOSAL, "night", text + f"- No {quoted}.\n", {"reasons": [quoted]}),
    ]
    await store.nights.record(user_id, "2026-01-06", "reflection", {"candidates": [{"advice": quoted}]}, changes)


@asynccontextmanager
async def _shared(folder: Path, tokens: Mapping[str, str]) -> AsyncGenerator[tuple[FastAPI, Service]]:
    async with await Metacognition.open(":memory:") as metacognition:
        chat = Chat(metacognition, ScriptedModel(answer))
        service = Service(
            chat=chat,
            model="scripted",
            soul_of=lambda user: folder / user.encode().hex() / "SOUL.md",
            keys=Keys(tokens),
        )
        yield create_app(service), service


def _routes(app: FastAPI) -> list[tuple[str, str]]:
    """Every route with each of its methods, new ones included."""
    found: list[tuple[str, str]] = []
    for route in iter_route_contexts(app.routes):
        methods: set[str] = getattr(route, "methods", None) or set()
        found += [(str(route.path), method) for method in sorted(methods)]
    assert ("/agent/chat", "POST") in found
    assert ("/signals", "GET") in found
    return found


def _path(template: str, number: int, session: str) -> str:
    """A path of a route, with the other user's things in the place of its parameters."""
    return template.replace("{session:path}", session).replace("{number}", str(number)).replace("{name}", session)


def _bodies(template: str, method: str, user: str | None, session: str) -> list[tuple[str, bytes]]:
    """What a request may try: as JSON where it is known what is taken, and as a form."""
    if method in {"GET", "HEAD"}:
        return [("", b"")]
    named = {"user": user} if user is not None else {}
    said = {**named, "session": session, "message": "What is my number?"}
    forms = {**said, "revision": 1, "decision": "accept", "id": 1, "number": 1}
    known = {"/agent/chat": said, "/agent/soul/undo": {"revision": 1}, "/agent/soul/proposal": {"decision": "accept"}}
    kinds = [("application/x-www-form-urlencoded", urlencode(forms).encode())]
    return [("application/json", json.dumps(known[template]).encode()), *kinds] if template in known else kinds


def _told(last: int, body: bytes) -> bool:
    return b"id: %d\n" % last in body


async def _everything(app: FastAPI, service: Service, user: str, headers: Mapping[str, str], session: str) -> list[str]:
    """All that a user can read, but for what changes with time; a stream up to what the ledger ends with."""
    last = await service.chat.metacognition.store.run(views.last_entry, user)
    paths = (f"/agent/sessions/{session}", "/agent/memories", "/agent/soul", "/agent/rules")
    more = ("/agent/soul/revisions", "/agent/soul/diff", "/agent/sleep")
    asked = {"user": user, "after": 0}
    texts = [(await ask(app, "GET", path, asked, headers)).text for path in (*paths, *more)]
    stream = await ask(app, "GET", "/signals", asked, headers, patience=DEADLOCK_SECONDS, until=partial(_told, last))
    return [*texts, stream.text]


async def _intrude(app: FastAPI, attempts: list[tuple[str | None, Mapping[str, str]]], session: str) -> None:
    """Try every route in the name of another user, with everything of the first one's that could be known."""
    for template, method in _routes(app):
        for number in (1, 2) if "{number}" in template else (1,):
            for named, headers in attempts:
                query = {"session": session, "after": 0, "history": 50, "from": 1, "to": 2, "limit": 200}
                for kind, body in _bodies(template, method, named, session):
                    told = await ask(
                        app,
                        method,
                        _path(template, number, session),
                        query | ({"user": named} if named is not None else {}),
                        {**headers, **({"Content-Type": kind} if kind else {})},
                        body,
                    )
                    assert told.status, (method, template)
                    for word in SECRETS:
                        assert word not in told.text, (method, template, named, body)
                    assert told.status < 500, (method, template, told.body)


@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True), session=st.sampled_from(SESSIONS))
async def test_without_tokens_a_user_sees_their_own_alone(
    names: list[str], session: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, second = names
    async with _shared(tmp_path_factory.mktemp("souls"), {}) as (app, service):
        await _live(service.chat.metacognition, service, first, session, SECRETS)
        await service.chat.reply(second, session, "I like trains.")
        before = await _everything(app, service, first, {}, session)
        for word in SECRETS:
            assert all(word in text for text in before), "there would be something to find"
        await _intrude(app, [(second, {})], session)
        assert await _everything(app, service, first, {}, session) == before


@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True), session=st.sampled_from(SESSIONS))
async def test_with_a_token_no_name_opens_anybody_elses(
    names: list[str], session: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, second = names
    tokens = {first: "a-token-of-the-first", second: "a-token-of-the-second"}
    own, others = ({"Authorization": f"Bearer {tokens[name]}"} for name in names)
    async with _shared(tmp_path_factory.mktemp("souls"), tokens) as (app, service):
        await _live(service.chat.metacognition, service, first, session, SECRETS)
        before = await _everything(app, service, first, own, session)
        for word in SECRETS:
            assert all(word in text for text in before), "there would be something to find"
        cookie = {"Cookie": f"{COOKIE}={tokens[second]}"}
        await _intrude(app, [(None, others), (first, others), (first, cookie), (first, {}), (None, {})], session)
        assert await _everything(app, service, first, own, session) == before


async def test_a_stream_tells_one_users_signals_alone_while_others_talk(tmp_path: Path) -> None:
    async with _shared(tmp_path, {}) as (app, service), app.router.lifespan_context(app):
        store, ends = service.chat.metacognition.store, dict[str, int]()

        def is_over(user: str, body: bytes) -> bool:
            return (
                user in ends and max(map(int, re.findall(rb"^id: (\d+)", body, re.MULTILINE)), default=0) > ends[user]
            )

        streams = {
            user: asyncio.create_task(
                ask(
                    app,
                    "GET",
                    "/signals",
                    {"user": user, "after": 0},
                    {},
                    patience=DEADLOCK_SECONDS,
                    until=partial(is_over, user),
                )
            )
            for user in ("ana", "ben", "an")
        }
        for number in range(3):
            for user in ("ana", "ben"):
                await service.chat.reply(user, "monday", f"The {user}word of number {number}.")
        for user in streams:
            ends[user] = await store.run(views.last_entry, user)
            await service.chat.reply(user, "monday", "Goodbye.")
        for user, stream in streams.items():
            text = (await stream).text
            assert ("anaword" in text, "benword" in text) == (user == "ana", user == "ben")
