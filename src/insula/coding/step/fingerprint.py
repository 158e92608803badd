"""A tool call as digests and templates that survive a new clock time, path or line number.

The hook pays for every pattern that it compiles: they stand here as text, and cheap marks are looked for first.
"""

import re

from insula.coding.step.action import BRIEF, EDIT, EXECUTE, OTHER, PATH, READ, SEARCH, TARGET, Action, CallFailure
from insula.coding.step.command import Command, make_label, parse_command
from insula.coding.step.digests import hash_text, sum_text
from insula.coding.step.outcome import (
    did_nothing,
    has_run,
    has_succeeded,
    holds_error,
    is_denied,
    is_red,
    is_throttled,
    only_says_no,
    only_shows,
    read_exit_code,
    read_summary,
    says_failed,
)
from insula.coding.step.programs import TEST
from insula.coding.step.redacting import MARGIN, drop_kinds, redact_command, redact_output
from insula.coding.step.shell import READ as COMMAND
from insula.redaction import take_out
from insula.value import dump_json, is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EDGE = 4_000
"""Characters at either end of an output that are looked at."""
_TELLING = 48
"""An output shorter than this ("ok", "All checks passed!") says nothing about whether the agent gets on."""

_READS = frozenset(
    "read read_file read_files view read_many_files notebookread open scroll_up scroll_down goto".split()
)
_SEARCHES = frozenset(
    "grep glob ls list_directory search_file_content grep_search webfetch websearch web_fetch google_web_search list "
    "search codesearch find_file search_dir search_file toolsearch search_codebase fetch_web_content".split()
)
EDITS = frozenset(
    "edit write multiedit notebookedit replace write_file apply_patch create str_replace insert patch edit_file "
    "str_replace_editor str_replace_based_edit_tool editor strreplace applypatch".split()
)
EXECUTES = frozenset(
    "bash shell run_shell_command execute exec_command shell_command local_shell run_commands terminal powershell sql "
    "python ipython execute_bash".split()
)
PATHS = ("file_path", "absolute_path", "filePath", "notebook_path", "path")
_TARGETS = (*PATHS, "command", "cmd")
_TALK = frozenset(("description", "thought", "explanation", "instruction", "statusMessage"))
"""What an agent says about a call is no part of it."""


def make_action(
    *,
    tool: str,
    input: "Any",
    output: str,
    at: float,
    ok: bool | None = None,
    code: int | None = None,
    id: str = "",
) -> Action:
    """The action that a tool call was.

    Args:
        input: its arguments, as JSON holds them, or a text.
        output: what it gave back, as text; the error where it failed.
        ok: the structured outcome; None where the host tells none and the text has to.
        code: the exit code, where the host tells it.
    """
    kind = _classify_tool(tool, input)
    input, target, secrets = _redact_input(input, PATH if kind in {READ, EDIT} else COMMAND)
    said = output if len(output) <= 2 * _EDGE else f"{output[:_EDGE]}\n{output[-_EDGE:]}"
    code = read_exit_code(said) if code is None and ok is not True else code
    command = parse_command(drop_kinds(target)) if kind == EXECUTE else Command()
    bare = f"{command.program} {command.subcommand}"  # what a shell is handed, behind what is loaded for it
    line = bare if only_shows(bare) else target
    fine = only_says_no(target, said, code) or (ok if ok is not None else has_succeeded(said, kind, line, code))
    fine = fine and not (kind == EXECUTE and says_failed(said, line, command.proves and command.kind != TEST))
    fine = fine and not (kind == OTHER and holds_error(said)) and not did_nothing(said, kind)
    unanswered = not fine and _asks_person(tool)
    kept_out = not fine and not unanswered and is_denied(said)
    done = ok is True or (has_run(said) and not kept_out and not unanswered)
    failed = not fine and (done or kept_out)
    error, found = (
        redact_output(output, _EDGE, secrets) if failed and done else ("", {})
    )  # else checksums alone are kept
    name, whole = _find_target(input)
    if (safe := take_out(whole, found)) != whole:  # what its output shows to be a secret is one in the command, too
        input = {**input, name: safe} if name else safe
        return make_action(tool=tool, input=input, output=output, at=at, ok=ok, code=code, id=id)
    written = input if isinstance(input, str) else _serialize_input(input)
    told = (
        f"{target} {sum_text(written)}" if kind == EDIT else " ".join(written.split())
    )  # what a file holds is not kept
    family, selectors, shown = _name_family(tool, kind, target, command)
    files = _list_edited(target, input) if kind == EDIT else ()
    target = files[0] if files else target
    done_so = Action(
        tool=tool[:40],
        kind=kind,
        at=at,
        call=hash_text(f"{tool} {told}"),
        ok=fine,
        ran=done,
        denied=kept_out,
        target=target[: PATH if kind in {READ, EDIT} else TARGET],
        result=_digest_result(said),
        chars=len(written) + len(output),
        waits=command.waits
        or _IS_TASK in f"{target} "
        or (kind == OTHER and any(word in tool.lower() for word in _WAITING_TOOLS))
        or (failed and (is_throttled(said) or (command.limited and code == _TIMED_OUT))),
        probes=command.probes,
        family=family,
        selectors=selectors,
        workspace=command.workspace[:PATH],
        label=shown,
        proves=command.proves,
        also=command.also,
        unsure=fine and command.proves and "|" in target and read_summary(said.lower()) is None,
        changes=fine and (kind == EDIT or command.changes),
        of_project=any(map(_is_of_project, files)),
        acts=command.acts,
        tests=fine and kind == EDIT and _writes_test(input),
        red=failed and kind == EXECUTE and is_red(said),
        id=id[:80],
    )
    if error:
        done_so = done_so.replace(**_describe_failure(error, kind))
    if kind == EDIT:  # equal for the same change, wherever it is made
        old, new = read_edit(input)
        done_so = done_so.replace(before=sum_text(old.strip()), after=sum_text(new.strip()))
    return done_so


def _redact_input(input: "Any", most: int) -> "tuple[Any, str, dict[str, str]]":
    """The input and its path or command, redacted as far as they are read, and the secrets that were in it."""
    name, whole = _find_target(input)
    target, secrets = redact_command(whole, most)
    if secrets:
        safe = target + whole[most + MARGIN :]
        input = {**input, name: safe} if name else safe
    return input, target, secrets


_ASKING = frozenset(
    "askuserquestion askuser askhuman askfollowupquestion requestuserinput question exitplanmode".split()
)
"""Tools by which an agent asks a person, by the letters of their names."""


def _asks_person(tool: str) -> bool:
    """Whether a tool asks a person: where nobody attends, its failure is none of the agent's."""
    return "".join(filter(str.isalpha, tool.rsplit("__", 1)[-1].lower())) in _ASKING


_TIMED_OUT = 124
"""Exit status of `timeout` where the time was up."""


def _name_family(tool: str, kind: str, target: str, command: Command) -> "tuple[str, tuple[str, ...], str]":
    """What a call is run for, which part of it, and as what it may be named."""
    if kind == EXECUTE and command.family:
        return command.family[:80], command.selectors, command.label
    if kind in {READ, EDIT}:
        path = target.replace("\\", "/").rstrip("/")
        return f"{kind} of a file", (path[-PATH:],), make_label((path.rsplit("/", 1)[-1],))
    return f"{kind} {tool[:40]}", (), make_label((tool.rsplit("__", 1)[-1],))


def _describe_failure(error: str, kind: str) -> "dict[str, Any]":
    """What a call's error says of how it failed; it costs time, so nothing of it is loaded for other calls."""
    from insula.coding.step.failure import make_template, name_failure, read_failure

    failure = read_failure(error) if kind in {EXECUTE, OTHER} else CallFailure()
    return {"error": make_template(error), "failure": failure, "named": name_failure(error)}


OLD = ("old_string", "oldString", "old_str")
NEW = ("new_string", "newString", "new_str", "content", "file_text", "new_source")
"""Where the arguments of an edit hold the text that it takes out, and the one that it puts in."""


def read_edit(given: object) -> "tuple[str, str]":
    """The text that an edit takes out, and the one that it puts in."""
    if patch := given if isinstance(given, str) else get_patch(given):
        lines = patch.splitlines()
        old = "\n".join(line[1:] for line in lines if line[:1] == "-" and line[:3] != "---")
        return old, "\n".join(line[1:] for line in lines if line[:1] == "+" and line[:3] != "+++")
    if not is_object(given):
        return "", ""
    edits = [edit for edit in given["edits"] if is_object(edit)] if is_list(given.get("edits")) else [given]
    old, new = ("\n".join(str(edit[name]) for edit in edits for name in names if name in edit) for names in (OLD, NEW))
    return old, new


def _is_of_project(file: str) -> bool:
    from insula.coding.step.project import is_of_project

    return is_of_project(file)


_TESTS = '#[test]|#[tokio::test]|def test_|describe(| it(|\\nit(|test(|func Test|@Test|test "|TEST(|[Fact]|[Test]'


def _writes_test(given: object) -> bool:
    """Whether the arguments of an edit hold a test."""
    text = str(given)[:60_000]
    return any(mark in text for mark in _TESTS.split("|"))


def _list_edited(target: str, input: "Any") -> tuple[str, ...]:
    """The files that an edit is of: of a patch all that it names."""
    patch = get_patch(input)
    if not patch:
        return (target,) if target else ()
    named = dict.fromkeys(redact_command(path, PATH)[0] for _, path in list_patched(patch)[:_FILES])
    return tuple(named) or ((target,) if target else ())


_FILES = 12
"""Files of a patch that are told apart."""


_PATCHES = ("command", "patchText", "patch", "input")


def get_patch(input: "Any") -> str:
    """The patch that an edit is, by whatever name a host hands it over; empty for none."""
    texts = [input] if isinstance(input, str) else [input.get(name) for name in _PATCHES] if is_object(input) else []
    return next((text for text in texts if isinstance(text, str) and "*** " in text), "")


def list_patched(patch: str) -> "list[tuple[str, str]]":
    """What a patch that comes as a text does (`Update`, `Add`, `Delete`) to which files; what stands in them stays."""
    return re.findall(r"(?m)^\*\*\* (Update|Add|Delete) File: *([^\n]*[^\s])", patch)


def _classify_tool(tool: str, input: "Any") -> str:
    name = tool.lower()
    if name in EXECUTES:
        return EXECUTE
    if name in EDITS:
        return READ if _is_view(input) else EDIT  # one tool for both
    return READ if name in _READS else SEARCH if name in _SEARCHES else OTHER


def _is_view(input: "Any") -> bool:
    return is_object(input) and input.get("command") == "view"


def get_target(input: "Any") -> str:
    """The path or the command of a call, as it came; empty for none."""
    return _find_target(input)[1]


def _find_target(input: "Any") -> "tuple[str, str]":
    """The name of the argument that holds the path or the command, and what it holds."""
    if isinstance(input, str):
        return "", input
    for name in _TARGETS if is_object(input) else ():
        value = input.get(name)
        if isinstance(value, str):
            return name, value
        if is_list(value):
            return name, " ".join(part for part in value if isinstance(part, str))
    return "", ""


def _serialize_input(input: "Any") -> str:
    if is_object(input):
        input = {name: value for name, value in input.items() if name not in _TALK}
    return dump_json(input, sort_keys=True)


_IS_TASK = ".output "
"""Ends the name of the file that a task in the background writes to, which Claude Code gives; to read it is to poll."""
_WAITING_TOOLS = "bashoutput taskoutput agentoutput wait sleep poll monitor status write_stdin".split()


# Results: equal when they differ in the time alone. A counter or a percentage that moves is progress.

_CLOCK = (
    r"\d+(?:[:/t-]\d+)+(?:\.\d+)?z?|\b0x[0-9a-f]+|\d+(?:\.\d+)?\s?(?:[mµn]?s|sec|seconds?|minutes?)\b"
    r"|\bpg?id\W{0,3}\d+|\d{5,}"
)


def _digest_result(said: str) -> str:
    told = " ".join(said.split())
    if len(told) < _TELLING:
        return BRIEF + sum_text(told) if told else ""
    return sum_text(re.sub(_CLOCK, "#", told.lower()) if any(map(str.isdigit, told)) else told)
