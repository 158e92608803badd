"""What kind of answer a problem wants, what is taken of a reply, and how many calls that takes."""

import pytest

from insula.testing import ModelRefused, ScriptedModel
from insula_solve import METHODS, Limits, Models
from insula_solve.answers import is_same_answer, read_answer
from insula_solve.insula import insula
from insula_solve.solution import Solution

pytestmark = pytest.mark.anyio

TOM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"
PLANET = "Which planet is the largest? A) Mars B) Jupiter C) Venus"
PROSE = (
    "The war of 1914 drew 32 countries in. Alliances bound Vienna to Berlin, and Paris to London. A shot in June "
    "began it. In 1918 it ended, and 17 million people were dead."
)
ONE_CALL = [
    (TOM, r"3 * 4 = 12. 12 - 2 = 10. \boxed{10}", "number", "10"),
    ("What is 17 * 23?", "391", "number", "391"),
    ("What is 17 * 23?", "<think>17 * 20 = 340, and 51 more</think>**391**", "number", "391"),
    ("How many legs does a spider have?", "A spider has **8** legs.", "number", "8"),
    ("How far is 5 km in m?", "5 km = 5000 m", "number", "5000 m"),
    ("What is 12 % of 250?", "12% of 250 is 30.", "number", "30"),
    ("How fast is it, at 150 km in 2.5 hours?", "150 / 2.5 = 60, so **60 km/h**", "number", "60 km/h"),
    ("A pen costs $2 and a book $7. What do both cost?", "2 + 7 = 9, so **$9**.", "number", "9"),
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
    ("Solve x^2 - 5x + 6 = 0", "x = 2 or x = 3", "expression", "x = 2 or x = 3"),
    ("Simplify (a+b)^2 - (a-b)^2", "4ab", "expression", "4ab"),
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
    ("Implement quicksort in Rust.", "```rust\nfn sort(v: &mut [i32]) {}\n```", "code"),
    ("Prove that sqrt(2) is irrational.", "Suppose sqrt(2) = p/q. Then p^2 = 2q^2, so p is even, and q too.", "text"),
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


@pytest.mark.parametrize(
    ("problem", "reply", "doubt"),
    [
        ("List five European rivers.", "1. Rhine\n2. Danube", "constraint: List five European"),
        ("Write a Python function that adds two numbers", "```python\ndef add(a, b)\n    return a + b\n```", "parsed"),
    ],
)
async def test_what_can_be_checked_without_a_model_is_and_then_a_verifier_is_asked(
    problem: str, reply: str, doubt: str
) -> None:
    judged = "Coherence: 0.2\nPlausibility: 0.2\nConsistency: 0.2\nGoal-conduciveness: 0.2\nEvaluation: Too few."
    model, solved = await solve(problem, reply, judged)
    assert (solved.answer, solved.confidence, len(model.requests)) == (reply, pytest.approx(0.2), 2)
    assert doubt in solved.doubts[0]
    assert solved.doubts[-1] == "Too few."


async def test_code_whose_tests_fail_is_written_again_and_the_tests_say_how_sure_it_is() -> None:
    problem = "Write a Python function `reverse` that reverses a string.\nassert reverse('ab') == 'ba'"
    wrong, right = (f"```python\ndef reverse(s):\n    return {value}\n```" for value in ("s", "s[::-1]"))
    model, solved = await solve(problem, wrong, right)
    assert (solved.answer, solved.confidence, solved.ending) == (right, pytest.approx(0.98), "accepted")
    assert [request.settings["temperature"] for request in model.requests] == [0.0, 0.7]
    model, solved = await solve(problem, *[wrong] * 9)
    assert (solved.confidence, solved.at_impasse, len(model.requests)) == (0.0, True, 3)
    assert "A test of it does not hold: assert reverse('ab') == 'ba'" in solved.doubts


@pytest.mark.parametrize("method", ["direct", "self_consistency", "self_refine", "self_verification", "mgv"])
async def test_no_method_votes_on_code(method: str) -> None:
    code = "```python\ndef r(s):\n    return s[::-1]\n```"
    model = ScriptedModel([code])
    solved = await METHODS[method]("Write a Python function that reverses a string", Models(generator=model))
    assert (solved.answer, len(model.requests)) == (code, 1)


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
        ("36 km/h", "10 m/s", True),
        ("60 km/h", "60 mph", False),
        ("20 °C", "20 °F", False),
        ("3/4", "0.75", True),
        ("$1,200", "1200.0", True),
    ],
)
def test_numbers_are_compared_with_their_units(one: str, other: str, same: bool) -> None:
    left, right = read_answer(one), read_answer(other)
    assert left
    assert right
    assert is_same_answer(left, right) is same


@pytest.mark.parametrize(("other", "same"), [("2x + 2", True), ("2 + 2x", True), ("2x + 1", False), ("2y + 2", True)])
def test_expressions_are_compared_by_their_values(other: str, same: bool) -> None:
    left, right = read_answer("2(x+1)", "expression"), read_answer(other, "expression")
    assert left
    assert right
    assert is_same_answer(left, right) is same


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


async def test_what_a_provider_refuses_by_name_is_left_out_from_then_on_and_said() -> None:
    unlike = ModelRefused("Unsupported value: 'temperature' does not support 0.0 with this model.")
    capped = ModelRefused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    model = ScriptedModel([unlike, capped, r"\boxed{9}", "answer = 10", r"\boxed{10}", r"\boxed{10}", r"\boxed{10}"])
    solved = await insula(TOM, Models(generator=model))
    sent = [("temperature" in request.settings, "max_tokens" in request.settings) for request in model.requests]
    assert sent[:3] == [(True, True), (False, True), (False, False)]
    assert set(sent[3:]) == {(False, False)}
    assert model.requests[2].settings["extra_body"] == {"max_completion_tokens": 600}
    assert [step.text for step in solved.trace if step.kind == "setting"] == [
        "The model 'scripted' refuses 'max_tokens': it is left out from here on.",
        "The model 'scripted' refuses 'temperature': it is left out from here on.",
    ]


async def test_what_a_person_sets_holds_for_every_method() -> None:
    limits = Limits(tokens=900, temperature=0.4, attempts=2)
    for name in ("self_consistency", "adaptive_self_consistency", "self_verification", "mgv"):
        model = ScriptedModel(lambda request: rf"\boxed{{{len(request.prompt)}}}")
        await METHODS[name](TOM, Models(generator=model), limits=limits)
        chains = [request.settings for request in model.requests if request.settings["max_tokens"] == 900]
        assert len(chains) == 2, name
        assert chains[-1]["temperature"] == 0.4, name
