"""What of a project is code: what tests, builds and linters are for, and what a commit of work is about.

Code lies inside the project's root, is tracked or to be tracked, and is written in a programming language. Documents,
scratch, generated files, what is vendored, and the configuration of somebody's environment are none, nor is what git is
told to ignore. Settings of the project (a manifest, a workflow, a style sheet) are told apart: they may be what mends a
failure, but no test is run for them. What git ignores is read from its files as data; nothing of a repository is run.
"""

import os

from insula import foreign
from insula.step.action import CODE, SETTINGS
from insula.step.programs import CODE_FILES, GENERATED_FILES, NO_CODE_FOLDERS, SCRATCH, SETTINGS_FILES

MANIFESTS = ("package.json", "Cargo.toml", "pyproject.toml", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts")
COMMIT_HOOKS = (
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".git/hooks/pre-commit",
)
LARGEST = 64 * 1024
"""Bytes of a file of patterns that are read, and of a manifest."""
_INDEX = 32 * 1024 * 1024
"""Bytes of git's index in which a path is looked for."""
_PATTERNS = 1_000


def role(path: str) -> str:
    """What a file is by its path, from the root of its project: code, settings, or neither."""
    plain = path.replace("\\", "/")
    parts = [part for part in plain.split("/") if part]
    if not parts or plain.startswith(SCRATCH):
        return ""
    folders, name = [part.lower() for part in parts[:-1]], parts[-1].lower()
    if any(folder in NO_CODE_FOLDERS or _is_hidden(folder) for folder in folders) or _is_hidden(name):
        return ""
    if name.startswith(("tmp", "temp.", "temp_", "temp-", "scratch")) or any(mark in name for mark in GENERATED_FILES):
        return ""
    if name.endswith(CODE_FILES) or name.startswith("dockerfile") or name in {"makefile", "justfile"}:
        return CODE
    return SETTINGS if name.endswith(SETTINGS_FILES) else ""


def _is_hidden(part: str) -> bool:
    return part.startswith(".") and part not in {".", ".."}


def role_in(root: str, path: str) -> str:
    """What a file is in the project whose root is given: nothing, where it lies outside or git ignores it.

    Args:
        root: a folder, by its real path.
        path: a file, absolute.
    """
    inside = _inside(root, path)
    if not inside:
        return ""
    found = role(inside)
    return "" if found and _is_ignored(root, inside) and not _is_tracked(root, inside) else found


def root_of(cwd: str) -> str:
    """The root of the project that a folder belongs to: that of its repository, else itself, by its real path."""
    path = here = foreign.real_path(cwd)
    while path != os.path.dirname(path):
        if os.path.exists(f"{path}/.git"):
            return path
        path = os.path.dirname(path)
    return here


def checks_commits(root: str) -> bool:
    """Whether the project has a hook that checks a commit before it is made."""
    return any(os.path.exists(f"{root}/{name}") for name in COMMIT_HOOKS)


def packages(root: str, path: str) -> tuple[str, ...]:
    """The names of the package within a project that a file is of: its folder, and what its manifest calls it.

    Empty where the project has no packages of its own, or the file is of the outermost.
    """
    inside = _inside(root, path)
    folder = os.path.dirname(inside)
    while folder:
        for name in MANIFESTS:
            if os.path.isfile(f"{root}/{folder}/{name}"):
                return tuple(filter(None, (folder, _named(root, f"{root}/{folder}/{name}"))))
        folder = os.path.dirname(folder)
    return ()


def _inside(root: str, path: str) -> str:
    """The path from the root; empty where it lies outside."""
    folder = foreign.real_path(os.path.dirname(path))
    whole = f"{folder}/{os.path.basename(path)}"
    return whole[len(root) :].strip("/") if root and whole.startswith(root.rstrip("/") + "/") else ""


def _named(root: str, manifest: str) -> str:
    """What a manifest calls its package."""
    import re

    text = _read(root, manifest).decode("utf-8", "replace")
    found = re.search(r"""(?:^|[{,])\s*(?:"name"\s*:|name\s*=|module\s)\s*["']?([\w@./-]{1,100})""", text, re.MULTILINE)
    return found[1] if found else ""


def _read(root: str, path: str, most: int = LARGEST) -> bytes:
    """The beginning of a file of a project; empty for what is none, such as a pipe, and for a link that leads out."""
    try:
        with os.fdopen(foreign.opened(path, root), "rb") as file:
            return file.read(most)
    except (OSError, ValueError):
        return b""


# What git ignores.


def _is_ignored(root: str, inside: str) -> bool:
    """Whether git is told to ignore a path: the last pattern that fits it or a folder above it decides."""
    parts = inside.split("/")
    rules = [("", line) for line in _lines(root, f"{root}/.git/info/exclude")]
    for depth in range(len(parts)):
        folder = "/".join(parts[:depth])
        rules += [(folder, line) for line in _lines(root, os.path.join(root, folder, ".gitignore"))]
        is_folder, whole = depth < len(parts) - 1, "/".join(parts[: depth + 1])
        ignored = False
        for base, line in rules:
            no, pattern = line.startswith("!"), line.removeprefix("!")
            if no is ignored and fits(pattern, whole[len(base) :].lstrip("/") if base else whole, is_folder):
                ignored = not no
        if ignored:
            return True
    return False


def _lines(root: str, path: str) -> "list[str]":
    text = _read(root, path).decode("utf-8", "replace")
    lines = [line.rstrip() for line in text.splitlines()[:_PATTERNS]]
    return [line for line in lines if line and not line.startswith("#")]


def fits(pattern: str, path: str, is_folder: bool) -> bool:
    """Whether a pattern of a `.gitignore`, without its `!`, fits a path from the folder that the file lies in."""
    if pattern.endswith("/"):
        if not is_folder:
            return False
        pattern = pattern.rstrip("/")
    if pattern.startswith("**/") and "/" not in pattern[3:]:
        pattern = pattern[3:]
    anchored, pattern = "/" in pattern, pattern.lstrip("/")
    subject = path if anchored else path.rsplit("/", 1)[-1]
    if not any(mark in pattern for mark in "*?[\\"):
        return subject == pattern
    if pattern.startswith("*") and not anchored and not any(mark in pattern[1:] for mark in "*?[\\"):
        return subject.endswith(pattern[1:])
    import re

    try:
        return re.fullmatch(_expression(pattern), subject) is not None
    except re.error:
        return False


def _expression(pattern: str) -> str:
    import re

    found, place = "", 0
    while place < len(pattern):
        if pattern.startswith("**/", place):
            found, place = found + "(?:.*/)?", place + 3
        elif pattern.startswith("**", place):
            found, place = found + ".*", place + 2
        elif pattern[place] == "[" and (end := pattern.find("]", place + 2)) > 0:
            inner = pattern[place + 1 : end].replace("\\", "\\\\")
            found, place = f"{found}[{'^' + inner[1:] if inner[0] in '!^' else inner}]", end + 1
        elif pattern[place] == "\\" and place + 1 < len(pattern):
            found, place = found + re.escape(pattern[place + 1]), place + 2
        else:
            found += {"*": "[^/]*", "?": "[^/]"}.get(pattern[place]) or re.escape(pattern[place])
            place += 1
    return found


def _is_tracked(root: str, inside: str) -> bool:
    """Whether git's index holds a path; where the index is not at hand, it is taken not to."""
    return inside.encode("utf-8", "surrogateescape") + b"\0" in _read(root, f"{root}/.git/index", _INDEX)
