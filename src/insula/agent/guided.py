"""How a very small model is led to replies that make sense: it can repeat and acknowledge, and knows nothing.

A statement is acknowledged with what was understood. What memory holds is answered in its words alone, by a grammar
that the model cannot leave; what was never told is said to be so; a guess about the world is called one beforehand.
"""

import json
import re
from typing import NamedTuple

from insula.claims import template
from insula.memory.encoding import USER
from insula.metacognition import Turn
from insula.redaction import redact
from insula.screening import screen
from insula.text.analysis import LANGUAGES, analyse, words_of
from insula.text.grammar import UNSPACED
from insula.text.questions import AskKind, asks, is_small_talk, statements
from insula.turn.held import about_user

WHAT_CHARS = 160
"""Characters of what is said back."""
LINES = 3
"""Lines of memory whose words an answer may take."""
MOST_WORDS = 24

_MADE: frozenset[AskKind] = frozenset({"request", "code"})
_WORD = re.compile(r"[^\W_](?:[\w'’.:,/€$%-]*[^\W_€$%]|[€$%])?")
_MONTHS = re.compile(r"\s*\([^()]*\d{4}\)$")


class Guide(NamedTuple):
    """How a reply is made: as a text, or by the model within a grammar or a frame."""

    text: str = ""
    grammar: str = ""
    prompt: str = ""
    """What is asked within the grammar."""
    frame: str = "{what}"
    """What stands around the model's words."""
    otherwise: str = ""
    """What is said where the model's words within the grammar do not use memory."""


def guide(turn: Turn) -> Guide:
    """How the reply to a turn is made; an empty guide leaves it to the model."""
    message = analyse(turn.message)
    language = message.language if message.language in LANGUAGES else "en"
    asked = asks(message)
    if not asked:
        told = " ".join(sentence.text for sentence in statements(message))
        return Guide(text=_said("noted", told, language)) if told and not is_small_talk(message) else Guide()
    if all(ask.kind in _MADE for ask in asked) and not turn.personal:
        return Guide()
    shown = [one.memory for one in turn.recalled if one.memory.id in turn.shown]
    lines = [_MONTHS.sub("", one.line) for one in shown if one.provenance == "user" and one.speaker == USER][:LINES]
    of_user = turn.personal or any(about_user(ask, language) for ask in asked)
    if lines and (of_user or turn.confidence.level == "high"):
        quoted = _said("told", lines[0], language)
        if language in UNSPACED or not quoted:
            return Guide(text=quoted)
        frame, prompt = template("guided.told", "", language), f"{turn.message}\n\n({' '.join(lines)})"
        return Guide(grammar=grammar(turn.message, lines, language), prompt=prompt, frame=frame, otherwise=quoted)
    if turn.personal:
        return Guide(text=template("guided.untold", "", language))
    return Guide(frame=f"{template('guided.uncertain', '', language)} {{what}}")


def _said(which: str, what: str, language: str) -> str:
    """What was told, said back; nothing where it reads like an order."""
    screened = screen(redact(what), WHAT_CHARS)
    if screened.reasons or not screened.text:
        return ""
    return template(f"guided.{which}", "", language).format(what=screened.text)


def grammar(message: str, lines: list[str], language: str) -> str:
    """A grammar (GBNF) of one sentence in the words of some lines, the question, and "you" alone."""
    found = [word for text in (*lines, message) for word in _WORD.findall(text)]
    spoken = sorted(words_of("second", language))
    words = dict.fromkeys([*found, *spoken, *(word.capitalize() for word in (*spoken, *found))])
    choices = " | ".join(json.dumps(word, ensure_ascii=False) for word in words)
    return f'root ::= word (" " word){{0,{MOST_WORDS}}} "."\nword ::= {choices}\n'
