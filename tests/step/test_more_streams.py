# ruff: noqa: E501  (what programs say stands as they say it)
"""More streams, of other programs than those before: where a note is due by the third turn that goes wrong, and where none is."""

from pathlib import Path

import pytest
from sessions import Session, edits, failed, fails, reads, went
from test_variants import P, Turn, bash, follow, piped, red

from insula.coding.step.senses import EVERY

A = P + "src/a.py"


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


DUE: dict[str, list[Turn]] = {
    "zig build": red(
        "zig build test",
        "src/lru.zig:{n}:9: error: expected type 'u32', found 'u64'\nerror: the following build command failed",
        path="src/lru.zig",
    ),
    "rust clippy pipe grep count": piped(
        "cargo clippy -- -D warnings 2>&1 | tail -12",
        "error: this `if` has identical blocks\n  --> src/a.rs:{n}:5\nerror: could not compile `p` (lib) due to 1 previous error",
        path="src/a.rs",
    ),
    "pre-commit": red(
        "pre-commit run --all-files",
        "mypy.....................................................................Failed\n- hook id: mypy\n- exit code: 1\n\nsrc/a.py:{n}: error: Missing return statement  [return]",
    ),
    "git commit hook fails": red(
        "git commit -am 'feat: total'",
        "husky - pre-commit hook exited with code 1 (error)\n✖ eslint --fix:\n/home/dev/project/src/cart.ts\n  {n}:7  error  'x' is defined but never used  no-unused-vars",
        path="src/cart.ts",
    ),
    "helm": red(
        "helm upgrade --install shop ./chart -f values.yaml",
        "Error: UPGRADE FAILED: YAML parse error on shop/templates/deploy.yaml: error converting YAML to JSON: yaml: line {n}: did not find expected key",
        path="chart/templates/deploy.yaml",
    ),
    "ansible": red(
        "ansible-playbook -i hosts site.yml",
        'fatal: [web1]: FAILED! => {"msg": "The task includes an option with an undefined variable. The error was: \'db_host\' is undefined"}\nPLAY RECAP ***\nweb1 : ok={n} changed=0 unreachable=0 failed=1',
        path="site.yml",
    ),
    "curl own endpoint 500": red(
        "curl -fsS -X POST localhost:8000/orders -d @o.json",
        "curl: (22) The requested URL returned error: 500",
        path="src/app.py",
    ),
    "python -c repro": red(
        'python -c "from cart import total; print(total([]))"',
        'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n  File "/home/dev/project/cart.py", line {n}, in total\nIndexError: list index out of range',
        path="cart.py",
    ),
    "jest -t varied": red(
        ["yarn jest src/cart -t 'applies'", "yarn test src/cart", "npx jest --runInBand src/cart"],
        " FAIL  src/cart.test.ts\n  ● Cart › applies the coupon\n\n    expect(received).toBe(expected)\n\n    Expected: 90\n    Received: {n}\n\nTests:       1 failed, 3 passed, 4 total\nTime:        {n}.1 s",
        path="src/cart.ts",
    ),
    "ghc": red(
        "cabal build",
        "src/Cart.hs:{n}:7: error: [GHC-83865]\n    • Couldn't match expected type ‘Int’ with actual type ‘Integer’",
        path="src/Cart.hs",
    ),
    "sql migration psql": red(
        "psql shop -f migrations/7.sql",
        'psql:migrations/7.sql:{n}: ERROR:  column "nick" of relation "users" already exists',
        path="migrations/7.sql",
    ),
    "gcc": red(
        "gcc -Wall -o lru lru.c",
        "lru.c: In function 'evict':\nlru.c:{n}:12: error: 'struct lru' has no member named 'head'",
        path="lru.c",
    ),
    "mocha": red(
        "npx mocha test/cart.js",
        "  3 passing (1{n}ms)\n  1 failing\n\n  1) Cart\n       applies the coupon:\n\n      AssertionError: expected {n} to equal 90\n      + expected - actual",
        path="cart.js",
    ),
    "unittest": red(
        ["python -m unittest tests.test_cart", "python3 -m unittest tests.test_cart -v"],
        'FAIL: test_total (tests.test_cart.CartTest)\n----\nTraceback (most recent call last):\n  File "/a/tests/test_cart.py", line {n}, in test_total\nAssertionError: {n} != 90\n\n----\nRan 4 tests in 0.00{n}s\n\nFAILED (failures=1)',
    ),
    "tox": red(
        "tox -e py312",
        "FAILED tests/test_cart.py::test_total - assert {n} == 90\n1 failed in 0.{n}s\npy312: exit 1 ({n}.2 seconds)",
    ),
    "poetry run + make": red(
        ["poetry run pytest tests/test_cart.py", "make test"],
        "FAILED tests/test_cart.py::test_total - assert {n} == 90\n1 failed in 0.{n}s\nmake: *** [Makefile:{n}: test] Error 1",
    ),
    "user German between": red(
        "npm run build",
        "src/App.tsx(1{n},9): error TS2741: Property 'id' is missing in type '{}' but required in type 'Props'.",
        between=["geht immer noch nicht"],
        path="src/App.tsx",
    ),
    "multi edits and subshell": red(
        "(cd web && npx tsc -p .)",
        "src/App.tsx(1{n},9): error TS2741: Property 'id' is missing in type '{}'.",
        path="web/src/App.tsx",
    ),
    "write whole file fix": [
        t
        for n in range(5)
        for t in (
            fails(
                "python solve.py",
                f'Traceback (most recent call last):\n  File "solve.py", line {n + 3}, in <module>\nRecursionError: maximum recursion depth exceeded',
            ),
            went("Write", {"file_path": P + "solve.py", "content": f"v{n}"}, "File written"),
        )
    ],
    "apply_patch": [
        t
        for n in range(5)
        for t in (
            fails("go vet ./...", f"# p/store\nstore/lru.go:{n}0:2: unreachable code"),
            went(
                "apply_patch",
                {"command": f"*** Begin Patch\n*** Update File: store/lru.go\n-a{n}\n+b{n}\n*** End Patch"},
                "Done",
            ),
        )
    ],
    "same test w/ sleeps between (flaky loop no edits)": [
        fails("pytest tests/test_net.py", "FAILED tests/test_net.py::test_up - ConnectionError\n1 failed in 2s")
    ]
    * 6,
    "timeout of test itself": [
        t for n in range(4) for t in (fails("timeout 60 pytest tests/test_slow.py", "", 124), edits(A, f"{n}", "x"))
    ],
    "mcp same input": [went("mcp__db__query", {"sql": "select 1"}, {"error": "connection closed"})] * 5,
    "mcp failed event": [failed("mcp__figma__get", {"id": "1"}, "MCP error -32603: token expired")] * 5,
    "webfetch various 403": [
        failed(
            "WebFetch", {"url": f"https://docs.example.com/{n}", "prompt": "x"}, "Request failed with status code 403"
        )
        for n in range(5)
    ],
    "edit not read": [
        failed(
            "Edit",
            {"file_path": A, "old_string": f"{n}", "new_string": "y"},
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        )
        for n in range(5)
    ],
    "cycle AB good": [
        bash("cat conf/app.yml", "timeout: 30 and some more content that is long enough to tell"),
        bash("cat conf/db.yml", "host: x and some more content that is long enough to tell it apart"),
    ]
    * 4,
    "reread file": [
        reads(A, "content " * 20),
        bash("ls"),
        reads(A, "content " * 20),
        bash("pwd"),
        reads(A, "content " * 20),
        reads(A, "content " * 20),
    ],
    "poll forever": [
        bash("gh run view 31 --json status", '{"status":"queued"} and nothing else has changed since the beginning')
    ]
    * 40,
    "parallel same errors over turns": [
        tuple(failed("Read", {"file_path": f"{P}{n}{k}.py"}, "File does not exist.") for k in range(3))
        for n in range(5)
    ],
    "powershell npm": red(
        "$env:NODE_ENV='test'; npm.cmd test",
        "FAIL src/cart.test.ts\n  ● Cart › applies\n\n    Expected: 90\n    Received: {n}\n\nTests:       1 failed, 3 passed, 4 total",
    ),
    "powershell chain": red(
        "Set-Location api; dotnet build; if ($LASTEXITCODE -ne 0) { exit 1 }",
        "C:\\p\\api\\Cart.cs({n},13): error CS0103: The name 'totl' does not exist in the current context [C:\\p\\api\\api.csproj]\nBuild FAILED.",
        path="api/Cart.cs",
    ),
    "nix": red(
        "nix build .#shop",
        "error: builder for '/nix/store/abc{n}-shop.drv' failed with exit code 1;\n       last 1 log lines:\n       > src/main.rs:1{n}: mismatched types",
        path="flake.nix",
    ),
}
SILENT: dict[str, list[Turn]] = {
    "flaky check three times": [bash("pytest tests/test_net.py", "4 passed in 0.1s")] * 3,
    "seq of installs": [bash(f"npm i {n}", "added 1 package, and audited 31 packages in 2s") for n in "abcde"],
    "tests pass several suites each equal": [bash(f"npx jest src/{n}", "Tests: 4 passed, 4 total") for n in "abcde"],
    "kubectl get pods while waiting": [bash("kubectl get pods", "api-1 0/1 Pending 0 10s")] * 6,
    "kubectl wait fails": [
        fails(
            "kubectl wait --for=condition=ready pod/api --timeout=10s",
            "error: timed out waiting for the condition on pods/api",
        )
    ]
    * 6,
    "curl until up w/ varied sleep": [fails(f"sleep {n}; curl -s localhost:8080/api", "", 7) for n in (1, 2, 4, 8, 16)],
    "server start check": [
        bash("npm run dev > /tmp/dev.log 2>&1 &"),
        fails("curl -sf localhost:3000/health", "", 7),
        fails("curl -sf localhost:3000/health", "", 7),
        fails("curl -sf localhost:3000/health", "", 7),
        bash("curl -sf localhost:3000/health", "ok"),
    ],
    "docker compose ps": [bash("docker compose ps", "db starting")] * 5,
    "BashOutput": [went("BashOutput", {"bash_id": "1"}, "still running")] * 8,
    "tail log": [bash("tail -5 /tmp/build.log", "compiling…")] * 3,
    "gh api 404 probe": [fails(f"gh api repos/a/{n}", "gh: Not Found (HTTP 404)") for n in "ab"],
    "npm view": [fails(f"npm view @x/{n} version", "npm error code E404") for n in "abc"],
    "grep none then found": [
        fails("grep -rn Foo src", "", 1),
        fails("grep -rni foo src", "", 1),
        bash("grep -rni fo src", "a.py:1: fo"),
    ],
    "read optional": [
        failed("Read", {"file_path": P + "CLAUDE.md"}, "File does not exist."),
        reads(),
        failed("Read", {"file_path": P + ".env"}, "File does not exist."),
        bash("ls", "a"),
    ],
    "user rejects edits": [
        failed(
            "Edit",
            {"file_path": A, "old_string": "a", "new_string": f"{n}"},
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.",
        )
        for n in range(4)
    ],
    "tests with different failing": [
        t
        for n in range(5)
        for t in (
            fails("go test ./...", f"--- FAIL: Test{chr(65 + n)} (0.0s)\nFAIL"),
            edits(P + f"m{n}.go", "a", f"{n}"),
        )
    ],
    "count falls": [
        t
        for n in (12, 7, 3)
        for t in (fails("npx eslint .", f"✖ {n} problems ({n} errors, 0 warnings)"), edits(A, f"{n}", "x"))
    ],
    "exit 1 of diff in loop": [fails(f"diff out/{n} exp/{n}", "1c1\n< a\n> b", 1) for n in range(5)],
    "negative test of own cli": [
        fails("./cli --bad", "usage: cli [-h]\ncli: error: unrecognized arguments: --bad", 2),
        fails("./cli", "usage: cli [-h] file", 2),
        bash("./cli x", "ok"),
    ],
    "TDD many": [
        t
        for n in range(4)
        for t in (
            edits(P + "t.py", f"a{n}", f"b{n}"),
            fails("pytest -q", f"FAILED t.py::test_{chr(97 + n)} - ImportError: cannot import name 'f{n}'\n1 failed"),
            edits(P + "s.py", f"a{n}", f"b{n}"),
            bash("pytest -q", f"{n + 1} passed"),
        )
    ],
    "bisect": [
        bash(f"git bisect {w}", "Bisecting: 3 revisions left to test after this (roughly 2 steps)")
        for w in ("start", "bad", "good v1", "good", "bad", "good")
    ],
    "rename across files": [t for n in "abcdef" for t in (edits(P + f"{n}.py", "old", "new"),)],
    "sed viewing": [
        bash(f"sed -n '{n},{n + 40}p' a.py", f"line {n} and so on, a text that is long enough to be told apart")
        for n in range(0, 200, 40)
    ],
    "go test PASS repeated after edits of other files": [
        t for n in range(5) for t in (edits(P + f"{n}.go"), bash("go test ./...", "ok  \tp/store\t0.2s"))
    ],
    "terraform plan exit 2": [
        fails(f"terraform plan -detailed-exitcode -target={n}", "Plan: 1 to add, 0 to change, 0 to destroy.", 2)
        for n in "abc"
    ],
    "git push then rejected, pull, push": [
        fails("git push", "! [rejected] main -> main (fetch first)"),
        bash("git pull --rebase", "Successfully rebased"),
        bash("git push", "main -> main"),
    ],
    "apt lock": [
        fails(
            "apt-get install -y x", "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 12", 100
        ),
        bash("sleep 20"),
        fails(
            "apt-get install -y x", "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 12", 100
        ),
        bash("sleep 20"),
        bash("apt-get install -y x", "ok"),
    ],
    "retry after rate limit via MCP": [
        went("mcp__github__list", {"p": n}, {"error": {"code": 429, "message": "Too Many Requests"}}) for n in range(5)
    ],
    "write tests for errors: expected fail": [fails("bash -c 'exit 3'", "", 3), fails("bash -c 'exit 4'", "", 4)],
    "curl 401 three routes exit22": [
        fails(f"curl -sf localhost:8000/{n}", "curl: (22) The requested URL returned error: 401", 22)
        for n in ("a", "b", "c", "d")
    ],
    "screenshots": [went("mcp__playwright__browser_click", {"ref": "e1"}, "clicked")] * 4,
    "todo": [
        went(
            "TodoWrite",
            {"todos": [{"c": n}]},
            "Todos have been modified successfully. Ensure that you continue to use the todo list",
        )
        for n in range(6)
    ],
    "git stash pop user asked": [
        "stash my changes and pull",
        bash("git stash && git pull && git stash pop", "Saved working directory"),
    ],
    "stash pop alone": [
        edits(),
        bash("git stash list", "stash@{0}: WIP"),
        bash("git stash pop", "Dropped refs/stash@{0}"),
    ],
    "checkout of file just touched by formatter": [
        bash("npx prettier --write src/a.ts", "src/a.ts 20ms"),
        bash("git checkout src/gen.ts", "Updated 1 path from the index"),
    ],
    "rm tmp test file made": [
        went("Write", {"file_path": P + "tmp_test.py", "content": "x"}, "ok"),
        bash("python tmp_test.py", "1"),
        bash("rm -f tmp_test.py", ""),
    ],
    "merge abort": [
        fails("git merge dev", "CONFLICT (content): Merge conflict in a.py"),
        bash("git merge --abort", ""),
    ],
    "git reset file unstaged": [edits(), bash("git reset src/a.py", "Unstaged changes after reset:\nM src/a.py")],
    "docker prune": [
        edits(),
        bash("docker system prune -af", "Total reclaimed space: 1GB"),
        bash("rm -rf coverage .nyc_output", ""),
    ],
}

SLOW = {"poll forever": 31, "cycle AB good": 4, "reread file": 5}
"""What takes longer to tell from what is right."""


@pytest.mark.parametrize("name", DUE)
def test_what_goes_wrong_alike_is_told_by_the_third_turn_and_not_at_once(tmp_path: Path, name: str) -> None:
    turns = DUE[name]
    calls = [place for place, turn in enumerate(turns, 1) if not _is_change(turn)]
    told = follow(Session(tmp_path, on=EVERY), turns)
    assert told, "nothing"
    assert 1 < told[0][0] <= SLOW.get(name, calls[2]), told
    assert len(told) <= 3


def _is_change(turn: Turn) -> bool:
    return isinstance(turn, str) or (
        isinstance(turn, dict)
        and turn["tool_name"] in {"Edit", "Write", "apply_patch"}
        and turn["hook_event_name"] == "PostToolUse"
    )


@pytest.mark.parametrize("turns", SILENT.values(), ids=SILENT.keys())
def test_ordinary_work_is_met_with_silence(tmp_path: Path, turns: list[Turn]) -> None:
    assert follow(Session(tmp_path, on=EVERY), turns) == []
