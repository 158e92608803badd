"""Numbers, units and expressions as answers write them, in the one form in which they are compared.

`1,200`, `1200.0`, `$1,200`, `1.2k` and `1200 apples` are `1200`; `20%` is `20`, as the question asks for percent then;
`3/4` and `0.75` are one; `10^3` is `1000`, `√16` is `4`, and the exponent of a unit is no number; several numbers keep
their order, `3; 5`. Numbers are compared to four decimals, expressions by their values at a few points.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import pairwise

from insula.errors import InputError
from insula_solve.programs import evaluate_expression

ANSWER_CHARS = 200
"""Characters of an answer; what is longer is no answer but a text."""
DECIMALS = 4
LONGEST = 40
"""Digits of a number; more are kept as they were written."""
UNIT_WORDS = 4
"""Words beside a number that may name what is counted."""
POINTS = (Fraction(2), Fraction(5, 3), Fraction(-7, 2), Fraction(11))
"""At which expressions are compared."""
SCALES = {
    "k": 1_000,
    "m": 1_000_000,
    "b": 1_000_000_000,
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}
AMOUNT = re.compile(
    r"(?<![\w.^])(?P<sign>[-−]\s?)?(?P<currency>[$€£]\s?)?(?P<minus>[-−])?"
    r"(?:(?P<whole>\d{1,40})\s+(?=\d+\s*/\s*[1-9]))?"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d{1,2}(?!\w))?|\.\d+)"
    r"(?:\s*/\s*(?P<below>[1-9]\d{0,39})(?!\d|[\d.]*/))?"
    r"(?P<scale>\s*(?:[kK]\b|[MB]\b|(?:hundred|thousand|million|billion)\b))?",
)
BOLD = re.compile(r"(?<![\w)\s])\*\*|\*\*(?![\w(\s$£€-])|(?:(?<=\s)|^)\*\*(?=\S)|(?<=\S)\*\*(?=\s|$)", re.M)
MARKS, _BRACKETS = " \t*_`'\"“”,;:!?", "()[]{}<>"
"""What may stand around an answer; a period only behind it, as `.5` is half."""

_LATEX: Sequence[tuple[str, str]] = (
    (r"\\sqrt\s*\{([^{}]{1,80})\}", r"sqrt(\1)"),
    (r"\^\s*\{\s*(-?\d{1,3})\s*\}", r"^\1"),
    (r"\\[dt]?frac\s*(?:\{([^{}]{1,80})\}\s*\{([^{}]{1,80})\}|(\d)\s*(\d))", r"((\1\3)/(\2\4))"),
    (r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]{0,80})\}", r" \1 "),
    (r"\\(?:times|cdot)\b", "×"),
    (r"\\div\b", "÷"),
    (r"\\(?:approx|simeq)\b", "≈"),
    (r"\\pi\b", "π"),
    (r"\\(?:left|right)\b", ""),
    (r"\\([$%#&])", r"\1"),
    (r"\\(?:[,;!: ]|q?quad\b)|\{,\}", ""),
    (r"\\[()\[\]]|\$\$", "\n"),
)
_FORMULA = re.compile(
    r"(?<![\w.,^])(?:\d+(?:\.\d+)?\s*(?:[×*·x]\s*|(?=sqrt)))?"
    r"(?:\d+(?:\.\d+)?\^-?\d{1,2}(?![\d.])|sqrt\(\d+(?:\.\d+)?\))"
)
"""A power or a root with a number before it or without: `10^3`, `1.5 × 10^3`, `2√16`."""
_FRACTION = re.compile(r"\(\((-?\d+(?:\.\d+)?)\)/\((\d+)\)\)")
_EXPONENT = re.compile(r"(?<=\d)[²³]|(?<!\s)\s*\^\s*")
_ROOT = re.compile(r"√\s*(?:(\d+(?:\.\d+)?)|(?=\())")
_OPEN = re.compile(r"sqrt|\d\s?\^-?\d")
_VULGAR = {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3"}
_SIGNS = _VULGAR | {
    "²": "^2",
    "³": "^3",
    "−": "-",
    "×": "*",
    "·": "*",
    "⋅": "*",
    "÷": "/",
    "√": "sqrt",
    "{": "(",
    "}": ")",
}
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}\b")
_ARTICLE = re.compile(r"^(?:a|an|the)\s+", re.I)
_UNIT = re.compile(r"[\s*]*((?:°|[A-Za-z])[A-Za-z°]*(?:/[A-Za-z]+)?)(?![\w²³^/])")
_TOKEN = re.compile(r"sqrt|[a-zA-Z]|\d+(?:\.\d+)?|\*\*|\S")
"""A piece of an expression."""
_WORD = re.compile(r"(?<![A-Za-z])(?!sqrt)[A-Za-z]{3,}")
_SOLUTIONS = re.compile(r"\s*(?:;|,|\bor\b|\band\b|\by\b|\bo\b|\bet\b|\bou\b|\bund\b|\boder\b|\be\b)\s*(?=[a-z]\s*=)")
_STATED = re.compile(
    r"(?<![^\W_])[-(]*(?:\d+(?:\.\d+)?|[a-z])(?![^\W\d_]{2})[^\W_ ]*(?:\s?[-+*/^=()²³−×·√]+\s?[\w.()²³]+)+"
)


# Numbers and units


def strip_markup(text: str) -> str:
    """A text with the marks of LaTeX and Markdown written as arithmetic."""
    for pattern, replacement in _LATEX:
        text = re.sub(pattern, replacement, text)
    return BOLD.sub("", text)


def resolve_formulas(text: str) -> str:
    """A text in which fractions, powers and roots are amounts: `2 1/2`, `1000`, `4`."""
    text = _EXPONENT.sub(lambda match: {"²": "^2", "³": "^3"}.get(match[0], "^"), strip_markup(text))
    text = _FORMULA.sub(_compute_formula, _ROOT.sub(lambda match: f"sqrt({match[1]})" if match[1] else "sqrt", text))
    return _FRACTION.sub(r" \1/\2", text).translate(str.maketrans(_VULGAR))


def _compute_formula(formula: re.Match[str]) -> str:
    """What a power or a root comes to; as it was written where that is no fraction."""
    try:
        return write_number(evaluate_expression(re.sub(r"(?<=\d)\s*(?:[×·x]|(?=sqrt))", "*", formula[0])))
    except InputError:
        return formula[0]


def normalise_answer(text: str) -> str:
    """An answer in the one form in which answers are compared; empty where there is none."""
    text = " ".join(resolve_formulas(text).split())
    if "=" in text and any(character.isdigit() for character in text.rpartition("=")[2]):
        text = text.rpartition("=")[2]
    if _OPEN.search(text):  # a root that is no fraction is not the number under it
        return text.strip(MARKS + ".$") if len(text) <= ANSWER_CHARS else ""
    text = text.lstrip(MARKS + _BRACKETS).rstrip(MARKS + _BRACKETS + ".")
    if not text or len(text) > ANSWER_CHARS:
        return ""
    if _CLOCK.search(text):
        return text
    amounts = list(AMOUNT.finditer(text))
    if not amounts or any(len(match["number"]) > LONGEST for match in amounts):
        return _ARTICLE.sub("", text)
    return "; ".join(write_number(read_amount(match)) for match in amounts)


def parse_number(value: str) -> Fraction | None:
    """The number that a normalised answer is; None for words and for several numbers."""
    is_number = len(value) <= ANSWER_CHARS and re.fullmatch(r"-?\d+(\.\d+)?", value)
    return Fraction(value) if is_number else None


def read_amount(amount: re.Match[str]) -> Fraction:
    """The value of a match of `AMOUNT`."""
    value = Fraction(amount["number"].replace(",", ""))
    if amount["below"]:
        value = value / int(amount["below"]) + int(amount["whole"] or 0)
    scale = (amount["scale"] or "").strip().lower()
    if scale and (scale not in ("m", "b") or amount["currency"]):
        value *= SCALES[scale]
    return -value if amount["sign"] or amount["minus"] else value


def write_number(value: Fraction) -> str:
    """A number in the form in which answers are compared: decimal, to four places."""
    rounded = round(value, DECIMALS)
    digits = f"{abs(int(rounded * 10**DECIMALS)):0{DECIMALS + 1}d}"
    text = f"{digits[:-DECIMALS]}.{digits[-DECIMALS:]}".rstrip("0").rstrip(".")
    return f"-{text}" if rounded < 0 else text


@cache
def known_units() -> Mapping[str, tuple[str, Fraction]]:
    """Each unit with its measure, and what it is worth there."""
    measures = tomllib.loads(resources.files("insula_solve").joinpath("units.toml").read_text("utf-8"))
    return {unit: (name, Fraction(worth)) for name, known in measures.items() for unit, worth in known.items()}


def find_unit(text: str) -> str:
    """The unit behind the last number of a text; empty where there is none that is known."""
    digits = list(re.finditer(r"\d", text))
    unit = _UNIT.match(text, digits[-1].end()) if digits else None
    return unit[1] if unit and unit[1] in known_units() else ""


def compare_units(unit: str, other: str) -> Fraction | None:
    """How many of the other unit one is; None where they measure different things. No unit is that of the other."""
    if unit == other or not unit or not other:
        return Fraction(1)
    (measure, worth), (of, of_worth) = known_units()[unit], known_units()[other]
    return worth / of_worth if measure == of else None


def is_amount(text: str) -> bool:
    """Whether a text is numbers, with at most a unit or the name of what is counted."""
    left = AMOUNT.sub("", resolve_formulas(text))
    return left != resolve_formulas(text) and len(left.split()) <= UNIT_WORDS


# Expressions


def find_expression(text: str) -> str:
    """An expression as it can be computed; empty where it is none. Of `x = 5` it is the value, of several each."""
    parts = [_insert_signs(part.rpartition("=")[2]) for part in _SOLUTIONS.split(strip_markup(text).strip(" .\n$`*"))]
    return "; ".join(sorted(parts)) if all(map(_sample_values, parts)) else ""


def have_same_values(expression: str, other: str) -> bool:
    """Whether two answers have the same values, in whatever order."""
    values, others = (
        sorted(_sample_values(_insert_signs(part)) for part in text.split("; ")) for text in (expression, other)
    )
    return all(values) and values == others


def satisfies_equation(problem: str, answer: str) -> bool:
    """Whether an answer solves the one equation of a problem, or is the one expression in it in other words."""
    stated = [match[0].strip() for match in _STATED.finditer(strip_markup(problem))]
    if len(stated) != 1 or not answer:
        return False
    sides = [_insert_signs(side) for side in stated[0].split("=")]
    if len(sides) == 1:
        return sides[0].replace(" ", "") != answer and have_same_values(sides[0], answer)
    letters = _find_letters(stated[0])
    return len(letters) == 1 and all(_is_solution(sides, letters[0], value) for value in answer.split("; "))


def _is_solution(sides: Sequence[str], letter: str, value: str) -> bool:
    try:
        at = {letter: evaluate_expression(value)}
        values = [evaluate_expression(side, at) for side in sides]
    except InputError:
        return False
    return all(left == right for left, right in pairwise(values))


def _insert_signs(text: str) -> str:
    """A text with the signs that are left out between factors: `2x(a + b)` is `2*x*(a+b)`."""
    made, before = "", ""
    for piece in _TOKEN.findall(_WORD.sub("?", text.translate(str.maketrans(_SIGNS)))):
        ends = before == ")" or (before.isalnum() and before != "sqrt") or _is_digits(before)
        begins = piece == "(" or piece.isalnum() or _is_digits(piece)
        made += "*" * (ends and begins and not (_is_digits(before) and _is_digits(piece))) + piece
        before = piece
    return made


def _is_digits(piece: str) -> bool:
    return piece[:1].isdigit()


def _find_letters(expression: str) -> list[str]:
    return sorted(set(re.findall(r"(?<![A-Za-z])[a-zA-Z](?![A-Za-z])", expression.replace("sqrt", " "))))


def _sample_values(expression: str) -> tuple[Fraction, ...]:
    """The values of an expression at a few points, and of how many letters; none where it is none."""
    letters = _find_letters(expression)
    values: list[Fraction] = []
    for point in POINTS:
        try:
            values.append(
                evaluate_expression(expression, {letter: point + 7 * at for at, letter in enumerate(letters)})
            )
        except InputError:
            continue
    return (*values, Fraction(len(letters))) if values else ()
