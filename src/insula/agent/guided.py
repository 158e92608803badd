"""How a very small model is led to replies that make sense: it can repeat and acknowledge, and knows nothing.

A statement is acknowledged with what was understood. What memory holds is quoted; what was never told is said to be so;
a guess about the world is called one beforehand.
"""

import re
from typing import NamedTuple

from insula.claims import template
from insula.language.owner import USER
from insula.metacognition import Turn
from insula.redaction import redact
from insula.screening import screen
from insula.text.analysis import LANGUAGES, analyse
from insula.text.questions import AskKind, asks, is_small_talk, statements
from insula.turn.remembered import is_about_user

WHAT_CHARS = 160
"""Characters of what is said back."""

_MADE: frozenset[AskKind] = frozenset({"request", "code"})
_MONTHS = re.compile(r"\s*\([^()]*\d{4}\)$")


class Guide(NamedTuple):
    """How a reply is made: as a text, or by the model within a frame."""

    text: str = ""
    frame: str = "{what}"
    """What stands around the model's words."""


def guide(turn: Turn) -> Guide:
    """How the reply to a turn is made; an empty guide leaves it to the model."""
    message = analyse(turn.message)
    language = message.language if message.language in LANGUAGES else "en"
    asked = asks(message)
    if turn.forgetting:  # what is found or erased stands under the reply
        return Guide(text="OK.")
    if not asked:
        told = " ".join(sentence.text for sentence in statements(message))
        if not told or is_small_talk(message):
            return Guide()
        left_out = [template("guided.unkept", "", language)] if redact(told) != told else []
        return Guide(text=" ".join([_said("noted", told, language), *left_out]).strip())
    if all(ask.kind in _MADE for ask in asked) and not turn.personal:
        return Guide()
    shown = [one for one in turn.recalled if one.memory.id in turn.shown]
    line = next((one.told for one in shown if one.memory.provenance == "user" and one.memory.speaker == USER), "")
    of_user = turn.personal or any(is_about_user(ask, language) for ask in asked)
    if line and (of_user or turn.confidence.level == "high"):
        which = "nearest" if turn.confidence.level == "low" else "told"
        return Guide(text=_said(which, _MONTHS.sub("", line), language))
    if turn.personal:
        return Guide(text=template("guided.untold", "", language))
    return Guide(frame=f"{template('guided.uncertain', '', language)} {{what}}")


def _said(which: str, what: str, language: str) -> str:
    """What was told, said back; nothing where it reads like an order."""
    screened = screen(redact(what), WHAT_CHARS)
    if screened.reasons or not screened.text:
        return ""
    return template(f"guided.{which}", "", language).format(what=screened.text)
