"""`insula ask`: one question, one answer; a text that is piped in is asked about, and nothing is learned from it."""

import asyncio
import sys
from typing import Annotated

import typer

from insula import settings as settings_module
from insula.agent.chat import Reply
from insula.cli import lines, render
from insula.cli.chat import new_session
from insula.cli.common import LOG_FILE, log_to
from insula.cli.opening import open_agent
from insula.cli.options import Json, Model, User

MISSING = 'There is no question; write one: insula ask "Where does Ana live?"'


def ask(
    question: Annotated[str | None, typer.Argument(help="What to ask; by default what is piped in.")] = None,
    model: Model = None,
    user: User = "me",
    json: Json = False,
) -> int:
    """Ask one question and print the answer alone; what it rests on is said on standard error.

    A text on standard input beside a question is what the question is about. The exit status is 1 where there was no
    answer.
    """
    piped = "" if question and lines.is_asked() else lines.read_input(MISSING)
    settings = settings_module.load_settings()
    log_to(settings_module.home() / LOG_FILE)

    async def ask_agent() -> Reply:
        async with open_agent(settings, model or settings.model) as agent:
            return await agent.reply(user, new_session(), question or piped, text=piped if question else "")

    reply = asyncio.run(ask_agent())
    if json:
        sources = [recalled.memory.content for recalled in reply.recalled if recalled.memory.id in reply.shown]
        lines.print_json({**reply.record(), "sources": sources, "saved": list(reply.saved)})
        return int(reply.error is not None)
    if reply.error is None:
        print(reply.response)
    lines.print_warning(reply.error or "")
    if under := render.under_reply(reply).plain:
        print(under, file=sys.stderr)
    return int(reply.error is not None)
