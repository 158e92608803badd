"""A calculator for text that nobody trusts: expressions and straight-line assignments, exact, bounded, never executed.

Python's parser reads the text; what it read is walked node by node and computed in fractions. Any node that is no
arithmetic ends it. Length, exponents and the size of numbers are capped, so that no text costs more than milliseconds.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from insula.errors import InputError

EXPRESSION_CHARS = 500
"""Characters of one line; the longest expression in GSM8K's own solutions has 72."""
PROGRAM_LINES = 60
"""Lines of one program; the longest that a small model wrote for GSM8K had 25."""
EXPONENT = 64
"""The greatest exponent, in either direction."""
BITS = 512
"""Bits of a numerator or denominator, about 154 digits: nothing that is counted or paid comes near."""

_HEAD = re.compile(r"(?:async )?def \w+\(\)\s*(?:->\s*\w+\s*)?:")
_ANSWERS = ("answer", "result")
"""Names that hold what a program was asked for, whatever is assigned after them."""


def evaluate(expression: str, names: Mapping[str, Fraction] | None = None) -> Fraction:
    """The exact value of an expression as Python would write it, with `^` as power.

    Args:
        expression: numbers, names, `+ - * / // % ** ^`, parentheses, and the functions of `_FUNCTIONS`.
        names: what names stand for.

    Raises:
        InputError: it is no such expression, or too large to be computed.
    """
    body = _parsed([expression.strip()])
    if len(body) != 1 or not isinstance(statement := body[0], ast.Expr):
        raise InputError(f"{expression[:80]!r} is no expression that can be computed.")
    return _value(statement.value, names or {})


def run(program: str) -> Fraction:
    """Compute a straight-line program: assignments, comments, and at most a `def f():` with `return` around them.

    Returns:
        What it returned or printed last, else `answer` or `result`, else what was assigned last.

    Raises:
        InputError: it holds anything else, a name that was not assigned, or nothing to compute.
    """
    lines = [line.strip() for line in program.splitlines()]
    if len(lines) > PROGRAM_LINES:
        raise InputError(f"The program has {len(lines)} lines and at most {PROGRAM_LINES} are computed; shorten it.")
    values: dict[str, Fraction] = {}
    last: Fraction | None = None
    said: Fraction | None = None
    for statement in _parsed([line for line in lines if not _HEAD.fullmatch(line)]):
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Return(value=ast.expr() as shown):
                said = _printed(shown, values)
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[shown], keywords=[])):
                said = _printed(shown, values)
            case _:
                last = _assign(statement, values)
    named = next((values[name] for name in _ANSWERS if name in values), None)
    answer = said if said is not None else named if named is not None else last
    if answer is None:
        raise InputError("The program computes nothing; let it assign its result to `answer`.")
    return answer


def bounded(value: Fraction) -> Fraction:
    """The value, if it is of a size that is computed with.

    Raises:
        InputError: it is not.
    """
    if value.numerator.bit_length() > BITS or value.denominator.bit_length() > BITS:
        raise InputError("A number in the expression is too large or too fine to be computed with.")
    return value


def _parsed(lines: Sequence[str]) -> list[ast.stmt]:
    """The statements of a program whose lines are not indented."""
    if any(len(line) > EXPRESSION_CHARS for line in lines):
        raise InputError(f"A line has more than {EXPRESSION_CHARS} characters, and longer ones are not computed.")
    try:
        return ast.parse("\n".join(lines).replace("^", "**")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{lines[0][:80] if lines else ''!r} cannot be read as arithmetic.") from error


def _printed(shown: ast.expr, values: Mapping[str, Fraction]) -> Fraction | None:
    """The value that a program returns or prints, where that is one; a sentence is not."""
    try:
        return _value(shown, values)
    except InputError:
        return None


def _assign(statement: ast.stmt, values: dict[str, Fraction]) -> Fraction:
    match statement:
        case ast.Assign(targets=targets, value=right) if all(isinstance(target, ast.Name) for target in targets):
            value = _value(right, values)
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as right):
            targets, value = [target], _value(right, values)
        case ast.AugAssign(target=ast.Name() as target, op=sign, value=right):
            before = ast.Name(target.id, ast.Load())
            targets, value = [target], _value(ast.BinOp(before, sign, right), values)
        case _:
            raise InputError("A line is no assignment; write one assignment a line, nothing else.")
    values.update((target.id, value) for target in targets if isinstance(target, ast.Name))
    return value


def _value(node: ast.expr, names: Mapping[str, Fraction]) -> Fraction:
    try:
        return bounded(_computed(node, names))
    except RecursionError as error:
        raise InputError("The expression is nested too deep to be computed.") from error


def _computed(node: ast.expr, names: Mapping[str, Fraction]) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and math.isfinite(number):
            return Fraction(repr(number)) if isinstance(number, float) else bounded(Fraction(number))
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _computed(operand, names)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_computed(operand, names)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _raised(_computed(left, names), _computed(right, names))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SIGNS:
            return _combined(_computed(left, names), sign, _computed(right, names))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="math"), attr=name), keywords=[]) if (
            name in _FUNCTIONS and node.args
        ):
            return bounded(_FUNCTIONS[name]([_computed(argument, names) for argument in node.args]))
        case _:
            raise InputError("The expression holds something that is no arithmetic, or a name that stands for nothing.")


def _combined(left: Fraction, sign: ast.operator, right: Fraction) -> Fraction:
    if right == 0 and isinstance(sign, ast.Div | ast.FloorDiv | ast.Mod):
        raise InputError("The expression divides by zero.")
    return bounded(Fraction(_SIGNS[type(sign)](left, right)))


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


_SIGNS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction | int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: operator.mod,
}
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
    "sum": lambda arguments: sum(arguments, Fraction(0)),
}
