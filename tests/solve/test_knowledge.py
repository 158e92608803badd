"""The repertoire, a person's own strategies, and which strategy is drawn by what is known of it."""

from collections import Counter
from pathlib import Path

import pytest

from insula import InsulaError
from insula_solve import StrategyTally
from insula_solve.features import read_features
from insula_solve.knowledge import (
    Knowledge,
    draw_strategy,
    fits_classes,
    read_repertoire,
    read_shipped,
)

pytestmark = pytest.mark.anyio

OWN = """
[[strategy]]
name = "abacus"
when = "with big sums"
how = "Move the beads."
[[strategy]]
name = "general"
when = "of any kind"
how = "My own way."
"""


def test_a_file_in_insulas_folder_adds_to_the_repertoire_and_replaces_in_it(home: Path) -> None:
    assert read_repertoire(home) == read_shipped()
    (home / "strategies.toml").write_text(OWN)
    own = {one.name: one for one in read_repertoire(home)}
    assert len(own) == len(read_shipped()) + 1
    assert own["abacus"].how == "Move the beads."
    assert own["general"].how == "My own way."


@pytest.mark.parametrize(
    "text",
    [
        *("[[strategy]]", "strategy = 3", "[[strategy]]\nname = 'a'\nwhen = 'b'\nhow = ''", "not toml ["),
        "[[strategy]]\nname = 'a'\nwhen = 'b'\nhow = 'c'\nclasses = 'd'",
        f"[[strategy]]\nname = '{'a' * 41}'\nwhen = 'b'\nhow = 'c'",
        "strategy = [1]",
        "[[strategy]]\nname = 'a'\nwhen = 'b'\nhow = 'c'\n" * 101,
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_its_name(home: Path, text: str) -> None:
    (home / "strategies.toml").write_text(text)
    with pytest.raises(InsulaError, match=r"strategies\.toml"):
        read_repertoire(home)


def test_every_class_that_a_strategy_fits_can_be_told_from_words() -> None:
    from insula_solve.features import MANY_STEPS, WORDS, read_classes

    assert {each for one in read_shipped() for each in one.classes} <= {*read_classes(), MANY_STEPS, WORDS}


def test_what_fits_is_preferred_until_more_is_known() -> None:
    drawn = Counter(draw_strategy(read_shipped(), {}, ["percent"], seed).name for seed in range(300))
    assert set(drawn) == {"base of the percentage", "general"}
    failed = {"base of the percentage": StrategyTally(0, 30)}
    drawn = Counter(draw_strategy(read_shipped(), failed, ["percent"], seed).name for seed in range(300))
    assert drawn["base of the percentage"] < 10 < drawn["general"]
    proven = {"table": StrategyTally(300, 1)}
    drawn = Counter(draw_strategy(read_shipped(), proven, ["percent"], seed).name for seed in range(300))
    assert drawn["table"] > 200


def test_where_nothing_is_known_a_strategy_that_fits_is_drawn_and_not_always_the_same() -> None:
    problems = ["Half of 12 eggs break.", "A shirt costs $20, 25% off.", "Ann is 3 years older than Bo, who is 5."]
    for problem in problems:
        classes = read_features(problem).classes
        drawn = [draw_strategy(read_shipped(), {}, classes, seed) for seed in range(200)]
        assert all(fits_classes(one, classes) for one in drawn)
        assert len({one.name for one in drawn}) > 1
    odd = [one for one in read_shipped() if one.name == "sketch"]
    assert draw_strategy(odd, {}, ["percent"], 1).name == "sketch", "where none fits, one of all"


@pytest.mark.parametrize("said", ["table", "I choose Table.", "7", "7.", "# 7", "**table**: it fits"])
def test_a_strategy_is_known_however_a_model_names_it(said: str) -> None:
    named = Knowledge().find_strategy(said)
    assert named is not None
    assert named.name == "table"
    assert Knowledge().find_strategy("magic") is None
    assert Knowledge().find_strategy("99") is None


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        ("A shirt costs $20 and 25% off is given. What is the price?", "percent"),
        ("Half of 12 eggs break. How many are whole?", "fraction"),
        ("Who is taller?", "words"),
        ("", "words"),
    ],
)
def test_a_problem_has_a_class_at_first_sight(problem: str, kind: str) -> None:
    assert read_features(problem).kind == kind
    assert 0 <= read_features(problem).difficulty <= 1
