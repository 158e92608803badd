"""The command `insula`: which commands there are. Each is loaded when it runs, so that `--help` stays quick.

With `--json` any command prints JSON alone, and so does what fails. A command with figures to print has the option
itself. Another one says what it did in words: they are the value of `said`, line by line, and nobody is asked anything.
"""

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from json import dumps
from typing import Annotated, Any, NamedTuple, Protocol, cast

import typer
from typer.core import TyperCommand, TyperGroup

from insula.cli.start import loading
from insula.cli.streams import prepare_streams

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


TALK, AGENTS, KNOWS, RUN, DEVELOP = "Talk", "Coding agents", "What it knows", "Run it", "Develop"
HIDDEN = ""
"""The panel of short names that are listed nowhere."""


class CommandEntry(NamedTuple):
    """A command: under which heading it is listed, where it is defined, and what it does in a line."""

    panel: str
    where: str
    help: str


COMMANDS: Mapping[str, CommandEntry] = {
    "chat": CommandEntry(TALK, "chat:chat", "Talk; piped input is answered line by line."),
    "ask": CommandEntry(TALK, "chat:ask", "Ask one question and get one answer; reads standard input, too."),
    "install": CommandEntry(AGENTS, "hooks:install", "Put the hooks into a coding agent."),
    "uninstall": CommandEntry(
        AGENTS, "hooks:uninstall", "Take the hooks out; the agent's settings are as before, to the byte."
    ),
    "doctor": CommandEntry(
        AGENTS, "doctor:doctor", "Check whether the hooks work, and say what to do where they do not."
    ),
    "replay": CommandEntry(AGENTS, "replay:replay", "Look back at past sessions: where agents were stuck."),
    "worth": CommandEntry(AGENTS, "worth:app", "Show whether the notes of the hooks help."),
    "on": CommandEntry(AGENTS, "hooks:on", "Switch the hooks on, or one of their senses."),
    "off": CommandEntry(AGENTS, "hooks:off", "Switch the hooks off, or one of their senses."),
    "purge": CommandEntry(AGENTS, "hooks:purge", "Erase all that the hooks observed and learned."),
    "memory": CommandEntry(KNOWS, "memory:app", "Facts that you told: list, search, add, edit, erase."),
    "guidance": CommandEntry(KNOWS, "guidance:app", "What it learned: preferences, lessons and rules."),
    "sleep": CommandEntry(KNOWS, "sleep:sleep", "Run the night now, and show what it changed."),
    "serve": CommandEntry(RUN, "serve:serve", "Start the server: the page, the API and the metrics."),
    "worker": CommandEntry(RUN, "worker:worker", "Run nightly processing for many users (needs PostgreSQL)."),
    "status": CommandEntry(RUN, "status:status", "Show how it is doing, and what it holds of you."),
    "config": CommandEntry(RUN, "config:app", "Settings: those in force, their file, and a new one."),
    "user": CommandEntry(RUN, "user:app", "All that is kept of a user: export, import, back up, erase."),
    "token": CommandEntry(RUN, "token:app", "Who may come in through the server."),
    "solve": CommandEntry(DEVELOP, "solve:solve", "Solve a problem step by step, and show how."),
    "bench": CommandEntry(DEVELOP, "bench:app", "Measure Insula on real data."),
    "proxy": CommandEntry(DEVELOP, "proxy:proxy", "Stand in front of a provider of chat completions."),
    "mcp": CommandEntry(DEVELOP, "mcp:mcp", "Offer memory and guidance as tools to a coding agent."),
    "model": CommandEntry(DEVELOP, "model:app", "Embedded models: list them, bring them here."),
    "plugin": CommandEntry(DEVELOP, "hooks:app", "Write the hook as a plugin of a coding agent."),
    "lessons": CommandEntry(HIDDEN, "guidance:app", "The short name of `insula guidance`."),
    "rules": CommandEntry(HIDDEN, "rules:app", "The short name of `insula guidance rules`."),
    "soul": CommandEntry(HIDDEN, "soul:app", "The short name of `insula guidance soul`."),
}


class _Command(Protocol):
    """What Typer makes of a function or a group; the base of both is not exported."""

    hidden: bool


@cache
def load_command(name: str) -> _Command:
    """The command of a name, from the module that defines it; Typer reads the signatures of a group for 20 ms."""
    entry = COMMANDS[name]
    module, _, attribute = entry.where.partition(":")
    with loading():
        loaded = getattr(import_module(f"insula.cli.{module}"), attribute)
    around = typer.Typer()
    if isinstance(loaded, typer.Typer):
        around.add_typer(loaded, name=name, help=entry.help)
    else:
        around.command(name)(loaded)
    command = cast(_Command, typer.main.get_group(around).commands[name])
    command.hidden = entry.panel == HIDDEN
    return command


class _LazyCommands(dict[str, Any]):
    """The commands by name, each loaded when it is asked for."""

    def get(self, key: str, default: Any = None) -> Any:
        return load_command(key) if key in COMMANDS else default


class Commands(TyperGroup):
    """The commands of the table: one that returns a number ends with that status."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _LazyCommands(dict.fromkeys(COMMANDS))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands from the table alone, which loads none of them."""
        rows = [
            TyperCommand(name, help=entry.help, rich_help_panel=entry.panel)
            for name, entry in COMMANDS.items()
            if entry.panel != HIDDEN
        ]
        group = TyperGroup(name=self.name, commands=rows, params=self.params, help=self.help)
        group.format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and end with the status that it returns."""
        status = super().invoke(ctx)
        if isinstance(status, int):
            ctx.exit(status)


app = typer.Typer(
    name="insula",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """An agent that remembers you, checks its answers and learns; and senses for your coding agents."""
    if version:
        from insula import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command; an error of ours is one sentence on standard error, and with --json an object there."""
    from insula.errors import InsulaError
    from insula.foreign import search_path

    json = OPTION in sys.argv
    os.environ["PATH"] = search_path()  # libraries run programs, too
    prepare_streams(json=json)
    try:
        sys.exit(run_as_json(app) if json else app())
    except InsulaError as error:
        report_failure(type(error).__name__, str(error), json)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
