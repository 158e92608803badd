"""Whether a message wants an answer that a program reads, such as JSON or CSV: manners would break it.

The phrases stand in `payload.json`. A question about a format ("How do I parse JSON?") wants a person's answer.
"""

import re
from functools import cache

from insula.text.grammar import UNSPACED
from insula.text.tables import load_table


def is_payload(text: str) -> bool:
    """Whether a message tells to answer in a format for programs, or in nothing else."""
    return any(pattern.search(text) for pattern in _load_patterns())


@cache
def _load_patterns() -> tuple[re.Pattern[str], ...]:
    raw = load_table("payload.json")
    named = rf"(?<![A-Za-z])(?:{raw['format']})(?![A-Za-z])"
    spaced = [language for language in raw["only"] if language not in UNSPACED]
    only, gives = ("|".join(raw[kind][language] for language in spaced) for kind in ("only", "gives"))
    bare, told = ("|".join(raw[kind][language] for language in sorted(UNSPACED)) for kind in ("only", "gives"))
    sentence = r"(?:^|(?<=[.!?:;,\n])\s*)(?:\W*(?:please|por favor|bitte|per favore|s'il (?:te|vous) pla[iî]t)\W+)?"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"{sentence}(?:{gives})\b[^.!?\n]{{0,80}}?{named}",
            rf"{sentence}(?:{only})\s(?:\w+\s){{0,2}}?{named}|{named}(?:\s\w+){{0,2}}?\s(?:{only})\b",
            rf"(?:{told}|{bare})[^。！？\n]{{0,20}}?{named}|{named}[^。！？\n]{{0,12}}?(?:{told}|{bare})",
        )
    )
