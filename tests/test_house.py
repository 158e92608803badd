"""The figures of the house: the command runs, and what it counts is there to be counted."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import house
import pytest
import walks

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "tools" / "house.py"), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("name", ["a tool call", "a told fact"])
def test_a_walk_arrives_and_meets_files_functions_and_types(name: str) -> None:
    walk = walks.play_walk(name, *walks.WALKS[name])
    assert walk.arrived
    assert 5 < walk.files <= walk.functions
    assert 5 < walk.edges <= walk.functions
    assert walk.types


def test_the_parts_are_no_more_than_the_whole(figures: dict[str, Any]) -> None:
    sizes, rules = figures["sizes"], figures["rules"]
    assert 0 < rules["code"]["lines"] < sizes["src"]["lines"]
    assert 0 < rules["table_kb"] <= figures["tables_kb"]
    assert rules["code"]["lines"] == sum(size["lines"] for size, _ in rules["subjects"].values())
    names, tests = figures["names"], figures["tests"]
    assert 0 < names["participle_percent"] <= names["one_word_percent"] < 100
    assert tests["public_only"] == sum(not count for count in tests["names"].values())


@pytest.mark.parametrize(
    ("line", "internal"),
    [
        ("from insula import Metacognition, senses", set[str]()),
        ("from insula.testing import memory_store", set[str]()),
        ("from insula.integrations.langchain import watch", set[str]()),
        ("from insula.turn.monitor import assess", set[str]()),
        ("import os, json", set[str]()),
        ("from insula.turn.monitor import assess, gather", {"insula.turn.monitor.gather"}),
        ("from insula import calibration", {"insula.calibration"}),
        (
            "from insula.memory.storage import rows, store",
            {"insula.memory.storage.rows", "insula.memory.storage.store"},
        ),
        ("import insula.memory.storage.store as store", {"insula.memory.storage.store"}),
        ("def test() -> None:\n    from insula_bench import stuck", {"insula_bench.stuck"}),
    ],
)
def test_an_import_is_deep_where_no_user_may_rely_on_it(line: str, internal: set[str], tmp_path: Path) -> None:
    helper, test = tmp_path / "helper.py", tmp_path / "test_it.py"
    helper.write_text(line)
    test.write_text("from helper import a")
    assert house.find_internals(helper, {}) == internal
    assert house.find_internals(test, {"helper": helper}) == internal, "a helper hides nothing"


@pytest.mark.parametrize(("word", "expected"), [("told", True), ("judged", True), ("read", False), ("embed", False)])
def test_a_participle_is_told_from_a_verb(word: str, expected: bool) -> None:
    assert house.is_participle(word) is expected


def test_words_of_other_scripts_are_found_in_texts_and_not_in_docstrings() -> None:
    assert house.holds_foreign_words('WORDS = {"ja": "いつも"}')
    assert not house.holds_foreign_words('def f():\n    """Such as いつも."""\n    return 1  # いつも')
