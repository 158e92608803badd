"""`insula bench likelihood`: whether the likelihood of a model's answers tells the right ones from the wrong."""

import asyncio
import json as jsonlib
import statistics
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from insula.agent import chat
from insula.llm.client import generate_reply
from insula.llm.local import weights_of
from insula.llm.models import resolve_model
from insula.metacognition import Metacognition
from insula.text.analysis import analyse_text
from insula.turn.monitor import UNSURE, Logprobs, claim_likelihood, least_likely
from insula_bench.likelihood_questions import Question, questions
from insula_bench.progress import steps
from insula_bench.statistics import auroc_interval, ece, logistic, ranked

Figures = dict[str, Any]

TOKENS = 256
KINDS = ("world", "told", "untold")
NOTED = "I will remember that."


class Answer(NamedTuple):
    """What a model answered."""

    question: Question
    text: str
    right: bool
    least: float
    """The log-probability of its least likely claim."""
    tokens: float
    """The same of all its tokens."""
    likelihood: float


def run(model: str, json: bool, fit: bool) -> int:
    """Ask everything, print the figures, and return the exit code.

    Raises:
        ModelError: the model cannot be used.
    """
    answers = asyncio.run(asked(model))
    figures = measure(answers) | ({"fit": fitted(answers)} if fit else {})
    print(jsonlib.dumps(figures, indent=2)) if json else show(figures)
    return 0


async def asked(name: str) -> list[Answer]:
    """What a model answers to each question, told of its memories as `insula chat` tells it."""
    weights = weights_of(name)
    brief, tokens = (weights.brief, weights.max_tokens) if weights else ("", TOKENS)
    answers: list[Answer] = []
    async with await Metacognition.open(":memory:") as metacognition, resolve_model(name) as model:
        shown = steps(questions(), f"asking {name}")
        for number, one in enumerate(shown):
            user = f"user {number}"
            for fact in one.told:
                async with metacognition.turn(user, "first", fact) as turn:
                    turn.finish(NOTED)
            async with metacognition.turn(user, "second", one.text) as turn:
                prompt = chat.make_prompt(turn, brief, 0)
                made = await generate_reply(
                    model, prompt, purpose="answer", max_tokens=tokens, temperature=0.0, logprobs=True
                )
            if made.logprobs and (answer := _answer(one, made.text, made.logprobs)):
                answers.append(answer)
    return answers


def _answer(question: Question, text: str, logprobs: Logprobs) -> Answer | None:
    asked = analyse_text(question.text)
    if (claim := least_likely(logprobs, asked)) is None:
        return None
    tokens = statistics.fmean(value for _, value in logprobs)
    return Answer(question, text, question.is_right(text), claim.value, tokens, claim_likelihood(claim))


def measure(answers: list[Answer]) -> Figures:
    """The figures of the half that nothing was fitted on."""
    held = [one for one in answers if not one.question.fitting]
    return {
        "unsure_below": round(UNSURE, 3),
        **_figures(held),
        "kinds": {kind: _figures([one for one in held if one.question.kind == kind]) for kind in KINDS},
    }


def _figures(answers: list[Answer]) -> Figures:
    right = [one.right for one in answers]
    sure = [one.likelihood for one in answers]
    wrong = [not one for one in right]
    figures: Figures = {
        "n": len(answers),
        "right": sum(right),
        "unsure_of_right": _share([p < UNSURE for p, yes in zip(sure, right, strict=True) if yes]),
        "unsure_of_wrong": _share([p < UNSURE for p, yes in zip(sure, wrong, strict=True) if yes]),
    }
    if 0 < sum(right) < len(right):
        truth, base = np.array(right), statistics.fmean(right)
        low, high = auroc_interval(sure, right)
        error = statistics.fmean((p - yes) ** 2 for p, yes in zip(sure, right, strict=True))
        figures |= {
            "auroc": round(ranked(np.array(sure), truth), 3),
            "interval": [round(low, 3), round(high, 3)],
            "auroc_mean_token": round(ranked(np.array([one.tokens for one in answers]), truth), 3),
            "auroc_brevity": round(ranked(np.array([-float(len(one.text)) for one in answers]), truth), 3),
            "ece": round(ece(sure, right), 3),
            "brier_skill": round(1 - error / (base * (1 - base)), 3),
        }
    return figures


def _share(of: list[bool]) -> float | None:
    return round(statistics.fmean(of), 3) if of else None


def fitted(answers: list[Answer]) -> Figures:
    """The curve that the other half gives; `turn/likelihood.json` holds that of the embedded model."""
    mine = [one for one in answers if one.question.fitting]
    weights = logistic(np.array([[one.least] for one in mine]), np.array([float(one.right) for one in mine]))
    return {"n": len(mine), "intercept": round(float(weights[0]), 3), "slope": round(float(weights[1]), 3)}


def show(figures: Figures) -> None:
    """Print the figures as a person reads them."""
    console, table = Console(), Table("", "n", "right", "AUROC", "95 %", "ECE", "unsure of right", "of wrong", box=None)
    for name, one in {"all": figures, **figures["kinds"]}.items():
        low, high = one.get("interval", ("–", "–"))
        cells = (one["n"], one["right"], one.get("auroc", "–"), f"{low} {high}", one.get("ece", "–"))
        table.add_row(name, *map(str, (*cells, one["unsure_of_right"], one["unsure_of_wrong"])))
    console.print(table)
    if "fit" in figures:
        console.print(f"fitted on the other half: {figures['fit']}")
