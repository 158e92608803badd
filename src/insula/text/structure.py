"""Whether a text is for machines: data or code alone, into which no prose may be put."""

import json
import re

MAX_LINES = 200
"""So many lines are looked at."""

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


_LINE = 400
