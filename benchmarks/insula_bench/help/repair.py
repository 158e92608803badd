"""A small coding agent: one action a turn, told in a form that small models can write."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from insula.errors import InputError
from insula.llm.wire import Role
from insula_bench.help.sandbox import Ran, inside, run, shortened

SHELL, READ, EDIT, DONE, NOTHING = "shell", "read", "edit", "done", ""
INSTRUCTIONS = """\
You are a coding agent in a folder with a few small files. In each reply say in one sentence what you will do, and \
then give exactly one action, in one of these forms:

<shell>a command</shell>
<read>path of a file</read>
<edit path="path of a file">the whole new text of the file</edit>
<done/>

For example: I look at the code.
<read>app.py</read>

You see the result of the action, and go on. Look before you change; run what was asked for after a change; when it \
works, reply <done/>."""
UNREADABLE = (
    'That held no action. Give exactly one: <shell>…</shell>, <read>…</read>, <edit path="…">…</edit> or <done/>.'
)
LEFT_OUT_AT_ONCE = 4
"""Exchanges of a long run that the model no longer sees, and so on in steps of as many."""
ONLY_FIRST = "(Only the first action of your reply was carried out.)"
_SHELL = re.compile(r"<shell>(.*?)</shell>", re.S)
_READ = re.compile(r"<read>(.*?)</read>", re.S)
_EDIT = re.compile(r"<edit[\s>]+(?:path\s*=\s*)?[\"']?([^\"'<>\n]+)[\"']?\s*>\n?(.*?)(?:</edit>|\Z)", re.S)
_DONE = re.compile(r"<done\s*/?>")
_BEGUN = re.compile(r"<(?:shell|read|edit)\b")
_FENCE = re.compile(r"\A```\w*\n(.*?)\n?```\s*\Z", re.S)
_BASH = re.compile(r"```(?:sh|bash|shell)\n(.*?)```", re.S)


class Act(NamedTuple):
    """What the model wants done."""

    kind: str
    target: str = ""
    """A command or a path."""
    text: str = ""
    """The new text of a file."""
    others: bool = False
    """Whether the reply asks for more than this."""


class Result(NamedTuple):
    """What came of an act."""

    ok: bool
    output: str
    code: int = 0


def parse(reply: str) -> Act:
    """The first action of a reply; tolerant of a fence around a text, or in place of the form for a command."""
    found = [
        (match.start(), act)
        for match, act in (
            (_SHELL.search(reply), SHELL),
            (_READ.search(reply), READ),
            (_EDIT.search(reply), EDIT),
            (_DONE.search(reply), DONE),
        )
        if match
    ]
    kind = min(found)[1] if found else NOTHING
    if kind == DONE and _BEGUN.search(reply):  # what was to be done first cannot be read
        return Act(NOTHING)
    others = sum(len(form.findall(reply)) for form in (_SHELL, _READ, _EDIT, _DONE)) > 1
    if kind == SHELL:
        return Act(SHELL, _unfenced(_one(_SHELL, reply)), others=others)
    if kind == READ:
        return Act(READ, _one(_READ, reply), others=others)
    if kind == EDIT and (edit := _EDIT.search(reply)):
        return Act(EDIT, edit[1].strip(), _unfenced(edit[2]).rstrip() + "\n", others)
    if kind == NOTHING and (command := _BASH.search(reply)):
        return Act(SHELL, command[1].strip())
    return Act(kind)


def do(folder: Path, act: Act) -> Result:
    """Carries an act out in the task's folder, and nowhere else."""
    try:
        if act.kind == SHELL:
            return _ran(run(folder, act.target))
        path = inside(folder, act.target)
        if act.kind == READ:
            return Result(ok=True, output=shortened(path.read_text("utf-8", errors="replace")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(act.text, "utf-8")
        return Result(ok=True, output="The file was written.")
    except (OSError, InputError) as error:
        return Result(ok=False, output=str(error).replace(str(folder), "."), code=1)


def told(act: Act, result: Result) -> str:
    """The result as the model reads it."""
    if act.kind == NOTHING:
        return UNREADABLE
    head = f"Exit status {result.code}\n" if act.kind == SHELL else ""
    tail = f"\n{ONLY_FIRST}" if act.others else ""
    return f"{head}{result.output or '(no output)'}{tail}"


def bounded(history: Sequence[tuple[Role, str]], characters: int) -> list[tuple[Role, str]]:
    """The first exchange and the last ones that fit.

    What is left out of the middle are whole exchanges, several at once: the beginning then stays the same for some
    turns, and a server that keeps what it has read of a prompt reads only what is new.
    """
    kept = list(history)
    while len(kept) > 4 and sum(len(text) for _, text in kept) > characters:
        del kept[2 : 2 + min(2 * LEFT_OUT_AT_ONCE, max(len(kept) - 5, 2))]
    return kept


def _ran(done: Ran) -> Result:
    return Result(ok=done.code == 0, output=done.output, code=done.code)


def _one(pattern: re.Pattern[str], reply: str) -> str:
    match = pattern.search(reply)
    return match[1].strip() if match else ""


def _unfenced(text: str) -> str:
    return match[1] if (match := _FENCE.match(text.strip())) else text
