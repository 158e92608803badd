"""How a clause is meant: as a fact, a plan, a wish, a supposition, a part in a game, a joke or a question.

The words of eight languages stand in `modality.json`.
"""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Literal

from insula.text.analysis import LANGUAGES
from insula.text.grammar import UNSPACED

Modality = Literal["fact", "plan", "wish", "hypothetical", "fiction", "joke", "question"]
Mark = Literal["negated", "ended", "corrects", "changes", "before", "still"]
"""What a clause says beside its matter: that it is not so, no longer so, wrong before, new; asked of the past."""
UPDATES: frozenset[Mark] = frozenset({"negated", "ended", "corrects", "changes"})
"""Marks of what may take the place of an older statement."""
EVERYWHERE = frozenset({"fiction", "staged", "real", "joke", "figurative"})
"""Devices that are looked for in the words of all languages at once."""
CONDITIONS = frozenset(
    {"if", "unless", "in case", "falls", "au cas où", "en caso de", "caso", "nel caso"}
    | {"imagine", "imagina", "immagina", "imaginons", "imagínate", "stell dir vor"}
)
"""Words of a condition, and calls to imagine something, that may follow a fact."""
MARKS: tuple[Mark, ...] = ("negated", "ended", "corrects", "changes", "before", "still")


def modality(clause: str, language: str) -> Modality:
    """How a clause is meant, told from its own words."""
    if supposes(clause, language):
        return "hypothetical"
    for device in ("wish", "plan"):
        if says(device, clause, language):
            return device
    return "joke" if says("joke", clause, language) else "fact"


def supposes(clause: str, language: str) -> bool:
    """Whether a clause only supposes something; what stands before a condition is said all the same.

    "My reference is QX-7719, ring if late" states a reference.
    """
    if language in UNSPACED:
        return says("hypothetical", clause, language) and not says("habit", clause, language)
    found = _pattern("hypothetical", language if language in LANGUAGES else "en").search(clause.replace("’", "'"))
    if found is None or says("habit", clause, language):
        return False
    return not (found.group().lower() in CONDITIONS and "," in clause[: found.start()])


def marks(clause: str, language: str) -> frozenset[Mark]:
    """What a clause says beside its matter."""
    return frozenset(mark for mark in MARKS if says(mark, clause, language))


def says(device: str, text: str, language: str) -> bool:
    """Whether a text uses a device of `modality.json`."""
    return bool(_pattern(device, language if language in LANGUAGES else "en").search(text.replace("’", "'")))


@cache
def _pattern(device: str, language: str) -> re.Pattern[str]:
    raw = json.loads((files("insula.language") / "modality.json").read_text("utf-8"))
    words: str = raw.get(device) or raw[language].get(device, "(?!)")
    flags = re.IGNORECASE | re.MULTILINE
    if device in EVERYWHERE:
        unspaced = "|".join(
            word for word in words.split("|") if not word.isascii() and re.search("[\u3040-\u9fff]", word)
        )
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)|{unspaced}", flags)
    if language in UNSPACED:
        return re.compile(words, flags)
    apart = [word for word in words.split("|") if word.startswith("n't")]
    return re.compile("|".join([rf"(?<!\w)(?:{words})(?!\w)", *(rf"{word}(?!\w)" for word in apart)]), flags)
