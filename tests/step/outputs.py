"""Outputs as programs write them, and whether the call failed: what a host without exit codes leaves us to tell."""

OUTPUTS = {
    "npm10": (
        False,
        "npm run buidl",
        'npm error Missing script: "buidl"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\nnpm error A complete log of this run can be found in: /root/.npm/_logs/x.log',
    ),
    "yarn": (
        False,
        "yarn test",
        "yarn run v1.22.19\n$ jest\nsh: 1: jest: not found\nerror Command failed with exit code 127.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.",
    ),
    "pnpm": (
        False,
        "pnpm install",
        " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for left-pad@99\n\nThis error happened while installing a direct dependency of /x\n",
    ),
    "tsc": (
        False,
        "npx tsc --noEmit",
        "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/b.ts(3,1): error TS2304: Cannot find name 'foo'.\n",
    ),
    "node-module": (
        False,
        "node index.js",
        "node:internal/modules/cjs/loader:1148\n  throw err;\n  ^\n\nError: Cannot find module './foo'\nRequire stack:\n- /p/index.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)\n    at Module._load (node:internal/modules/cjs/loader:986:27)\n    at node:internal/main/run_main_module:28:49 {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/p/index.js' ]\n}\n\nNode.js v20.12.0\n",
    ),
    "jest-suite": (
        False,
        "npx jest",
        "PASS a.test.ts\nFAIL b.test.ts\n  ● Test suite failed to run\n\n    Cannot find module './x' from 'b.test.ts'\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       5 passed, 5 total\nSnapshots:   0 total\nTime:        1.2 s\n",
    ),
    "vitest-suite": (
        False,
        "npx vitest run",
        " FAIL  b.test.ts [ b.test.ts ]\nError: Failed to resolve import\n\n Test Files  1 failed | 1 passed (2)\n      Tests  5 passed (5)\n   Duration  300ms\n",
    ),
    "gradle": (
        False,
        "./gradlew build",
        "Starting a Gradle Daemon (subsequent builds will be faster)\n> Task :checkKotlinGradlePluginConfigurationErrors\n> Task :processResources UP-TO-DATE\n> Task :compileJava FAILED\n/p/Foo.java:3: error: ';' expected\n  int a\n       ^\n1 error\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':compileJava'.\n> Compilation failed; see the compiler output below.\n\n* Try:\n> Run with --info option to get more log output.\n\nBUILD FAILED in 3s\n1 actionable task: 1 executed\n",
    ),
    "gradle2": (
        False,
        "./gradlew build",
        "Starting a Gradle Daemon\n> Task :a\n> Task :b\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'foo' not found in root project.\n\n* Try:\n> Run gradlew tasks to get a list of available tasks.\n> Run with --stacktrace option to get the stack trace.\n> Get more help at https://help.gradle.org.\n\nBUILD FAILED in 1s\n",
    ),
    "maven": (
        False,
        "mvn -q compile",
        "[INFO] Scanning for projects...\n[INFO] Building x\n[INFO] ---\n[ERROR] COMPILATION ERROR : \n[ERROR] /p/Foo.java:[3,5] ';' expected\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin\n[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n[ERROR] Re-run Maven using the -X switch to enable full debug logging.\n[ERROR] For more information about the errors\n[ERROR] [Help 1] http://cwiki\n",
    ),
    "gobuild": (
        False,
        "go build ./...",
        "# example.com/x\n./main.go:5:2: undefined: foo\n./main.go:6:2: declared and not used: y\n",
    ),
    "rustpanic": (
        False,
        "./target/debug/x",
        "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds: the len is 3 but the index is 9\nnote: run with `RUST_BACKTRACE=1`\n",
    ),
    "ruby": (False, "ruby a.rb", "a.rb:3:in `<main>': undefined method `foo' for nil:NilClass (NoMethodError)\n"),
    "php": (
        False,
        "php a.php",
        "PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /p/a.php:3\nStack trace:\n#0 {main}\n  thrown in /p/a.php on line 3\n",
    ),
    "mysql": (False, "mysql -e 'select * from x'", "ERROR 1146 (42S02) at line 1: Table 'd.x' doesn't exist\n"),
    "sqlite": (False, "sqlite3 a.db 'select * from x'", "Error: in prepare, no such table: x\n"),
    "sqlite2": (False, "sqlite3 a.db < q.sql", "Parse error near line 1: no such table: x\n"),
    "psql": (
        False,
        "psql -c 'select'",
        'ERROR:  relation "x" does not exist\nLINE 1: select * from x\n                      ^\n',
    ),
    "docker": (False, "docker logs abc", "Error response from daemon: No such container: abc\n"),
    "kubectl": (False, "kubectl get pod x", 'Error from server (NotFound): pods "x" not found\n'),
    "aws": (
        False,
        "aws s3 ls",
        "\nAn error occurred (AccessDenied) when calling the ListBuckets operation: Access Denied\n",
    ),
    "merge": (
        False,
        "git merge dev",
        "Auto-merging a.txt\nCONFLICT (content): Merge conflict in a.txt\nAutomatic merge failed; fix conflicts and then commit the result.\n",
    ),
    "terraform": (
        False,
        "terraform plan",
        "╷\n│ Error: Unsupported argument\n│ \n│   on main.tf line 3, in resource\n╵\n",
    ),
    "pytestcov": (
        False,
        "pytest --cov",
        "..\nFAIL Required test coverage of 80% not reached. Total coverage: 60.00%\n2 passed in 0.1s\n",
    ),
    "black": (
        False,
        "black --check .",
        "would reformat a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted, 3 files would be left unchanged.\n",
    ),
    "curl22": (False, "curl -f http://x", "curl: (22) The requested URL returned error: 404\n"),
    "cargo": (
        False,
        "cargo build",
        '   Compiling x v0.1.0 (/x)\nerror[E0425]: cannot find value `y` in this scope\n --> src/main.rs:2:5\n  |\n2 |     y\n  |     ^ not found\n\nerror: could not compile `x` (bin "x") due to 1 previous error\n',
    ),
    "eslint": (
        False,
        "npx eslint .",
        "/p/a.js\n  1:1  error  'a' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n",
    ),
    "gotest": (
        False,
        "go test ./...",
        "--- FAIL: TestX (0.00s)\n    x_test.go:5: bad\nFAIL\nFAIL\texample.com/x\t0.003s\nFAIL\n",
    ),
    "dotnet": (
        False,
        "dotnet build",
        "  a.cs(3,1): error CS1002: ; expected [/p/x.csproj]\n\nBuild FAILED.\n    0 Warning(s)\n    1 Error(s)\n",
    ),
    "gitlog": (True, "git log --oneline -5", "a1b2c3d Fix 2 failures in CI\nb1c2d3e add parser\n"),
    "commit": (
        True,
        "git commit -am 'fix 3 errors'",
        "[main a1b2c3d] Fix 3 errors in parser\n 1 file changed, 2 insertions(+)\n",
    ),
    "catchange": (True, "cat CHANGELOG.md", "# 1.2\n- handle HTTP errors 404 and 500\n- Retry 3 failed uploads\n"),
    "sed": (True, "sed -n '1,80p' src/a.py", "def f():\n    # after 3 failures give up\n    return 1\n"),
    "rgcd": (True, "cd src && rg -n raise", "a.py:3:    raise ValueError\nb.py:8: error: handled here\n"),
    "ls": (True, "ls src", "a\nerror\nutils\n"),
    "wc": (True, "wc -l errors.txt", "12 errors.txt\n"),
    "ghrun": (
        True,
        "gh pr checks 3",
        "All checks were successful\n0 cancelled, 0 failing, 7 successful, 0 skipped, and 0 pending checks\n",
    ),
    "gh2": (True, "gh issue list", "12\tOPEN\tApp shows 2 errors on start\tbug\t2024-01-01T00:00:00Z\n"),
    "pytestw": (True, "pytest -q", "....\n4 passed, 2 warnings in 0.1s\n"),
    "expected-failure": (True, "pytest -q", "..x\n2 passed, 1 xfailed in 0.1s\n"),
    "migr": (True, "python manage.py migrate", "Running migrations:\n  Applying app.0003_error... OK\n"),
    "pip": (
        True,
        "pip install x",
        "Requirement already satisfied\nERROR: pip's dependency resolver does not currently take into account all the packages\nSuccessfully installed x\n",
    ),
    "pyW": (True, "python -W default a.py", "a.py:3: DeprecationWarning: invalid escape sequence\n  x\nok\n"),
    "find": (True, "find . -name x", "find: './proc': Permission denied\n./x\n"),
}
