"""From a reply to its answer, and from an answer to one form in which answers can be compared.

`1,200`, `1200.0`, `$1,200`, `1.2k` and `1200 apples` are one answer, `1200`; `20%` is `20`, as the question asks for
percent then; `3/4` and `0.75` are one; `10^3` is `1000`, `√16` is `4`, and the exponent of a unit is no number; several
numbers are kept in their order, `3; 5`; words are kept in lower case. Numbers are compared to four decimals.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from insula.errors import InputError
from insula.solve.arithmetic import evaluate

ANSWER_CHARS = 200
"""Characters of an answer; what is longer is no answer but a text."""
DECIMALS = 4
_LOOKED_AT = 20_000
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
_BOLD = re.compile(r"(?<![\w)\s])\*\*|\*\*(?![\w(\s$£€-])|(?:(?<=\s)|^)\*\*(?=\S)|(?<=\S)\*\*(?=\s|$)", re.M)
_TAG = re.compile(r"<\s*answer\s*>(.*?)(?=<\s*(?:/\s*)?answer\s*>|\Z)", re.S | re.I)
_HASHES = re.compile(r"####\s*([^\n]+)")
_SAID = re.compile(r"answer\s*(?:is|[:=])+[\s*:]*(?:is\s[\s*:]*)?((?:[^\n.]|\.(?=\S))+)", re.I)
"""What is said to be the answer, to the end of its sentence or line."""
_AMOUNT = re.compile(
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
_MARKS, _BRACKETS = " \t*_`'\"“”,;:!?", "()[]{}<>"
"""What may stand around an answer; a period only behind it, as `.5` is half."""
_VULGAR = str.maketrans({"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3"})
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}\b")
_SCALES = {
    "k": 1_000,
    "m": 1_000_000,
    "b": 1_000_000_000,
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}
_ARTICLE = re.compile(r"^(?:a|an|the)\s+", re.I)
_LONGEST = 40
"""Digits of a number; more are kept as they were written."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply answers."""

    value: str
    """In the one form in which answers are compared."""
    raw: str
    """As it was written."""
    marked: bool = True
    """Whether the reply said that this is its answer; else it is the last number in it."""

    @property
    def number(self) -> Fraction | None:
        """Its value, where it is one number."""
        return as_number(self.value)


def extract(reply: str, *, truncated: bool = False) -> Answer | None:
    """The answer of a reply: the last that it marks as such, else its last number.

    Args:
        reply: in `<answer>` tags, `\\boxed{…}`, after `####`, after "the answer is", or none of them.
        truncated: whether it was cut off; the last number in it is no answer then.
    """
    reply = reply[-_LOOKED_AT:]
    for raw in (*_all(_TAG, reply), _boxed(reply), *_all(_HASHES, reply), *_all(_SAID, reply)):
        if value := normalised(raw):
            return Answer(value, raw.strip())
    if truncated:
        return None
    found = [match for match in _AMOUNT.finditer(_legible(reply)) if len(match["number"]) <= _LONGEST]
    return Answer(written(_value(found[-1])), found[-1][0].strip(), marked=False) if found else None


def plain(text: str) -> str:
    """A text with the marks of LaTeX and Markdown written as arithmetic."""
    for pattern, replacement in _LATEX:
        text = re.sub(pattern, replacement, text)
    return _BOLD.sub("", text)


def _legible(text: str) -> str:
    """A text in which fractions, powers and roots are amounts: `2 1/2`, `1000`, `4`."""
    text = _EXPONENT.sub(lambda found: {"²": "^2", "³": "^3"}.get(found[0], "^"), plain(text))
    text = _FORMULA.sub(_computed, _ROOT.sub(lambda found: f"sqrt({found[1]})" if found[1] else "sqrt", text))
    return _FRACTION.sub(r" \1/\2", text).translate(_VULGAR)


def _computed(formula: re.Match[str]) -> str:
    """What a power or a root comes to; as it was written where that is no fraction."""
    try:
        return written(evaluate(re.sub(r"(?<=\d)\s*(?:[×·x]|(?=sqrt))", "*", formula[0])))
    except InputError:
        return formula[0]


def normalised(text: str) -> str:
    """An answer in the one form in which answers are compared; empty where there is none."""
    text = " ".join(_legible(text).split())
    if "=" in text and any(character.isdigit() for character in text.rpartition("=")[2]):
        text = text.rpartition("=")[2]
    if _OPEN.search(text):  # a root that is no fraction is not the number under it
        return text.strip(_MARKS + ".$").casefold() if len(text) <= ANSWER_CHARS else ""
    text = text.lstrip(_MARKS + _BRACKETS).rstrip(_MARKS + _BRACKETS + ".")
    if not text or len(text) > ANSWER_CHARS:
        return ""
    if _CLOCK.search(text):
        return text.casefold()
    amounts = list(_AMOUNT.finditer(text))
    if not amounts or any(len(match["number"]) > _LONGEST for match in amounts):
        return _ARTICLE.sub("", text).casefold()
    return "; ".join(written(_value(match)) for match in amounts)


def as_number(value: str) -> Fraction | None:
    """The number that a normalised answer is; None for words and for several numbers."""
    is_number = len(value) <= ANSWER_CHARS and re.fullmatch(r"-?\d+(\.\d+)?", value)
    return Fraction(value) if is_number else None


def of_number(value: Fraction) -> Answer:
    """A computed answer."""
    return Answer(written(value), written(value))


def is_correct(answer: str | None, gold: str) -> bool:
    """Whether an answer is the one that was wanted.

    Args:
        answer: normalised; None for none.
        gold: as a data set has it: a number, or a solution that ends in `#### 72`.
    """
    wanted = next(_all(_HASHES, gold), gold)
    return answer is not None and answer == normalised(wanted)


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


def _value(amount: re.Match[str]) -> Fraction:
    value = Fraction(amount["number"].replace(",", ""))
    if amount["below"]:
        value = value / int(amount["below"]) + int(amount["whole"] or 0)
    scale = (amount["scale"] or "").strip().lower()
    if scale and (scale not in ("m", "b") or amount["currency"]):
        value *= _SCALES[scale]
    return -value if amount["sign"] or amount["minus"] else value


def written(value: Fraction) -> str:
    """A number in the form in which answers are compared: decimal, to four places."""
    rounded = round(value, DECIMALS)
    digits = f"{abs(int(rounded * 10**DECIMALS)):0{DECIMALS + 1}d}"
    text = f"{digits[:-DECIMALS]}.{digits[-DECIMALS:]}".rstrip("0").rstrip(".")
    return f"-{text}" if rounded < 0 else text
