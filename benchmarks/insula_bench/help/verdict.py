"""Rules that say what a reply did: that it holds a value, or followed a wish. They and those of `abstention.py` are the
benchmark's own, apart from what the self-monitor reads, so that nothing is judged by itself."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from insula.text.analysis import analyse_text, detect_language

SHORT = 3
"""A value of so few characters must stand as a word of its own."""
ALMOST_ALL = 0.67
"""Share of a longer answer's words that a reply must hold to be right (LoCoMo's answers are phrases)."""

_BEYOND_LATIN = "\u0250"
_NUMBERS: dict[str, str] = dict(
    zip(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        map(str, range(1, 13)),
        strict=True,
    )
)
_CELSIUS = re.compile(
    r"°\s*C\b|celsius|摄氏|攝氏|摂氏|℃|\d\s*(?:度|(?:grad|degr[ée]s|graus|gradi|grados)\b|[°º](?!\s*[CF]))",
    re.IGNORECASE,
)
"""Degrees without a name are Celsius in all of the languages but English."""
_FAHRENHEIT = re.compile(r"°\s*F\b|fahrenheit|华氏|華氏|℉", re.IGNORECASE)
_METRIC = re.compile(
    r"\b(?:k?m|cm|mm|kg|g|l|ml|kilomet\w*|met(?:er|re|ro)s?\w*|kilo\w*|gram\w*|lit(?:er|re|ro)\w*)\b|公里|千米|米|公斤|克|升|キロ|メートル|グラム",
    re.IGNORECASE,
)
_IMPERIAL = re.compile(
    r"\b(?:miles?|feet|foot|inch(?:es)?|pounds?|lbs?|ounces?|oz|yards?|cups?|gallons?|millas?|libras?|pies)\b",
    re.IGNORECASE,
)
_TWELVE = re.compile(
    r"\b\d{1,2}(?::\d\d)?\s*[ap]\.?\s?m\b|o'clock|(?:午前|午後|上午|下午|晚上|早上|夜の?|朝の?)\s*\d{1,2}\s*[:時时点點]|"
    r"\d\s*(?:uhr|h|heures?|horas?|ore)?\s*(?:nachmittags|abends|morgens|"
    r"d[eu] (?:la |l'|matin|soir|tarde|noite|sera|ma[ñn]|noche|pomeriggio|mattin)|da (?:tarde|noite|manhã)|"
    r"del (?:pomeriggio|mattino)|di (?:sera|mattina|notte))",
    re.IGNORECASE,
)
_TWENTY_FOUR = re.compile(r"\b(?:[01]?\d|2[0-3])[:h.]\d\d\b|\b(?:1[3-9]|2[0-3])\s?h\b|\d\s*(?:Uhr|時|点)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s*\S", re.MULTILINE)
_CODE = re.compile(r"```[ \t]*(\w*)")
_PYTHON = re.compile(
    r"\bdef \w+\(|\bprint\(|\bsorted\(|\blen\(|\bfor \w+ in .*:|^import \w+|^from \w+ import", re.MULTILINE
)
_OTHER_CODE = re.compile(r"\b(?:function|const|let|var)\b \w+|=>|#include|public static|console\.log")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_EXAMPLE = re.compile(
    r"for example|for instance|e\.g\.|such as|example:|por ejemplo|par exemple|zum beispiel|z\. ?b\.|beispiel|"
    r"por exemplo|exemplo|ad esempio|per esempio|esempio|ejemplo|exemple|例如|比如|举例|例えば|たとえば|例：|例:",
    re.IGNORECASE,
)
_FORMS: Mapping[str, tuple[str, str]] = {
    "du": (r"(?i:du|dich|dir|dein\w*)", r"(?<=[\w,;] )(?:Sie|Ihnen|Ihre?\w*)"),
    "Sie": (r"(?:Sie|Ihnen|Ihre?\w*)", r"(?i:du|dich|dir|dein\w*)"),
    "tu": (r"(?i:tu|te|toi|ton|ta|tes|t')", r"(?i:vous|votre|vos)"),
    "vous": (r"(?i:vous|votre|vos)", r"(?i:tu|toi|ton|tes)"),
    "usted": (r"(?i:ustede?s?)", r"(?i:tú|tus?|ti|contigo)"),
    "Lei": (r"(?:Lei|Suo|Sua|Suoi|Sue)", r"(?i:tu|tuo|tua|tuoi|tue|ti)"),
    "您": ("您", "你"),
}
"""Form of address -> its own words, and those of the other form."""
_LETTER = "0-9a-zA-Z\u00c0-\u024f"
_CLOSED = re.compile(r"[.!?…。！？:：)\]）」』”\"'`*|]\s*$|[\U0001f300-\U0001faff\u2600-\u27bf]\s*$")
_CUT_LATIN, _CUT_WIDE = 180, 70
"""So many characters are as many as the tokens of a reply hold at least; a longer one without an end was cut off."""
_SENTENCE_END = re.compile(r"[.!?…。！？]+(?=\s|$|[^\s\d.])")


def holds(text: str, wanted: Iterable[Sequence[str]]) -> bool:
    """Whether a reply holds one of each group of alternatives."""
    folded = fold(text)
    return all(any(_stands(fold(one), folded) for one in group) for group in wanted)


def matches(text: str, answer: str) -> bool:
    """Whether a reply holds a free answer: nearly all its content words, numbers as digits or as words."""
    wanted, said = _units(answer), _units(text)
    return bool(wanted) and len(wanted & said) >= ALMOST_ALL * len(wanted)


def _units(text: str) -> set[str]:
    terms = analyse_text(text, default="en").terms
    return {_NUMBERS.get(term, term) for term in terms}


def fold(text: str) -> str:
    """A text for comparison: one form for each character, no case."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _stands(value: str, text: str) -> bool:
    """Whether a value is in a text; a short one of letters or digits as a word, of which "38番" holds one, too."""
    if len(value) <= SHORT and value.isalnum() and value[0] < _BEYOND_LATIN:
        return re.search(rf"(?<![{_LETTER}]){re.escape(value)}(?![{_LETTER}])", text) is not None
    return value in text


def follows(text: str, rule: Mapping[str, Any]) -> bool:
    """Whether a reply keeps every part of a rule.

    Raises:
        KeyError: the rule has a part that there is not.
    """
    return all(_RULES[name](text.strip(), wanted) for name, wanted in rule.items())


def cut_off(text: str) -> bool:
    """Whether a reply seems to have been ended by the number of its tokens."""
    wide = sum(one > "\u2e7f" for one in text)
    return _CLOSED.search(text) is None and len(text) >= (_CUT_WIDE if 2 * wide > len(text) else _CUT_LATIN)


def _lists(text: str) -> bool:
    """Whether a reply is a list: two items, or the one that it was cut off in."""
    return len(_BULLET.findall(text)) >= 2 - cut_off(text)


def _addresses(text: str, word: str) -> bool:
    own, other = (rf"(?<![{_LETTER}])(?:{one})(?![{_LETTER}])" for one in _FORMS[word])
    return re.search(own, text) is not None and re.search(other, text) is None


def _is_code_in(text: str, language: str) -> bool:
    """Whether a reply shows code in a language: a block that says so, or code that looks like it."""
    if named := [fold(one) for one in _CODE.findall(text) if one]:
        return language in named
    return language == "python" and bool(_PYTHON.search(text)) and not _OTHER_CODE.search(text)


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
    "sentences_max": lambda text, most: sentences(text) <= most and not cut_off(text),
    "max_words": lambda text, most: len(_words(text)) <= most and not cut_off(text),
    "words_exact": lambda text, count: len(_words(text)) == count,
    "bullets": lambda text, wanted: _lists(text) == wanted,
    "contains": lambda text, word: fold(word) in fold(text),
    "absent": lambda text, word: fold(word) not in fold(text),
    "absent_word": lambda text, word: fold(word) not in fold(text),
    "formal": _addresses,
    "language": lambda text, language: detect_language(text) == language,
    "celsius": lambda text, wanted: bool(_CELSIUS.search(text)) and not _FAHRENHEIT.search(text),
    "metric": lambda text, wanted: bool(_METRIC.search(text)) and not _IMPERIAL.search(text),
    "clock24": lambda text, wanted: bool(_TWENTY_FOUR.search(text)) and not _TWELVE.search(text),
    "ends_question": lambda text, wanted: text.rstrip(" *_\"')").endswith(("?", "？")),
    "begins": lambda text, word: fold(text.lstrip("*_\"' ¡¿")).startswith(fold(word)),
    "ends": lambda text, word: fold(word) in fold(text[-len(word) - 12 :]),
    "code": _is_code_in,
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
