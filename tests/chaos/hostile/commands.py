"""Every command of `insula`, as somebody types it in a clone."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module

import typer

from hostile.trial import TOKEN

COMMANDS: dict[str, str] = {
    "": "--version",
    "chat": "chat --model test",
    "install": "install {host} --project --dry-run",
    "uninstall": "uninstall {host} --project --dry-run",
    "doctor": "doctor {host}",
    "on": "on --project",
    "off": "off --project",
    "purge": "purge --yes",
    "replay": "replay .",
    "sleep": "sleep --model test --force",
    "worker": "worker --model test",
    "serve": "serve --model test --port 0",
    "status": "status",
    "solve": "solve --model test --method direct 2+2",
    "proxy": "proxy --to http://127.0.0.1:9 --port 0",
    "mcp": "mcp",
    "worth": "worth",
    "worth wrong": "worth wrong src/a.py",
    "worth helped": "worth helped src/a.py",
    "guidance edit": "guidance edit 1 x",
    "guidance rules export": "guidance rules export {home}/rules.json",
    "guidance rules import": "guidance rules import talk.jsonl",
    "memory edit": "memory edit 1 x",
    "memory erase": "memory erase 1",
    "user export": "user export me {home}/me.jsonl",
    "user import": "user import me talk.jsonl",
    "user erase": "user erase nobody --yes",
    "user backup": "user backup me",
    "user restore": "user restore me talk.jsonl",
    "token new": "token new me",
    "plugin build": "plugin build {host} {home}/plugin",
    "model install": "model install qwen-coder-1.5b",
}
"""How those are typed that take more than their name, or a number."""
ENDLESS = frozenset(("serve", "proxy"))
"""Commands that end when they are told to, once they have said where they are."""
GIVEN: dict[str, bytes] = {
    "chat": b"hello there\nwhat do you know of this project?\n",
    "mcp": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n{"jsonrpc": "2.0", "id": 2, "method": "tools/call", '
    b'"params": {"name": "search_memory", "arguments": {"query": "x"}}}\n',
}
"""What is typed into them."""
TO_A_MODEL = frozenset(("mcp",))
"""Commands whose output a model reads."""


def leaves() -> Iterator[tuple[str, bool]]:
    """The names of all commands, each with whether it needs an argument; benchmarks and old names aside."""
    from insula.cli.main import COMMANDS as NAMES
    from insula.cli.main import HIDDEN, app

    aside = {"bench", *(name for name, entry in NAMES.items() if entry.panel == HIDDEN)}
    yield from (found for found in _below(typer.main.get_command(app), "") if found[0].split(" ")[0] not in aside)


def _below(command: object, name: str) -> Iterator[tuple[str, bool]]:
    below: dict[str, object] = getattr(command, "commands", {})
    for word in below:
        yield from _below(below.get(word), f"{name} {word}".strip())  # loaded when it is asked for
    if not below or getattr(command, "invoke_without_command", False):
        yield name, any(one.required for one in getattr(command, "params", ()) if one.param_type_name == "argument")


def lines() -> dict[str, str]:
    """What is typed, for each command."""
    return {name: COMMANDS.get(name, f"{name} 1" if needs else name) for name, needs in leaves()}


def typed(name: str, line: str) -> Callable[[], None]:
    """The work of a command."""

    def work() -> None:
        from insula.cli import main

        sys.argv = ["insula", *line.split()]
        if name in ENDLESS:
            threading.Thread(target=_end_once_it_listens, daemon=True).start()
        main.main()

    return work


def _end_once_it_listens() -> None:
    while b"http://" not in os.pread(1, 4_000, 0):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def warm() -> None:
    """Import once what each of the forked commands would import."""
    names = (
        "chat",
        "serve",
        "status",
        "replay",
        "hooks",
        "doctor",
        "guidance",
        "rules",
        "memory",
        "mcp",
        "sleep",
        "solve",
        "proxy",
        "model",
    )
    for name in (
        *(f"insula.cli.{name}" for name in names),
        "insula.cli.main",
        "insula.llm.compatible",
        "pydantic_ai.models.test",
    ):
        import_module(name)
    import_module("insula.text.analysis").warm_up()


def is_told(name: str, out: str) -> bool:
    """Whether their word reached a model by a command."""
    return name in TO_A_MODEL and TOKEN in out
