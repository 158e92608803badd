"""What kind of answer a problem wants, what is taken of a reply, and how many calls that takes."""

import pytest

from insula.errors import ModelRefused
from insula.solve.answers import agree, read
from insula.solve.insula import insula
from insula.solve.run import Limits, Models
from insula.solve.solution import Solution
from insula.testing import ScriptedModel

pytestmark = pytest.mark.anyio

TOM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"
PLANET = "Which planet is the largest? A) Mars B) Jupiter C) Venus"
PROSE = "In the war of 1914 there were 32 countries. " * 20
ONE_CALL = [
    (TOM, r"3 * 4 = 12. 12 - 2 = 10. \boxed{10}", "number", "10"),
    ("What is 17 * 23?", "391", "number", "391"),
    ("What is 17 * 23?", "<think>17 * 20 = 340, and 51 more</think>**391**", "number", "391"),
    ("How many legs does a spider have?", "A spider has **8** legs.", "number", "8"),
    ("How far is 5 km in m?", "5 km = 5000 m", "number", "5000 m"),
    ("What is 3/4 + 1/8?", r"\[ \boxed{\frac{7}{8}} \]", "number", "0.875"),
    (PLANET, "B) Jupiter", "choice", "B"),
    (PLANET, "The largest planet is Jupiter.", "choice", "B"),
    ("What is the capital of France?", "The capital of France is **Paris**.", "name", "Paris"),
    ("What is the capital of France?", "Paris is the capital of France.", "name", "Paris"),
    ("¿Cuál es la capital de España?", "La capital de España es Madrid.", "name", "Madrid"),
    ("Quelle est la capitale de la France ?", "Paris", "name", "Paris"),
    ("Was ist die Hauptstadt von Österreich?", r"\boxed{\text{Wien}}", "name", "Wien"),
    ("Qual é a capital de Portugal?", "A capital de Portugal é Lisboa.", "name", "Lisboa"),
    ("Qual è la capitale d'Italia?", "La capitale d'Italia è **Roma**.", "name", "Roma"),
    ("法国的首都是哪里？", "法国的首都是巴黎。", "name", "巴黎"),
    ("日本の首都はどこですか？", "日本の首都は東京です。", "name", "東京"),
    ("Solve 3x + 5 = 20", "3x = 15\n\nx = 5", "expression", "x = 5"),
    ("Expand (x+1)^2", r"\boxed{x^2 + 2x + 1}", "expression", "x^2 + 2x + 1"),
]
ONCE = [
    ("Write a Python function that reverses a string", "```python\ndef r(s):\n    return s[::-1]\n```", "code"),
    ("Escreva uma função em Python que inverte uma string", "```python\nr = lambda s: s[::-1]\n```", "code"),
    ("写一个反转字符串的函数", "```python\ndef r(s): return s[::-1]\n```", "code"),
    ("Write an essay about the war of 1914.", PROSE, "text"),
    ("List five European rivers.", "1. Rhine\n2. Danube\n3. Loire\n4. Po\n5. Ebro", "text"),
    ("Explain why the sky is blue.", "Light of 450 nm is scattered more than light of 700 nm.", "text"),
    ("Schreibe ein Gedicht über den Herbst.", "Die 7 Blätter\nfallen leise", "text"),
    ("The sky is blue today.", "That is nice! What would you like to know?", "text"),
]


async def solve(problem: str, *replies: str, logprob: float | None = None) -> tuple[ScriptedModel, Solution]:
    model = ScriptedModel(list(replies), logprob=logprob)
    return model, await insula(problem, Models(generator=model))


@pytest.mark.parametrize(("problem", "reply", "form", "answer"), ONE_CALL)
@pytest.mark.parametrize("logprob", [None, -0.1])
async def test_an_easy_question_is_answered_by_one_call(
    problem: str, reply: str, form: str, answer: str, logprob: float | None
) -> None:
    model, solved = await solve(problem, reply, logprob=logprob)
    assert (solved.form, solved.answer, len(model.requests)) == (form, answer, 1)


@pytest.mark.parametrize(("problem", "reply", "form"), ONCE)
async def test_what_cannot_be_compared_is_answered_once_as_it_stands(problem: str, reply: str, form: str) -> None:
    model, solved = await solve(problem, reply)
    assert (solved.form, solved.answer, solved.confidence, len(model.requests)) == (form, reply.strip(), None, 1)
    assert model.requests[0].prompt == problem


async def test_a_verifier_that_is_named_judges_what_is_answered_once() -> None:
    judged = "Coherence: 0.8\nPlausibility: 0.8\nConsistency: 0.8\nGoal-conduciveness: 0.8\nEvaluation: It holds."
    models = Models(generator=ScriptedModel([PROSE]), verifier=ScriptedModel([judged]))
    solved = await insula("Write an essay about the war of 1914.", models)
    assert solved.confidence == pytest.approx(0.8)


async def test_no_number_is_taken_from_text_that_calculates_nothing() -> None:
    told = "Spiders are arachnids. They have 2 body parts and live on 7 continents."
    model, solved = await solve("How many legs does a spider have?", told, r"\boxed{8}", r"\boxed{8}", r"\boxed{8}")
    assert (solved.answer, solved.attempts[0].answer) == ("8", None)
    assert len(model.requests) > 1


async def test_an_expression_that_the_problem_states_is_computed_and_a_wrong_reply_is_not_the_end() -> None:
    model, solved = await solve("What is 17 * 23?", "401", r"17 * 23 = 391 \boxed{391}", r"17 * 23 = 391 \boxed{391}")
    assert solved.answer == "391"
    assert solved.confidence == pytest.approx(0.98)
    assert len(model.requests) <= 3


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("5 km", "5000 m", True),
        ("5 km", "5", True),
        ("5 km", "5 h", False),
        ("90 minutes", "1.5 hours", True),
        ("3/4", "0.75", True),
        ("$1,200", "1200.0", True),
    ],
)
def test_numbers_are_compared_with_their_units(one: str, other: str, same: bool) -> None:
    left, right = read(one), read(other)
    assert left
    assert right
    assert agree(left, right) is same


@pytest.mark.parametrize(("other", "same"), [("2x + 2", True), ("2 + 2x", True), ("2x + 1", False), ("2y + 2", True)])
def test_expressions_are_compared_by_their_values(other: str, same: bool) -> None:
    left, right = read("2(x+1)", "expression"), read(other, "expression")
    assert left
    assert right
    assert agree(left, right) is same


async def test_nothing_is_asked_where_there_is_no_word() -> None:
    model, solved = await solve("?!", "x")
    assert (solved.end.why, len(model.requests)) == ("the problem holds no word and no number", 0)


async def test_how_much_is_asked_for_can_be_set() -> None:
    replies = [rf"\boxed{{{number}}}" for number in range(20, 30)]
    model = ScriptedModel(replies)
    limits = Limits(tokens=900, temperature=0.4, attempts=3)
    solved = await insula(TOM, Models(generator=model), limits=limits)
    assert len(solved.attempts) == 3
    assert [request.settings["max_tokens"] for request in model.requests if "boxed" in request.prompt] == [900] * 2
    assert model.requests[-1].settings["temperature"] == 0.4


async def test_a_setting_that_the_provider_refuses_by_name_is_left_out_the_second_time() -> None:
    refused = ModelRefused("Unsupported value: 'temperature' does not support 0.0 with this model.")
    model = ScriptedModel([refused, "Paris"])
    solved = await insula("What is the capital of France?", Models(generator=model))
    assert solved.answer == "Paris"
    assert ["temperature" in request.settings for request in model.requests] == [True, False]
