"""What a command line is run for: its family, whose failures belong together, and whether it asks, waits or risks.

Flags, `| tail`, a prefix such as `cd x &&` or `timeout 60`, and the way that an interpreter is found do not matter:
`cd api && uv run pytest -q tests/a.py 2>&1 | tail` and `pytest tests/a.py -x` are the same test.
"""

import re
from functools import lru_cache

from insula.coding.step import programs
from insula.coding.step.programs import NARROWING, PRIORITY, PROVING, REQUEST, RUN, VALUED
from insula.coding.step.shell import SimpleCommand, list_commands, name_program
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
    parts: tuple[SimpleCommand, ...] = ()
    """All that the line runs, in its order."""

    @property
    def family(self) -> str:
        """What is run and for what: `test pytest`; equal for what belongs together, in whatever part of the project."""
        named: str = self.script if self.program in programs.NAMING or self.proves else ""
        return " ".join(part for part in (self.kind, self.program, self.subcommand, named) if part)


def parse_command(line: str) -> Command:
    """What a command line is run for."""
    parts = list_commands(line)
    if not parts:
        return Command()
    runs = [part for part in parts if part.before != "|" or part.program not in programs.FILTERS]
    doing = [part for part in runs if part.program not in programs.SETTING_UP] or runs[-1:] or list(parts[-1:])
    kinds = [get_kind(part.words) for part in doing]
    pauses = [part.program in programs.WAITS for part in doing]
    clears = [part.program in programs.CLEARING for part in doing]
    goal = min(
        range(len(doing)), key=lambda place: (PRIORITY.index(kinds[place]), pauses[place], clears[place], -place)
    )
    main, kind = doing[goal], kinds[goal]
    done = [(part, list_acts(part.words)) for part in doing]
    acts = [act for _, each in done for act in each] + [BYPASSES] * any(map(_find_bypass, parts))
    touched = [path for part, each in done if each and part.program == "git" for path in _list_targets(part)]
    return _parse_part(main, kind).replace(
        waits=kind not in PROVING and (pauses[0] or any(map(_is_wait, doing)) or _is_loop(parts) or _is_log(doing)),
        probes=kind not in PROVING and (all(map(_is_probe, doing)) or _forgives_failure(parts, main)),
        changes=any(map(_changes_files, parts)),
        acts=tuple(dict.fromkeys(acts)),
        touches=tuple(touched[:SELECTORS]),
        also=_list_passed(parts, doing, main),
        limited=kind not in PROVING and any("timeout" in part.launchers for part in parts),
        parts=parts,
    )


def _list_passed(
    parts: "Sequence[SimpleCommand]", doing: "list[SimpleCommand]", main: SimpleCommand
) -> tuple[str, ...]:
    """The other checks behind which `&&` stands: what follows them is run only where they went well."""
    before = [part for part, after in zip(parts, parts[1:], strict=False) if after.before == "&&" and part in doing]
    if parts[-1].before == "&&":
        before.append(parts[-1])
    checks = [
        _parse_part(part, kind) for part in before if part is not main and (kind := get_kind(part.words)) in PROVING
    ]
    return tuple(name_check(check.family, check.selectors, check.workspace) for check in checks)[:SELECTORS]


# What is run.


def _parse_part(part: SimpleCommand, kind: str) -> Command:
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


@lru_cache(maxsize=256)
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
    return next((kind for kind, words in programs.NAMED.items() if any(word in low for word in words)), RUN)


def _classify_file(path: str) -> str:
    """What a script in a file is for, where its own name says so: `scripts/run_tests.sh`, `build.ps1`."""
    parts = set(path.lower().rsplit("/", 1)[-1].split(".")[0].replace("-", "_").split("_"))
    return next((kind for kind, words in programs.NAMED_FILES.items() if not parts.isdisjoint(words)), RUN)


def get_word(words: "tuple[str, ...]", skip: int = 0) -> str:
    """The first word that is no option, or a later one."""
    valued = VALUED if words[0] in programs.VALUING else ()
    before = words[0]
    for word in words[1:]:
        if word[:1] != "-" and before not in valued:
            if not skip:
                return word
            skip -= 1
        before = word
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
    is_script = name in {"npm", "pnpm", "yarn"} and first in {"test", "t"}  # as with `run` before it
    if name in programs.NAMING and (is_script or first not in programs.SUBCOMMANDS.get(name, ())):
        return "", (first,)
    return first, ()


def _list_before_dashes(words: "tuple[str, ...]") -> "list[str]":
    pairs = zip(words, words[1 : words.index("--") if "--" in words else None], strict=False)
    valued = VALUED if words[0] == "make" else ()
    return [word for before, word in pairs if not word.startswith("-") and before not in valued]


def _read_nx(words: "tuple[str, ...]", first: str) -> "tuple[str, tuple[str, ...]]":
    """`nx test web`, `nx run web:test`, `nx run-many -t lint test`."""
    if first == "run":
        return first, tuple(get_word(words, 1).split(":")[1:2])
    if first in {"run-many", "affected"}:
        given = re.search(r" (?:-t|--targets?)[ =]((?:[^-\s]\S*\s?)+)", " ".join(words))
        return first, tuple(re.findall(r"[^\s,]+", given[1])) if given else ()
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


def _is_loop(parts: "Sequence[SimpleCommand]") -> bool:
    """Whether the line tries until something is there, or pauses between tries."""
    loops = {part.words[0] for part in parts} & {"while", "until", "for", "foreach"}
    return bool(loops - {"for", "foreach"}) or (bool(loops) and any(part.words[0] in programs.WAITS for part in parts))


def _is_log(doing: "Sequence[SimpleCommand]") -> bool:
    """Whether all that a line does is to look at the end of a log: what writes it is still at work."""
    return len(doing) == 1 and doing[0].program == "tail" and doing[0].words[-1].endswith((".log", ".out"))


def _is_wait(part: SimpleCommand) -> bool:
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


def _is_probe(part: SimpleCommand) -> bool:
    words = part.words
    name, first = words[0], get_word(words)
    if part.muted or name in programs.SETTING_UP:
        return True
    if name == "find":
        return not {"-delete", "-exec"} & set(words)
    if name in programs.PROBES or (len(words) == 2 and words[1] in programs.VERSION):
        return True
    if first in programs.ASKS.get(name, ()):
        return not list_acts(words)
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


def _forgives_failure(parts: "Sequence[SimpleCommand]", main: SimpleCommand) -> bool:
    """Whether the line itself says what to do when it, or its main command, does not go well: `… || true`."""
    behind = parts[parts.index(main) + 1 :]
    alternative = next((part for part in behind if part.before not in {"&&", "|"}), parts[-1])
    return any(part.before == "||" and part.words[0] in _FORGIVING for part in (alternative, parts[-1]))


_FORGIVING = frozenset(("true", ":", "echo", "printf", "exit"))


# What it does to the work.


_ASIDE = ("/tmp", "/dev", "&")  # noqa: S108
"""Where an output goes that is no file of the project."""
_IN_PLACE = frozenset(("--fix", "--write", "-w", "--in-place", "--inplace"))
"""Options by which a program changes the files that it is given."""


def _changes_files(part: SimpleCommand) -> bool:
    if any(not path.startswith(_ASIDE) and not path.endswith((".log", ".txt")) for path in part.outputs):
        return True
    if part.program in {"patch", "ed", "install-module"} or part.words[:2] == ("git", "apply"):
        return True
    return _edits_by_script(part) or (part.program != "curl" and not _IN_PLACE.isdisjoint(part.words))


def _edits_by_script(part: SimpleCommand) -> bool:
    """Whether it is `sed -i` or `perl -pi`; what other programs call `-i` is something else."""
    return part.program in {"sed", "gsed", "perl"} and any(word.startswith(("-i", "-pi")) for word in part.words[1:])


def list_written(part: SimpleCommand) -> "list[str]":
    """The files that a simple command writes, as far as it names them."""
    return [path for path in (*part.outputs, *_list_arguments_written(part)) if not path.startswith(("&", "/dev/"))]


def _list_arguments_written(part: SimpleCommand) -> "list[str]":
    name, words, plain = part.program, part.words, _list_plain(part)
    if _edits_by_script(part):
        return _list_edited(words)
    if name in {"tee", "touch"}:
        return plain
    if name not in {"curl", "grep", "wc"} and not _IN_PLACE.isdisjoint(words):
        return [word for word in plain if "/" in word or "." in word]
    if name == "find" and {"-exec", "-delete"} & set(words):
        return [word for word in plain[:1] if word not in {".", "./"}]
    if name in {"mv", "cp", "install", "rsync", "ln"} and len(plain) > 1:
        return plain if name == "mv" else plain[-1:]
    return plain[1:] if words[:2] == ("git", "mv") else []


def _list_edited(words: "tuple[str, ...]") -> "list[str]":
    """The files that `sed -i` or `perl -pi` changes: what is no option and no script."""
    plain: list[str] = []
    scripts, is_script = 0, False
    for word in words[1:]:
        if is_script or not word.startswith("-"):
            plain += [] if is_script or not word else [word]
            is_script = False
        else:
            is_script = word in {"--expression", "--file"} or (word[:2] != "--" and word.endswith(("e", "f")))
            scripts += is_script or word.startswith(("--expression=", "--file="))
    return plain if scripts else plain[1:]


def list_deleted(part: SimpleCommand) -> "list[str]":
    """The files that a simple command deletes, as far as it names them."""
    plain = _list_plain(part)
    return plain if part.program in programs.DELETING else plain[1:] if part.words[:2] == ("git", "rm") else []


def _list_plain(part: SimpleCommand) -> "list[str]":
    return [word for word in part.words[1:] if not word.startswith("-")]


def adds_package(words: "tuple[str, ...]") -> bool:
    """Whether a simple command adds a package that it names to a project or a machine."""
    sub = get_word(words)
    if sub not in programs.ADDING.get(words[0], ()):
        return False
    named = words[words.index(sub) + 1 :]
    return any(
        not word.startswith(("-", "./", "../")) and word != "." and before not in programs.ADDING_VALUED
        for before, word in zip((sub, *named), named, strict=False)
    )


def is_read_only(part: SimpleCommand) -> bool:
    """Whether a simple command only looks at something."""
    if part.program == "git":
        return get_word(part.words) in programs.ASKS["git"]
    return part.program in programs.PROBES | programs.SEARCHING | programs.FILTERS | {"cd", "echo", "printf"}


_IDLE = frozenset(("--dry-run", "--dryrun", "--help", "--version", "--abort"))
"""Options by which a program does not do what it is called for."""


def only_looks(part: SimpleCommand) -> bool:
    """Whether a simple command does nothing to the project: it looks, asks, or says what it would do."""
    words = part.words
    if not _IDLE.isdisjoint(words) or (len(words) == 2 and words[1] in programs.VERSION):
        return True
    if list_written(part) or list_deleted(part) or list_acts(words):
        return False
    asks = get_word(words) in (*programs.ASKS.get(words[0], ()), *programs.POLLS.get(words[0], ()))
    return asks or is_read_only(part)


_LEAVING_OUT = r"--?(?:ignore|exclude|deselect|skip|not|no|invert|without|x)(?:[-_]?[\w-]*)"


def strip_excluded(part: SimpleCommand) -> "list[str]":
    """The words of a simple command without those that it leaves out: `--ignore=tests/e2e`, `-k "not e2e"`."""
    kept: list[str] = []
    before = ""
    for word in part.words:
        option = word.split("=", 1)[0]
        out = re.fullmatch(_LEAVING_OUT, option) or (re.fullmatch(_LEAVING_OUT, before) and word[:1] != "-")
        if not (out or word.startswith("!") or re.search(r"(?<![\w-])not\b", word)):
            kept.append(word)
        before = word
    return kept


def names_program(part: SimpleCommand, program: str) -> bool:
    """Whether a simple command is what a person calls by a program, or by a program and what it shall do."""
    head, *rest = program.lower().split()
    if head != part.program and head not in {name_program(word) for word in part.launchers if word[:1] != "-"}:
        return False
    words = iter(map(str.lower, part.words))
    return all(word in words for word in rest)


def show_command(part: SimpleCommand) -> str:
    """A simple command as it may be told."""
    return make_label(part.words[:5])


_CHECKED = frozenset(("commit", "push", "merge"))
"""Words of git before which hooks are run."""
_NO_VERIFY = r"-[aeipqsvz]*n[a-zA-Z]*"
"""`git commit -n`, also among other short options; behind `-m` it is the message."""


def _find_bypass(part: SimpleCommand) -> "tuple[str, ...]":
    """How a simple command goes round a check: the words that say so, with the program; nothing where it does not."""
    words, sub = part.words, get_word(part.words)
    flags = [word for word in words if word.startswith("--dangerously") and " " not in word]
    before = [word for word in part.launchers if word == "HUSKY=0"]
    if part.program == "git":
        flags += [word for word in words[1:4] if word.startswith("core.hooksPath=")]
        checked = not _CHECKED.isdisjoint(words)
        flags += ["--no-verify"] * (checked and "--no-verify" in words)
        if sub == "commit":
            flags += [word for word in words[2:] if re.fullmatch(_NO_VERIFY, word)]
        before += [word for word in part.launchers if checked and word.startswith("SKIP=")]
    return (*before, part.program, sub, *flags) if before or flags else ()


def show_bypass(line: str) -> str:
    """The command of a line that goes round a check, as it may be told; empty for none."""
    return next((make_label(found) for part in list_commands(line) if (found := _find_bypass(part))), "")


def list_acts(words: "tuple[str, ...]") -> "list[str]":
    """What a simple command does to work that others rely on."""
    name, first, rest = words[0], get_word(words), set(words[1:])
    if not _IDLE.isdisjoint(rest):
        return []
    if name == "git":
        return _list_git_acts(first, words, rest)
    acts = [act for act, table in programs.ACTS.items() if not rest.isdisjoint(table.get(name, ()))]
    if name in {"gh", "glab"} and (act := programs.ACTS_OF_FORGES.get((first, get_word(words, 1)))):
        acts.append(act)
    if name in programs.SCRIPTS and any("deploy" in word for word in words[1:3]):
        acts.append("deploy")
    if (name in programs.DELETING and len(words) > 1) or (name == "find" and "-delete" in rest):
        acts.append(DELETES)
    return [*acts, INSTALLS] if get_kind(words) == programs.INSTALL else acts


def list_same_acts(act: str) -> "set[str]":
    """The acts by which an act is done: a push with force is a push."""
    return {PUSHES, FORCES} if act == PUSHES else {act}


def _list_git_acts(first: str, words: "tuple[str, ...]", rest: "set[str]") -> "list[str]":
    if first == "commit" or (first in {"merge", "rebase", "cherry-pick"} and "--continue" in rest):
        acts = [COMMITS, "amend"] if first == "commit" and "--amend" in rest else [COMMITS]
    elif first == "push":
        forced = rest & {"-f", "--force"} or any(word.startswith("+") for word in words[2:])
        acts = [] if "-n" in rest else [FORCES if forced else PUSHES]
    elif first == "stash":
        acts = [STASHES] if get_word(words, 1) in {"", "push", "save"} else []
    elif first == "reset":
        acts = [RESETS] if rest & {"--hard", "--merge", "--keep"} else []
    else:
        acts = [MERGES] if first in {"merge", "rebase"} else []
    return [*acts, "rebase"] if first == "rebase" else acts


def _list_targets(part: SimpleCommand) -> "list[str]":
    """The branches, remotes and paths that an act names."""
    words = part.words
    after = words[words.index("--") + 1 :] if "--" in words else words[1:]
    skip = {"stash", "reset", "push", "HEAD", "git"}
    return [word for word in after if not word.startswith("-") and word not in skip and word not in {".", "*", "./"}]
