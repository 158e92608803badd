"""Demands that stand by themselves beside what is asked, and what only looks like one."""

import pytest

from insula.text.analysis import analyse_text
from insula.text.constraints import find_constraints
from insula.turn.checks.constraints import breaks_constraint

LIST = "- a\n- b\n- c\n- d\n- e"


@pytest.mark.parametrize(
    ("message", "kept", "not_kept"),
    [
        ("Eight words tops: what is a comet?", "A ball of ice that circles the sun.", "A comet is a ball of ice " * 2),
        ("Drei Seen in Bayern, mehr nicht.", "- a\n- b\n- c", LIST),
        ("Tres ríos de Asia, ni uno más.", "- a\n- b\n- c", LIST),
        ("推荐三本小说就够了。", "1. 甲\n2. 乙\n3. 丙", "1. 甲\n2. 乙\n3. 丙\n4. 丁\n5. 戊"),
        ("Write a ten-word toast for Ana.", "To Ana, who laughs first and leaves last, our friend!", "To Ana! " * 12),
        ("What do I need for a picnic? Bullets please.", LIST, "A rug, some bread and a knife."),
    ],
)
def test_a_clause_that_holds_nothing_else_demands(message: str, kept: str, not_kept: str) -> None:
    found = find_constraints(analyse_text(message))
    assert not any(breaks_constraint(one, kept) for one in found)
    assert any(breaks_constraint(one, not_kept) for one in found)


@pytest.mark.parametrize(
    "message",
    [
        "My boss wants it in exactly fifty words, what can I drop?",
        "Mein Chef will den Text in genau fünfzig Wörtern, was streiche ich?",
        "She answered me in one word, is she angry?",
        "In welcher Tabelle stehen die Werte?",
        "Put them in a column, one per line: pear, fig.",
        "I could not have done it without them.",
    ],
)
def test_what_somebody_else_demanded_is_none(message: str) -> None:
    assert find_constraints(analyse_text(message)) == ()
