"""The application: its parts put together."""

import logging
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response

from insula import __version__
from insula.errors import StoreError
from insula.server import problems
from insula.server.api import (
    answers,
    data,
    gauges,
    guests,
    ledger,
    lessons,
    memories,
    night,
    sessions,
    sign_in,
    soul,
    talk,
)
from insula.server.middleware import Bodies, Crowd, HostGate, SecurityHeaders
from insula.server.page import routes
from insula.server.page.rendering import show_failure
from insula.server.service import Service
from insula.server.timer import run_beside, run_rests, run_timer
from insula.server.users import find_caller

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "page" / "static"
PARTS = (talk, gauges, sessions, memories, soul, lessons, night, data, answers, guests, ledger, sign_in, routes)
ABOUT = """The agent over HTTP, with its metacognition visible, measurable and adaptive.

Where the server has no tokens, a request names its user; where it has, each request carries one, which says who the
user is. Every failure is `application/problem+json` (RFC 9457), and its `detail` says what to do."""


class CachedFiles(StaticFiles):
    """Files of ours, which a browser may keep and asks about each time."""

    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        """One of them."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, no-cache"
        return response


def create_app(service: Service) -> FastAPI:
    """The agent over HTTP, with its metacognition visible.

    Args:
        service: the agent; whoever opened its store closes it.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        try:
            await service.mind.engine.restore_state()
        except StoreError as error:
            log.warning("The snapshots of before cannot be read: %s", error)
        live = service.live
        live.closed = False
        unsubscribe = service.mind.subscribe(live.wake_listeners)
        try:
            async with run_beside(live.watch_store(service.store, service.keys.file_stamp)):
                async with run_timer(service), run_rests(service):
                    yield
                live.close_streams()
                await service.turns.finish_all()
        finally:
            unsubscribe()

    app = FastAPI(
        title="Insula",
        description=ABOUT,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        openapi_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=problems.document_problems(400, 500, 503),
    )
    app.state.service = service
    problems.install_handlers(app, show_failure)

    @app.get("/openapi.json", include_in_schema=False, dependencies=[Depends(find_caller)])
    async def describe_routes() -> dict[str, Any]:
        return app.openapi()

    for part in PARTS:
        app.include_router(part.router)
    app.mount("/static", CachedFiles(directory=STATIC), name="static")
    app.add_middleware(Bodies)  # the last that is added is the outermost
    app.add_middleware(HostGate, hosts=service.hosts)
    app.add_middleware(Crowd)
    app.add_middleware(SecurityHeaders, show_page=show_failure)
    return app
