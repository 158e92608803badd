"""OpenAI's chat completions in front of any provider, for clients that have no hooks.

A request goes on with memory, confidence and notes in it; what comes back is passed on byte for byte, errors too. What
was added is told in the headers of the response. Every other path goes through as it is.
"""

import contextlib
import json
import logging
from collections.abc import AsyncIterator, Iterable
from hashlib import sha256
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from insula.content import list_items, read_field
from insula.errors import InputError
from insula.integrations.clients import join_stream, to_openai
from insula.integrations.guest import Guest, GuestInjection, ModelWatch
from insula.memory.storage.store import check_names
from insula.server.middleware import HostGate
from insula.server.service import LOOPBACK

log = logging.getLogger(__name__)

CHAT = "/chat/completions"
HOP = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("transfer-encoding", "upgrade", "host", "content-length", "accept-encoding"),
    )
)
"""Headers that are of one connection alone; and the answer is to come unpacked, so that it can be read on its way."""
OURS = "x-insula-"
READ_BYTES = 4 * 2**20
"""Of an answer that are read to be assessed."""
METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH"]


def create_proxy(guest: Guest, to: str, client: httpx2.AsyncClient) -> Starlette:
    """The application.

    Args:
        guest: what puts in and assesses; `X-Insula-User` and `X-Insula-Session` of a request name whose and which.
        to: the provider's address, as clients are given it (`https://api.openai.com/v1`).
        client: by which it is reached.
    """

    async def pass_request(request: Request) -> Response:
        body, told = await request.body(), GuestInjection()
        if request.method == "POST" and request.url.path.endswith(CHAT):
            try:
                check_names(*(request.headers.get(f"{OURS}{name}") or name for name in ("user", "session")))
            except InputError as error:
                return _refuse_request(str(error), 400)
            body, told = await _inject_request(guest, request, body)
        headers = [(name, value) for name, value in request.headers.items() if not _is_apart(name)]
        path = request.url.path.removeprefix("/v1")
        url = f"{to.rstrip('/')}{path}{f'?{request.url.query}' if request.url.query else ''}"
        sent = client.build_request(
            request.method, url, headers=[*headers, ("accept-encoding", "identity")], content=body
        )
        watch = ModelWatch()
        try:
            answer = await client.send(sent, stream=True)
        except httpx2.HTTPError as error:
            why = f"The provider at {to!r} cannot be reached ({type(error).__name__}); see to it, or give another --to."
            return _refuse_request(why, 502)
        return await _answer_request(guest, told, answer, watch)

    routes = [Route("/{path:path}", pass_request, methods=METHODS)]
    return Starlette(routes=routes, middleware=[Middleware(HostGate, hosts=LOOPBACK)])


def _refuse_request(why: str, status: int) -> Response:
    return JSONResponse({"error": {"message": why, "type": "insula_proxy"}}, status)


async def _inject_request(guest: Guest, request: Request, body: bytes) -> tuple[bytes, GuestInjection]:
    """The request with what belongs into it; one that cannot be read goes on as it is."""
    try:
        asked: Any = json.loads(body)
    except ValueError:
        return body, GuestInjection()
    messages = list_items(read_field(asked, "messages"))
    if not messages:
        return body, GuestInjection()
    begun = json.dumps(next((message for message in messages if read_field(message, "role") == "user"), ""))
    session = request.headers.get(f"{OURS}session") or sha256(begun.encode()).hexdigest()[:16]
    user = request.headers.get(f"{OURS}user") or read_field(asked, "user")
    told = await guest.before_model(
        messages, user if isinstance(user, str) else None, session, str(read_field(asked, "model") or "")
    )
    return json.dumps(to_openai(asked, told), ensure_ascii=False).encode(), told


async def _answer_request(guest: Guest, told: GuestInjection, answer: httpx2.Response, watch: ModelWatch) -> Response:
    headers = _forward_headers(answer.headers) | _injection_headers(told)
    if "text/event-stream" in answer.headers.get("content-type", ""):
        return StreamingResponse(_stream_answer(guest, told, answer, watch), answer.status_code, headers)
    body = b"".join([part async for part in answer.aiter_raw()])
    await answer.aclose()
    for response in _parse_objects([body]) if answer.is_success else ():
        await guest.after_model(told, response, watch.measure_usage(response))
    return Response(body, answer.status_code, headers | _assessment_headers(told))


async def _stream_answer(
    guest: Guest, told: GuestInjection, answer: httpx2.Response, watch: ModelWatch
) -> AsyncIterator[bytes]:
    read = bytearray()
    try:
        async for part in answer.aiter_raw():
            watch.note_piece()
            if len(read) < READ_BYTES:
                read += part
            yield part
    finally:
        await answer.aclose()
    pieces = _parse_objects(line[6:] for line in bytes(read).splitlines() if line.startswith(b"data: {"))
    await guest.after_model(told, join_stream(pieces), watch.measure_usage(*pieces))


def _parse_objects(texts: Iterable[bytes]) -> list[Any]:
    """What texts of JSON hold; those that are none are left out."""
    parsed: list[Any] = []
    for text in texts:
        with contextlib.suppress(ValueError):
            parsed.append(json.loads(text))
    return parsed


def _is_apart(name: str) -> bool:
    return name.lower() in HOP or name.lower().startswith(OURS)


def _forward_headers(headers: httpx2.Headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in HOP}


def _injection_headers(told: GuestInjection) -> dict[str, str]:
    """What was put into the request."""
    if told.turn is None:
        return {}
    sure = told.turn.confidence
    put = len(told.system) + len(told.behind) + sum(map(len, told.notes.values()))
    notes = {f"{OURS}notes": str(len(told.notes))} if told.notes else {}
    return {f"{OURS}confidence": f"{sure.level} {sure.score:.2f}", f"{OURS}added": f"{put} characters", **notes}


def _assessment_headers(told: GuestInjection) -> dict[str, str]:
    result = told.turn.result if told.turn else None
    if result is None or result.assessment is None:
        return {}
    return {f"{OURS}assessment": " ".join([f"{result.assessment.score:.2f}", *result.assessment.flags])}
