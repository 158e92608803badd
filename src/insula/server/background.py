"""Work that goes on beside the server's requests for as long as a block lasts."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def run_beside(work: Coroutine[None, None, None] | None) -> AsyncGenerator[None]:
    """Run work until the block ends, and cancel it then; with None nothing runs."""
    task = asyncio.create_task(work) if work is not None else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
