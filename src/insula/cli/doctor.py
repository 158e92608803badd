"""`insula doctor`: what was looked at, printed as it becomes known."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from insula.cli import lines
from insula.cli.hooks import Host
from insula.cli.options import Json
from insula.coding.hosts import doctor as examination
from insula.coding.hosts import places
from insula.coding.hosts.consent import HostCheck
from insula.coding.hosts.places import HOSTS

if TYPE_CHECKING:
    from insula.coding.hosts.live import Proof

_MARKS = {
    "ok": ("✓", "green"),
    "idle": ("○", "yellow"),
    "warn": ("!", "yellow"),
    "broken": ("✗", "red"),
}
_NAMES = 15
"""Columns of mark and name."""


def doctor(
    host: Host = None,
    live: Annotated[bool, typer.Option("--live", help="Run the real client against a model on this machine.")] = False,
    json: Json = False,
) -> int:
    """Say whether the hooks work, and what to do where they do not.

    Exit status 0: they work.
    Exit status 1: something is broken.
    Exit status 2: nothing is broken, but they do not run here; they are
    not installed, switched off, or not trusted by the host.
    """
    console = Console(highlight=False)
    checks = examination.examine_host(
        places.get_host(host) if host else None, prove=_make_prover(console) if live else None
    )
    if not json:
        return examination.summarize_checks(_print_checks(checks, console))
    host_checks = list(checks)
    status = examination.summarize_checks(host_checks)
    lines.print_json({"ok": status == 0, "status": status, "checks": [asdict(check) for check in host_checks]})
    return status


def _make_prover(console: Console) -> examination.Prover:
    from insula.coding.hosts.live import prove_hooks

    def prove_client(host: str, client: Path) -> "Proof":
        if not console.is_terminal:
            return prove_hooks(host, client)
        with console.status(f"running {client} against a model on this machine"):
            return prove_hooks(host, client)

    return prove_client


def _print_checks(checks: Iterable[HostCheck], console: Console) -> list[HostCheck]:
    """The checks, each printed when it is known, under the name of its host."""
    done: list[HostCheck] = []
    under = ""
    for check in checks:
        if check.host != under:
            under = check.host
            console.print(Text(f"\n{HOSTS[under].name if under in HOSTS else under}".rstrip(), "bold"), soft_wrap=True)
        console.print(_render_check(check), soft_wrap=True)
        done.append(check)
    return done


def _render_check(check: HostCheck) -> Text:
    mark, style = _MARKS[check.state]
    indent, columns = " " * (_NAMES + 1), lines.terminal_width()
    says = "\n".join(lines.fold_text(check.says, columns, f"  {check.name:{_NAMES - 1}}", indent))
    text = Text.assemble((mark, style), says[1:])
    if check.remedy:
        text.append(
            "\n" + "\n".join(lines.fold_text(f"→ {check.remedy}", columns, indent, f"{indent}  ")), style="bold"
        )
    return text
