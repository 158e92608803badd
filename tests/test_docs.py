"""The code in the docs: each block compiles, those of the library run, and those of `extend.md` are whole parts."""

import ast
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

import insula
from insula import Metacognition, senses, testing
from insula.cli.main import app
from insula.coding.hosts import dialects, hook, switch
from insula.coding.step import senses as felt
from insula.memory.storage.store import Store
from insula.night.cycle import PhaseName, sleep_cycle

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = ("how-to/library.md", "how-to/frameworks.md", "how-to/extend.md", "reference/hosts.md")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def blocks(page: str) -> list[str]:
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


def part(name: str) -> ModuleType:
    """The file of that name on the page, as a module."""
    (source,) = (block for block in blocks("how-to/extend.md") if block.partition("\n")[0].endswith(f"/{name}.py"))
    made = ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), made.__dict__)
    return made


@pytest.mark.parametrize("page", PAGES)
def test_the_code_on_a_page_compiles(page: str) -> None:
    assert blocks(page)
    for block in blocks(page):
        compile(block, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


async def run(block: str, names: Mapping[str, object]) -> dict[str, Any]:
    """The names that a block leaves, run from its first line to its last, with `await` where it stands."""
    known: dict[str, Any] = dict(names)
    code = compile(block, "a page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if (waiting := eval(code, known)) is not None:
        await waiting
    return known


async def test_the_first_example_of_the_library_answers() -> None:
    async def my_agent(prompt: str, *, system: str) -> str:
        assert prompt.startswith("Where do I live?")
        return "You live in Lisbon."

    done = await run(blocks("how-to/library.md")[0], {"my_agent": my_agent})
    assert "You live in Lisbon." in done["answer"]
    assert Path("insula.db").exists()


async def test_the_example_of_a_memory_does_what_it_says() -> None:
    done = await run(blocks("how-to/library.md")[1], {"Metacognition": Metacognition})
    assert done["best"] == "My sister Mia lives in Lisbon."
    assert (done["nothing"].answered, done["memory"].content) == (False, "My sister Mia lives in Porto.")
    assert [change.why for change in done["changes"]] == ["corrected"]
    assert (done["size"] > 0, done["gone"].memories) == (True, (done["memory"].id,))


async def test_the_example_of_the_senses_speaks_of_similar_errors() -> None:
    calls = [SimpleNamespace(name="query", arguments={"sql": f"{n}"}, result="Error: no such table") for n in range(6)]
    await run(blocks("how-to/library.md")[2], {"my_agent": calls})
    assert any("[insula]" in call.result for call in calls)


def test_the_sense_speaks_once_it_is_switched_on(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    flood: Any = part("flood")
    monkeypatch.setitem(sys.modules, "insula.coding.step.senses.flood", flood)
    monkeypatch.setitem(felt.AFTER_CALLS, flood.NAME, lambda state, action: True)

    def read(output: str) -> str:
        call = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/", "transcript_path": ""}
        call |= {"tool_name": "Read", "tool_input": {"file_path": f"/{len(output)}.log"}, "tool_response": output}
        answer = hook.respond(str(home), "claude-code", call, 1_000.0 + len(output))
        return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""

    assert not read("x" * 200_000)
    switch.switch_sense(home, flood.NAME, True)
    assert not read("x" * 1_000)
    assert read("x" * 200_001) == f"[insula] {flood.fact(SimpleNamespace(count=200))} {flood.ADVICE[0][0]}"


def test_the_host_is_told(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setitem(sys.modules, dialects.get_module("acme"), part("acme"))
    events = {"begun": "start", "asked": "prompt", "called": "action", "done": "stop", "left": "end"}
    monkeypatch.setattr(dialects, "EVENTS", {**dialects.EVENTS, "acme": events})
    monkeypatch.setattr(dialects, "NAMES", (*dialects.NAMES, "acme"))
    monkeypatch.setenv("INSULA_HOLDOUT", "off")
    said: list[str] = []
    for number in range(5):
        call = {"event": "called", "session": "s", "tool": "shell", "call": f"{number}", "ok": False}
        call |= {"input": {"command": f"cat missing-{number}"}, "output": f"cat: missing-{number}: No such file"}
        said.append(hook.respond(str(home), "acme", call, 1_000.0 + number))
    notes = [json.loads(each)["note"] for each in said if each]
    assert 0 < len(notes) < len(said)
    assert notes[0].startswith("[insula] 3 turns in a row ended in similar errors.")


async def test_the_phase_is_in_the_report_of_the_night(store: Store) -> None:
    count: Any = part("volume").__dict__["count"]
    mind = Metacognition(store, embed=None)
    for _ in range(3):
        await mind.observe("ana", "monday", "I live in Lisbon.")
    night = await sleep_cycle(store, "ana", [(PhaseName.TRENDS, count)], force=True)
    assert [(one.state, dict(one.found)) for one in night.phases] == [("done", {"sessions": 1, "messages": 3})]


HALVES: Mapping[str, tuple[str, str]] = {
    "flood": ("def fact(", "def facts("),
    "acme": ("DIALECT = ", "HALF = "),
    "volume": ("(night: Night)", "(night: Night, more: int)"),
}
"""By part: what is taken out of it, and what stands there instead."""
ENTRIES = """
import {0}flood, {0}acme, {0}volume
from insula.coding.hosts.dialects import BaseDialect
from insula.night.cycle import Phase
from insula.coding.step.senses.protocol import Sense
sense: Sense = {0}flood
dialect: BaseDialect = {0}acme.DIALECT({{}})
phase: Phase = {0}volume.count
"""


def test_a_whole_part_passes_the_type_checker_and_a_half_one_does_not(tmp_path: Path) -> None:
    for block in blocks("how-to/extend.md"):
        name = Path(block.partition("\n")[0]).stem
        (tmp_path / f"{name}.py").write_text(block)
        (tmp_path / f"half_{name}.py").write_text(block.replace(*HALVES[name]))
    for begin in ("", "half_"):
        (tmp_path / f"{begin}entries.py").write_text(ENTRIES.format(begin))
    config = {"extraPaths": [str(ROOT / "src")], "typeCheckingMode": "standard", "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", "-p", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    red = [(Path(one["file"]).name, one["range"]["start"]["line"]) for one in found if one["severity"] == "error"]
    assert red == [("half_entries.py", line) for line in (5, 6, 7)], found


@pytest.mark.parametrize("library", ["openai", "pydantic_ai"])
def test_a_program_of_an_integration_puts_memory_before_a_model(
    library: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = blocks("how-to/frameworks.md")
    (program,) = (block for block in found if re.search(rf"^from {library}[. ]", block, re.M))
    (attempt,) = (block for block in found if "FakeServer" in block)
    for name, block in (("agent.py", program), ("try.py", attempt)):
        Path(name).write_text(block, "utf-8")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "")  # what the program sets is taken back
    runpy.run_path("try.py", run_name="__main__")
    shown = capsys.readouterr().out
    assert "In Lisbon.\nWhere does my sister live?" in shown
    assert "- My sister Mia lives in Lisbon." in shown


@pytest.fixture
def is_fresh(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bool]:
    """Whether a tool, by its name, finds that the page which it writes is up to date."""

    def run_check(tool: str) -> bool:
        path = str(ROOT / "tools" / f"{tool}.py")
        monkeypatch.setattr(sys, "argv", [path, "--check"])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(path, run_name="__main__")
        return not ended.value.code

    return run_check


def test_the_reference_is_made_of_the_docstrings_as_they_are(is_fresh: Callable[[str], bool]) -> None:
    assert is_fresh("reference"), "run: python tools/reference.py"


def test_the_page_of_settings_is_made_of_their_comments_as_they_are(is_fresh: Callable[[str], bool]) -> None:
    assert is_fresh("settings"), "run: python tools/settings.py"


def test_the_schemas_of_what_a_night_asks_for_are_as_they_stand_in_the_docs(is_fresh: Callable[[str], bool]) -> None:
    assert is_fresh("asked"), "raise VERSION if answers of before would not fit, and run: python tools/asked.py"


def test_each_public_name_stands_in_the_reference_with_what_it_is() -> None:
    text = (DOCS / "reference.md").read_text("utf-8")
    public = {*dir(insula), *senses.__all__, *testing.__all__} - {"__version__"}
    told = dict(re.findall(r"^### (\w+)\n\n(.*?)(?=^###? |\Z)", text, re.M | re.S))
    assert public <= told.keys()
    said = {
        name: re.sub(r"```.*?```|`[^`]*`|^\* .*$", "", entry, flags=re.M | re.S).strip() for name, entry in told.items()
    }
    assert [name for name in public if not said[name]] == []


USED = re.compile(r"\b(turn|mind|metacognition)\.([a-z]\w*)")
KINDS = {"turn": "Turn", "mind": "Metacognition", "metacognition": "Metacognition"}


def test_the_docs_the_examples_and_the_contract_use_promised_names_alone() -> None:
    text = (DOCS / "reference.md").read_text("utf-8")
    told = dict(re.findall(r"^### (\w+)\n\n(.*?)(?=^###? |\Z)", text, re.M | re.S))
    promised = {
        kind: set(re.findall(r"^\* `(?:await |async for … in )?(\w+)", told[kind], re.M))
        for kind in ("Turn", "Metacognition")
    }
    code = {page: "\n".join(blocks(page)) for page in PAGES}
    code["README.md"] = "\n".join(BLOCK.findall((ROOT / "README.md").read_text("utf-8")))
    files = [ROOT / "examples" / "library.py", *(ROOT / "tests" / "contract").glob("test_*.py")]
    code |= {file.name: file.read_text("utf-8") for file in files}
    used = {(page, name, member) for page, text in code.items() for name, member in USED.findall(text)}
    assert sorted(one for one in used if one[2] not in promised[KINDS[one[1]]]) == []


# Each command that a page names is there, with its options


EVERY_PAGE = [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
]
NAMED = re.compile(r"(?:`|^\$ |^    |^)insula ([a-z]+)((?: [^\s`#|&>]+)*)", re.M)
COMING: set[str] = set()
"""Named by pages before they are there; each goes from here with the change that brings it."""


@cache
def build_commands() -> TyperGroup:
    """The whole command line."""
    return cast(TyperGroup, typer.main.get_command(app))


def find_command(words: list[str]) -> tuple[TyperCommand | TyperGroup, list[str]]:
    """The command that the first words name, and the words behind it."""
    found: TyperCommand | TyperGroup = build_commands()
    while isinstance(found, TyperGroup) and words:
        below = found.get_command(typer.Context(found), words[0].strip(","))
        if below is None:
            break
        found, words = cast(TyperCommand | TyperGroup, below), words[1:]
    return found, words


def find_unknown(words: list[str]) -> Iterator[str]:
    """What of a line is no command of ours, or none of its options."""
    command, rest = find_command(words)
    name = " ".join(words[: len(words) - len(rest)])
    if isinstance(command, TyperGroup) and rest and rest[0].isalpha() and rest[0].islower():
        yield f"{name} {rest[0]}".strip()
        return
    known = {"--help", *(option for each in command.params for option in (*each.opts, *each.secondary_opts))}
    for word in (re.sub(r"[\],;:).=].*$", "", each.lstrip("[(")) for each in rest):
        if word.startswith("--") and word not in known:
            yield f"{name} {word}"


def test_each_command_that_a_page_names_is_there_with_its_options() -> None:
    lines = {(page, line) for page in EVERY_PAGE for line in NAMED.findall(page.read_text("utf-8"))}
    assert len(lines) > 100
    unknown = {
        (wrong, str(page.relative_to(ROOT)))
        for page, (name, rest) in lines
        for wrong in find_unknown([name, *rest.split()])
        if wrong not in COMING
    }
    assert sorted(unknown) == []
