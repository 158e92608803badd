"""A command line is parsed whole: what it runs, of which script, of which part, in which workspace."""

import pytest

from insula.coding.step.command import Command, parse_command

# line -> kind, program, script, workspace, selectors
PARTS: dict[str, tuple[str, str, str, str, tuple[str, ...]]] = {
    "pnpm --filter web test": ("test", "pnpm", "test", "web", ()),
    "pnpm --filter=@acme/api... run test:unit": ("test", "pnpm", "test:unit", "@acme/api", ()),
    "pnpm -F ./apps/web exec vitest run src/a.test.ts": ("test", "vitest", "", "apps/web", ("src/a.test.ts",)),
    "pnpm --filter web add lodash": ("install", "pnpm", "", "web", ("lodash",)),
    "pnpm -r test": ("test", "pnpm", "test", "", ()),
    "pnpm -w lint": ("linter", "pnpm", "lint", "", ()),
    "npm -w packages/core test": ("test", "npm", "test", "packages/core", ()),
    "npm run test --workspace=core -- a.test.js": ("test", "npm", "test", "core", ("a.test.js",)),
    "npm --prefix web run build": ("build", "npm", "build", "web", ()),
    "yarn workspace api test": ("test", "yarn", "test", "api", ()),
    "yarn --cwd web lint": ("linter", "yarn", "lint", "web", ()),
    "bun --filter web test": ("test", "bun", "", "web", ()),
    "npx turbo run lint test --filter=web": ("test", "turbo", "lint test", "web", ()),
    "nx test web": ("test", "nx", "test", "web", ()),
    "npx nx run web:build": ("build", "nx", "build", "web", ()),
    "nx run-many -t lint -p a,b": ("linter", "nx", "lint", "a,b", ()),
    "uv run --package core pytest tests/a.py -x": ("test", "pytest", "", "core", ("tests/a.py",)),
    "poetry -C api run mypy .": ("type check", "mypy", "", "api", (".",)),
    "hatch run test:cov": ("test", "hatch", "test:cov", "", ()),
    "tox -e py311": ("test", "tox", "", "", ("py311",)),
    "make -C api lint test": ("test", "make", "lint test", "api", ()),
    "just check": ("test", "just", "check", "", ()),
    "docker compose -f dev.yml run --rm web pytest tests": ("test", "pytest", "", "", ("tests",)),
    "docker compose exec web npm test": ("test", "npm", "test", "", ()),
    "cargo +nightly test -p core": ("test", "cargo", "", "core", ()),
    "cargo test --manifest-path crates/x/Cargo.toml": ("test", "cargo", "", "crates/x", ()),
    "go -C tools test ./...": ("test", "go", "", "tools", ("...",)),
    "./gradlew :app:test": ("test", "gradle", "test", "app", ()),
    "mvn -pl core -am test": ("test", "mvn", "test", "core", ()),
    "cd apps/web && pnpm test": ("test", "pnpm", "test", "apps/web", ()),
    "(cd api; cd sub && pytest -q) 2>&1 | tail -3": ("test", "pytest", "", "api/sub", ()),
    'bash -lc "cd web && npm test"': ("test", "npm", "test", "web", ()),
    'pwsh -NoProfile -Command "npm test"': ("test", "npm", "test", "", ()),
    "pwsh -File scripts\\run_tests.ps1 -Fast": ("test", "run_tests.ps1", "", "", ()),
    'wsl -d Ubuntu -- bash -lc "go test ./pkg/..."': ("test", "go", "", "", ("pkg/...",)),
    "cmd /c npm.cmd run lint": ("linter", "npm", "lint", "", ()),
    "C:\\tools\\venv\\Scripts\\python.exe -m pytest tests\\a.py": ("test", "pytest", "", "", ("tests/a.py",)),
    '"C:\\Program Files\\nodejs\\npm.cmd" test': ("test", "npm", "test", "", ()),
    "python scripts/run_tests.py": ("test", "python", "scripts/run_tests.py", "", ()),
    f"python -c '{'x' * 400}' && npm run e2e": ("test", "npm", "e2e", "", ()),
    'echo "pytest"': ("run", "echo", "", "", ("pytest",)),
    "": ("", "", "", "", ()),
    '"" x': ("run", "", "", "", ("x",)),
}


@pytest.mark.parametrize("line", PARTS)
def test_a_line_is_known_by_its_parts(line: str) -> None:
    found = parse_command(line)
    assert (found.kind, found.program, found.script, found.workspace, found.selectors) == PARTS[line]


@pytest.mark.parametrize(
    "line",
    [
        *("prettier --write .", "eslint --fix src", "npm run lint:fix", "cargo fmt", "ruff format .", "npm run format"),
        *("next dev", "terraform apply", "npx playwright install", "pnpm --filter web add x", "ssh host pytest"),
        *(
            "vite",
            "make -n",
            "npm run dev",
            "docker compose ps",
            "git log --grep test",
            "cat tests/a.py",
            "vitest init",
        ),
    ],
)
def test_what_puts_in_shape_serves_or_installs_proves_nothing(line: str) -> None:
    assert not parse_command(line).proves or line == "make -n"


@pytest.mark.parametrize(
    "line",
    ["prettier --check .", "npm run format:check", "terraform plan", "next build", "ruff check .", "cargo fmt --check"],
)
def test_what_checks_proves_something(line: str) -> None:
    assert parse_command(line).proves


def test_all_checks_of_a_line_are_known() -> None:
    found = parse_command("cd web && npm run lint && npm test && git commit -m x")
    assert (found.kind, found.acts, found.also) == ("test", ("commit",), ("linter npm run lint @web",))


def test_a_variable_that_switches_off_a_hook_goes_round_it() -> None:
    assert "bypass" in parse_command("HUSKY=0 git commit -m x").acts
    assert parse_command("git commit -m 'HUSKY=0 is bad'").acts == ("commit",)


def test_an_unparsed_line_is_no_command() -> None:
    assert parse_command("# only a comment") == Command()
