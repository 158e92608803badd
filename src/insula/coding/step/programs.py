"""What well-known programs are run for: tests, builds, looks, waits. Data for `command`; the rest is a run."""

TEST, TYPES, LINT, BUILD = "test", "type check", "linter", "build"
INSTALL, PUSH, COMMIT, QUERY, REQUEST, RUN = "install", "push", "commit", "query", "request", "run"
PRIORITY = (TEST, TYPES, LINT, BUILD, INSTALL, PUSH, COMMIT, QUERY, REQUEST, RUN)
"""Of several commands in a line, the goal is the first of these that there is."""
PROVING = frozenset((TEST, TYPES, LINT, BUILD))
"""What shows whether a change works."""


def _read_table(rows: str) -> "dict[str, list[str]]":
    """A table that is written as rows: a program, and those of its words that are meant."""
    return {first: rest for first, *rest in map(str.split, rows.split(","))}


PROGRAMS = {
    **dict.fromkeys(
        "pytest py.test tox nox unittest jest vitest mocha ava karma rspec phpunit pest ctest gotestsum nextest "
        "cypress playwright behave cucumber bats busted googletest minitest invoke-pester pester".split(),
        TEST,
    ),
    **dict.fromkeys("mypy pyright basedpyright tsc vue-tsc pyre flow pytype ty".split(), TYPES),
    **dict.fromkeys(
        "eslint ruff flake8 pylint black isort prettier golangci-lint rubocop shellcheck stylelint biome oxlint gofmt "
        "clippy pre-commit ktlint swiftlint bandit hadolint markdownlint yamllint lint-imports staticcheck vet".split(),
        LINT,
    ),
    **dict.fromkeys(
        "make cmake ninja meson gcc g++ cc c++ clang clang++ javac rustc kotlinc swiftc vite webpack rollup esbuild "
        "next tsup turbo nx bazel buck2 msbuild xcodebuild terraform tofu pulumi".split(),
        BUILD,
    ),
    **dict.fromkeys("psql mysql sqlite3 mongosh redis-cli duckdb sqlcmd clickhouse-client bq".split(), QUERY),
    **dict.fromkeys("curl wget http httpie xh grpcurl invoke-webrequest invoke-restmethod iwr irm".split(), REQUEST),
}
SUBCOMMANDS: "dict[str, dict[str, str]]" = {}
"""Programs whose first word tells what they are run for: program -> word -> what for."""
for _kind, _rows in {
    TEST: (
        "go test, cargo test nextest, dotnet test, swift test, mix test, deno test, bun test, zig test, "
        "flutter test, dart test, sbt test, lein test, stack test, cabal test, rails test, npm test t, pnpm test, "
        "yarn test, vitest run, playwright test, cypress run, terraform test, tofu test, manage.py test, "
        "artisan test"
    ),
    BUILD: (
        "go build, cargo build, dotnet build publish, swift build, mix compile, bun build, zig build, "
        "flutter build, sbt compile, stack build, cabal build, docker build, helm template, next build, "
        "vite build, astro build, terraform plan, tofu plan, pulumi preview, nix build"
    ),
    LINT: (
        "go vet, cargo clippy fmt, mix credo, deno lint fmt, flutter analyze, dart analyze, helm lint, next lint, "
        "terraform validate fmt, tofu validate fmt, biome check lint ci format, ruff check format, "
        "golangci-lint run, manage.py check, prisma validate"
    ),
    INSTALL: (
        "go install get mod, cargo add install, dotnet restore, mix deps.get, bun install add, pip install, "
        "uv pip add sync lock, poetry install add lock, npm install i ci add, pnpm install i add, "
        "yarn install add, apt install update, apt-get install update, brew install, gem install, bundle install, "
        "composer install require, conda install, helm install upgrade"
    ),
    RUN: "go run, vitest bench init",
    TYPES: "cargo check, deno check, astro check",
    PUSH: "docker push, git push",
    COMMIT: "git commit",
}.items():
    for _program, *_words in map(str.split, _rows.split(",")):
        SUBCOMMANDS.setdefault(_program, {}).update(dict.fromkeys(_words, _kind))
ONLY_BY_SUBCOMMAND = frozenset(
    "next vite astro terraform tofu pulumi biome ruff playwright cypress prisma manage.py".split()
)
"""Programs that show something only with one of those words: `next dev` and `terraform apply` do not."""
SCRIPTS = frozenset(
    "npm pnpm yarn bun make just task mise rake gradle mvn invoke inv nx turbo composer hatch pdm rye".split()
)
"""Programs that run what somebody has named: the name tells what for."""
TARGETS = frozenset("make just task rake gradle mvn invoke inv".split())
"""... of which one line may name several."""
NAMING = SCRIPTS | {"lerna"}
"""Programs whose scripts are part of what is run."""
VALUING = frozenset(("git", "docker", "gh", "kubectl", "helm", "cargo", "go"))
"""Programs whose options take the next word with them even before the subcommand."""
LINTERS = frozenset(
    "eslint ruff biome oxlint rubocop stylelint prettier black isort golangci-lint cargo markdownlint clippy gofmt "
    "goimports swiftlint ktlint shfmt sqlfluff".split()
)
FORMATTERS = frozenset("prettier black isort gofmt goimports gofumpt shfmt rustfmt swift-format clang-format".split())
"""What puts files in shape, where it is not asked to check them."""
INTERPRETERS = frozenset("python node ruby deno bash sh zsh tsx ts-node php perl Rscript pwsh powershell bun".split())
SCRIPT_FILES = (".sh", ".bash", ".py", ".js", ".ts", ".rb", ".ps1", ".mjs")
NAMED_FILES = {
    TEST: "test tests e2e spec".split(),
    LINT: "lint check checks verify".split(),
    BUILD: "build compile".split(),
}
"""What a script in a file is for, and the words of its name that say so."""
NAMED = {
    TYPES: "typecheck type-check types tsc".split(),
    LINT: "lint fmt format".split(),
    TEST: "test spec check verify e2e".split(),
    BUILD: "build compile assemble package".split(),
    INSTALL: ["install"],
}
"""What a script that a project has named is for, and what its name holds then; the first that fits."""

ALIASES = {"mvnw": "mvn", "gradlew": "gradle", "pip3": "pip", "nodejs": "node", "py": "python"}
"""Other names of the same program."""
WRAPPERS = frozenset(
    "sudo time nice nohup env command exec npx bunx pnpx uvx pipx stdbuf ionice caffeinate doas do then else "
    "if ! { xvfb-run dotenv && call op doppler rtk".split()
)
"""Words before the command that is meant."""
MANAGERS = frozenset("npm pnpm yarn bun".split())
"""Package managers: they run a script that the project names, another program, or work of their own."""
PLACING = frozenset(
    "--filter -F --workspace -w --prefix -C --dir --cwd --package --directory --project --scope -p --projects".split()
)
"""Options that say in which part of a project to work."""
MANAGED = PLACING - frozenset("-p --package --project --projects --scope --directory".split())
"""... of a package manager."""
PLACED = _read_table(
    "turbo --cwd --filter --scope -F, lerna --scope, cargo --manifest-path --package -C -p, go -C, "
    "make --directory -C, just --working-directory -d, task --dir -d, mvn --projects -pl, swift --package-path, "
    "git -C, terraform -chdir, tofu -chdir, nx --project --projects -p, tsc --project -p"
)
"""Programs and those of their options that say where they work."""
EXECUTING = _read_table("npm exec x, pnpm dlx exec, yarn dlx exec, bun x")
"""Words of a package manager behind which another program stands."""
RUNS = frozenset("run run-script workspaces foreach".split())
"""Words of a package manager behind which the script stands."""
PASSED_OVER = frozenset(
    "-r --recursive -w -W --workspace-root --workspaces -ws --silent -s workspaces foreach -A".split()
)
"""Words of a package manager that mean all parts, or change nothing."""
RUNNERS = _read_table(
    "poetry run, uv run, pipenv run, hatch run, pdm run, rye run, bundle exec, mise exec x, conda run, "
    "direnv exec, dotnet tool, nix develop, devbox run"
)
"""Programs whose first word may say that another program follows."""
BEHIND_DASHES = frozenset(("mise", "nix", "conda"))
"""... of which it follows behind `--`."""
DOCKER_VALUED = frozenset(
    "-f --file -p --project-name --profile --env-file -e --env -u --user -w --workdir -v --name".split()
)
WSL_VALUED = frozenset("-d --distribution -u --user --cd".split())
RUN_BY_NAME = frozenset(("pnpm", "yarn", "bun"))
"""Programs that run another one where its name follows."""
SETTING_UP = frozenset(
    "cd pushd popd export source . set unset shopt echo printf true : umask ulimit alias nvm conda declare local eval "
    "set-location done fi esac exit return break continue".split()
)
"""Commands that only prepare or announce."""
CLEARING = frozenset("rm mkdir rmdir touch chmod cp mv kill pkill".split())
"""What makes ready or clears up around what a line is run for."""
DELETING = frozenset("rm rmdir del rd remove-item unlink trash".split())
FILTERS = frozenset(
    "tail head grep egrep rg sed awk cut sort uniq tee wc tr less more cat jq column fold ts xargs".split()
)

VALUED = frozenset(
    "-k -t -m -n -p -c -o -w --tb --maxfail --config --cov --timeout -timeout --reporter --project -count --workers "
    "--max-workers -j --jobs --color --log-level -W -X -H --header -d --data -u --user --retry --max-time -C --rootdir "
    "--package --manifest-path --filter --grep --testNamePattern -run --testPathPattern --request --output".split()
)
"""Options that take the next word with them."""
NARROWING = frozenset(
    "-k -t -run --filter --grep --testNamePattern --testPathPattern -p --package --project -g -R".split()
)
"""Of these the value tells which tests."""

KNOWN = frozenset((*PROGRAMS, *SUBCOMMANDS, *SCRIPTS, *WRAPPERS, *RUNNERS, *INTERPRETERS))
"""Programs of which something is known."""

# What it does to work that others rely on.

ADDING = _read_table(
    "npm add i install, pnpm add i install, yarn add, uv add, poetry add, pdm add, dotnet add, bundle add, "
    "deno add, pip install, pipenv install, gem install, brew install, apt install, apt-get install, "
    "conda install, bun add install, cargo add install, go get, composer require, flutter pub, mix deps.add, "
    "npx expo"
)
"""Commands that add what they name to a project or a machine."""
ADDING_VALUED = frozenset("-r --requirement -c --constraint -e --editable -C --filter -F --prefix --dir -w".split())
"""Their options that take the next word with them."""
ACTS = {
    "migrate": _read_table(
        "prisma migrate, flyway migrate, sqlx migrate, manage.py migrate, artisan migrate, php migrate, "
        "alembic downgrade upgrade, mix ecto.migrate ecto.reset ecto.rollback, "
        "rails db:migrate db:reset db:rollback, rake db:migrate db:reset, knex migrate:latest migrate:rollback, "
        "sequelize db:migrate, goose up, diesel migration, drizzle-kit migrate push"
    ),
    "publish": _read_table(
        "npm publish, pnpm publish, yarn publish, cargo publish, poetry publish, uv publish, twine upload, "
        "gem push, mix hex.publish"
    ),
    "deploy": _read_table(
        "terraform apply destroy, tofu apply destroy, netlify deploy, fly deploy, flyctl deploy, firebase deploy, "
        "serverless deploy, cdk deploy, cap deploy, eb deploy, kubectl apply delete rollout, pulumi destroy up, "
        "helm install upgrade, vercel --prod deploy, wrangler deploy publish"
    ),
}
"""Acts, the programs that do them, and one of the words that they do them with."""
ACTS_OF_FORGES = {
    ("pr", "create"): "pr",
    ("mr", "create"): "pr",
    ("pr", "merge"): "merge",
    ("release", "create"): "publish",
}
"""What the first two words of `gh` and `glab` do."""

# What asks, and what waits.

WAITS = frozenset("sleep wait watch inotifywait start-sleep timeout /t fswatch entr".split())
POLLS = _read_table(
    "glab ci mr, kubectl describe get logs rollout top wait, "
    "docker inspect logs ps stats wait, docker-compose logs ps, podman inspect logs ps, "
    "systemctl is-active is-enabled is-failed status, service status, redis-cli ping, mysqladmin ping status, "
    "fly logs status, flyctl logs status, heroku logs ps, vercel inspect logs, supervisorctl status, "
    "pm2 list logs status"
)
POLLING = frozenset(
    "pg_isready squeue ps pgrep jobs journalctl netstat ss lsof nc ncat telnet nvidia-smi top tasklist get-process "
    "get-job wait-for-it.sh wait-for-it wait-on".split()
)
GH_POLLS = frozenset("checks view list watch status".split())
WAITING = "wait"
"""Begins the name of a program or a subcommand that waits: `wait-for-it`, `adb wait-for-device`, `aws … wait`."""
HEALTHY_WORDS = ("health", "ready", "status", "alive", "ping", "livez")

PROBES = frozenset(
    "which type hash where test [ [[ ls dir stat file readlink realpath find fd locate grep egrep fgrep rg ag diff cmp "
    "comm command id getent whoami env printenv nslookup dig ping host uname tree du df exists test-path get-command "
    "get-childitem get-item".split()
)
ASKS = _read_table(
    ""
    "git blame branch cat-file check-ignore check-ref-format config describe diff grep log "
    "ls-files ls-remote merge-base remote rev-parse show show-ref status symbolic-ref tag, "
    "npm audit bin config info list ls outdated root view why, pnpm info list ls outdated view why, "
    "yarn info list why, pip check freeze index list show, brew info list, "
    "docker image images info network version volume, gh auth, "
    "kubectl config version, apt list show, dpkg -L -l -s, cargo metadata tree, go env list version, "
    "conda info list"
)
SEARCHING = frozenset("grep egrep fgrep zgrep rg ag ack find fd jq yq locate ast-grep".split())
VERSION = frozenset("--version -version -v -V --help -h version help".split())

# Files.

SHELL_SCRIPTS = (".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd")
CODE_FILES = (
    *(".py", ".pyi", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro"),
    *(".rs", ".go", ".java", ".kt", ".kts", ".scala", ".groovy", ".clj", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"),
    *(".cs", ".fs", ".vb", ".swift", ".m", ".mm", ".rb", ".php", ".pl", ".lua", ".dart", ".ex", ".exs", ".erl"),
    *(".hs", ".ml", ".elm", ".zig", ".nim", ".jl", ".r", ".sol", ".proto", ".tf", ".hcl", ".nix", ".cu", ".psm1"),
)
"""What a programming language is written in."""
SETTINGS_FILES = (
    *(".json", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".xml", ".gradle", ".mod", ".sum", ".sql", ".graphql"),
    *(".css", ".scss", ".less", ".html", ".hbs", ".j2", ".cmake", ".mk", ".properties", *SHELL_SCRIPTS),
)
NO_CODE_FOLDERS = frozenset(
    "docs doc documentation tmp temp scratch scratchpad node_modules dist build target out coverage vendor third_party "
    "__pycache__ venv env site-packages generated __generated__ gen fixtures testdata __snapshots__ snapshots".split()
)
"""Documents, scratch, what is generated, and what others wrote."""
GENERATED_FILES = (
    *(".min.", ".generated.", "_generated.", ".gen.", "_pb2.", ".pb.", ".g.dart", ".snap", "-lock.", ".lock"),
    *(".d.ts", ".map", ".log"),
)
SCRATCH = ("/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/dev/")  # noqa: S108
