"""What fell short in one turn, told to the next in one bounded sentence, once.

Whether it was mended is recorded with whether the model was told, and a share is withheld by lot like every control:
what the sentence is worth can be seen from the ledger alone (law 7).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from insula.claims import DEFAULT, Claimed, say_claim
from insula.guidance import SHOWN
from insula.redaction import redact
from insula.screening import screen_text
from insula.text.analysis import analyse_text, content_words
from insula.text.constraints import find_constraints
from insula.turn.checks.constraints import breaks_constraint
from insula.turn.guidance import draw_arm
from insula.turn.reply import ReplyText
from insula.types import Assessment, Flag, Mended, Signal

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
    left = from_record(noticed.data) if noticed else None
    return left if left and left.flag == UNSOLVED else None


def _as_flag(name: str) -> Flag:
    return name  # pyright: ignore[reportReturnType] - a key of `_SENTENCES` that is among the flags


def from_record(data: Mapping[str, Any]) -> Shortfall | None:
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
