"""A calculator for text that nobody trusts: expressions and straight-line assignments, exact, bounded, never executed.

Nothing here reaches Python's own evaluation: a text becomes tokens, tokens become fractions. Length, depth, exponents
and the size of numbers are capped before anything is matched, so that no text costs more than a few milliseconds.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from insula.errors import InputError

EXPRESSION_CHARS = 500
"""Characters of one expression; the longest in GSM8K's own solutions has 72."""
PROGRAM_LINES = 60
"""Lines of one program; the longest that a small model wrote for GSM8K had 25."""
DEPTH = 40
"""Parentheses within parentheses."""
EXPONENT = 64
"""The greatest exponent, in either direction."""
BITS = 512
"""Bits of a numerator or denominator, about 154 digits: nothing that is counted or paid comes near."""
ROUNDED_DECIMALS, ROUNDED_DIGITS = 2, 3
"""Decimals and digits from which a number may have been rounded before: 39.33 and 0.667, but not 0.5, 0.25 or 2.50."""
NOISE = Fraction(1, 10**9)
"""The share by which a result may be off because a program printed it: 0.30000000000000004."""

_NUMBER = re.compile(r"\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|\.\d+")
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER.pattern})"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9.]*)"
    r"|(?P<op>\*\*|//|[-+*/%^(),])"
    r"|(?P<blank>\s+)"
)
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w{0,63})\s*(\*\*|//|[-+*/%])?=(?!=)(.+)")
_TYPED = re.compile(r"^(\s*[A-Za-z_]\w*)\s*:\s*\w+\s*(?==)")
_RESULT = re.compile(r"\s*(?:return\s(.+)|print\((.+)\)$)")
_PASSED_OVER = re.compile(
    r"\s*(?:$|#|def \w+\(\)\s*(?:->\s*\w+\s*)?:|import math\b|from math import\b|[\"']{3}.*[\"']{3}\s*$)"
)
_ANSWERS = ("answer", "result")
"""Names that hold what a program was asked for, whatever is assigned after them."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a program."""

    values: Mapping[str, Fraction]
    """Each name with its last value."""
    answer: Fraction
    """What it returned or printed last, else `answer` or `result`, else what was assigned last."""


class Token(NamedTuple):
    """A number, a name, or a sign."""

    kind: Literal["number", "name", "op"]
    text: str
    value: Fraction = Fraction(0)
    percent: bool = False
    """Whether a number was followed by a percent sign; its value is divided by 100 already."""
    step: Fraction = Fraction(0)
    """What the last digit of a number is worth, where that is of interest."""


def evaluate(expression: str, names: Mapping[str, Fraction] | None = None) -> Fraction:
    """The exact value of an expression as Python would write it, with `^` as power.

    Args:
        expression: numbers, names, `+ - * / // % ** ^`, parentheses, and round, abs, int, float, min, max, sum of
            arguments, floor, ceil.
        names: what names stand for.

    Raises:
        InputError: it is no such expression, or too large to be computed.
    """
    return compute(_tokens(expression), names or {})


def compute(tokens: Sequence[Token], names: Mapping[str, Fraction]) -> Fraction:
    """The exact value of an expression in tokens.

    Raises:
        InputError: they are no expression, or it is too large to be computed.
    """
    return _Parser(tokens, names).whole()


def span(tokens: Sequence[Token]) -> tuple[Fraction, Fraction]:
    """The least and the greatest value of an expression, as some of its decimals may have been rounded before.

    Raises:
        InputError: the tokens are no expression, or it is too large to be computed.
    """
    low, high = (compute([_moved(token, share) for token in tokens], {}) for share in (-1, 1))
    return min(low, high), max(low, high)


def is_rounded(value: Fraction, written: Fraction, step: Fraction, loosely: bool) -> bool:
    """Whether a value was written down as it is, or with fewer digits than it has.

    Args:
        value: what it is.
        written: what was written.
        step: what the last digit of that is worth; 0 where it is no single number, and so not rounded.
        loosely: whether fewer digits were written than could have been: "≈".
    """
    difference = abs(value - written)
    if difference <= abs(value) * NOISE:
        return True
    return difference < step and (loosely or (value / step).denominator != 1)


def _moved(token: Token, share: int) -> Token:
    """A number that is half of its last digit higher or lower, if it may have been rounded."""
    decimals, digits = token.text.partition(".")[2], token.text.replace(".", "").strip("0")
    if len(decimals) < ROUNDED_DECIMALS or len(digits) < ROUNDED_DIGITS:
        return token
    return token._replace(value=token.value + share * token.step / 2)


def run(program: str) -> Ran:
    """Compute a straight-line program: assignments, comments, and at most a `def f():` with `return` around them.

    Raises:
        InputError: it holds anything else, a name that was not assigned, or nothing to compute.
    """
    lines = program.splitlines()
    if len(lines) > PROGRAM_LINES:
        raise InputError(f"The program has {len(lines)} lines and at most {PROGRAM_LINES} are computed; shorten it.")
    values: dict[str, Fraction] = {}
    last: Fraction | None = None
    said: Fraction | None = None
    for line in lines:
        code = _uncommented(line)
        if _PASSED_OVER.match(code):
            continue
        if len(code) > EXPRESSION_CHARS:
            raise InputError(f"A line has {len(code)} characters and at most {EXPRESSION_CHARS} are computed.")
        if result := _RESULT.match(code):
            said = _told(result[1] or result[2], values)
        else:
            last = _assign(code, values)
    named = next((values[name] for name in _ANSWERS if name in values), None)
    answer = said if said is not None else named if named is not None else last
    if answer is None:
        raise InputError("The program computes nothing; let it assign its result to `answer`.")
    return Ran(values, answer)


def _told(words: str, values: Mapping[str, Fraction]) -> Fraction | None:
    """The value that a program returns or prints, where that is one; a sentence is not."""
    try:
        return evaluate(words, values)
    except InputError:
        return None


def _assign(code: str, values: dict[str, Fraction]) -> Fraction:
    targets: list[str] = []
    rest = _TYPED.sub(r"\1", code)
    while found := _ASSIGNMENT.match(rest):
        name, sign, rest = found.groups()
        if sign and targets:
            break
        targets.append(name)
        if sign:
            rest = f"{name} {sign} ({rest})"
            break
    if not targets:
        raise InputError(f"The line {code.strip()[:80]!r} is no assignment; write one assignment a line, nothing else.")
    value = evaluate(rest, values)
    values.update(dict.fromkeys(targets, value))
    return value


def _uncommented(line: str) -> str:
    return line.split("#", 1)[0].rstrip().removesuffix(";").rstrip()


def _tokens(expression: str) -> list[Token]:
    if len(expression) > EXPRESSION_CHARS:
        raise InputError(
            f"The expression has {len(expression)} characters and at most {EXPRESSION_CHARS} are computed."
        )
    return list(_scan(expression))


def _scan(expression: str) -> Iterator[Token]:
    at = 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None:
            raise InputError(f"The expression {expression[:80]!r} holds {expression[at]!r}, which is no arithmetic.")
        at = found.end()
        match found.lastgroup:
            case "number":
                yield Token("number", found[0], number(found[0]))
            case "name":
                yield Token("name", found[0])
            case "op":
                yield Token("op", "**" if found[0] == "^" else found[0])
            case _:
                pass


def number(digits: str) -> Fraction:
    """The value of a number as Python writes it, without a sign.

    Raises:
        InputError: it is no such number, or not of a size that is computed with.
    """
    if len(digits) > EXPRESSION_CHARS or not _NUMBER.fullmatch(digits):
        raise InputError(f"{digits[:40]!r} is no number that can be computed with.")
    return bounded(Fraction(digits.replace("_", "")))


def bounded(value: Fraction) -> Fraction:
    """The value, if it is of a size that is computed with.

    Raises:
        InputError: it is not.
    """
    if value.numerator.bit_length() > BITS or value.denominator.bit_length() > BITS:
        raise InputError("A number in the expression is too large or too fine to be computed with.")
    return value


class _Parser:
    """Recursive descent over the tokens; each method returns the value of what it read."""

    def __init__(self, tokens: Sequence[Token], names: Mapping[str, Fraction]) -> None:
        self._tokens = tokens
        self._names = names
        self._at = 0
        self._depth = 0

    def whole(self) -> Fraction:
        value = self._sum()
        if self._at < len(self._tokens):
            raise self._unread()
        return value

    def _sum(self) -> Fraction:
        self._depth += 1
        if self._depth > DEPTH:
            raise InputError(f"The expression is nested more than {DEPTH} deep.")
        start = self._at
        value = self._product()
        while sign := self._take("+", "-"):
            left, right = self._is_percent(start), self._at
            term = self._product()
            if left != self._is_percent(right) and (value if not left else term) != 1:
                raise InputError("A percentage is added to a number, which can be meant in two ways.")
            value = bounded(value + term if sign == "+" else value - term)
        self._depth -= 1
        return value

    def _is_percent(self, start: int) -> bool:
        """Whether what was read since `start`, or what begins there, is a percentage and nothing else."""
        token = self._tokens[start] if start < len(self._tokens) else None
        after = self._tokens[start + 1] if start + 1 < len(self._tokens) else None
        return bool(token and token.percent and (after is None or after.text in ("+", "-", ")")))

    def _product(self) -> Fraction:
        value = self._signed()
        while sign := self._take("*", "/", "//", "%"):
            value = _multiplied(value, sign, self._signed())
        return value

    def _signed(self) -> Fraction:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        value = self._power()
        return -value if negative else value

    def _power(self) -> Fraction:
        value = self._atom()
        if not self._take("**"):
            return value
        self._depth += 1
        if self._depth > DEPTH:
            raise InputError(f"The expression is nested more than {DEPTH} deep.")
        exponent = self._signed()
        self._depth -= 1
        return _raised(value, exponent)

    def _atom(self) -> Fraction:
        if self._at >= len(self._tokens):
            raise InputError("The expression ends where a number was expected.")
        token = self._tokens[self._at]
        self._at += 1
        match token.kind, token.text:
            case "number", _:
                return token.value
            case "name", name:
                return self._named(name)
            case _, "(":
                value = self._sum()
                self._expect(")")
                return value
            case _:
                self._at -= 1
                raise self._unread()

    def _named(self, name: str) -> Fraction:
        if name in self._names:
            return self._names[name]
        function = _FUNCTIONS.get(name.removeprefix("math."))
        if function is None or not self._take("("):
            raise InputError(f"The expression uses {name[:40]!r}, which stands for no number.")
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._expect(")")
        return bounded(function(arguments))

    def _take(self, *signs: str) -> str:
        """The next sign, read, if it is one of these."""
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == "op" and token.text in signs:
                self._at += 1
                return token.text
        return ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise InputError(f"The expression lacks a {sign!r}.")

    def _unread(self) -> InputError:
        return InputError(f"The expression cannot be read at {self._tokens[self._at].text[:40]!r}.")


def _multiplied(value: Fraction, sign: str, other: Fraction) -> Fraction:
    if sign == "*":
        return bounded(value * other)
    if other == 0:
        raise InputError("The expression divides by zero.")
    if sign == "/":
        return bounded(value / other)
    return bounded(Fraction(value // other) if sign == "//" else value % other)


def _raised(value: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        return _root(value, exponent)
    if abs(exponent) > EXPONENT or (value == 0 and exponent < 0):
        raise InputError(f"The expression raises to the power {exponent}; at most {EXPONENT} is computed.")
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits * abs(exponent.numerator) > BITS + EXPONENT:
        raise InputError("A power in the expression is too large to be computed.")
    return bounded(Fraction(value**exponent.numerator))


def _root(value: Fraction, exponent: Fraction) -> Fraction:
    """A square root, where it is exact: no other root is needed to add up what things cost."""
    if exponent != Fraction(1, 2) or value < 0:
        raise InputError(f"The expression raises to the power {exponent}, which is not computed exactly.")
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root * root != value:
        raise InputError("A root in the expression is no fraction.")
    return root


def _rounded(arguments: Sequence[Fraction]) -> Fraction:
    value, *digits = arguments
    return Fraction(round(value, int(max(-20, min(20, digits[0]))))) if digits else Fraction(round(value))


def _total(arguments: Sequence[Fraction]) -> Fraction:
    return sum(arguments, Fraction(0))


_FUNCTIONS: Mapping[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "round": _rounded,
    "abs": lambda arguments: abs(arguments[0]),
    "int": lambda arguments: Fraction(math.trunc(arguments[0])),
    "float": lambda arguments: arguments[0],
    "floor": lambda arguments: Fraction(math.floor(arguments[0])),
    "ceil": lambda arguments: Fraction(math.ceil(arguments[0])),
    "sqrt": lambda arguments: _root(arguments[0], Fraction(1, 2)),
    "min": min,
    "max": max,
    "sum": _total,
}
