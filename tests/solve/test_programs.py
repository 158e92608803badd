"""The calculator: exact, bounded, and never Python's own evaluation."""

import ast
import inspect
import random
import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth, lengthened
from insula import InputError
from insula_solve import programs
from insula_solve.programs import check_tests, evaluate_expression, run_program


def grown(lot: random.Random, depth: int) -> tuple[str, Fraction]:
    """An expression, and its value by Python's fractions; it never divides by zero."""
    if depth == 0 or lot.random() < 0.25:
        text = f"{lot.randint(0, 999)}" if lot.random() < 0.6 else f"{lot.randint(0, 99)}.{lot.randint(0, 99):02d}"
        return text, Fraction(text)
    left, one = grown(lot, depth - 1)
    right, other = grown(lot, depth - 1)
    sign = lot.choice("+-*/^%~")
    if sign == "~":
        return f"-({left})", -one
    if sign == "^":
        exponent = lot.randint(0, 3)
        return f"({left}) ^ {exponent}", Fraction(one**exponent)
    if sign in "/%" and other == 0:
        sign = "+"
    value = {"+": one + other, "-": one - other, "*": one * other}.get(sign)
    if value is None:
        value = one / other if sign == "/" else one % other
    return f"({left}) {sign} ({right})" if lot.random() < 0.7 else f"(({left}){sign}({right}))", value


def test_it_agrees_with_fractions_on_thousands_of_expressions() -> None:
    lot = random.Random(7)
    for _ in range(4_000):
        text, value = grown(lot, 2)
        assert evaluate_expression(text) == value, text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14),
        ("2 * 3 ** 2", 18),
        ("-2 ** 2", -4),
        ("2 ** -1", Fraction(1, 2)),
        ("2 ** 3 ** 2", 512),
        ("7 // 2 + 7 % 2", 4),
        ("-7 // 2", -4),
        ("1_000 * 1e3", 1_000_000),
        (".5 + .25", Fraction(3, 4)),
        ("round(10 / 3, 2)", Fraction(333, 100)),
        ("max(1, 2, 3) - min(4, 5)", -1),
        ("math.ceil(7 / 2) + int(3.9) + abs(-1)", 8),
        ("16 ** 0.5", 4),
        ("0.1 + 0.2", Fraction(3, 10)),
    ],
)
def test_precedence_and_functions_are_those_of_python(text: str, value: int | Fraction) -> None:
    assert evaluate_expression(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "1 +", "(1", "1)", "1 2", "x", "2 ** 2 ** 99", "9 ** 9 ** 9", "1 / 0", "1 // 0", "1 % 0", "2 ** 0.5"),
        *("__import__('os')", "().__class__", "[1]", "lambda: 1", "f'1'", "a.b(1)", "1; 2", "2 = 2"),
        *(
            "(" * 240 + "1" + ")" * 240,
            "1" * 600,
            "9" * 300,
            "1e999",
            "-" * 300 + "x",
            "round",
            "0 ** -1",
            "(0-8) ** 0.5",
        ),
    ],
)
def test_what_is_no_small_arithmetic_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"\.$|adds one assignment"):
        evaluate_expression(text)


@given(st.text(max_size=120))
def test_any_text_is_computed_or_refused(text: str) -> None:
    for read in (evaluate_expression, run_program):
        with suppress(InputError):
            read(text)


def refused(read: Callable[[str], object]) -> Callable[[str], None]:
    def quietly(text: str) -> None:
        with suppress(InputError):
            read(text)

    return quietly


@pytest.mark.parametrize("piece", ["1+", "-", "(", "9**", "1e9*", "2^", "9%", "1_0,", "(1)", "1.", "99999*"])
def test_the_worst_of_its_own_alphabet_takes_no_time(piece: str) -> None:
    assert growth(refused(evaluate_expression), lambda size: (piece * size)[:size] + "1", 480) <= LINEAR


@pytest.mark.parametrize(
    "shape",
    [
        *(("answer = 1", " ", "y"), ("return 1", " ", "y"), ("print(1", " ", "y"), ("a", " "), ("a:", " ")),
        *(("def a()", " "), ("", "a = "), ("", '""', '"x'), ("", "a = " + "(1)" * 150 + "\n")),
    ],
)
def test_a_long_program_is_refused_in_no_time(shape: tuple[str, ...]) -> None:
    program = lengthened(*shape)
    with pytest.raises(InputError):
        run_program(program(20_000))
    assert growth(refused(run_program), program, 20_000) <= LINEAR


def test_a_comment_is_passed_over() -> None:
    assert run_program("answer = 3 * 4;  # " + "twelve " * 60) == 12


def test_a_program_of_assignments_is_computed() -> None:
    program = """
    import math
    def solution() -> int:
        # what there is
        boxes = 3
        per_box: int = 4
        eggs = total = boxes * per_box  # twelve
        eggs -= 2
        return eggs / 5
    """
    ran = run_program(program)
    assert ran == 2


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("a = 1\nanswer = 2\nb = 3", 2),
        ("a = 1\nb = a + 1", 2),
        ("a = 7\nprint(a)", 7),
        ("answer = 7\nprint(f'It is {answer}')", 7),
        ("a = 2\na *= 3\na **= 2", 36),
    ],
)
def test_the_answer_of_a_program(program: str, answer: int) -> None:
    assert run_program(program) == answer


@pytest.mark.parametrize(
    "program",
    [
        *("", "# nothing", "while True: a = 1", "if 0: a = 1", "import os", "a = b"),
        *("a = 1\n" * 200, "a = open('x')", "a = [1, 2]", "a = 1, 2", "exec('a = 1')", "a = (b := 1)", "a = b = "),
    ],
)
def test_what_is_no_program_is_refused(program: str) -> None:
    with pytest.raises(InputError):
        run_program(program)


def test_nothing_is_ever_executed() -> None:
    tree = ast.parse(inspect.getsource(programs))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"eval", "exec", "compile", "__import__", "getattr"}


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("total = 0\nfor day in range(1, 11):\n    if day % 2 == 0:\n        total += day", 30),
        ("pots = 0\nwhile pots * 7 < 50:\n    pots += 1\nprint(pots)", 8),
        ("def area(a, b):\n    return a * b\nanswer = area(3, 4)", 12),
        ("def solution():\n    prices = [2, 3.5, 4]\n    return sum(prices)", Fraction(19, 2)),
        ("costs = {'pen': 2, 'book': 7}\nanswer = sum(costs.values()) * 2", 18),
    ],
)
def test_conditions_loops_and_functions_are_computed(program: str, answer: int | Fraction) -> None:
    assert run_program(program) == answer


CODE = {
    "reverse": "def reverse(text):\n    return text[::-1]",
    "is_prime": "def is_prime(n):\n    return n > 1 and all(n % i for i in range(2, int(n ** 0.5) + 1))",
    "two_sum": "def two_sum(numbers, target):\n    seen = {}\n    for at, number in enumerate(numbers):\n"
    "        if target - number in seen:\n            return [seen[target - number], at]\n        seen[number] = at",
    "words": "def words(text):\n    return ' '.join(reversed(text.split()))",
    "fib": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)",
}


@pytest.mark.parametrize(
    ("name", "test", "passed", "failed"),
    [
        ("reverse", "assert reverse('abc') == 'cba'", 1, 0),
        ("reverse", "assert reverse('abc') == 'abc'", 0, 1),
        ("reverse", ">>> reverse('ab')\n'ba'", 1, 0),
        ("is_prime", "assert is_prime(97)\nassert not is_prime(91)", 2, 0),
        ("two_sum", "assert two_sum([2, 7, 11], 9) == [0, 1]", 1, 0),
        ("words", "assert words('a b') == 'b a'", 1, 0),
        ("fib", "assert fib(10) == 55", 1, 0),
        ("reverse", "assert open('x')", 0, 0),
        ("reverse", "assert reverse.__globals__", 0, 0),
    ],
)
def test_code_is_tried_by_the_tests_that_it_or_the_problem_brings(
    name: str, test: str, passed: int, failed: int
) -> None:
    for reply, problem in ((f"```python\n{CODE[name]}\n```", test), (f"```python\n{CODE[name]}\n{test}\n```", "")):
        found = check_tests(reply, problem)
        assert (found.passed, len(found.failed)) == (passed, failed)


@pytest.mark.parametrize(
    ("problem", "passed", "failed"),
    [
        ("Write a Python function that reverses a string: assert reverse('ab') == 'ba'", 1, 0),
        ("Write a Python function that reverses a string: assert reverse('ab') == 'ab'", 0, 1),
        ("Write reverse, so that `assert reverse('ab') == 'ba'` holds.", 1, 0),
        ("Write reverse: `assert reverse('ab') == 'ba'` and `assert reverse('ba') == 'ba'`", 1, 1),
        ("Write reverse, with assert reverse('ab') == 'ab'.", 0, 1),
        ("Write reverse, so that it can assert that a text (such as 'ab') is turned.", 0, 0),
        ("Reverse a text; I assert reverse is right.", 0, 0),
    ],
)
def test_a_test_may_stand_in_the_line_of_the_request(problem: str, passed: int, failed: int) -> None:
    found = check_tests(f"```python\n{CODE['reverse']}\n```", problem)
    assert (found.passed, len(found.failed), found.unknown) == (passed, failed, 0)


@pytest.mark.parametrize(
    "program",
    [
        "while True:\n    a = 1",
        "def f(n):\n    return f(n + 1)\nanswer = f(1)",
        "a = [0]\nfor i in range(60):\n    a = [a, a]\nanswer = int(a == a)",
        "a = []\na.append(a)\nanswer = int(a == a)",
        "answer = sum(range(10 ** 12))",
        "answer = len('a' * 10 ** 9)",
        "x = 'a' * 900\nanswer = len(x.replace('a', x))",
        "b = []\nwhile True:\n    b.append([0] * 900)",
        "answer = float('1e99999999')",
        "answer = int('9' * 900)",
        "answer = 9 ** 9 ** 9",
    ],
)
def test_a_program_without_end_or_bounds_costs_a_tenth_of_a_second(program: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError):
        run_program(program)
    assert time.process_time() - began < 0.5
