"""The arithmetic that a reasoning claims ("3 * $4 = $12"), recomputed.

An equation is read where numbers, signs and parentheses alone stand to its left, from a border to the sign, and a
number to its right. It counts as wrong only where neither rounding nor another unit can be why its sides differ.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from insula.errors import InputError
from insula_solve.amounts import SCALES, strip_markup, write_number
from insula_solve.programs import check_size, evaluate_expression

REASONING_CHARS = 20_000
"""Characters of a reasoning that are looked through; ten times what a model writes in 800 tokens."""
CLAIMS = 200
"""Claims of a reasoning that are recomputed."""
SIDE_CHARS = 200
"""Characters of one side of an equation."""
ROUNDED_DECIMALS, ROUNDED_DIGITS = 2, 3
"""Decimals and digits from which a number may have been rounded before: 39.33 and 0.667, but not 0.5, 0.25 or 2.50."""
NOISE = Fraction(1, 10**9)
"""The share by which a result may be off because a program printed it: 0.30000000000000004."""

_NUMBER = r"(?:[$€£][ ]?)?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[ ]?%)?"
_OPENED, _CLOSED = r"(?:\([ ]*)*", r"(?:[ ]*\))*"
_OPERAND = rf"{_OPENED}[-−]?{_NUMBER}{_CLOSED}"
_SIDE = re.compile(rf"{_OPERAND}(?:[ ]*(?:\*\*|[-+*/×÷·⋅−–^])[ ]*{_OPERAND})*")
_DIGITS = re.compile(_NUMBER)
_EQUAL = re.compile(r"[=≈]")
_TIMES = re.compile(r"(?<=[\d)])([ ]*)[xX]([ ]*)(?=[\d($€£])")
_PERCENT_OF = re.compile(r"(?<=\d)\s?%\s(?:of|von|de|di|do)\s(?=[$€£]?\d)")
"""A percentage of a number, in the languages with blanks: 12 % of 250."""
_SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "\xa0": " "})
_BEGINS = re.compile(r"(?:^|[\n(\[{|\"“=≈>]|[.,:;!?)\]—→][ ]+|(?:^|\n)[ ]*(?:[-*•]|\d{1,2}[.)])[ ]+)[ ]*$")
"""What stands before an equation: a border, or the mark of an item of a list."""
_ENDS = re.compile(r"[ ]*(?P<unit>[^\W\d_]{2,}\b)?[ ]*(?:$|\n|(?<=[ ])(?=\\boxed)|(?P<end>[.,;:)\]}\"”|=≈—→](?!\d)))")
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?:\.\d{3})+(?!\d)")
"""A thousand, as half of the languages write it, or a number with three decimals."""


_DATE = re.compile(r"\d/\d{1,2}/\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class EquationClaim:
    """One equation of a reasoning."""

    text: str
    """As it was written."""
    left: str
    """What is computed."""
    computed: Fraction
    stated: Fraction
    holds: bool

    def with_operands(self, changed: Mapping[Fraction, Fraction]) -> Fraction | None:
        """The value with some operands replaced; None if that cannot be computed."""
        try:
            return _compute_side(self.left, lambda digits: changed.get(_parse_number(digits), _parse_number(digits)))
        except InputError:
            return None


def find_claims(reasoning: str) -> tuple[EquationClaim, ...]:
    """The equations in a reasoning that can be recomputed, in order."""
    if len(reasoning) > REASONING_CHARS:  # the line in which it is cut off may end within a number
        reasoning = reasoning[:REASONING_CHARS].rpartition("\n")[0]
    text = _normalise_signs(reasoning)
    made = (_read_claim(text, sign) for sign in _EQUAL.finditer(text))
    return tuple(islice((claim for claim in made if claim is not None), CLAIMS))


def correct_answer(reasoning: Sequence[EquationClaim], answer: Fraction) -> Fraction:
    """The answer that the reasoning comes to when its wrong results are put right and carried forward."""
    changed: dict[Fraction, Fraction] = {}
    for claim in reasoning:
        value = claim.with_operands(changed) if changed else claim.computed
        if value is not None and (not claim.holds or value != claim.computed) and value != claim.stated:
            changed[claim.stated] = value
    return changed.get(answer, answer)


def compute_stated_value(problem: str) -> Fraction | None:
    """What the one expression in a problem comes to, where no number stands outside it: "What is 17 * 23?"."""
    text = _normalise_signs(_PERCENT_OF.sub("% * ", problem))
    sides = [match[0] for match in _SIDE.finditer(text) if _is_computed(match[0])]
    if len(sides) != 1 or _DIGITS.search(text.replace(sides[0], "", 1)):
        return None
    try:
        return _compute_side(sides[0])
    except InputError:
        return None


def _normalise_signs(text: str) -> str:
    return _TIMES.sub(r"\1*\2", strip_markup(text).translate(_SIGNS))


def _read_claim(text: str, sign: re.Match[str]) -> EquationClaim | None:
    begin = max(0, sign.start() - SIDE_CHARS)
    left = _left_side(text, begin, sign.start())
    right = _SIDE.match(text, sign.end() + (text[sign.end() : sign.end() + 1] == " "))
    if left is None or right is None or not _is_computed(left) or not (end := _ENDS.match(text, right.end())):
        return None
    first = _DIGITS.search(right[0])
    loosely = sign[0] == "≈"
    try:
        computed = _compute_side(left)
        sides = (right[0], first[0] if first else right[0])  # "3 * 4 = 12 + 2 = 14" goes on from the number
        stated = [_compute_side(side) for side in sides]
        agreeing = [
            at for at, side in enumerate(sides) if _sides_agree(left, computed, side, stated[at], loosely=loosely)
        ]
    except InputError:
        return None
    is_cut_off = right.end() == len(text) and write_number(abs(computed)).startswith(
        write_number(abs(stated[0]))
    )  # 12 for 1200
    if not agreeing and (loosely or is_cut_off or _is_doubtful(left, right[0], computed, stated[0], end)):
        return None
    side = agreeing[0] if agreeing else 0
    equation = f"{left} {sign[0]} {sides[side]}"
    return EquationClaim(text=equation, left=left, computed=computed, stated=stated[side], holds=bool(agreeing))


def _left_side(text: str, begin: int, end: int) -> str | None:
    """The side to the left of a sign, where it begins at a border; of several beginnings the first."""
    cut = text.rfind("\n", begin, end) + 1 or begin
    for left in _find_sides(text, cut, end):
        if left.end() == len(text[:end].rstrip(" ")):
            return left[0] if _BEGINS.search(text, max(0, left.start() - 8), left.start()) else None
    return None


def _find_sides(text: str, begin: int, end: int) -> Iterator[re.Match[str]]:
    at = begin
    while (match := _SIDE.search(text, at, end)) is not None:
        yield match
        at = match.end()


def _is_computed(side: str) -> bool:
    """Whether there is a sign between two numbers, and not a percentage that is added or taken away."""
    signs = _DIGITS.sub("", side).strip(" ()")
    return bool(re.search(r"[-+*/^]", signs)) and not ("%" in side and re.search(r"[-+]", signs))


def _parse_number(digits: str) -> Fraction:
    value = Fraction(digits.strip("$€£ %").replace(",", ""))
    return check_size(value / 100 if digits.endswith("%") else value)


def _compute_side(side: str, of: Callable[[str], Fraction] = _parse_number) -> Fraction:
    return evaluate_expression(_DIGITS.sub(lambda match: f"({of(match[0])})", side))


def _moved_number(share: int) -> Callable[[str], Fraction]:
    """A number that is half of its last digit higher or lower, if it may have been rounded."""

    def move_number(digits: str) -> Fraction:
        decimals = digits.strip("% ").partition(".")[2]
        few = len(decimals) < ROUNDED_DECIMALS or len(re.sub(r"\D", "", digits).strip("0")) < ROUNDED_DIGITS
        return _parse_number(digits) + (0 if few else share * _last_digit(digits) / 2)

    return move_number


def _last_digit(side: str) -> Fraction:
    """What the last digit of a number is worth; 0 of more than one."""
    if len(_DIGITS.findall(side)) != 1:
        return Fraction(0)
    worth = Fraction(1, 10 ** len(side.strip("% ()").partition(".")[2]))
    return worth / 100 if "%" in side else worth


def _sides_agree(left: str, computed: Fraction, right: str, stated: Fraction, *, loosely: bool) -> bool:
    """Whether two sides say the same, by what is known of percent and rounding.

    "6 - 9 = 3" does: who writes so means the difference, and goes on with it.
    """
    factors = (1, 100, Fraction(1, 100)) if "%" in left + right else (1,)
    if computed == -stated or any(_is_rounded(computed * of, stated, _last_digit(right), loosely) for of in factors):
        return True
    least, most = sorted(_compute_side(left, _moved_number(share)) for share in (-1, 1))
    lowest, highest = sorted(_compute_side(right, _moved_number(share)) for share in (-1, 1))
    return least <= highest and lowest <= most


def _is_rounded(value: Fraction, stated: Fraction, step: Fraction, loosely: bool) -> bool:
    """Whether a value was written down as it is, or with fewer digits than it has."""
    difference = abs(value - stated)
    if difference <= abs(value) * NOISE:
        return True
    return difference < step and (loosely or (value / step).denominator != 1)


def _is_doubtful(left: str, right: str, computed: Fraction, stated: Fraction, end: re.Match[str]) -> bool:
    """Whether a unit, or a thousand written with a point, can be why two sides differ."""
    if any(_GROUPED.search(side) for side in (left, right)) or _DATE.search(left):
        return True
    if (end["unit"] or "").lower() in SCALES:
        return True
    ratio = abs(computed / stated) if stated and computed else Fraction(0)
    return bool(end["unit"]) and 1 in (ratio.numerator, ratio.denominator)
