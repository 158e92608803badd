"""`insula rules`: look at the rules that coding agents are told, decide about them, and share them."""

import json as jsonlib
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from insula import foreign, guidance
from insula.cli import lines, listing
from insula.errors import InputError, StoreFull
from insula.guidance import ACCEPTED, EVERYWHERE, MUTED, PINNED, Decision
from insula.hosts.places import home
from insula.screening import screen
from insula.step import asked, evidence
from insula.step.asked import Wish
from insula.step.evidence import ADVICE_LIMIT, DECISIONS
from insula.step.fingerprint import digest as fingerprint
from insula.step.patterns import BY_ID

app = typer.Typer(help="What coding agents are told at the start of a session: look, decide, share.")

FILE_LIMIT = 1 << 20
"""Bytes of a file of rules."""
ENTRIES = 100
KIND = "insula rules"
_DONE = {
    "accept": "is told from the next session on",
    "mute": "will not be told",
    "unmute": "is no longer muted",
    "pin": "will be told in every session",
    "unpin": "is no longer pinned",
}
_UNDO = {"accept": "mute", "mute": "unmute", "unmute": "mute", "pin": "unpin", "unpin": "pin"}
_MEANS = {"accept": ACCEPTED, "mute": MUTED, "unmute": MUTED, "pin": PINNED, "unpin": PINNED}

Name = Annotated[str, typer.Argument(metavar="ID", help="The id of a rule, as `insula rules` shows it.")]
Here = Annotated[bool, typer.Option("--here", help="Only in the project of the working folder.")]


@app.callback(invoke_without_command=True)
def show(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show rules without evidence, and what was decided.")
    ] = False,
) -> None:
    """The rules as they stand in the project of the working folder."""
    if context.invoked_subcommand is None:
        _list(json, everything)


def _list(json: bool, everything: bool) -> None:
    from insula import settings  # half of what `insula --help` would take

    settings.load()  # the hook passes over a holdout that cannot be used, and has nobody to tell
    _catch_up()
    if json:
        print(jsonlib.dumps(listing.as_json(everything), indent=2))
    else:
        listing.print_all(everything)


@app.command("list")
def listed(
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show rules without evidence, and what was decided.")
    ] = False,
) -> None:
    """The rules as they stand in the project of the working folder."""
    _list(json, everything)


@app.command("show")
def one(rule: Name, json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False) -> None:
    """One rule: how it stands, where it is from, and what it was worth."""
    _catch_up()
    _known(rule)
    if json:
        print(jsonlib.dumps(listing.one(rule), indent=2))
    else:
        listing.print_one(rule)


@app.command()
def review() -> None:
    """Go through what you asked agents for once, one key at a time: to be told from now on, never, or later."""
    from insula.cli import review as reviewing

    _catch_up()
    try:
        reviewing.review()
    except OSError as error:
        raise _unwritable(error) from error


@app.command()
def accept(rule: Name) -> None:
    """Tell what you asked for once from the next session on, in this project; it is measured like any other rule."""
    if _wish(rule) is None:
        raise InputError(f"{rule!r} is nothing that you asked for in this project; to tell a rule always, pin it.")
    _decide("accept", rule, here=True)


@app.command()
def mute(rule: Name, here: Here = False) -> None:
    """Tell a rule no longer."""
    _decide("mute", rule, here)


@app.command()
def unmute(rule: Name, here: Here = False) -> None:
    """Undo `mute`."""
    _decide("unmute", rule, here)


@app.command()
def pin(rule: Name, here: Here = False) -> None:
    """Tell a rule in every session, whatever the evidence says; it is never withheld."""
    _decide("pin", rule, here)


@app.command()
def unpin(rule: Name, here: Here = False) -> None:
    """Undo `pin`."""
    _decide("unpin", rule, here)


@app.command()
def forget(
    rule: Name, here: Here = False, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Begin anew with a rule: what was seen of it so far no longer counts. Imported rules and your own are erased.

    This cannot be undone.
    """
    _known(rule)
    wish = _wish(rule)
    here = here or wish is not None
    if not yes and not _is_confirmed(rule, here):
        print("Nothing was forgotten.")
        raise typer.Exit(1)
    _write(Decision(do="forget", rule=rule, scope=_scope(here), at=time.time()))
    if wish is not None:
        _erase_words(wish)
    elif not here:
        _erase_advice(rule)
    print(f"The evidence of {rule!r} no longer counts {_where(here)}.")


@app.command("export")
def export_rules(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file; - for standard output.")],
) -> None:
    """Write the rules and their counts to a file, to share them: no session, project, path or time is in it."""
    shared = [rule for rule in listing.rules() if rule.wish is None and (rule.life.tally.records or rule.source)]
    rules = [listing.exported(rule) for rule in shared]
    text = jsonlib.dumps({"v": 1, "kind": KIND, "rules": rules}, indent=2, ensure_ascii=file == "-") + "\n"
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
    print(f"{len(rules)} rules written to {file}.")


@app.command("import")
def import_rules(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of `insula rules export`; - for standard input.")],
    pin: Annotated[bool, typer.Option("--pin", help="Tell them at once; else each waits for evidence here.")] = False,
) -> None:
    """Take over rules from a file. Each is screened; those that are refused are named, the others come in."""
    refused = 0
    for number, entry in enumerate(_entries(file), 1):
        try:
            print(_imported(entry, number, Path(file).name, pin))
        except InputError as error:
            refused += 1
            print(f"insula: {error}", file=sys.stderr)
    raise typer.Exit(int(refused > 0))


# --- decisions ---------------------------------------------------------------------------------------------------


def _decide(do: str, rule: str, here: bool) -> None:
    _known(rule)
    here = here or _wish(rule) is not None  # what was asked for in a project is told there alone
    scope = _scope(here)
    mode = guidance.mode(evidence.decisions(str(home())).get(rule, []), scope)
    if (mode == _MEANS[do]) != do.startswith("un"):
        print(f"{rule!r} is {'already' if not do.startswith('un') else 'not'} {_MEANS[do]} {_where(here)}.")
        return
    _write(Decision(do=do, rule=rule, scope=scope, at=time.time()))
    print(f"{rule!r} {_DONE[do]} {_where(here)}. To undo: insula rules {_UNDO[do]} {rule}{' --here' if here else ''}")


def _is_confirmed(rule: str, here: bool) -> bool:
    if not lines.is_asked():
        raise InputError(f"Nobody can be asked whether to forget {rule!r}, which cannot be undone; say so with --yes.")
    return lines.confirmed(f"Forget all that was seen of {rule!r} {_where(here)}? It cannot be undone.")


def _known(rule: str) -> None:
    known = [*BY_ID, *evidence.imported(evidence.decisions(str(home()))), *(wish.id for wish in _wishes())]
    if rule not in known:
        raise InputError(f"There is no rule {rule!r}; the rules are {', '.join(known)}.")


def _wishes() -> list[Wish]:
    return asked.wishes(asked.asked_in(str(home()), listing.project()))


def _wish(rule: str) -> Wish | None:
    return next((wish for wish in _wishes() if wish.id == rule), None)


def _catch_up() -> None:
    """Take in what the sessions that have ended say: else it would wait for the next one to start."""
    with suppress(OSError):
        if (home() / "sessions").is_dir():
            evidence.score_ended(str(home()), "", time.time())


def _erase_words(wish: Wish) -> None:
    try:
        asked.erase(str(home()), listing.project(), wish)
    except OSError as error:
        raise _unwritable(error) from error


def _scope(here: bool) -> str:
    return listing.project() if here else EVERYWHERE


def _where(here: bool) -> str:
    return "in this project" if here else "in all projects"


def _write(decision: Decision) -> None:
    try:
        evidence.decide(str(home()), decision)
    except OSError as error:
        raise _unwritable(error) from error


def _unwritable(error: OSError) -> StoreFull:
    path = str(home() / DECISIONS)
    return StoreFull(f"{path!r} cannot be written ({error.strerror or error}); make room, or allow writing there.")


def _erase_advice(rule: str) -> None:
    try:
        evidence.erase_advice(str(home()), rule)
    except OSError as error:
        raise _unwritable(error) from error


# --- import and export -------------------------------------------------------------------------------------------


def _entries(file: str) -> list[Any]:
    try:
        record = jsonlib.loads(_text_of(file))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file!r} is no JSON ({error}); give a file that `insula rules export` wrote.") from error
    entries: object = _fields(record).get("rules")
    if not isinstance(entries, list):
        raise InputError(f'{file!r} holds no list of "rules"; give a file that `insula rules export` wrote.')
    if len(cast(list[Any], entries)) > ENTRIES:
        raise InputError(f"{file!r} holds more than {ENTRIES} rules; split it.")
    return cast(list[Any], entries)


def _fields(record: object) -> dict[str, Any]:
    return cast(dict[str, Any], record) if isinstance(record, dict) else {}


def _text_of(file: str) -> str:
    try:
        data = sys.stdin.buffer.read(FILE_LIMIT + 1) if file == "-" else foreign.read(file, FILE_LIMIT)
    except OSError as error:
        why = foreign.why(error)
        raise InputError(f"{file!r} cannot be read ({why}); give the path of a file of rules.") from error
    if len(data) > FILE_LIMIT:
        raise InputError(f"{file!r} is larger than {FILE_LIMIT >> 20} MB, which no file of rules is; give another.")
    return data.decode("utf-8")


def _imported(entry: Any, number: int, source: str, pinned: bool) -> str:
    """Take over one entry, and say so."""
    pattern, advice = _checked(entry, number)
    there = [rule for rule in listing.rules() if (rule.pattern, rule.advice) == (pattern, advice)]
    if there:
        return _here_already(there[0].id, number, advice, pinned)
    rule = f"{pattern}-{fingerprint(advice, 6)}"
    word = Decision(do="import", rule=rule, scope=EVERYWHERE, at=time.time(), advice=advice, pattern=pattern)
    _write(word.replace(source=screen(source, 60).text))
    if pinned:
        _write(Decision(do="pin", rule=rule, scope=EVERYWHERE, at=time.time()))
        return f"Rule {number} is pinned as {rule!r}: {advice}"
    return f"Rule {number} is proposed as {rule!r}: {advice}\n  To have it told at once: insula rules pin {rule}"


def _here_already(rule: str, number: int, advice: str, pinned: bool) -> str:
    """Pin it if that is asked for, and say so."""
    is_pinned = guidance.mode(evidence.decisions(str(home())).get(rule, []), EVERYWHERE) == PINNED
    if pinned and not is_pinned:
        _write(Decision(do="pin", rule=rule, scope=EVERYWHERE, at=time.time()))
        return f"Rule {number} is here already as {rule!r}, and is pinned now: {advice}"
    said = f"Rule {number} is here already as {rule!r}{', pinned' if is_pinned else ''}: {advice}"
    return said if is_pinned else f"{said}\n  To have it told at once: insula rules pin {rule}"


def _checked(entry: Any, number: int) -> tuple[str, str]:
    """Pattern and safe advice of an entry.

    Raises:
        InputError: it cannot be taken over.
    """
    pattern, advice = _fields(entry).get("pattern"), _fields(entry).get("advice")
    if not isinstance(pattern, str) or not isinstance(advice, str) or not advice.strip():
        raise InputError(f'Rule {number} is refused: it has no "pattern" and "advice" that are texts; mend the file.')
    if pattern not in BY_ID:
        raise InputError(
            f"Rule {number} is refused: nothing here sees the pattern {pattern[:40]!r}; use one of {', '.join(BY_ID)}."
        )
    if len(advice) > ADVICE_LIMIT:
        raise InputError(
            f"Rule {number} is refused: its advice has {len(advice)} characters; cut it to {ADVICE_LIMIT}."
        )
    safe = screen(advice, ADVICE_LIMIT)
    if safe.reasons or not safe.text.isprintable():
        why = ", ".join(safe.reasons) or "unprintable characters"
        raise InputError(f"Rule {number} is refused: its advice must not reach an agent ({why}); reword it.")
    return pattern, safe.text
