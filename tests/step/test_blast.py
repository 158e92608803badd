"""The blast radius: agreement with an import graph, no shell, no news twice, bounded time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
import rich

from insula.coding.step import blast
from insula.coding.step.blast import count_importers, list_importers
from insula.coding.step.senses.spatial import WIDE

PATIENT = 30.0


def repository(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def test_it_agrees_with_the_import_graph_of_a_real_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(rich.__file__).parent
    shutil.copytree(package, tmp_path / "repo" / "rich", ignore=shutil.ignore_patterns("__pycache__"))
    root = repository(tmp_path / "repo", {})
    monkeypatch.setattr(sys, "path", [str(root), *sys.path])
    graph = grimp.build_graph("rich", cache_dir=None)

    def file(module: str) -> str:
        path = root.joinpath(*module.split("."))
        return str((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).relative_to(root))

    right = wrong = missed = 0
    for module in graph.modules:
        true = {file(other) for other in graph.find_modules_that_directly_import(module)}
        if len(true) >= WIDE:
            found = list_importers(str(root / file(module)), PATIENT)
            right, wrong, missed = right + len(found & true), wrong + len(found - true), missed + len(true - found)
    assert right > 100
    assert right / (right + missed) >= 0.95
    assert right / (right + wrong) >= 0.9


def test_typescript_imports_are_counted_by_path(tmp_path: Path) -> None:
    users = {f"src/pages/p{n}.tsx": "import { api } from '../lib/api';\n" for n in range(4)}
    others = {
        "src/lib/api.ts": "export const api = 1;\n",
        "src/lib/other/api.ts": "export const api = 2;\n",
        "src/lib/use.ts": "const { api } = require('./api.js')\n",
        "src/deep/use.ts": "import api from '@/lib/api'\n",
        "src/wrong.ts": "import api from './other/api'\n// see lib/api\nconst x = 'api';\n",
        "docs/api.md": "import { api } from '../lib/api'\n",
    }
    root = repository(tmp_path, users | others)
    assert list_importers(str(root / "src/lib/api.ts"), PATIENT) == {*users, "src/lib/use.ts", "src/deep/use.ts"}


@pytest.mark.parametrize(
    ("name", "line", "user"),
    [
        ("src/main/java/a/b/Store.java", "import a.b.Store;", "src/main/java/a/c/Use.java"),
        ("src/store.rs", "use crate::store::Store;", "src/main.rs"),
        ("include/store.h", '#include "store.h"', "src/main.c"),
        ("lib/store.rb", "require_relative '../lib/store'", "app/main.rb"),
    ],
)
def test_other_languages_have_their_own_imports(tmp_path: Path, name: str, line: str, user: str) -> None:
    root = repository(tmp_path, {name: "", user: f"{line}\n", "README.md": line})
    assert list_importers(str(root / name), PATIENT) == {user}


def test_the_name_of_a_file_never_reaches_a_shell(tmp_path: Path) -> None:
    name = "a$(touch PWNED);`touch PWNED`|x.py"
    root = repository(tmp_path, {name: "", "b.py": "import os\n", "--help.py": "", "-O.py": ""})
    for each in (name, "--help.py", "-O.py"):
        list_importers(str(root / each), PATIENT)
    assert not list(tmp_path.rglob("PWNED"))


def test_a_name_is_no_pattern(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.*b.py": "", "use.py": "import axxb\n"})
    assert list_importers(str(root / "a.*b.py"), PATIENT) == set()


def test_it_is_told_once_per_file_and_session(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"m.py": "", **{f"u{n}.py": "import m\n" for n in range(6)}})
    folder = str(tmp_path / "session")
    assert count_importers(folder, "m.py", str(root), PATIENT) == 6
    assert count_importers(folder, str(root / "m.py"), str(root), PATIENT) == 0


def test_outside_a_repository_there_is_no_radius(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("")
    assert list_importers(str(tmp_path / "m.py")) == set()
    assert count_importers(str(tmp_path / "s"), "", "") == 0


def test_no_program_that_a_repository_brings_or_names_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its `git`, where the working folder is on PATH, or by the settings in its `.git/config`."""
    root = repository(tmp_path / "r", {"m.py": "", "user.py": "import m\n", ".gitattributes": "* diff=x filter=x\n"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/other.py").write_text("import m\n")
    evil = f"echo run >>{tmp_path}/canary; false"
    for key in ("core.fsmonitor", "core.pager", "pager.grep", "alias.grep", "diff.external", "diff.x.textconv"):
        subprocess.run(["git", "config", key, f"!{evil}" if key == "alias.grep" else evil], cwd=root, check=True)
    subprocess.run(["git", "config", "core.worktree", str(tmp_path / "elsewhere")], cwd=root, check=True)
    (root / "git").write_text(f"#!/bin/sh\n{evil}\n")
    (root / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    assert list_importers(str(root / "m.py"), PATIENT) == {"user.py"}
    assert not (tmp_path / "canary").exists()


def test_a_search_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(30)\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent))
    (tmp_path / ".git").mkdir()
    assert list_importers(str(tmp_path / "m.py"), 0.05) == set()
    assert blast.SECONDS <= 0.15
