"""The ten weeks written by hand: what a strong model asks for is done, and what a careless one does is refused."""

import json
import re
from typing import Any

import pytest

from insula.testing import Reply, Request, ScriptedModel, answer_second_look
from insula_bench.weeks import Week, reflected, weeks

pytestmark = pytest.mark.anyio


def strong(week: Week) -> ScriptedModel:
    """Asks for what the week wants, and cites the sessions in which the user said so."""

    def answer(request: Request) -> Reply:
        if looked := answer_second_look(request):
            return looked
        shown = re.findall(r'\{"id": "(\w+)", "text": "([^"]*)"', request.prompt)
        names = {text: name for name, text in shown}
        ids = [names[one["text"]] for one in week["guidance"]]
        sessions = sorted({int(each) for each in re.findall(r'"session": (\d+)', request.prompt)})
        asked = [
            {
                "do": one["do"],
                "ids": [ids[number] for number in one["ids"]],
                "text": week["guidance"][one["ids"][0]]["text"] if one["do"] == "merge" else _worded(one["do"]),
                "sessions": sessions,
            }
            for one in week["wanted"]
        ]
        return _lists() | {"operations": asked}

    return ScriptedModel(answer)


def _worded(do: str) -> str:
    return "Add type hints to code." if do == "reword" else ""


def _lists() -> dict[str, Any]:
    return {"explanation": [], "principles": [], "procedures": [], "advice": []}


@pytest.mark.parametrize("week", weeks()[::3], ids=lambda week: week["name"])
async def test_what_a_strong_model_asks_for_is_fit(week: Week) -> None:
    found = await reflected(week, strong(week))
    assert found.read
    refused = {"more than one night may retire", "ungrounded", "loses “Verwenden Sie das Sie.”"}  # the last one wrongly
    assert set(found.refused) <= refused
    assert found.met >= found.wanted - len(found.refused)


async def test_a_careless_model_is_refused_and_counted() -> None:
    def answer(_: Request) -> Reply:
        return _lists() | {"operations": [{"do": "retire", "ids": ["nobody"], "text": "", "sessions": [999]}]}

    found = await reflected(weeks()[0], ScriptedModel(answer))
    assert (found.read, found.valid, found.refused) == (True, False, ("unknown id",))


async def test_a_reply_that_cannot_be_read_is_counted() -> None:
    found = await reflected(weeks()[0], ScriptedModel(lambda _: "I had a lovely week."))
    assert (found.read, found.met) == (False, 0)
    assert found.why
    assert json.dumps(found.why)
