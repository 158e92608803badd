"""Self-Refine as its repository runs it: a program is criticised and rewritten until the critic is content."""

import pytest
from inline_snapshot import snapshot
from solving import PROBLEM

from insula.testing import ScriptedModel
from insula_solve import Models
from insula_solve.answers import compute_program
from insula_solve.baselines import self_refine
from insula_solve.programs import find_program
from insula_solve.prompts import make_prompt
from insula_solve.solution import MethodEnd

pytestmark = pytest.mark.anyio

FIRST = "    boxes = 3\n    apples = boxes + 4\n    return apples - 2"
BETTER = "Line 2 adds.\n\ndef solution():\n    boxes = 3\n    apples = boxes * 4\n    return apples - 2"


async def test_it_rewrites_until_the_critic_finds_nothing_wrong() -> None:
    model = ScriptedModel([FIRST, BETTER, "Each line follows. It is correct!"])
    solved = await self_refine(PROBLEM, Models(generator=model))
    assert (solved.answer, [attempt.value for attempt in solved.attempts]) == ("10", ["5", "10"])
    assert solved.end == MethodEnd("accepted", "the critic found nothing wrong")
    settings = [(request.settings["max_tokens"], request.settings["temperature"]) for request in model.requests]
    assert settings == [(300, 0.0), (600, 0.7), (600, 0.7)]
    assert model.requests[0].prompt == make_prompt("program", problem=PROBLEM).prompt, (
        "as insula's, so that they share the reply"
    )
    grown = [request.prompt.partition("Question: " + PROBLEM)[2] for request in model.requests]
    assert grown[1] == snapshot("""\


```python
boxes = 3
    apples = boxes + 4
    return apples - 2
```

There may be an error in the code above. Go through it line by line and check each against the question; then write
the code anew. If no line is wrong, write "It is correct!" instead.\
""")
    assert FIRST.strip() in grown[2]
    assert BETTER in grown[2]


async def test_a_critic_that_repeats_the_request_accepts_nothing() -> None:
    echo = 'the code anew. If no line is wrong, write "It is correct!" instead.'
    solved = await self_refine(PROBLEM, Models(generator=ScriptedModel([FIRST, echo, BETTER, "It is correct!"])))
    assert (solved.answer, solved.spent.calls) == ("10", 4)


async def test_it_ends_with_the_fourth_program() -> None:
    model = ScriptedModel([FIRST, BETTER, BETTER, BETTER])
    solved = await self_refine(PROBLEM, Models(generator=model))
    assert (solved.answer, len(solved.attempts), solved.spent.calls) == ("10", 4, 4)


async def test_a_program_that_cannot_be_computed_is_an_attempt_without_an_answer() -> None:
    loop = "def solution():\n    for i in range(3):\n        a = i\n    return a"
    solved = await self_refine(PROBLEM, Models(generator=ScriptedModel(["import os", loop, "It is correct!"])))
    assert (solved.answer, [attempt.value for attempt in solved.attempts]) == (None, [None, None])


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("```python\na = 1\nanswer = a + 1\n```\nIt is 7.", "2"),
        ("```\nanswer = 2", "2"),
        ("First:\n```py\nanswer = 1\n```\nBetter:\n```py\nanswer = 2\n```", "2"),
        ("def solution():\n    # two\n    a = 2\n    return a\n\nThat is all there is to it.", "2"),
        ("a = 1\nb = a + 1", "2"),
        ("There is no program here.", None),
        ("", None),
    ],
)
def test_the_program_in_a_reply(reply: str, value: str | None) -> None:
    answer = compute_program(find_program(reply))
    assert (answer.value if answer else None) == value
