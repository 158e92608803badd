"""A talk that goes on for long loses no recall; `python -m long_run` plays 20,000 turns of it."""

import asyncio

from long_run import talk


def test_no_turn_of_a_long_talk_fails() -> None:
    """What is over may be known of a line that shares nothing with the question: at turn 119 recall fell over it."""
    *_, last = asyncio.run(talk(160, users=1))
    assert last.failed == 0
