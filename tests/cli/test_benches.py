"""`insula bench` in a clone of the repository, and in an installed package, which has no benchmarks."""

import pytest
import typer
from typer.testing import CliRunner

from insula.cli import bench
from insula.errors import InputError


def group() -> typer.Typer:
    app = typer.Typer()
    app.add_typer(bench.find_commands(), name="bench")
    app.command("other")(lambda: None)
    return app


def test_a_clone_of_the_repository_has_the_benchmarks() -> None:
    shown = CliRunner().invoke(group(), ["bench", "--help"])
    assert "confidence" in shown.output
    assert "conversations" in shown.output


@pytest.mark.parametrize("words", [["bench"], ["bench", "confidence", "--data", "x"]])
def test_an_installed_package_says_where_the_benchmarks_are(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr(bench, "find_spec", nowhere)
    refused = CliRunner().invoke(group(), words)
    assert isinstance(refused.exception, InputError)
    assert "benchmarks/" in str(refused.exception)
