"""Whether sums that stand in a response, or are asked of it, come out right: whole numbers and decimals alone."""

import re
from collections.abc import Iterator
from fractions import Fraction

from insula.turn.exchange import Exchange
from insula.types import Fault

MAX_CHARS = 4_000
TERSE = 6
"""Words of a response that gives the result of a sum and nothing else."""

_NUMBER = r"\d{1,9}(?:\.\d{1,6})?"
_SUM = rf"(?<![\w.,/*+=-])(?P<left>{_NUMBER})\s*(?P<operator>[-+*/×÷·−xX])\s*(?P<right>{_NUMBER})"
_EQUATION = re.compile(
    rf"(?<![-+*/×÷·−xX=(]\s)(?<![-+*/×÷·−xX=(]){_SUM}\s*(?:=|は)\s*(?P<result>-?{_NUMBER})(?![\w.,]*[\w%/])(?!\s*[-+*/×÷·−(])"
)
_ASKED = re.compile(rf"(?<![-+*/×÷·−xX(]\s)(?<![-+*/×÷·−xX(]){_SUM}(?![\w.,]*\w)(?!\s*[-+*/×÷·−^()\w])")
_PERCENT = re.compile(rf"(?P<left>{_NUMBER})\s?% (?:of|de|von|di|do) (?P<right>{_NUMBER})(?![\w.,]*\w)")
_RESULT = re.compile(rf"-?{_NUMBER}")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def check_sums(turn: Exchange) -> Iterator[Fault]:
    """A sum that comes out wrong."""
    said, asked = (_GROUPED.sub("", text[:MAX_CHARS]) for text in (turn.response, turn.asked.text))
    if "```" in said:
        return
    wrong = next((match for match in _EQUATION.finditer(said) if _is_wrong(match, match["result"])), None)
    if wrong is not None:
        yield Fault(flag="incorrect", about=wrong.group())
    elif (sums := [*_ASKED.finditer(asked), *_PERCENT.finditer(asked)]) and len(sums) == 1:
        results = _RESULT.findall(_PERCENT.sub(" ", _ASKED.sub(" ", said)))
        if len(results) == 1 and len(said.split()) <= TERSE + 2 and _is_wrong(sums[0], results[0]):
            yield Fault(flag="incorrect", about=sums[0].group(), certain=False)


def _is_wrong(match: re.Match[str], result: str) -> bool:
    """Whether a sum has another result; what does not come out even may be rounded."""
    value, said = _compute_sum(match), Fraction(result)
    if value is None or value.denominator == 1:
        return value is not None and value != said
    return abs(value - said) > Fraction(1, 10 ** len(result.partition(".")[2]))


def _compute_sum(match: re.Match[str]) -> Fraction | None:
    left, right = Fraction(match["left"]), Fraction(match["right"])
    match match.groupdict().get("operator", "%"):
        case "+":
            return left + right
        case "-" | "−":
            return left - right
        case "/" | "÷":
            return left / right if right else None
        case "%":
            return left * right / 100
        case _:
            return left * right
