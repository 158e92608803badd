"""`insula guidance rules`: what coding agents are told in the project of the working folder: look, decide, share."""

import json as jsonlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from insula import foreign, settings
from insula.cli import lines
from insula.cli.lines import print_folded, print_json
from insula.cli.options import Yes
from insula.cli.render import render_piece
from insula.coding.hosts import doctor, places
from insula.coding.step import digest, trace
from insula.coding.step.digest import PROJECT
from insula.errors import InputError, InsulaError
from insula.guidance import EVERYWHERE, PINNED
from insula.operations.guidance import describe_rule
from insula.operations.rules import STATES, ImportedRule, ProjectRules, read_entries
from insula.text.wording import day_of

app = typer.Typer()
FILE_LIMIT = 1 << 20
"""Bytes of a file of rules."""
DECISIONS = {
    "accept": "is used from the next session on",
    "mute": "is used no more",
    "unmute": "is no longer muted",
    "pin": "is used in every session",
    "unpin": "is no longer pinned",
}
_UNDO = {"accept": "mute", "mute": "unmute", "unmute": "mute", "pin": "unpin", "unpin": "pin"}

Name = Annotated[str, typer.Argument(metavar="ID", help="The id of a rule, as `insula guidance rules` shows it.")]
Here = Annotated[bool, typer.Option("--here", help="Only in the project of the working folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Everything = Annotated[bool, typer.Option("--all", help="Show rules without evidence, and what was decided.")]


def rules_here() -> ProjectRules:
    """The rules in the project of the working folder; in none where that is gone."""
    try:
        project = trace.hash_project(os.getcwd())  # noqa: PTH109 the hook asks the same way
    except OSError:
        project = ""
    return ProjectRules(str(places.find_home()), project)


@app.callback(invoke_without_command=True)
@app.command("list")
def list_rules(context: typer.Context, json: Json = False, everything: Everything = False) -> None:
    """The rules as they stand in the project of the working folder."""
    if context.invoked_subcommand is not None:
        return None
    settings.load_settings()  # the hook passes over a holdout that cannot be used, and has nobody to tell
    known = rules_here()
    known.catch_up()
    if json:
        return print_json(known.describe_all(everything))
    shown = known.list_rules(everything)
    for rule in shown:
        print(f"{render_piece(describe_rule(rule))}\n")
    if not shown:
        print_folded("Nothing has been learned yet: what you say to agents in two sessions becomes a rule.")
    for sentence in _describe_holdout(known):
        print_folded(sentence, "", "  ")
    for word in known.list_decisions() if everything else ():
        print_folded(f"{day_of(word.at)}  {word.do} {word.rule} {_describe_scope(word.scope, known)}", "", "  ")
    return None


@app.command()
def show(rule: Name, json: Json = False) -> None:
    """One rule: how it stands, where it is from, and what it was worth."""
    known = rules_here()
    known.catch_up()
    shown_rule = known.get_rule(rule)
    if json:
        return print_json({"v": 1, **known.describe_rule(shown_rule)})
    item = describe_rule(shown_rule)
    print(f"{render_piece(item)}\n")
    return print_folded(f"{item.verdict.capitalize()}: {item.measured}.", "    ", "    ")


def apply_decision(rule: str, do: str, here: bool = False) -> None:
    """Do what a person wants with a rule, and say so."""
    known = rules_here()
    done = known.decide_rule(rule, do, here=here)
    here = here or known.get_rule(rule).wish is not None  # what was asked for in a project is told there alone
    where = "in this project" if here else "in all projects"
    if not done:
        return print(f"{rule!r} is {'not' if do.startswith('un') else 'already'} {STATES[do]} {where}.")
    undo = f"insula guidance rules {_UNDO[do]} {rule}{' --here' if here else ''}"
    return print(f"{rule!r} {DECISIONS[do]} {where}. To undo: {undo}")


@app.command()
def accept(rule: Name) -> None:
    """Use what you asked for once from the next session on, in this project; it is measured like any other rule."""
    apply_decision(rule, "accept", here=True)


def _make_decision(do: str) -> Callable[[Name, Here], None]:
    def decide_rule(rule: Name, here: Here = False) -> None:
        apply_decision(rule, do, here)

    return decide_rule


for _do, _about in {
    "mute": "Use a rule no more.",
    "unmute": "Undo `mute`.",
    "pin": "Use a rule in every session, whatever the evidence says; it is never left out by lot.",
    "unpin": "Undo `pin`.",
}.items():
    app.command(_do, help=_about)(_make_decision(_do))


@app.command()
def forget(rule: Name, here: Here = False, yes: Yes = False) -> int:
    """Erase what was seen of a rule, and the words of one that you asked for or imported. It cannot be undone."""
    known = rules_here()
    where = "in this project" if here or known.get_rule(rule).wish else "in all projects"
    question = f"Erase all that was seen of {rule!r} {where}? It cannot be undone."
    if not lines.confirm_action(question, yes, "forgotten"):
        return 1
    known.forget_rule(rule, here=here)
    print(f"The evidence of {rule!r} no longer counts {where}.")
    return 0


@app.command("export")
def export_rules(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file; - for standard output.")],
) -> None:
    """Write the rules and their counts to a file, to share them: no session, project, path or time is in it."""
    exported = rules_here().export_rules()
    text = jsonlib.dumps(exported, indent=2, ensure_ascii=file == "-") + "\n"
    if file == "-":  # where no encoding is sure to be that of JSON
        sys.stdout.write(text)
        return
    try:
        with Path(file).open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise InputError(f"{file!r} exists already; give the name of a new file.") from error
    except OSError as error:
        raise InputError(f"{file!r} cannot be written ({error.strerror}); give another name.") from error
    print(f"{len(exported['rules'])} rules written to {file}.")


@app.command("import")
def import_rules(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of `insula guidance rules export`; - for standard input.")
    ],
    pin: Annotated[bool, typer.Option("--pin", help="Tell them at once; else each waits for evidence here.")] = False,
) -> int:
    """Take over rules from a file. Each is screened; those that are refused are named, the others come in."""
    known, refused = rules_here(), 0
    for number, entry in enumerate(read_entries(_read_text(file), file), 1):
        try:
            print(_describe_import(known, known.import_one(entry, Path(file).name), number, pin))
        except InputError as error:
            refused += 1
            lines.print_warning(f"Rule {number} is refused: {error}")
    return int(refused > 0)


def _read_text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read(FILE_LIMIT + 1) if file == "-" else foreign.read(file, FILE_LIMIT)
        text = data.decode("utf-8")
    except OSError as error:
        why = foreign.why(error)
        raise InputError(f"{file!r} cannot be read ({why}); give the path of a file of rules.") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file!r} is no JSON ({error}); give a file that `insula guidance rules export` wrote."
        ) from error
    if len(data) > FILE_LIMIT:
        raise InputError(f"{file!r} is larger than {FILE_LIMIT >> 20} MB, which no file of rules is; give another.")
    return text


def _describe_import(known: ProjectRules, rule: ImportedRule, number: int, pin: bool) -> str:
    """Pin a rule of a file if that is asked for, and say how it stands."""
    done = pin and known.decide_rule(rule.id, "pin")
    is_pinned = known.get_rule(rule.id).life.state == PINNED
    if rule.is_new:
        said = f"Rule {number} is {'pinned' if is_pinned else 'proposed'} as {rule.id!r}: {rule.advice}"
    else:
        said = f"Rule {number} is here already as {rule.id!r}"
        said += ", and is pinned now" if done else ", pinned" if is_pinned else ""
        said += f": {rule.advice}"
    return said if is_pinned else f"{said}\n  To use it at once: insula guidance rules pin {rule.id}"


def _describe_scope(scope: str, known: ProjectRules) -> str:
    if scope == EVERYWHERE:
        return "in all projects"
    return "in this project" if scope in (PROJECT, known.project) else "in another project"


def _describe_holdout(known: ProjectRules) -> list[str]:
    share = digest.read_holdout(known.home)
    change = (
        f"`holdout` in {settings.home() / settings.FILE}, or INSULA_HOLDOUT; then run `{_install_command()}` again."
    )
    if not share:
        return [f"No rule is left out of a session, so none can be shown to help. To change that, set {change}"]
    return [
        f"To find out whether a rule helps, it is left out of {lines.format_percent(share)} of sessions, drawn by lot. "
        f"Left out of the newest: {', '.join(known.newest_marker().withheld) or 'none'}.",
        f"To change or end that, set {change}",
    ]


def _install_command() -> str:
    """The command that hands the holdout to the hooks."""
    with suppress(InsulaError, OSError):  # the folder is gone, or a host's settings cannot be read: it names any host
        return doctor.name_install_command(Path.cwd())
    return f"insula install {next(iter(places.HOSTS))}"
