"""Numbers that are written as words; those of each language stand in `numerals.json`."""

import re
from collections.abc import Mapping
from functools import cache

from insula.text.analysis import LANGUAGES
from insula.text.grammar import UNSPACED
from insula.text.tables import load_table

_WORD = re.compile(r"\w+")
_NUMERALS = re.compile("[一二两三四五六七八九十百]+")
_TENS = re.compile("[十百]")


def number_words(text: str, language: str) -> set[int]:
    """The numbers that stand in a text as words, but for one, which is an article as well."""
    if language not in LANGUAGES:
        return set()
    known = load_numerals(language)
    if language in UNSPACED:
        numbers = {_compose_number(run, known) for run in _NUMERALS.findall(text)}
    else:
        numbers = {known.get(word, 0) for word in _WORD.findall(text.lower())}
    return {value for value in numbers if value > 1}


def _compose_number(run: str, known: Mapping[str, int]) -> int:
    """The number that Chinese numerals in a row make ("二十三")."""
    if not _TENS.search(run):
        return known.get(run, 0) or known.get(run[:1], 0)
    hundreds, _, rest = run.rpartition("百")
    tens, ten, ones = rest.rpartition("十")
    value = 100 * (known.get(hundreds, 0) or 1) if "百" in run else 0
    return value + (10 * (known.get(tens, 0) or 1) if ten else 0) + known.get(ones, 0)


@cache
def load_numerals(language: str) -> dict[str, int]:
    """The number that each word of a language means."""
    pairs = (pair.split("=") for pair in load_table("numerals.json")[language].split())
    return {word: int(value) for word, value in pairs}
