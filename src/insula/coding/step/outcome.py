"""Whether a tool call failed, where the host does not say so itself.

An exit code decides, then the summary of a test run ("0 failed" is no failure), and other words last, and those only
where a program speaks and not a file that it shows. The hook pays for every pattern that it compiles: they stand here
as text, and cheap marks are looked for first.
"""

import re

from insula.coding.step.action import EDIT, EXECUTE, READ, SEARCH
from insula.value import is_list, is_object, load_json

_SHORT = 400
"""A reader or editor that complains is brief; what is longer is a file."""
_WHOLE, _HEAD, _TAIL = 40, 5, 20
"""Lines of an output that are looked at: all of a short one, the beginning and the end of a long one."""
_LINE = 300
"""Characters of a line that are looked at."""


def has_succeeded(said: str, kind: str, target: str = "", code: int | None = None) -> bool:
    """Whether a call succeeded, as far as its output tells; without a complaint it did.

    Args:
        kind: `read`, `edit`, `execute` or `other`.
    """
    if code is not None:
        return code == 0
    low = said.lower()
    if kind == EXECUTE and only_shows(target):
        return not (_names_itself(said, target) or (low.startswith("fatal: ") and len(said) <= _SHORT))
    if kind == EXECUTE and (fine := read_summary(low)) is not None:
        return fine
    if _names_itself(said, target):
        return False
    if not any(mark in low for mark in _MARKS):
        return True
    if kind in {READ, EDIT, SEARCH}:
        return len(said) > _SHORT or re.match(_COMPLAINTS, said.lstrip()) is None
    lines = _pick_lines(said)
    return re.search(_COMPLAINTS, "\n".join(lines)) is None or re.match(_WELL, lines[-1]) is not None


def _pick_lines(said: str) -> list[str]:
    lines = [line[:_LINE] for line in said.splitlines() if line.strip()]
    return lines if len(lines) <= _WHOLE else [*lines[:_HEAD], *lines[-_TAIL:]]


def only_shows(command: str) -> bool:
    """Whether a command shows what files say, or a log, or what others wrote; words in it are not the command's."""
    return re.match(_SHOWS, command) is not None


def says_failed(said: str, command: str, compiles: bool) -> bool:
    """Whether a check failed whose exit status was lost in a pipe: `pytest | tail` is as well as `tail` was.

    Args:
        compiles: whether a line that begins with a place and "error" is the check's own; a test prints what it likes.
    """
    if not ("|" in command or ";" in command or "\n" in command) or only_shows(command):
        return False
    end = read_summary(said.lower())
    return end is False or (end is None and compiles and "rror" in said and re.search(_COMPILERS, said) is not None)


def only_says_no(target: str, said: str, code: int | None) -> bool:
    """Whether a search or a comparison found nothing: exit status 1 and no word of complaint."""
    if code != 1:
        return False
    bare = re.sub(r"""'[^']*+'|"[^"]*+"|\d?>&\d|\d?>\s*/dev/null""", "_", target[:1_000]).rstrip()
    if re.search(_ASKS, bare) is None:
        return False
    return not re.sub(_EXIT, "", said, count=1).lstrip().lower().startswith(("grep:", "rg:", "diff:", "traceback"))


def _names_itself(said: str, command: str) -> bool:
    """Whether the output is what programs complain with: `cut: option requires an argument`, and little else."""
    match = re.match(r"\s*((?:/[\w/.-]{1,60}/)?([\w.+-]{1,30})): \S", said[:200]) if ": " in said[:100] else None
    if match is None or len(said) > _SHORT:
        return False
    others = (line for line in said.splitlines() if line.strip() and not line.startswith((match[1], "Try ", "usage")))
    return not any(others) and match[2] in {"bash", "sh", "zsh", *re.findall(r"[\w.+-]+", command[:1_000])}


def has_run(said: str) -> bool:
    """Whether a call that did not succeed ran at all: the user may have refused it, or a call beside it failed."""
    low = said[:200].lower()
    return not any(mark in low for mark in _NEVER_RAN)


def read_exit_code(said: str) -> int | None:
    """The exit code that an output names in a line of its own, at its beginning or end."""
    low = said.lower()
    if "exit" not in low and "return" not in low:
        return None
    match = re.match(_EXIT, low) or next(reversed(list(re.finditer(_EXIT_LATER, low[-600:]))), None)
    return int(match[1]) if match else None


def read_summary(low: str) -> bool | None:
    """The outcome of a test run by the lines that runners end with; None where there is none. One failure is enough."""
    if not any(mark in low for mark in ("pass", "fail", "error", "ok", "problem")):
        return None
    matches = [match for line in low[-3_000:].splitlines() if (match := re.match(_SUMMARY, line[:_LINE]))]
    if not matches:
        return None
    return not any(match["bad"] or count_failures(match[0]) for match in matches)


_COUNTS = (
    r"(?<![:.\d])\b(\d+) (?:tests? |specs? |examples? |scenarios? )?"
    r"(?:(?:fail(?:ed|ing|ures?|s)?|errors?|problems?)\b|error\(s\))"
    r"|\b(?:failures|failed|errors)[=:] *(\d+)|(?m:^\W*fail (\d+))"
)


def count_failures(low: str) -> int | None:
    """How many failures a summary counts, at most; None where it counts none."""
    return max((int(next(filter(None, counts))) for counts in re.findall(_COUNTS, low)), default=None)


def is_red(output: str) -> bool:
    """Whether a check that failed surely came out red: not where its output counts failures, and none."""
    return count_failures(output[-4_000:].lower()) != 0


def is_denied(said: str) -> bool:
    """Whether a rule kept a call from running: a permission, a hook, a sandbox; not a person, who may well say no."""
    low = said[:300].lower()
    return any(mark in low for mark in _DENIED) and not any(mark in low for mark in _BY_A_PERSON)


def is_throttled(said: str) -> bool:
    """Whether a service asks to come back later: trying again, later, is then right."""
    low = said[:_THROTTLED].lower()
    return any(mark in low for mark in ("too many requests", "rate limit", "ratelimit", "retry-after", "error: 429"))


def did_nothing(said: str, kind: str) -> bool:
    """Whether something was to be undone or changed, and nothing was there to be."""
    if kind not in {EXECUTE, EDIT} or len(said) > _SHORT:
        return False
    low = said.strip().lower()
    return any(mark in low for mark in _NOTHING)


def holds_error(said: str) -> bool:
    """Whether a result that came as a success says itself that it is an error: `{"error": …}`, `isError`."""
    bare = said.lstrip()
    if bare[:1] not in {"{", "["} or not any(mark in bare[:_SHORT] for mark in ("rror", "uccess", "status", '"ok"')):
        return re.match(r"(?i)\s*(?:mcp )?error(?: \(?-?\d+\)?)?: ", said[:80]) is not None

    try:
        value = load_json(bare[:_PARSED])
    except (ValueError, RecursionError):
        return re.match(r'\{\s*"(?:error|errors|isError)"\s*:\s*(?!null|false|""|\[\]|\{\})', bare[:200]) is not None
    return is_error(value)


def is_error(value: "object") -> bool:
    """Whether a result says itself, in its fields, that it is an error."""
    value = value[0] if is_list(value) and len(value) == 1 else value
    if not is_object(value):
        return False
    if any(value.get(name) for name in ("error", "errors", "isError", "is_error")):
        return not (value.get("data") or value.get("result"))
    return (
        value.get("success") is False
        or value.get("ok") is False
        or value.get("status") in ("error", "failed", "failure")  # whatever it is: not all can be in a set
    )


_BY_A_PERSON = ("user doesn't want to", "user rejected", "denied by user", "by the user", "interrupted by user")
_DENIED = (
    "permission to use|has been denied|haven't granted it|denied by permission|denied by policy|blocked by hook|"
    "blocked by a hook|hook denied|hook blocked|denied by a rule|not in the allowlist|blocked by policy|"
    "not permitted by policy|blocked by sandbox|denied by sandbox|permission denied by|requires approval|"
    "rejected by policy|forbidden by policy|denied by the permission|by your permission"
).split("|")
_NOTHING = (
    "updated 0 paths|no local changes to save|nothing to undo|no changes to make|nothing to revert|"
    "no changes were made|already at oldest change|no changes to revert|no stash entries found"
).split("|")
_THROTTLED, _PARSED = 2_000, 64_000
_NEVER_RAN = (
    "sibling tool call errored|user doesn't want to|request interrupted by user|user rejected|has been denied|"
    "denied by user|cancelled by user|canceled by user|haven't granted it"
).split("|")
_SHOWS = (
    r"\s*(?:(?:cd|pushd)\s+[^;&|]{1,200}(?:&&|;)\s*)?(?:sudo\s+)?(?:cat|less|more|head|tail|[ef]?grep|rg|ag|sed|awk|nl|ls|wc|find|jq"
    r"|git\s+(?:-C\s+\S+\s+)?(?:log|show|diff|grep|blame|status|commit|branch|tag)|gh\s+(?:pr|issue|run|api|release))\b"
)
_ASKS = r"(?:^|[|;&]\s*)(?:[ef]?grep|rg|ag|diff|cmp|test\b|\[\s|pgrep|which|git\s+(?:diff|grep))[^|;&]*$"
"""Commands whose exit status 1 is an answer: nothing found, not the same."""
_EXIT = r"(?i)\s*(?:exit code:?|<returncode>|process exited with code)\s*(-?\d+)"
_EXIT_LATER = (
    r"(?:^|\n)(?:\[?exit code|exit status|return ?code|process exited with code):?[ \t]*(-?\d+)\]?[ \t.]*(?=\n|$|<)"
)
_KIND = (
    r"(?:pass|fail|passed|failed|failures?|errors?|error\(s\)|passing|failing|skipped|xfailed|xpassed|deselected"
    r"|warnings?|examples?)"
)
_SUMMARY = rf"""(?x)[\s=_#✖-]*(?:
    (?P<bad>(?:fail|failed)\s+(?!\d+$)\S.* | fail | failed | ---\s fail:.* | build\s fail.* | failure:\s.*)
    | ok | ok\s.* | test\s result:\s.* | (?:tests|test\s suites|test\s files):?\s+\d.* | (?:pass|fail)\s\d+
    | \d+\s problems?\s\(.*
    | (?:found\s)?\d+\s{_KIND}(?:,?\s(?:and\s)?\d+\s[\w()]+)*(?:\sin\s[\d.,]+.*|\s\([\d.]+\s?m?s\))?[\s=.-]*
    )$"""
"""A line that a test runner, a linter or a compiler ends with, in small letters."""
_COMPILERS = r"(?m)^(?:\S{1,160}(?::\d+(?::\d+)?|\(\d+,\d+\)):? (?:- )?(?:fatal )?error\b|error(?:\[E\d+\])?: \S)"
"""A line with which a compiler or a type checker says that it failed, and at which place."""
_MARKS = (
    "rror|xception|not found|no such|denied|fatal|panic|***|err!|failed|failure|cannot|can't|could not|invalid|"
    "timed out|killed|unrecognized|unknown|segmentation|abort|e: |is a directory|not exist|no replacement|no sql|"
    "no bash|no python|no code|conflict (|err_|undefined|would be reformatted|.go:"
).split("|")
_COMPLAINTS = r"""(?imx)^(?:
    \s{0,4}(?:\S{1,80}:\s)?(?:fatal|error|exception|panic|err!|abort(?:ed)?|failure|e:)(?:\[\w+\])?[:!]\s
    | .{0,4}\berror:\s | \[error\]\s | error\s(?:\d+\s\(|command\sfailed) | php\s(?:fatal|parse)\serror
    | traceback\ \(most\ recent\ call\ last\)
    | (?:[a-z_][\w.]{0,60}\.)?\w{0,40}(?:error|exception)(?::\s|$) | .{1,200}\(\w{1,40}error\)\s*$
    | (?:\S{1,80}:\s){1,3}(?:command\ not\ found|no\ such\ file|permission\ denied|not\ found|is\ a\ directory
        |cannot\ \w|can't\ \w|invalid\ \w|syntax\ error|unrecognized\ \w|unknown\ \w)
    | \S{1,60}:\ (?:line\ )?\d+:.{0,80}(?:no\ such\ file|syntax\ error|permission\ denied|not\ found)
    | \S{1,120}(?::\d+(?::\d+)?|\(\d+,\d+\)):\s(?:fatal\s)?error\b | \S{1,120}\.go:\d+:\d+:\s
    | npm\ err(?:!|or\b) | \W?err_\w | make(?:\[\d+\])?:\ \*\*\* | thread\s'.{1,40}'\spanicked
    | (?:parse\s)?error\ (?:executing|running|reading|parsing|near) | error\ (?:response\s)?from\s
    | an\ error\ occurred | conflict\s\( | automatic\smerge\sfailed
    | failed\ to\ \w | could\ not\ \w | segmentation\ fault | killed$ | command\ timed\ out | timed\ out\ after
    | file\ (?:not\ found|does\ not\ exist) | no\ \w+\ code\ was\ found | no\ replacement\ was\ performed
    | <tool_use_error> | string\ to\ replace\ not\ found | invalid\ (?:arguments?|parameters?|input)\b
    | \d+\sfiles?\swould\sbe\sreformatted
    )"""
_WELL = r"(?i)(?:successfully\s|success\b|done[.!]?$|ok$)"
"""A last line after which a complaint above it was a warning."""
