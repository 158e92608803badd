"""The likelihood of a model's answers: which it tells right from wrong, and what it adds to the verdict."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from insula.cli.main import app
from insula.text.analysis import analyse_text
from insula.turn.monitor import UNSURE, Logprobs, assess, weigh_likelihood
from insula_bench.help.share import Pair, figures
from insula_bench.likelihood import Answer, fitted, measure, show
from insula_bench.likelihood_questions import Question, questions

# The questions of `insula bench likelihood`, and what is made of the answers.


def test_half_of_the_questions_are_for_fitting_and_share_no_person_and_no_fact_with_the_rest() -> None:
    found = questions()
    assert questions() == found
    halves = [[one for one in found if one.fitting is fitting] for fitting in (True, False)]
    assert [len(half) for half in halves] == [200, 200]
    assert not {one.text for one in halves[0]} & {one.text for one in halves[1]}
    assert [sum(one.kind == "world" for one in half) for half in halves] == [100, 100]


def test_what_was_told_holds_the_answer_and_what_was_not_told_has_none() -> None:
    for one in questions():
        if one.kind == "told":
            assert any(answer in fact for fact in one.told for answer in one.answers)
        if one.kind == "untold":
            assert len(one.told) == 3 and not one.answers


@pytest.mark.parametrize(
    ("answers", "response", "right"),
    [
        (("Ulaanbaatar", "Ulan Bator"), "It is ulan bator.", True),
        (("Ulaanbaatar",), "It is Khantakal.", False),
        (("8", "eight"), "A spider has 8 legs.", True),
        (("8",), "A spider has 80 legs.", False),
        (("Au",), "AU stands for Australia.", False),
        ((), "I do not know.", False),
    ],
)
def test_an_answer_is_right_where_it_holds_one_as_a_word(answers: tuple[str, ...], response: str, right: bool) -> None:
    assert Question("world", False, (), "?", answers).is_right(response) is right


def answer(fitting: bool, right: bool, mean: float, likely: float) -> Answer:
    return Answer(Question("world", fitting, (), "?", ()), "text", right, mean, mean, likely)


def test_only_the_half_that_is_not_for_fitting_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    held = [answer(False, right=i % 3 > 0, mean=-0.1 * (i % 3 == 0), likely=0.9 if i % 3 else 0.1) for i in range(30)]
    other = [answer(True, right=i % 2 == 0, mean=-2.0 if i % 2 else -0.2, likely=0.5) for i in range(20)]
    figures = measure([*held, *other])
    assert (figures["n"], figures["auroc"]) == (30, 1.0)
    assert (figures["unsure_of_right"], figures["unsure_of_wrong"]) == (0.0, 1.0)
    assert figures["unsure_below"] == round(UNSURE, 3)
    curve = fitted([*held, *other])
    assert curve["n"] == 20 and curve["slope"] > 0
    show(figures | {"fit": curve})
    assert "1.0" in capsys.readouterr().out


# What the likelihood adds to the verdict: the same replies, judged with it and without.


QUESTION = "What is the capital of Laos?"
LIKELY, UNLIKELY = -0.01, -4.0


def pair(city: str, value: float, *, right: bool) -> Pair:
    text = f"The capital of Laos is {city}."
    logprobs: Logprobs = [("The", -0.1), (" capital", -0.1), (" is", -0.1), (f" {city}", value), (".", -0.1)]
    without = assess(QUESTION, text)
    return Pair(right, without, weigh_likelihood(without, analyse_text(QUESTION), logprobs))


def test_the_share_is_the_difference_that_the_likelihood_alone_makes() -> None:
    told = figures([pair("Vientiane", LIKELY, right=True), pair("Khantakal", UNLIKELY, right=False)])
    assert told["without"]["doubted_wrong"]["count"] == 0
    assert told["weighed"]["doubted_wrong"]["count"] == 1
    assert told["weighed"]["doubted_right"]["count"] == 0
    assert told["weighed"]["auroc"] > told["without"]["auroc"]


@pytest.mark.parametrize("text", ["Vientiane is the capital of Laos."])
def test_kept_replies_are_judged_anew_without_a_model(tmp_path: Path, text: str) -> None:
    item = "hq001"
    reply = {"part": "answer", "item": item, "arm": "reply", "sample": 0, "asked": "", "text": text, "tokens": 1}
    reply |= {"ms": 1, "mean": -0.1, "least": -0.8, "logprobs": [["Vientiane", -0.1], [" is", 0.0]], "error": ""}
    (tmp_path / "replies.jsonl").write_text(json.dumps(reply) + "\n", "utf-8")
    command = ["bench", "help", "answer", "--limit", "0", "--half", "held", "--out", str(tmp_path), "--json"]
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 0, ran.output
    assert (
        json.loads((tmp_path / "figures-answer.json").read_text("utf-8"))["kinds"]["question"]["likelihood"]["n"] == 1
    )
