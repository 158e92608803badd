"""What looks like trouble and is none: each a stream to which not a word is said."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from sessions import Session, edits, failed, fails, reads, runs, went
from test_variants import P, Turn, follow

from insula.coding.step.senses import EVERY

A = P + "src/a.py"


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


def tries(commands: Iterable[str], output: str = "", code: int = 1) -> list[Turn]:
    return [fails(command, output, code) for command in commands]


def same(command: str, output: str, code: int, times: int = 6) -> list[Turn]:
    return [fails(command, output, code) for _ in range(times)]


def good(commands: Iterable[str], output: str) -> list[Turn]:
    return [runs(command, output) for command in commands]


def green(command: str, output: str, times: int = 5) -> list[Turn]:
    """A check that goes well after each change."""
    return [turn for n in range(times) for turn in (edits(A, f"o{n}", f"n{n}"), runs(command, output))]


NOT_THERE = "String to replace not found in file."
MISSING = "<tool_use_error>File does not exist.</tool_use_error>"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."

POLLS: dict[str, list[Turn]] = {
    "a run of CI, watched": same("gh run watch 8812 --exit-status", "X build failed", 1),
    "a roll-out with a deadline": same(
        "kubectl rollout status deploy/api --timeout=30s", "error: timed out waiting for the condition", 1
    ),
    "a waiter of a cloud": same(
        "aws ecs wait services-stable --cluster shop --services api",
        "Waiter ServicesStable failed: Max attempts exceeded",
        255,
    ),
    "until it is there": same("until curl -sf localhost:8000/; do sleep 2; done", "Command timed out after 2m 0s", 143),
    "a port": same("nc -z localhost 5432", "", 1),
    "a port, asked for in Python after a pause": same(
        "sleep 3; python -c \"import socket; socket.create_connection(('localhost', 5432))\"",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        1,
    ),
    "a page after growing pauses": tries([f"sleep {2**n} && curl -s http://localhost:3000/" for n in range(6)], "", 7),
    "PowerShell, a pause first": same(
        "Start-Sleep -Seconds 20; Invoke-WebRequest http://localhost:5000/", "Unable to connect to the remote server", 1
    ),
    "a health check of gRPC": same(
        "grpc_health_probe -addr=localhost:50051", 'timeout: failed to connect service "localhost:50051" within 1s', 2
    ),
    "429 without a pause in the line": same(
        "curl -fsS https://api.example.com/v1/export", "curl: (22) The requested URL returned error: 429", 22
    ),
    "a limit of an MCP server": [
        went("mcp__github__search_code", {"q": f"x{n}"}, '{"error": "API rate limit exceeded, retry-after: 30"}')
        for n in range(6)
    ],
    "a pipeline of GitLab": same("glab ci status --branch main", "Pipeline state: running", 1),
    "a device": same("adb wait-for-device shell getprop sys.boot_completed", "error: no devices/emulators found", 1),
    "a lock that another process holds": [
        turn
        for _ in range(5)
        for turn in (
            fails(
                "sleep 30 && apt-get update",
                "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 31",
                100,
            ),
        )
    ],
    "a container that gets well": same("docker inspect -f '{{.State.Health.Status}}' db | grep -q healthy", "", 1),
    "a build of a cloud": same("gcloud builds describe 31 --format='value(status)' | grep SUCCESS", "", 1),
}
PROBES: dict[str, list[Turn]] = {
    "which programs there are": tries(
        ["command -v docker", "which rg", "type -p fd", "hash jq", "where.exe node"], "", 1
    ),
    "versions": tries(
        ["java -version", "ruby -v", "go version", "php --version", "dotnet --version"], "bash: command not found", 127
    ),
    "files that may be there": tries(
        [
            "ls .env.local",
            "ls tsconfig.base.json",
            "stat pnpm-lock.yaml",
            "ls -la .github/workflows",
            "cat .nvmrc 2>/dev/null",
        ],
        "No such file or directory",
        2,
    ),
    "tests of the shell": tries(
        ["test -f setup.cfg", "[ -d node_modules ]", "[[ -x bin/run ]]", "test -e .venv && echo yes"], "", 1
    ),
    "PowerShell": tries(
        [
            "Get-Command node -ErrorAction SilentlyContinue",
            "Test-Path .\\dist",
            "Get-Item .\\x -ErrorAction Ignore",
            "Test-Path C:\\tools",
        ],
        "",
        1,
    ),
    "modules": tries(
        [
            "python -c 'import torch'",
            "node -e \"require('sharp')\"",
            "pip show torch",
            "python3 -c 'import numpy as np'",
        ],
        "not found",
        1,
    ),
    "servers for a moment": [
        fails(f"timeout {n} npm run dev", "ready on http://localhost:3000", 124) for n in (5, 8, 10, 15)
    ],
    "a program with a window": same("timeout 5s ./build/app --headless", "starting", 124),
    "branches": tries(
        [
            "git rev-parse --verify origin/dev",
            "git show-ref --verify refs/heads/x",
            "git rev-parse v2",
            "git merge-base --is-ancestor a b",
        ],
        "fatal: Needed a single revision",
        128,
    ),
    "images and packages": tries(
        [
            "docker image inspect shop:dev",
            "dpkg -s libpq-dev",
            "brew list libpq",
            "npm ls react",
            "kubectl get crd widgets",
        ],
        "Error: not found",
        1,
    ),
    "is it running": tries(
        [
            "pgrep -f worker",
            "systemctl is-active redis",
            "lsof -i :8080",
            "ss -ltn | grep 8080",
            "docker ps | grep redis",
        ],
        "",
        1,
    ),
    "what differs": tries(
        ["diff a b", "git diff --quiet", "cmp a b", "diff -rq x y", "git diff --exit-code -- src"], "a differs", 1
    ),
    "the head of a page": tries(
        ["curl -I https://a.example/x", "curl --head https://b.example/y", "curl -sI https://c.example/z"],
        "HTTP/2 404",
        22,
    ),
    "searches of several kinds": tries(
        ["grep -rn foo src", "rg bar lib", "git grep baz", "grep -c quux a.py", "ag zip"], "", 1
    ),
    "with an answer of its own": tries(
        ["cat conf.local || echo none", "ls build/x || true", "grep q z || echo no"], "none", 1
    ),
}
GOOD: dict[str, list[Turn]] = {
    "one passed, in four files": good(
        [f"cargo test --test t{n}" for n in range(4)], "test result: ok. 1 passed; 0 failed"
    ),
    "all is formatted": good([f"ruff check src/{n}.py" for n in "abcd"], "All checks passed!"),
    "nothing to install": good([f"cd packages/{n} && pnpm install" for n in "abcd"], "Already up to date"),
    "three routes that want a token": good(
        [f"curl -s localhost:8000/api/{n}" for n in ("users", "orders", "carts", "items")],
        '{"error":{"code":401,"message":"Authentication credentials were not provided."}}',
    ),
    "nothing to commit, in four repositories": good([f"git -C ../{n} status -s" for n in "abcd"], ""),
    "a check that is green after each change": green("pytest -q", "4 passed in 0.1s"),
    "a build that is fine after each change": green("npm run build", "✓ built in 2.1s"),
    "the state of the tree after each change": green("git status --short", " M src/a.py"),
    "the same diff between other calls": [
        turn
        for n in range(4)
        for turn in (
            runs("git diff --stat", " src/a.py | 2 +-"),
            reads(f"{P}src/{n}.py", f"text {n}" * 20),
            runs(f"wc -l src/{n}.py", f"{n} src/{n}.py"),
        )
    ],
    "three plans without a change": good(
        [f"terraform -chdir=env/{n} plan -detailed-exitcode" for n in "abc"],
        "No changes. Your infrastructure matches the configuration.",
    ),
}
PROGRESS: dict[str, list[Turn]] = {
    "fewer failures of jest": [
        turn
        for n in (9, 6, 4, 1)
        for turn in (
            fails(
                "npx jest",
                "\n".join(
                    [
                        *(f"  ● Cart › case {chr(97 + k)}\n    expected" for k in range(n)),
                        f"Tests: {n} failed, 12 passed",
                    ]
                ),
            ),
            edits(A, f"{n}", f"{n}x"),
        )
    ],
    "fewer type errors": [
        turn
        for n in (31, 17, 5, 2)
        for turn in (
            fails(
                "mypy src",
                "\n".join(
                    [
                        *(f"src/m{k}.py:{k}: error: Missing return [return]" for k in range(n)),
                        f"Found {n} errors in {n} files",
                    ]
                ),
            ),
            edits(A, f"{n}", f"{n}x"),
        )
    ],
    "the next compile error": [
        turn
        for n, what in enumerate(
            (
                "undefined: foo",
                "missing return",
                "declared and not used: z",
                "too many arguments in call",
                "undefined: bar",
            )
        )
        for turn in (fails("go build ./...", f"# p/store\nstore/lru.go:{n}0:2: {what}"), edits(A, f"{n}", f"{n}x"))
    ],
    "a new exception each time": [
        turn
        for what in (
            "KeyError: 'id'",
            "TypeError: 'NoneType' object is not iterable",
            "ValueError: bad date",
            "ZeroDivisionError: division by zero",
        )
        for turn in (
            fails("python run.py", f'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\n{what}'),
            edits(A, what, f"{what}x"),
        )
    ],
    "another script of npm each time": [
        turn
        for n in range(4)
        for turn in (
            fails(f"npm run gen:{n}", f"Error: cannot find template {n}"),
            edits(A, f"{n}", f"{n}x"),
            runs(f"npm run gen:{n}", "done"),
        )
    ],
    "red, green, refactor": [
        turn
        for n in range(4)
        for turn in (
            edits(P + "tests/test_a.py", f"{n}", f"t{n}"),
            fails(
                "pytest -q", f"FAILED tests/test_a.py::test_case_{n} - NameError: f{n}\n1 failed, {n} passed in 0.1s"
            ),
            edits(A, f"{n}", f"{n}x"),
            runs("pytest -q", f"{n + 1} passed in 0.1s"),
        )
    ],
    "the next missing module": [
        turn
        for n in ("yaml", "attr", "rich", "httpx")
        for turn in (
            fails("python app.py", f"Traceback (most recent call last):\nModuleNotFoundError: No module named '{n}'"),
            runs(f"pip install {n}", f"Successfully installed {n}-1.0"),
        )
    ],
    "another step of a build each time": [
        turn
        for n, step in enumerate(("COPY go.sum", "RUN go mod download", "RUN apt-get install", "RUN go build"))
        for turn in (
            fails("docker build -t a .", f"#{n} [{n}/8] {step}\nERROR: failed to solve: {step}: exit code: 1"),
            edits(P + "Dockerfile", f"{n}", f"{n}x"),
        )
    ],
}
ONCE: dict[str, list[Turn]] = {
    "seven reads at once, of which six fail": [
        (*(failed("Read", {"file_path": f"{P}{n}.py"}, MISSING) for n in range(6)), reads()),
        runs("ls", "a.py"),
    ],
    "eight commands at once, all refused, then mended": [
        tuple(fails(f"npx {n}", "sh: 1: not found", 127) for n in "abcdefgh"),
        runs("npm ci", "added 31 packages"),
        runs("npx a", "ok"),
    ],
    "a slow build": [runs("xcodebuild -scheme App build", "** BUILD SUCCEEDED **", 1_500.0)],
    "a slow test that fails once": [
        fails("bazel test //...", "//a:t FAILED in 800s", 3, 900.0),
        edits(),
        runs("bazel test //a:t", "//a:t PASSED in 31s", 40.0),
    ],
    "two turns of errors, then another way": [
        *(failed("Edit", {"file_path": A, "old_string": old, "new_string": "y"}, NOT_THERE) for old in ("x", "z")),
        reads(A, "real text"),
        edits(A, "real", "text"),
    ],
    "a call that the person turned down, thrice": [
        failed("Bash", {"command": f"npm publish --tag {n}"}, REFUSED) for n in ("a", "b", "c", "d")
    ],
    "denied once, then done in another way": [
        fails(
            "curl -X POST https://x.example",
            "Permission to use Bash with command curl -X POST https://x.example has been denied.",
        ),
        runs("gh api repos/a/b", "{}"),
    ],
    "an error field that is empty": [
        went("mcp__db__query", {"sql": f"select {n}"}, '{"error": null, "rows": [[1]]}') for n in range(6)
    ],
    "a list of errors that is empty": [
        went("mcp__gql__run", {"q": f"q{n}"}, f'{{"errors": [], "data": {{"n": {n}}}}}') for n in range(6)
    ],
    "results that tell of errors": [
        went(
            "mcp__sentry__list_issues",
            {"page": n},
            f'{{"issues": [{{"title": "TypeError: x", "level": "error", "n": {n}}}]}}',
        )
        for n in range(6)
    ],
    "a debug line in and out": [
        edits(A, "x", "x\nprint(1)"),
        runs("python run.py", "1"),
        edits(A, "x\nprint(1)", "x"),
        runs("pytest -q", "4 passed"),
    ],
    "a mutation that a test must catch": [
        edits(A, "a < b", "a <= b"),
        fails("pytest -q", "FAILED t.py::test_edge\n1 failed"),
        edits(A, "a <= b", "a < b"),
        runs("pytest -q", "4 passed"),
    ],
    "a measurement before and after": [
        runs("python bench.py", "12 ms"),
        edits(A, "slow", "fast"),
        runs("python bench.py", "8 ms"),
        edits(A, "fast", "slow"),
        runs("python bench.py", "12.1 ms"),
    ],
    "the same file read in three parts": [
        went("Read", {"file_path": A, "offset": n, "limit": 200}, f"line {n}\n" * 40) for n in (1, 200, 400, 600)
    ],
    "a page, one after another": [
        runs(f"gh api 'repos/a/b/issues?page={n}' --jq '.[].title'", f"issue {n}\n" * 9) for n in range(6)
    ],
}
TABLES = {"poll": POLLS, "probe": PROBES, "good": GOOD, "progress": PROGRESS, "once": ONCE}
CASES = {f"{kind}: {name}": turns for kind, table in TABLES.items() for name, turns in table.items()}


@pytest.mark.parametrize("turns", CASES.values(), ids=CASES.keys())
def test_what_only_looks_like_trouble_is_met_with_silence(tmp_path: Path, turns: list[Turn]) -> None:
    assert follow(Session(tmp_path, on=EVERY), turns) == []
