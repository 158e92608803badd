"""A host's name stands in one place, and everything that knows hosts knows the same ones."""

import inspect
import json
import re
import tomllib
from pathlib import Path

import pytest

from insula.coding.hosts import dialects, live, records, runtime, trials
from insula.coding.hosts.places import HOSTS


def test_places_and_trials_know_the_hosts_of_the_table() -> None:
    assert tuple(HOSTS) == dialects.NAMES
    assert tuple(json.loads(trials.FORMS.read_text("utf-8"))) == dialects.NAMES
    assert {host.id for host in HOSTS.values() if host.unproven} == dialects.EXPERIMENTAL


def test_one_place_starts_a_process_for_a_hook_and_takes_what_the_record_has_alone() -> None:
    """A new place that starts one has to be looked at: who names the program, and from which folder?"""
    package = Path(runtime.PACKAGE)
    starting = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(
            r"\bsubprocess\b|\bos\.(system|popen|exec|spawn|posix_spawn|startfile|fork)|\bpty\b",
            path.read_text("utf-8"),
        )
    }
    known = {"coding/hosts/runtime.py", "coding/hosts/live.py", "llm/weights.py", "coding/step/blast.py"}
    assert starting == known | {"coding/hosts/trials.py"}
    for starts in (trials.try_command, trials.read_version):
        assert inspect.signature(starts).parameters["command"].annotation is records.Installed
    made = [path.name for path in package.rglob("*.py") if "Installed(" in path.read_text("utf-8")]
    assert made == ["records.py"]


def test_what_can_be_proven_has_a_client() -> None:
    assert frozenset(live.CLIENTS) == dialects.PROVEN


def test_the_linter_watches_the_hook_and_its_dialects() -> None:
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8"))
    contracts = {one["name"]: one for one in project["tool"]["importlinter"]["contracts"]}
    watched = contracts["the hook stands on the senses and on nothing above them"]["source_modules"]
    assert {"insula.coding.hosts.hook", dialects.__name__} <= set(watched)


@pytest.mark.parametrize("name", dialects.NAMES)
def test_each_dialect_has_what_the_hook_asks_of_it(name: str) -> None:
    dialect = dialects.load_dialect(name)
    assert dialect.read_event({}, 1.0) is None
    assert "TOLD" in str(dialect.write_answer("PostToolUse", "TOLD"))
    assert dialect.read_context("") == (0, 0)
    assert dialect.read_turn("", "call") == ""
    assert dialect.read_remarks("") == ()


def test_a_host_that_there_is_not_is_no_module() -> None:
    with pytest.raises(LookupError):
        dialects.load_dialect("../../evil")


def test_the_copy_of_the_hook_holds_the_tables_that_its_modules_read() -> None:
    assert "insula/coding/step/instructions/words.json" in runtime.collect_modules()
