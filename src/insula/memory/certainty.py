"""Whether a statement surely answers a question, or only seems to: a thing may be told without the detail asked for.

"My doctor is called Iturralde" is near to "where is my doctor's surgery?", and does not say it. Sure is what holds the
value asked for, every word of the question, or the very matter, told by nearness or by its own words (where one
lives); all else is medium, however near. The words of eight languages stand in `certainty.json`.
"""

import json
import re
from functools import cache, lru_cache
from importlib.resources import files

from insula.memory.assertion import Question, Statement
from insula.memory.modality import UPDATES, Mark, says
from insula.memory.near import who_terms
from insula.memory.slots import placed, tells
from insula.text.grammar import UNSPACED

SURELY = 0.4
"""The chance of a matter in common from which nothing else is asked."""
CHOSEN = 0.75
"""The same where one of a kind is asked for: "which airline" is of flights, as their hours are."""
HALF = 0.5
"""The share of the words of a question for yes or no that a statement of it holds."""


def is_sure(question: Question, statement: Statement, common: float) -> bool:
    """Whether a statement that answers leaves nothing to be guessed.

    Args:
        question: what is asked.
        statement: what is told, near to it, about whom it asks.
        common: the chance of a matter in common.
    """
    if says("figurative", statement.text, statement.language) or _lacks_measure(question, statement):
        return False
    same = common >= (CHOSEN if question.ask.kind == "choice" else SURELY)
    asked = _asked(question)
    held = asked & statement.terms
    if question.ask.kind == "yes_no":
        changed = bool(held) and not UPDATES.isdisjoint(statement.marks)
        return changed or same or len(held) >= HALF * max(len(asked), 1)
    if question.ask.kind == "place" and not placed(question, statement):
        return False
    if _only_ended(question, statement):
        return False
    every = bool(asked) and held == asked and statement.terms > asked
    return tells(question, statement) or every or same or _is_of_it(question, statement)


def contradict(question: Question, one: Statement, other: Statement) -> bool:
    """Whether two statements of one text tell what is asked in two ways, and neither sets the other right."""
    if not _SETTLED.isdisjoint(one.marks | other.marks) or one.subjects != other.subjects:
        return False
    both = one.terms & other.terms
    if ("negated" in one.marks) != ("negated" in other.marks):
        return len(both) >= HALF * max(len(one.terms), len(other.terms), 1)
    apart = len(one.terms - both) == len(other.terms - both) == 1  # "I live in Porto. I live in Madrid."
    return bool(both) and apart and question.ask.kind in _SINGLE


def _only_ended(question: Question, statement: Statement) -> bool:
    """Whether what is asked as it stands was left, and nothing is told of what came instead ("Left Barclays")."""
    past = not question.marks.isdisjoint({"ended", "before"})
    return "ended" in statement.marks and not past and question.ask.kind not in {"yes_no", "time"}


@lru_cache(maxsize=64)
def _asked(question: Question) -> frozenset[str]:
    """The words of a question, but for those that say whom it is about."""
    return question.terms - who_terms(question)


def _lacks_measure(question: Question, statement: Statement) -> bool:
    """Whether an age, a duration, a side or a name is asked for, and another value or none is told."""
    return any(_asks(what, question) and not _tells(what, statement) for what in _MEASURES)


def _is_of_it(question: Question, statement: Statement) -> bool:
    """Whether where somebody lives or what they work as is asked for, and the words of just that are told."""
    return any(_asks(what, question) and _tells(what, statement) for what in _MATTERS)


def _asks(what: str, question: Question) -> bool:
    asked = _pattern(what, "asked", question.language)
    return asked is not None and asked.search(question.text.replace("’", "'")) is not None


def _tells(what: str, statement: Statement) -> bool:
    told = _pattern(what, "told", statement.language)
    return told is not None and told.search(statement.text.replace("’", "'")) is not None


_MEASURES = ("age", "duration", "side", "name")
_MATTERS = ("home", "work")
_SINGLE = frozenset({"place", "time", "number", "name"})
"""Kinds of questions that have one answer; who likes tea may like coffee."""
_SETTLED: frozenset[Mark] = frozenset({"ended", "corrects", "changes", "before", "still"})
"""Marks of a statement that says itself how it stands to the other."""


@cache
def _pattern(what: str, side: str, language: str) -> re.Pattern[str] | None:
    raw = json.loads((files("insula.memory") / "certainty.json").read_text("utf-8"))
    words: str | None = raw[what][side].get(language)
    if words is None:
        return None
    return re.compile(words if language in UNSPACED else rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
