"""`insula doctor`: what was looked at, printed as it becomes known."""

import json as jsonlib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from insula.cli import lines
from insula.hosts import doctor, places
from insula.hosts.consent import Check
from insula.hosts.places import HOSTS

_MARKS = {
    "ok": ("✓", "green"),
    "note": ("·", "dim"),
    "idle": ("○", "yellow"),
    "warn": ("!", "yellow"),
    "broken": ("✗", "red"),
}
_NAMES = 14
"""Columns of mark and name."""


def examine(name: str | None, live: bool, json: bool) -> int:
    """Say whether the hooks work: 0 if so, 1 where something is broken, 2 where they merely do not run here."""
    console = Console(highlight=False)
    checks = doctor.examine(places.host(name) if name else None, prove=_prover(console) if live else None)
    if json:
        found = list(checks)
        status = doctor.status(found)
        print(jsonlib.dumps({"ok": status == 0, "status": status, "checks": [asdict(check) for check in found]}))
        return status
    return doctor.status(_printed(checks, console))


def _prover(console: Console) -> doctor.Prover:
    from insula.hosts.live import prove

    def proven(host: str, client: Path) -> doctor.Proof:
        if not console.is_terminal:
            return prove(host, client)
        with console.status(f"running {client} against a model on this machine"):
            return prove(host, client)

    return proven


def _printed(checks: Iterable[Check], console: Console) -> list[Check]:
    """The checks, each printed when it is known, under the name of its host."""
    done: list[Check] = []
    under = ""
    for check in checks:
        if check.host != under:
            under = check.host
            console.print(Text(f"\n{HOSTS[under].name if under in HOSTS else under}".rstrip(), "bold"), soft_wrap=True)
        console.print(_shown(check), soft_wrap=True)
        done.append(check)
    return done


def _shown(check: Check) -> Text:
    mark, style = _MARKS[check.state]
    indent, columns = " " * (_NAMES + 1), lines.width()
    says = "\n".join(lines.fold(check.says, columns, f"  {check.name:{_NAMES - 1}}", indent))
    text = Text.assemble((mark, style), says[1:])
    if check.remedy:
        text.append("\n" + "\n".join(lines.fold(f"→ {check.remedy}", columns, indent, f"{indent}  ")), style="bold")
    return text
