"""Whether a sentence thanks, or says that something is right, and says nothing else.

What may be said stands in `thanks.json`, as alternatives of a regular expression in each language: under "thanks" what
thanks or agrees, under "beside" what may stand around it; under
"pointing" words for what was just said and for who said it. It is what is let pass, and not what is forbidden, since
there are few ways to thank and no end of ways to go on ("Thanks, but …", "Thanks anyway", "Thanks for nothing").
"""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Literal

from insula.text.grammar import UNSPACED

_FREE = re.compile(
    "[\\s,.!…、，。！~～–—\\-¡]"
    "|[\U0001f64f\U0001f44d\U0001f44c\U0001f44f\U0001f64c\U0001f389\u2705\U0001f4af\u2764\u2728\u263a"
    "\U0001f600\U0001f601\U0001f603\U0001f604\U0001f60a\U0001f60d\U0001f642\U0001f917\U0001f929\U0001f970\U0001f495-\U0001f49e]"
    "|[\ufe0f\U0001f3fb-\U0001f3ff]|[:;]-?[)D]|<3|\\^_?\\^"
)
"""What says nothing of its own: spaces and stops, friendly emoji, smileys; but a question mark doubts."""


def gives_thanks(sentence: str) -> bool:
    """Whether a sentence thanks or agrees, whatever else it says (`says_no_more`)."""
    return bool(_phrase_pattern("thanks").search(_plain_sentence(sentence)))


def says_no_more(sentence: str, name: str = "") -> bool:
    """Whether nothing is left of a sentence when thanks, and what may stand beside them, are taken away.

    Args:
        sentence: in any of the known languages.
        name: of whom may be thanked by it.
    """
    left = _plain_sentence(sentence)
    for said in (_phrase_pattern("thanks"), _phrase_pattern("beside")):
        left = said.sub(" ", left)
    if name:
        left = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", left, flags=re.IGNORECASE)
    return not _FREE.sub("", left)


def doubts_statement(sentence: str) -> bool:
    """Whether a question is about what was just said, or who said it ("Who says so?", "Where did you get that?")."""
    return bool(_phrase_pattern("pointing").search(_plain_sentence(sentence)))


def _plain_sentence(sentence: str) -> str:
    return sentence.replace("’", "'")


@cache
def _phrase_pattern(kind: Literal["thanks", "beside", "pointing"]) -> re.Pattern[str]:
    """The phrases of all languages in one: thanks are short, and often not in the language of the talk."""
    data: dict[str, str] = json.loads((files("insula.text") / "thanks.json").read_text("utf-8"))[kind]
    spaced = "|".join(phrases for language, phrases in data.items() if language not in UNSPACED)
    unspaced = "|".join(phrases for language, phrases in data.items() if language in UNSPACED)
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{unspaced}", re.IGNORECASE)
