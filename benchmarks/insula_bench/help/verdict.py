"""Rules that say what a reply did: that it abstained, holds a value, or followed a wish. They are the benchmark's own,
apart from what the self-monitor reads, so that nothing is judged by itself."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from insula.text.analysis import analyse, detect

SHORT = 3
"""A value of so few characters must stand as a word of its own."""
ALMOST_ALL = 0.67
"""Share of a longer answer's words that a reply must hold to be right (LoCoMo's answers are phrases)."""

_NUMBERS: dict[str, str] = dict(
    zip(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        map(str, range(1, 13)),
        strict=True,
    )
)
_CELSIUS = re.compile(r"°\s*C\b|celsius|摄氏|攝氏|摂氏|℃", re.IGNORECASE)
_FAHRENHEIT = re.compile(r"°\s*F\b|fahrenheit|华氏|華氏|℉", re.IGNORECASE)
_METRIC = re.compile(
    r"\b(?:k?m|cm|mm|kg|g|l|ml|kilomet\w*|met(?:er|re|ro)s?\w*|kilo\w*|gram\w*|lit(?:er|re|ro)\w*)\b|公里|千米|米|公斤|克|升|キロ|メートル|グラム",
    re.IGNORECASE,
)
_IMPERIAL = re.compile(
    r"\b(?:miles?|feet|foot|inch(?:es)?|pounds?|lbs?|ounces?|oz|yards?|cups?|gallons?|millas?|libras?|pies)\b",
    re.IGNORECASE,
)
_TWELVE = re.compile(r"\b\d{1,2}(?::\d\d)?\s*[ap]\.?\s?m\b", re.IGNORECASE)
_TWENTY_FOUR = re.compile(r"\b(?:[01]?\d|2[0-3])[:h.]\d\d\b|\d\s*(?:Uhr|時|点)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s*\S", re.MULTILINE)
_CODE = re.compile(r"```\s*(\w*)")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_EXAMPLE = re.compile(
    r"for example|for instance|e\.g\.|such as|example:|por ejemplo|par exemple|zum beispiel|z\. ?b\.|beispiel|"
    r"por exemplo|exemplo|ad esempio|per esempio|esempio|ejemplo|exemple|例如|比如|举例|例えば|たとえば|例：|例:",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?…。！？]+(?=\s|$|[^\s\d.])")


def abstains(text: str) -> bool:
    """Whether a reply says that it does not know, has not been told, or asks for what is missing.

    "As an AI, I have no…" abstains, too: it invents nothing.
    """
    text = text.replace("’", "'")
    return any(pattern.search(text) for pattern in _abstaining())


@cache
def _abstaining() -> tuple[re.Pattern[str], ...]:
    raw: dict[str, str] = json.loads((files("insula_bench.help") / "abstains.json").read_text("utf-8"))
    return tuple(re.compile(phrases, re.IGNORECASE) for phrases in raw.values())


def holds(text: str, wanted: Iterable[Sequence[str]]) -> bool:
    """Whether a reply holds one of each group of alternatives."""
    folded = fold(text)
    return all(any(_stands(fold(one), folded) for one in group) for group in wanted)


def matches(text: str, answer: str) -> bool:
    """Whether a reply holds a free answer: nearly all its content words, numbers as digits or as words."""
    wanted, said = _units(answer), _units(text)
    return bool(wanted) and len(wanted & said) >= ALMOST_ALL * len(wanted)


def _units(text: str) -> set[str]:
    terms = analyse(text, default="en").terms
    return {_NUMBERS.get(term, term) for term in terms}


def fold(text: str) -> str:
    """A text for comparison: one form for each character, no case."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _stands(value: str, text: str) -> bool:
    if len(value) <= SHORT and value.isascii():
        return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
    return value in text


def follows(text: str, rule: Mapping[str, Any]) -> bool:
    """Whether a reply keeps every part of a rule.

    Raises:
        KeyError: the rule has a part that there is not.
    """
    return all(_RULES[name](text.strip(), wanted) for name, wanted in rule.items())


def sentences(text: str) -> int:
    """How many sentences a text has, one without an end among them."""
    body = text.strip()
    return len(_SENTENCE_END.findall(body)) + (not _SENTENCE_END.search(body[-1:] or ".")) if body else 0


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'’-]+", text)


def _is_json_with(text: str, keys: Sequence[str]) -> bool:
    body = re.sub(r"^```(?:json)?\s*|\s*```$", "", text.strip())
    try:
        return set(keys) <= set(json.loads(body))
    except (ValueError, TypeError):
        return False


def _items(text: str) -> int:
    return len(_BULLET.findall(text)) or len(
        [part for part in re.split(r"[,，、\n]|\s+(?:and|y|et|und|e)\s+", text) if part.strip()]
    )


_RULES: Mapping[str, Callable[[str, Any], bool]] = {
    "sentences_max": lambda text, most: sentences(text) <= most,
    "max_words": lambda text, most: len(_words(text)) <= most,
    "words_exact": lambda text, count: len(_words(text)) == count,
    "bullets": lambda text, wanted: (len(_BULLET.findall(text)) >= 2) == wanted,
    "contains": lambda text, word: fold(word) in fold(text),
    "absent": lambda text, word: fold(word) not in fold(text),
    "absent_word": lambda text, word: fold(word) not in fold(text),
    "formal": lambda text, word: re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None,
    "language": lambda text, language: detect(text) == language,
    "celsius": lambda text, wanted: bool(_CELSIUS.search(text)) and not _FAHRENHEIT.search(text),
    "metric": lambda text, wanted: bool(_METRIC.search(text)) and not _IMPERIAL.search(text),
    "clock24": lambda text, wanted: bool(_TWENTY_FOUR.search(text)) and not _TWELVE.search(text),
    "ends_question": lambda text, wanted: text.rstrip(" *_\"')").endswith(("?", "？")),
    "begins": lambda text, word: fold(text.lstrip("*_\"' ¡¿")).startswith(fold(word)),
    "ends": lambda text, word: fold(word) in fold(text[-len(word) - 12 :]),
    "code": lambda text, language: any(fold(one) == language for one in _CODE.findall(text)) or not _CODE.search(text),
    "example": lambda text, wanted: bool(_EXAMPLE.search(text)),
    "lower": lambda text, wanted: text == text.lower(),
    "emoji": lambda text, wanted: bool(_EMOJI.search(text)) == wanted,
    "items": lambda text, count: _items(text) == count,
    "json_keys": _is_json_with,
    "table": lambda text, wanted: bool(re.search(r"^\s*\|.*\|.*\|", text, re.MULTILINE)),
    "only_number": lambda text, wanted: re.fullmatch(r"[-+]?[\d.,\s]+", text.strip(" .")) is not None,
    "number": lambda text, number: (
        re.search(rf"(?<!\d){re.escape(str(number))}(?!\d)", text.replace(",", "")) is not None
    ),
    "parts": holds,
}
