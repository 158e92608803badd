"""The arithmetic that a reasoning claims: found, recomputed, and held wrong only where that is certain."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth, lengthened
from insula_solve.claims import correct_answer, find_claims

RIGHT = [
    "**3 * 4 = 12**",
    "\\(3 \\times 4 = 12\\)",
    "\\frac{1}{2} \\times 10 = 5",
    "\\$1,200 \\div 4 = \\$300",
    "5 / 20 = 25%",
    "0.2 * 50 = 10",
    "10/3 = 3.33",
    "2/3 ≈ 0.67",
    "7/2 = 3",
    "1,200 + 300 = 1,500",
    "x = 12/4 = 3",
    "-5 + 3 = -2",
    "- 3 * 4 = 12",
    "6 - 9 = 3",
    "2^3 = 8",
    "(1/3) × 100 ≈ 33.33%",
    "0.1 + 0.2 = 0.30000000000000004",
    "3 × 39.33 = 118.00",
    "9300 × \\frac{2}{3} = 9300 × 0.6667 = 6200.31",
    "\\frac{40}{60} = \\frac{2}{3} hours",
    "Mia has 7 (she said so). Great! 3 * 4 = 12",
]
WRONG = [
    ("3 * 4 = 13", 12),
    ("**7 x 8 = 54**", 56),
    ("\\(9 + 9 = 19\\)", 18),
    ("10/4 = 2.6", Fraction(5, 2)),
    ("- 3 * 4 = 13", 12),
    ("$1,200 + $300 = $1,600", 1500),
    ("35.67 × 3 = 106.01", Fraction(10701, 100)),
    ("\\frac12 \\times 10 = 6", 5),
]
UNDECIDED = [
    "2x + 3 = 7",
    "total - 5 = 10",
    "x = 5",
    "5 + 20% = 6",
    "12 inches = 1 foot",
    "a + b = c",
    "= 5",
    "3 = 3",
    "3 + = 4",
    "250 - 45 = 3x",
    "5/2 = 7 + x",
    "12 * 6 = 36\\pi",
    "3 * 4 = 20% of the total",
    "9 * 2 = 3\\sqrt{2}",
    "2 * 60 = 5!",
    "3 * 3 = 3²",
    "16 / 4 = 5(x + 1)",
    "10 + 2 = 1 1/2",
    "t_1 - 3 = 60",
    "\\sqrt{16} + 1 + 1 = 6",
    "5(15) + 12 = 75",
    "f(3) + 1 = 12",
    "2 1/2 * 4 = 10",
    "2\\frac{1}{2} \\times 4 = 10",
    "|3 - 8| + 2 + 1 = 8",
    "4² * 2 * 2 = 64",
    "5:30 + 2 = 7:30",
    "1,5 * 2 = 3",
    "2/1/2024 + 3 = 5",
    "1.5k + 500 = 2000",
    "half of 10 + 2 = 7",
    "1 hour + 30 minutes = 90 minutes",
    "$1 + 50 cents = $1.50",
    "60 + 30 = 1 hour 30 minutes",
    "499 × 4 ≈ 2000",
    "499 * 4 = about 2000",
    "3 + 4 => 7 * 2 = 15 x",
    "1+2+...+9+10 = 55",
    "7 / 2 = 3 R 1",
    "2 * (3 + 4 = 14",
    "1/0 = 5",
    "",
    "====",
    "1+" * 40 + "1 = 41 x",
    "3 * 411523 = 1.2 million",
    "9" * 400 + " + 1 = 2",
]
WORDED = [
    "So he bought 3 boxes * $4 = $12.",
    "100% - 20% = 80%",
    "5 / 20 = 25 cents",
    "5 m^2 * 3 = 15 m^2",
    "In 2020 he bought 3 x 4 = 13 apples",
    "20% of 50 = 12",
    "40% × 30 minutes = 120 minutes",
    "3 * 4 = 13 (eggs)",
]
"""Equations with words in them, or in the middle of a sentence, which are not read."""


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_holds(text: str) -> None:
    found = find_claims(text)
    assert found
    assert all(claim.holds for claim in found)


@pytest.mark.parametrize(("text", "value"), WRONG)
def test_what_is_wrong_is_found_with_what_it_should_be(text: str, value: Fraction | int) -> None:
    (claim,) = find_claims(text)
    assert not claim.holds
    assert claim.computed == value


@pytest.mark.parametrize("text", UNDECIDED + WORDED)
def test_what_cannot_be_decided_is_left_alone(text: str) -> None:
    assert find_claims(text) == ()


def test_equations_in_a_chain_are_read_as_they_are_meant() -> None:
    assert [(c.text, c.holds) for c in find_claims("3*4 = 12 + 2 = 14")] == [("3*4 = 12", True), ("12 + 2 = 14", True)]
    assert [c.holds for c in find_claims("3*4 = 2*6 = 12")] == [True, True]
    assert [c.holds for c in find_claims("3*4 = 12 + 2 = 15")] == [True, False]
    assert [c.text for c in find_claims("3 + 4 = 7; 7 * 2 = 15, which is 15 = 15")] == ["3 + 4 = 7", "7 * 2 = 15"]


def test_a_wrong_result_is_put_right_and_carried_to_the_answer() -> None:
    found = find_claims("12 - 2 = 8 apples. 8 * 3 = 24. With 5 more: 24 + 5 = 29.")
    assert correct_answer(found, Fraction(29)) == 35
    assert correct_answer(found, Fraction(3)) == 3
    assert correct_answer(find_claims("3 + 4 = 7"), Fraction(7)) == 7


@pytest.mark.parametrize(
    ("text", "said", "right"),
    [
        ("1000 - (15 + 300) = 1000 - 415 = 585", 585, 685),
        ("80 - 30 = 80 - 20 = 60", 60, 50),
        ("92 - (3 * 8 + 2 * 6) = 92 - 30 = 62. 62 / 2 = 31", 31, 28),
        ("3 * 4 = 12 + 2 = 15", 15, 14),
    ],
)
def test_what_is_carried_is_the_result_of_a_rewritten_side_and_not_its_first_number(
    text: str, said: int, right: int
) -> None:
    assert correct_answer(find_claims(text), Fraction(said)) == right


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("18 - 6 = 3X, so 12 = 3X and X = 4. 3 + 4 = 7", 7),
        ("t_2 = t_1 - 3 = 60 - 3 = 57. Altogether 60 + 57 = 117.", 117),
        ("5(15) + 12 = 75 + 12 = 87", 87),
        ("2(3+4) = 14, 14 * 2 = 28", 28),
        ("200 * 10 percent = 20, 200 - 20 = 180", 180),
        ("2 1/2 * 4 = 10 miles", 10),
        ("1 hour + 30 minutes = 90 minutes. 90 + 10 = 100", 100),
    ],
)
def test_a_right_answer_stays_as_it_is(text: str, answer: int) -> None:
    found = find_claims(text)
    assert all(claim.holds for claim in found)
    assert correct_answer(found, Fraction(answer)) == answer


def test_a_number_that_is_cut_off_with_the_reasoning_is_not_held_against_it() -> None:
    assert find_claims("Cost: $80 - $160 = -$8") == find_claims("Cost: 30 * 40 = 12") == ()
    assert [claim.holds for claim in find_claims("Eggs: 30 * 40 = 13 eggs")] == [False]
    (claim,) = find_claims("3 * 4 = 12\n" + " " * 19_980 + "300 * 4 = 1200")
    assert claim.holds


@given(st.integers(1, 9999), st.integers(1, 999), st.sampled_from("+-*/"), st.sampled_from(["", "."]))
def test_a_true_equation_holds_and_one_that_is_far_off_does_not(one: int, other: int, sign: str, unit: str) -> None:
    value = {"+": one + other, "-": one - other, "*": one * other, "/": Fraction(one, other)}[sign]
    (true,) = find_claims(f"Now: {one} {sign} {other} = {float(value):.6f}{unit}.")
    assert true.holds
    off = abs(value) * 3 + 1000
    (false,) = find_claims(f"Now: {one} {sign} {other} = {float(off):.6f}{unit}.")
    assert not false.holds


@given(st.text(max_size=300) | st.text("0123456789+-*/=().x% $\n", max_size=300))
def test_any_text_has_claims_or_none(text: str) -> None:
    for claim in find_claims(text):
        assert correct_answer([claim], claim.stated) in (claim.stated, claim.computed)
        assert "=" in claim.text or "≈" in claim.text or "≃" in claim.text


PARTS = [
    *("1", "16", "1.25", "1,200", "$5", "5:30", "2/1/2024", "+", "-", "*", "/", "^", "=", "≈", "(", ")", "{"),
    *("}", "_", "!", "?", ".", ",", ";", "|", "%", "√", "²", "½", "x", "n", "m", "a", "hour", "minutes"),
    *("percent", "of", "million", "half", "and", "to", "AM", "about", "multiplied", "\\frac{1}{2}"),
    *("\\sqrt{16}", "divided by", "9" * 30, "1" * 5_000, " ", "\n"),
]


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_no_equation_is_too_odd_to_be_read(text: str) -> None:
    found = find_claims(text)
    assert correct_answer(found, Fraction(5)) == correct_answer(find_claims(text), Fraction(5))


@pytest.mark.parametrize(
    "shape",
    [
        *(("", " "), ("", "1"), ("", "1."), ("", "1,111,"), ("", "1", ".1.1"), ("", "(1+", "="), ("", "1+1=1 ")),
        *(("", "1 a+" * 14 + "1=99\n"), ("", "1 x " * 14 + "y=1\n"), ("\\frac", " "), ("", "≈"), ("", "~=")),
        ("", "≈ about "),
    ],
)
def test_a_long_reasoning_costs_no_more_than_its_length(shape: tuple[str, ...]) -> None:
    assert growth(find_claims, lengthened(*shape), 10_000) <= LINEAR
