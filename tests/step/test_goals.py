"""A failing goal stays open whatever lies between, closes when it is reached, and begins anew when it is another."""

from pathlib import Path

import pytest
from sessions import Payload, Session, edits, failed, fails, pytest_fails, reads, runs, went

from insula.coding.step.senses import EVERY

FIRST = "What the attempts have in common"


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, on=EVERY)


def turns(session: Session) -> list[int]:
    return [turn for turn, _ in session.texts]


# The commonest loop of all: red, a change, red again.


COMMANDS = [
    "pytest tests/test_price.py",
    "pytest tests/test_price.py -x -q",
    "cd /home/dev/project && python -m pytest tests/test_price.py 2>&1 | tail -20",
    "uv run pytest -vv ./tests/test_price.py | grep -E 'FAIL|passed'",
    "timeout 60 pytest tests/test_price.py --tb=short; echo done",
    "PYTHONPATH=. .venv/bin/pytest tests/test_price.py --maxfail 1",
    "bash -c 'pytest tests/test_price.py'",
]


def test_a_test_that_fails_alike_is_one_goal_whatever_varies(session: Session) -> None:
    for number, command in enumerate(COMMANDS):
        session.act(fails(command, pytest_fails(number)))
        session.act(edits(new=f"b{number}"))
    assert turns(session) == [5, 9]
    assert session.said[0].startswith(
        "[insula] `pytest tests/test_price.py` has failed in 3 turns with the same failures; "
        "the two changes since were all to price.py."
    )
    assert "has failed in 5 turns" in session.said[1]


def test_calls_between_and_the_user_s_message_do_not_close_it(session: Session) -> None:
    for number in range(3):
        session.act(fails("npm test", "● total › adds\n    expected 3\n1 failed"))
        session.follow([reads(f"/home/dev/project/f{number}{n}.py", f"text {n}" * 30) for n in range(6)])
        session.act(edits("/home/dev/project/src/total.ts", new=str(number)))
        session.prompt("still broken, try again")
    assert len(session.said) == 1
    assert "`npm test` has failed in 3 turns" in session.said[0]
    assert "all to total.ts" in session.said[0]


def test_it_stays_open_over_a_compaction_and_a_resume(session: Session) -> None:
    for source in ("compact", "resume", "compact"):
        session.act(fails("go build ./checkpoint", "package x\n\timports y: import cycle not allowed"))
        session.act(edits("/home/dev/project/store.go", new=source))
        session.tell({"hook_event_name": "SessionStart", "source": source}, 60)
    assert session.said == [
        "[insula] `go build ./checkpoint` has failed in 3 turns with the same import cycle; "
        "the two changes since were all to store.go. What the attempts have in common may say more than the next "
        "variation will."
    ]


def test_the_wording_changes_from_rung_to_rung_and_the_ladder_ends(session: Session) -> None:
    for number in range(20):
        session.act(fails("pytest -q", pytest_fails(number)))
        session.act(edits(new=f"b{number}"))
    assert [text.split(" has failed in ")[1].split(" ")[0] for text in session.said] == ["3", "5", "8", "11"]
    sentences = [sentence for text in session.said for sentence in text.removeprefix("[insula] ").split(". ")]
    assert len(sentences) == len(set(sentences))
    assert "The user may know what is missing" in session.said[3]


@pytest.mark.parametrize(
    "outputs",
    [
        [pytest_fails(0, "abcdef"), pytest_fails(1, "abcd"), pytest_fails(2, "ab"), pytest_fails(3, "b")],
        [pytest_fails(n, [f"test_{n}"]) for n in range(6)],
        [pytest_fails(n, thrown=name) for n, name in enumerate(["TypeError", "KeyError", "ValueError", "OSError"])],
        [f"a.go:{n}:2: undefined: name{chr(97 + n)}" for n in range(6)],
        [f"src/a.ts({n},1): error TS2304: Cannot find name 'x{chr(97 + n)}'." for n in range(6)],
    ],
    ids=["fewer tests", "another test", "another exception", "the next compile error", "the next type error"],
)
def test_progress_is_no_loop(session: Session, outputs: list[str]) -> None:
    command = "go build ./..." if ".go:" in outputs[0] else "tsc" if "TS2304" in outputs[0] else "pytest"
    for number, output in enumerate(outputs):
        session.act(fails(command, output))
        session.act(edits(new=f"b{number}"))
    assert session.said == []


def test_it_closes_when_it_succeeds(session: Session) -> None:
    for number in range(4):
        session.act(fails("pytest -q", pytest_fails(number)))
        session.act(edits(new=f"b{number}"))
        session.act(runs("pytest -q", "5 passed in 0.1s"))
        session.act(edits(new=f"c{number}"))
    assert session.said == []


def test_another_part_that_succeeds_does_not_close_it(session: Session) -> None:
    for number in range(3):
        session.act(fails("pytest tests/test_price.py", pytest_fails(number)))
        session.act(edits(new=f"b{number}"))
        session.act(runs("pytest tests/test_other.py", "1 passed in 0.1s"))
    assert len(session.said) == 1


def test_red_fix_red_fix_green_is_silent(session: Session) -> None:
    test = fails("pytest", pytest_fails())
    assert not session.follow([test, edits(new="1"), test, edits(new="2"), runs("pytest", "3 passed in 0.1s")])


def test_to_look_at_a_failing_test_in_three_ways_is_no_loop(session: Session) -> None:
    session.follow([fails(f"pytest {flags}", pytest_fails(n)) for n, flags in enumerate(("", "-vv", "-x --tb=long"))])
    assert session.said == []


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("mypy src", "src/a.py:{n}: error: Incompatible return value type  [return-value]\nFound 1 error in 1 file"),
        ("ruff check .", "src/a.py:{n}:1: F821 Undefined name `x`\nFound 1 error."),
        ("cargo test --lib", "test parse::reads ... FAILED\ntest result: FAILED. 4 passed; 1 failed; in 0.{n}s"),
        ("npm install", "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve ({n})"),
        ("git push origin main", "! [rejected] main -> main (non-fast-forward)\nerror: failed to push some refs {n}"),
        ("python manage.py migrate", "django.db.utils.ProgrammingError: relation {n} does not exist"),
        ("docker build .", "ERROR: failed to solve: process did not complete successfully: exit code: {n}"),
        ("mise run lint", "[lint] $ golangci-lint run\na.go:{n}:1: unused variable (unused)"),
        ("psql -f schema.sql", "psql:schema.sql:{n}: ERROR:  syntax error at or near"),
    ],
)
def test_each_kind_of_goal_is_followed(session: Session, command: str, error: str) -> None:
    for number in range(3):
        session.act(fails(command, error.format(n=number + 10)))
        session.act(edits(new=f"b{number}"))
    assert turns(session) == [5]


def test_edits_of_a_file_that_fail_alike_are_one_goal_though_it_is_read_between(session: Session) -> None:
    error = "<tool_use_error>String to replace not found in file.\nString: {}</tool_use_error>"
    for number in range(3):
        session.act(failed("Edit", {"file_path": "/home/dev/a.py", "old_string": str(number)}, error.format(number)))
        session.act(reads("/home/dev/a.py", f"{number}" * 80))
    assert "Editing `a.py` has failed in 3 turns" in session.said[0]


# What is a failure though it does not look so, and the other way round.


def test_a_call_that_a_rule_denies_again_and_again_is_told(session: Session) -> None:
    denied = failed("Bash", {"command": "git push"}, "Permission to use Bash with command git push has been denied.")
    session.follow([part for n in range(5) for part in (denied, reads(f"/home/dev/{n}.py"))])
    assert turns(session)[0] == 5
    assert session.said[0].startswith("[insula] `git push` was denied in 3 turns;")


def test_what_a_person_turned_down_is_no_denial(session: Session) -> None:
    session.follow(
        [failed("Bash", {"command": "git push"}, "The user doesn't want to proceed with this tool use.")] * 5
    )
    assert session.said == []


@pytest.mark.parametrize(
    "response",
    [
        [{"type": "text", "text": '{"error": {"code": -32000, "message": "no such ticket"}}'}],
        {"content": [{"type": "text", "text": '{"success": false, "message": "no such ticket"}'}]},
        "Error: no such ticket",
    ],
)
def test_an_error_inside_the_result_of_an_mcp_tool_is_a_failure(session: Session, response: object) -> None:
    calls: list[Payload] = [went("mcp__tickets__update", {"id": number}, response) for number in range(8)]
    session.follow(calls)
    assert session.texts
    assert session.texts[0][0] <= 3


def test_a_result_that_only_speaks_of_errors_is_none(session: Session) -> None:
    page = '{"error": null, "items": ["error handling", "failed login"]}'
    session.follow(
        [went("mcp__tickets__list", {"page": n}, [{"type": "text", "text": page + " " * n}]) for n in range(8)]
    )
    assert session.said == []


POLLS = [
    fails("sleep 60 && gh pr checks 12", "build\tpending\t0\nlint\tpass\t1m", 8),
    fails("sleep 1; curl -sf http://localhost:3000/health", "", 22),
    fails("pg_isready -h localhost", "localhost:5432 - no response", 2),
    fails("curl -sS https://api.example.com/items", "HTTP/2 429\nretry-after: 30\nToo Many Requests", 22),
    fails("gh run view 77 --exit-status", "in progress", 1),
    fails("docker compose ps --status running", "no container", 1),
    fails("until nc -z localhost 5432; do sleep 1; done", "", 1),
    fails("kubectl rollout status deploy/web", "Waiting for rollout", 1),
    fails("timeout 5 ./server", "listening on 8080", 124),
    fails("command -v rg", "", 1),
    fails("which pnpm yarn", "", 1),
    fails("ls .env.local config.local.json", "ls: cannot access '.env.local': No such file or directory", 2),
    fails("test -f package.json && echo yes", "", 1),
    fails("git rev-parse --verify feature/x", "fatal: Needed a single revision", 128),
    fails("cat .nvmrc 2>/dev/null", "", 1),
    fails("python -c 'import yaml'", "ModuleNotFoundError: No module named 'yaml'", 1),
    fails("Start-Sleep 5; Test-Path build", "", 1),
]


@pytest.mark.parametrize("call", POLLS, ids=lambda call: call["tool_input"]["command"][:30])
def test_waits_polls_and_probes_are_no_failures(session: Session, call: Payload) -> None:
    session.follow([part for n in range(7) for part in (call, reads(f"/home/dev/{n}.py"))], seconds=40)
    assert session.said == []


@pytest.mark.parametrize(
    ("commands", "output"),
    [
        (["pytest tests/a", "pytest tests/b", "pytest tests/c", "pytest tests/d"], "1 passed in 0.02s"),
        (["terraform plan -target=a", "terraform plan -target=b", "terraform plan -target=c"], "No changes. " * 6),
        (["npm --prefix a i", "npm --prefix b i", "npm --prefix c i"], "up to date, audited 120 packages in 1s " * 3),
        ([f"curl -s https://x.dev/api/{n}" for n in "abc"], '{"message": "Unauthorized: log in first to see this"}'),
    ],
)
def test_equal_good_output_of_different_commands_is_no_loop(session: Session, commands: list[str], output: str) -> None:
    session.follow([runs(command, output) for command in commands])
    assert session.said == []


def test_the_very_call_again_is_a_loop(session: Session) -> None:
    session.follow([runs("npm ls react", "app@1.0.0\n└── react@18.2.0 deduped and all the rest of it")] * 3, seconds=4)
    assert turns(session) == [3]


def test_to_break_a_thing_and_mend_it_is_how_tests_are_tested(session: Session) -> None:
    session.follow(
        [edits(old="a", new="b"), fails("pytest", pytest_fails()), edits(old="b", new="a"), runs("pytest", "ok")]
    )
    session.follow([edits(old="a", new="c"), fails("pytest", pytest_fails()), edits(old="c", new="a")])
    assert session.said == []


# What a text may hold.


@pytest.mark.parametrize(
    "command",
    [
        "x" * 1_000_000,
        "cat > a.py <<'EOF'\n" + "y = 1\n" * 10_000 + "EOF\npython a.py",
        " && ".join(f"step {n}" for n in range(20)),
        "find . -name '*.py' | xargs -n1 pytest",
        "& { Get-ChildItem } | ForEach-Object { exit 1 }",
        "\x00\ud800 'unterminated",
    ],
)
def test_any_command_is_taken_in(session: Session, command: str) -> None:
    session.follow([fails(command, "it went wrong")] * 5)
    assert all(len(text) <= 400 for text in session.said)
