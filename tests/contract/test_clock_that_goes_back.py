"""A clock that goes back loses nothing: what was said last counts, a night is had, and a turn put aside is finished."""

from datetime import timedelta
from pathlib import Path

import pytest

from insula import Metacognition
from insula.testing import FrozenClock

pytestmark = pytest.mark.anyio
BACK = timedelta(days=3).total_seconds()


async def test_what_was_said_last_stands_first_and_a_night_and_a_turn_put_aside_go_on(tmp_path: Path) -> None:
    clock = FrozenClock()
    async with await Metacognition.open(tmp_path / "insula.db", embed=None, clock=lambda: clock().timestamp()) as mind:

        async def say(message: str, session: str) -> list[str]:
            clock.advance(60.0)
            async with mind.turn("ana", session, message) as turn:
                turn.finish("Noted.")
            assert not turn.troubles
            return [found.memory.content for found in turn.recalled]

        for message in ("I live in Porto.", "My cat is called Momo.", "I work as a nurse."):
            await say(message, "monday")
        await mind.sleep("ana", force=True)
        async with mind.turn("ana", "monday", "How is my cat?") as turn:
            kept = turn.to_json()
        clock.advance(-BACK)
        await say("I moved: I live in Lisbon now.", "tuesday")
        assert (await say("Where do I live?", "wednesday"))[0] == "I moved: I live in Lisbon now."
        assert (await mind.finish(kept, "Momo is fine.")).response == "Momo is fine."
        report = await mind.sleep("ana")
        assert report.phases, "the night in the future keeps none from being had"
        clock.advance(2 * BACK)
        assert (await say("Where do I live?", "thursday"))[0] == "I moved: I live in Lisbon now."
