"""What a hook is tried with: payloads in the form that each host sends them, recorded from the real ones.

A prompt and a success, to which a healthy hook says nothing; then similar errors, five at most, to one of which it must
answer.

This is the one place that starts a process for a host's hook, and it takes no line but one from Insula's own record
(`records.installed`): what a settings file says is compared with that, and never run.
"""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, cast

from insula.coding.hosts import places, runtime
from insula.coding.hosts.dialects import load_dialect
from insula.coding.hosts.places import Host
from insula.coding.hosts.records import Installed
from insula.coding.step.digest import VARIABLE
from insula.value import is_object

ERRORS = 5
PAUSE = 0.3
"""Seconds between two errors: what comes faster is of one turn of the model, and counts once."""
PATIENCE = 10.0
"""Seconds for one call; a host gives it half."""

Payload = dict[str, Any]

FORMS = Path(__file__).with_name("trials.json")
"""Host -> what is in each payload, a prompt, a call that went well and one that failed."""


@dataclass(frozen=True, slots=True)
class HookRun:
    """What one call of the hook came to."""

    event: str
    code: int
    output: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """The calls of a trial: those of a healthy session, and the errors up to the first that was answered."""

    healthy: Sequence[HookRun]
    failing: Sequence[HookRun]

    @property
    def milliseconds(self) -> float:
        """The middle one of all calls."""
        return median(answer.seconds for answer in (*self.healthy, *self.failing)) * 1000


def fill_payloads(host: Host, session: str, cwd: str) -> tuple[list[Payload], list[Payload]]:
    """What the host would send: the healthy part, and the errors."""
    form: Mapping[str, Payload] = json.loads(FORMS.read_text("utf-8"))[host.id]
    healthy = [_fill_form({**form["all"], **form[part]}, session, cwd) for part in ("prompt", "healthy")]
    failing = {**form["all"], **form["failing"]}
    return healthy, [_fill_form(failing, session, cwd, str(number)) for number in range(1, ERRORS + 1)]


def _fill_form(form: Payload, session: str, cwd: str, number: str = "") -> Payload:
    text = json.dumps(form).replace("$session", session).replace("$cwd", json.dumps(cwd)[1:-1]).replace("$n", number)
    return cast(Payload, json.loads(text))


def name_event(host: Host, payload: Payload) -> str:
    """The host's name of the event that a payload tells."""
    event = load_dialect(host.id).read_event(payload, 0.0)
    return str(event.name) if event else ""


def read_version(command: Installed) -> tuple[int, ...]:
    """The version of the interpreter that an installed command line names; empty where it does not run."""
    parts = places.read_command(command)
    return runtime.read_version(parts.python) if parts else ()


def try_command(command: Installed, host: Host, session: str, cwd: str, env: Mapping[str, str]) -> Trial:
    """Run an installed command line on the sequence, as the host does: by a shell, one call per event.

    The errors go on until it answers one.
    """
    parts = fill_payloads(host, session, cwd)
    told = {**env, VARIABLE: "off"}  # a trial is not to be withheld by lot
    healthy = [_call_hook(command, name_event(host, payload), payload, cwd, told) for payload in parts[0]]
    failing: list[HookRun] = []
    for payload in parts[1]:
        time.sleep(PAUSE)
        failing.append(_call_hook(command, name_event(host, payload), payload, cwd, told))
        if failing[-1].output:
            break
    return Trial(healthy, failing)


def _call_hook(command: Installed, event: str, payload: Payload, cwd: str, env: Mapping[str, str]) -> HookRun:
    began = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S602 the point is to run what is installed, as it is run
            command,
            shell=True,
            input=json.dumps(payload).encode(),
            capture_output=True,
            cwd=cwd,
            env=dict(env),
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return HookRun(event, -1, b"", time.perf_counter() - began)
    return HookRun(event, done.returncode, done.stdout, time.perf_counter() - began)


def read_answer(host: Host, answer: HookRun) -> str:
    """The text that the host would hand to its model; empty where the answer is not just what its dialect writes.

    Codex drops an answer with a field that it does not know, and says nothing; so none may be there.
    """
    try:
        value: object = json.loads(answer.output)
    except ValueError:
        return ""
    write = load_dialect(host.id).write_answer
    return next((text for text in _list_texts(value) if write(answer.event, text) == value), "")


def _list_texts(value: object) -> Iterator[str]:
    """The texts in an answer."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if is_object(value) else ():
        yield from _list_texts(inner)
