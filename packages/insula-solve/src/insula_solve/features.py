"""What can be told of a problem from its words, before a model is asked: its classes, and how hard it looks."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILE = "classes.toml"
MANY_STEPS, WORDS = "many steps", "words"
MANY_NUMBERS = 5
"""Numbers from which a problem takes many steps; a third of GSM8K has as many."""
HARDENING = frozenset({"percent", "fraction", "ratio", "comparison", "unknown start", "average", "cases"})
"""Classes in which it is easy to take a number of the wrong thing."""

_NUMBER = re.compile(
    r"\d[\d,]*(?:\.\d+)?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|half|twice)\b",
    re.I,
)
_SENTENCE = re.compile(r"[.?!](?:\s|$)")
_QUANTITY = re.compile(r"\bhow (?:many|much|long|far|old|tall|often|big|fast)\b|\bwhat (?:percent|fraction|number)")
_COUNTED = re.compile(
    r"\bhow many\b(?!\s+(?:more\s+|fewer\s+|total\s+)*(?:seconds|minutes|hours|days|weeks|months|years|miles|feet"
    r"|inches|yards|acres|\w*met(?:er|re)s|pounds|ounces|tons|\w*grams|kilo\w*|gallons|quarts|pints|cups|\w*spoons|\w*lit(?:er|re)s"
    r"|dollars|cents|euros|degrees|percent|times)\b)"
)
"""What is measured and not counted may be broken: two and a half hours, dollars, cups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFeatures:
    """A problem at first sight."""

    classes: tuple[str, ...]
    """Its classes, the most telling first; never empty."""
    numbers: int
    sentences: int
    difficulty: float
    """In [0, 1]: a prior from the number of numbers, sentences and hardening classes. Hand-set, not fitted."""
    is_computable: bool
    """Whether there are numbers to compute with."""
    is_quantity: bool
    """Whether it asks for a quantity in so many words."""
    is_count: bool
    """Whether it asks for a number of whole things."""

    @property
    def kind(self) -> str:
        """The class under which records are kept."""
        return self.classes[0]


def read_features(problem: str) -> ProblemFeatures:
    """A problem at first sight."""
    text = f" {' '.join(problem.split()).casefold()} "
    numbers = len(_NUMBER.findall(text))
    sentences = max(1, len(_SENTENCE.findall(text)))
    classes = [name for name, words in read_classes().items() if any(_holds_word(text, word) for word in words)]
    if numbers >= MANY_NUMBERS:
        classes.append(MANY_STEPS)
    if numbers < 2:
        classes.insert(0, WORDS)
    hardening = len(HARDENING.intersection(classes))
    return ProblemFeatures(
        classes=tuple(classes) or (WORDS,),
        numbers=numbers,
        sentences=sentences,
        difficulty=min(1.0, 0.08 * max(0, numbers - 1) + 0.05 * max(0, sentences - 2) + 0.1 * hardening),
        is_computable=numbers > 1,
        is_quantity=bool(_QUANTITY.search(text)),
        is_count=bool(_COUNTED.search(text)),
    )


def _holds_word(text: str, word: str) -> bool:
    """Whether a word, or the beginning of one, stands in a text; blanks and signs are taken as they are."""
    at = text.find(word)
    while at >= 0 and word[0].isalpha() and text[at - 1].isalpha():
        at = text.find(word, at + 1)
    return at >= 0


@cache
def read_classes() -> Mapping[str, tuple[str, ...]]:
    """The classes that are told from words, each with its words."""
    values = tomllib.loads(resources.files("insula_solve").joinpath(FILE).read_text("utf-8"))
    return {name: tuple(word.casefold() for word in words) for name, words in values.items()}
