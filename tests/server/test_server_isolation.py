"""Two users never see each other's signals: over a stream that runs while others talk."""

import asyncio

import httpx2
import pytest
from api_service import MakeService, Serve, say

from patience import DEADLOCK_SECONDS

pytestmark = pytest.mark.anyio


async def _listen(browser: httpx2.AsyncClient, user: str) -> str:
    """All that a user's stream tells from the beginning until their goodbye."""
    text = ""
    async with browser.stream("GET", f"/signals?user={user}&after=0", timeout=DEADLOCK_SECONDS) as response:
        async for line in response.aiter_lines():
            text += f"{line}\n"
            if "goodbye" in line:
                return text
    return text


async def test_a_stream_tells_one_users_signals_alone_while_others_talk(
    make_service: MakeService, served: Serve
) -> None:
    async with served(make_service()) as url, httpx2.AsyncClient(base_url=url, timeout=DEADLOCK_SECONDS) as browser:
        streams = {user: asyncio.create_task(_listen(browser, user)) for user in ("ana", "ben", "an")}
        for number in range(3):
            for user in ("ana", "ben"):
                await say(browser, f"The {user}word of number {number}.", user)
        for user in streams:
            await say(browser, "Goodbye.", user, "goodbye")
        for user, stream in streams.items():
            text = await stream
            assert ("anaword" in text, "benword" in text) == (user == "ana", user == "ben")
