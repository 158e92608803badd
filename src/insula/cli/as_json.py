"""What `--json` does with any command: what it prints is JSON alone, and so is what fails.

A command with figures to print has the option itself. Another one says what it did in words: they are the value of
`said`, line by line, and nobody is asked anything.
"""

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from json import dumps
from typing import Any

import typer

OPTION = "--json"
SERVE = frozenset(("mcp", "proxy", "serve", "worker"))
"""Commands that end when they are told to."""
_USAGE: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""Typer has a Click of its own, and does not export this."""


def run_as_json(app: typer.Typer) -> int:
    """Run the command so that even what cannot be read of its words is told as JSON; returns the exit code."""
    words = sys.argv[1:]
    try:
        return _run_spoken(app, words) if _lacks_json(app, words) else _run_words(app, words)
    except typer.Abort:
        return 1
    except Exception as error:
        if not isinstance(error, _USAGE):
            raise
        unreadable: Any = error
        report_failure("UsageError", unreadable.format_message(), json=True)
        return int(unreadable.exit_code)


def report_failure(kind: str, message: str, json: bool) -> None:
    """Say on standard error what failed."""
    told = dumps({"error": {"kind": kind, "message": message}}, ensure_ascii=False) if json else f"insula: {message}"
    print(told, file=sys.stderr)


def _run_words(app: typer.Typer, words: Sequence[str]) -> int:
    code = app(list(words), standalone_mode=False)
    return code if isinstance(code, int) else 0


def _lacks_json(app: typer.Typer, words: Sequence[str]) -> bool:
    """Whether the command that is named has words for its result, and no JSON."""
    command: Any = typer.main.get_command(app)
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    if hasattr(command, "commands") or command.name in SERVE:
        return False
    return not any(OPTION in param.opts for param in command.params)


def _run_spoken(app: typer.Typer, words: Sequence[str]) -> int:
    if sys.stdin.isatty():
        sys.stdin = io.StringIO()  # nobody sees a question
    with redirect_stdout(io.StringIO()) as heard:
        code = _run_words(app, [word for word in words if word != OPTION])
    print(dumps({"v": 1, "said": heard.getvalue().splitlines()}, ensure_ascii=False))
    return code
