"""A tool call as the senses see it: whether it failed, what it ran, what is the same as before, and no secret in it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insula import senses

TOKEN = "ghp_" + "aB3d" * 9
OUTPUTS = [json.loads(line) for line in Path(__file__).with_name("outputs.jsonl").read_text("utf-8").splitlines()]
"""Outputs as programs write them, and whether the call went well: what a host without exit codes leaves us to tell."""


def act(command: str = "make", output: str = "", ok: bool | None = None, **about: Any) -> senses.Action:
    return senses.action("Bash", {"command": command, **about}, output, ok=ok)


# Whether it failed: structure first, then a test summary, then other words, and those of programs alone.


@pytest.mark.parametrize("row", OUTPUTS, ids=lambda row: row["name"])
def test_whether_a_program_has_failed_is_known_without_an_exit_code(row: dict[str, Any]) -> None:
    assert act(row["command"], row["output"]).ok is row["fine"]


def test_the_host_s_own_flag_outweighs_every_word_but_an_answer_of_no() -> None:
    assert act("make", "error: everything is broken\nfatal: yes", True).ok
    assert not act("make", "all is well", False).ok
    assert act("grep -rn nothing src", "Exit code 1", False).ok


@pytest.mark.parametrize(
    ("output", "ran"),
    [
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", False),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", False),
        ("ls: cannot access 'x'", True),
    ],
)
def test_a_call_that_was_refused_never_ran(output: str, ran: bool) -> None:
    assert act("ls x", output, False).ran is ran


# What it ran: line -> what for and with which program, of which part, in which workspace.

PARTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "pnpm --filter web test": ("test pnpm test", (), "web"),
    "pnpm --filter=@acme/api... run test:unit": ("test pnpm run test:unit", (), "@acme/api"),
    "pnpm -F ./apps/web exec vitest run src/a.test.ts": ("test vitest run", ("src/a.test.ts",), "apps/web"),
    "pnpm --filter web add lodash": ("install pnpm add", ("lodash",), "web"),
    "pnpm -r test": ("test pnpm test", (), ""),
    "pnpm -w lint": ("linter pnpm lint", (), ""),
    "npm -w packages/core test": ("test npm test", (), "packages/core"),
    "npm run test --workspace=core -- a.test.js": ("test npm run test", ("a.test.js",), "core"),
    "npm --prefix web run build": ("build npm run build", (), "web"),
    "yarn workspace api test": ("test yarn test", (), "api"),
    "yarn --cwd web lint": ("linter yarn lint", (), "web"),
    "bun --filter web test": ("test bun test", (), "web"),
    "npx turbo run lint test --filter=web": ("test turbo run lint test", (), "web"),
    "nx test web": ("test nx test", (), "web"),
    "npx nx run web:build": ("build nx run build", (), "web"),
    "nx run-many -t lint -p a,b": ("linter nx run-many lint", (), "a,b"),
    "uv run --package core pytest tests/a.py -x": ("test pytest", ("tests/a.py",), "core"),
    "poetry -C api run mypy .": ("type check mypy", (".",), "api"),
    "hatch run test:cov": ("test hatch run test:cov", (), ""),
    "tox -e py311": ("test tox", ("py311",), ""),
    "make -C api lint test": ("test make lint test", (), "api"),
    "just check": ("test just check", (), ""),
    "docker compose -f dev.yml run --rm web pytest tests": ("test pytest", ("tests",), ""),
    "docker compose exec web npm test": ("test npm test", (), ""),
    "cargo +nightly test -p core": ("test cargo test", (), "core"),
    "cargo test --manifest-path crates/x/Cargo.toml": ("test cargo test", (), "crates/x"),
    "go -C tools test ./...": ("test go test", ("...",), "tools"),
    "./gradlew :app:test": ("test gradle test", (), "app"),
    "mvn -pl core -am test": ("test mvn test", (), "core"),
    "cd apps/web && pnpm test": ("test pnpm test", (), "apps/web"),
    "(cd api; cd sub && pytest -q) 2>&1 | tail -3": ("test pytest", (), "api/sub"),
    'bash -lc "cd web && npm test"': ("test npm test", (), "web"),
    'pwsh -NoProfile -Command "npm test"': ("test npm test", (), ""),
    "pwsh -File scripts\\run_tests.ps1 -Fast": ("test run_tests.ps1", (), ""),
    'wsl -d Ubuntu -- bash -lc "go test ./pkg/..."': ("test go test", ("pkg/...",), ""),
    "cmd /c npm.cmd run lint": ("linter npm run lint", (), ""),
    "C:\\tools\\venv\\Scripts\\python.exe -m pytest tests\\a.py": ("test pytest", ("tests/a.py",), ""),
    '"C:\\Program Files\\nodejs\\npm.cmd" test': ("test npm test", (), ""),
    "python scripts/run_tests.py": ("test python scripts/run_tests.py", (), ""),
    f"python -c '{'x' * 400}' && npm run e2e": ("test npm run e2e", (), ""),
    'echo "pytest"': ("run echo", ("pytest",), ""),
    '"" x': ("run", ("x",), ""),
    "# only a comment": ("execute Bash", (), ""),
}


@pytest.mark.parametrize("line", PARTS)
def test_a_line_is_known_by_its_parts(line: str) -> None:
    found = act(line)
    assert (found.family, found.selectors, found.workspace) == PARTS[line]


PROVES = ["prettier --check .", "npm run format:check", "terraform plan", "next build", "cargo fmt --check"]
PROVES_NOTHING = [
    *("prettier --write .", "eslint --fix src", "npm run lint:fix", "cargo fmt", "ruff format .", "npm run format"),
    *("next dev", "terraform apply", "npx playwright install", "pnpm --filter web add x", "ssh host pytest", "vite"),
    *("npm run dev", "docker compose ps", "git log --grep test", "cat tests/a.py", "vitest init"),
]


@pytest.mark.parametrize(("line", "proves"), [(x, True) for x in PROVES] + [(x, False) for x in PROVES_NOTHING])
def test_what_checks_proves_something_and_what_puts_in_shape_serves_or_installs_does_not(
    line: str, proves: bool
) -> None:
    assert act(line).proves is proves


def test_all_checks_and_acts_of_a_line_are_known() -> None:
    found = act("cd web && npm run lint && npm test && git commit -m x")
    assert (found.family, found.acts, found.also) == ("test npm test", ("commit",), ("linter npm run lint @web",))
    assert "bypass" in act("HUSKY=0 git commit -m x").acts
    assert act("git commit -m 'HUSKY=0 is bad'").acts == ("commit",)


# What is the same, whatever clock time, line number or explanation stands beside it.


def test_a_call_is_the_same_whatever_is_said_about_it() -> None:
    assert act("make", description="first try").call == act("make", description="once more, carefully").call
    assert act("make  a").call == act("make a").call != act("make b").call


def test_a_result_is_the_same_whatever_the_clock_says() -> None:
    one = act(output="2026-11-20T09:15:17Z server is up, pid 4711, took 3.2s").result
    assert one == act(output="2026-11-20T09:15:21Z server is up, pid 4800, took 1.1s").result != ""
    assert act(output="download: 10 % of the whole").result != act(output="download: 20 % of the whole").result
    assert act(output="ok").result.startswith("~"), "it tells nothing"
    assert act(output=" ").result == ""


def test_an_error_is_the_same_whatever_it_names_and_a_traceback_is_told_by_its_end() -> None:
    one, two = (act(output=f"ls: cannot access '{path}': No such file or directory").error for path in ("/a/b", "/c"))
    assert one == two == "ls: cannot access <quoted>: no such file or directory"
    frames = "".join(f'  File "/app/m{n}.py", line {n}, in f{n}\n    call({n})\n' for n in range(60))
    assert act(output=f"Traceback (most recent call last):\n{frames}KeyError: 'name'").error.endswith(
        "keyerror: <quoted>"
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50)
@given(st.text(max_size=30), json_values, st.text(max_size=2_000), st.none() | st.booleans())
def test_any_call_makes_an_action(tool: str, given_input: object, output: str, ok: bool | None) -> None:
    done = senses.action(tool, given_input, output, ok=ok)
    assert len(done.error) <= 240
    assert len(done.target) <= 140


# What is kept of a secret: nothing.


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]  # type: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in texts(each)]  # type: ignore[reportUnknownVariableType]
    return [value] if isinstance(value, str) else []


def kept(action: senses.Action) -> str:
    return "\n".join(texts(action.as_dict())).lower()


SECRETS = st.sampled_from(
    [
        *(TOKEN, "AKIA" + "IOSFODNN7QWERTYU", "sk_live_" + "aB3dE5fG7h" * 3, "glpat-" + "aB3dE5fG7hJ9kL1mN2pQ"),
        *("Kw83mdPq", "Tr0ub4dor&3", "swordfish9", "9f8e7d6c" * 5),
    ]
)
PLACES = [
    *("DB_PASSWORD={} make", "export API_TOKEN='{}'", "psql --password {} -h db", "mysql -uroot -p{} shop"),
    *("curl -u ada:{} https://x.org", 'curl -H "Authorization: Bearer {}" x.org', "git clone https://u:{}@x.org/a"),
    *('curl -d \'{{"password": "{}"}}\' x', "sshpass -p '{}' ssh h", "cat > .env <<E\nTOKEN={}\nE"),
    *("docker login -u a \\\n -p {} x.org", "$env:TOKEN = '{}'", "TOKEN={0} ./run; ./again {0}"),
]
ORDINARY = ["", "true && \\\n", 'echo "a"b; ', "x='a b'; ", "cd /srv && ", "ls -la | "]


@settings(max_examples=60)
@given(
    before=st.sampled_from(ORDINARY),
    place=st.sampled_from(PLACES),
    secret=SECRETS,
    after=st.text(alphabet="abc xyz\n;|&-/.,@0123456789", max_size=60),
    fails=st.booleans(),
    tool=st.sampled_from(("Bash", "Read", "Edit", "Grep", "mcp__x__y")),
)
def test_no_field_of_an_action_holds_a_secret_of_its_input(
    before: str, place: str, secret: str, after: str, fails: bool, tool: str
) -> None:
    command = f"{before}{place.format(secret)} {after}"
    given_input = {"file_path" if tool in {"Read", "Edit"} else "command": command}
    output = f"Exit code 1\n{before}\n+ {command}\nError: no" if fails else ""
    assert secret.lower() not in kept(senses.action(tool, given_input, output, ok=not fails))


def test_what_an_output_shows_to_be_a_secret_is_taken_out_of_its_command() -> None:
    command = "rm -rf Kw83mdPq."
    failed = act(command, f"Exit code 1\nthe password is Kw83mdPq\n+ {command}\nError: no", False)
    assert "kw83mdpq" not in kept(failed)


def test_what_a_command_gave_away_is_taken_out_of_its_output_where_nothing_shows_it() -> None:
    error = act("psql --password Kw83mdPq -h db", "fatal: role Kw83mdPq of db does not exist").error
    assert "kw83mdpq" not in error
    assert "role [redacted:password] of db" in error


def test_a_plain_word_that_is_a_password_is_no_secret_elsewhere() -> None:
    done = act("POSTGRES_PASSWORD=postgres psql -U postgres -d shop -c 'select 1'", "psql: error: no such database")
    assert done.family == "query psql"
    assert "postgres" in done.selectors


@pytest.mark.parametrize(
    "command",
    [
        f"T='{TOKEN[:12]}''{TOKEN[12:]}' gh pr list",
        f"T={TOKEN[:12]}'{TOKEN[12:]}' gh pr list",
        f"T=\"{TOKEN[:12]}\"'{TOKEN[12:]}' gh pr list",
        f"'{TOKEN[:4]}''{TOKEN[4:]}'",
        f'curl -H "Authorization: Bearer {TOKEN[:9]}""{TOKEN[9:]}" x.org',
        f"gh auth login \\\n --with-token \\\r\n <<< {TOKEN}",
        f"export \\\nT={TOKEN[:12]}\\\n{TOKEN[12:]}",
    ],
)
def test_a_secret_in_parts_is_seen_as_the_shell_sees_it(command: str) -> None:
    left = kept(act(command, f"+ {command}\nfailed"))
    assert TOKEN[12:].lower() not in left
    assert TOKEN[4:12].lower() not in left


@pytest.mark.parametrize(
    "other", ["sk_live_" + "aB3dE5fG7h" * 3, "glpat-" + "aB3dE5fG7hJ9kL1mN2pQ", "aB3dE5fG7hJ9kL1mN2pQ4r"]
)
@pytest.mark.parametrize(
    "command",
    [
        "curl -H 'Authorization: Bearer {}' https://api.example.org/me",
        "docker run -e API_TOKEN={} api pytest",
        "curl -u ada:{} https://api.example.org/me",
        "MY_SECRET_TOKEN={} ./deploy.sh prod",
        "./deploy.sh --token {} prod",
        "git clone https://u:{}@example.org/a.git",
    ],
)
def test_the_same_command_with_another_secret_is_the_same(command: str, other: str) -> None:
    first, second = (act(command.format(secret), "error: refused") for secret in (TOKEN, other))
    assert (first.family, first.selectors, first.label) == (second.family, second.selectors, second.label)


def test_what_stands_in_messages_is_redacted() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"never touch {TOKEN}.txt, the password is Kw83mdPq"}]
    for number in range(4):
        call = {"name": "bash", "arguments": json.dumps({"command": f"deploy --token {TOKEN} --password Kw83mdPq"})}
        asked = {"id": f"c{number}", "type": "function", "function": call}
        messages.append({"role": "assistant", "tool_calls": [asked]})
        refused = f"Error: Kw83mdPq and {TOKEN} refused"
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": refused})
    result = senses.feel_messages(messages)
    left = json.dumps(senses.dump(result.state)) + (result.note.text if result.note else "")
    assert "kw83mdpq" not in left.lower()
    assert TOKEN.lower() not in left.lower()
