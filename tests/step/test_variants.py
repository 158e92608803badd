# ruff: noqa: E501  (what programs say stands as they say it)
"""What the senses must feel, in other tools, languages and hosts: each a stream, and the turn by which a note is due."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from sessions import Payload, Session, edits, failed, fails, reads, runs, went

from insula.coding.step.senses import EVERY

Turn = Payload | tuple[Payload, ...] | str
"""A call, several at once, or the user's words."""
P = "/home/dev/project/"


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


def follow(session: Session, turns: Iterable[Turn], seconds: float = 40.0) -> list[tuple[int, str]]:
    """Every text of a stream, with the place of the turn that it followed."""
    told: list[tuple[int, str]] = []
    for place, turn in enumerate(turns, 1):
        before = len(session.texts)
        if isinstance(turn, str):
            session.prompt(turn)
        else:
            session.act(*(turn if isinstance(turn, tuple) else (turn,)), seconds=seconds)
        told += [(place, text) for _, text in session.texts[before:]]
    return told


def red(
    commands: str | list[str], output: str, times: int = 5, path: str = "src/a.py", between: Iterable[Turn] = ()
) -> list[Turn]:
    """A check that fails `times` times with a change between; `{n}` varies."""
    turns: list[Turn] = []
    for n in range(times):
        command = commands if isinstance(commands, str) else commands[n % len(commands)]
        turns += [fails(command, output.replace("{n}", str(n + 3))), *between]
        turns.append(edits(P + path, f"old {n}", f"new {n}"))
    return turns


def piped(command: str, output: str, times: int = 5, path: str = "src/a.py") -> list[Turn]:
    """The same, with a status that a pipe has lost."""
    turns: list[Turn] = []
    for n in range(times):
        turns += [runs(command, output.replace("{n}", str(n + 3))), edits(P + path, f"old {n}", f"new {n}")]
    return turns


def asks(tool: str, error: object, times: int = 6) -> list[Turn]:
    """A tool of an MCP server that answers as if all were well, and says that it is not."""
    return [went(tool, {"key": f"SHOP-{n}"}, error) for n in range(times)]


def bash(command: str, output: str = "") -> Payload:
    """A command that went well."""
    return runs(command, output)


SURVIVES: dict[str, list[Turn]] = {
    "vitest with other flags and durations": red(
        [
            "pnpm vitest run src/cart.test.tsx",
            "pnpm exec vitest run src/cart.test.tsx --reporter=dot",
            "npx vitest run src/cart.test.tsx 2>&1 | tail -30",
        ],
        " FAIL  src/cart.test.tsx > Cart > applies the coupon\nAssertionError: expected {n}0 to be 90\n ❯ src/cart.test.tsx:{n}1:24\n Test Files  1 failed (1)\n      Tests  1 failed | 3 passed (4)\n   Duration  {n}.1s",
        path="src/cart.tsx",
    ),
    "maven": red(
        ["mvn -q test -Dtest=OrderServiceTest", "./mvnw test -Dtest=OrderServiceTest -o"],
        "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.{n}1 s <<< FAILURE!\n[ERROR] OrderServiceTest.total:4{n} expected: <3> but was: <{n}>\n[ERROR] Tests run: 4, Failures: 1\n[INFO] BUILD FAILURE\n[INFO] Total time:  {n}.2 s",
        path="src/main/java/OrderService.java",
    ),
    "gradle": red(
        "./gradlew :app:testDebugUnitTest --tests com.shop.CartTest",
        "CartTest > total FAILED\n    java.lang.AssertionError at CartTest.kt:{n}\n\n4 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\nBUILD FAILED in {n}s",
        path="app/src/Cart.kt",
    ),
    "phpunit": red(
        "vendor/bin/phpunit --filter testTotal tests/CartTest.php",
        "There was 1 failure:\n\n1) Tests\\CartTest::testTotal\nFailed asserting that {n} matches expected 90.\n\n/app/tests/CartTest.php:{n}1\n\nFAILURES!\nTests: 1, Assertions: 1, Failures: 1.",
        path="src/Cart.php",
    ),
    "dotnet": red(
        ["dotnet test", "dotnet test --no-restore -v q"],
        "  Failed Shop.Tests.CartTests.Total [{n} ms]\n  Error Message:\n   Assert.Equal() Failure\nExpected: 90\nActual:   {n}\nFailed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12, Duration: {n} ms - Shop.Tests.dll",
        path="Shop/Cart.cs",
    ),
    "elixir": red(
        "mix test test/cart_test.exs",
        "  1) test total (CartTest)\n     test/cart_test.exs:{n}\n     Assertion with == failed\n     left:  {n}\n     right: 90\n\nFinished in 0.{n} seconds\n4 tests, 1 failure",
        path="lib/cart.ex",
    ),
    "cargo in a workspace, read to its end": red(
        [
            "cargo test -p store",
            "cargo test -p store -- --nocapture 2>&1 | tail -40",
            "RUST_BACKTRACE=1 cargo test -p store",
        ],
        "test lru::evicts ... FAILED\n\n---- lru::evicts stdout ----\nthread 'lru::evicts' panicked at src/lru.rs:8{n}:9:\nassertion `left == right` failed\n  left: {n}\n right: 90\n\ntest result: FAILED. 4 passed; 1 failed; finished in 0.{n}s",
        path="src/lru.rs",
    ),
    "django": red(
        ["python manage.py test shop.tests.CartTest", "python3 manage.py test shop.tests.CartTest --keepdb -v 2"],
        'FAIL: test_total (shop.tests.CartTest.test_total)\nTraceback (most recent call last):\n  File "/app/shop/tests.py", line {n}2, in test_total\nAssertionError: {n} != 90\n\nRan 4 tests in 0.{n}1s\n\nFAILED (failures=1)',
    ),
    "playwright": red(
        "npx playwright test e2e/checkout.spec.ts --project=chromium",
        "  1) [chromium] › e2e/checkout.spec.ts:{n}:5 › pays with a card ─────\n\n    Error: expect(locator).toBeVisible() failed\n    Timeout: 5000ms\n\n  1 failed\n    [chromium] › e2e/checkout.spec.ts:{n}:5 › pays with a card\n  3 passed ({n}.4s)",
        path="web/checkout.tsx",
    ),
    "ctest": red(
        "cmake --build build && ctest --test-dir build --output-on-failure",
        "1/2 Test #1: lru ..............***Failed    0.0{n} sec\nevicted {n} keys, want 90\n2/2 Test #2: map ..............   Passed    0.01 sec\n50% tests passed, 1 tests failed out of 2\nThe following tests FAILED:\n\t  1 - lru (Failed)\nErrors while running CTest",
        path="src/lru.cc",
    ),
    "bazel": red(
        "bazel test //store:lru_test",
        "FAIL: //store:lru_test (see /home/dev/.cache/bazel/_bazel/{n}{n}/testlogs/store/lru_test/test.log)\n//store:lru_test                FAILED in 0.{n}s\n\nExecuted 1 out of 1 test: 1 fails locally.",
        path="store/lru.go",
    ),
    "swift build": red(
        "swift build",
        "/home/dev/project/Sources/App/Cart.swift:{n}2:18: error: cannot convert value of type 'Int' to expected argument type 'Decimal'\nerror: fatalError",
        path="Sources/App/Cart.swift",
    ),
    "terraform": red(
        ["terraform apply -auto-approve", "terraform -chdir=. apply -auto-approve -no-color"],
        'Error: creating S3 Bucket (shop-assets-{n}): BucketAlreadyExists\n\n  with aws_s3_bucket.assets,\n  on main.tf line {n}, in resource "aws_s3_bucket" "assets":',
        path="main.tf",
    ),
    "kubectl apply": red(
        "kubectl apply -f k8s/deploy.yaml",
        'error: error validating "k8s/deploy.yaml": error validating data: ValidationError(Deployment.spec.template.spec.containers[0]): unknown field "port{n}" in io.k8s.api.core.v1.Container',
        path="k8s/deploy.yaml",
    ),
    "a script of the project's own": red(
        ["node scripts/import.js data/orders.csv", "node scripts/import.js data/orders.csv --verbose"],
        "/home/dev/project/scripts/import.js:{n}\n    row.total.toFixed(2)\n              ^\nTypeError: Cannot read properties of undefined (reading 'toFixed')\n    at /home/dev/project/scripts/import.js:{n}:15\nNode.js v20.11.0",
        path="scripts/import.js",
    ),
    "a migration": red(
        "alembic upgrade head",
        'sqlalchemy.exc.ProgrammingError: (psycopg2.errors.DuplicateColumn) column "nick" of relation "users" already exists\n[SQL: ALTER TABLE users ADD COLUMN nick VARCHAR({n})]',
        path="migrations/0007_nick.py",
    ),
    "docker compose": red(
        "docker compose up -d --build api",
        '#12 [api 4/6] RUN npm ci\n#12 {n}.21 npm error code EUSAGE\nfailed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
        path="Dockerfile",
    ),
    "powershell": red(
        [
            "$env:CI = '1'; Invoke-Pester .\\tests\\Cart.Tests.ps1",
            "Invoke-Pester .\\tests\\Cart.Tests.ps1 -Output Detailed",
        ],
        "[-] Cart.adds the total {n}ms ({n}ms|1ms)\n Expected 90, but got {n}.\nTests Passed: 3, Failed: 1, Skipped: 0",
        path="Cart.psm1",
    ),
    "a virtual environment on Windows": red(
        [
            ".\\.venv\\Scripts\\python.exe -m pytest tests\\test_cart.py -q",
            "cd C:\\shop; .\\.venv\\Scripts\\pytest.exe tests\\test_cart.py",
        ],
        "FAILED tests\\test_cart.py::test_total - assert {n} == 90\n1 failed, 3 passed in 0.{n}s",
    ),
    "the last of a chain of twenty": red(
        " && ".join(
            [
                *(f"cp conf/{n}.ini /tmp/c/{n}.ini" for n in range(17)),
                "npm run lint",
                "npm run build",
                "npm test -- cart",
            ]
        ),
        "FAIL src/cart.test.ts\n  ● Cart › applies the coupon\n\n    Expected: 90\n    Received: {n}\n\nTests:       1 failed, 3 passed, 4 total\nTime:        {n}.1 s",
        path="src/cart.ts",
    ),
    "lines that are commands": red(
        "set -euo pipefail\ncd services/api\nexport TZ=UTC\ngo vet ./...\ngo test ./store -run TestEvict -count=1",
        "--- FAIL: TestEvict (0.0{n}s)\n    lru_test.go:{n}8: evicted {n} keys, want 90\nFAIL\nFAIL\texample.com/p/store\t0.0{n}s",
        path="services/api/store/lru.go",
    ),
    "a loop over packages": red(
        "for p in api web; do (cd $p && npx tsc --noEmit) || exit 1; done",
        "src/client.ts({n}0,15): error TS2345: Argument of type 'Options | undefined' is not assignable to parameter of type 'Options'.",
        path="api/src/client.ts",
    ),
    "a script on standard input": red(
        "node <<'JS'\nconst {total} = require('./cart');\nconsole.log(total([{n}]));\nJS",
        "/home/dev/project/cart.js:{n}\n  throw new RangeError('no items');\n  ^\nRangeError: no items\n    at total (/home/dev/project/cart.js:{n}:9)",
        path="cart.js",
    ),
    "a status that a pipe has lost": piped(
        "pytest tests/test_cart.py 2>&1 | tail -5",
        "FAILED tests/test_cart.py::test_total - assert {n} == 90\n========== 1 failed, 3 passed in 0.{n}s ==========",
    ),
    "a type check whose status a pipe has lost": piped(
        "npx tsc --noEmit 2>&1 | head -20",
        "src/api/client.ts({n}0,15): error TS2345: Argument of type 'Options | undefined' is not assignable to parameter of type 'Options'.",
        path="src/api/client.ts",
    ),
    "a compiler whose status a pipe has lost": piped(
        "cargo build 2>&1 | grep -A5 '^error' | head -30",
        "error[E0502]: cannot borrow `*self` as immutable because it is also borrowed as mutable\n  --> src/pool.rs:1{n}2:9",
        path="src/pool.rs",
    ),
    "the user in between, in Spanish": red(
        "npm test",
        "● total › adds\n    expected {n}\nTests: 1 failed, 3 passed",
        between=["sigue sin funcionar, inténtalo otra vez"],
    ),
    "the user in between, in Chinese": red(
        "go test ./store",
        "--- FAIL: TestEvict (0.0{n}s)\n    lru_test.go:{n}8: evicted {n} keys\nFAIL",
        between=["还是不行，再试试"],
    ),
    "eight other calls between": red(
        "ruby -Itest test/cart_test.rb",
        "Failure:\nCartTest#test_total [test/cart_test.rb:{n}]:\nExpected: 90\n  Actual: {n}\n\n4 runs, 4 assertions, 1 failures, 0 errors, 0 skips",
        path="lib/cart.rb",
        between=[
            reads(f"{P}lib/{name}.rb", f"class {name.title()}\n" * 9)
            for name in ("a", "b", "c", "d", "e", "f", "g", "h")
        ],
    ),
    "a linter": red(
        ["npx eslint src --ext .ts", "npx eslint src/cart.ts"],
        "/home/dev/project/src/cart.ts\n  {n}:7  error  'total' is never reassigned. Use 'const' instead  prefer-const\n\n✖ 1 problem (1 error, 0 warnings)",
        path="src/cart.ts",
    ),
    "an install": red(
        ["pip install -r requirements.txt", "pip install --no-cache-dir -r requirements.txt"],
        "ERROR: Cannot install -r requirements.txt (line {n}) and pydantic==1.10 because these package versions have conflicting dependencies.\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io",
        path="requirements.txt",
    ),
    "a change by sed": [
        turn
        for n in range(5)
        for turn in (
            fails(
                "pytest tests/test_cart.py",
                f"FAILED tests/test_cart.py::test_total - assert {n} == 90\n1 failed in 0.{n}s",
            ),
            runs(f"sed -i 's/timeout={n}/timeout={n + 1}/' src/cart.py"),
        )
    ],
}


@pytest.mark.parametrize("turns", SURVIVES.values(), ids=SURVIVES.keys())
def test_the_third_failure_that_changes_have_not_touched_is_told(tmp_path: Path, turns: list[Turn]) -> None:
    checks = [
        place
        for place, turn in enumerate(turns, 1)
        if isinstance(turn, dict) and turn.get("tool_name") == "Bash" and "sed" not in str(turn["tool_input"])
    ]
    told = follow(Session(tmp_path, on=EVERY), turns)
    assert told, "nothing"
    assert told[0][0] == checks[2], told
    assert len(told) <= 2


REPEATED: dict[str, tuple[list[Turn], int]] = {
    "a pull that is refused": ([fails("git pull", "fatal: Not possible to fast-forward, aborting.", 128)] * 5, 4),
    "a publication that is refused": (
        [
            fails(
                "npm publish --access public",
                "npm error code E403\nnpm error 403 403 Forbidden - PUT https://registry.example/shop",
                1,
            )
        ]
        * 5,
        4,
    ),
    "a host that lets nobody in": (
        [
            fails(f"ssh -p 22 deploy@web{n % 2} uptime", "deploy@web: Permission denied (publickey).", 255)
            for n in range(6)
        ],
        5,
    ),
    "a flag that is not there, each time another": (
        [
            fails(f"mytool export --{n}", f"error: unrecognized arguments: --{n}", 2)
            for n in ("csv", "format", "out", "to", "as")
        ],
        4,
    ),
    "an edit that does not fit": (
        [
            failed(
                "Edit",
                {"file_path": P + "src/a.py", "old_string": f"def {n}", "new_string": "x"},
                f"<tool_use_error>String to replace not found in file.\nString: def {n}</tool_use_error>",
            )
            for n in range(5)
        ],
        4,
    ),
    "a query of a table that is not there": (
        [
            fails(
                f"psql shop -c 'select {n} from orders_old'",
                f'ERROR:  relation "orders_old" does not exist\nLINE 1: select {n} from orders_old',
                1,
            )
            for n in range(5)
        ],
        4,
    ),
    "denied by a rule": (
        [failed("Bash", {"command": "npm publish"}, "Permission to use Bash with command npm publish has been denied.")]
        * 5,
        4,
    ),
    "denied by a hook, each time another file": (
        [
            failed("Write", {"file_path": f"{P}infra/{n}.tf", "content": "x"}, "Blocked by hook: infra/ is protected")
            for n in range(6)
        ],
        5,
    ),
    "denied for a tool of MCP": (
        [
            failed(
                "mcp__slack__post",
                {"text": f"t{n}"},
                "Claude requested permissions to use mcp__slack__post, but you haven't granted it yet.",
            )
            for n in range(6)
        ],
        5,
    ),
    "Slack's way to say no": (asks("mcp__slack__post_message", '{"ok": false, "error": "channel_not_found"}'), 5),
    "a protocol's way": (
        asks("mcp__jira__get", {"isError": True, "content": [{"type": "text", "text": "401 Unauthorized"}]}),
        5,
    ),
    "GraphQL's way": (
        asks("mcp__gql__query", '{"data": null, "errors": [{"message": "Field \'x\' does not exist"}]}'),
        5,
    ),
    "a text's way": (asks("mcp__notion__fetch", "Error: Could not find page with ID: 31"), 5),
    "a list of parts": (asks("mcp__linear__issue", [{"type": "text", "text": '{"error": "Entity not found"}'}]), 5),
    "the very same call, well each time": (
        [runs("npm run build", "> shop@1.0.0 build\n> vite build\n\n✓ 312 modules transformed, written to dist in all")]
        * 5,
        4,
    ),
    "an undo that undoes nothing": ([runs("git checkout -- src/a.py", "Updated 0 paths from the index")] * 5, 4),
    "three turns of the same four errors": (
        [tuple(fails(f"npx {n}", "sh: 1: not found: cannot execute", 127) for n in "abcd")] * 5,
        4,
    ),
    "a script of PowerShell": (
        [fails(".\\deploy.ps1 -Env stage", "The term 'az' is not recognized as the name of a cmdlet", 1)] * 5,
        4,
    ),
}


@pytest.mark.parametrize(("turns", "by"), REPEATED.values(), ids=REPEATED.keys())
def test_what_is_tried_again_in_vain_is_told(tmp_path: Path, turns: list[Turn], by: int) -> None:
    told = follow(Session(tmp_path, on=EVERY), turns)
    assert told and told[0][0] <= by, told
    assert told[0][0] > 1
