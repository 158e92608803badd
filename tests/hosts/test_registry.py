"""A host's name stands in one place, and everything that knows hosts knows the same ones."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest

from insula.coding.hosts import doctor, live, probe, records, registry, runtime
from insula.coding.hosts.places import HOSTS


def test_places_and_probes_know_the_hosts_of_the_registry() -> None:
    assert tuple(HOSTS) == registry.NAMES
    assert tuple(probe._FORMS) == registry.NAMES  # pyright: ignore[reportPrivateUsage]
    assert {host.id for host in HOSTS.values() if host.unproven} == registry.EXPERIMENTAL


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
    assert starting == known | {"coding/hosts/probe.py"}
    for starts in (probe.attempt, probe.version):
        assert inspect.signature(starts).parameters["command"].annotation is records.Installed
    made = [path.name for path in package.rglob("*.py") if "Installed(" in path.read_text("utf-8")]
    assert made == ["records.py"]


def test_what_can_be_proven_has_a_client() -> None:
    assert doctor.LIVE == registry.PROVEN == frozenset(live.CLIENTS)


def test_the_linter_watches_each_dialect() -> None:
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8"))
    contracts = {one["name"]: one for one in project["tool"]["importlinter"]["contracts"]}
    watched = contracts["the hook stands on the senses and on nothing above them"]["source_modules"]
    assert {registry.module(name) for name in registry.NAMES} <= set(watched)


@pytest.mark.parametrize("name", registry.NAMES)
def test_each_dialect_has_what_the_hook_asks_of_it(name: str) -> None:
    dialect = registry.dialect(name)
    assert dialect.event({}, 1.0) is None
    assert "TOLD" in str(dialect.answer("PostToolUse", "TOLD"))
    assert dialect.context("") == (0, 0)
    assert dialect.turn is None or dialect.turn("", "call") == ""
    assert dialect.remarks is None or dialect.remarks("") == ()


def test_a_host_that_there_is_not_is_no_module() -> None:
    with pytest.raises(LookupError):
        registry.dialect("../../evil")


def test_the_copy_of_the_hook_holds_the_tables_that_its_modules_read() -> None:
    assert "insula/coding/step/word/words.json" in runtime.modules()
