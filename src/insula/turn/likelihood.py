"""Implicit confidence: what the model's own log-probabilities say of a response, without a second call (K11).

A name that is made up is one that the model would as well have put otherwise. The mean log-probability of the words
that carry the answer is turned into a probability of being right by a logistic curve; its two figures stand in
`likelihood.json`, which says what they were fitted on.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from insula.text.analysis import Analysis, words_of
from insula.text.questions import AskKind, asks
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Assessment

Logprobs = Sequence[tuple[str, float]]
"""Each token with its natural log-probability."""

UNSURE = 1 / 3
"""Below this likelihood, at least twice as likely wrong as right, a response is unsure. Chosen over 1/2 after a right
answer of the demo was hedged."""

_WORD = re.compile(r"[^\W_]+")
_NO_FACTS: frozenset[AskKind] = frozenset({"request", "code"})
"""Asks that no answer is right or wrong about."""


def likelihood(logprobs: Logprobs | None, message: Analysis) -> float | None:
    """How likely a response is right, in [0, 1]; None without usable log-probabilities.

    Args:
        logprobs: each token of the response.
        message: what it answers.
    """
    mean = mean_of_answer(logprobs, message)
    return None if mean is None else _sigmoid(_curve()["intercept"] + _curve()["slope"] * mean)


def mean_of_answer(logprobs: Logprobs | None, message: Analysis) -> float | None:
    """The mean log-probability of the words that carry the answer: function words do not, nor those of the message.

    Where there are none, all words count; without usable log-probabilities it is None.
    """
    usable = [(token, value) for token, value in logprobs or () if token and math.isfinite(value)]
    words = list(_words(usable))
    given = words_of("function", message.language).union(_WORD.findall(message.text.lower()))
    carrying = [value for text, value in words if not given.issuperset(_WORD.findall(text.lower()))]
    values = carrying or [value for _, value in words]
    return sum(values) / len(values) if values else None


def weighed(assessment: Assessment, message: Analysis | None, logprobs: Logprobs | None) -> Assessment:
    """An assessment that takes the likelihood of the response in.

    An unsure response does not pass; by itself that brings a hedge before it and no more.

    Args:
        assessment: what was made of the text.
        message: the message, analysed.
        logprobs: each token of the response.
    """
    if assessment.modest or assessment.used:  # it claims nothing, or what memory holds
        return assessment
    if not logprobs or message is None or all(ask.kind in _NO_FACTS for ask in asks(message)):
        return assessment
    if (likely := likelihood(logprobs, message)) is None:
        return assessment
    parts = replace(assessment.parts, likelihood=round(likely, 4))
    if likely >= UNSURE:
        return replace(assessment, parts=parts)
    score = min(assessment.score, capped(likely))
    return replace(assessment, parts=parts, score=score, flags=(*assessment.flags, "unsure"))


def capped(likely: float) -> float:
    """The most that an unsure response scores: it is hedged, whatever else there is to it."""
    return round(HEDGE_THRESHOLD + (PASS_THRESHOLD - HEDGE_THRESHOLD) * likely, 4)


def _words(tokens: Logprobs) -> Iterator[tuple[str, float]]:
    """Each word with its log-probability, that of its tokens together; where words are not spaced, each token."""
    text, total = "", 0.0
    for token, value in tokens:
        if text and _begins(token):
            yield text, total
            text, total = "", 0.0
        text, total = text + token, total + min(0.0, value)
    if text:
        yield text, total


def _begins(token: str) -> bool:
    return token[0].isspace() or token[0] >= "\u3040"


def _sigmoid(value: float) -> float:
    return 0.5 * (1 + math.tanh(0.5 * value))


@cache
def _curve() -> dict[str, Any]:
    return json.loads((files("insula.turn") / "likelihood.json").read_text("utf-8"))
