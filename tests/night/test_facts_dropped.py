"""What the user's own model finds no fact in is told as one no longer, unless it surely is one."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from insula import Metacognition
from insula.testing import ScriptedModel

pytestmark = pytest.mark.anyio

NOTHING: dict[str, list[object]] = {"statements": [], "ended": [], "preferences": []}
KIDS, SISTER = "Where did we go on our honeymoon, the kids are doing a quiz", "My sister Ana lives in Lisbon."
ASKED = "What are the kids doing?"


@pytest.fixture
async def mind(anyio_backend: str, tmp_path: Path) -> AsyncGenerator[Metacognition]:
    async with await Metacognition.open(tmp_path / "m.db", holdout=0.0) as opened:
        for text in (KIDS, SISTER):
            async with opened.turn("ana", "monday", text) as turn:
                turn.finish("I see.")
        yield opened


async def facts(mind: Metacognition) -> set[str]:
    return {
        memory.content for memory in (await mind.list("ana", kind="semantic")).memories if memory.provenance == "user"
    }


async def test_what_tells_no_fact_is_told_as_one_no_longer(mind: Metacognition) -> None:
    assert await facts(mind) == {KIDS, SISTER}
    assert await mind.understand("ana", model=ScriptedModel([NOTHING]))
    assert await facts(mind) == {SISTER}  # which is surely one, whatever the model overlooked
    assert KIDS in {memory.content for memory in (await mind.list("ana")).memories}


async def test_a_line_of_which_the_model_says_what_cannot_be_kept_stays_a_fact(mind: Metacognition) -> None:
    said = {"line": 1, "span": "the children are doing a quiz"}
    assert await mind.understand("ana", model=ScriptedModel([{**NOTHING, "statements": [said]}]))
    assert await facts(mind) == {KIDS, SISTER}


async def test_what_a_person_pinned_stays_a_fact(mind: Metacognition) -> None:
    (number,) = (memory.id for memory in (await mind.list("ana")).memories if memory.content == KIDS)
    await mind.store.memories.amend_memory(1, number, "pin")
    assert await mind.understand("ana", model=ScriptedModel([NOTHING]))
    assert await facts(mind) == {KIDS, SISTER}


async def test_what_is_told_as_a_fact_no_longer_comes_back_when_that_is_undone(mind: Metacognition) -> None:
    (number,) = (memory.id for memory in (await mind.list("ana")).memories if memory.content == KIDS)
    assert await mind.understand("ana", model=ScriptedModel([NOTHING]))
    assert await mind.store.memories.amend_memory(1, number, "undo")
    assert await facts(mind) == {KIDS, SISTER}


async def test_an_answer_that_is_empty_takes_no_more_than_a_few_facts(mind: Metacognition) -> None:
    more = [f"Where is the {thing}, the kids are doing a quiz" for thing in ("pen", "chalk", "bell", "map")]
    for text in more:
        async with mind.turn("ana", "tuesday", text) as turn:
            turn.finish("I see.")
    before = await facts(mind)
    assert len(before) > len(more)
    assert await mind.understand("ana", model=ScriptedModel([NOTHING]))
    assert await facts(mind) == before
