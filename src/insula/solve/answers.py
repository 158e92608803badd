"""From a reply to its answer, by what kind of answer the problem wants, and whether two answers are the same.

Numbers are compared in one form, and with their units: `5 km` is `5000 m`. Names keep their case and are compared
without it; of options the letter counts; expressions are the same where they have the same values. An answer is what a
reply marks as one, else what it says in few words, else a number that it calculated: no number is taken from any
other text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from insula.solve.amounts import (
    AMOUNT,
    ANSWER_CHARS,
    BOLD,
    LONGEST,
    MARKS,
    UNITS,
    as_number,
    is_amount,
    legible,
    normalised,
    plain,
    unit_of,
    value_of,
    written,
)
from insula.solve.expressions import expression_in, have_same_values
from insula.solve.forms import Form, options

_LOOKED_AT = 20_000

_TAG = re.compile(r"<\s*answer\s*>(.*?)(?=<\s*(?:/\s*)?answer\s*>|\Z)", re.S | re.I)

_HASHES = re.compile(r"####\s*([^\n]+)")

_SAID = re.compile(
    r"(?:\b(?:answer|antwort|respuesta|réponse|resposta|risposta)|答案|答え)"
    r"\s*(?:is|est|es|ist|é|è|是|は|[:：=])+[\s*:]*(?:is\s[\s*:]*)?((?:[^\n.。]|\.(?=\S))+)",
    re.I,
)

"""What is said to be the answer, to the end of its sentence or line."""

SHORT_CHARS = 160

"""Characters of a reply that says one thing; in a longer one a number, name or option that it does not mark is none."""

_THOUGHT = re.compile(r"<\s*think(?:ing)?\s*>.*?(?:<\s*/\s*think(?:ing)?\s*>|(?=<\s*answer)|\Z)", re.S | re.I)

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.S)

_BULLETS = re.compile(r"^\s*(?:\d{1,2}[.)]|Step \d+:?)\s", re.M)

_CALCULATION = re.compile(r"\d[^\n=]{0,40}[=≈]|[-+*/×÷]\s*[$€£]?\d[^\n]{0,40}[=≈]|=\s*[$€£]?\d")

_BOLD_RUN = re.compile(r"\*\*([^*\n]{1,80})\*\*")

_WORDS = re.compile(r"[^\W_]{3,}|[^\x00-\x7f]")

_LINKS = re.compile(r"\s(?:is|was|are|were|es|era|fue|est|était|ist|war|é|è|foi|fu)\s|是|は")

_ENDING = re.compile(r"(?:です|である|でした)?[.。\s]*$")

_LETTER = re.compile(r"[\s*_(\[]*([A-Ha-h]|\d{1,2})(?:[)\].:,*_]|\s*$)")

_BRACKETED = re.compile(r"(?:\(|(?<![^\s*]))([A-H]|\d{1,2})\)|(?<=[\s*(])([A-H])(?=[.*\s]*$)")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply answers."""

    value: str
    """In one form: a number without its unit, the letter of an option, else its words."""
    raw: str
    """As it was written."""
    marked: bool = True
    """Whether the reply said that this is its answer."""
    unit: str = ""
    """The unit of a measured number."""
    form: Form = "number"

    @property
    def number(self) -> Fraction | None:
        """Its value, where it is one number."""
        return as_number(self.value)

    @property
    def shown(self) -> str:
        """What is told to a person."""
        return self.raw if self.form == "expression" else f"{self.value} {self.unit}".rstrip()


def extract(reply: str, *, truncated: bool = False, form: Form = "number", problem: str = "") -> Answer | None:
    """The answer of a reply: the last that it marks as such, else what it says in few words or has calculated.

    Args:
        reply: in `<answer>` tags, `\\boxed{…}`, after `####`, after "the answer is", or none of them.
        truncated: whether it was cut off; then only an answer that it marks is one.
        form: what the problem wants.
        problem: its words; the options of a choice, and what an answer in words does not repeat.
    """
    reply = said(reply)[-_LOOKED_AT:]
    for raw in (*_all(_TAG, reply), _boxed(reply), *_all(_HASHES, reply), *_all(_SAID, reply)):
        if found := read(raw, form, problem):
            return found
    if truncated or not reply:
        return None
    if (
        len(bold := _BOLD_RUN.findall(reply)) == 1
        and form != "open"
        and (found := read(bold[0].rstrip(".:"), form, problem))
    ):
        return found
    match form:
        case "number" | "open":
            return _calculated(reply, form)
        case "name":
            return _named(reply, problem)
        case "choice":
            return _chosen(reply, problem)
        case "expression":
            return read(reply.splitlines()[-1], form)
        case _:
            return None


def said(reply: str) -> str:
    """A reply without what it thought before; of a thought that was cut off nothing is left."""
    return _THOUGHT.sub("", reply).strip()


def read(text: str, form: Form = "number", problem: str = "") -> Answer | None:
    """What is written as an answer, in the form in which answers of its kind are compared."""
    raw = text.strip()
    match form:
        case "choice":
            return _option(raw, problem)
        case "name":
            words = " ".join(plain(raw).split()).strip(MARKS + ".")
            return Answer(words, raw, form=form) if 0 < len(words) <= ANSWER_CHARS else None
        case "expression":
            value = expression_in(raw)
            return Answer(value, raw, form=form) if value else None
        case "open" if not is_amount(raw):
            return read(raw, "name", problem)
        case _:
            value = normalised(raw)
            return Answer(value, raw, unit=unit_of(raw) if as_number(value) is not None else "") if value else None


def agree(one: Answer, other: Answer) -> bool:
    """Whether two answers are the same; a number without a unit is in that of the other."""
    if one.value.casefold() == other.value.casefold():
        return _scale(one, other) == 1
    if one.number is not None and other.number is not None:
        return (scale := _scale(one, other)) is not None and scale != 1 and one.number * scale == other.number
    if "expression" in (one.form, other.form):
        return have_same_values(one.value, other.value)
    return False


def _scale(one: Answer, other: Answer) -> Fraction | None:
    """How many units of the other the unit of the first is; None where one is no measure of what the other is."""
    if one.unit == other.unit or not one.unit or not other.unit:
        return Fraction(1)
    (measure, worth), (of, of_worth) = UNITS[one.unit], UNITS[other.unit]
    return worth / of_worth if measure == of else None


def _calculated(reply: str, form: Form) -> Answer | None:
    """The number of a reply that is nothing but one, or says one alone, else the last of one that calculates."""
    text = _FENCED.sub("\n", _BULLETS.sub("", reply))
    found = [match for match in AMOUNT.finditer(legible(text)) if len(match["number"]) <= LONGEST]
    if not found or (
        form == "open" and ("\n" in reply or not is_amount(reply)) and not _CALCULATION.search(plain(text))
    ):
        return None
    alone = len({match[0].strip() for match in found}) == 1 and len(text) <= SHORT_CHARS
    if alone or _CALCULATION.search(plain(text)):
        last = found[-1][0].strip()
        tail = legible(text)[found[-1].start() :].split(".\n")[0]
        unit = re.match(r"\s*([A-Za-z°]+)\b", tail[len(found[-1][0]) :])
        named = unit[1] if unit and unit[1] in UNITS else ""
        return Answer(written(value_of(found[-1])), last, marked=False, unit=named)
    return None


def _named(reply: str, problem: str) -> Answer | None:
    """What a sentence says, and not what the question said: "Paris" of "The capital of France is Paris."."""
    if len(reply) > SHORT_CHARS or "\n" in reply or reply.rstrip().endswith(("?", "？")):
        return None
    text = BOLD.sub("", reply).strip()
    asked = set(_WORDS.findall(problem.casefold()))
    for link in reversed(list(_LINKS.finditer(text))):
        for side in (text[link.end() :], text[: link.start()]):
            words = _WORDS.findall(side.casefold())
            if words and not asked.intersection(words) and (found := read(_ENDING.sub("", side), "name")):
                return Answer(found.value, found.raw, marked=False, form="name")
    found = read(text, "name")
    return Answer(found.value, found.raw, marked=False, form="name") if found else None


def _chosen(reply: str, problem: str) -> Answer | None:
    if not options(problem):  # yes or no: the first word, and what stands alone
        first = re.split(r"[\s,.;:!。，、！—–-]", BOLD.sub("", reply).lstrip("*_ "), maxsplit=1)[0]
        return Answer(first, first, marked=False, form="choice") if first and len(reply) <= SHORT_CHARS else None
    first = _LETTER.match(reply)
    return _option(first[0], problem) if first else (_option(reply, problem) if len(reply) <= SHORT_CHARS else None)


def _option(text: str, problem: str) -> Answer | None:
    """The option that a text names by its letter or number, or by its words."""
    known = options(problem)
    if not known:
        return Answer(text.strip(MARKS + "."), text, form="choice") if 0 < len(text) <= SHORT_CHARS else None
    legible = plain(text)
    if (letter := _LETTER.match(legible)) and (name := letter[1].upper()) in known:
        return Answer(name, text, form="choice")
    lettered = {found[1] for found in _BRACKETED.finditer(legible) if found[1] in known}
    worded = [
        name
        for name, words in known.items()
        if re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", legible.casefold())
    ]
    named = lettered or set(worded)
    return Answer(named.pop(), text, form="choice") if len(named) == 1 else None


def of_number(value: Fraction) -> Answer:
    """A computed answer."""
    return Answer(written(value), written(value))


def is_correct(answer: str | None, gold: str) -> bool:
    """Whether an answer is the one that was wanted.

    Args:
        answer: as a solution gives it; None for none.
        gold: as a data set has it: a number, words, or a solution that ends in `#### 72`.
    """
    wanted, given = read(next(_all(_HASHES, gold), gold)), read(answer or "")
    return wanted is not None and given is not None and agree(given, wanted)


def _all(pattern: re.Pattern[str], reply: str) -> Iterator[str]:
    """What a reply marks in one way, the last first."""
    return reversed(pattern.findall(reply))


def _boxed(reply: str) -> str:
    """What stands in the last `\\boxed{…}`, braces within braces included; empty where it is cut off.

    Half a number would be another number.
    """
    start = reply.rfind("\\boxed{")
    if start < 0:
        return ""
    depth, begin = 0, start + len("\\boxed")
    for at in range(begin, min(len(reply), begin + ANSWER_CHARS)):
        depth += (reply[at] == "{") - (reply[at] == "}")
        if depth == 0:
            return reply[begin + 1 : at]
    return ""
