"""Hedging: a sentence of doubt before a response that is neither good enough to pass nor bad enough to be reported."""

import json
import re
from functools import cache
from importlib.resources import files

from insula.text.analysis import LANGUAGES, UNKNOWN, detect
from insula.text.grammar import UNSPACED
from insula.text.manner import hedges
from insula.text.structure import is_structured
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Assessment, Identity

_BLOCK = re.compile(r"\s*(?:```|#{1,6}\s|[-*+•]\s|\d{1,3}[.)]\s|[|>])")


def hedge(response: str, assessment: Assessment, identity: Identity, language: str | None = None) -> str:
    """The response, with a sentence of doubt before it where its score asks for one.

    Args:
        response: what is about to be sent.
        assessment: what the monitor made of it.
        identity: whose voice the sentence takes, and whose language where that of the response is not known.
        language: the language of the response as an ISO 639-1 code; `None`: it is detected.

    Returns:
        The response unchanged where it passes, scores below `HEDGE_THRESHOLD`, already hedges, or is data or code
        alone; else a sentence, a space or an empty line, and the response as it was.
    """
    if not HEDGE_THRESHOLD <= assessment.score < PASS_THRESHOLD or is_structured(response):
        return response
    spoken = language or detect(response)
    if is_hedged(response, spoken):
        return response
    spoken = _supported(spoken, identity)
    return f"{_sentences()[spoken][identity.voice]}{_gap(response, spoken)}{response}"


def is_hedged(text: str, language: str) -> bool:
    """Whether a text says anywhere that it is not certain; in any known language where its own is not one."""
    return any(hedges(text, each) for each in ((language,) if language in LANGUAGES else LANGUAGES))


def _supported(language: str, identity: Identity) -> str:
    """The language to hedge in: the response's, else the identity's first, else English."""
    candidates = (language, *identity.languages[:1])
    return next((each for each in candidates if each != UNKNOWN and each in LANGUAGES), "en")


def _gap(response: str, language: str) -> str:
    """What parts the sentence from the response: a list, table or block begins after an empty line."""
    if _BLOCK.match(response):
        return "\n\n"
    return "" if language in UNSPACED or response[:1].isspace() else " "


@cache
def _sentences() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.text") / "hedges.json").read_text("utf-8"))
