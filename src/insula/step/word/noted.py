"""What a hook notes of a call for the end of the session: how many tests passed, and whether an edit wrote one."""

import re

_PASSED = (
    r"(\d+) (?:tests? |specs? |examples? )?pass(?:ed|ing)\b|\bTests:?\s+(?:\d+ \w+[,|] )*?(\d+) passed|"
    r"ok\. (\d+) passed|(\d+) tests? completed|Passed:\s+(\d+)|Executed (\d+) tests?, with 0|^OK \((\d+) tests?|"
    r"^Ran (\d+) tests?|(\d+) (?:tests?|examples?), 0 failures|Tests run: (\d+), Failures: 0, Errors: 0"
)
_TESTS = (
    "#[test]",
    "#[tokio::test]",
    "def test_",
    "describe(",
    " it(",
    "\nit(",
    "test(",
    "func Test",
    "@Test",
    'test "',
    "TEST(",
    "[Fact]",
    "[Test]",
)


def passed(output: str) -> int:
    """How many tests passed, as the end of an output counts them; -1 where it does not."""
    end = re.sub(r"Test (?:Suites|Files):?[^\n]*", "", output[-4_000:])
    found = list(re.finditer(_PASSED, end, re.MULTILINE))
    counts = [int(next(filter(None, match.groups()))) for match in found]
    return sum(counts) if counts and len(counts) < 40 else -1


_FAILED = (
    r"(\d+) (?:tests? |specs? |examples? |scenarios? )?fail(?:ed|ing|ures?|s)?\b|"
    r"(?:Failures|Failed|Errors|failures|errors):\s+(\d+)|(\d+) errors?\b|(\d+) problems?\b"
)


def is_red(output: str, failed: bool) -> bool:
    """Whether a check surely came out red: by the failures that its output counts, else by its exit status."""
    counts = [int(next(filter(None, match.groups()))) for match in re.finditer(_FAILED, output[-4_000:])]
    return any(counts) if counts else failed


def writes_test(given: object) -> bool:
    """Whether the arguments of an edit hold a test."""
    text = str(given)[:60_000] if given else ""
    return any(mark.replace("\n", "\\n") in text or mark in text for mark in _TESTS)
