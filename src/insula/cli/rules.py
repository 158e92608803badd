"""`insula rules`: look at the rules that coding agents are told, decide about them, and share them."""

import json as jsonlib
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from insula import guidance
from insula.errors import InputError, StoreFull
from insula.guidance import EVERYWHERE, MINIMUM, MUTED, PINNED, Decision
from insula.hosts.places import home
from insula.screening import screen
from insula.step import digest, evidence, trace
from insula.step.digest import PROJECT, Rule
from insula.step.evidence import ADVICE_LIMIT, DECISIONS, Marker
from insula.step.fingerprint import digest as fingerprint
from insula.step.patterns import BY_ID

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(help="What coding agents are told at the start of a session: look, decide, share.")

FILE_LIMIT = 1 << 20
"""Bytes of a file of rules."""
ENTRIES = 100
PIPE_WIDTH = 160
"""Columns of the table where nobody looks at a terminal."""
KIND = "insula rules"
_DONE = {
    "mute": "will not be told",
    "unmute": "is no longer muted",
    "pin": "will be told in every session",
    "unpin": "is no longer pinned",
}
_UNDO = {"mute": "unmute", "unmute": "mute", "pin": "unpin", "unpin": "pin"}
_MEANS = {"mute": MUTED, "unmute": MUTED, "pin": PINNED, "unpin": PINNED}

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
    if context.invoked_subcommand is not None:
        return
    if json:
        print(jsonlib.dumps(_as_json(everything), indent=2))
    else:
        _print(everything)


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
def forget(rule: Name, here: Here = False) -> None:
    """Begin anew with a rule: what was seen of it so far no longer counts. An imported rule is erased."""
    _known(rule)
    _write(Decision(do="forget", rule=rule, scope=_scope(here), at=time.time()))
    if not here:
        _erase_advice(rule)
    print(f"The evidence of {rule!r} no longer counts {_where(here)}.")


@app.command("export")
def export_rules(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file; - for standard output.")],
) -> None:
    """Write the rules and their counts to a file, to share them: no session, project, path or time is in it."""
    rules = [_exported(rule) for rule in _rules() if rule.life.tally.records or rule.source]
    text = jsonlib.dumps({"v": 1, "kind": KIND, "rules": rules}, indent=2, ensure_ascii=False) + "\n"
    if file == "-":
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
    scope = _scope(here)
    mode = guidance.mode(evidence.decisions(str(home())).get(rule, []), scope)
    if (mode == _MEANS[do]) != do.startswith("un"):
        print(f"{rule!r} is {'already' if not do.startswith('un') else 'not'} {_MEANS[do]} {_where(here)}.")
        return
    _write(Decision(do=do, rule=rule, scope=scope, at=time.time()))
    print(f"{rule!r} {_DONE[do]} {_where(here)}. To undo: insula rules {_UNDO[do]} {rule}{' --here' if here else ''}")


def _known(rule: str) -> None:
    known = [*BY_ID, *evidence.imported(evidence.decisions(str(home())))]
    if rule not in known:
        raise InputError(f"There is no rule {rule!r}; the rules are {', '.join(known)}.")


def _scope(here: bool) -> str:
    return _project() if here else EVERYWHERE


def _where(here: bool) -> str:
    return "in this project" if here else "in all projects"


def _project() -> str:
    try:
        return trace.project(os.getcwd())  # noqa: PTH109 the hook asks the same way
    except OSError:
        return ""  # the working folder is gone


def _write(decision: Decision) -> None:
    try:
        evidence.decide(str(home()), decision)
    except OSError as error:
        raise _unwritable(error) from error


def _unwritable(error: OSError) -> StoreFull:
    path = str(home() / DECISIONS)
    return StoreFull(f"{path!r} cannot be written ({error.strerror or error}); make room, or allow writing there.")


def _erase_advice(rule: str) -> None:
    """Take the words of an imported rule out of the log; that there was one stays."""
    path = home() / DECISIONS
    lines = [_without_advice(line, rule) for line in path.read_bytes().splitlines(keepends=True)]
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        temporary.touch(0o600)
        temporary.write_bytes(b"".join(lines))
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(error) from error


def _without_advice(line: bytes, rule: str) -> bytes:
    try:
        record: dict[str, Any] = jsonlib.loads(line)
        if record["rule"] != rule or "advice" not in record:
            return line
    except (ValueError, TypeError, KeyError, RecursionError):
        return line
    kept = {name: value for name, value in record.items() if name not in {"advice", "source"}}
    return jsonlib.dumps(kept, separators=(",", ":")).encode() + b"\n"


# --- import and export -------------------------------------------------------------------------------------------


def _exported(rule: Rule) -> dict[str, Any]:
    return {"id": rule.id, "pattern": rule.pattern, "advice": rule.advice, "state": rule.life.state, **_counts(rule)}


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
        if file == "-":
            data = sys.stdin.buffer.read(FILE_LIMIT + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(FILE_LIMIT + 1)
    except OSError as error:
        raise InputError(f"{file!r} cannot be read ({error.strerror}); give the path of a file of rules.") from error
    if len(data) > FILE_LIMIT:
        raise InputError(f"{file!r} is larger than {FILE_LIMIT >> 20} MB, which no file of rules is; give another.")
    return data.decode("utf-8")


def _imported(entry: Any, number: int, source: str, pinned: bool) -> str:
    """Take over one entry, and say so."""
    pattern, advice = _checked(entry, number)
    if advice in {rule.advice for rule in _rules() if rule.pattern == pattern}:
        return f"Rule {number} is here already: {advice}"
    rule = f"{pattern}-{fingerprint(advice, 6)}"
    word = Decision(do="import", rule=rule, scope=EVERYWHERE, at=time.time(), advice=advice, pattern=pattern)
    _write(word.but(source=screen(source, 60).text))
    if pinned:
        _write(Decision(do="pin", rule=rule, scope=EVERYWHERE, at=time.time()))
    return f"Rule {number} is {'pinned' if pinned else 'proposed'} as {rule!r}: {advice}"


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


# --- what is shown -----------------------------------------------------------------------------------------------


def _rules() -> list[Rule]:
    return digest.compile_rules(str(home()), _project(), time.time())


def _counts(rule: Rule) -> dict[str, int]:
    tally = rule.life.tally
    return {
        "sessions": tally.records,
        "detections": tally.detections,
        "suppressions": tally.suppressions,
        "breaches": tally.breaches,
    }


def _as_json(everything: bool) -> dict[str, Any]:
    share, newest = digest.holdout(str(home())), _newest()
    return {
        "v": 1,
        "project": _project(),
        "holdout": {"share": share, "withheld_in_newest_session": list(newest.withheld)},
        "rules": [_row(rule) for rule in _rules() if everything or _worth_a_row(rule)],
        **({"history": _history()} if everything else {}),
    }


def _row(rule: Rule) -> dict[str, Any]:
    tally, effect = rule.life.tally, rule.life.effect
    return {
        **_exported(rule),
        "scope": rule.scope,
        "source": rule.source,
        "confidence": round(rule.life.confidence, 3),
        "shown": {"sessions": tally.shown, "failed": tally.breaches},
        "withheld": {"sessions": tally.withheld, "failed": tally.withheld_failed},
        "effect": {name: round(value, 4) for name, value in effect.as_dict().items()} if effect else None,
        "verdict": effect.verdict if effect else guidance.UNKNOWN,
        "last_seen": _day(tally.last) or None,
    }


def _worth_a_row(rule: Rule) -> bool:
    return rule.life.tally.detections + rule.life.tally.shown > 0 or rule.source != "" or _decided(rule)


def _decided(rule: Rule) -> bool:
    return rule.life.state in {PINNED, MUTED}


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") if at else ""


def _history() -> list[dict[str, Any]]:
    words = [word for words in evidence.decisions(str(home())).values() for word in words]
    return [word.as_dict() for word in sorted(words, key=lambda word: word.at)]


def _newest() -> Marker:
    """The marker of the session that was begun last."""
    markers = (home() / "sessions").glob(f"*/{evidence.MARKER}")
    last = max(markers, key=lambda path: path.stat().st_mtime, default=None)
    return (evidence.marker(str(last.parent)) if last else None) or Marker()


def _print(everything: bool) -> None:
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    rules = [rule for rule in _rules() if everything or _worth_a_row(rule)]
    if rules:
        console.print(_table(rules))
    else:
        console.print("Nothing has been learned yet: a rule is proposed once a failure was seen in a past session.")
    console.print(_disclosure(), soft_wrap=True, markup=False)
    for word in _history() if everything else []:
        where = "in all projects" if word["scope"] == EVERYWHERE else f"in project {word['scope']}"
        console.print(f"{_day(word['at'])}  {word['do']} {word['rule']} {where}", soft_wrap=True, markup=False)


def _table(rules: list[Rule]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("Rule and advice", ratio=1, min_width=24)
    for name in ("State", "Seen, kept, broken", "Failed: told, withheld", "Confidence", "Effect", "Last seen"):
        table.add_column(name)
    for rule in rules:
        table.add_row(*_cells(rule))
    return table


def _cells(rule: Rule) -> tuple[str, ...]:
    tally = rule.life.tally
    return (
        f"[bold]{rule.id}[/]\n{rule.advice.replace('[', chr(92) + '[')}",
        f"{rule.life.state}\n{'this project' if rule.scope == PROJECT else 'all projects'}",
        f"{tally.detections}, {tally.suppressions}, {tally.breaches}",
        f"{tally.breaches} of {tally.shown}, {tally.withheld_failed} of {tally.withheld}",
        f"{rule.life.confidence:.2f}",
        _effect(rule),
        _day(tally.last) or "never",
    )


def _effect(rule: Rule) -> str:
    effect = rule.life.effect
    if effect is None:
        return f"{guidance.UNKNOWN}\n({rule.life.tally.compared} of {MINIMUM} per arm)"
    return f"{effect.verdict}\n{effect.estimate:+.2f} [{effect.low:+.2f}, {effect.high:+.2f}]".replace("[", "\\[")


def _disclosure() -> str:
    share, newest = digest.holdout(str(home())), _newest()
    if not share:
        return "Holdout is off: no rule is withheld, and none can be shown to work."
    withheld = ", ".join(newest.withheld) or "none"
    return (
        f"Holdout: in {share:.0%} of sessions a rule is withheld by lot, to see whether it works. In the newest "
        f'session: {withheld}.\nSwitch it off with INSULA_HOLDOUT=0 or "holdout": 0 in {home() / digest.SETTINGS}.'
    )
