"""`GET /signals`: a user's ledger as it grows, as server-sent events (K8)."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from insula.errors import StoreError
from insula.memory.storage import views
from insula.memory.storage.rows import LedgerEntry
from insula.memory.storage.store import Store
from insula.server.api.schema import Id
from insula.server.live import ListenerRoom, LiveLedger
from insula.server.middleware import same_site
from insula.server.problems import document_problems
from insula.server.tokens import Keys
from insula.server.users import CurrentUser, Presented, Served

router = APIRouter(tags=["signals"])

BATCH = 100
"""Signals that are read at once: what is held for a listener at most."""
HEARTBEAT_SECONDS = 15.0
"""After which a stream in which nothing happens says that it is alive (the HTML standard's own advice)."""
AGAIN_SECONDS = 2.0
"""After which a store that could not be read is tried again."""


class Listener(NamedTuple):
    """A stream that begins."""

    user: str
    store: Store
    live: LiveLedger
    room: ListenerRoom
    after: int
    """The last place on the ledger that the client has seen."""
    may_listen: Callable[[], bool]
    """Whether the token that opened it is still in force."""


class LedgerEvents(NamedTuple):
    """What a look at the ledger brought."""

    events: bytes
    last: int
    """The last place that they tell of."""
    more: bool
    """Whether there may be more behind it."""


NOTHING = LedgerEvents(b"", 0, False)


async def open_listener(
    service: Served,
    user: CurrentUser,
    token: Presented,
    after: Annotated[Id | None, Query(description="Begin after this signal; 0 begins with the first.")] = None,
    last_event_id: Annotated[Id | None, Header(description="What a browser sends when it comes back.")] = None,
) -> AsyncGenerator[Listener]:
    """A listener, from where it was, from where it says, or from now on."""
    known = last_event_id if last_event_id is not None else after
    with service.live.add_listener(user) as room:
        seen = await service.store.read(views.last_entry, user) if known is None else known
        yield Listener(user, service.store, service.live, room, seen, lambda: _is_still(user, token, service.keys))


def _is_still(user: str, token: str | None, keys: Keys) -> bool:
    known = keys.find_token(token) if token else None
    return known.user == user if known else not keys


@router.get(
    "/signals",
    response_class=Response,
    dependencies=[Depends(same_site)],
    responses={
        200: {
            "description": "Each signal as an event whose `id` is its place on the ledger; comments while none come.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **document_problems(401, 403, 422, 429, 503),
    },
)
async def stream_signals(listener: Annotated[Listener, Depends(open_listener)]) -> EventSourceResponse:
    """A user's signals as they are written to the ledger; nothing is lost or told twice across a cut.

    The first event has an id and no data: a client that is cut off before anything happened goes on from there.
    """
    return EventSourceResponse(_stream_events(listener), headers={"X-Accel-Buffering": "no"})


async def _stream_events(listener: Listener) -> AsyncGenerator[bytes]:
    """The events of one stream, as bytes: a stream of values costs FastAPI a timer and two tasks for each of them."""
    after = listener.after
    yield format_sse_event(id=str(after))
    while not listener.live.closed and listener.may_listen():
        grown, patience, idle = listener.room.grown, HEARTBEAT_SECONDS, KEEPALIVE_COMMENT
        told = NOTHING
        try:
            told = await _share_look(listener, after)
        except StoreError:
            patience, idle = AGAIN_SECONDS, b""  # it may come back, and so may what was written meanwhile
        if told.events:
            yield told.events
            after = told.last
        if told.more:
            continue
        try:
            async with asyncio.timeout(patience):
                await grown.wait()
        except TimeoutError:
            if idle:
                yield idle


async def _share_look(listener: Listener, after: int) -> LedgerEvents:
    """The ledger beyond a place; those who ask for the same at the same time share one look at it."""
    reads = listener.room.reads
    if (reading := reads.get(after)) is None:
        reading = reads[after] = asyncio.create_task(_read_events(listener.store, listener.user, after))
        reading.add_done_callback(lambda _: reads.pop(after, None))  # else streams that come and go fill the memory
    return await asyncio.shield(reading)


async def _read_events(store: Store, user: str, after: int) -> LedgerEvents:
    entries = await store.read(views.list_entries, user, after, BATCH)
    events = (format_sse_event(id=str(entry.id), data_str=json.dumps(show_signal(entry))) for entry in entries)
    return LedgerEvents(b"".join(events), entries[-1].id if entries else after, len(entries) == BATCH)


def show_signal(entry: LedgerEntry) -> dict[str, Any]:
    """A signal as JSON shows it."""
    return {**entry._asdict(), "at": datetime.fromtimestamp(entry.at, UTC).isoformat()}
