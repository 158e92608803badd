"""What kind of answer a problem wants, the answer in a reply, and whether two answers are the same.

Numbers are compared in one form and with their units: `5 km` is `5000 m`. Names keep their case and are compared
without it; of options the letter counts; expressions are the same where they have the same values. Code and prose are
not compared at all. An answer is what a reply marks as one, else what it says in few words, else a number that it
calculated: no number is taken from any other text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from insula.errors import InputError
from insula.text.analysis import analyse_text
from insula.text.questions import find_asks
from insula_solve.amounts import (
    AMOUNT,
    ANSWER_CHARS,
    BOLD,
    LONGEST,
    MARKS,
    compare_units,
    find_expression,
    find_unit,
    have_same_values,
    is_amount,
    normalise_answer,
    parse_number,
    read_amount,
    resolve_formulas,
    strip_markup,
    write_number,
)
from insula_solve.programs import find_program, run_program

Form = Literal["number", "choice", "name", "expression", "code", "text", "open"]
"""`open`: its reply will show it."""
ONCE: frozenset[Form] = frozenset({"code", "text"})
"""Kinds of answers that cannot be compared."""

READ_CHARS = 4_000
"""Characters of a problem that are read for what it asks: its end, where the question stands."""
REPLY_CHARS = 20_000
"""Characters of a reply that are looked through: its end."""
SHORT_CHARS = 160
"""Characters of a reply that says one thing; in a longer one a number, name or option that it does not mark is none."""

_OF_ASK: Mapping[str, Form] = {
    "number": "number",
    "yes_no": "choice",
    "code": "code",
    **dict.fromkeys(("choice", "person", "place", "name", "time"), "name"),
    **dict.fromkeys(("list", "how_to", "why"), "text"),
}
_OPTION = re.compile(
    r"(?:(?<=\n)|(?<=[\s,;(])|^)\(?([A-Ha-h]|[1-8])[).:](?!\d)\s*([^\n]+?)(?=[\s,;]*\(?\b(?:[A-Ha-h]|[1-8])[).:](?!\d)|\n|$)"
)
_LETTER = r"\d*[a-z](?![^\W_])"
_UNKNOWN = re.compile(
    rf"(?<![^\W\d_])(?<!\w-){_LETTER}\s?(?:[²³]|[-+*/^=]\s?(?:{_LETTER}|\d|\())|(?:\d|\))\s?[-+*/^=]\s?{_LETTER}|\d\([a-z]"
)
"""A letter that is computed with: `3x + 5`, `x²`, `2(a - b)`."""
_DIGITS = re.compile(r"\d[\d.,]*")
_SYMBOLS = re.compile(r"[\s\d.,+*/×÷^()=%−-]*\d[\s\d.,+*/×÷^()=%?−-]*")
_TAG = re.compile(r"<\s*answer\s*>(.*?)(?=<\s*(?:/\s*)?answer\s*>|\Z)", re.S | re.I)
_HASHES = re.compile(r"####\s*([^\n]+)")
_SAID = re.compile(
    r"(?:\b(?:answer|antwort|respuesta|réponse|resposta|risposta)|答案|答え)"
    r"\s*(?:is|est|es|ist|é|è|是|は|[:：=])+[\s*:]*(?:is\s[\s*:]*)?((?:[^\n.。]|\.(?=\S))+)",
    re.I,
)
"""What is said to be the answer, to the end of its sentence or line."""
_THOUGHT = re.compile(r"<\s*think(?:ing)?\s*>.*?(?:<\s*/\s*think(?:ing)?\s*>|(?=<\s*answer)|\Z)", re.S | re.I)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.S)
_BULLETS = re.compile(r"^\s*(?:\d{1,2}[.)]|Step \d+:?)\s", re.M)
_CALCULATION = re.compile(r"\d[^\n=]{0,40}[=≈]|[-+*/×÷]\s*[$€£]?\d[^\n]{0,40}[=≈]|=\s*[$€£]?\d")
_BOLD_RUN = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_WORDS = re.compile(r"[^\W_]{3,}|[^\x00-\x7f]")
_NAME = re.compile(r"\w+")
_LINKS = re.compile(r"\s(?:is|was|are|were|es|era|fue|est|était|ist|war|é|è|foi|fu)\s|是|は")
_ENDING = re.compile(r"(?:です|である|でした)?[.。\s]*$")
_FIRST_LETTER = re.compile(r"[\s*_(\[]*([A-Ha-h]|\d{1,2})(?:[)\].:,*_]|\s*$)")
_BRACKETED = re.compile(r"(?:\(|(?<![^\s*]))([A-H]|\d{1,2})\)|(?<=[\s*(])([A-H])(?=[.*\s]*$)")


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What a reply answers."""

    value: str
    """In one form: a number without its unit, the letter of an option, else its words."""
    raw: str
    """As it was written."""
    unit: str = ""
    """The unit of a measured number."""
    form: Form = "number"

    @property
    def number(self) -> Fraction | None:
        """Its value, where it is one number."""
        return parse_number(self.value)

    @property
    def shown(self) -> str:
        """What is told to a person."""
        return self.raw if self.form == "expression" else f"{self.value} {self.unit}".rstrip()


# What a problem wants


def form_of(problem: str) -> Form:
    """The kind of answer that a problem wants; `open` where its words do not say it."""
    text = problem[-READ_CHARS:]
    if len(find_options(text)) > 1:
        return "choice"
    if _SYMBOLS.fullmatch(text):
        return "number"
    kinds = [ask.kind for ask in find_asks(analyse_text(text))]
    if "```" in text or (kinds and "code" in kinds and kinds[-1] != "number"):
        return "code"
    if _UNKNOWN.search(text) and set(kinds) <= {"number", "request", "open", "name"}:
        return "expression"
    if kinds and kinds[-1] == "time" and len(_DIGITS.findall(text)) > 1:
        return "number"
    return _OF_ASK.get(kinds[-1], "open") if kinds else "open"


def find_options(problem: str) -> Mapping[str, str]:
    """The options that a problem offers, by their letters or numbers: at least two, in order, from the first."""
    options: dict[str, str] = {}
    for name, words in _OPTION.findall(problem):
        expected = chr(ord("A") + len(options)) if not options or next(iter(options)) == "A" else str(len(options) + 1)
        if name.upper() == expected or (not options and name == "1"):
            options[name.upper()] = words.strip(" \t*,;.")
    return options if len(options) > 1 else {}


# What a reply answers


def strip_thought(reply: str) -> str:
    """A reply without what it thought before; of a thought that was cut off nothing is left."""
    return _THOUGHT.sub("", reply).strip()


def find_answer(
    reply: str, *, truncated: bool = False, form: Form = "number", problem: str = ""
) -> ParsedAnswer | None:
    """The answer of a reply: the last that it marks as such, else what it says in few words or has calculated.

    Args:
        reply: in `<answer>` tags, `\\boxed{…}`, after `####`, after "the answer is", or none of them.
        truncated: whether it was cut off; then only an answer that it marks is one.
        problem: its words; the options of a choice, and what an answer in words does not repeat.
    """
    reply = strip_thought(reply)[-REPLY_CHARS:]
    for raw in (*_find_last(_TAG, reply), _find_boxed(reply), *_find_last(_HASHES, reply), *_find_last(_SAID, reply)):
        if answer := read_answer(raw, form, problem):
            return answer
    if truncated or not reply:
        return None
    bold = _BOLD_RUN.findall(reply)
    if len(bold) == 1 and form != "open" and (answer := read_answer(bold[0].rstrip(".:"), form, problem)):
        return answer
    match form:
        case "number":
            return _find_number(reply, problem)
        case "name":
            return _find_name(reply, problem)
        case "choice":
            return _find_choice(reply, problem)
        case "expression":
            return read_answer(reply.splitlines()[-1], form)
        case "open" if _is_calculated(reply, problem):
            return _find_number(reply, problem)
        case _:
            return None


def read_answer(text: str, form: Form = "number", problem: str = "") -> ParsedAnswer | None:
    """What is written as an answer, in the form in which answers of its kind are compared."""
    raw = text.strip()
    match form:
        case "choice":
            return _read_option(raw, problem)
        case "name":
            words = " ".join(strip_markup(raw).split()).strip(MARKS + ".")
            return ParsedAnswer(words, raw, form=form) if 0 < len(words) <= ANSWER_CHARS else None
        case "expression":
            value = find_expression(raw)
            return ParsedAnswer(value, raw, form=form) if value else None
        case "open" if not is_amount(raw):
            return read_answer(raw, "name", problem)
        case _:
            value = normalise_answer(raw)
            unit = find_unit(strip_markup(raw)) if parse_number(value) is not None else ""
            return ParsedAnswer(value, raw, unit=unit) if value else None


def _find_last(pattern: re.Pattern[str], reply: str) -> Iterator[str]:
    """What a reply marks in one way, the last first."""
    return reversed(pattern.findall(reply))


def _find_boxed(reply: str) -> str:
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


def _is_calculated(reply: str, problem: str) -> bool:
    """Whether a reply is an amount, or calculates with the numbers of a question."""
    asks_for_one = len(_DIGITS.findall(problem)) > 1 and problem.rstrip().endswith(("?", "？"))
    return (is_amount(reply) and "\n" not in reply) or (asks_for_one and bool(_CALCULATION.search(strip_markup(reply))))


def _find_number(reply: str, problem: str) -> ParsedAnswer | None:
    """The one number that a short reply says and its problem does not, else the last of a reply that calculates."""
    text = resolve_formulas(_FENCED.sub("\n", _BULLETS.sub("", reply)))
    amounts = [match for match in AMOUNT.finditer(text) if len(match["number"]) <= LONGEST]
    given = {
        read_amount(match) for match in AMOUNT.finditer(resolve_formulas(problem)) if len(match["number"]) <= LONGEST
    }
    values = {read_amount(match) for match in amounts}
    new = values - given or values
    if len(text) <= SHORT_CHARS and len(new) == 1:
        amounts = [match for match in amounts if read_amount(match) in new]
    elif not _CALCULATION.search(text):
        return None
    if not amounts:
        return None
    raw, begin = amounts[-1][0].strip(), amounts[-1].end()
    return ParsedAnswer(
        write_number(read_amount(amounts[-1])), raw, unit=find_unit(raw + text[begin : begin + ANSWER_CHARS])
    )


def _find_name(reply: str, problem: str) -> ParsedAnswer | None:
    """What a sentence says, and not what the question said: "Paris" of "The capital of France is Paris."."""
    if len(reply) > SHORT_CHARS or "\n" in reply or reply.rstrip().endswith(("?", "？")):
        return None
    text = BOLD.sub("", reply).strip()
    asked = set(_WORDS.findall(problem.casefold()))
    for link in reversed(list(_LINKS.finditer(text))):
        for side in (text[link.end() :], text[: link.start()]):
            words = _WORDS.findall(side.casefold())
            if words and not asked.intersection(words) and (answer := read_answer(_ENDING.sub("", side), "name")):
                return answer
    return read_answer(text, "name")


def _find_choice(reply: str, problem: str) -> ParsedAnswer | None:
    if not find_options(problem):  # yes or no: the first word, and what stands alone
        first = re.split(r"[\s,.;:!。，、！—–-]", BOLD.sub("", reply).lstrip("*_ "), maxsplit=1)[0]
        return ParsedAnswer(first, first, form="choice") if first and len(reply) <= SHORT_CHARS else None
    first = _FIRST_LETTER.match(reply)
    text = first[0] if first else reply
    return _read_option(text, problem) if len(text) <= SHORT_CHARS else None


def _read_option(text: str, problem: str) -> ParsedAnswer | None:
    """The option that a text names by its letter or number, or by its words."""
    known = find_options(problem)
    if not known:
        return ParsedAnswer(text.strip(MARKS + "."), text, form="choice") if 0 < len(text) <= SHORT_CHARS else None
    words = strip_markup(text)
    if (letter := _FIRST_LETTER.match(words)) and (name := letter[1].upper()) in known:
        return ParsedAnswer(name, text, form="choice")
    lettered = {match[1] for match in _BRACKETED.finditer(words) if match[1] in known}
    worded = {
        name
        for name, option in known.items()
        if re.search(rf"(?<!\w){re.escape(option.casefold())}(?!\w)", words.casefold())
    }
    named = lettered or worded
    return ParsedAnswer(named.pop(), text, form="choice") if len(named) == 1 else None


def answer_with_number(value: Fraction) -> ParsedAnswer:
    """A computed answer."""
    return ParsedAnswer(write_number(value), write_number(value))


def compute_program(program: str) -> ParsedAnswer | None:
    """What a program comes to; None where it is none that can be computed."""
    try:
        return answer_with_number(run_program(program))
    except InputError:
        return None


def compute_program_in(reply: str) -> ParsedAnswer | None:
    """What the program that is fenced in a reply comes to, whatever the reply says that it prints; None without one."""
    return compute_program(find_program(reply)) if "```" in reply else None


# Whether answers are the same


def is_same_answer(answer: ParsedAnswer, other: ParsedAnswer) -> bool:
    """Whether two answers are the same; a number without a unit is in that of the other."""
    scale = compare_units(answer.unit, other.unit)
    if answer.number is not None and other.number is not None:
        return scale is not None and (
            answer.value == other.value if scale == 1 else answer.number * scale == other.number
        )
    if "expression" in (answer.form, other.form):
        return answer.value == other.value or have_same_values(answer.value, other.value)
    value, another = answer.value.casefold(), other.value.casefold()
    if value == another or "name" not in (answer.form, other.form):
        return value == another
    words, others = (f" {' '.join(_NAME.findall(each))} " for each in (value, another))
    return bool(words.strip() and others.strip()) and (words in others or others in words)


def is_correct(answer: str | None, gold: str) -> bool:
    """Whether an answer is the one that was wanted.

    Args:
        answer: as a solution gives it; None for none.
        gold: as a data set has it: a number, words, or a solution that ends in `#### 72`.
    """
    wanted, given = read_answer(next(_find_last(_HASHES, gold), gold)), read_answer(answer or "")
    return wanted is not None and given is not None and is_same_answer(given, wanted)
