"""`insula install`, `uninstall`, `on`, `off`, `purge` and `plugin`: the hooks of coding agents."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from insula.cli import lines
from insula.cli.lines import print_json, print_warning
from insula.cli.options import Json, Yes
from insula.coding.hosts import install as hosts
from insula.coding.hosts import places, plugins, present, records, switch
from insula.coding.hosts.files import LOCK
from insula.coding.hosts.install import InstallResult
from insula.coding.hosts.places import HOSTS
from insula.coding.hosts.places import Host as Agent
from insula.coding.step.senses import EVERY
from insula.errors import InputError

_NO_CHANGE = {
    "whole": "hooks are already in",
    "missing": "the hooks' code was missing and is back; they were already in",
    "damaged": "the hooks' code was damaged and is mended; they were already in",
    "other": "the hooks run this version from now on; they were already in",
}


_IN_PROJECT = {
    "codex": ("Codex must trust the project, too: run `codex` there once and trust the folder.",),
    "gemini": ("Run Gemini CLI from this folder: it reads project settings there alone.",),
}
"""What holds for the hooks of a project."""


def _join_names(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


_HOSTS = (
    f"{_join_names(name for name, host in HOSTS.items() if not host.unproven)}; "
    f"experimental: {_join_names(name for name, host in HOSTS.items() if host.unproven)}."
)
Host = Annotated[str | None, typer.Argument(metavar="AGENT", help=_HOSTS)]
Project = Annotated[bool, typer.Option("--project", help="This project alone, not all of yours.")]
Sense = Annotated[
    str | None, typer.Argument(metavar="SENSE", help="One sense alone, such as chronos; insula doctor names them.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


def install(host: Host = None, project: Project = False, dry_run: DryRun = False, json: Json = False) -> None:
    """Put the hooks into a coding agent."""
    agent = places.get_host(host)
    outcome = hosts.install_hooks(agent, places.check_project(places.find_root()) if project else None, dry_run)
    if json:
        return print_json(_outcome_record(outcome, dry_run))
    if dry_run:
        return _print_diff(outcome)
    print(f"{agent.name}: {'hooks installed in' if outcome.changed else _NO_CHANGE[outcome.code]} {outcome.file}")
    for note in (*(_outcome_notes(outcome, project) if outcome.changed else ()), *_name_switch()):
        print(f"  {note}")
    return None


def _name_switch() -> Iterator[str]:
    """The switch that keeps the hooks from running, if any."""
    house = places.find_home()
    if switch.read_switches(house)["off"]:
        yield "The hooks are switched off at present: insula on"
    elif switch.is_off(house, Path.cwd()):
        yield "The hooks are switched off in this project at present: insula on --project"


def _outcome_notes(outcome: InstallResult, project: bool) -> Sequence[str]:
    host, house = outcome.host, places.find_home()
    share = switch.read_switches(house)["holdout"]
    notes = [
        f"They run from {house / 'hook'} and stay until `insula uninstall {host.id}{' --project' if project else ''}`.",
        f"What is observed is kept in {house}, on this machine alone; `insula purge` erases it.",
    ]
    if isinstance(share, int | float) and share:
        notes.append(
            f"To find out whether a rule helps, it is left out of {lines.format_percent(share)} of sessions "
            "(setting `holdout`)."
        )
    if project:
        notes += [f"The project is {places.describe_project(places.find_root())}.", *_IN_PROJECT.get(host.id, ())]
    if project:
        notes.append("The command names a path of this machine: do not commit this file.")
    if host.trust:
        notes.append(host.trust)
    if host.unproven:
        notes.append(f"{host.name} is experimental: {host.unproven}.")
    if shutil.which(host.binary) is None:
        notes.append(f"{host.binary} is not on PATH; the hooks will be there when it is.")
    notes.append(f"Sessions that run now do not have them yet. Check with: insula doctor {host.id}")
    return notes


def uninstall(
    host: Host = None,
    everything: Annotated[bool, typer.Option("--all", help="Out of every coding agent and project.")] = False,
    project: Project = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> int:
    """Take the hooks out of a coding agent; its settings are as before, to the byte."""
    if everything:
        if host or project or dry_run:
            raise InputError(
                "--all takes the hooks out of everything; name no coding agent and no other option with it."
            )
        return _uninstall_all(json)
    agent = places.get_host(host)
    outcome = hosts.uninstall_hooks(agent, places.find_root() if project else None, dry_run)
    if json:
        print_json(_outcome_record(outcome, dry_run))
        return 0
    if dry_run:
        _print_diff(outcome)
        return 0
    print(f"{agent.name}: {'hooks taken out of' if outcome.changed else 'no hooks of Insula in'} {outcome.file}")
    _print_kept(outcome)
    if not outcome.changed and not outcome.kept:
        _print_others(agent, outcome.file)
    if outcome.changed and not records.read_records(places.find_home()):
        print("  No hooks are left; `insula uninstall --all` removes their code, `insula purge` what they learned.")
    return 0


def _print_others(host: Agent, looked: Path) -> None:
    """Where the hooks are instead."""
    for file in present.find_hooks(host, Path.cwd()).here:
        if file == looked:
            continue
        if file == host.find_settings():
            print(f"  There are some for all your projects: insula uninstall {host.id}")
        else:
            root = places.get_project(host, file)
            print(f"  In this project ({root}) there are: insula uninstall {host.id} --project")


def _print_kept(outcome: InstallResult) -> None:
    for path in outcome.kept:
        print(f"  {path} was changed by hand, so it stays; remove it yourself.")


def _uninstall_all(json: bool) -> int:
    house = places.find_home()
    had_code = (house / "hook").exists()
    outcomes, failures = hosts.uninstall_all(places.find_root())
    if json:
        print_json(
            {"changed": [str(result.file) for result in outcomes], "failures": [str(error) for error in failures]}
        )
        return 1 if failures else 0
    for outcome in outcomes:
        if outcome.changed:
            print(f"{outcome.host.name}: hooks taken out of {outcome.file}")
        _print_kept(outcome)
    if not outcomes and not failures:
        print("No settings file has hooks of Insula.")
    for failure in failures:
        print_warning(str(failure))
    if failures:
        print_warning(f"{house / 'hook'} stays, because a hook may still run it.")
        return 1
    if had_code and not (house / "hook").exists():
        print(f"The code that they ran, in {house / 'hook'}, was removed.")
    if any((house / name).exists() for name in switch.ERASED):
        print(f"What was learned, and backups of your settings, are still in {house}; `insula purge` erases that.")
    return 0


def on(sense: Sense = None, project: Project = False, json: Json = False) -> None:
    """Switch the hooks on, or one of their senses."""
    _switch_hooks(True, sense, project, json)


def off(sense: Sense = None, project: Project = False, json: Json = False) -> None:
    """Switch the hooks off, or one of their senses; also INSULA_OFF=1."""
    _switch_hooks(False, sense, project, json)


def _switch_hooks(on: bool, sense: str | None, project: bool, json: bool) -> None:
    if sense is not None:
        return _turn_sense(on, sense, project, json)
    house, here = places.find_home(), Path.cwd()
    switch.switch_hooks(house, on, here if project else None)
    off = switch.is_off(house, here)
    if json:
        root = str(places.find_root(here)) if project else None
        return print_json({"on": on, "project": root, "off_here": off})
    where = f"in the project {places.describe_project(places.find_root(here))}" if project else "everywhere"
    print(f"The hooks are {'on' if on else 'off'} {where}; this holds from the next event on.")
    if on and off:
        other = "insula on" if project else "insula on --project"
        print(f"They are still off here by another switch; `{other}` turns it.")
    return None


def _turn_sense(on: bool, sense: str, project: bool, json: bool) -> None:
    name, known = sense.replace("-", "_"), ", ".join(sorted(EVERY))
    if name not in EVERY:
        raise InputError(f"{sense!r} is no sense; the senses are {known}.")
    if project:
        raise InputError("A sense is switched for all projects; leave out --project.")
    house = places.find_home()
    switch.switch_sense(house, name, on)
    speaking = sorted(switch.list_senses(house))
    if json:
        return print_json({"on": on, "sense": name, "speaking": speaking})
    print(f"{name} is {'on' if on else 'off'}; this holds from the next event on. On are {', '.join(speaking)}.")
    if switch.is_off(house, Path.cwd()):
        print("The hooks themselves are off here; `insula on` turns them on.")
    return None


def purge(yes: Yes = False, json: Json = False) -> int:
    """Erase all that the hooks observed and learned, and the backups of your settings from before each change."""
    house = places.find_home()
    contents = f"all that the hooks observed and learned, with backups of settings, in {house}"
    if not lines.confirm_action(f"Erase {contents}? It cannot be undone.", yes, "erased"):
        return 1
    erased = switch.purge_records(house)
    if json:
        print_json({"home": str(house), "erased": list(erased)})
        return 0
    print(f"Erased in {house}: {', '.join(erased)}." if erased else f"There was nothing to erase in {house}.")
    if records.read_records(house):
        print("The hooks stay installed and begin anew; `insula uninstall --all` removes them.")
    elif left := sorted({path.name for path in house.iterdir()} - {LOCK}) if house.is_dir() else []:
        print(f"What is none of that is left there: {', '.join(left)}.")
    return 0


def _outcome_record(outcome: InstallResult, dry_run: bool) -> dict[str, object]:
    return {
        "host": outcome.host.id,
        "file": str(outcome.file),
        "changed": outcome.changed and not dry_run,
        **({"would_change": outcome.changed} if dry_run else {}),
        "diff": outcome.diff,
    }


def _print_diff(outcome: InstallResult) -> None:
    print(outcome.diff or f"{outcome.file} would stay as it is.")


app = typer.Typer(no_args_is_help=True)


@app.command()
def build(
    host: Annotated[str, typer.Argument(metavar="AGENT", help="claude-code or gemini.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to; made where there is none.")],
    json: Json = False,
) -> None:
    """Write the plugin to a folder, from which the agent installs it."""
    known = places.get_host(host)
    files = plugins.build_plugin(known, folder)
    install = plugins.get_form(known).install.format(folder=folder)
    if json:
        return print_json({"host": host, "folder": str(folder), "files": len(files), "install": install})
    print(f"{known.name}: a plugin of {len(files)} files in {folder}\n  Install it with: {install}")
    return None
