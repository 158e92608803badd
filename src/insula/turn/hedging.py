"""Hedging: a sentence of doubt on a response that is neither good enough to pass nor bad enough to be reported.

It names what is missing where that is known, after the part that was answered; it stands before the response where the
whole of it is doubtful. What merely could not be judged is left alone.
"""

import re
from typing import NamedTuple

from insula.claims import DEFAULT, Claimed, say_claim
from insula.screening import screen_text
from insula.text.analysis import LANGUAGES, UNKNOWN, detect_language
from insula.text.grammar import UNSPACED
from insula.text.manner import declines_answer, hedges_answer
from insula.text.payload import is_structured
from insula.types import HEDGE_THRESHOLD, Assessment, Identity

NAMED = 2
"""Questions left unanswered that are named."""
WHAT_CHARS = 160
"""Characters of each."""

_BLOCK = re.compile(r"\s*(?:```|#{1,6}\s|[-*+•]\s|\d{1,3}[.)]\s|[|>])")


class HedgedResponse(NamedTuple):
    """A response as it should be shown."""

    text: str
    said: Claimed | None
    """The sentence of doubt in it; None where it stands as it was."""


def hedge_response(
    response: str,
    assessment: Assessment,
    identity: Identity,
    language: str | None = None,
    claims: frozenset[str] = DEFAULT,
) -> HedgedResponse:
    """The response, with a sentence of doubt where its score asks for one.

    Args:
        identity: whose voice the sentence takes, and whose language where that of the response is not known.
        language: the language of the response as an ISO 639-1 code; `None`: it is detected.
        claims: those that may be made; a doubt that may not be told is told in no other words.

    Returns:
        The response unchanged where it passes, could not be judged, scores below `HEDGE_THRESHOLD`, already hedges, or
        is data or code alone; else the response with a sentence after it that names what is missing, or before it where
        all of it is in doubt.
    """
    if assessment.outcome != "doubtful" or assessment.score < HEDGE_THRESHOLD or is_structured(response):
        return HedgedResponse(response, None)
    spoken = language or detect_language(response)
    if is_hedged(response, spoken):
        return HedgedResponse(response, None)
    spoken = _hedging_language(spoken, identity)
    missing = _missing_sentence(assessment, spoken)
    said = missing or _doubt_sentence(response, assessment, identity, spoken)
    if said is None or not claims.issuperset(said.claims):
        return HedgedResponse(response, None)
    if missing is not None:
        return HedgedResponse(f"{response}{_gap_after(response, spoken)}{said.text}", said)
    return HedgedResponse(f"{said.text}{_choose_gap(response, spoken)}{response}", said)


def _doubt_sentence(response: str, assessment: Assessment, identity: Identity, language: str) -> Claimed | None:
    """The sentence for all of a response; None where it says itself that it cannot answer."""
    if "declined" in assessment.flags and declines_answer(response, language):
        return None
    if "unsupported" in assessment.flags:
        return say_claim("doubt.untold", "", language)
    return say_claim("doubt", identity.voice, language)


def is_hedged(text: str, language: str) -> bool:
    """Whether a text says anywhere that it is not certain; in any known language where its own is not one."""
    return any(hedges_answer(text, each) for each in ((language,) if language in LANGUAGES else LANGUAGES))


def _missing_sentence(assessment: Assessment, language: str) -> Claimed | None:
    """The sentence that names what was left out: a question, or what had been told; None where it cannot be named."""
    told = next((fault.about for fault in assessment.faults if fault.flag == "ignored_memory"), "")
    if told:
        return _name_missing("doubt.told", (told,), language)
    return _name_missing("doubt.missing", assessment.unanswered[:NAMED], language) if assessment.unanswered else None


def _name_missing(claim: str, about: tuple[str, ...], language: str) -> Claimed | None:
    screened = [screen_text(text, WHAT_CHARS) for text in about]
    if any(quoted.reasons or not quoted.text for quoted in screened):
        return None
    mark = "“{}”" if language not in UNSPACED else "「{}」"
    return say_claim(claim, "", language, what=" ".join(mark.format(quoted.text) for quoted in screened))


def _hedging_language(language: str, identity: Identity) -> str:
    """The language to hedge in: the response's, else the identity's first, else English."""
    candidates = (language, *identity.languages[:1])
    return next((each for each in candidates if each != UNKNOWN and each in LANGUAGES), "en")


def _choose_gap(response: str, language: str) -> str:
    """What parts the sentence from the response: a list, table or block begins after an empty line."""
    if _BLOCK.match(response):
        return "\n\n"
    return "" if language in UNSPACED or response[:1].isspace() else " "


def _gap_after(response: str, language: str) -> str:
    """What parts the response from the sentence: a list, table or block ends with an empty line."""
    last = response.rstrip().rpartition("\n")[2]
    if "\n" in response.strip() or _BLOCK.match(last):
        return "\n\n"
    return "" if language in UNSPACED or response[-1:].isspace() else " "
