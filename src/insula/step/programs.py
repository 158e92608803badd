"""What well-known programs are run for: tests, builds, looks, waits. Data for `command`; the rest is a run."""

TEST, TYPES, LINT, BUILD = "test", "type check", "linter", "build"
INSTALL, PUSH, COMMIT, QUERY, REQUEST, RUN = "install", "push", "commit", "query", "request", "run"
PRIORITY = (TEST, TYPES, LINT, BUILD, INSTALL, PUSH, COMMIT, QUERY, REQUEST, RUN)
"""Of several commands in a line, the goal is the first of these that there is."""
PROVING = frozenset((TEST, TYPES, LINT, BUILD))
"""What shows whether a change works."""

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
SUBCOMMANDS = {
    "go": {"test": TEST, "build": BUILD, "vet": LINT, "install": INSTALL, "get": INSTALL, "mod": INSTALL, "run": RUN},
    "cargo": {
        "test": TEST,
        "nextest": TEST,
        "build": BUILD,
        "check": TYPES,
        "clippy": LINT,
        "fmt": LINT,
        "add": INSTALL,
    }
    | {"install": INSTALL},
    "dotnet": {"test": TEST, "build": BUILD, "restore": INSTALL, "publish": BUILD},
    "swift": {"test": TEST, "build": BUILD},
    "mix": {"test": TEST, "compile": BUILD, "deps.get": INSTALL, "credo": LINT},
    "deno": {"test": TEST, "check": TYPES, "lint": LINT},
    "bun": {"test": TEST, "install": INSTALL, "add": INSTALL, "build": BUILD},
    "zig": {"test": TEST, "build": BUILD},
    "flutter": {"test": TEST, "build": BUILD, "analyze": LINT},
    "dart": {"test": TEST, "analyze": LINT},
    "sbt": {"test": TEST, "compile": BUILD},
    "lein": {"test": TEST},
    "stack": {"test": TEST, "build": BUILD},
    "cabal": {"test": TEST, "build": BUILD},
    "rails": {"test": TEST},
    "pip": {"install": INSTALL},
    "uv": {"pip": INSTALL, "add": INSTALL, "sync": INSTALL, "lock": INSTALL},
    "poetry": {"install": INSTALL, "add": INSTALL, "lock": INSTALL},
    "npm": {"install": INSTALL, "i": INSTALL, "ci": INSTALL, "add": INSTALL, "test": TEST, "t": TEST},
    "pnpm": {"install": INSTALL, "i": INSTALL, "add": INSTALL, "test": TEST},
    "yarn": {"install": INSTALL, "add": INSTALL, "test": TEST},
    "apt": {"install": INSTALL, "update": INSTALL},
    "apt-get": {"install": INSTALL, "update": INSTALL},
    "brew": {"install": INSTALL},
    "gem": {"install": INSTALL},
    "bundle": {"install": INSTALL},
    "composer": {"install": INSTALL, "require": INSTALL},
    "conda": {"install": INSTALL},
    "docker": {"build": BUILD, "push": PUSH},
    "git": {"push": PUSH, "commit": COMMIT},
    "helm": {"install": INSTALL, "upgrade": INSTALL},
}
"""Programs whose first word tells what they are run for."""
SCRIPTS = frozenset("npm pnpm yarn bun make just task mise rake gradle mvn invoke inv nx turbo composer".split())
"""Programs that run what somebody has named: the name tells what for."""
NAMED = (
    ("typecheck", TYPES),
    ("type-check", TYPES),
    ("types", TYPES),
    ("tsc", TYPES),
    ("lint", LINT),
    ("fmt", LINT),
    ("format", LINT),
    ("test", TEST),
    ("spec", TEST),
    ("check", TEST),
    ("verify", TEST),
    ("e2e", TEST),
    ("build", BUILD),
    ("compile", BUILD),
    ("assemble", BUILD),
    ("package", BUILD),
    ("install", INSTALL),
)

COMPILERS = frozenset("cargo go dotnet swift zig mix stack cabal sbt".split())
"""Programs that compile all before they test it."""
ALIASES = {"mvnw": "mvn", "gradlew": "gradle", "pip3": "pip", "nodejs": "node", "py": "python"}
"""Other names of the same program."""
WRAPPERS = frozenset(
    "sudo time nice nohup env command exec npx bunx pnpx uvx pipx stdbuf ionice caffeinate doas do then else "
    "if ! { xvfb-run dotenv && call".split()
)
"""Words before the command that is meant."""
RUNNERS = {
    "poetry": {"run"},
    "uv": {"run"},
    "pipenv": {"run"},
    "hatch": {"run"},
    "pdm": {"run"},
    "rye": {"run"},
    "bundle": {"exec"},
    "pnpm": {"exec", "dlx"},
    "yarn": {"exec", "dlx"},
    "npm": {"exec"},
    "bun": {"x"},
    "mise": {"exec", "x"},
    "conda": {"run"},
    "direnv": {"exec"},
    "dotnet": {"tool"},
}
"""Programs whose first word may say that another program follows."""
RUN_BY_NAME = frozenset(("pnpm", "yarn", "bun"))
"""Programs that run another one where its name follows."""
SETTING_UP = frozenset(
    "cd pushd popd export source . set unset shopt echo printf true : umask ulimit alias nvm conda declare local eval "
    "set-location done fi esac exit return break continue".split()
)
"""Commands that only prepare or announce."""
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

# What asks, and what waits.

WAITS = frozenset("sleep wait watch inotifywait start-sleep timeout /t fswatch entr".split())
POLLS = {
    "gh": {"pr", "run", "workflow", "api"},
    "glab": {"ci", "mr"},
    "kubectl": {"get", "describe", "rollout", "wait", "logs", "top"},
    "docker": {"ps", "inspect", "wait", "logs", "stats"},
    "docker-compose": {"ps", "logs"},
    "podman": {"ps", "inspect", "logs"},
    "systemctl": {"status", "is-active", "is-enabled", "is-failed"},
    "service": {"status"},
    "redis-cli": {"ping"},
    "mysqladmin": {"ping", "status"},
    "fly": {"status", "logs"},
    "flyctl": {"status", "logs"},
    "heroku": {"ps", "logs"},
    "vercel": {"inspect", "logs"},
    "supervisorctl": {"status"},
    "pm2": {"status", "list", "logs"},
}
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
ASKS = {
    "git": {
        "rev-parse",
        "show-ref",
        "ls-remote",
        "ls-files",
        "config",
        "merge-base",
        "cat-file",
        "check-ignore",
        "remote",
    }
    | {
        "status",
        "branch",
        "diff",
        "log",
        "show",
        "tag",
        "describe",
        "symbolic-ref",
        "grep",
        "blame",
        "check-ref-format",
    },
    "npm": {"ls", "list", "view", "outdated", "config", "audit", "why", "bin", "root"},
    "pnpm": {"ls", "list", "why", "outdated"},
    "yarn": {"why", "list", "info"},
    "pip": {"show", "list", "freeze", "check", "index"},
    "brew": {"list", "info"},
    "docker": {"info", "version", "images", "image", "network", "volume"},
    "gh": {"auth"},
    "kubectl": {"version", "config"},
    "apt": {"list", "show"},
    "dpkg": {"-l", "-s", "-L"},
    "cargo": {"tree", "metadata"},
    "go": {"env", "list", "version"},
    "conda": {"list", "info"},
}
SEEKS = frozenset("grep egrep fgrep zgrep rg ag ack find fd jq yq locate ast-grep".split())
SEEKING = {
    "git": {"log", "show", "grep", "ls-files", "ls-tree", "cat-file", "for-each-ref", "rev-list", "reflog"},
    "gh": {"search"},
}
"""What looks for something: where it brings nothing, that is news."""
VERSION = frozenset("--version -version -v -V --help -h version help".split())

# Files.

SHELL_SCRIPTS = (".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd")
NOT_CODE = (".md", ".markdown", ".txt", ".rst", ".adoc", ".json", ".lock", ".yml", ".yaml", ".toml", *SHELL_SCRIPTS)
"""What is changed there is none of what tests, builds and linters are for."""
