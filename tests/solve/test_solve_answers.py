"""From a reply to its answer, and when two answers are one."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth, lengthened
from insula_solve.amounts import normalise_answer, parse_number, strip_markup
from insula_solve.answers import ParsedAnswer, find_answer, is_correct


@pytest.mark.parametrize(
    "text",
    [
        *("1200", "1,200", "1200.0", "$1,200", "1.2k", "1200 apples", "$ 1200.", "**1200**", "10 * 120 = 1200"),
        *(r"\$1,200", r"1200 \text{ apples}", "1.2 thousand", "12e2", "(1200)", "£1.2K"),
    ],
)
def test_one_number_has_one_form(text: str) -> None:
    assert normalise_answer(text) == "1200"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20%", "20"),
        ("3/4", "0.75"),
        (r"\frac{3}{4}", "0.75"),
        ("1 1/2", "1.5"),
        ("½", "0.5"),
        ("10/3", "3.3333"),
        ("-5", "-5"),
        ("−$5", "-5"),
        ("$1.5M", "1500000"),
        ("5M", "5"),
        ("3 apples and 5 pears", "3; 5"),
        ("2 3", "2; 3"),
        ("1/0", "1; 0"),
        ("7:30 PM", "7:30 PM"),
        ("The cat", "cat"),
        ("Yes.", "Yes"),
        ("", ""),
        ("...", ""),
        ("word " * 100, ""),
        *((r"2\frac{1}{2}", "2.5"), (r"-2\frac{1}{2}", "-2.5"), (r"\dfrac{-3.5}{2}", "-1.75"), ("3½", "3.5")),
        *((r"\sqrt{16}", "4"), ("√16", "4"), (r"2\sqrt{9}", "6"), (r"\frac{\sqrt{16}}{8}", "0.5")),
        *((r"\sqrt{2}", "sqrt(2)"), ("5√2 cm", "5sqrt(2) cm"), (r"\sqrt{" + "9" * 70 + "}", "sqrt(" + "9" * 70 + ")")),
        *(
            ("10^3", "1000"),
            ("10^{-2}", "0.01"),
            ("10³ dollars", "1000"),
            (r"1.5 \times 10^{3}", "1500"),
            ("-5^2", "-25"),
        ),
        *((r"12\text{ m}^2", "12"), (r"12 \text{ m}^{2}", "12"), ("12 m²", "12"), ("12 m ^ 2", "12"), ("x^2", "x^2")),
        *(("1/" + "1" * 60, "1/" + "1" * 60), ("1" * 60, "1" * 60), ("9^99", "9^99")),
    ],
)
def test_other_answers_have_a_form_too(text: str, value: str) -> None:
    assert normalise_answer(text) == value


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (r"So 3 + 4 = 7. \boxed{7 \text{ apples}} of 10", "7"),
        (r"\boxed{\frac{1}{2}}", "0.5"),
        (r"first \boxed{3}, no: \boxed{4}", "4"),
        ("<think>3</think><answer>42</answer>", "42"),
        ("<ANSWER> 42", "42"),
        ("<answer>42<answer>", "42"),
        ("#### 1,200", "1200"),
        ("The final answer is 5.\nI hope that helps 9", "5"),
        ("**Final Answer:** $18", "18"),
        ("the answer is: **$18.50** per day.", "18.5"),
        ("Answer: yes", "yes"),
        ("The answer is 5. No, the answer is 6. So it is", "6"),
        ("The answer is:\n\n**3.5 apples**. Or 4", "3.5"),
        ("Answer: is .5", "0.5"),
    ],
)
def test_a_marked_answer_is_found(reply: str, value: str) -> None:
    found = find_answer(reply)
    assert found is not None
    assert found.value == value


def test_without_a_mark_the_last_number_stands_in_unless_the_reply_was_cut_off() -> None:
    assert find_answer("There are 3, then 4 apples") is None
    assert find_answer("There are 3 + 1 = 4 apples") == ParsedAnswer("4", "4")
    assert find_answer("There are 3, then 4", truncated=True) is None
    assert find_answer(r"\boxed{4} and then", truncated=True) == ParsedAnswer("4", "4")
    assert find_answer(r"There are 3, so \boxed{4", truncated=True) is None
    assert find_answer(r"So she has \frac{1}{2}") == ParsedAnswer("0.5", "1/2")
    assert find_answer("I cannot help with that.") is None
    assert find_answer("") is None


def test_an_answer_is_right_by_the_gold_as_data_sets_have_it() -> None:
    assert is_correct("1200", "He has 3 * 400 = <<3*400=1200>>1200.\n#### 1,200")
    assert is_correct("0.5", "1/2")
    assert not is_correct("120", "#### 1,200")
    assert not is_correct(None, "#### 1,200")


@given(st.text(max_size=400))
def test_any_reply_has_an_answer_or_none_and_its_form_is_stable(text: str) -> None:
    found = find_answer(text)
    if found is not None:
        assert normalise_answer(found.value) == found.value


@given(st.integers(-(10**12), 10**12))
def test_a_number_is_read_however_it_is_written(number: int) -> None:
    for text in (f"{number}", f"{number:,}", f"{number}.00", f"the answer is {number:,} cats", f"= {number}"):
        assert normalise_answer(text) == str(number)


PARTS = [
    *("1", "16", "1.5", "1,200", "/", "^", "×", "-", "$", "%", "(", ")", "{", "}", "√", "²", "½", "m", "k"),
    *(".", ":", "**", "=", "1e99", "e5", "sqrt(", "\\frac{1}{2}", "\\sqrt{16}"),
    *("\\boxed{", "<answer>", "####", "answer is ", "9" * 30, "1" * 5_000, " ", "\n"),
]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_no_reply_is_too_odd_to_be_read(text: str) -> None:
    for truncated in (False, True):
        found = find_answer(text, truncated=truncated)
        assert found is None or (found.number, is_correct(found.value, text)) is not None
    parse_number(normalise_answer(text))
    strip_markup(text)
    parse_number(text)


@pytest.mark.parametrize(
    "shape",
    [
        *(("answer: a", " ", "b c"), ("<answer>5<", " ", "b"), ("answer is", "\n"), ("", " "), ("answer ", ":")),
        *(("", "answer is "), ("", "<answer>"), ("1/", "1", "/"), ("", "1^"), ("", "1 x 10^1"), ("√", " ")),
        *(("x", " ", "^"), ("", "\\boxed{"), ("", "1")),
    ],
)
@pytest.mark.parametrize("read", [find_answer, normalise_answer])
def test_a_long_reply_costs_no_more_than_its_length(shape: tuple[str, ...], read: Callable[[str], object]) -> None:
    assert growth(read, lengthened(*shape), 10_000) <= LINEAR
