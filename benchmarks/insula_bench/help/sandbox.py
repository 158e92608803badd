"""Commands that a model writes, run where they cannot leave their folder, reach the network or go on for ever."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from insula.errors import InputError

SECONDS = 20.0
OUTPUT = 1_500
"""Characters of what a command wrote that are shown: its beginning and its end."""
_SCRIPT = Path(__file__).with_name("sandbox.sh")
_NAMESPACES = ("unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child")


class Ran(NamedTuple):
    """What came of a command."""

    code: int
    output: str


def run(folder: Path, command: str, seconds: float = SECONDS) -> Ran:
    """Runs a command of a shell in a folder, in namespaces of its own.

    Returns:
        Its exit status (124 where it was ended for taking too long), and what it wrote.

    Raises:
        InputError: this system has no namespaces that a user may make.
    """
    require()
    return _run(folder, command, seconds)


@cache
def require() -> None:
    """See that commands can be kept in.

    Raises:
        InputError: they cannot.
    """
    with TemporaryDirectory() as name:
        inner = Path(name, "inner")
        inner.mkdir()
        done = _run(inner, "touch here; touch ../outside; true", 30) if shutil.which("unshare") else Ran(1, "")
        kept_in = done.code == 0 and (inner / "here").exists() and not Path(name, "outside").exists()
    if not kept_in:
        raise InputError(
            "The tasks run commands that a model wrote, and this system has no way to keep them in their folder: "
            "it needs Linux with `unshare` and user namespaces."
        )


def _run(folder: Path, command: str, seconds: float) -> Ran:
    process = subprocess.Popen(
        [*_NAMESPACES, "sh", str(_SCRIPT), str(folder.resolve()), command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, code = process.communicate()[0], 124
    return Ran(code, shortened(output[: 64 * OUTPUT].decode(errors="replace")))


def shortened(text: str) -> str:
    """A text's beginning and end, where it is long."""
    if len(text) <= OUTPUT:
        return text.strip()
    return f"{text[: OUTPUT // 3]}\n…\n{text[-2 * OUTPUT // 3 :]}".strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Puts files into a folder.

    Raises:
        InputError: a name leads out of it.
    """
    for name, text in files.items():
        path = inside(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def inside(folder: Path, name: str) -> Path:
    """The path of a file in a folder.

    Raises:
        InputError: the name leads out of it, also by a link.
    """
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or path == folder.resolve():
        raise InputError(f"{name!r} is not in the task's folder; name a path in it.")
    return path
