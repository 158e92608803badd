"""What fell short in a response: hedged for its user, told to the next turn, and an impasse where it happens again.

A hedge is a sentence of doubt on a response that is neither good enough to pass nor bad enough to be reported. It names
what is missing where that is known, after the part that was answered; it stands before the response where the whole
of it is doubtful. What merely could not be judged is left alone.

The next turn is told once. Whether it mended that is recorded with whether the model was told, and a share is withheld
by lot like every control: what the sentence is worth can be seen from the ledger alone (law 7).
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from insula.claims import DEFAULT, Claimed, say_claim
from insula.guidance import SHOWN
from insula.redaction import redact
from insula.screening import screen_text
from insula.text.analysis import LANGUAGES, UNKNOWN, analyse_text, content_words, detect_language
from insula.text.answers import declines_answer, hedges_answer
from insula.text.constraints import find_constraints
from insula.text.grammar import UNSPACED
from insula.text.pasted import is_structured
from insula.turn.checks.constraints import breaks_constraint
from insula.turn.exchange import ReplyText
from insula.turn.guidance import draw_arm
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Assessment, Flag, Identity, Mended, Signal

WHAT_CHARS = 160
"""Characters of what was left out that are named."""
CHARS = 300
"""Characters of the whole sentence, at most."""
HELD = 0.5
"""Share of the words of what was left out that an answer must hold to have mended it."""

IMPASSE, UNSOLVED = "impasse", "unsolved"
_SENTENCES: Mapping[str, str] = {
    "ignored_memory": "memory",
    "declined": "memory",
    "other_person": "memory",
    "constraint": "constraint",
    "incomplete": "incomplete",
    "unsupported": "unsupported",
    "wrong_language": "wrong_language",
    UNSOLVED: UNSOLVED,
    IMPASSE: IMPASSE,
}
"""What is told to the next turn -> which sentence tells it, in the order of their weight."""
_NAMELESS = frozenset({"unsupported", "wrong_language", IMPASSE})


class Shortfall(NamedTuple):
    """What a turn leaves to the next: a flag, or an impasse, and what shows it."""

    flag: str
    about: str = ""

    def to_record(self) -> dict[str, str]:
        """As it stands on the ledger."""
        return {"flag": self.flag, "about": self.about}


class Feedback(NamedTuple):
    """A shortfall with whether the model is told of it in this turn."""

    shortfall: Shortfall
    arm: str
    said: Claimed | None
    """The sentence; None where it is withheld."""


def find_shortfall(assessment: Assessment, impasse: str | None = None) -> Shortfall | None:
    """The weightiest thing that fell short; None where nothing did that can be named."""
    about = {fault.flag: fault.about for fault in assessment.faults}
    if assessment.unanswered:
        about["incomplete"] = assessment.unanswered[0]
    flags = (flag for flag in _SENTENCES if flag in about and (about[_as_flag(flag)] or flag in _NAMELESS))
    if (flag := next(flags, None)) is not None:
        return Shortfall(flag, redact(about[_as_flag(flag)])[:WHAT_CHARS])
    return Shortfall(IMPASSE) if impasse else None


def unsolved_shortfall(problem: str) -> Shortfall:
    """What a method leaves that came to an impasse with a problem."""
    return Shortfall(UNSOLVED, redact(problem)[:WHAT_CHARS])


def unsolved_of(noticed: Signal | None) -> Shortfall | None:
    """What a method left that came to an impasse, by its signal; nothing of any other (K5)."""
    left = read_shortfall(noticed.data) if noticed else None
    return left if left and left.flag == UNSOLVED else None


def _as_flag(name: str) -> Flag:
    return name  # pyright: ignore[reportReturnType] - a key of `_SENTENCES` that is among the flags


def read_shortfall(data: Mapping[str, Any]) -> Shortfall | None:
    """The shortfall on the ledger's record of a turn."""
    held = data.get("quoted", {}).get("shortfall")
    return Shortfall(str(held["flag"]), str(held.get("about", ""))) if held and held.get("flag") in _SENTENCES else None


def draw_feedback(
    before: Shortfall | None, language: str, session: int, share: float, claims: frozenset[str] = DEFAULT
) -> Feedback | None:
    """What the next turn is told; None where nothing fell short, or where what did may not be told.

    Args:
        session: its id; the lot falls on the session and the shortfall together, and comes out the same each time.
        claims: those that may be made.
    """
    if before is None or (said := feedback_sentence(before, language, claims)) is None:
        return None
    arm = draw_arm(f"{session} {before.flag} {before.about}", share)
    return Feedback(before, arm, said if arm == SHOWN else None)


def feedback_sentence(before: Shortfall, language: str, claims: frozenset[str] = DEFAULT) -> Claimed | None:
    """The sentence for the model, in the user's language; None where it may not be said, or would quote an order."""
    quoted = screen_text(before.about, WHAT_CHARS)
    if quoted.reasons or (not quoted.text and before.flag not in _NAMELESS):
        return None
    if (claim := f"mend.{_SENTENCES[before.flag]}") not in claims:
        return None
    said = say_claim(claim, "", language, what=quoted.text)
    return Claimed(said.text[:CHARS], said.claims)


def is_mended(before: Shortfall, response: str, assessment: Assessment) -> bool:
    """Whether a response makes good what the one before left out."""
    if before.flag in {"unsupported", "wrong_language"}:
        return before.flag not in assessment.flags
    if before.flag in {IMPASSE, UNSOLVED}:
        return assessment.passed
    about = analyse_text(before.about)
    if before.flag == "constraint" and (demands := find_constraints(about)):
        return not any(breaks_constraint(constraint, response) for constraint in demands)
    words = content_words(before.about, about.language)
    reply = ReplyText(response, about.language)
    held = sum(1 for word in words if word in reply.found or reply.has_related(word))
    return bool(words) and held >= HELD * len(words)


def record_feedback(told: Feedback, mended: bool) -> Mended:
    """What the ledger holds of it, without a word of what it was: evidence for what the sentence is worth."""
    return {"flag": told.shortfall.flag, "arm": told.arm, "mended": mended}


SAME_TOPIC = 0.25
"""Share of all their terms that two messages on one topic have in common (Jaccard)."""


class JudgedTurn(NamedTuple):
    """What is kept of a turn to recognise an impasse in the next."""

    passed: bool
    """What could not be judged counts as passed."""
    score: float
    topic: frozenset[str]
    shortfall: Shortfall | None = None
    """What the next turn is told of it."""


def summarize_turn(assessment: Assessment, topic: frozenset[str], shortfall: Shortfall | None = None) -> JudgedTurn:
    """What the next turn needs to know of this one."""
    return JudgedTurn(assessment.outcome != "doubtful", assessment.score, topic, shortfall)


def read_judged(data: Mapping[str, Any]) -> JudgedTurn | None:
    """What a turn's record on the ledger says of it; None where it had no response."""
    if (assessment := data.get("assessment")) is None:
        return None
    score = float(assessment["score"])
    passed = score >= PASS_THRESHOLD or bool(assessment.get("unclear"))
    return JudgedTurn(passed, score, frozenset(data.get("topic", ())), read_shortfall(data))


def find_impasse(previous: JudgedTurn | None, current: JudgedTurn) -> str | None:
    """Why the agent is stuck, or None: two assessments in a row below threshold on one topic."""
    if previous is None or previous.passed or current.passed or not same_topic(previous.topic, current.topic):
        return None
    shared = ", ".join(sorted(previous.topic & current.topic)[:4])
    key = "noticed.stuck on" if shared else "noticed.stuck"
    return say_claim("why.noticed", key, topic=shared, first=previous.score, second=current.score).text


def same_topic(topic: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two messages are about the same; one without content ("try again") stays on the topic."""
    return not topic or not other or len(topic & other) / len(topic | other) >= SAME_TOPIC


NAMED = 2
"""Questions left unanswered that are named."""
ASKED_CHARS = 160
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
    screened = [screen_text(text, ASKED_CHARS) for text in about]
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
