"""The application: its parts put together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from insula import __version__
from insula.server.service import Service


def create_app(service: Service) -> FastAPI:
    """The agent over HTTP, with its metacognition visible.

    Args:
        service: the agent; whoever opened its store closes it.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        yield

    app = FastAPI(title="Insula", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.service = service
    return app
