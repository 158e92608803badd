"""What a command line is run for: its family, whose failures belong together, and whether it asks, waits or risks.

Flags, `| tail`, a prefix such as `cd x &&` or `timeout 60`, and the way that an interpreter is found do not matter:
`cd api && uv run pytest -q tests/a.py 2>&1 | tail` and `pytest tests/a.py -x` are the same test.
"""

from insula.coding.step import programs
from insula.coding.step.programs import NARROWING, PRIORITY, PROVING, REQUEST, RUN, VALUED
from insula.coding.step.shell import Launched, list_launched
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LABEL = 60
"""Characters of a command as it is named to the agent."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@+-=~")


def make_label(words: "tuple[str, ...]") -> str:
    """Words as they may be told: plain ones only, at most `LABEL` characters, cut between them."""
    told = ""
    for word in words:
        if not word or len(word) > LABEL or not _PLAIN.issuperset(word):
            continue
        if len(told) + len(word) >= LABEL:
            break
        told += f" {word}" if told else word
    return told


def name_check(family: str, selectors: "tuple[str, ...]", workspace: str = "") -> str:
    """A check, which part of it is run and where, as one word."""
    return " ".join((family, *((f"@{workspace}",) if workspace else ()), *selectors))[:160]


def strip_address(url: str) -> str:
    """Host and path of an address: no user, no query."""
    bare = url.split("://", 1)[-1].split("?", 1)[0].split("#", 1)[0]
    return bare.rsplit("@", 1)[-1]


SELECTORS = 6
PATH = 160
"""Characters of a selector that are kept."""

# What a command does to work that others rely on.
COMMITS, PUSHES, FORCES, STASHES, RESETS = "commit", "push", "force-push", "stash", "reset"
DELETES, INSTALLS, MERGES = "delete", "install", "merge"
BYPASSES = "bypass"
"""Goes round a check or a permission that somebody has put there."""


class Command(Value):
    """A command line, understood: the part of it that says what it is run for, and what else it does."""

    kind: str = ""
    """What for: `test`, `linter`, `build`, `push`, …, or `run`."""
    program: str = ""
    subcommand: str = ""
    script: str = ""
    """What it runs that the project has named, or that stands in a file: `test:unit`, `tools/seed.py`."""
    selectors: tuple[str, ...] = ()
    """Which part of it: files, packages, names."""
    workspace: str = ""
    """The folder or the package that it runs in; empty where that is where the line runs, or all of them."""
    label: str = ""
    """The same as the agent may be told it: program, words and paths of the command, and nothing that was quoted."""
    waits: bool = False
    """Whether it waits, or asks how something stands that takes its time."""
    probes: bool = False
    """Whether it only asks: a "no" is an answer."""
    changes: bool = False
    """Whether it writes files itself."""
    proves: bool = False
    """Whether it shows that a change works: a test, a build, a type check, a linter."""
    acts: tuple[str, ...] = ()
    """What it does to work that others rely on: commits, pushes, stashes, …"""
    touches: tuple[str, ...] = ()
    """The branches, remotes and paths that those acts name."""
    also: tuple[str, ...] = ()
    """Other checks of the line, as `named_check` names them, that have gone well if it has: `lint && test`."""
    limited: bool = False
    """Whether it was given a time limit (`timeout 5 …`), by which it may end without having failed."""

    @property
    def family(self) -> str:
        """What is run and for what: `test pytest`; equal for what belongs together, in whatever part of the project."""
        named: str = self.script if self.program in programs.NAMING or self.proves else ""
        return " ".join(part for part in (self.kind, self.program, self.subcommand, named) if part)


def parse_command(line: str) -> Command:
    """What a command line is run for."""
    parts = list_launched(line)
    if not parts:
        return Command()
    runs = [part for part in parts if part.before != "|" or part.words[0] not in programs.FILTERS]
    doing = [part for part in runs if part.words[0] not in programs.SETTING_UP] or runs[-1:] or list(parts[-1:])
    kinds = [get_kind(part.words) for part in doing]
    pauses = [part.words[0] in programs.WAITS for part in doing]
    clears = [part.words[0] in programs.CLEARING for part in doing]
    goal = min(
        range(len(doing)), key=lambda place: (PRIORITY.index(kinds[place]), pauses[place], clears[place], -place)
    )
    main, kind = doing[goal], kinds[goal]
    acts = [act for part in doing if (act := get_act(part.words))] + [BYPASSES] * any(map(_bypasses_check, parts))
    return _parse_part(main, kind).replace(
        waits=kind not in PROVING and (pauses[0] or any(map(_is_wait, doing)) or _is_loop(parts)),
        probes=kind not in PROVING and (all(map(_is_probe, doing)) or _forgives_failure(parts, main)),
        changes=any(map(_changes_files, parts)),
        acts=tuple(dict.fromkeys(acts)),
        touches=tuple(path for part in doing if get_act(part.words) for path in _list_targets(part.words))[:SELECTORS],
        also=_list_passed(parts, doing, main),
        limited=kind not in PROVING and any("timeout" in part.launchers for part in parts),
    )


def _list_passed(parts: "Sequence[Launched]", doing: "list[Launched]", main: Launched) -> tuple[str, ...]:
    """The other checks behind which `&&` stands: what follows them is run only where they went well."""
    before = [part for part, after in zip(parts, parts[1:], strict=False) if after.before == "&&" and part in doing]
    if parts[-1].before == "&&":
        before.append(parts[-1])
    checks = [
        _parse_part(part, kind) for part in before if part is not main and (kind := get_kind(part.words)) in PROVING
    ]
    return tuple(name_check(check.family, check.selectors, check.workspace) for check in checks)[:SELECTORS]


# What is run.


def _parse_part(part: Launched, kind: str) -> Command:
    """The fields of one simple command."""
    words = part.words
    subcommand, scripts = _find_scripts(words)
    workspace, scripts = _split_workspace(words, scripts, part.workspace)
    selected = _list_selectors(words, kind, (subcommand, *scripts))
    if words[0] in {"nx", "gradle"}:
        selected = []
    named = " ".join(scripts)
    shown = [word for word in (words[0], subcommand, *scripts, *selected) if word]
    if not named and words[0] in programs.INTERPRETERS and selected:
        named, selected = selected[0], selected[1:] if kind in PROVING else selected
    where = ("in", workspace) if kind in PROVING and workspace[:1] not in {"", "/"} else ()
    return Command(
        kind=kind,
        proves=kind in PROVING,
        program=words[0],
        subcommand=subcommand,
        script=named,
        selectors=tuple(sorted(word.removeprefix("./") or word for word in selected)),
        workspace=workspace,
        label=make_label((*shown, *where)),
    )


def _split_workspace(
    words: "tuple[str, ...]", scripts: "tuple[str, ...]", workspace: str
) -> "tuple[str, tuple[str, ...]]":
    """The workspace where a script is named with it, and the scripts without it: `:app:test`, `nx test web`."""
    if words[0] == "gradle" and len(scripts) == 1 and scripts[0].count(":"):
        project, _, task = scripts[0].rpartition(":")
        return project.strip(":").replace(":", "/") or workspace, (task,)
    if words[0] == "nx" and not workspace:
        first = get_word(words)
        if first == "run":
            return get_word(words, 1).split(":", 1)[0], scripts
        return ("" if first in {"run-many", "affected"} else get_word(words, 1)), scripts
    return workspace, scripts


def get_kind(words: "tuple[str, ...]") -> str:
    """What a simple command is for: `test`, `linter`, …, or `run`."""
    name, first = words[0], get_word(words)
    if _only_formats(words):
        return RUN
    if name in programs.NAMING | {"deno"} and (scripts := _find_scripts(words)[1]):
        kinds = [_classify_script(script) for script in scripts]
        known = [kind for kind in kinds if kind != RUN]
        if known:
            return min(known, key=PRIORITY.index)
        if name in programs.MANAGERS | {"mise", "nx", "turbo"}:
            return programs.SUBCOMMANDS.get(name, {}).get(first, RUN)
    if name == "docker" and first == "compose":
        return programs.BUILD if "build" in words else RUN
    if first in programs.SUBCOMMANDS.get(name, ()):
        return programs.SUBCOMMANDS[name][first]
    if name in programs.ONLY_BY_SUBCOMMAND:
        return RUN
    if name in {"python", "node", "ruby", "deno", "bash", "sh", "zsh"} and words[1:2] and "." in words[1]:
        return _classify_file(words[1])
    return programs.PROGRAMS.get(name) or (_classify_file(name) if name.endswith(programs.SCRIPT_FILES) else RUN)


def _only_formats(words: "tuple[str, ...]") -> bool:
    """Whether it only puts files in shape, or mends them: that shows nothing."""
    name, rest = words[0], set(words[1:])
    if rest & {"--check", "--list-different", "--diff", "-c", "-l", "-d", "--verify"}:
        return False
    if rest & {"--fix", "--write", "--apply", "-w", "-i", "--unsafe", "--fix-unsafe"} and name in programs.LINTERS:
        return True
    if name in programs.FORMATTERS or (name == "rubocop" and rest & {"-a", "-A"}):
        return True
    if name in {"cargo", "go", "ruff", "dart", "mix", "deno", "terraform", "tofu", "buf", "dotnet", "biome"}:
        return get_word(words) in {"fmt", "format"}
    return name in programs.SCRIPTS and any(_is_mending(script) for script in _find_scripts(words)[1])


def _is_mending(script: str) -> bool:
    parts = set(script.lower().replace("-", ":").replace("_", ":").split(":"))
    return bool(parts & {"fix", "write", "fmt", "format", "prettier"}) and not parts & {"check", "verify"}


def _classify_script(script: str) -> str:
    low = script.lower()
    return next((kind for word, kind in programs.NAMED if word in low), RUN)


def _classify_file(path: str) -> str:
    """What a script in a file is for, where its own name says so: `scripts/run_tests.sh`, `build.ps1`."""
    parts = path.lower().rsplit("/", 1)[-1].split(".")[0].replace("-", "_").split("_")
    return next((kind for word, kind in programs.NAMED_FILES if word in parts), RUN)


def get_word(words: "tuple[str, ...]", skip: int = 0) -> str:
    """The first word that is no option, or a later one."""
    taken = 0
    for place in range(1, len(words)):
        word = words[place]
        if word.startswith("-") or (words[place - 1] in VALUED and words[0] in programs.VALUING):
            continue
        if taken == skip:
            return word
        taken += 1
    return ""


def _find_scripts(words: "tuple[str, ...]") -> "tuple[str, tuple[str, ...]]":
    """The subcommand of a program and the scripts that it runs, where it has any."""
    name, first = words[0], get_word(words)
    if name in programs.TARGETS:
        return "", tuple(word for word in _list_before_dashes(words) if "=" not in word)[:SELECTORS]
    if name == "nx":
        return _read_nx(words, first)
    if name == "turbo":
        scripts = [word for word in _list_before_dashes(words) if word != "run"]
        return ("run" if first == "run" else ""), tuple(scripts[:SELECTORS])
    if not first or not (
        name in programs.SUBCOMMANDS or name in programs.SCRIPTS or name in programs.POLLS or name in programs.ASKS
    ):
        return "", ()
    if (first in {"run", "run-script"} and name in programs.NAMING) or (name, first) == ("deno", "task"):
        return first, (script,) if (script := get_word(words, 1)) else ()
    if name in programs.NAMING and (first not in programs.SUBCOMMANDS.get(name, ()) or _is_script(name, first)):
        return "", (first,)
    return first, ()


def _is_script(manager: str, word: str) -> bool:
    """Whether a word of a package manager runs what the project has named, without `run`."""
    return manager in {"npm", "pnpm", "yarn"} and word in {"test", "t"}


def _list_before_dashes(words: "tuple[str, ...]") -> "list[str]":
    end = words.index("--") if "--" in words else len(words)
    return [
        word
        for place, word in enumerate(words[1:end], 1)
        if not word.startswith("-") and (words[place - 1] not in VALUED or words[0] != "make")
    ]


def _read_nx(words: "tuple[str, ...]", first: str) -> "tuple[str, tuple[str, ...]]":
    """`nx test web`, `nx run web:test`, `nx run-many -t lint test`."""
    if first == "run":
        return first, tuple(get_word(words, 1).split(":")[1:2])
    if first in {"run-many", "affected"}:
        flags = [place for place, word in enumerate(words) if word.partition("=")[0] in {"-t", "--target", "--targets"}]
        if not flags:
            return first, ()
        given = words[flags[0]].partition("=")[2]
        rest = [given] if given else []
        for word in () if given else words[flags[0] + 1 :]:
            if word.startswith("-"):
                break
            rest.append(word)
        return first, tuple(script for word in rest for script in word.split(","))
    return "", (first,) if first else ()


def _list_selectors(words: "tuple[str, ...]", kind: str, named: "tuple[str, ...]") -> "list[str]":
    """Which part of it is run: files, packages, names; in the order in which they stand."""
    names, narrowing = list(named), NARROWING if kind == programs.TEST else frozenset[str]()
    selectors: list[str] = []
    for place in range(1, len(words)):
        word, before = words[place], words[place - 1]
        if word.startswith("-"):
            flag, mark, value = word.partition("=")
            selectors += [value] if mark and flag in narrowing else []
        elif before in VALUED:
            selectors += [word] if before in narrowing else []
        elif word in names:
            names.remove(word)
        else:
            selectors.append(strip_address(word) if kind == REQUEST else word)
    if kind == REQUEST:
        selectors = selectors[:1]
    return list(dict.fromkeys(selector[:PATH] for selector in selectors if selector))[:SELECTORS]


# What only asks, and what waits.


def _is_loop(parts: "Sequence[Launched]") -> bool:
    """Whether the line tries until something is there, or pauses between tries."""
    loops = {part.words[0] for part in parts} & {"while", "until", "for", "foreach"}
    return bool(loops - {"for", "foreach"}) or (bool(loops) and any(part.words[0] in programs.WAITS for part in parts))


def _is_wait(part: Launched) -> bool:
    words = part.words
    name, first = words[0], get_word(words)
    parts = set(name.replace("_", "-").split("-"))
    if (
        name in programs.POLLING
        or parts & set(programs.HEALTHY_WORDS)
        or any(word.split("-")[0] == programs.WAITING for word in (name, first, get_word(words, 1)))
    ):
        return True
    if name == "tail" and any(word.startswith("-") and "f" in word.lower() for word in words[1:3]):
        return True
    if name == "gh":
        return first in {"run", "workflow"} or (first == "pr" and get_word(words, 1) in programs.GH_POLLS)
    if name in {"docker", "podman"} and first == "compose":
        return get_word(words, 1) in {"ps", "logs"}
    if first in programs.POLLS.get(name, ()) or {"--watch", "--wait", "--follow"} & set(words):
        return True
    if name == "aws" and any(word.startswith(("describe-", "get-", "wait", "list-")) for word in words[1:4]):
        return True
    return get_kind(words) == REQUEST and any(
        mark in word.lower() for word in words[1:] for mark in programs.HEALTHY_WORDS
    )


def _is_probe(part: Launched) -> bool:
    words = part.words
    name, first = words[0], get_word(words)
    if part.muted or name in programs.SETTING_UP:
        return True
    if name == "find":
        return not {"-delete", "-exec"} & set(words)
    if name in programs.PROBES or (len(words) == 2 and words[1] in programs.VERSION):
        return True
    if first in programs.ASKS.get(name, ()):
        return get_act(words) == ""
    if name in {"python", "node", "ruby"} and words[1:2] in (("-c",), ("-e",)) and len(words) > 2:
        return len(words[2]) < LABEL and all(map(_only_loads, words[2].replace("\n", ";").split(";")))
    return get_kind(words) == REQUEST and ("-I" in words or "--head" in words)


def _only_loads(statement: str) -> bool:
    """Whether a statement shows that a module is there, or its version, and does nothing else."""
    return (
        not statement.strip()
        or statement.strip().startswith(("import ", "from ", "require("))
        or "version" in statement
    )


def _forgives_failure(parts: "Sequence[Launched]", main: Launched) -> bool:
    """Whether the line itself says what to do when it, or its main command, does not go well: `… || true`."""
    behind = parts[parts.index(main) + 1 :]
    alternative = next((part for part in behind if part.before not in {"&&", "|"}), parts[-1])
    return any(part.before == "||" and part.words[0] in _FORGIVING for part in (alternative, parts[-1]))


_FORGIVING = frozenset(("true", ":", "echo", "printf", "exit"))


# What it does to the work.


_ASIDE = ("/tmp", "/dev", "&")  # noqa: S108
"""Where an output goes that is no file of the project."""


def _changes_files(part: Launched) -> bool:
    words = part.words
    if any(not path.startswith(_ASIDE) and not path.endswith((".log", ".txt")) for path in part.writes):
        return True
    if words[0] in {"sed", "perl", "gsed"}:
        return any(word.startswith(("-i", "-pi")) for word in words[1:])
    if words[0] in {"patch", "ed", "install-module"} or words[:2] == ("git", "apply"):
        return True
    return bool({"--fix", "--write", "-w", "--in-place"} & set(words[1:])) and words[0] != "curl"


def _bypasses_check(part: Launched) -> bool:
    words = part.words
    if "HUSKY=0" in part.launchers or any(word.startswith("--dangerously") and " " not in word for word in words):
        return True
    if words[0] != "git":
        return False
    return any(word.startswith("core.hooksPath=") for word in words[1:4]) or (
        bool({"commit", "push", "merge"} & set(words)) and "--no-verify" in words
    )


def get_act(words: "tuple[str, ...]") -> str:
    """What a simple command does to work that others rely on; empty for nothing."""
    name, first, rest = words[0], get_word(words), set(words[1:])
    if name == "git":
        return _get_git_act(first, words, rest)
    if name in {"rm", "rmdir", "del", "rd", "remove-item", "trash", "unlink"}:
        deep = any(word.startswith(("-", "/")) and ("r" in word.lower() or word.lower() == "/s") for word in words[1:])
        return DELETES if deep or name != "rm" else DELETES if len(words) > 1 else ""
    if name == "find" and "-delete" in rest:
        return DELETES
    if name == "gh" and first == "pr" and "merge" in rest:
        return MERGES
    return INSTALLS if get_kind(words) == programs.INSTALL else ""


def _get_git_act(first: str, words: "tuple[str, ...]", rest: "set[str]") -> str:
    if first == "commit" or (first in {"merge", "rebase", "cherry-pick"} and "--continue" in rest):
        return COMMITS
    if first == "push":
        forced = rest & {"-f", "--force"} or any(word.startswith("+") for word in words[2:])
        return "" if rest & {"-n", "--dry-run"} else FORCES if forced else PUSHES
    if first == "stash":
        return STASHES if get_word(words, 1) in {"", "push", "save"} else ""
    if first == "reset":
        return RESETS if rest & {"--hard", "--merge", "--keep"} else ""
    return MERGES if first in {"merge", "rebase"} else ""


def _list_targets(words: "tuple[str, ...]") -> "list[str]":
    """The branches, remotes and paths that an act names."""
    after = words[words.index("--") + 1 :] if "--" in words else words[1:]
    skip = {"stash", "reset", "push", "HEAD", "git"}
    return [word for word in after if not word.startswith("-") and word not in skip and word not in {".", "*", "./"}]
