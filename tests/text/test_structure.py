"""Texts for machines, into which no prose may be put."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula.text.structure import is_structured


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 2]}',
        "[1, 2, 3]",
        "42",
        "-3.5 %",
        "$5.00",
        "25 °C",
        "true",
        "<note><to>Ana</to></note>",
        "name: Ana\nage: 4",
        "name,age\nAna,4\nBob,3",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```python\nprint(1)\n```",
        "`git status`",
        "git reset --soft HEAD~1",
        'print("hi")',
        "def f(x):\n    return x",
        "SELECT * FROM t",
        "x = 1",
        "https://example.org/a",
        "",
    ],
)
def test_data_and_code_alone_are_structured(text: str) -> None:
    assert is_structured(text)


@pytest.mark.parametrize(
    "text",
    [
        "Paris.",
        "Yes.",
        "The capital is Paris",
        "Here:\n```py\nprint(1)\n```",
        "1. One\n2. Two",
        "- first we go\n- then we eat",
        "git is a tool",
        "for example, this (see there)",
        "Note: this is it.\nBut: it is not all.",
        "Hello, Bob\nI think, yes",
        "Roses are red,\nViolets are blue",
        "[1] Paris is nice.",
        "北京。",
        "Use the function foo(bar).",
    ],
)
def test_prose_is_not(text: str) -> None:
    assert not is_structured(text)


@given(st.text(max_size=200))
def test_nothing_raises(text: str) -> None:
    assert is_structured(text) in {True, False}


@pytest.mark.parametrize("text", ["[" * 100_000, "<a" + ">" * 100_000 + "x", "x=" * 100_000, "a -b " * 50_000])
def test_the_cost_stays_bounded(text: str) -> None:
    assert growth(is_structured, lambda size: text[:size], len(text)) <= LINEAR
