"""What two people say to each other, put before a model: few lines, and the words that go with the level."""

import json
from collections.abc import Sequence
from importlib.resources import files

import pytest

from insula import Identity, Metacognition

pytestmark = pytest.mark.anyio
UNTOLD = json.loads((files("insula.turn") / "words.json").read_text("utf-8"))["en"]["untold"]
TOLD = (
    ("Orla", "My boyfriend and I walked the whole coast of Clare in the rain."),
    *[("Nuno", f"I baked {n} loaves of rye bread for the market of Afife this morning.") for n in range(20, 32)],
)


async def shown(ask: str, told: Sequence[tuple[str, str]] = TOLD) -> tuple[int, str]:
    """How many lines stand before the model, and what stands behind the message."""
    async with await Metacognition.open(":memory:", identity=Identity(name="Insula"), embed=None) as mind:
        for number, (speaker, text) in enumerate(told):
            other = next(one for one, _ in TOLD if one != speaker)
            await mind.observe("pair", f"s{number // 4}", text, speaker=speaker, listener=other)
        async with mind.turn("pair", "asked", ask) as turn:
            return len(turn.shown), turn.reminder


async def test_where_lines_only_bear_five_are_shown_and_nothing_is_ordered() -> None:
    lines, reminder = await shown("What kind of bread did Nuno bake for the market?")
    assert lines == 5
    assert not reminder


async def test_of_a_question_about_a_talker_that_nothing_answers_it_is_said_that_nothing_was_told() -> None:
    lines, reminder = await shown("What does Orla's dentist charge for a crown?")
    assert lines == 0
    assert reminder == UNTOLD
