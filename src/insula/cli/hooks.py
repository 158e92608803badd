"""`insula install`, `uninstall`, `on`, `off`, `purge` and `doctor`: the hooks of coding agents."""

import json as jsonlib
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from insula.errors import InputError
from insula.hosts import doctor, install, places, switch
from insula.hosts.doctor import Check
from insula.hosts.install import Outcome

_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "broken": ("✗", "red")}


def install_hooks(name: str | None, project: bool, dry_run: bool, json: bool) -> int:
    """Put the hooks in, and say what was done, what remains to do, and what the user should know."""
    host = places.host(name)
    outcome = install.install(host, Path.cwd() if project else None, dry_run)
    if json:
        return _print_json(_record(outcome, dry_run))
    if dry_run:
        return _print_diff([outcome])
    print(f"{host.name}: hooks {'installed in' if outcome.changed else 'are already in'} {outcome.file}")
    for note in _notes(outcome, project) if outcome.changed else ():
        print(f"  {note}")
    return 0


def _notes(outcome: Outcome, project: bool) -> Sequence[str]:
    host, house = outcome.host, places.home()
    share = switch.read(house)["holdout"]
    notes = [
        f"They run from {house / 'hook'} and stay until `insula uninstall {host.id}{' --project' if project else ''}`.",
        f"What is observed is kept in {house}, on this machine alone; `insula purge` erases it.",
    ]
    if isinstance(share, int | float) and share:
        notes.append(
            f"To measure whether a learned rule helps, it is withheld in {share:.0%} of sessions (setting `holdout`)."
        )
    if project and outcome.shared:
        notes.append("The command names a path of this machine: do not commit this file.")
    elif project:
        notes.append("The command names a path of this machine, so it stands in your local settings of this project.")
    if host.trust:
        notes.append(host.trust)
    if shutil.which(host.binary) is None:
        notes.append(f"{host.binary} is not on PATH; the hooks will be there when it is.")
    notes.append(f"Sessions that run now do not have them yet. Check with: insula doctor {host.id}")
    return notes


def uninstall_hooks(name: str | None, everything: bool, project: bool, dry_run: bool, json: bool) -> int:
    """Take the hooks out: of one settings file, or of all."""
    if everything:
        if name or project or dry_run:
            raise InputError("--all takes the hooks out of everything; name no host and no other option with it.")
        return _uninstall_all(json)
    host = places.host(name)
    outcome = install.uninstall(host, Path.cwd() if project else None, dry_run)
    if json:
        return _print_json(_record(outcome, dry_run))
    if dry_run:
        return _print_diff([outcome])
    print(f"{host.name}: {'hooks taken out of' if outcome.changed else 'no hooks of Insula in'} {outcome.file}")
    if outcome.changed and not install.in_use(places.home()):
        print("  No hooks are left; `insula uninstall --all` removes their code, `insula purge` what they learned.")
    return 0


def _uninstall_all(json: bool) -> int:
    outcomes, failures = install.uninstall_all(Path.cwd())
    house = places.home()
    if json:
        _print_json({"changed": [str(one.file) for one in outcomes], "failures": [str(one) for one in failures]})
        return 1 if failures else 0
    for outcome in outcomes:
        print(f"{outcome.host.name}: hooks taken out of {outcome.file}")
    if not outcomes and not failures:
        print("No settings file has hooks of Insula.")
    for failure in failures:
        print(f"insula: {failure}", file=sys.stderr)
    if failures:
        print(f"insula: {house / 'hook'} stays, because a hook may still run it.", file=sys.stderr)
        return 1
    if any((house / name).exists() for name in switch.ERASED):
        print(f"What was learned, and backups of your settings, stay in {house}; `insula purge` erases them.")
    return 0


def turn(on: bool, project: bool, json: bool) -> int:
    """Switch the hooks on or off."""
    house, here = places.home(), Path.cwd()
    switch.turn(house, on, here if project else None)
    off = switch.is_off(house, here)
    if json:
        return _print_json({"on": on, "project": str(here) if project else None, "off_here": off})
    where = f"in the project of {here}" if project else "everywhere"
    print(f"The hooks are {'on' if on else 'off'} {where}; this holds from the next event on.")
    if on and off:
        other = "insula on" if project else "insula on --project"
        print(f"They are still off here by another switch; `{other}` turns it.")
    return 0


def purge(yes: bool, json: bool) -> int:
    """Erase what the hooks observed and learned, after asking."""
    house = places.home()
    if not yes:
        if not _is_asked():
            raise InputError("Nobody can be asked whether to erase everything; say so with: insula purge --yes")
        print(f"This erases all that the hooks observed and learned, with backups of settings, in {house}.")
        if input("Erase it? [y/N] ").strip().lower() not in ("y", "yes"):
            print("Nothing was erased.")
            return 1
    erased = switch.purge(house)
    if json:
        return _print_json({"home": str(house), "erased": list(erased)})
    print(f"Erased in {house}: {', '.join(erased)}." if erased else f"There was nothing to erase in {house}.")
    if install.in_use(house):
        print("The hooks stay installed and begin anew; `insula uninstall --all` removes them.")
    return 0


def _is_asked() -> bool:
    """Whether a person sits before it."""
    return sys.stdin.isatty()


def examine(name: str | None, live: bool, json: bool) -> int:
    """Say whether the hooks work; 1 where something is broken."""
    prove: doctor.Prover | None = None
    if live:
        from insula.hosts.live import prove
    checks = doctor.examine(places.host(name) if name else None, prove=prove)
    broken = any(check.state == "broken" for check in checks)
    if json:
        _print_json({"ok": not broken, "checks": [asdict(check) for check in checks]})
    else:
        Console(highlight=False).print(_table(checks))
    return 1 if broken else 0


def _table(checks: Sequence[Check]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        mark, style = _MARKS[check.state]
        says = Text(check.says)
        if check.remedy:
            says.append(f"\n→ {check.remedy}", style="bold")
        table.add_row(Text(mark, style=style), Text(" ".join(filter(None, (check.host, check.name)))), says)
    return table


def _record(outcome: Outcome, dry_run: bool) -> dict[str, object]:
    return {
        "host": outcome.host.id,
        "file": str(outcome.file),
        "changed": outcome.changed and not dry_run,
        "diff": outcome.diff,
    }


def _print_diff(outcomes: Sequence[Outcome]) -> int:
    for outcome in outcomes:
        print(outcome.diff or f"{outcome.file} would stay as it is.")
    return 0


def _print_json(value: object) -> int:
    print(jsonlib.dumps(value))
    return 0
