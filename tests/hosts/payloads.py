"""Payloads of the real clients as tests send them to our hook, and what it answers and writes down."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

from insula.hosts.hook import respond

Payload = dict[str, Any]
_CLOCK = count(time.time(), 1.0)
"""A second from one call to the next: what follows faster is of the same turn of the model."""

PYTHON = str(Path(sys.base_prefix) / "bin" / "python3")


def failing(payloads: Iterable[Payload]) -> Payload:
    """The one whose shell command failed; to list what is not there is only to ask, so it shows it instead."""
    ended = ("tool_response", "error", "toolResult", "tool_result", "output")
    found = next(p for p in payloads if any(p.get(name) for name in ended) and "nonexistent-dir" in str(p))
    shown = json.dumps(found).replace("ls /nonexistent", "cat /nonexistent").replace("ls: cannot access", "cat:")
    return json.loads(shown)


def again(payload: Payload, number: int) -> Payload:
    """The same once more, as another call."""
    own: Payload = {name: f"{payload[name]}-{number}" for name in ("tool_use_id", "timestamp") if name in payload}
    for place, name in (("tool_result", "id"), ("input", "callID")):
        if name in payload.get(place, {}):
            own[place] = payload[place] | {name: f"{payload[place][name]}-{number}"}
    return payload | own


def shim(home: Path) -> Path:
    """A script that runs the hook of this source, as the installed one does.

    Its time is that of the variable NOW, or a second later each time that it is run, counted in the file TICKS.
    """
    script = home / "hook" / "run.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).parents[2] / "src"
    script.write_text(
        f"import os, sys, time\nsys.path.insert(0, {str(source)!r})\n"
        "if now := os.environ.get('NOW'):\n    time.time = lambda: float(now)\n"
        "elif ticks := os.environ.get('TICKS'):\n"
        "    with open(ticks, 'ab') as file:\n        file.write(b'.')\n        now = time.time() + file.tell()\n"
        "    time.time = lambda: now\n"
        f"from insula.coding.hosts.hook import main\nmain({str(home)!r}, sys.argv[1:])\n"
    )
    return script


def call(home: Path, host: str, payload: Payload, env: Mapping[str, str] | None = None) -> Payload | None:
    """The answer of a hook, a second after the one before; None for silence."""
    about = {"INSULA_HOLDOUT": "off", "NOW": str(next(_CLOCK)), **(env or {})}
    with mock.patch.dict(os.environ, about):
        answer = respond(str(home), host, payload, float(about["NOW"]))
    return json.loads(answer) if answer else None


def spawn(home: Path, host: str, payload: Payload | bytes) -> Payload | None:
    """The answer of a hook in a process of its own; None for silence.

    It fails where the exit status is not 0 or there is a word on standard error.
    """
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    script = home / "hook" / "run.py"
    done = subprocess.run(
        [PYTHON, "-I", "-S", str(script if script.exists() else shim(home)), host],
        input=given,
        capture_output=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "INSULA_HOLDOUT": "off", "NOW": str(next(_CLOCK))},
    )
    assert not done.stderr
    return json.loads(done.stdout) if done.stdout else None


def told(answer: Payload | None) -> str:
    """The text that the model reads."""
    if not answer:
        return ""
    places = ("additionalContext", "text", "contextModification", "additional_context")
    return answer.get("hookSpecificOutput", answer)[
        next(p for p in places if p in answer.get("hookSpecificOutput", answer))
    ]


def traced(home: Path, session: str = "*", agent: str = "") -> list[Payload]:
    """What the hook wrote down of a session, in order; of any, where none is named."""
    within = f"{session}/agents/{agent}" if agent else session
    files = sorted(home.glob(f"sessions/{within}/trace.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def acted(home: Path, agent: str = "") -> list[Payload]:
    """The actions among it."""
    return [record for record in traced(home, agent=agent) if record["e"] == "action"]
