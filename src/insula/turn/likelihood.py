"""Implicit confidence: what the model's own log-probabilities say of a response, without a second call (K11).

A name that is made up is one that the model would as well have put otherwise. An answer is as likely as its least
likely claim, a name or a number: its log-probability is turned into a probability of being right by a logistic curve,
whose two figures stand in `likelihood.json`, which says what they were fitted on.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from insula.text.analysis import Analysis, words_of
from insula.text.questions import AskKind, find_asks
from insula.text.tables import load_table
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Assessment, Fault

Logprobs = Sequence[tuple[str, float]]
"""Each token with its natural log-probability."""

UNSURE = 1 / 3
"""Below this likelihood, at least twice as likely wrong as right, a response is unsure. Chosen over 1/2 after a right
answer of the demo was hedged."""

CLAIM_CHARS = 80
"""Characters of the least likely claim that are shown."""

_SPAN = 3
"""Words on either side that may belong to one name."""
_EDGE = " \t\n.,;:!?\"'“”„«»()[]*_。，、「」"
_WORD = re.compile(r"[^\W_]+")
_NO_FACTS: frozenset[AskKind] = frozenset({"request", "code"})
"""Asks that no answer is right or wrong about."""


class AnswerClaim(NamedTuple):
    """A span of a response that carries the answer, with the log-probability of its least likely word."""

    text: str
    value: float


def claim_likelihood(claim: AnswerClaim) -> float:
    """How likely a response is right whose least likely claim this is."""
    curve = load_table("likelihood.json", __package__)
    return _sigmoid(curve["intercept"] + curve["slope"] * claim.value)


def least_likely(logprobs: Logprobs | None, message: Analysis) -> AnswerClaim | None:
    """The least likely name or number of a response; where it holds none, its least likely word.

    Function words carry no answer, nor do those of the message; where there are no others, all words count. Without
    usable log-probabilities it is None.
    """
    usable = [(token, value) for token, value in logprobs or () if token and math.isfinite(value)]
    words = list(_word_logprobs(usable))
    given = words_of("function", message.language).union(_WORD.findall(message.text.lower()))
    carrying = [not given.issuperset(_WORD.findall(text.lower())) for text, _ in words]
    named = [carries and _is_claim(text) for carries, (text, _) in zip(carrying, words, strict=True)]
    chosen = next((marks for marks in (named, carrying) if any(marks)), [True] * len(words))
    at = min((i for i, counts in enumerate(chosen) if counts), key=lambda i: words[i][1], default=None)
    return None if at is None else AnswerClaim(_claim_span(words, chosen, at), words[at][1])


def _claim_span(words: Sequence[tuple[str, float]], chosen: Sequence[bool], at: int) -> str:
    """A word with those beside it that carry the answer with it ("Ulaanbaatar City")."""
    first, last = at, at + 1
    while first > 0 and chosen[first - 1] and at - first < _SPAN:
        first -= 1
    while last < len(words) and chosen[last] and last - at <= _SPAN:
        last += 1
    return "".join(text for text, _ in words[first:last]).strip(_EDGE)


def _is_claim(text: str) -> bool:
    bare = text.strip(_EDGE)
    return bare[:1].isupper() or any(map(str.isdigit, bare))


def weigh_likelihood(assessment: Assessment, message: Analysis | None, logprobs: Logprobs | None) -> Assessment:
    """An assessment that takes the likelihood of the response in.

    An unsure response does not pass; by itself that brings a hedge before it and no more. What passes does so still,
    the higher the likelier it is.
    """
    if assessment.modest or assessment.used:  # it claims nothing, or what memory holds
        return assessment
    if not logprobs or message is None or all(ask.kind in _NO_FACTS for ask in find_asks(message)):
        return assessment
    if (claim := least_likely(logprobs, message)) is None:
        return assessment
    right = claim_likelihood(claim)
    parts = replace(assessment.parts, likelihood=round(right, 4))
    if right >= UNSURE:
        over = max(0.0, assessment.score - PASS_THRESHOLD) * (1 - right)
        return replace(assessment, parts=parts, score=round(assessment.score - over, 4))
    score = min(assessment.score, cap_score(right))
    faults = (*assessment.faults, Fault(flag="unsure", about=claim.text[:CLAIM_CHARS], certain=False))
    return replace(assessment, parts=parts, score=score, flags=(*assessment.flags, "unsure"), faults=faults)


def cap_score(right: float) -> float:
    """The most that an unsure response scores: it is hedged, whatever else there is to it."""
    return round(HEDGE_THRESHOLD + (PASS_THRESHOLD - HEDGE_THRESHOLD) * right, 4)


def _word_logprobs(tokens: Logprobs) -> Iterator[tuple[str, float]]:
    """Each word with its log-probability, that of its tokens together; where words are not spaced, each token."""
    text, total = "", 0.0
    for token, value in tokens:
        if text and _begins_word(token):
            yield text, total
            text, total = "", 0.0
        text, total = text + token, total + min(0.0, value)
    if text:
        yield text, total


def _begins_word(token: str) -> bool:
    return token[0].isspace() or token[0] >= "\u3040"


def _sigmoid(value: float) -> float:
    return 0.5 * (1 + math.tanh(0.5 * value))
