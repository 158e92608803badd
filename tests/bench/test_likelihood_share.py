"""What the likelihood adds to the verdict: the same replies, judged with it and without."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from insula.cli.main import app
from insula.text.analysis import analyse_text
from insula.turn.likelihood import Logprobs, weigh_likelihood
from insula.turn.monitor import assess
from insula_bench.help.share import Pair, figures

QUESTION = "What is the capital of Laos?"
SURE, UNSURE = -0.01, -4.0


def pair(city: str, value: float, *, right: bool) -> Pair:
    text = f"The capital of Laos is {city}."
    logprobs: Logprobs = [("The", -0.1), (" capital", -0.1), (" is", -0.1), (f" {city}", value), (".", -0.1)]
    without = assess(QUESTION, text)
    return Pair(right, without, weigh_likelihood(without, analyse_text(QUESTION), logprobs))


def test_the_share_is_the_difference_that_the_likelihood_alone_makes() -> None:
    told = figures([pair("Vientiane", SURE, right=True), pair("Khantakal", UNSURE, right=False)])
    assert told["without"]["doubted_wrong"]["count"] == 0
    assert told["weighed"]["doubted_wrong"]["count"] == 1
    assert told["weighed"]["doubted_right"]["count"] == 0
    assert told["weighed"]["auroc"] > told["without"]["auroc"]


def test_where_all_are_right_no_auroc_is_given() -> None:
    assert figures([pair("Vientiane", SURE, right=True)])["without"]["auroc"] is None


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
