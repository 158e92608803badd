"""Eleven small sequences of calls: nine loops that a detector should catch and two healthy ones that it should not."""

from collections.abc import Iterator
from typing import NamedTuple

from insula.coding.replay.readers import TranscriptCall
from insula_bench.trajectories import SPACING

THOUGHTS = ("Let me look again.", "Perhaps it works now.", "I will try once more.", "Now it should be right.", "Again.")


class Case(NamedTuple):
    """A sequence and whether the agent in it is stuck."""

    name: str
    stuck: bool
    calls: tuple[TranscriptCall, ...]


def cases() -> list[Case]:
    """All eleven, each with a clock: the usual spacing of calls, or that of a poll."""
    return [
        Case("identical call and output", True, _timed([_read("config.py")] * 8)),
        Case("the same, thought reworded", True, _timed(_reworded([_read("config.py")] * 8))),
        Case("the same, a clock in the output", True, _timed(_clock())),
        Case("different edits, the same failing output", True, _timed(_edits())),
        Case("A B A B", True, _timed([_make(), _read("Makefile")] * 6)),
        Case("A B C A B C", True, _timed([_make(), _list(), _read("Makefile")] * 5)),
        Case("identical tool errors", True, _timed([_refused()] * 8)),
        Case("tool errors, arguments vary", True, _timed(_missing())),
        Case("exit status 2, thought reworded", True, _timed(_reworded([_no_rule()] * 8))),
        Case("a legitimate poll", False, _timed([_poll()] * 6, 30.0)),
        Case("distinct reads", False, _timed(_distinct())),
    ]


def _timed(calls: list[TranscriptCall], seconds: float = SPACING) -> tuple[TranscriptCall, ...]:
    return tuple(call._replace(at=seconds * (i + 1)) for i, call in enumerate(calls))


def _reworded(calls: list[TranscriptCall]) -> list[TranscriptCall]:
    return [call._replace(thought=f"{THOUGHTS[i % len(THOUGHTS)]} ({i})") for i, call in enumerate(calls)]


def _read(path: str, content: str = "") -> TranscriptCall:
    text = content or f"# {path}\nDEBUG = False\nHOST = 'localhost'\n"
    return TranscriptCall("Read", {"file_path": f"/app/{path}"}, text, 0.0, ok=True, thought="Let me look.")


def _clock() -> list[TranscriptCall]:
    failing = "FAILED tests/test_price.py::test_total - assert 3 == 4\n1 failed in {:.2f}s"
    return [
        _bash("pytest -q tests/test_price.py", f"[12:00:{i:02}] " + failing.format(0.31 + i / 100), ok=False)
        for i in range(8)
    ]


def _edits() -> list[TranscriptCall]:
    failing = "FAILED tests/test_price.py::test_total - assert 3 == 4\n1 failed"
    return [_bash(f"sed -i 's/rate = .*/rate = {i}/' price.py && pytest -q", failing, ok=False) for i in range(8)]


def _make() -> TranscriptCall:
    return _bash("make", "make: Nothing to be done for 'all'.")


def _list() -> TranscriptCall:
    return _bash("ls build", "app.o\nmain.o\nprice.o")


def _refused() -> TranscriptCall:
    complaint = "<tool_use_error>InputValidationError: the required parameter `file_path` is missing</tool_use_error>"
    return TranscriptCall(
        "Read", {"path": "/app/config.py"}, complaint, 0.0, ok=False, thought="Let me look.", refused=True
    )


def _missing() -> list[TranscriptCall]:
    complaint = "<tool_use_error>File does not exist: /app/{}</tool_use_error>"
    names = ("settings.py", "config.py", "conf.py", "options.py", "setup.py", "defaults.py", "env.py", "base.py")
    return [
        TranscriptCall("Read", {"file_path": f"/app/{name}"}, complaint.format(name), 0.0, ok=False, refused=True)
        for name in names
    ]


def _no_rule() -> TranscriptCall:
    return _bash("make dist", "Exit code 2\nmake: *** No rule to make target 'dist'.  Stop.", ok=False)


def _poll() -> TranscriptCall:
    return _bash("gh run view 4711 --json status", '{"status": "in_progress"}')


def _distinct() -> list[TranscriptCall]:
    return [_read(f"part{i}.py", f"# part {i}\n" + "\n".join(_body(i))) for i in range(8)]


def _body(number: int) -> Iterator[str]:
    return (f"def step_{number}_{line}(value):\n    return value + {line * number}" for line in range(3))


def _bash(command: str, output: str, *, ok: bool = True) -> TranscriptCall:
    return TranscriptCall("Bash", {"command": command}, output, 0.0, ok=ok, thought="Let me look.")
