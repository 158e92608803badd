"""Which programming language a message asks for, and which the code of an answer is in."""

import re
from collections.abc import Mapping

_FENCE = re.compile(r"```([\w+#.-]*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)

_NAMES = {
    "python": r"(?i:python|django|flask|pandas)(?:3|\d)?",
    "javascript": r"(?i:javascript|node\.?js|js)",
    "typescript": r"(?i:typescript)",
    "java": r"(?i:java)",
    "c": r"C(?![\w+#])",
    "c++": r"(?i:c\+\+|cpp)",
    "c#": r"(?i:c#|csharp)",
    "go": r"Go(?=[ ,.:：?!，。、\u3040-\u30ff\u4e00-\u9fff]|$)|(?i:golang)",
    "rust": r"Rust|rust(?=で|程序|コード)",
    "ruby": r"(?i:ruby)",
    "php": r"(?i:php)",
    "sql": r"(?i:sql|postgres\w*|mysql|sqlite)",
    "bash": r"(?i:bash|shell|zsh)",
    "powershell": r"(?i:powershell)",
    "html": r"(?i:html)",
    "css": r"(?i:css)",
    "swift": r"Swift",
    "kotlin": r"(?i:kotlin)",
    "r": r"R(?=[ ,.?!]|$)(?<=\bin R)",
    "perl": r"Perl",
    "haskell": r"(?i:haskell)",
    "lua": r"(?i:lua)",
    "scala": r"Scala",
}
_ASKED = re.compile("|".join(rf"(?<![A-Za-z0-9_.]){pattern}(?![A-Za-z0-9_])" for pattern in _NAMES.values()))
_EACH = {name: re.compile(rf"(?<![A-Za-z0-9_.])(?:{pattern})(?![A-Za-z0-9_])") for name, pattern in _NAMES.items()}
_TAGS = {
    "py": "python", "python3": "python", "js": "javascript", "node": "javascript", "jsx": "javascript",
    "ts": "typescript", "tsx": "typescript", "cpp": "c++", "cs": "c#", "csharp": "c#", "golang": "go", "rs": "rust",
    "rb": "ruby", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "bash", "postgresql": "sql", "mysql": "sql",
    "sqlite": "sql", "kt": "kotlin", "hs": "haskell", "ps1": "powershell", "pwsh": "powershell",
}  # fmt: skip
_KIN = ({"javascript", "typescript"}, {"c", "c++"}, {"html", "css", "javascript"})
_SIGNS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(r"^\s*(?:def \w+\(.*\).*:|from \w[\w.]* import |elif .*:|print\(|for \w+ in .*:)\s*", re.M),
    "javascript": re.compile(
        r"console\.log\(|=>\s*[{(]|^\s*(?:const|let|var) \w+\s*=|function \w+\([^)]*\)\s*\{", re.M
    ),
    "java": re.compile(r"public (?:static|class)|System\.out\.print"),
    "c++": re.compile(r"std::|#include <iostream>|cout <<"),
    "c": re.compile(r"#include <stdio\.h>|printf\(\""),
    "go": re.compile(r"^package \w+|^func \w*\(.*\{|fmt\.Print", re.M),
    "rust": re.compile(r"\bfn \w+\(|println!\(|let mut "),
    "ruby": re.compile(r"^\s*puts |^\s*def \w+[^:\n]*\n(?:.*\n)*?\s*end\s*$", re.M),
    "php": re.compile(r"<\?php|\$\w+ ?= "),
    "sql": re.compile(
        r"^\s*(?:SELECT\b.+\bFROM\b|SELECT\b|INSERT INTO|CREATE TABLE|UPDATE \w+ SET)", re.M | re.I | re.S
    ),
    "powershell": re.compile(r"\b(?:Get|Set|Where|Sort|Write|Select)-[A-Z][a-z]+\w*"),
    "bash": re.compile(r"^#!/bin/(?:ba)?sh|^\s*(?:echo|find|grep|rm|ls) ", re.M),
}


def asked_in(message: str) -> frozenset[str]:
    """The programming languages that a message names."""
    if _ASKED.search(message) is None:
        return frozenset()
    return frozenset(name for name, pattern in _EACH.items() if pattern.search(message))


def written_in(response: str) -> frozenset[str]:
    """The programming languages of the code blocks of a response, as far as they can be told."""
    return frozenset(name for tag, code in _FENCE.findall(response) if (name := _named(tag.lower(), code)))


def _named(tag: str, code: str) -> str:
    name = _TAGS.get(tag, tag)
    if name in _NAMES:
        return name
    if tag:
        return ""
    found = [language for language, sign in _SIGNS.items() if sign.search(code)]
    return found[0] if len(found) == 1 else ""


def in_wrong_code(message: str, response: str) -> bool:
    """Whether code was asked for in one language, and all that came is in others; a shell may run any of them."""
    if "```" not in response or not (wanted := asked_in(message)):
        return False
    allowed = wanted.union(*(kin for kin in _KIN if kin & wanted))
    written = written_in(response) - {"bash"}
    return bool(written) and not written & allowed
