"""What the user's own model predicts that they may ask later brings up what they told, in whatever other words."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula

from insula import Metacognition
from insula.testing import ScriptedModel

pytestmark = pytest.mark.anyio

DENTIST, ALLERGY = "Frau Okafor does my fillings.", "Pecans make my throat swell."
TEETH, CAKE = "name of the one with the drill?", "Suggest a cake for my birthday party."

PREDICTED = ["Who is my dentist?", "the woman with the drill, what is she called"]


def stated(line: int, span: str, questions: Sequence[str] = (), requests: Sequence[str] = ()) -> dict[str, Any]:
    return {"line": line, "span": span.rstrip("."), "questions": [*questions], "requests": [*requests]}


def read(*statements: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel([{"statements": [*statements], "ended": [], "preferences": []}])


def count(database: Path) -> int:
    with sqlite3.connect(database) as raw:
        (found,) = raw.execute("SELECT count(*) FROM predicted_queries").fetchone()
    raw.close()
    return found


async def tell(mind: Metacognition, *lines: str) -> None:
    for text in lines:
        async with mind.turn("ana", "monday", text) as turn:
            turn.finish("I see.")


async def put_before(mind: Metacognition, message: str) -> str:
    """What stands before the model for a message."""
    turn = await mind.begin("ana", f"asked {message}", message)
    return turn.instructions


@pytest.fixture
async def mind(anyio_backend: str, tmp_path: Path) -> AsyncGenerator[Metacognition]:
    async with await Metacognition.open(tmp_path / "m.db", holdout=0.0) as opened:
        yield opened


async def test_a_predicted_question_brings_up_a_fact_that_shares_no_word_with_what_is_asked(
    mind: Metacognition,
) -> None:
    await tell(mind, DENTIST)
    assert DENTIST not in await put_before(mind, TEETH)
    assert await mind.understand("ana", model=read(stated(1, DENTIST, PREDICTED)))
    assert DENTIST in await put_before(mind, TEETH)


async def test_a_predicted_request_puts_a_limit_before_the_model(mind: Metacognition) -> None:
    await tell(mind, ALLERGY)
    assert await mind.understand("ana", model=read(stated(1, ALLERGY, (), ["Which cake should I bake for my party?"])))
    assert ALLERGY in await put_before(mind, CAKE)


@pytest.mark.parametrize("asked", ["What is the capital of France?", "How long do I boil an egg?"])
async def test_a_question_of_the_world_that_is_predicted_for_a_fact_does_not_bring_it_up(
    mind: Metacognition, asked: str
) -> None:
    await tell(mind, DENTIST)
    assert await mind.understand("ana", model=read(stated(1, DENTIST, [asked], [asked])))
    assert "Okafor" not in await put_before(mind, asked)


async def test_what_was_predicted_goes_with_the_line_and_leaves_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with await Metacognition.open(path, holdout=0.0) as mind:
        await tell(mind, DENTIST)
        assert await mind.understand("ana", model=read(stated(1, DENTIST, ["Who fills my teeth with amalgam?"])))
        assert count(path) == 1
        await mind.delete("ana", 1)
        assert count(path) == 0
    assert b"amalgam" not in b"".join(each.read_bytes() for each in tmp_path.iterdir() if each.is_file())


async def test_what_was_predicted_of_a_line_is_gone_once_that_is_corrected(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "m.db", holdout=0.0) as mind:
        await tell(mind, DENTIST)
        assert await mind.understand("ana", model=read(stated(1, DENTIST, ["Who is my dentist?"])))
        await mind.update("ana", 1, "Frau Okafor teaches me the oboe.")
    assert count(tmp_path / "m.db") == 0


async def test_what_was_predicted_moves_with_its_user(tmp_path: Path) -> None:
    path, archive = tmp_path / "home" / "insula.db", tmp_path / "ana.jsonl"
    async with await Metacognition.open(path, holdout=0.0) as mind:
        await tell(mind, DENTIST)
        assert await mind.understand("ana", model=read(stated(1, DENTIST, PREDICTED)))
        await mind.export("ana", archive)
    imported = await asyncio.to_thread(run_insula, "user", "import", "copy", archive)
    assert imported.status == 0
    async with await Metacognition.open(path, holdout=0.0) as mind:
        turn = await mind.begin("copy", "tuesday", TEETH)
        assert DENTIST in turn.instructions


async def test_a_limited_preference_is_told_where_its_task_goes_by_other_words(mind: Metacognition) -> None:
    wish, asked = "For recipes give me weights in grams.", "How do I bake a simple loaf of bread?"
    await tell(mind, wish)
    before = await mind.begin("ana", "before", asked)
    preferred = {"line": 1, "span": wish, "scope": "recipes", "requests": ["How do I bake bread?"]}
    assert await mind.understand(
        "ana", model=ScriptedModel([{"statements": [], "ended": [], "preferences": [preferred]}])
    )
    after, other = await mind.begin("ana", "after", asked), await mind.begin("ana", "other", "How far is the moon?")
    assert [wish in turn.prompt for turn in (before, after, other)] == [False, True, False]


FRUIT = "I am pregnant with twins."


async def test_what_was_predicted_holds_no_word_of_an_erased_line(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    quoting = ["Who does my fillings while I am pregnant?", "Who is my dentist?"]
    async with await Metacognition.open(path, holdout=0.0) as mind:
        await tell(mind, DENTIST, *(f"My cat number {number} is called Mia." for number in range(5)), FRUIT)
        assert await mind.understand(
            "ana", model=read(stated(1, DENTIST, quoting), stated(7, FRUIT, ["How many babies do I expect?"]))
        )
        (number,) = (each.id for each in (await mind.list("ana")).memories if each.content == FRUIT)
        await mind.delete("ana", number)
        assert count(path) == 1
    assert b"pregnant" not in b"".join(each.read_bytes() for each in tmp_path.iterdir() if each.is_file())


async def test_a_correction_leaves_what_was_predicted_for_other_lines(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "m.db", holdout=0.0) as mind:
        await tell(mind, "My dog is called Bodo.", DENTIST)
        assert await mind.understand("ana", model=read(stated(2, DENTIST, PREDICTED)))
        await mind.update("ana", 1, "My dog is called Rex.")
        await tell(mind, "Thanks.")  # what the lines after the corrected one mean is made anew beside it
        assert DENTIST in await put_before(mind, TEETH)


RECIPES, CODE = "For recipes give me weights in grams.", "For Python code always use four spaces."
BREAD = "How do I bake a simple loaf of bread?"


def prefer(span: str, scope: str, *requests: str) -> dict[str, Any]:
    return {"line": 1, "span": span, "scope": scope, "requests": [*requests]}


def wanting(*preferences: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel([{"statements": [], "ended": [], "preferences": [*preferences]}])


async def test_a_task_tells_its_own_preference_and_no_other_of_its_line(mind: Metacognition) -> None:
    await tell(mind, f"{RECIPES} {CODE}")
    both = prefer(RECIPES, "recipes", "How do I bake bread?"), prefer(CODE, "Python code")
    assert await mind.understand("ana", model=wanting(*both))
    turn = await mind.begin("ana", "tuesday", BREAD)
    assert [each in turn.prompt for each in (RECIPES, CODE)] == [True, False]


async def test_a_preference_that_is_said_again_keeps_its_tasks(mind: Metacognition) -> None:
    await tell(mind, RECIPES)
    assert await mind.understand("ana", model=wanting(prefer(RECIPES, "recipes", "How do I bake bread?")))
    async with mind.turn("ana", "tuesday", RECIPES) as turn:
        turn.finish("I see.")
    assert RECIPES in (await mind.begin("ana", "wednesday", BREAD)).prompt


@pytest.mark.parametrize("misfit", [None, "Who is my dentist?", [1, "x" * 500]])
async def test_a_prediction_that_is_none_spoils_no_answer(mind: Metacognition, misfit: object) -> None:
    await tell(mind, DENTIST)
    assert await mind.understand("ana", model=read({"line": 1, "span": DENTIST.rstrip("."), "questions": misfit}))
    assert "my fillings" in await put_before(mind, "Who does my fillings?")
