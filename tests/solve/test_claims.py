"""The arithmetic that a reasoning claims: found, recomputed, and held wrong only where that is certain."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.solve.claims import claims, corrected

RIGHT = [
    "So he bought 3 boxes * $4 = $12.",
    "3 x 4 = 12 and 3×4=12",
    "**3 * 4 = 12**",
    r"\(3 \times 4 = 12\)",
    r"\frac{1}{2} \times 10 = 5",
    r"\$1,200 \div 4 = \$300",
    "20% of 50 = 10",
    "3/4 of 20 = 15",
    "100% - 20% = 80%",
    "5 / 20 = 25%",
    "0.2 * 50 = 10",
    "10/3 = 3.33",
    "2/3 ≈ 0.67",
    "7/2 = 3",
    "1,200 + 300 = 1,500",
    "$5/hour * 3 hours = $15",
    "4 apples/box * 3 boxes = 12 apples",
    "2 hours * 60 minutes/hour = 120 minutes",
    "1/2 hour = 30 minutes",
    "(3 + 4) * 2 = 14 (apples)",
    "x = 12/4 = 3",
    "3 times 4 = 12",
    "12 divided by 4 = 3",
    "-5 + 3 = -2",
    "- 3 * 4 = 12",
    "In 2020 he bought 3 * 4 = 12 apples",
    "6 - 9 = 3",
    "3 thousand * 2 = 6 thousand",
    "2^3 = 8",
]
WRONG = [
    ("3 * 4 = 13", 12),
    ("He has 5 apples - 2 apples = 4 apples left.", 3),
    ("**7 x 8 = 54**", 56),
    (r"\(9 + 9 = 19\)", 18),
    ("In 2020 he bought 3 x 4 = 13 apples", 12),
    ("20% of 50 = 12", 10),
    ("10/4 = 2.6", Fraction(5, 2)),
    ("- 3 * 4 = 13", 12),
    ("$1,200 + $300 = $1,600", 1500),
]
UNDECIDED = [
    *(
        "2x + 3 = 7",
        "total - 5 = 10",
        "x = 5",
        "5 + 20% = 6",
        "12 inches = 1 foot",
        "a + b = c",
        "= 5",
        "3 = 3",
        "3 + = 4",
    ),
    *("2 dozen + 3 = 27", "2y * 3 = 12", "5! = 120", "2 * (3 + 4 = 14", "1/0 = 5", "", "====", "9" * 400 + " + 1 = 2"),
]


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_holds(text: str) -> None:
    found = claims(text)
    assert found
    assert all(claim.holds for claim in found)


@pytest.mark.parametrize(("text", "value"), WRONG)
def test_what_is_wrong_is_found_with_what_it_should_be(text: str, value: Fraction | int) -> None:
    (claim,) = claims(text)
    assert not claim.holds
    assert claim.computed == value


@pytest.mark.parametrize("text", UNDECIDED)
def test_what_cannot_be_decided_is_left_alone(text: str) -> None:
    assert claims(text) == ()


def test_equations_in_a_chain_are_read_as_they_are_meant() -> None:
    assert [(c.text, c.holds) for c in claims("3*4 = 12 + 2 = 14")] == [("3*4 = 12", True), ("12 + 2 = 14", True)]
    assert [c.holds for c in claims("3*4 = 2*6 = 12")] == [True, True]
    assert [c.holds for c in claims("3*4 = 12 + 2 = 15")] == [True, False]
    assert [c.text for c in claims("3 + 4 = 7; then 7 * 2 = 15, which is 15 = 15")] == ["3 + 4 = 7", "7 * 2 = 15"]


def test_a_wrong_result_is_put_right_and_carried_to_the_answer() -> None:
    found = claims("12 - 2 = 8 apples. Then 8 * 3 = 24. With 5 more: 24 + 5 = 29.")
    assert corrected(found, Fraction(29)) == 35
    assert corrected(found, Fraction(3)) == 3
    assert corrected(claims("3 + 4 = 7"), Fraction(7)) == 7


@given(st.integers(0, 9999), st.integers(1, 999), st.sampled_from("+-*/"), st.sampled_from(["", " apples", " dollars"]))
def test_a_true_equation_holds_and_one_that_is_far_off_does_not(one: int, other: int, sign: str, unit: str) -> None:
    value = {"+": one + other, "-": one - other, "*": one * other, "/": Fraction(one, other)}[sign]
    (true,) = claims(f"Now {one} {sign} {other} = {float(value):.6f}{unit}.")
    assert true.holds
    off = abs(value) * 3 + 1000
    (false,) = claims(f"Now {one} {sign} {other} = {float(off):.6f}{unit}.")
    assert not false.holds


@given(st.text(max_size=300) | st.text("0123456789+-*/=().x% $\n", max_size=300))
def test_any_text_has_claims_or_none(text: str) -> None:
    for claim in claims(text):
        assert "=" in claim.text or "≈" in claim.text or "≃" in claim.text
