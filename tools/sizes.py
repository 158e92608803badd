"""The sizes in docs/reference/dependencies.md, measured: `python tools/sizes.py`. It needs the package registry.

Each row's packages are installed in a folder that is thrown away, with bytecode. What counts is what no row above has
brought; for an extra, what the package `insula` does not bring.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "dependencies.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
SIZE = re.compile(r"(?:< 1|\d+) MB")
ROW = re.compile(r"^\| ([a-z][^|]*?) \|.*$", re.M)
NAME = re.compile(r"[a-z][\w-]*(?:\[\w+\])?")
COLUMN = -3
"""Of the sizes: the last but one."""
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

Folders = dict[str, int]
"""What lies in a folder of packages, with its bytes."""


def main() -> None:
    """Write the page anew."""
    text = PAGE.read_text("utf-8")
    packages, _, extras = text.partition("\nExtras\n")
    brought: Folders = {}
    packages = ROW.sub(lambda row: measured(row, brought, grows=True), packages.rstrip("\n")) + "\n"
    extras = ROW.sub(lambda row: measured(row, brought, grows=False), extras)
    PAGE.write_text(f"{packages}\nExtras\n{extras}", "utf-8")


def measured(row: re.Match[str], brought: Folders, *, grows: bool) -> str:
    """A row with its sizes: one for all of its packages, or one for each extra where it names as many."""
    names, cells = NAME.findall(row[1].partition(", on ")[0]), row[0].split("|")
    if names[0] in {"package", "extra", "file", "htmx"}:
        return row[0]
    wanted, shown = [required(name, grows) for name in names], len(SIZE.findall(cells[COLUMN]))
    if grows or shown < len(wanted):
        wanted = [[one for each in wanted for one in each]]
    if not all(wanted) or not (grows or shown):
        return row[0]
    sizes = iter([added(one, brought, grows) for one in wanted])
    cells[COLUMN] = SIZE.sub(lambda found: next(sizes, found[0]), cells[COLUMN])
    return "|".join(cells)


def required(name: str, is_package: bool) -> list[str]:
    """What is installed for a name: a package in the range of the project, or all of an extra."""
    if not is_package:
        return EXTRAS.get(name, [])
    bare = name.partition("[")[0]
    ranges = [one for some in (PROJECT["dependencies"], *EXTRAS.values()) for one in some]
    found = next((one for one in ranges if re.match(rf"{bare}(?![\w-])", one)), name)
    return [found.partition(";")[0] if "[" not in name else f"{name}{found.partition(']')[2]}"]


def added(requirements: Sequence[str], brought: Folders, grows: bool) -> str:
    """The size of what they bring beside what is there."""
    with tempfile.TemporaryDirectory() as folder:
        uv = os.environ.get("UV", str(Path(sys.executable).parent / "uv"))
        how = ("--quiet", "--compile-bytecode", "--python-version", PYTHON, "--target", folder)
        subprocess.run((uv, "pip", "install", *how, *requirements), check=True)
        found = {entry.name: weight(entry) for entry in Path(folder).iterdir()}
    new = sum(size for name, size in found.items() if name not in brought)
    if grows:
        brought |= found
    print(f"{', '.join(requirements)}: {new / 1e6:.1f} MB", flush=True)
    return f"{new / 1e6:.0f} MB" if new >= 1e6 else "< 1 MB"


def weight(entry: Path) -> int:
    """Bytes of a file or of all in a folder."""
    return sum(file.stat().st_size for file in (entry.rglob("*") if entry.is_dir() else [entry]) if file.is_file())


if __name__ == "__main__":
    main()
