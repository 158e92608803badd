"""What a model proposed is read again beside the user's words; of one that sees no opposites nothing is kept (R7)."""

from typing import Any

import pytest

from insula import Metacognition
from insula.testing import FrozenClock, Reply, Request, ScriptedModel, answer_second_look, memory_store

pytestmark = pytest.mark.anyio

WORDS = "You asked me five questions at once there. One question at a time please."
TRUE = "Ask one question at a time, and wait for the answer."
OPPOSITE = "Ask all your questions at once so that the user can answer together."


def proposing(text: str, looked: Reply | None = None, *, honest: bool = True) -> ScriptedModel:
    """A model that proposes a principle, and reads it again."""

    def says(_: str, note: str) -> str:
        return "opposite" if note == OPPOSITE else "follows"

    def reply(request: Request) -> Reply:
        if again := answer_second_look(request, says if honest else None):  # pyright: ignore[reportArgumentType]
            return looked or again
        if "principles" in (request.schema or {}).get("properties", {}):
            principle = {"text": text, "section": "interaction", "sessions": [1], "quotes": [WORDS]}
            return {"explanation": [], "principles": [principle], "procedures": [], "advice": []}
        return {"summary": "They wrote a letter.", "topics": ["letter"]}

    return ScriptedModel(reply)


async def night_of(model: ScriptedModel) -> Any:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0)
        for message in ("Help me write to the council.", WORDS, "To the parks department."):
            clock.advance(60)
            async with mind.turn("ada", "day 1", message) as turn:
                turn.finish("Who is it to? How long? What tone? When? Why?")
        return await mind.sleep("ada", model=model, force=True)


async def kept(model: ScriptedModel) -> tuple[list[str], dict[str, int]]:
    (found,) = [one.found for one in (await night_of(model)).phases if one.name == "reflection"]
    return [one["advice"] for one in found["candidates"]], found["dropped"]


async def test_a_guideline_that_follows_from_what_it_quotes_is_kept() -> None:
    assert await kept(proposing(TRUE)) == ([TRUE], {})


async def test_a_guideline_that_says_the_opposite_of_what_it_quotes_is_refused_with_the_reason() -> None:
    assert await kept(proposing(OPPOSITE)) == ([], {"says the opposite of what it quotes": 1})


@pytest.mark.parametrize("says", ["follows", "opposite", "other"])
async def test_of_a_model_that_gets_a_known_pair_wrong_nothing_is_kept(says: str) -> None:
    same = {"verdicts": [{"pair": number, "says": says} for number in range(1, 10)]}
    texts, dropped = await kept(proposing(TRUE, same))
    assert texts == []
    assert dropped == {"the model does not tell a guideline from its opposite": 1}


async def test_a_model_that_skips_a_note_has_not_vouched_for_it() -> None:
    known = {"verdicts": [
        *({"pair": at, "says": says} for at, says in ((1, "follows"), (3, "opposite"), (4, "opposite"))),
        *({"pair": at, "says": says} for at, says in ((5, "other"), (6, "follows"))),
    ]}  # fmt: skip
    assert (await kept(proposing(TRUE, known)))[0] == []


async def test_where_nothing_is_kept_the_model_is_not_asked_again() -> None:
    model = proposing("Be friendly and helpful at all times.")
    assert (await kept(model))[0] == []
    assert all(answer_second_look(request) is None for request in model.requests)


@pytest.mark.parametrize("answer", ["no JSON at all", {"verdicts": "all of them follow"}])
async def test_of_a_model_whose_second_look_cannot_be_read_nothing_is_kept(answer: Reply) -> None:
    texts, dropped = await kept(proposing(TRUE, answer))
    assert texts == []
    assert dropped == {"the model gave no answer that can be read when it was asked again": 1}
