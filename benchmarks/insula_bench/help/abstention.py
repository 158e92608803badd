"""Rules that say whether a reply abstains, passes the question by, or asserts; each language's phrases are data."""

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？!?])")
_APOLOGY = 40
"""An apology of fewer characters, before what is asked for, is no statement."""


class Phrases(NamedTuple):
    """What a language has for it."""

    says: re.Pattern[str]
    """That it does not know, has not been told or cannot tell."""
    asks: re.Pattern[str]
    """For what is missing: an abstention where a reply begins with it, a courtesy behind a statement."""
    itself: re.Pattern[str]
    """That it is a machine."""
    cannot: re.Pattern[str]
    """A sentence in which a machine speaks of what it has not or is not."""
    sorry: re.Pattern[str]
    yes: re.Pattern[str]
    no: re.Pattern[str]


@cache
def _phrases() -> tuple[Phrases, ...]:
    raw = json.loads((files("insula_bench.help") / "abstains.json").read_text("utf-8"))
    return tuple(
        Phrases(
            _any(one["says"]),
            _any(one["asks"]),
            _any([one["self"]]),
            _any([rf"(?:{one['self']})[^.!?。！？]*?(?:{one['not']})[^.!?。！？]*"]),
            _any([one["sorry"]]),
            _word(one["yes"]),
            _word(one["no"]),
        )
        for one in raw.values()
    )


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _word(words: str) -> re.Pattern[str]:
    """A word of its own: what begins a reply, or is all of a wanted value."""
    return re.compile(rf"\W*(?:{words})\s*(?:[,.;:!。、–—-]|$)", re.IGNORECASE)


def abstains(text: str) -> bool:
    """Whether a reply says that it does not know, has not been told or cannot tell, or asks for what is missing.

    "As an AI, I have no…" abstains, too: it invents nothing. "You have no brother" does not: that is a statement.
    """
    text = _plain(text)
    return any(one.says.search(text) or one.cannot.search(text) or _begins_with(one, text) for one in _phrases())


def _begins_with(phrases: Phrases, text: str) -> bool:
    """Whether the first sentence, apologies left out, asks for what is missing."""
    for sentence in filter(str.strip, _SENTENCES.split(text)):
        if phrases.asks.search(sentence):
            return True
        if len(sentence) > _APOLOGY or not phrases.sorry.search(sentence):
            return False
    return False


def asserted(text: str) -> str:
    """What a reply says besides abstaining: "no" within "I do not know" is no answer."""
    text = _plain(text)
    for one in _phrases():
        text = one.says.sub(" ", one.cannot.sub(" ", text))
    return text


def contradicts(text: str, wanted: Sequence[str]) -> bool:
    """Whether a reply begins with a plain yes where a no is wanted, or the other way round."""
    said, values = _polarity(_plain(text)), {_polarity(_plain(one)) for one in wanted} - {None}
    return said is not None and bool(values) and said not in values


def _polarity(text: str) -> bool | None:
    if any(one.yes.match(text) for one in _phrases()):
        return True
    return False if any(one.no.match(text) for one in _phrases()) else None


def passes_by(text: str, told: Sequence[str]) -> bool:
    """Whether a reply asserts nothing new and abstains from nothing.

    It only asks, speaks of itself as a machine, or says a told line again word for word.
    """
    plain = _plain(text)
    parts = [one for one in _SENTENCES.split(plain) if one.strip()]
    if not parts or all(one.rstrip(" *\"'").endswith("?") for one in parts):
        return True
    return any(one.itself.search(parts[0]) for one in _phrases()) or _letters(plain) in map(_letters, map(_plain, told))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")
