"""Which files of a project count as its work: code and settings, and no notes, scratch, or generated files.

A change of these may be what mends a failure, and is progress; other edits are neither.
"""

import os

from insula import foreign
from insula.coding.step.programs import CODE_FILES, GENERATED_FILES, NO_CODE_FOLDERS, SCRATCH, SETTINGS_FILES
from insula.coding.step.trace import find_project_root


def is_of_project(path: str) -> bool:
    """Whether a file is code or a setting, by its path from the root of its project."""
    plain = path.replace("\\", "/")
    parts = [part for part in plain.split("/") if part]
    if not parts or plain.startswith(SCRATCH):
        return False
    folders, name = [part.lower() for part in parts[:-1]], parts[-1].lower()
    if any(folder in NO_CODE_FOLDERS or _is_hidden(folder) for folder in folders) or _is_hidden(name):
        return False
    if name.startswith(("tmp", "temp.", "temp_", "temp-", "scratch")) or any(mark in name for mark in GENERATED_FILES):
        return False
    return name.endswith((*CODE_FILES, *SETTINGS_FILES)) or name.startswith(("dockerfile", "makefile", "justfile"))


def is_code(path: str) -> bool:
    """Whether a file holds code, by its ending."""
    return path.lower().endswith((*CODE_FILES, ".sql", ".css", ".scss", ".html", ".sh", ".graphql"))


def _is_hidden(part: str) -> bool:
    return part.startswith(".") and part not in {".", ".."}


def path_inside(cwd: str, path: str) -> str:
    """The path of a file from the root of the project that a folder belongs to; empty where it lies outside."""
    root = find_project_root(cwd)
    folder = foreign.real_path(os.path.dirname(os.path.join(cwd, path)))
    whole = f"{folder}/{os.path.basename(path)}"
    return whole[len(root) :].strip("/") if whole.startswith(root.rstrip("/") + "/") else ""


_HEAD = 1_000
"""Bytes of the file that names what is checked out."""
_BRANCH = "ref: refs/heads/"


def read_branch(cwd: str) -> str:
    """The branch that is checked out in a folder's repository; empty where none is known."""
    if not cwd:
        return ""
    root = find_project_root(cwd)
    try:
        head = f"{root}/.git/HEAD"
        if os.path.isfile(f"{root}/.git"):  # a worktree says where its own stands
            written = foreign.read(f"{root}/.git", _HEAD).decode("utf-8", "replace")
            head = os.path.join(root, written.removeprefix("gitdir:").strip(), "HEAD")
        said = foreign.read(head, _HEAD).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""
    return said.removeprefix(_BRANCH) if said.startswith(_BRANCH) else ""
