"""The proof that a signal reaches the model: the real client, a fake model, a home of its own, and five errors.

Nothing of the user's takes part: the client sees an empty home, a dummy key and the environment below, and its model
is a server on this machine.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from insula.coding.hosts import places
from insula.coding.step.digest import VARIABLE
from insula.errors import InputError
from insula.foreign import search_path
from insula.llm.fake_agents import FakeModel, ShellStep
from insula.llm.loopback import Json

QUESTION = "3 turns in a row ended in similar errors."
"""What the senses say after three similar errors (P3), and what the proof looks for."""
ERRORS = 5
PATIENCE = 120.0
"""Seconds that a client has; 1 to 3 were measured, 13 on a machine under load."""

_CUT = 300
"""Characters of what a client said that are quoted."""
_PASSED_ON = ("LANG", "LC_ALL", "SYSTEMROOT")
"""Of the user's environment, beside PATH, by which node is found; no key or token."""
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody runs, where it ends what a client sends elsewhere (Codex, to github.com and chatgpt.com)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """How a coding agent is run without a person; `$url` stands for the fake model."""

    argv: Sequence[str]
    env: Mapping[str, str]
    file: str
    """Its settings, below the home."""
    settings: str
    trust: str = ""
    """The argument that makes it run hooks which no person has looked at."""
    note: str = ""
    """What a proof does not show."""


def _read_clients() -> Mapping[str, Client]:
    table = tomllib.loads(Path(__file__).with_name("clients.toml").read_text("utf-8"))
    return {host: Client(**client) for host, client in table.items()}


CLIENTS = _read_clients()


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a signal reaches the model of a client."""

    reached: bool
    reason: str
    """A sentence that says so, or why not."""
    text: str = ""
    """The line of the request that brought it."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came of running a program."""

    status: int
    """Its exit status; negative where it was killed."""
    output: str
    errors: str
    seconds: float

    @property
    def complaint(self) -> str:
        """The last thing it said, cut."""
        lines = (self.errors.strip() or self.output).splitlines()
        said = [line.strip() for line in lines if any(map(str.isalnum, line))]
        return said[-1][:_CUT].rstrip(".") if said else "it said nothing"


class Stage:
    """A home and a project of their own, in which a real client runs against a fake model.

    Args:
        host: A key of `CLIENTS`.
        program: The client's program.
        folder: Where home and project are made; everything stays below it.

    Raises:
        InputError: there is no such host.
    """

    def __init__(self, host: str, program: Path, folder: Path) -> None:
        if host not in CLIENTS:
            raise InputError(f"There is no automatic proof for {host!r}; there is one for {', '.join(CLIENTS)}.")
        self.client = CLIENTS[host]
        self.name = places.get_host(host).name
        self.home, self.project, self._temporary = (folder / name for name in ("home", "project", "tmp"))
        self._program = program.absolute()
        settings = self.home / self.client.file
        for path in (settings.parent, self.project, self._temporary):
            path.mkdir(parents=True)
        settings.write_text(self.client.settings)

    def run_insula(self, *arguments: str) -> Run:
        """Runs the command `insula` in this home, with the client on its path."""
        env = self._make_environment()
        path = {"PATH": os.pathsep.join([str(self._program.parent), env["PATH"]])}
        return _run_program([sys.executable, "-m", "insula.cli", *arguments], env | path, self.project)

    def play_model(self, model: FakeModel, *, trusting: bool = True) -> Run:
        """Has the client do what the fake model says, to the end; without trust, in hooks that nobody has seen."""
        if "$url" in self.client.settings:
            (self.home / self.client.file).write_text(Template(self.client.settings).substitute(url=model.url))
        said = [value for value in self.client.argv if trusting or value != self.client.trust]
        argv = [Template(value).substitute(url=model.url) for value in said]
        given = {name: Template(value).substitute(url=model.url) for name, value in self.client.env.items()}
        return _run_program([str(self._program), *argv], self._make_environment() | given, self.project)

    def count_actions(self) -> int:
        """How many actions the hooks have recorded."""
        return sum(record["e"] == "action" for record in self._read_records("sessions/**/trace.jsonl"))

    def list_failures(self) -> list[str]:
        """The kinds of failures that the hooks have counted."""
        return sorted({record["kind"] for record in self._read_records("failures.jsonl")})

    def _read_records(self, pattern: str) -> list[Json]:
        files = (self.home / ".insula").glob(pattern)
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def _make_environment(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {VARIABLE: "off"}
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE)
        own = {"HOME": str(self.home), "TMPDIR": str(self._temporary), "TERM": "dumb", "NO_PROXY": "127.0.0.1"}
        return {**passed, **proxies, **own, "PATH": search_path()}


def prove_hooks(host: str, client: Path) -> Proof:
    """Whether a signal of ours reaches the model of a real client.

    Args:
        host: The host's name, as in `insula install`.
        client: Its program.

    Raises:
        InputError: there is no automatic proof for this host.
    """
    if not os.access(client, os.X_OK):
        return Proof(False, f"{client} is no program that can be run; name that of the client.")
    with tempfile.TemporaryDirectory(prefix="insula-proof-", ignore_cleanup_errors=True) as folder:
        stage = Stage(host, client, Path(folder))
        installed = stage.run_insula("install", host)
        if installed.status:
            return Proof(False, f"`insula install {host}` failed in an empty home: {installed.complaint}.")
        with FakeModel(script_errors(ERRORS)) as model:
            run = stage.play_model(model)
        return _judge_run(stage, model, run)


def script_errors(errors: int) -> list[ShellStep]:
    """A script of so many similar errors; they take their time, because Qwen Code loses what quick commands say."""
    return [ShellStep(f"cat missing-{number}.txt || (sleep 0.5; exit 1)") for number in range(1, errors + 1)]


def _judge_run(stage: Stage, model: FakeModel, run: Run) -> Proof:
    """What a run proves."""
    told = next(((number, text) for number, text in enumerate(model.request_texts(), 1) if QUESTION in text), None)
    if told:
        where = f"The signal reached the model in request {told[0]} of {len(model.dialogue)}, after similar errors."
        return Proof(True, where + stage.client.note, _find_line(told[1]))
    name = stage.name
    if run.status:
        return Proof(False, f"{name} {_describe_end(run)} before the signal was due: {run.complaint}.")
    if len(model.dialogue) <= ERRORS:
        return Proof(False, f"{name} asked its model {len(model.dialogue)} times; the proof needs {ERRORS + 1}.")
    if kinds := stage.list_failures():
        return Proof(False, f"{name} ran our hooks, and they failed ({', '.join(kinds)}); please report it.")
    if not stage.count_actions():
        return Proof(False, f"{name} played the script, but ran no hook of ours; its settings may turn hooks off.")
    recorded = f"the hooks recorded {stage.count_actions()} actions"
    return Proof(False, f"{name} played the script and {recorded}, but the signal is in no request to the model.")


def _find_line(text: str) -> str:
    return next(line.strip() for line in text.splitlines() if QUESTION in line)


def _describe_end(run: Run) -> str:
    return f"was stopped after {PATIENCE:.0f} seconds" if run.seconds >= PATIENCE else f"ended with status {run.status}"


def _run_program(argv: Sequence[str], env: Mapping[str, str], folder: Path) -> Run:
    """Runs a program to its end, or ends it and all that it started."""
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603 the program is the one that the caller names
        argv,
        env=env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)  # in a session of its own, Ctrl-C does not reach it
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            output, errors = process.communicate()
    return Run(process.returncode, output, errors, time.monotonic() - began)
