"""How many files import a file: the blast radius of a change.

Counted with `git grep` over the files that git does not ignore, without a shell, within 150 milliseconds, once per
file and session. A file's name is an argument and a literal pattern: nothing that it holds is run or read as an
expression. Nor does git read the repository's own configuration, which can name programs to run and folders to look in.
"""

import os
import time

from insula.foreign import real_path, search_path
from insula.value import dump_json, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Language = tuple[list[str], Callable[[str, str], bool]]

SECONDS = 0.15
"""What a search may take; a repository too large for it has no blast radius."""
CACHE = "blast.json"
_LARGEST = 4_000_000
"""Bytes of matching lines that are looked at."""
_LONGEST_LINE = 1_000
"""No import is longer, and a pattern may take its time over what is."""
_TOO_COMMON = frozenset(("index", "main", "mod", "lib", "__init__", "utils", "types", "test", "init", "setup"))


def count_importers(folder: str, path: str, cwd: str, seconds: float = SECONDS) -> int:
    """How many other files of the repository import the file; 0 where that was told before in this session.

    Args:
        folder: of the agent in the session, where it is noted that it was told.
        path: absolute, or from `cwd`.
    """
    whole = real_path(os.path.join(cwd, path))
    language = LANGUAGES.get(os.path.splitext(whole)[1])
    if language is None or not _is_news(folder, whole):
        return 0
    return len(list_importers(whole, seconds))


def _is_news(folder: str, path: str) -> bool:
    try:
        with open(f"{folder}/{CACHE}", encoding="utf-8") as file:
            told: list[str] = load_json(file.read())
    except (OSError, ValueError):
        told = []
    from insula.coding.step import trace
    from insula.coding.step.digests import hash_text

    name = hash_text(path)
    if name in told:
        return False
    trace.make_folder(folder)
    trace.replace_file(f"{folder}/{CACHE}", dump_json([*told[-200:], name]).encode())
    return True


def list_importers(path: str, seconds: float = SECONDS) -> set[str]:
    """The files of its repository that import a file, as paths from the root; empty where it cannot be told in time."""
    from insula.coding.step.trace import find_project_root

    root, language = find_project_root(os.path.dirname(path)), LANGUAGES.get(os.path.splitext(path)[1])
    if language is None or not os.path.exists(f"{root}/.git"):
        return set()
    inside = os.path.relpath(path, root).replace(os.sep, "/")
    words, imports = language(inside, root)
    if not words:
        return set()
    kinds = [f"*{suffix}" for suffix, other in LANGUAGES.items() if other is language]
    importers: set[str] = set()
    end = time.monotonic() + 2 * seconds
    for name, line in _grep_words(root, words, kinds, seconds):
        if name not in importers and name != inside and len(line) <= _LONGEST_LINE and imports(name, line):
            importers.add(name)
        if time.monotonic() > end:
            return set()
    return importers


def _grep_words(root: str, words: list[str], kinds: list[str], seconds: float) -> "Iterator[tuple[str, str]]":
    """The lines of files of these kinds that hold one of the words, each with its file's name."""
    import subprocess

    command = ["git", "grep", "--no-index", "--exclude-standard", "-I", "-w", "-F", "-z"]
    try:
        done = subprocess.run(  # noqa: S603 no shell; the word is an argument after -e
            [*command, *(part for word in words for part in ("-e", word)), "--", *kinds],
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={"PATH": search_path(), "GIT_DIR": os.devnull, "LC_ALL": "C"},  # no repository, so no configuration
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    for match in done.stdout[:_LARGEST].decode("utf-8", "replace").splitlines():
        name, _, line = match.partition("\0")
        yield name, line.strip()


# Per language: words of which an importer must hold one, and whether a line of a file imports.


def _read_python(path: str, root: str) -> "Language":
    import re

    module, package = _name_module(path, root), path.endswith("/__init__.py")
    wanted = {module, _name_from_root(path)}
    folder = os.path.dirname(f"{root}/{path}")

    def does_import(name: str, line: str) -> bool:
        if match := re.match(r"from\s+(\.*)([\w.]*)\s+import\s+(.*)", line):
            base = _resolve_import(name, root, len(match[1]), match[2])
            names: list[str] = re.findall(r"\w+(?=\s*(?:as\b|,|\)|#|\\|$))", match[3])
            if any(f"{base}.{each}" in wanted for each in names):
                return True
            return base in wanted and not (package and names and all(_is_module(folder, each) for each in names))
        match = re.match(r"import\s+(.*)", line)
        return match is not None and any(each.split(" as ")[0].strip() in wanted for each in match[1].split(","))

    words = [module.rsplit(".", 1)[-1], *(["from ."] if package else [])]  # `from . import x` names no package
    return words, does_import


def _name_module(path: str, root: str) -> str:
    """The name that a Python file is imported by: from the outermost folder that is a package."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    start = len(parts) - 1
    while start > 0 and os.path.exists("/".join((root, *parts[:start], "__init__.py"))):
        start -= 1
    return ".".join(parts[start:])


def _name_from_root(path: str) -> str:
    """The name from the root of the repository, for packages without `__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__").removeprefix("src/").replace("/", ".")


def _resolve_import(name: str, root: str, dots: int, base: str) -> str:
    if not dots:
        return base
    parts = _name_module(name, root).split(".")
    parts = parts[: len(parts) - dots + name.endswith("/__init__.py")]
    return ".".join([*parts, base] if base else parts)


def _is_module(folder: str, name: str) -> bool:
    return os.path.exists(f"{folder}/{name}.py") or os.path.isdir(f"{folder}/{name}")


def _read_script(path: str, root: str) -> "Language":
    import re

    stem = os.path.splitext(path)[0]
    stem = stem.removesuffix(".d")
    wanted = stem.removesuffix("/index")

    def does_import(name: str, line: str) -> bool:
        for target in re.findall(r"""(?:from|import|require\(|import\()\s*['"]([^'"]{1,200})['"]""", line):
            whole = os.path.normpath(os.path.join(os.path.dirname(name), target)).replace(os.sep, "/")
            bare = (
                os.path.splitext(whole)[0] if whole.endswith((".js", ".ts", ".tsx", ".jsx", ".mjs", ".vue")) else whole
            )
            if target.startswith(".") and bare in {stem, wanted}:
                return True
            if not target.startswith(".") and "/" in target and wanted.endswith(target.lstrip("@~/").split("/", 1)[-1]):
                return target[0] in "@~"
        return False

    return [wanted.rsplit("/", 1)[-1]], does_import


def _read_named(pattern: str) -> "Callable[[str, str], Language]":
    def read_package(path: str, root: str) -> "Language":
        import re

        stem = os.path.splitext(path)[0].rsplit("/", 1)[-1]
        if stem in _TOO_COMMON:
            return [], lambda name, line: False
        compiled = pattern.replace("NAME", re.escape(stem))
        return [stem], lambda name, line: re.match(compiled, line) is not None

    return read_package


_JVM = _read_named(r"import\s+(?:static\s+)?[\w.]+\.NAME\b")
_RUST = _read_named(r"(?:pub\s+)?(?:use|mod)\s+(?:[\w:{, ]+::\s*\{?\s*)?(?:[\w:, ]+)?\bNAME\b")
_C = _read_named(r"""#\s*include\s+["<](?:[\w./-]*/)?NAME\.\w+[">]""")
_RUBY = _read_named(r"""require(?:_relative)?\s*\(?['"](?:[\w./-]*/)?NAME['"]""")

LANGUAGES = {
    ".py": _read_python,
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte"), _read_script),
    **dict.fromkeys((".java", ".kt", ".scala"), _JVM),
    ".rs": _RUST,
    **dict.fromkeys((".h", ".hpp", ".hh", ".c", ".cc", ".cpp"), _C),
    ".rb": _RUBY,
}
"""Suffix and how its language imports. Go imports packages, not files, so a changed file tells nothing there."""
