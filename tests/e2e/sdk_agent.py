"""An agent made with the Claude Agent SDK, and with Insula's hooks in its process: sdk_agent.py FOLDER-OF-THE-SDK."""

import asyncio
import sys

sys.path.append(sys.argv[1])  # last: what both need is taken from the environment of the tests

from claude_agent_sdk import ClaudeAgentOptions, query  # pyright: ignore

from insula.integrations.claude_agent_sdk import hooks


async def main() -> None:
    options = ClaudeAgentOptions(  # pyright: ignore
        hooks=hooks(),
        allowed_tools=["Bash", "Read"],
        model="claude-sonnet-4-5",
        permission_mode="acceptEdits",
        setting_sources=["user"],
    )
    async for message in query(prompt="Look at the files.", options=options):  # pyright: ignore
        sys.stdout.write(f"{message}\n")


asyncio.run(main())
