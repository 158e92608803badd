"""A question that asks for several things ("what are my cat, dog and boat called?") as one question for each."""

import re
from functools import cache

from insula.text.analysis import term_of, words_of
from insula.text.grammar import UNSPACED

MOST = 5
"""Things that are told apart; who lists more is not asking."""
AND = {"en": "and", "de": "und", "fr": "et", "es": "y|e", "pt": "e", "it": "e|ed", "zh": "和", "ja": "と"}
"""What stands before the last of them."""
OWN = (
    r"(?:my|our|mein\w*|unser\w*|mon|ma|mes|notre|nos|mis?|nuestr\w+|meus?|minhas?|il mio|la mia|i miei|le mie|mio|mia|"
    r"o meu|a minha) "
)
_OWNED = re.compile(rf"{OWN}|.*[的の]", re.IGNORECASE)


def each(text: str, language: str) -> tuple[str, ...]:
    """A question for each thing that it lists; the question alone where it lists none."""
    listed = _pattern(language).search(text) if language in AND else None
    if listed is None:
        return (text,)
    found = [item.strip() for item in _joints(language).split(listed.group("items")) if item.strip()]
    if not 1 < len(found) <= MOST or not all(_is_thing(item, language) for item in found):
        return (text,)
    before, after = text[: listed.start("items")], text[listed.end("items") :]
    own = owned.group() if (owned := _OWNED.match(found[0])) else ""
    return tuple(f"{before}{'' if _OWNED.match(item) else own}{item}{after}" for item in found)


def _is_thing(item: str, language: str) -> bool:
    """Whether an item is a noun with what owns it at most: "my boat", not "then what"."""
    if language in UNSPACED:
        return True
    words = re.findall(r"[\w'-]+", item.lower())
    return bool(words) and bool(term_of(words[-1], language)) and words[-1] not in words_of("function", language)


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Two things or more with "and" before the last."""
    joint = AND[language]
    if language in UNSPACED:
        return re.compile(rf"(?P<items>\w{{1,4}}?(?:[、，]\w{{1,4}}?)+(?:{joint})\w{{1,4}}?)(?=叫|在|是|的|は|の|が)")
    thing = rf"(?:{OWN})?[\w'’-]+"
    return re.compile(
        rf"(?<!\w)(?P<items>{thing}(?:(?:, | (?:{joint}) ){thing})*,? (?:{joint}) {thing})(?!\w)", re.IGNORECASE
    )


@cache
def _joints(language: str) -> re.Pattern[str]:
    joint = AND[language]
    return re.compile(rf"[、，]|{joint}" if language in UNSPACED else rf",? (?:{joint}) |, ", re.IGNORECASE)
