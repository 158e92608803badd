"""Sentences for the heads of the user's word, composed from the templates in `word/`, one file a language.

A line is a sentence with choices (`(a|b)`) and slots (`{P}`), said more often with `*3` before it; `= slot NAME` and
`= CLASS` begin a section.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "word"
LANGUAGES = ("en", "es", "fr", "de", "pt", "it", "zh", "ja")
OPENED = 0.15
"""The share of sentences that begin with "and please" or the like, whatever they mean, so that this tells nothing."""


class Said(NamedTuple):
    """A composed sentence: what it means, its language, and the template that it is of."""

    text: str
    means: str
    language: str
    template: str


Sections = dict[str, list[str]]


def read(path: Path) -> Sections:
    """The sections of a file of templates."""
    sections: Sections = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("= "):
            name = line[2:].strip()
            sections.setdefault(name, [])
        elif line.strip() and not (line.startswith("# ") and not name):
            sections[name].append(line)
    return sections


def compose(count: int, seed: int = 0, classes: tuple[str, ...] = ()) -> Iterator[Said]:
    """Sentences of each language and meaning.

    Args:
        classes: the meanings; those of a user's clause by default.
    """
    shared = read(FOLDER / "all.txt")
    for language in LANGUAGES:
        chosen = random.Random(f"{seed} {language}")
        sections = {**shared, **read(FOLDER / f"{language}.txt")}
        for means in classes:
            lines = sections.get(means, [])
            shares = [weight(line) * variety(line, sections) ** 0.2 for line in lines]
            for line, share in zip(lines, shares, strict=True):
                for _ in range(max(4, round(count * 45 * share / sum(shares)))):
                    text = expand(line, sections, chosen)
                    if chosen.random() < OPENED and not line.lstrip("*0123456789 ").startswith("({PRE}"):
                        text = chosen.choice(sections["slot PRE"]) + text
                    yield Said(_worn(text, chosen), means, language, line)


def expand(line: str, sections: Sections, chosen: random.Random, depth: int = 0) -> str:
    """A sentence of a template, with each choice made and each slot filled."""
    if depth > 8:
        raise ValueError(f"The template {line!r} goes round in circles.")
    line = _choose(line.split(" ", 1)[1] if line.startswith("*") else line, chosen)

    def fill(found: "re.Match[str]") -> str:
        return expand(chosen.choice(sections[f"slot {found[1]}"]), sections, chosen, depth + 1)

    return re.sub(r"\{([A-Z][A-Z0-9]*)\}", fill, line)


def weight(line: str) -> float:
    """How often a template is said, next to others: `*3 …` is said three times as often."""
    return float(line[1:].split(" ", 1)[0]) if line.startswith("*") else 1.0


def variety(line: str, sections: Sections) -> float:
    """How many sentences a template has, about: what varies more is seen more often."""
    found = float(len(line.split("|")))
    for slot in re.findall(r"\{([A-Z][A-Z0-9]*)\}", line):
        found *= len(sections[f"slot {slot}"])
    return found


def _choose(line: str, chosen: random.Random) -> str:
    """The line with one alternative of each bracket, the innermost first."""
    pattern = re.compile(r"\(((?:[^()\\]|\\.)*\|(?:[^()\\]|\\.)*)\)")
    while (found := pattern.search(line)) is not None:
        options = found[1].split("|")
        line = line[: found.start()] + chosen.choice(options) + line[found.end() :]
    return line.replace("\\?", "?")


def _worn(text: str, chosen: random.Random) -> str:
    """The sentence as people type: capitals or none, no apostrophes now and then, a letter lost."""
    text = " ".join(text.split()) if not re.search("[\u3040-\u9fff]", text) else text.strip()
    kind = chosen.random()
    if kind < 0.25 and text[:1].isalpha():
        text = text[0].upper() + text[1:]
    elif kind < 0.5:
        text = text.lower()
    if chosen.random() < 0.15:
        text = text.replace("'", "")
    if chosen.random() < 0.1:
        text = text.rstrip(".!。！")
    if chosen.random() < 0.06 and len(text) > 12 and text.isascii():
        at = chosen.randrange(2, len(text) - 2)
        text = text[:at] + text[at + 1 :]
    return text
