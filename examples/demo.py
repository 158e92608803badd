"""What Insula notices while a small embedded model answers: a memory hit, a gap, and an open question asked five times.

The model (SmolLM2, 135 million parameters) is fluent and knows next to nothing. That is the point: it never says so,
and what stands below each answer does.
"""

import asyncio

from rich.console import Console
from rich.text import Text

from insula import Chat, Metacognition
from insula.cli.render import under_reply
from insula.llm.local import SMOLLM2
from insula.llm.models import resolve_model

SAMPLES = 5
TEMPERATURE = 0.5

console = Console(highlight=False)


async def say(chat: Chat, session: str, message: str) -> str:
    reply = await chat.reply("demo", session, message)
    console.print(Text(f"› {message}", style="bold"))
    console.print(Text(reply.response or reply.error or ""))
    console.print(under_reply(reply), style="dim")
    console.print()
    return reply.response


async def main() -> None:
    async with await Metacognition.open(":memory:") as metacognition, resolve_model("embedded") as model:
        chat = Chat(metacognition, model, base=SMOLLM2.brief, history_chars=0, guided=True)
        console.rule("1  It was told: memory answers", align="left")
        await say(chat, "monday", "My sister Ana moved to Lisbon in May.")
        await say(chat, "tuesday", "Where does Ana live?")

        console.rule("2  It was never told: it says so", align="left")
        await say(chat, "tuesday", "Where does my brother live?")

        console.rule(f"3  One question, {SAMPLES} times at temperature {TEMPERATURE}", align="left")
        chat = Chat(metacognition, model, base=SMOLLM2.brief, history_chars=0, temperature=TEMPERATURE)
        question = "What is the capital of Mongolia, and how many people live there?"
        answers = [await say(chat, f"sample {i}", question) for i in range(SAMPLES)]
        console.print(f"{len(set(answers))} different answers out of {SAMPLES}: the model does not know, it makes up.")


asyncio.run(main())
