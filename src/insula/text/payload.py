"""What is for programs: a text that is data or code alone, and a message that wants its answer so.

Into the one no prose may be put, and manners would break the other. The phrases of such messages stand in
`payload.json`; a question about a format ("How do I parse JSON?") wants a person's answer.
"""

import json
import re
from functools import cache

from insula.text.grammar import UNSPACED
from insula.text.tables import load_table

MAX_LINES = 200
"""So many lines are looked at."""
_LINE = 400
"""Characters of a line that may be code."""

_CODE_SHARE = 0.6
"""From this share of lines that look like code on, a text is code."""

_FENCED = re.compile(r"\s*```[^\n]*\n.*?\n?```\s*\Z", re.DOTALL)
_INLINE = re.compile(r"\s*`[^`\n]+`\s*\Z")
_VALUE = re.compile(
    r"\s*[-+]?[$€£¥]?\d[\d.,:/ ]*\s?(?:%|‰|°C?|[A-Za-z€$£¥]{0,4})\s*\Z|\s*(?:true|false|null|none)\s*\Z", re.IGNORECASE
)
_MARKUP = re.compile(r"<[!?/A-Za-z]")
_LINK = re.compile(r"\s*\w+://\S+\s*\Z")
_YAML = re.compile(r"\s*(?:-\s+)?[\w.\"'/-]+:(?:\s+\S.*)?\Z|\s*-\s+\S+\Z|\s*#.*\Z|---\Z")
_PAIR = re.compile(r"\s*(?:-\s+)?[\w.\"'/-]+:(?:\s|\Z)")
_CODE = re.compile(
    r".*[;{}]\s*\Z|(?: {4}|\t)\s*\S.*"
    r"|\s*(?:def|class|import|if|for|while|else|elif|try|except|with|func|fn|function|public|private|async)\b.*[:;{(]\s*\Z"
    r"|\s*(?:import \w[\w.]*|from \w[\w.]* import .+)\Z"
    r"|\s*[\w.]+\([^()]*\)\s*\Z|\s*(?:(?:const|let|var) )?[\w.\[\]]+\s*(?:[-+*/|&]?=|:=|<-)\s*\S.*"
    r"|\s*(?:\$|>>>|#!|//|/\*|@\w)\s*\S.*|\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP) .+"
    r"|\s*(?:sudo )?(?:git|npm|pip|docker|cd|ls|curl|make|python3?|uv|cargo|kubectl|apt|brew)"
    r" (?!(?:is|are|was|has|can|and|or|does|will|would|it|sure|the|a|an|this|that|your|my|to)\b)[^\s,]+(?: \S+){0,6}\Z"
    r"|[a-z][\w-]*(?: \S+)* --?\w[\w-]*(?:[ =]\S+)*\Z"
)
_DELIMITERS = (",", ";", "\t", "|")


def is_structured(text: str) -> bool:
    """Whether a text is only data or code: JSON, XML, YAML, CSV, a table, a fenced block, a value, a link, code."""
    stripped = text.strip()
    if not stripped:
        return True
    alone = (_FENCED, _INLINE, _VALUE, _LINK)
    if any(pattern.match(stripped) for pattern in alone) and stripped.count("```") <= 2:
        return True
    if stripped[0] == "<":
        return bool(_MARKUP.match(stripped)) and stripped.endswith(">")
    if stripped[0] in "{[" and _is_json(stripped):
        return True
    lines = [line for line in stripped.splitlines()[:MAX_LINES] if line.strip()]
    return _is_yaml(lines) or _is_table(lines) or _is_code(lines)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_yaml(lines: list[str]) -> bool:
    """At least two lines of keys, and nothing else; a sentence after a key is prose ("Note: this is…")."""
    keys = sum(1 for line in lines if _PAIR.match(line))
    return keys >= 2 and all(_YAML.match(line) and not line.rstrip().endswith((".", "!", "?")) for line in lines)


def _is_table(lines: list[str]) -> bool:
    """At least two lines with the same number of the same delimiter, and no sentence among them."""
    if len(lines) < 2 or any(line.rstrip().endswith((".", "!", "?", ":")) for line in lines):
        return False
    spoken = len(lines) < 3 and any(", " in line for line in lines)
    return not spoken and any(
        lines[0].count(mark) and len({line.count(mark) for line in lines}) == 1 for mark in _DELIMITERS
    )


def _is_code(lines: list[str]) -> bool:
    looks = sum(1 for line in lines if len(line) < _LINE and _CODE.match(line))
    return looks >= max(1, _CODE_SHARE * len(lines))


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
