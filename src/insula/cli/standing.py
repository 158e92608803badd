"""How the service and a user's memory stand: asked of a running server, or read in the store."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from pydantic import TypeAdapter

from insula import settings as settings_module
from insula.claims import switched
from insula.cli.common import HOST, PORT, understands, with_store
from insula.cli.lines import warn
from insula.coding.hosts import places
from insula.coding.replay.claims import Entry, read_register
from insula.errors import InputError
from insula.memory.storage import unread
from insula.memory.storage.rows import Place
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition, Regulator
from insula.night.cycle import END, due
from insula.operations.facts import facts_of
from insula.operations.memories import count_memories
from insula.session.adaptation import Adaptation
from insula.session.snapshot import Snapshot
from insula.session.stages import StageTime, TurnStage
from insula.settings import Settings
from insula.value import is_object

Object = Mapping[str, object]

SHOWN = 8
"""Adaptations that are shown, the last ones."""
WAIT_SECONDS = 2.0
"""How long a server may take to answer: the figures are at hand, and a person waits."""
ANSWER_BYTES = 1_000_000
"""An answer that is longer is none of Insula's."""
VARIABLE = "INSULA_TOKEN"
"""The variable that holds the token with which a server is asked."""
STATUS, PERFORMANCE = f"/agent/chat/metacog/status?history={SHOWN}", "/agent/chat/performance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the service stands."""

    url: str | None
    """Of the server that said so; None where it was read in the store."""
    turns: int
    snapshot: Snapshot | None
    adaptations: tuple[Adaptation, ...]
    """The last ones, oldest first."""
    latency_p95_ms: float | None
    degraded: bool
    slowdown: float | None
    """How many times longer than usual the model takes."""
    interval: int
    next_due_turn: int
    stages: Mapping[TurnStage, StageTime] = field(default_factory=dict[TurnStage, StageTime])
    """How long the stages of a turn take, in milliseconds."""
    is_closed: bool = False
    """Whether a server runs that does not say how it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What is stored of a user, and how their nights stand."""

    sessions: int
    messages: int
    long_term: int
    facts: int
    signals: int
    last_night: float | None
    """When it ended, in seconds since the epoch."""
    night_due: bool
    understanding: str
    """When the model reads what was said: `off`, `night` or `idle`."""
    understanding_tokens: int
    """What that took in the last day."""


class ClosedServer(InputError):
    """A server that does not say how it stands without a token."""


def of_server(url: str | None) -> Standing | None:
    """How a running server stands.

    Args:
        url: where it is; by default where `insula serve` listens, and then None where none runs.

    Raises:
        InputError: nothing answers there, or something else than Insula.
        ClosedServer: it needs a token.
    """
    address = (url or f"http://{HOST}:{PORT}").rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise InputError(f"The address {url!r} is none of a server; give one like http://{HOST}:{PORT}.")
    try:
        return _standing(address, _answer(address + STATUS), _answer(address + PERFORMANCE))
    except (OSError, ValueError, HTTPException) as error:
        if isinstance(error, HTTPError) and error.code == HTTPStatus.UNAUTHORIZED:
            raise ClosedServer(_closed(address)) from error
        if url is None:
            return None
        why = error.reason if isinstance(error, URLError) else type(error).__name__
        raise InputError(
            f"No server of Insula answers at {url!r} ({why}); start one with `insula serve`, or leave --url out."
        ) from error


async def of_store(store: Store, settings: Settings) -> Standing:
    """How the service stood when it last wrote itself down."""
    regulator = Regulator(
        settings.controls,
        interval=settings.metacog_turn_interval,
        size=settings.metacog_snapshot_history_size,
    )
    await Metacognition(store, regulator=regulator).engine.restore()
    last = regulator.ring.last
    return Standing(
        url=None,
        turns=regulator.turns,
        snapshot=last,
        adaptations=regulator.ring.adaptations[-SHOWN:],
        latency_p95_ms=last.performance.latency_p95_ms if last else None,
        degraded=bool(last and last.performance.degraded),
        slowdown=last.performance.slowdown if last else None,
        interval=regulator.ring.schedule.interval,
        next_due_turn=regulator.ring.schedule.due,
        stages=regulator.stages.summarize(),
    )


async def held(store: Store, user: str, settings: Settings) -> Held | None:
    """What is stored of a user; None where nothing is."""
    user_id = await store.nights.sleeper(user)
    if user_id is None:
        return None
    counts = await store.sessions.counts(Place(user_id=user_id, session_id=0, user=user, session=""))
    last = await store.nights.slept(user_id, END)
    return Held(
        sessions=counts["sessions"],
        messages=counts["messages"],
        long_term=counts["long_term"],
        facts=await count_memories(store, user, facts_of()),
        signals=counts["signals"],
        last_night=last[1] if last else None,
        night_due=await due(store, user, settings.zone_of(user)),
        understanding=settings.understanding if understands(settings.model) else "off",
        understanding_tokens=await store.read(unread.tokens_spent, user_id, store.now()),
    )


def gathered(user: str, url: str | None) -> tuple[Standing, Held | None, list[Entry]]:
    """How all stands: the service, from a running server where there is one; what is stored and said, from the store.

    Raises:
        InputError: there is no server at `url`.
        StoreError: the store cannot be used.
    """
    settings, live, is_closed = settings_module.load(), None, False
    try:
        live = of_server(url)
    except ClosedServer as error:
        if url is not None:
            raise
        warn(f"{error} Until then this is from the store.")
        is_closed = True

    async def read(store: Store) -> tuple[Standing, Held | None, list[Entry]]:
        said = await read_register(store, user, switched(settings.claims), str(places.find_home()))
        return (
            live or replace(await of_store(store, settings), is_closed=is_closed),
            await held(store, user, settings),
            said,
        )

    return with_store(read)


def _standing(url: str, status: Object, performance: Object) -> Standing:
    rhythm = performance.get("metacog")
    said: dict[str, object] = {
        **{name: performance.get(name) for name in ("turns", "latency_p95_ms", "degraded", "slowdown")},
        "snapshot": status.get("snapshot"),
        "adaptations": status.get("adaptations") or (),
        "stages": performance.get("stages") or {},  # an older server does not say
        "interval": rhythm.get("interval") if is_object(rhythm) else None,
        "next_due_turn": rhythm.get("next_due_turn") if is_object(rhythm) else None,
    }
    return TypeAdapter(Standing).validate_python({"url": url, **said})


def _answer(address: str) -> Object:
    proxies: dict[str, str] | None = {} if urlsplit(address).hostname == HOST else None
    request = Request(address)  # noqa: S310 the scheme was checked
    if token := os.environ.get(VARIABLE):
        request.add_unredirected_header("Authorization", f"Bearer {token}")  # it goes to nobody else
    with build_opener(ProxyHandler(proxies)).open(request, timeout=WAIT_SECONDS) as answer:
        return TypeAdapter(Object).validate_json(answer.read(ANSWER_BYTES))


def _closed(address: str) -> str:
    told = "does not know the token in" if os.environ.get(VARIABLE) else "asks for a token; put one into"
    return f"The server at {address!r} {told} the variable {VARIABLE} (insula token new NAME makes one)."
