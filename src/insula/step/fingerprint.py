"""A tool call as digests and templates that survive a new clock time, path or line number.

The hook pays for every pattern that it compiles: they stand here as text, and cheap marks are looked for first.
"""

import json
import re

from insula.redaction import redact
from insula.step.action import BRIEF, EDIT, EXECUTE, OTHER, PATH, READ, SEARCH, TARGET, Action
from insula.step.outcome import exit_code, only_says_no, ran, says_failed, succeeded
from insula.value import is_list, is_object

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL: 2 ms
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIMILAR = 0.6
"""Share of common words from which two errors are similar (seed 002: Jaccard 0.6)."""
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
_EDITS = frozenset(
    "edit write multiedit notebookedit replace write_file apply_patch create str_replace insert patch edit_file "
    "str_replace_editor str_replace_based_edit_tool editor strreplace applypatch".split()
)
_EXECUTES = frozenset(
    "bash shell run_shell_command execute exec_command shell_command local_shell run_commands terminal powershell sql "
    "python ipython execute_bash".split()
)
_TARGETS = ("file_path", "absolute_path", "filePath", "notebook_path", "path", "command", "cmd")
_TALK = frozenset(("description", "thought", "explanation", "instruction", "statusMessage"))
"""What an agent says about a call is no part of it."""


def digest(text: str, size: int = 12) -> str:
    """`size` hex digits that stand for `text`."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=(size + 1) // 2).hexdigest()[:size]


def action(
    *, tool: str, input: "Any", output: str, at: float, ok: bool | None = None, code: int | None = None, id: str = ""
) -> Action:
    """The action that a tool call was.

    Args:
        tool: the host's name of the tool.
        input: its arguments, as JSON holds them, or a text.
        output: what it gave back, as text; the error where it failed.
        at: seconds since the epoch.
        ok: the structured outcome; None where the host tells none and the text has to.
        code: the exit code, where the host tells it.
        id: the host's id of the call.
    """
    target = _target(input)
    kind = _kind(tool, input)
    said = output if len(output) <= 2 * _EDGE else f"{output[:_EDGE]}\n{output[-_EDGE:]}"
    code = exit_code(said) if code is None and ok is not True else code
    fine = only_says_no(target, said, code) or (ok if ok is not None else succeeded(said, kind, target, code))
    fine = fine and not (kind == EXECUTE and says_failed(said, target))
    done = ok is True or ran(said)
    longest = PATH if kind in {READ, EDIT} else TARGET
    written = input if isinstance(input, str) else _canonical(input)
    return Action(
        tool=tool[:40],
        kind=kind,
        at=at,
        call=digest(f"{tool} {' '.join(written.split())}"),
        ok=fine,
        ran=done,
        target=redact(target[: 2 * longest])[:longest],
        error="" if fine or not done else template(said),
        result=_result(said),
        chars=len(written) + len(output),
        waits=_waits(tool, kind, target),
        id=id[:80],
    )


def _kind(tool: str, input: "Any") -> str:
    name = tool.lower()
    if name in _EXECUTES:
        return EXECUTE
    if name in _EDITS:
        return READ if _is_view(input) else EDIT  # one tool for both
    return READ if name in _READS else SEARCH if name in _SEARCHES else OTHER


def _is_view(input: "Any") -> bool:
    return is_object(input) and input.get("command") == "view"


def _target(input: "Any") -> str:
    if isinstance(input, str):
        return input
    for value in map(input.get, _TARGETS) if is_object(input) else ():
        if isinstance(value, str):
            return value
        if is_list(value):
            return " ".join(part for part in value if isinstance(part, str))
    return ""


def _canonical(input: "Any") -> str:
    if is_object(input):
        input = {name: value for name, value in input.items() if name not in _TALK}
    return json.dumps(input, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


# What a call waits for.

_WAITING_TOOLS = "bashoutput taskoutput agentoutput wait sleep poll monitor status write_stdin".split()
_WAITING_WORDS = ("sleep", "wait", "watch", "tail", "follow", "status", "health", "ready", "kubectl", "gh ", "docker")
_MORE_WAITING_WORDS = ("jobs", "squeue", "ps ", "pgrep", "is-active", "inotify")
_WAITING = (
    r"(?:^|[;&|(]\s*)(?:sleep\s+[\d.$]|wait\b|watch\s|tail\s+-[a-zA-Z]*[fF]|inotifywait|jobs\b|squeue|ps\s+-|pgrep"
    r"|systemctl\s+(?:status|is-active)|kubectl\s+(?:get|describe|rollout|wait)|docker\s+(?:ps|inspect|wait|logs)"
    r"|gh\s+(?:run|pr\s+checks)|curl\s[^;&|]{0,200}(?:health|status|ready))|\s--(?:wait|watch|follow)\b"
)


def _waits(tool: str, kind: str, target: str) -> bool:
    if kind == OTHER:
        return any(word in tool.lower() for word in _WAITING_TOOLS)
    if kind != EXECUTE or not any(word in target for word in (*_WAITING_WORDS, *_MORE_WAITING_WORDS)):
        return False
    return re.search(_WAITING, target[:400]) is not None


# Templates: what changes from one occurrence to the next is masked.

_MASKS = (
    r"""(?i)(?P<url>\w+://\S+)|(?P<quoted>(?<![A-Za-z])'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`)"""
    r"|(?P<path>(?:~|\.{1,2})?(?:/[\w.@+-]+){1,40}/?|\b[a-z]:\\[\w\\.-]+"
    r"|\b[\w-]+\.(?:py|js|ts|tsx|java|go|rs|c|h|cc|cpp|rb|md|txt|json|toml|ya?ml|sh|sql)\b)"
    r"|(?P<hex>\b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]+)*\b|0x[0-9a-f]+)|(?P<number>\b(?![45]\d\d\b)\d+(?:[.:,]\d+)*)"
)
_WORDS = r"[a-z_]{2,}|[45]\d\d\b|<\w+>"
_EXCEPTION = r"\b[a-z_]{2,60}(?:error|exception)\b"


def template(error: str) -> str:
    """An error with its paths, names, numbers and times masked, redacted and cut to 240 characters.

    The telling part of a long one is its first line and its end, where a traceback names the error.
    """
    clean = redact(error[-_ERROR - _MARGIN :])[-_ERROR:]  # a cut may fall into a secret: its rest is cut off, too
    lines = [line.strip() for line in re.sub(_STATUS, "", clean).splitlines() if line.strip()]
    telling = lines if len(lines) <= 4 else [lines[0], *lines[-3:]]
    return re.sub(_MASKS, _mask, " ".join(telling)[:1_000]).lower()[:240]


_ERROR, _MARGIN = 3_000, 1_000
_STATUS = r"(?i)^\s*exit code:? -?\d+\s*"
"""What all silent failures have in common is no word of an error."""


def _mask(match: "re.Match[str]") -> str:
    return f"<{match.lastgroup}>"


def similar(one: str, other: str) -> bool:
    """Whether two templates of errors are of the same kind: Jaccard of their words ≥ 0.6, and no other exception."""
    if one == other:
        return True
    thrown = [re.findall(_EXCEPTION, each)[-1:] for each in (one, other)]
    if all(thrown) and thrown[0] != thrown[1]:
        return False
    a, b = set(re.findall(_WORDS, one)), set(re.findall(_WORDS, other))
    return len(a & b) >= SIMILAR * len(a | b) > 0


# Results: equal when they differ in the time alone. A counter or a percentage that moves is progress.

_CLOCK = (
    r"(?i)\d+(?:[:/T-]\d+)+(?:\.\d+)?Z?|\b0x[0-9a-f]+|\d+(?:\.\d+)?\s?(?:[mµn]?s|sec|seconds?|minutes?)\b"
    r"|\bpg?id\W{0,3}\d+|\d{5,}"
)


def _result(said: str) -> str:
    told = " ".join(said.split())
    if len(told) < _TELLING:
        return BRIEF + digest(told) if told else ""
    return digest(re.sub(_CLOCK, "#", told) if any(map(str.isdigit, told)) else told)
