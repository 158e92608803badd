"""Whether a call failed: structure first, then a test summary, then other words, and those of programs alone."""

import pytest
from outputs import OUTPUTS

from insula.coding.step.fingerprint import make_action
from insula.coding.step.outcome import has_run, has_succeeded, read_exit_code


def bash(command: str, output: str, code: int | None = None, ok: bool | None = None) -> bool:
    return make_action(tool="Bash", input={"command": command}, output=output, at=0.0, code=code, ok=ok).ok


@pytest.mark.parametrize(
    "output",
    [
        "===== 12 passed, 0 failed in 0.3s =====",
        "Tests:       0 failed, 12 passed, 12 total",
        "Ran 12 tests in 0.001s\n\nOK (failures=0, errors: 0)",
        "0 errors, 0 warnings, 0 informations",
        "test result: ok. 4 passed; 0 failed; 0 ignored",
        "12 passing (40ms)\n0 failing",
        "compiled without errors",
        "Fixed error handling in parser.py and added tests",
    ],
)
def test_a_summary_without_failures_is_no_error(output: str) -> None:
    assert bash("make test", output)


@pytest.mark.parametrize(
    "output",
    [
        "===== 1 failed, 11 passed in 0.3s =====",
        "E       AssertionError\n1 failed",
        "test result: FAILED. 3 passed; 1 failed; 0 ignored",
        "FAILED (failures=0, errors: 2)",
    ],
)
def test_a_summary_with_failures_is_an_error(output: str) -> None:
    assert not bash("make test", output)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("ls /nowhere", "ls: cannot access '/nowhere': No such file or directory\n"),
        ("foo --bar", "bash: foo: command not found"),
        ("python x.py", 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: no'),
        ("git push", "fatal: not a git repository (or any of the parent directories): .git"),
        ("npm ci", "npm ERR! code ENOENT"),
        ("make", "make: *** [all] Error 2"),
        ("cut -d", "cut: option requires an argument -- 'd'\nTry 'cut --help' for more information."),
        ("cat missing", "cat: missing: No such file or directory"),
        ("SELECT 1", "Error executing query: Table 'a.b' doesn't exist"),
    ],
)
def test_a_program_that_complains_has_failed(command: str, output: str) -> None:
    assert not bash(command, output)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat errors.py", "class InsulaError(Exception):\n    pass\nraise ValueError: no such file"),
        ("grep -rn Error src", "src/a.py:3:ValueError: bad\nsrc/b.py:9:fatal: x"),
        ("git log -3", "fatal: fix the crash\nerror: another fix"),
        ("sed -n 1,5p log.txt", "Traceback (most recent call last):\nboom"),
    ],
)
def test_words_of_a_file_are_no_error_of_the_command_that_shows_it(command: str, output: str) -> None:
    assert bash(command, output * 40)  # long: a program that complains is brief


@pytest.mark.parametrize("name", OUTPUTS)
def test_programs_are_understood_without_an_exit_code(name: str) -> None:
    fine, command, output = OUTPUTS[name]
    assert bash(command, output) is fine


@pytest.mark.parametrize(
    "command", ['grep -rnE "a|b" src', "rg 'x|y'", "grep x y 2>&1", "[ -f x ]", "cd a && grep b c"]
)
def test_an_answer_of_no_is_no_failure_however_the_question_is_put(command: str) -> None:
    assert bash(command, "Exit code 1", code=1, ok=False)


def test_the_host_s_own_flag_outweighs_every_word() -> None:
    assert bash("make", "error: everything is broken\nfatal: yes", ok=True)
    assert not bash("make", "all is well", ok=False)


def test_an_exit_code_outweighs_the_words() -> None:
    assert bash("./run", "error: ignored", code=0)
    assert not bash("./run", "12 passed", code=3)
    assert read_exit_code("Exit code: 0\nWall time: 0 seconds\nOutput:\nfine") == 0
    assert read_exit_code("<untrusted_context>\nOutput: ls: no\nExit Code: 2\n</untrusted_context>") == 2
    assert read_exit_code("nothing of the kind") is None


@pytest.mark.parametrize("command", ["grep -rn nothing src", "rg nothing", "diff a b", "test -f x", "cat a | grep b"])
def test_a_search_that_finds_nothing_has_not_failed(command: str) -> None:
    assert bash(command, "Exit code 1", ok=False)
    assert bash(command, "", code=1, ok=False)
    assert not bash(command, "Exit code 2\ngrep: unmatched [", ok=False)


def test_a_call_that_the_user_refused_never_ran() -> None:
    assert not has_run("The user doesn't want to proceed with this tool use. The tool use was rejected")
    assert not has_run("<tool_use_error>Sibling tool call errored</tool_use_error>")
    assert has_run("ls: cannot access 'x'")


def test_empty_output_is_success() -> None:
    assert has_succeeded("", "execute", "mkdir -p a")
