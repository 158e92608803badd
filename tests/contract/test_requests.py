"""From a message to the request that reaches the model."""

import pytest
from harness import agent

pytestmark = pytest.mark.anyio


async def test_a_fact_told_on_one_day_stands_before_the_model_on_another() -> None:
    async with agent() as ana:
        await ana.say("My sister lives in Lisbon.")
        ana.next_day()
        request = await ana.ask("Where does my sister live?")
        assert "My sister lives in Lisbon." in request.text
