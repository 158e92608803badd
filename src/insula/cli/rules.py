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
from insula.cli.lines import print_json
from insula.cli.options import Yes
from insula.coding.hosts import doctor, places
from insula.coding.step import trace
from insula.coding.step.digest import PROJECT, ProjectRule
from insula.errors import InputError, InsulaError
from insula.guidance import ACCEPTED, ACTIVE, CORROBORATED, EVERYWHERE, HEARD, MINIMUM, MUTED, PINNED, PROPOSED
from insula.operations.rules import ImportedRule, ProjectRules, read_entries
from insula.text.wording import count_noun, day_of
from insula.worth import UNKNOWN

app = typer.Typer()
FILE_LIMIT = 1 << 20
"""Bytes of a file of rules."""
TIMES = 3
"""Times that something was said that are shown."""
_TOGETHER = "\N{NO-BREAK SPACE}"
"""A blank at which no line is broken."""
DECISIONS = {
    "accept": "is used from the next session on",
    "mute": "is used no more",
    "unmute": "is no longer muted",
    "pin": "is used in every session",
    "unpin": "is no longer pinned",
}
_UNDO = {"accept": "mute", "mute": "unmute", "unmute": "mute", "pin": "unpin", "unpin": "pin"}
_STATES = {"accept": ACCEPTED, "mute": MUTED, "unmute": MUTED, "pin": PINNED, "unpin": PINNED}
_HOW = {"prompt": "in a message", "interrupt": "after an interrupt", "rejection": "turning a call down"}

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
        _print_folded(*_describe_rule(rule, known), "")
    if not shown:
        _print_folded("Nothing has been learned yet: what you say to agents in two sessions becomes a rule.")
    _print_folded(*_describe_holdout(known))
    if everything:
        _print_folded(
            *(
                f"{day_of(word.at)}  {word.do} {word.rule} {_describe_scope(word.scope, known)}"
                for word in known.list_decisions()
            )
        )
    return None


@app.command()
def show(rule: Name, json: Json = False) -> None:
    """One rule: how it stands, where it is from, and what it was worth."""
    known = rules_here()
    known.catch_up()
    shown_rule = known.get_rule(rule)
    if json:
        return print_json({"v": 1, **known.describe_rule(shown_rule)})
    return _print_folded(*_describe_rule(shown_rule, known))


@app.command()
def review() -> None:
    """Go through what you asked agents for once, one key at a time: use it from now on, never, or later."""
    known = rules_here()
    known.catch_up()
    waiting = known.list_unreviewed()
    if not waiting:
        return print("There is nothing to review: you have said nothing to agents of this project that may be a rule.")
    if not lines.is_asked():
        raise InputError(
            "Nobody can be asked here; list them with `insula guidance rules`, and accept or mute each by its ID."
        )
    decided = {"accept": 0, "mute": 0}
    for number, rule in enumerate(waiting, 1):
        print("\n".join([f"{number} of {len(waiting)}", *_describe_words(rule)]))
        pressed = lines.read_key("  Use it from the next session on? [y]es, [n]ever, [l]ater, [q]uit:", "ynlq")
        if pressed == "q":
            break
        if do := {"y": "accept", "n": "mute"}.get(pressed):
            known.decide_rule(rule.id, do, here=True)
            decided[do] += 1
        done = {"accept": "It is used from the next session on.", "mute": "It is never used."}
        print(f"  {done.get(do or '', 'It waits until you say it again.')}\n")
    return print(
        f"{decided['accept']} accepted, {decided['mute']} muted; to undo: insula guidance rules mute ID, or unmute ID"
    )


def apply_decision(rule: str, do: str, here: bool = False) -> None:
    """Do what a person wants with a rule, and say so.

    Raises:
        InputError: there is none such, or that cannot be done with it.
    """
    known = rules_here()
    done = known.decide_rule(rule, do, here=here)
    here = here or known.find_wish(rule) is not None  # what was asked for in a project is told there alone
    where = "in this project" if here else "in all projects"
    if not done:
        return print(f"{rule!r} is {'not' if do.startswith('un') else 'already'} {_STATES[do]} {where}.")
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
    known.check_rule(rule)
    where = "in this project" if here or known.find_wish(rule) else "in all projects"
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


# --- in lines ----------------------------------------------------------------------------------------------------


def _print_folded(*texts: str) -> None:
    """Each text in lines that fit, the further ones as indented as the first."""
    columns = lines.terminal_width("COLUMNS")
    for text in texts:
        indent = " " * (len(text) - len(text.lstrip()))
        print("\n".join(lines.fold_text(text.strip(), columns, indent, indent or "  ")).replace(_TOGETHER, " "))


def _describe_rule(rule: ProjectRule, known: ProjectRules) -> list[str]:
    """A rule in a few lines: where it stands; what is told, and where it comes from; its counts."""
    effect, verdict = rule.life.effect, rule.life.verdict
    few = "" if effect else f" ({rule.life.tally.smaller_arm} of {MINIMUM} sessions, with and without)"
    more = f" (about {effect.missing:,} more sessions)" if effect and verdict == UNKNOWN else ""
    why = rule.life.reason or _why_it_waits(rule)
    return [
        f"{rule.id}: {rule.life.state}, {_describe_scope(known.scope_of(rule), known)}; {verdict}{few}{more}",
        *(_describe_words(rule)),
        *([f"  {why}"] if why else []),
        f"  {_describe_counts(rule)}",
    ]


def _describe_words(rule: ProjectRule) -> list[str]:
    """The advice; of what a user asked for their own words, and when they said it."""
    if rule.wish is None:
        return [f"  {rule.advice}"]
    times = rule.wish.times
    said = [f'  {day_of(told_at.at)}, {_HOW[told_at.how]}: "{told_at.words}"' for told_at in times[1:TIMES]]
    more = [f"  and {len(times) - TIMES} times more"] if len(times) > TIMES else []
    about = f" ({rule.wish.about})" if rule.wish.about else ""
    return [f'  "{rule.wish.words}"', f"  said on {day_of(times[0].at)}, {_HOW[times[0].how]}{about}", *said, *more]


def _describe_counts(rule: ProjectRule) -> str:
    tally, effect = rule.life.tally, rule.life.effect
    if not tally.records:
        return "no session has had the opportunity to fail at it"
    parts = [f"seen {tally.detections}, kept {tally.suppressions}, broken {tally.breaches}"]
    if tally.shown_count or tally.withheld:
        compared = f"failed in {tally.breaches} of {tally.shown_count} sessions with it"
        parts.append(f"{compared}, {tally.withheld_failed} of {tally.withheld} without")
    if effect:
        parts.append(f"effect {effect.estimate:+.2f} [{effect.low:+.2f},{_TOGETHER}{effect.high:+.2f}]")
    parts += [f"confidence {rule.life.confidence:.2f}", f"last seen {day_of(tally.last) or 'never'}"]
    return "; ".join(parts)


def _why_it_waits(rule: ProjectRule) -> str:
    """Why a rule is only proposed, however often it may have been seen."""
    tally, state = rule.life.tally, rule.life.state
    if state == HEARD:
        return f"used once you say it again, or now: insula guidance rules accept {rule.id}"
    if rule.is_maxim and state == ACTIVE and not rule.is_shown_to_work:
        return "used only in the sessions that find out whether it helps; pin it to use it in all"
    if state != PROPOSED:
        return ""
    if not tally.detections:
        return "not seen here yet" if rule.source or tally.records else ""
    if rule.scope == PROJECT:
        return f"seen in {count_noun(tally.detections, 'session')} here; used once it was seen in {CORROBORATED}"
    return f"seen in {count_noun(tally.places, 'project')}; used elsewhere once it was seen in {CORROBORATED}"


def _describe_scope(scope: str, known: ProjectRules) -> str:
    if scope == EVERYWHERE:
        return "in all projects"
    return "in this project" if scope in (PROJECT, known.project) else "in another project"


def _describe_holdout(known: ProjectRules) -> list[str]:
    share = known.read_holdout()
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
