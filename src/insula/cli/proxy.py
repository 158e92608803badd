"""`insula proxy`: the proxy of chat completions, in the foreground."""

import asyncio
import socket
from typing import Annotated

import httpx2
import typer
import uvicorn

from insula.cli.common import HOST, PROXY_PORT, memory_of
from insula.cli.options import Port, User
from insula.cli.serve import ForegroundServer, bind_socket
from insula.errors import InputError
from insula.integrations.guest import Guest
from insula.integrations.proxy import create_proxy
from insula.memory.retrieval import embedding
from insula.metacognition import Metacognition
from insula.settings import load_settings


def proxy(
    to: Annotated[str, typer.Option(metavar="URL", help="The provider's address, as clients are given it.")],
    user: User = "me",
    port: Port = PROXY_PORT,
) -> int:
    """OpenAI's chat completions in front of a provider: memory and notes go in, answers come back as they are."""
    if not to.startswith(("http://", "https://")):
        raise InputError(f"{to!r} is no address of a provider; give one like https://api.openai.com/v1.")
    with bind_socket(HOST, port) as listening:
        return asyncio.run(_serve_proxy(to, user, listening))


async def _serve_proxy(to: str, user: str, listening: socket.socket) -> int:
    settings = load_settings()
    embed = embedding.embedding_by_name(settings.embed)
    mind = await Metacognition.open(memory_of(settings), embed=embed, claims=settings.claims)
    async with mind, httpx2.AsyncClient(timeout=None) as client:
        app = create_proxy(Guest(mind, user=user), to, client)
        address = f"http://{HOST}:{listening.getsockname()[1]}/v1 → {to}"
        await ForegroundServer(uvicorn.Config(app, lifespan="off", log_level="warning"), address).serve([listening])
    return 0
