"""Insula in an agent of your own: any function that answers will do."""

import asyncio

from insula import Metacognition


async def my_agent(message: str, system: str) -> str:
    """Stands for your agent; what matters is that `system` reaches its model."""
    del system
    return "In Lisbon." if "Ana" in message else "I am not sure."


async def main() -> None:
    async with await Metacognition.open(":memory:") as metacognition:
        metacognition.subscribe(lambda signal: print("   signal:", signal.kind, "-", signal.reason))
        for message in ("My sister Ana moved to Lisbon in May.", "Where does Ana live, and since when?"):
            async with metacognition.turn("me", "monday", message) as turn:
                result = turn.finish(await my_agent(turn.prompt, turn.instructions))
            print(message, "->", result.response)
            print("   confidence:", turn.confidence.level, *turn.confidence.reasons, sep=" | ")
            if result.assessment:
                print("   assessment:", round(result.assessment.score, 2), result.assessment.flags)


asyncio.run(main())
