"""A calculator for text that nobody trusts: expressions, programs and tests, exact, bounded, never executed.

Python's parser reads the text; what it read is walked node by node and computed here, in whole numbers and fractions.
What is not in the tables of this module ends it, and so does a step too many: no text costs a tenth of a second.
"""

import ast
import math
import operator
import re
from collections import ChainMap
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from textwrap import dedent
from typing import Any, cast

from insula.errors import InputError

EXPRESSION_CHARS = 500
"""Characters of one line; the longest expression in GSM8K's own solutions has 72."""
PROGRAM_LINES = 120
"""Lines of one program; the longest that a small model wrote for GSM8K had 25."""
EXPONENT = 64
"""The greatest exponent, in either direction."""
BITS = 512
"""Bits of a numerator or denominator, about 154 digits: nothing that is counted or paid comes near."""
STEPS = 20_000
"""Values that a program may make; each element of a list and each character counts."""
SIZE = 1_000
"""Elements of a list, characters of a text."""
CALLS = 40
"""Calls within calls."""

_HEAD = re.compile(r"(?:async )?def \w+\(\)\s*(?:->\s*\w+\s*)?:")
_ANSWERS = ("answer", "result")
"""Names that hold what a program was asked for, whatever is assigned after them."""
_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n?(.*?)(?:```|\Z)", re.S | re.I)
_LINE = re.compile(
    r"^\s*(?:#.*|def \w+\(\).*|return\b.*|print\(.*|[A-Za-z_]\w*\s*(?::\s*\w+\s*)?(?:[-+*/%]|//|\*\*)?=[^=].*)$"
)
_DOCTEST = re.compile(r"^[ \t]*>>> ?(\w.*)\n[ \t]*([^>\s].*)$", re.M)
_ASSERT = re.compile(r"^\s*assert\b.+", re.M)
_ASSERT_IN_LINE = re.compile(r"(?<=[ \t`(])assert\b[^`\n]+")

_DECIMAL = re.compile(r"\s*[-+]?\d{1,40}(?:\.\d{1,40})?\s*")

Value = Any
Scope = ChainMap[str, Value]


# What text comes to


def evaluate_expression(expression: str, names: Mapping[str, Fraction] | None = None) -> Fraction:
    """Compute an expression as Python would write it, with `^` as power.

    Args:
        expression: numbers, names, `+ - * / // % ** ^`, parentheses, and the functions that programs have.
        names: what names stand for.
    """
    body = _parse_lines([expression.strip()])
    if len(body) != 1 or not isinstance(statement := body[0], ast.Expr):
        raise InputError(f"{expression[:80]!r} is no expression that can be computed.")
    return _as_number(_Machine(exact=True).evaluate_node(statement.value, Scope(dict(names or {}))))


def run_program(program: str) -> Fraction:
    """Compute a program: assignments, conditions, loops, and functions of its own.

    Returns:
        What it returned or printed last, else `answer` or `result`, else what was assigned last.
    """
    machine, scope = _Machine(), Scope({})
    machine.run_statements(_read_program(program), scope)
    functions = [value for value in scope.values() if isinstance(value, _Function)]
    if machine.shown is None and machine.assigned is None and len(functions) == 1:
        machine.run_statements([ast.Return(ast.Call(ast.Constant(cast(Any, functions[0])), [], []))], scope)
    named = next((scope[name] for name in _ANSWERS if name in scope), machine.assigned)
    return _as_number(named if machine.shown is None else machine.shown)


def find_program(text: str) -> str:
    """The last program in a reply: the last fenced block that has one, else its last lines that are one."""
    for block in reversed(_FENCE.findall(text)):
        if "=" in block or "return" in block:
            return block.strip("\n")
    lines = text.splitlines()
    start = max((at for at, line in enumerate(lines) if line.lstrip().startswith("def ")), default=0)
    return "\n".join(line for line in lines[start:] if _LINE.match(line))


@dataclass(frozen=True, slots=True)
class TestsOutcome:
    """What came of the tests of some code."""

    passed: int = 0
    failed: tuple[str, ...] = ()
    """Those that did not hold, as they were written."""
    unknown: int = 0
    """Those that cannot be computed here."""


def check_tests(reply: str, problem: str) -> TestsOutcome:
    """Compute the tests of the code in a reply: the `assert` lines and `>>>` examples that it or the problem brings.

    In the problem an `assert` may also stand behind other words, up to the end of its line or of its code.
    """
    blocks = _FENCE.findall(reply)
    code = _ASSERT.sub("", _DOCTEST.sub("", "\n\n".join(blocks)))
    texts = "\n".join((problem, *blocks))
    tests = [line.strip() for line in _ASSERT.findall(texts)]
    tests += [test for said in _ASSERT_IN_LINE.findall(problem) if _is_test(test := said.rstrip(" \t."))]
    tests += [f"assert {call} == {value}" for call, value in _DOCTEST.findall(texts)]
    results = {test: _assertions_hold(f"{code}\n{test}") for test in dict.fromkeys(tests)}
    return TestsOutcome(
        passed=sum(result is True for result in results.values()),
        failed=tuple(test for test, result in results.items() if result is False),
        unknown=sum(result is None for result in results.values()),
    )


def _is_test(text: str) -> bool:
    """Whether words of a problem are an assertion about what something returns, and no English."""
    try:
        read = _parse_lines([text])
    except InputError:
        return False
    called = any(isinstance(part, ast.Call) for statement in read for part in ast.walk(statement))
    return called and all(isinstance(statement, ast.Assert) for statement in read)


def _assertions_hold(program: str) -> bool | None:
    """Whether the assertions of a program hold; None where they cannot be computed."""
    try:
        _Machine().run_statements(_read_program(program), Scope({}))
    except _TestFailed:
        return False
    except InputError:
        return None
    return True


def is_readable(reply: str) -> bool:
    """Whether all that is fenced as Python in a reply can be parsed."""
    for block in re.findall(r"```(?:python|py)[ \t]*\n(.*?)(?:```|\Z)", reply, re.S | re.I):
        try:
            ast.parse(dedent(block))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def check_size(value: int | Fraction) -> Fraction:
    """The value, if it is of a size that is computed with."""
    if value.numerator.bit_length() > BITS or value.denominator.bit_length() > BITS:
        raise InputError("A number in the expression is too large or too fine to be computed with.")
    return Fraction(value)


def _read_program(program: str) -> list[ast.stmt]:
    """The statements of a program; one whose indentation is broken is read as a straight line."""
    lines = program.splitlines()
    if len(lines) > PROGRAM_LINES:
        raise InputError(f"The program has {len(lines)} lines and at most {PROGRAM_LINES} are computed; shorten it.")
    try:
        return _parse_lines(dedent(program).splitlines())
    except InputError:
        return _parse_lines([line.strip() for line in lines if not _HEAD.fullmatch(line.strip())])


def _parse_lines(lines: Sequence[str]) -> list[ast.stmt]:
    if any(len(line) > EXPRESSION_CHARS for line in lines):
        raise InputError(f"A line has more than {EXPRESSION_CHARS} characters, and longer ones are not computed.")
    try:
        return ast.parse("\n".join(lines).replace("^", "**")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{lines[0][:80] if lines else ''!r} cannot be read as arithmetic.") from error


def _is_number(value: Value) -> bool:
    return isinstance(value, int | Fraction)


def _as_number(value: Value) -> Fraction:
    if not _is_number(value) or isinstance(value, bool):
        raise InputError("The program computes no number; let it assign its result to `answer`.")
    return Fraction(value)


# How it is computed


class _TestFailed(InputError):
    """An assertion does not hold."""


class _Return(Exception):
    """A function ends with a value."""


class _Break(Exception):
    """A loop ends."""


class _Continue(Exception):
    """A loop goes on with the next element."""


@dataclass(frozen=True, slots=True, eq=False)
class _Function:
    """A function that a program defines."""

    parameters: tuple[str, ...]
    body: Sequence[ast.stmt]
    scope: Scope


class _Machine:
    """Walks a program and counts its steps.

    Args:
        exact: whether a root that is no fraction cannot be computed, instead of nearly.

    Attributes:
        shown: the number that it returned or printed last, outside of its functions.
        assigned: the number that it assigned last there.
    """

    def __init__(self, *, exact: bool = False) -> None:
        self.shown: Value = None
        self.assigned: Value = None
        self._exact, self._steps, self._calls = exact, STEPS, 0

    def run_statements(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """Go through a program."""
        try:
            self._run_body(body, scope)
        except _Return as returned:
            self.shown = returned.args[0]
        except (*_FAULTS, _Break, _Continue) as error:
            raise InputError(f"The program cannot be computed ({type(error).__name__}).") from error

    def evaluate_node(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        try:
            return self._count_value(node, scope)
        except _FAULTS as error:
            raise InputError(f"The expression cannot be computed ({type(error).__name__}).") from error

    def _run_body(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._spend_size(None)
            self._run_statement(statement, scope)

    def _run_statement(self, statement: ast.stmt, scope: Scope) -> None:  # noqa: PLR0912 a case for each kind of statement
        match statement:
            case ast.Assign(targets=targets, value=right):
                value = self._count_value(right, scope)
                for target in targets:
                    self._assign_target(target, value, scope)
            case ast.AnnAssign(target=target, value=ast.expr() as right):
                self._assign_target(target, self._count_value(right, scope), scope)
            case ast.AugAssign(target=target, op=sign, value=right):
                self._assign_target(
                    target,
                    self._combine_values(self._count_value(target, scope), sign, self._count_value(right, scope)),
                    scope,
                )
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[shown, *_])):
                with suppress(InputError):
                    value = self._count_value(shown, scope)
                    self.shown = value if isinstance(value, int | Fraction) else self.shown
            case ast.Expr(value=expression):
                self._count_value(expression, scope)
            case ast.If(test=test, body=body, orelse=others):
                self._run_body(body if self._count_value(test, scope) else others, scope)
            case ast.For(target=target, iter=items, body=body, orelse=[]):
                self._run_loop(self._assign_each(items, target, scope), body, scope)
            case ast.While(test=test, body=body, orelse=[]):
                self._run_loop(iter(lambda: bool(self._count_value(test, scope)), False), body, scope)
            case ast.FunctionDef(name=name, args=ast.arguments(args=arguments, defaults=[]), body=body):
                scope[name] = _Function(tuple(argument.arg for argument in arguments), body, scope)
            case ast.Return(value=value):
                raise _Return(value and self._count_value(value, scope))
            case ast.Assert(test=test):
                if not self._count_value(test, scope):
                    raise _TestFailed("A test does not hold.")
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                pass
            case _:
                raise InputError("A line is nothing that is computed here.")

    def _assign_target(self, target: ast.expr, value: Value, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope[name] = value
                if not self._calls and isinstance(value, int | Fraction):
                    self.assigned = value
            case ast.Tuple(elts=names):
                for name, item in zip(names, self._list_elements(value), strict=True):
                    self._assign_target(name, item, scope)
            case ast.Subscript(value=holder, slice=key):
                held = self._count_value(holder, scope)
                held[self._count_value(key, scope)] = value
                self._spend_size(held)
            case _:
                raise InputError("Something else than a name is assigned to.")

    def _run_loop(self, each: Iterator[Value], body: Sequence[ast.stmt], scope: Scope) -> None:
        for _ in each:
            try:
                self._run_body(body, scope)
            except _Break:
                return
            except _Continue:
                continue

    def _assign_each(self, items: ast.expr, target: ast.expr, scope: Scope) -> Iterator[None]:
        """Assign one element after the other."""
        value = self._count_value(items, scope)
        for item in value if isinstance(value, range) else self._list_elements(value):
            self._spend_size(None)
            self._assign_target(target, item, scope)
            yield

    def _count_value(self, node: ast.expr, scope: Scope) -> Value:
        return self._spend_size(self._compute_node(node, scope))

    def _compute_node(self, node: ast.expr, scope: Scope) -> Value:  # noqa: PLR0912 a case for each kind of expression
        match node:
            case ast.Constant(value=float() as number) if math.isfinite(number):
                return Fraction(repr(number))
            case ast.Constant(value=int() | str() | None | _Function() as value):
                return value
            case ast.Name(id=name) if name in scope or name in _FUNCTIONS:
                return scope[name] if name in scope else _FUNCTIONS[name]
            case ast.UnaryOp(op=sign, operand=operand):
                return _SIGNS[type(sign)](self._count_value(operand, scope))
            case ast.BinOp(left=left, op=sign, right=right):
                return self._combine_values(self._count_value(left, scope), sign, self._count_value(right, scope))
            case ast.BoolOp(op=sign, values=[*others, last]):
                values = (self._count_value(each, scope) for each in others)
                decisive = [value for value in values if bool(value) is isinstance(sign, ast.Or)][:1]
                return decisive[0] if decisive else self._count_value(last, scope)
            case ast.Compare(left=left, ops=signs, comparators=others):
                sides = [self._weigh_value(self._count_value(each, scope)) for each in (left, *others)]
                return all(_compare_values(sign, *pair) for sign, pair in zip(signs, pairwise(sides), strict=True))
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self._count_value(yes if self._count_value(test, scope) else no, scope)
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call_function(
                    function, [self._count_value(argument, scope) for argument in arguments], scope
                )
            case ast.Subscript(value=holder, slice=ast.Slice(lower=lower, upper=upper, step=step)):
                limits = (each and self._count_value(each, scope) for each in (lower, upper, step))
                return self._count_value(holder, scope)[slice(*limits)]
            case ast.Subscript(value=holder, slice=key):
                return self._count_value(holder, scope)[self._count_value(key, scope)]
            case ast.List(elts=items):
                return [self._count_value(item, scope) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self._count_value(item, scope) for item in items)
            case ast.Dict(keys=keys, values=values):
                made = (
                    self._count_value(each, scope) for pair in zip(keys, values, strict=True) for each in pair if each
                )
                return dict(zip(made, made, strict=True))
            case ast.ListComp(elt=item, generators=[each]) | ast.GeneratorExp(elt=item, generators=[each]):
                within = scope.new_child()
                going = (
                    all(self._count_value(test, within) for test in each.ifs)
                    for _ in self._assign_each(each.iter, each.target, within)
                )
                return [self._count_value(item, within) for holds in going if holds]
            case _:
                raise InputError("The expression holds what is not computed here, or a name that stands for nothing.")

    def _combine_values(self, left: Value, sign: ast.operator, right: Value) -> Value:
        numbers = all(isinstance(side, int | Fraction) for side in (left, right))
        match sign:
            case ast.Pow() if numbers:
                return _raise_power(left, right, exact=self._exact)
            case ast.Div() if numbers:
                return Fraction(left) / right
            case _ if numbers:
                return _SIGNS[type(sign)](left, right)
            case ast.Mult() if type(left) in (str, list) and type(right) is int:
                return left * min(right, SIZE // max(len(left), 1) + 1)  # one too many is refused
            case ast.Add() if type(left) is type(right) and type(left) in (str, list):
                return left + right
            case _:
                raise InputError("What is combined does not go together.")

    def _call_function(self, function: ast.expr, given: list[Value], scope: Scope) -> Value:
        match function:
            case ast.Attribute(value=ast.Name(id="math"), attr=name):
                called, held = _FUNCTIONS[name], None
            case ast.Attribute(value=holder, attr=name):
                held = self._count_value(holder, scope)
                called = _METHODS[type(held), name]
                given = [held, *given]
            case _:
                called, held = self._count_value(function, scope), None
        if isinstance(called, _Function):
            return self._enter_function(called, given)
        if called is _square_root:
            return _square_root(*given, exact=self._exact)
        goes_through = called in _OF_ELEMENTS and (len(given) == 1 or called is zip)
        given = [self._list_elements(value) if goes_through else self._weigh_value(value) for value in given]
        if called is str.join:
            given[1] = self._list_elements(given[1])
        made = cast(Any, called)(*given)
        self._spend_size(held)
        return list(made) if issubclass(type(made), _LAZY) else made

    def _enter_function(self, function: _Function, given: Sequence[Value]) -> Value:
        """What a function of the program returns."""
        scope = function.scope.new_child(dict(zip(function.parameters, given, strict=True)))
        self._calls += 1
        if self._calls > CALLS:
            raise InputError("Functions call each other too deep to be computed here.")
        try:
            self._run_body(function.body, scope)
        except _Return as returned:
            return returned.args[0]
        finally:
            self._calls -= 1
        return None

    def _list_elements(self, value: Value) -> list[Value]:
        """The elements of a value."""
        if type(value) not in (*_HOLDERS, range) or len(value) > SIZE:
            raise InputError("What is gone through has no elements, or too many.")
        return self._weigh_value(list(value))

    def _weigh_value(self, value: Value) -> Value:
        """Count all that stands within a value, before Python goes through it."""
        if type(value) in _HOLDERS and type(value) is not str:
            for item in (*value, *(value.values() if type(value) in (dict,) else ())):
                self._spend_size(item)
                self._weigh_value(item)
        return value

    def _spend_size(self, value: Value) -> Value:
        """Count what a value takes, and see that it is not too large."""
        size = len(value) if type(value) in _HOLDERS else 0
        self._steps -= 1 + size
        if size > SIZE or self._steps < 0:
            raise InputError("The program makes too much to be computed here.")
        if isinstance(value, int | Fraction):
            check_size(value)
        return value


def _compare_values(sign: ast.cmpop, left: Value, right: Value) -> bool:
    if isinstance(sign, ast.In | ast.NotIn):
        return (left in right) is isinstance(sign, ast.In)
    return _SIGNS[type(sign)](left, right)


def _raise_power(value: int | Fraction, exponent: int | Fraction, *, exact: bool) -> int | Fraction:
    if exponent == Fraction(1, 2):
        return _square_root(value, exact=exact)
    if exponent.denominator != 1 or abs(exponent) > EXPONENT or (value == 0 and exponent < 0):
        raise InputError(f"The expression raises to the power {exponent}; whole ones up to {EXPONENT} are computed.")
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits * abs(exponent.numerator) > BITS + EXPONENT:
        raise InputError("A power in the expression is too large to be computed.")
    return value**exponent.numerator if exponent >= 0 else Fraction(value) ** exponent.numerator


def _square_root(value: int | Fraction, *, exact: bool = False) -> Fraction:
    if value < 0:
        raise InputError("The expression takes the root of less than nothing.")
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root * root == value:
        return root
    if exact:
        raise InputError("A root in the expression is no fraction.")
    return Fraction(repr(math.sqrt(value)))


def _read_number(value: int | Fraction | str) -> Fraction:
    if isinstance(value, str) and not _DECIMAL.fullmatch(value):  # `Fraction("1e99999999")` takes minutes
        raise InputError("A text is no number of ordinary size.")
    return Fraction(value)


def _read_whole_number(value: int | Fraction | str) -> int:
    return int(_read_number(value))


def _round_number(value: int | Fraction, digits: int | None = None) -> int | Fraction:
    return round(value) if digits is None else Fraction(round(Fraction(value), max(-20, min(20, int(digits)))))


def _format_value(value: Value) -> str:
    if not isinstance(value, str | int | Fraction):
        raise InputError("Only numbers and texts are written out.")
    return repr(float(value)) if isinstance(value, Fraction) else str(value)


_HOLDERS = (str, list, tuple, dict)
"""Kinds of values that hold others."""
_FAULTS = (ArithmeticError, TypeError, ValueError, LookupError, RecursionError)
"""What a program may do wrong."""
_SIGNS: Mapping[type[ast.AST], Callable[..., Value]] = {
    sign: vars(operator)[name]
    for sign, name in (
        *((ast.Add, "add"), (ast.Sub, "sub"), (ast.Mult, "mul"), (ast.FloorDiv, "floordiv"), (ast.Mod, "mod")),
        *((ast.UAdd, "pos"), (ast.USub, "neg"), (ast.Not, "not_"), (ast.Is, "eq"), (ast.IsNot, "ne")),
        *((ast.Eq, "eq"), (ast.NotEq, "ne"), (ast.Lt, "lt"), (ast.LtE, "le"), (ast.Gt, "gt"), (ast.GtE, "ge")),
    )
}
_OF_ELEMENTS = (all, any, enumerate, list, min, max, reversed, sorted, sum, tuple, zip)
"""Functions that go through the elements of what they are given."""
_LAZY = (Iterator, ItemsView, KeysView, ValuesView)
_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **{function.__name__: function for function in (*_OF_ELEMENTS, abs, bool, len, range, math.floor, math.ceil)},
    "float": _read_number,
    "int": _read_whole_number,
    "round": _round_number,
    "sqrt": _square_root,
    "str": _format_value,
}
_METHODS: Mapping[tuple[type, str], Callable[..., Value]] = {
    (kind, name): vars(kind)[name]
    for kind, names in (
        (str, "count endswith find isalnum isalpha isdigit islower isupper join lower replace split startswith strip"),
        (str, "capitalize isspace lstrip rstrip title upper"),
        (list, "append copy count extend index insert pop remove reverse sort"),
        (dict, "get items keys pop values"),
    )
    for name in names.split()
}
