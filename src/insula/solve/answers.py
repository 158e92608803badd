"""From a reply to its answer, and from an answer to one form in which answers can be compared.

`1,200`, `1200.0`, `$1,200`, `1.2k` and `1200 apples` are one answer, `1200`; `20%` is `20`, as the question asks for
percent then; `3/4` and `0.75` are one; several numbers are kept in their order, `3; 5`; words are kept in lower case.
Numbers are compared to four decimals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from insula.solve.claims import plain

ANSWER_CHARS = 200
"""Characters of an answer; what is longer is no answer but a text."""
DECIMALS = 4
_LOOKED_AT = 20_000
_TAG = re.compile(r"<\s*answer\s*>(.*?)(?=<\s*/?\s*answer\s*>|\Z)", re.S | re.I)
_HASHES = re.compile(r"####\s*([^\n]+)")
_SAID = re.compile(
    r"(?:final answer|the answer|answer)\s*(?:is|:|=)+\s*(?:\*\*)?\s*(?:is\s+|:\s*)?(?:\*\*)?"
    r"([^\n]+?)(?:\.\s|\.?\s*$|\.?\n)",
    re.I | re.M,
)
_AMOUNT = re.compile(
    r"(?<![\w.])(?P<sign>[-−]\s?)?(?P<currency>[$€£]\s?)?(?P<minus>[-−])?"
    r"(?:(?P<whole>\d+)\s+(?=\d+\s*/\s*[1-9]))?"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d{1,2}(?!\w))?|\.\d+)"
    r"(?:\s*/\s*(?P<below>[1-9]\d*)(?![\d.]*/))?"
    r"(?P<scale>\s*(?:[kK]\b|[MB]\b|(?:hundred|thousand|million|billion)\b))?",
)
_FRACTION = re.compile(r"\(\((\d+)\)/\((\d+)\)\)")
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
    found = [match for match in _AMOUNT.finditer(plain(reply)) if len(match["number"]) <= _LONGEST]
    return Answer(written(_value(found[-1])), found[-1][0].strip(), marked=False) if found else None


def normalised(text: str) -> str:
    """An answer in the one form in which answers are compared; empty where there is none."""
    text = _FRACTION.sub(r"\1/\2", " ".join(plain(text.strip()).split())).translate(_VULGAR)
    if "=" in text and any(character.isdigit() for character in text.rpartition("=")[2]):
        text = text.rpartition("=")[2]
    text = text.strip(" \t*_`'\"“”.,;:!?()[]{}<>")
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
    return Fraction(value) if re.fullmatch(r"-?\d+(\.\d+)?", value) else None


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
    """What stands in the last `\\boxed{…}`, braces within braces included; cut off: what there is of it."""
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
