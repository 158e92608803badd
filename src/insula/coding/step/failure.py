"""What a failure looks like: which tests or places fail, with which exceptions, in how many cases, by what template.

Two runs of the same goal fail alike when these agree, whatever else their outputs say: asserted values, lines of a
traceback, durations, temporary folders and the amount of output differ from run to run. Fewer failing tests, the next
compile error or another exception are progress.
"""

import re

from insula.coding.step.action import Action, CallFailure
from insula.coding.step.digests import hash_text
from insula.coding.step.outcome import count_failures

MOST = 40
"""Failing tests or places that are told apart."""
_TOLD = 3
"""Places of which the messages are compared."""
_READ = 12_000
"""Characters at the end of an output in which they are looked for."""
SIMILAR = 0.6
"""Share of common words from which two errors are similar (seed 002: Jaccard 0.6)."""


_TEST = (
    r"(?m)^(?:\x1b\[[\d;]*m)*(?:"
    r"(?:FAILED|ERROR)\s+(?P<py>\S+::[^\n]*?|\S+\.py)(?:\s+-\s.*)?$"
    r"|_{3,}\s+(?:ERROR (?:at \w+ of|collecting) )?(?P<head>[^\s_][^\n]{0,150}?)\s+_{3,}$"
    r"|(?:FAIL|ERROR):\s+(?P<unit>\w+ \([\w.]+\))"
    r"|\s*--- FAIL: (?P<go>\S+)"
    r"|test (?P<rust>[\w:]+) \.\.\. FAILED"
    r"|\s*(?:[●✕✗×❯✘]|not ok \d+ -?)\s+(?P<js>[^\n]{2,160}?)(?:\s+\(?\d+(?:\.\d+)?\s?m?s\)?)?$"
    r"|\s*(?P<js_file>FAIL\s+\S+\.[cm]?[jt]sx?\b[^\n]{0,120})$"
    r"|\s*\d+\)\s+(?P<mocha>[A-Z][^\n]{2,150}):?$"
    r"|rspec (?P<ruby>\./\S+)"
    r"|[\w:]+#(?P<minitest>test_\w+)(?= \[|:$)"
    r"|(?:\[ERROR\]|\[ *FAILED *\])\s+(?P<java>(?!Tests run)[\w.$]+[.#:/ ][a-zA-Z_]\w*)"
    r")"
)
_PLACE = (
    r"(?m)^\s*(?:error\s+|[\w:]+#test_\w+ \[)?(?P<file>(?:[a-zA-Z]:)?[\w./\\@+-]{1,160}\.\w{1,6})"
    r"[:(]\d+(?:[:,]\d+)?[)\]]?:?\s*(?:-\s*)?(?P<what>[^\n]{3,})$"
)
_MISSING = (
    r"(?i)(?:no module named|cannot find (?:module|package|name|symbol)|undefined(?: name| reference to| variable)?:?"
    r"|no such (?:table|column):|keyerror:|has no attribute|unable to resolve|module not found:?)\s+[`'\"]?"
    r"(?P<thing>[\w./@-]{1,80})"
    r"|(?:\b(?P<known>\w{1,60})|['\"`](?P<named>[\w./@ -]{1,80})['\"`]) (?:is not defined|does not exist|not found)\b"
)
"""What is missing: another one is another failure."""
_RANDOM = r"[0-9a-f]{8,}|\d+"
_STEP = r"failed to solve: (?:process )?[\"']?(?P<step>[^\"'\n]{3,160})"
"""The step of an image that could not be built."""
_RUST = r"(?m)^error(?:\[(?P<code>E\d+)\])?: (?P<what>[^\n]{0,160})$"
_THROWN = (
    r"(?m)^(?:E\s+|\s*)?(?:[a-zA-Z_][\w.]{0,80}\.)?(?P<name>[A-Z]\w{0,60}(?:Error|Exception|Warning|Exit|Interrupt|Panic))\b"
    r"|^(?:FAILED|ERROR) \S+ - (?:\w+\.)*(?P<brief>\w{1,60}(?:Error|Exception))\b"
    r"|^E\s+(?P<assert>assert)\b|^panic: (?P<panic>[a-z ]{3,40})|^thread '.{1,60}' (?P<panicked>panicked)"
)
_VARIES = r"0x[0-9a-f]+|\d+(?:[.:,]\d+)*"


def read_failure(output: str) -> CallFailure:
    """How a call failed, by the end of its output."""
    said = output[-_READ:]
    tests = _list_tests(said)
    names = tests or _list_places(said)
    return CallFailure(
        names=tuple(sorted(hash_text(name, 8) for name in list(dict.fromkeys(names))[:MOST])),
        thrown=tuple(sorted(_list_exceptions(said)))[:6],
        count=_count_failures(said),
        message=_read_message(said) if tests else "",
    )


def _list_tests(said: str) -> "list[str]":
    if not any(
        mark in said for mark in ("FAIL", "ERROR", "●", "✕", "✗", "×", "✘", "not ok", "___", "rspec", ") ", "#test_")
    ):
        return []
    tests = [match[match.lastgroup] for match in re.finditer(_TEST, said) if match.lastgroup]
    return [_shorten_test(name) for name in tests]


def _shorten_test(name: str) -> str:
    """A test by its own name: one tool writes its file before it, another does not."""
    bare = re.split(r"::| › | > ", re.split(r" - | \(", name, maxsplit=1)[0].strip())[-1]
    bare = re.sub(r"(?<=.)\[.*\]$", "", bare)
    head = bare.rsplit(".", 1)[-1] if re.fullmatch(r"[\w.]+", bare) and not bare.endswith(".py") else bare
    return re.sub(_VARIES, "#", head) if " " in head else head


def _match_places(said: str) -> "list[re.Match[str]]":
    return [
        match
        for match in re.finditer(_PLACE, said)
        if "/tmp/" not in match["file"]  # noqa: S108
        and "Error" not in match["what"][:20]
        and not match["what"].startswith("in ")
    ]


def _read_message(said: str) -> str:
    """What stands behind the first places of a test's output: `a_test.go:12: sync failed: empty packfile`."""
    told = " ".join(match["what"] for match in _match_places(said)[:_TOLD])
    return re.sub(_MASKS, _mask_match, told[:1_000]).lower()[:240]


def _list_places(said: str) -> "list[str]":
    found = [(re.split(r"[/\\]", match["file"])[-1], match["what"]) for match in _match_places(said)]
    found = found or [(str(match["code"]), match["what"]) for match in re.finditer(_RUST, said)]
    found = found or [("step", match["step"]) for match in re.finditer(_STEP, said)]
    return [f"{place} {_mask_numbers(what)}" for place, what in found] or _list_missing(said)


def _list_missing(said: str) -> "list[str]":
    things = [match[match.lastgroup].lower() for match in re.finditer(_MISSING, said) if match.lastgroup]
    return [f"no {re.sub(_RANDOM, '#', thing)}" for thing in things if "tmp/" not in thing]


def _mask_numbers(what: str) -> str:
    return " ".join(re.sub(_VARIES, "#", what.lower()).split())[:120]


def _list_exceptions(said: str) -> "set[str]":
    if not any(mark in said for mark in ("Error", "Exception", "E  ", "panic", "Exit", "Interrupt", "Warning")):
        return set()
    names = {match[match.lastgroup].lower() for match in re.finditer(_THROWN, said) if match.lastgroup}
    return {"assertionerror" if name == "assert" else name for name in names if "warning" not in name}


def _count_failures(said: str) -> int:
    lines = (line for line in said.splitlines()[-60:] if len(line) < 300)
    return min(count_failures("\n".join(lines).lower()) or 0, 1_000_000)


# Templates: what changes from one occurrence to the next is masked.

_MASKS = (
    r"""(?i)(?P<url>\w+://\S+)|(?P<quoted>(?<![A-Za-z])'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`)"""
    r"|(?P<path>(?:~|\.{1,2})?(?:/[\w.@+-]+){1,40}/?|\b[a-z]:\\[\w\\.-]+"
    r"|\b[\w-]+\.(?:py|js|ts|tsx|java|go|rs|c|h|cc|cpp|rb|md|txt|json|toml|ya?ml|sh|sql)\b)"
    r"|(?P<hex>\b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]+)*\b|0x[0-9a-f]+)|(?P<number>\b(?![45]\d\d\b)\d+(?:[.:,]\d+)*)"
)
_WORDS = r"[a-z_]{2,}|[45]\d\d\b|<\w+>"
_EXCEPTION = r"\b[a-z_]{2,60}(?:error|exception)\b"
_ERROR = 3_000
_STATUS = r"(?i)^\s*exit code:? -?\d+\s*"
"""What all silent failures have in common is no word of an error."""


def make_template(error: str) -> str:
    """An error, already redacted, with its paths, names, numbers and times masked, and cut to 240 characters.

    The telling part of a long one is its first line and its end, where a traceback names the error.
    """
    lines = [line.strip() for line in re.sub(_STATUS, "", error[-_ERROR:]).splitlines() if line.strip()]
    telling = lines if len(lines) <= 4 else [lines[0], *lines[-3:]]
    return re.sub(_MASKS, _mask_match, " ".join(telling)[:1_000]).lower()[:240]


def _mask_match(match: "re.Match[str]") -> str:
    return f"<{match.lastgroup}>"


def are_similar(first: str, other: str) -> bool:
    """Whether two templates of errors are of the same kind: Jaccard of their words ≥ 0.6, and no other exception."""
    if first == other:
        return True
    thrown = [re.findall(_EXCEPTION, each)[-1:] for each in (first, other)]
    if all(thrown) and thrown[0] != thrown[1]:
        return False
    a, b = set(re.findall(_WORDS, first)), set(re.findall(_WORDS, other))
    return len(a & b) >= SIMILAR * len(a | b) > 0


def fail_alike(first: Action, other: Action) -> bool:
    """Whether two calls that failed did so in the same way, by their errors; without these, whether they are equal."""
    return are_similar(first.error, other.error) if first.error and other.error else first.call == other.call


def is_same_failure(first: CallFailure, other: CallFailure, before: str, after: str) -> bool:
    """Whether a later failure of a goal is the same as the one before."""
    if first.thrown and other.thrown and not set(first.thrown) & set(other.thrown):
        return False
    if first.message and other.message and not are_similar(first.message, other.message):
        return False  # the same test, which says something else
    if 0 < other.count < first.count or (other.names and set(other.names) < set(first.names)):
        return False  # fewer problems than before are progress
    if first.names and other.names:
        both = set(first.names) & set(other.names)
        return len(both) == len(first.names) or (bool(both) and 0 < first.count <= other.count)
    if first.count and other.count:
        return True
    return not before or not after or are_similar(before, after)


# What may be named of a failure: our own words for what an output says, never its words.

_KINDS = {
    "import cycle": "import cycle|circular import",
    "merge conflict": "merge conflict|conflict (",
    "syntax error": "syntax error|syntaxerror",
    "missing module": "modulenotfounderror|cannot find module|no module named",
    "undefined name": "undefined:|is not defined",
    "undefined reference": "undefined reference",
    "type error": "not assignable",
    "refused connection": "connection refused|econnrefused",
    "port already in use": "address already in use|eaddrinuse",
    "missing permission": "permission denied|eacces",
    "timeout": "timed out|deadline exceeded",
    "deadlock": "deadlock",
    "lack of memory": "out of memory",
    "lack of disk space": "no space left",
    "certificate error": "certificate verify failed|x509: certificate",
    "refused authorization": "401 unauthorized|403 forbidden",
    "missing command": "command not found",
    "missing file": "no such file|file does not exist",
    "text to replace that is not there": "string to replace not found",
    "file that was not read before": "has not been read",
    "rejected push": "non-fast-forward|[rejected]",
    "unresolved import": "unresolved import",
    "segmentation fault": "segmentation fault",
}
"""Our own words, and what an output says where they fit."""


def name_failure(output: str) -> str:
    """Our own words for the kind of a failure; empty where there are none, or more than one would fit."""
    low = output[-_READ:].lower()
    names = [name for name, marks in _KINDS.items() if any(mark in low for mark in marks.split("|"))]
    return names[0] if len(names) == 1 else ""
