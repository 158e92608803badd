"""The self-monitor: what a response is worth as an answer to its message and to what memory held, without a model.

It runs one check after another (`turn/checks/`) and makes a score of what they found. Precision first: below
`HEDGE_THRESHOLD` only what is certain brings a response (the wrong language, an echo, a leak, a demand that was counted
and is not kept, memory passed over). That it shares no word with its message is never more than "could not tell"
(`Assessment.unclear`). What is finer fails nothing: among the responses that pass it only tells the better from the
duller (`turn.substance`). Outside the languages of `text.analysis.LANGUAGES` it judges language, forbidden patterns,
sums, length and repetition, and is neutral on the rest.

Where the model returns log-probabilities, they are a part of the score, without a second call (K11). A name that is
made up is one that the model would as well have put otherwise. An answer is as likely as its least likely claim, a name
or a number: its log-probability is turned into a probability of being right by a logistic curve, whose two figures
stand in `likelihood.json`, which says what they were fitted on.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

from insula.memory.storage.vectors import Embed
from insula.text.analysis import Analysis, analyse_text, words_of
from insula.text.answers import AskKind
from insula.text.questions import find_asks
from insula.text.tables import load_table
from insula.turn.checks.arithmetic import check_sums
from insula.turn.checks.artefacts import check_artefacts
from insula.turn.checks.completeness import check_completeness
from insula.turn.checks.constraints import check_code_language, check_constraints
from insula.turn.checks.form import check_identity, check_language, check_length
from insula.turn.checks.memory import compare_with_memory
from insula.turn.checks.repetition import check_repetition, repeats_within
from insula.turn.checks.responsiveness import FOREIGN, check_refusal, is_far, measure_nearness
from insula.turn.exchange import MAX_MESSAGE, AskedMessage, Exchange, cut_middle
from insula.turn.substance import measure_substance
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Assessment, Fault, Flag, Identity, Level, Parts, Recalled

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
    return 0.5 * (1 + math.tanh(0.5 * (curve["intercept"] + curve["slope"] * claim.value)))  # the logistic function


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


CHECKS: tuple[Callable[[Exchange], Iterator[Fault]], ...] = (
    check_artefacts,
    check_language,
    check_identity,
    check_length,
    check_repetition,
    check_refusal,
    check_completeness,
    check_constraints,
    check_code_language,
    check_sums,
)
"""What a response is checked for, beside what memory held."""

RECENT = 5
"""So many of the last responses are looked through for a repetition (seed 000: "last N")."""

CAPS: Mapping[Flag, float] = {
    "echo": 0.1,
    "off_topic": 0.1,
    "leak": 0.25,
    "ignored_memory": 0.3,
    "other_person": 0.3,
    "declined": 0.35,
    "constraint": 0.45,
    "incorrect": 0.45,
    "wrong_language": 0.45,
    "forbidden_pattern": 0.45,
    "repetition": 0.55,
}
"""The most that a response with such a fault scores where the fault is certain."""
DOUBTED = 0.6
"""The most that a response with any fault scores: none passes."""
UNCLEAR = 0.69
"""The most that a response scores of which only its distance from the message's words is known."""
OFF_TONE = 0.75
"""The consistency of a response in another tone than the identity's."""

_ELSEWHERE: frozenset[Flag] = frozenset({"echo", "off_topic"})
"""What a response is that does not address its message at all."""
_NOTHING = Parts(responsiveness=0.0, completeness=0.0, consistency=0.0, length_ok=False, repetition=False)


def assess(
    message: str,
    response: str,
    recent_responses: Sequence[str] = (),
    identity: Identity = Identity(),  # noqa: B008 - frozen
    *,
    memory: Sequence[Recalled | str] = (),
    level: Level | None = None,
    embed: Embed | None = None,
) -> Assessment:
    """Assess a response as an answer to a message, and to what memory held for it.

    Args:
        message: what the user said.
        response: what is about to be sent.
        recent_responses: earlier responses of the session, oldest first; the last `RECENT` count.
        identity: whose languages, voice and forbidden patterns to hold the response to.
        memory: the lines that stood before the model, best first, as recalled or as plain text.
        level: how likely memory held what the message needs (`Confidence.level`). `None`: memory was not asked, unless
            there are lines; then it counts as "high".
        embed: makes the vector of a text; asked only where message and response share no word. Without one nothing is
            said of what they mean.

    Returns:
        A score in [0, 1] (below 0.7 it does not pass, below 0.5 something certain speaks against it), the faults found
        with what shows them, the parts that made the score, and the questions and requests left unanswered, verbatim.
        An empty response scores 0.
    """
    asked = AskedMessage(analyse_text(cut_middle(message, MAX_MESSAGE)))
    if not response.strip():
        unanswered = tuple(ask.text for ask in asked.asks)
        return Assessment(
            score=0.0, flags=("empty",), parts=_NOTHING, unanswered=unanswered, faults=(Fault(flag="empty"),)
        )
    lines = [line if isinstance(line, str) else line.memory.line or line.memory.content for line in memory]
    level = level or ("high" if lines else None)
    turn = Exchange(asked, response, list(recent_responses)[-RECENT:], identity, lines, level)
    use = compare_with_memory(turn)
    faults = _find_faults(turn, use.used) + ((use.fault,) if use.fault else ())
    near = None if faults or use.used else measure_nearness(turn, embed)
    far = not (faults or use.used) and is_far(turn, near)
    flags: set[Flag] = {fault.flag for fault in faults}
    if far:
        flags.add("off_topic")
    texts = {ask.text for ask in asked.asks}
    unanswered = tuple(fault.about for fault in faults if fault.flag == "incomplete" and fault.about in texts)
    parts = Parts(
        responsiveness=0.0 if flags & _ELSEWHERE else measure_substance(turn.response, turn.shared).worth,
        completeness=1 - len(unanswered) / len(asked.asks) if unanswered else 1.0,
        consistency=_score_consistency(flags),
        length_ok=not flags & {"too_short", "too_long"},
        repetition="repetition" in flags,
    )
    value = _score_response(parts.responsiveness, faults)
    return Assessment(
        score=min(value, UNCLEAR) if far else value,
        flags=tuple(flag for flag in get_args(Flag) if flag in flags),
        parts=parts,
        unanswered=unanswered,
        faults=faults,
        unclear=far and (near is None or near >= FOREIGN),
        used=use.used,
        modest=turn.declined,
    )


def _find_faults(turn: Exchange, used: bool) -> tuple[Fault, ...]:
    """The faults of a response, each flag with the same evidence once.

    One that says what memory held is not to blame for being short, the same as before, or all that a lone question got.
    """
    faults = dict.fromkeys(fault for check in CHECKS for fault in check(turn))
    if used:
        due: tuple[Flag, ...] = ("too_short",) if repeats_within(turn.response) else ("too_short", "repetition")
        lone = len(turn.asked.asks) == 1
        asked = {ask.text for ask in turn.asked.asks} if lone else set[str]()
        return tuple(fault for fault in faults if fault.flag not in due and fault.about not in asked)
    return tuple(faults)


def _score_response(substance: float, faults: Sequence[Fault]) -> float:
    """By its substance where it has no fault, else what its worst fault leaves of it."""
    if not faults:
        return round(PASS_THRESHOLD + (1 - PASS_THRESHOLD) * substance, 4)
    return min(CAPS.get(fault.flag, DOUBTED) if fault.certain else DOUBTED for fault in faults)


def _score_consistency(flags: set[Flag]) -> float:
    if flags & {"wrong_language", "forbidden_pattern"}:
        return 0.0
    return OFF_TONE if "off_tone" in flags else 1.0
