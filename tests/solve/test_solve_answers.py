"""From a reply to its answer, and when two answers are one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.solve.answers import Answer, extract, is_correct, normalised


@pytest.mark.parametrize(
    "text",
    [
        *("1200", "1,200", "1200.0", "$1,200", "1.2k", "1200 apples", "$ 1200.", "**1200**", "10 * 120 = 1200"),
        *(r"\$1,200", r"1200 \text{ apples}", "1.2 thousand", "12e2", "(1200)", "£1.2K"),
    ],
)
def test_one_number_has_one_form(text: str) -> None:
    assert normalised(text) == "1200"


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
        ("7:30 PM", "7:30 pm"),
        ("The cat", "cat"),
        ("Yes.", "yes"),
        ("", ""),
        ("...", ""),
        ("word " * 100, ""),
    ],
)
def test_other_answers_have_a_form_too(text: str, value: str) -> None:
    assert normalised(text) == value


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
    ],
)
def test_a_marked_answer_is_found(reply: str, value: str) -> None:
    found = extract(reply)
    assert found is not None
    assert (found.value, found.marked) == (value, True)


def test_without_a_mark_the_last_number_stands_in_unless_the_reply_was_cut_off() -> None:
    assert extract("There are 3, then 4 apples") == Answer("4", "4", marked=False)
    assert extract("There are 3, then 4", truncated=True) is None
    assert extract(r"\boxed{4} and then", truncated=True) == Answer("4", "4")
    assert extract("I cannot help with that.") is None
    assert extract("") is None


def test_an_answer_is_right_by_the_gold_as_data_sets_have_it() -> None:
    assert is_correct("1200", "He has 3 * 400 = <<3*400=1200>>1200.\n#### 1,200")
    assert is_correct("0.5", "1/2")
    assert not is_correct("120", "#### 1,200")
    assert not is_correct(None, "#### 1,200")


@given(st.text(max_size=400))
def test_any_reply_has_an_answer_or_none_and_its_form_is_stable(text: str) -> None:
    found = extract(text)
    if found is not None and found.marked:
        assert normalised(found.value) == found.value


@given(st.integers(-(10**12), 10**12))
def test_a_number_is_read_however_it_is_written(number: int) -> None:
    for text in (f"{number}", f"{number:,}", f"{number}.00", f"the answer is {number:,} cats", f"= {number}"):
        assert normalised(text) == str(number)
