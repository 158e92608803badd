"""What the hook costs: CPU per call against the same interpreter that only imports `json` and `sys`.

The command that `insula install` writes is timed as a host runs it, through `sh`, each round beside its floor, in
sessions of 100 and of 20,000 actions; then 64 hooks at once, which must lose no action.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from insula.coding.hosts import runtime
from insula.coding.hosts.places import HookCommand
from insula.coding.step import trace
from insula.coding.step.fingerprint import make_action
from insula_bench.progress import steps

PARALLEL = 64
LENGTHS = (100, 20_000)
WARM_UP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures; times in milliseconds of CPU, medians."""

    hook_cpu_ms: float
    """Of a healthy call in a session of 100 actions."""
    floor_cpu_ms: float
    """Of `python -I -S -c 'import json,sys'`."""
    ratio: float
    long_cpu_ms: float
    """Of a healthy call in a session of 20,000 actions."""
    long_ratio: float
    """... over the one of 100 actions."""
    failing_cpu_ms: float
    """Of a call that failed."""
    parallel: int
    parallel_lost: int
    rounds: int


def run(rounds: int, as_json: bool) -> int:
    """Measure and print; the exit status."""
    report = measure(rounds)
    if as_json:
        print(json.dumps(asdict(report), indent=2))
    else:
        Console().print(_table(report))
    return 0


def measure(rounds: int = 60) -> Report:
    """The figures of this machine, from a hook installed in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        command = _installed(home)
        for length in LENGTHS:
            _session(home, length)
        floor = [runtime.find_interpreter(), "-I", "-S", "-c", "import json,sys"]
        series: dict[str, list[float]] = {"floor": [], "short": [], "long": [], "failing": []}
        runs = {
            "floor": (floor, b""),
            **{name: (command, _payload(home, name)) for name in ("short", "long", "failing")},
        }
        for number in steps(range(rounds + WARM_UP), "hook"):
            for name, (argv, given) in runs.items():
                cost = _cpu(argv, given if name == "floor" else _numbered(given, number))
                if number >= WARM_UP:
                    series[name].append(cost)
        lost = _lost(home, command)
    medians = {name: statistics.median(costs) for name, costs in series.items()}
    return Report(
        hook_cpu_ms=round(medians["short"], 2),
        floor_cpu_ms=round(medians["floor"], 2),
        ratio=round(medians["short"] / medians["floor"], 3),
        long_cpu_ms=round(medians["long"], 2),
        long_ratio=round(medians["long"] / medians["short"], 3),
        failing_cpu_ms=round(medians["failing"], 2),
        parallel=PARALLEL,
        parallel_lost=lost,
        rounds=rounds,
    )


def _installed(home: Path) -> list[str]:
    python = runtime.find_interpreter()
    runtime.write_code(home, python)
    return ["/bin/sh", "-c", str(HookCommand(python, str(home), "claude-code"))]


def _cpu(argv: Sequence[str], given: bytes) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, input=given, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.stderr:
        raise RuntimeError(f"The hook wrote to standard error: {done.stderr[:200]!r}.")
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _payload(home: Path, name: str) -> bytes:
    session = {"short": LENGTHS[0], "failing": LENGTHS[0], "long": LENGTHS[1]}[name]
    base: dict[str, Any] = {
        "session_id": f"bench-{session}",
        "cwd": str(home),
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "python -m pytest tests/test_NUMBER.py", "description": "Run one file of tests"},
        "tool_use_id": f"toolu_{name}_NUMBER",
    }
    if name == "failing":
        base |= {
            "hook_event_name": "PostToolUseFailure",
            "error": "Exit code 2\nls: cannot access 'NUMBER': No such file",
        }
    else:
        base["tool_response"] = {"stdout": "NUMBER collected\n" + "line of output\n" * 40, "stderr": ""}
    return json.dumps(base).encode()


def _numbered(payload: bytes, number: int) -> bytes:
    return payload.replace(b"NUMBER", str(number).encode())


def _session(home: Path, length: int) -> None:
    """A session of so many actions, with its checkpoint where a hook has left it."""
    folder = trace.get_folder(str(home), f"bench-{length}")
    records = [
        {
            "e": "action",
            **make_action(tool="Read", input={"file_path": f"/f{n}"}, output=f"text {n}", at=float(n)).as_dict(),
        }
        for n in range(length)
    ]
    trace.append_records(folder, *records)


def _lost(home: Path, command: Sequence[str]) -> int:
    payload = _payload(home, "short").replace(f"bench-{LENGTHS[0]}".encode(), b"bench-parallel")
    hooks = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(PARALLEL)]
    for number, hook in enumerate(hooks):
        if hook.stdin is not None:
            hook.stdin.write(_numbered(payload, number))
    for hook in hooks:  # all of them are waiting for the end of their input: let them go at once
        if hook.stdin is not None:
            hook.stdin.close()
    for hook in hooks:
        hook.wait()
    records, _ = trace.read_trace(trace.get_folder(str(home), "bench-parallel"))
    return PARALLEL - len({record["id"] for record in records if record["e"] == "action"})


def _table(report: Report) -> Table:
    table = Table(
        "", "CPU, median", title=f"One call of the hook ({report.rounds} rounds, Python {sys.version.split()[0]})"
    )
    table.add_row("floor: python -I -S -c 'import json,sys'", f"{report.floor_cpu_ms:.1f} ms")
    table.add_row("session of 100 actions", f"{report.hook_cpu_ms:.1f} ms ({report.ratio:.2f} × floor)")
    table.add_row("session of 20,000 actions", f"{report.long_cpu_ms:.1f} ms ({report.long_ratio:.2f} × that)")
    table.add_row("a failing call", f"{report.failing_cpu_ms:.1f} ms")
    table.add_row(f"{report.parallel} hooks at once", f"{report.parallel_lost} actions lost")
    return table
