"""How a clause is meant: a fact, a plan, a wish, a supposition or fiction; and whether it says that something changed.

The words of eight languages stand in `modality.json`.
"""

import re
from functools import cache
from typing import Literal

from insula.text.analysis import LANGUAGES
from insula.text.grammar import UNSPACED
from insula.text.tables import load_table

Modality = Literal["fact", "plan", "wish", "hypothetical", "fiction", "joke", "question"]
"""Jokes stand in older stores alone."""
Mark = Literal["negated", "ended", "corrects", "changes", "before"]
"""What a clause says beside its matter: that it is not so, no longer so, wrong before, new; or, as its reader
says, of the past."""
UPDATES: frozenset[Mark] = frozenset({"negated", "ended", "corrects", "changes"})
"""Marks of what may take the place of an older statement."""
CONDITIONS = frozenset(
    {"if", "unless", "in case", "falls", "au cas où", "en caso de", "caso", "nel caso"}
    | {"imagine", "imagina", "immagina", "imaginons", "imagínate", "stell dir vor"}
)
"""Words of a condition, and calls to imagine something, that may follow a fact."""
MARKS: tuple[Mark, ...] = ("negated", "ended", "corrects", "changes")


def classify_modality(clause: str, language: str) -> Modality:
    """How a clause is meant, told from its own words."""
    if only_supposes(clause, language):
        return "hypothetical"
    if uses_device("wish", clause, language):
        return "wish"
    return "plan" if uses_device("plan", clause, language) else "fact"


def only_supposes(clause: str, language: str) -> bool:
    """Whether a clause only supposes something; what stands before a condition is said all the same.

    "My reference is QX-7719, ring if late" states a reference.
    """
    match = _compile_device("hypothetical", language if language in LANGUAGES else "en").search(
        clause.replace("’", "'")
    )
    return match is not None and not (match.group().lower() in CONDITIONS and "," in clause[: match.start()])


def find_marks(clause: str, language: str) -> frozenset[Mark]:
    """What a clause says beside its matter."""
    return frozenset(mark for mark in MARKS if uses_device(mark, clause, language))


def uses_device(device: str, text: str, language: str) -> bool:
    """Whether a text uses a device of `modality.json`."""
    return bool(_compile_device(device, language if language in LANGUAGES else "en").search(text.replace("’", "'")))


@cache
def _compile_device(device: str, language: str) -> re.Pattern[str]:
    words: str = load_table("modality.json", __package__)[language].get(device, "(?!)")
    if device == "fiction":  # looked for in the words of all languages at once
        words = load_table("modality.json", __package__)[device]
        unspaced = "|".join(word for word in words.split("|") if re.search("[\u3040-\u9fff]", word))
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)|{unspaced}", re.IGNORECASE | re.MULTILINE)
    if language in UNSPACED:
        return re.compile(words, re.IGNORECASE | re.MULTILINE)
    apart = [rf"{word}(?!\w)" for word in words.split("|") if word.startswith("n't")]
    return re.compile("|".join([rf"(?<!\w)(?:{words})(?!\w)", *apart]), re.IGNORECASE | re.MULTILINE)
