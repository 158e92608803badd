"""Numbers as answers write them, in one form: `1,200`, `1200.0`, `$1,200`, `1.2k` and `1200 apples` are `1200`.

`20%` is `20`, as the question asks for percent then; `3/4` and `0.75` are one; `10^3` is `1000`, `√16` is `4`, and the
exponent of a unit is no number; several numbers keep their order, `3; 5`. Numbers are compared to four decimals.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from insula.errors import InputError
from insula.solve.arithmetic import evaluate

ANSWER_CHARS = 200

"""Characters of an answer; what is longer is no answer but a text."""

DECIMALS = 4

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

BOLD = re.compile(r"(?<![\w)\s])\*\*|\*\*(?![\w(\s$£€-])|(?:(?<=\s)|^)\*\*(?=\S)|(?<=\S)\*\*(?=\s|$)", re.M)

AMOUNT = re.compile(
    r"(?<![\w.^])(?P<sign>[-−]\s?)?(?P<currency>[$€£]\s?)?(?P<minus>[-−])?"
    r"(?:(?P<whole>\d{1,40})\s+(?=\d+\s*/\s*[1-9]))?"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d{1,2}(?!\w))?|\.\d+)"
    r"(?:\s*/\s*(?P<below>[1-9]\d{0,39})(?!\d|[\d.]*/))?"
    r"(?P<scale>\s*(?:[kK]\b|[MB]\b|(?:hundred|thousand|million|billion)\b))?",
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

MARKS, _BRACKETS = " \t*_`'\"“”,;:!?", "()[]{}<>"

"""What may stand around an answer; a period only behind it, as `.5` is half."""

VULGAR = str.maketrans({"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3"})

_CLOCK = re.compile(r"\b\d{1,2}:\d{2}\b")

SCALES = {
    "k": 1_000,
    "m": 1_000_000,
    "b": 1_000_000_000,
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}

_ARTICLE = re.compile(r"^(?:a|an|the)\s+", re.I)

UNIT_WORDS = 4

"""Words beside a number that may name what is counted."""

_METRES = {"mm": "1/1000", "cm": "1/100", "m": "1", "km": "1000", "metres": "1", "meters": "1", "kilometres": "1000"}

_SECONDS = {"s": "1", "seconds": "1", "min": "60", "minutes": "60", "h": "3600", "hours": "3600", "hour": "3600"}

_GRAMS, _LITRES = {"mg": "1/1000", "g": "1", "kg": "1000", "t": "1000000"}, {"ml": "1/1000", "cl": "1/100", "l": "1"}

UNITS: Mapping[str, tuple[str, Fraction]] = {
    name: (measure, Fraction(worth))
    for measure, units in (
        *(("length", _METRES | {"centimeters": "1/100", "kilometers": "1000"}), ("time", _SECONDS | {"minute": "60"})),
        *(("weight", _GRAMS), ("volume", _LITRES | {"L": "1", "mL": "1/1000"})),
    )
    for name, worth in units.items()
}

"""Units that are converted into each other: their measure, and what each is worth."""

LONGEST = 40

"""Digits of a number; more are kept as they were written."""


def unit_of(text: str) -> str:
    found = re.search(r"\d[\s*]*([A-Za-z°]+)(?:[\s*.²³]*|\^.*)$", plain(text))
    unit = found[1] if found else ""
    if found and re.search(r"[²³^]", found[0]):
        return ""
    return unit if unit in UNITS else ""


def is_amount(text: str) -> bool:
    """Whether a text is numbers, with at most a unit or the name of what is counted."""
    left = AMOUNT.sub("", legible(text))
    return left != legible(text) and len(left.split()) <= UNIT_WORDS


def plain(text: str) -> str:
    """A text with the marks of LaTeX and Markdown written as arithmetic."""
    for pattern, replacement in _LATEX:
        text = re.sub(pattern, replacement, text)
    return BOLD.sub("", text)


def legible(text: str) -> str:
    """A text in which fractions, powers and roots are amounts: `2 1/2`, `1000`, `4`."""
    text = _EXPONENT.sub(lambda found: {"²": "^2", "³": "^3"}.get(found[0], "^"), plain(text))
    text = _FORMULA.sub(_computed, _ROOT.sub(lambda found: f"sqrt({found[1]})" if found[1] else "sqrt", text))
    return _FRACTION.sub(r" \1/\2", text).translate(VULGAR)


def _computed(formula: re.Match[str]) -> str:
    """What a power or a root comes to; as it was written where that is no fraction."""
    try:
        return written(evaluate(re.sub(r"(?<=\d)\s*(?:[×·x]|(?=sqrt))", "*", formula[0])))
    except InputError:
        return formula[0]


def normalised(text: str) -> str:
    """An answer in the one form in which answers are compared; empty where there is none."""
    text = " ".join(legible(text).split())
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
    return "; ".join(written(value_of(match)) for match in amounts)


def as_number(value: str) -> Fraction | None:
    """The number that a normalised answer is; None for words and for several numbers."""
    is_number = len(value) <= ANSWER_CHARS and re.fullmatch(r"-?\d+(\.\d+)?", value)
    return Fraction(value) if is_number else None


def value_of(amount: re.Match[str]) -> Fraction:
    value = Fraction(amount["number"].replace(",", ""))
    if amount["below"]:
        value = value / int(amount["below"]) + int(amount["whole"] or 0)
    scale = (amount["scale"] or "").strip().lower()
    if scale and (scale not in ("m", "b") or amount["currency"]):
        value *= SCALES[scale]
    return -value if amount["sign"] or amount["minus"] else value


def written(value: Fraction) -> str:
    """A number in the form in which answers are compared: decimal, to four places."""
    rounded = round(value, DECIMALS)
    digits = f"{abs(int(rounded * 10**DECIMALS)):0{DECIMALS + 1}d}"
    text = f"{digits[:-DECIMALS]}.{digits[-DECIMALS:]}".rstrip("0").rstrip(".")
    return f"-{text}" if rounded < 0 else text
