"""An agent made with the Claude Agent SDK, and with Insula's hooks in its process: sdk_agent.py FOLDER-OF-THE-SDK."""

import asyncio
import sys

sys.path.append(sys.argv[1])  # last: what both need is taken from the environment of the tests

from claude_agent_sdk import ClaudeAgentOptions, query  # pyright: ignore

from insula.integrations.claude_agent_sdk import hooks
from insula.metacognition import Metacognition


async def main() -> None:
    mind = await Metacognition.open(":memory:", embed=None)
    await mind.observe("ana", "monday", "I live in Lisbon, near the river.")
    mind.subscribe(lambda signal: sys.stdout.write(f"signal of turn {signal.turn}: {signal.kind}\n"))
    options = ClaudeAgentOptions(  # pyright: ignore
        hooks=hooks(mind, user="ana"),
        allowed_tools=["Bash", "Read"],
        model="claude-sonnet-4-5",
        permission_mode="acceptEdits",
        setting_sources=["user"],
    )
    async for message in query(prompt="Look at the files. Where do I live?", options=options):  # pyright: ignore
        sys.stdout.write(f"{message}\n")
    await mind.close()


asyncio.run(main())
