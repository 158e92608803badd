"""Whether a tool call failed, where the host does not say so itself.

An exit code decides, then the summary of a test run ("0 failed" is no failure), and other words last, and those only
where a program speaks and not a file. The hook pays for every pattern that it compiles: they stand here as text, and
cheap marks are looked for first.
"""

import re

from insula.step.action import EDIT, EXECUTE, READ

_SHORT = 400
"""A reader or editor that complains is brief; what is longer is a file."""


def succeeded(said: str, kind: str, target: str = "", code: int | None = None) -> bool:
    """Whether a call succeeded, as far as its output tells; without a complaint it did.

    Args:
        said: the output.
        kind: `read`, `edit`, `execute` or `other`.
        target: the command, where it is one.
        code: the exit code, where it is known.
    """
    if code is not None:
        return code == 0
    low = said.lower()
    if kind == EXECUTE and ("passed" in low or "fail" in low or "error" in low) and (fine := _summary(low)) is not None:
        return fine
    if _names_itself(said, target):
        return False
    if not any(mark in low for mark in _MARKS):
        return True
    if kind in {READ, EDIT} or re.match(_SHOWS, target):
        return len(said) > _SHORT or re.match(_COMPLAINTS, said.lstrip()) is None
    lines = [line for line in said.splitlines() if line.strip()]
    ends = lines if len(lines) <= 8 else [*lines[:3], *lines[-4:]]
    return re.search(_COMPLAINTS, "\n".join(ends)) is None


def says_failed(said: str, command: str) -> bool:
    """Whether a test run failed whose exit status was lost in a pipe: `pytest | tail` is as well as `tail` was."""
    return "|" in command and _summary(said.lower()) is False


def only_says_no(target: str, said: str, code: int | None) -> bool:
    """Whether a search or a comparison found nothing: exit status 1 and no word of complaint."""
    if code != 1 or re.search(_ASKS, target) is None:
        return False
    return not re.sub(_EXIT, "", said, count=1).lstrip().lower().startswith(("grep:", "rg:", "diff:", "traceback"))


def _names_itself(said: str, command: str) -> bool:
    """Whether the output begins as programs complain: `cut: option requires an argument`."""
    found = re.match(r"\s*(?:/[\w/.-]{1,60}/)?([\w.+-]{1,30}): \S", said[:200]) if ": " in said[:100] else None
    return (
        found is not None
        and len(said) < _SHORT
        and found[1] in {"bash", "sh", "zsh", *re.findall(r"[\w.+-]+", command)}
    )


def ran(said: str) -> bool:
    """Whether a call that did not succeed ran at all: the user may have refused it, or a call beside it failed."""
    low = said[:200].lower()
    return not any(mark in low for mark in _NEVER_RAN)


def exit_code(said: str) -> int | None:
    """The exit code that an output names at its beginning or end."""
    low = said.lower()
    if "exit" not in low and "return" not in low:
        return None
    found = re.match(_EXIT, low) or next(reversed(list(re.finditer(_EXIT_LATER, low[-600:]))), None)
    return int(found[1]) if found else None


def _summary(low: str) -> bool | None:
    """The outcome of a test run by its last summary line; None where there is none."""
    for line in reversed(low[-1_500:].splitlines()):
        counts = [(word or other, int(count or number)) for count, word, other, number in re.findall(_SUMMARY, line)]
        if counts:
            return not any(count for word, count in counts if word[:3] in {"fai", "err"})
    return None


_NEVER_RAN = (
    *("sibling tool call errored", "user doesn't want to", "request interrupted by user", "user rejected"),
    *("has been denied", "denied by user", "cancelled by user", "canceled by user", "haven't granted it"),
)
_SHOWS = r"\s*(?:sudo\s+)?(?:cat|less|more|head|tail|grep|egrep|rg|ag|sed|awk|nl|git\s+(?:log|show|diff|grep|blame))\b"
_ASKS = r"(?:^|[|;&]\s*)(?:grep|egrep|fgrep|rg|ag|diff|cmp|test|\[|pgrep|which|git\s+(?:diff|grep))\b[^|;&]*$"
"""Commands whose exit status 1 is an answer: nothing found, not the same."""
_EXIT = r"(?i)\s*(?:exit code:?|<returncode>|process exited with code)\s*(-?\d+)"
_EXIT_LATER = r"(?:^|\n)\s*(?:exit code|exit status|return ?code|exited with code):?\s*(-?\d+)\b"
_SUMMARY = r"(\d+) (failed|failures?|errors?|failing|passed|passing)\b|\b(failures|errors|failed):? (\d+)"
_MARKS = (
    *("rror", "xception", "not found", "no such", "denied", "fatal", "panic", "***", "err!", "failed", "failure"),
    *("cannot", "can't", "could not", "invalid", "timed out", "killed", "unrecognized", "unknown", "segmentation"),
    *("abort", "e: ", "is a directory", "not exist", "no replacement", "no sql", "no bash", "no python", "no code"),
)
_COMPLAINTS = r"""(?imx)^(?:
    \s{0,4}(?:\S{1,80}:\s)?(?:fatal|error|exception|panic|err!|abort(?:ed)?|failure|e:)(?:\[\w+\])?[:!]\s
    | traceback\ \(most\ recent\ call\ last\)
    | (?:[a-z_][\w.]{0,60}\.)?\w{0,40}(?:error|exception)(?::\s|$)
    | (?:\S{1,80}:\s){1,3}(?:command\ not\ found|no\ such\ file|permission\ denied|not\ found|is\ a\ directory
        |cannot\ \w|can't\ \w|invalid\ \w|syntax\ error|unrecognized\ \w|unknown\ \w)
    | \S{1,60}:\ (?:line\ )?\d+:.{0,80}(?:command\ not\ found|no\ such\ file|syntax\ error|permission\ denied)
    | npm\ err! | make(?:\[\d+\])?:\ \*\*\* | error\ (?:executing|running|reading|parsing|occurred)
    | failed\ to\ \w | could\ not\ \w | segmentation\ fault | killed$ | command\ timed\ out | timed\ out\ after
    | file\ (?:not\ found|does\ not\ exist) | no\ \w+\ code\ was\ found | no\ replacement\ was\ performed
    | <tool_use_error> | string\ to\ replace\ not\ found | invalid\ (?:arguments?|parameters?|input)\b
    )"""
