"""What a command line is run for: its family, whose failures belong together, and whether it asks, waits or risks.

Flags, `| tail`, a prefix such as `cd x &&` or `timeout 60`, and the way that an interpreter is found do not matter:
`cd api && uv run pytest -q tests/a.py 2>&1 | tail` and `pytest tests/a.py -x` are the same test.
"""

from insula.step import programs
from insula.step.naming import LABEL, address, label, named_check
from insula.step.programs import NARROWING, PRIORITY, PROVING, REQUEST, RUN, VALUED
from insula.step.shell import Simple, simple_commands
from insula.value import Value

SELECTORS = 6

# What a command does to the tree, for the senses that mind it.
COMMITS, PUSHES, FORCES, STASHES, RESETS, DISCARDS = "commit", "push", "force-push", "stash", "reset", "checkout"
CLEANS, DROPS, DELETES, INSTALLS, MERGES, SWITCHES = "clean", "drop", "delete", "install", "merge", "switch"
UNSTASHES = "unstash"
BYPASSES = "bypass"
"""Goes round a check or a permission that somebody has put there."""


class Command(Value):
    """A command line, understood."""

    family: str = ""
    """What is run and for what: `test pytest`; equal for what belongs together."""
    selectors: tuple[str, ...] = ()
    """Which part of it: files, packages, names."""
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
    """The paths that those acts name; empty for all of the tree."""
    also: tuple[str, ...] = ()
    """Other checks of the line, as `named_check` names them, that have gone well if it has: `lint && test`."""
    seeks: bool = False
    """Whether it only looks for something."""
    limited: bool = False
    """Whether it was given a time limit (`timeout 5 …`), by which it may end without having failed."""


def understand(line: str) -> Command:
    """What a command line is run for."""
    whole = simple_commands(line)
    parts = [part for part in map(_bare, whole) if part.words]
    if not parts:
        return Command()
    runs = [part for part in parts if part.before != "|" or part.words[0] not in programs.FILTERS]
    doing = [part for part in runs if part.words[0] not in programs.SETTING_UP] or runs[-1:] or parts[-1:]
    kinds = [_kind(part.words) for part in doing]
    pauses = [part.words[0] in programs.WAITS for part in doing]
    goal = min(range(len(doing)), key=lambda place: (PRIORITY.index(kinds[place]), pauses[place], -place))
    main, kind = doing[goal], kinds[goal]
    acts = [act for part in doing if (act := _act(part.words))] + [BYPASSES] * any(map(_bypasses, whole))
    words = _names(main.words)
    seeks = not PROVING & set(kinds) and not acts and not any(map(_changes, parts)) and any(map(_seeks, parts))
    return Command(
        family=f"{kind} {' '.join(words)}",
        selectors=tuple(sorted(word.removeprefix("./") or word for word in _selected(main.words, kind))),
        label=label((*words, *_selected(main.words, kind))),
        waits=kind not in PROVING and (pauses[0] or any(map(_waits, doing)) or _loops(parts)),
        probes=kind not in PROVING and (all(map(_probes, doing)) or _forgives(parts)),
        changes=any(map(_changes, parts)),
        proves=kind in PROVING,
        acts=tuple(dict.fromkeys(acts)),
        touches=tuple(path for part in doing if _act(part.words) for path in _paths(part.words))[:SELECTORS],
        also=_gone_well(parts, doing, main),
        seeks=seeks,
        limited=kind not in PROVING and any("timeout" in part.words[:3] for part in whole),
    )


def _gone_well(parts: "list[Simple]", doing: "list[Simple]", main: Simple) -> tuple[str, ...]:
    """The other checks behind which `&&` stands: what follows them is run only where they went well."""
    before = [part for part, after in zip(parts, parts[1:], strict=False) if after.before == "&&" and part in doing]
    if parts[-1].before == "&&":
        before.append(parts[-1])
    return tuple(
        named_check(f"{kind} {' '.join(_names(part.words))}", tuple(sorted(_selected(part.words, kind))))
        for part in before
        if part is not main and (kind := _kind(part.words)) in PROVING
    )[:SELECTORS]


# What is run.


def _bare(part: Simple) -> Simple:
    """Without what stands before the command that is meant."""
    words = list(part.words)
    while words:
        first, name = words[0], _name(words[0])
        if name in {"bash", "sh", "zsh"} and len(words) > 2 and words[1] in {"-c", "-lc"}:
            inner = simple_commands(words[2])
            if not inner or inner[-1].words[0] == first:
                break
            words = list(inner[-1].words)
        elif "=" in first and first.split("=", 1)[0].isidentifier():
            del words[0]
        elif first.startswith("$") and words[1:2] == ["="]:  # PowerShell sets a variable
            words = [] if first.lower().startswith("$env:") else words[2:]
        elif before := _before(words, name):
            del words[:before]
        else:
            words[0] = name
            break
    return part.replace(words=tuple(words))


_TAKING = frozenset("-n -u -c -p --package --with --group --extra -I -P -L".split())
"""Options of what runs another program that take the next word with them."""


def _before(words: "list[str]", name: str) -> int:
    """How many words stand before the program that is meant: a wrapper, a runner, an interpreter, with its options."""
    if name in programs.WRAPPERS and not (name == "command" and words[1:2] in (["-v"], ["-V"])):
        return _options(words, 1)
    if name == "timeout" and len(words) > 2:
        place = 1
        while place < len(words) and (words[place].startswith("-") or words[place][:1].isdigit()):
            place += 1
        return place
    if len(words) > 2 and words[1] in programs.RUNNERS.get(name, ()):
        return _options(words, 2)
    if name in programs.RUN_BY_NAME and len(words) > 1 and words[1] in programs.PROGRAMS:
        return 1
    if name == "python" and "-m" in words[1:4] and len(words) > words.index("-m") + 1:
        return words.index("-m") + 1
    return _options(words, 1) if name == "xargs" else 0


def _options(words: "list[str]", place: int) -> int:
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _TAKING else 1
    return place


def _name(word: str) -> str:
    """The name of a program without its folder, its ending and its version."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1].lower()
    for ending in (".exe", ".cmd", ".bat", ".ps1"):
        name = name.removesuffix(ending)
    name = "python" if name.startswith("python") and name[6:].replace(".", "").isdigit() else name
    return programs.ALIASES.get(name, name)


def _kind(words: "tuple[str, ...]") -> str:
    name, first = words[0], _first(words)
    if name in {"npm", "pnpm", "yarn", "bun", "mise"} and first == "run":
        return _by_name(_first(words, 1))
    if name == "docker" and first == "compose":
        return programs.BUILD if "build" in words else RUN
    if first in programs.SUBCOMMANDS.get(name, ()):
        return programs.SUBCOMMANDS[name][first]
    if name in programs.SCRIPTS and first and (kind := _by_name(first)) != RUN:
        return kind
    if name == "manage.py" or (name == "python" and first.endswith("manage.py")):
        return programs.TEST if "test" in words else RUN
    return programs.PROGRAMS.get(name, RUN)


def _by_name(script: str) -> str:
    low = script.lower()
    return next((kind for word, kind in programs.NAMED if word in low), RUN)


def _first(words: "tuple[str, ...]", skip: int = 0) -> str:
    """The first word that is no option, or a later one."""
    taken = 0
    for place in range(1, len(words)):
        word = words[place]
        if word.startswith("-") or (words[place - 1] in VALUED and words[0] == "git"):
            continue
        if taken == skip:
            return word
        taken += 1
    return ""


def _names(words: "tuple[str, ...]") -> tuple[str, ...]:
    """The program and, where it has one, the word that tells what of it."""
    name, first = words[0], _first(words)
    known = name in programs.SUBCOMMANDS or name in programs.SCRIPTS or name in programs.POLLS or name in programs.ASKS
    if not known or not first:
        return (name,)
    if first == "run":
        return tuple(filter(None, (name, first, _first(words, 1))))
    return name, first


def _selected(words: "tuple[str, ...]", kind: str) -> "list[str]":
    """Which part of it is run: files, packages, names; in the order in which they stand."""
    names, narrowing = list(_names(words)[1:]), NARROWING if kind == programs.TEST else frozenset[str]()
    found: list[str] = []
    for place in range(1, len(words)):
        word, before = words[place], words[place - 1]
        if word.startswith("-"):
            flag, mark, value = word.partition("=")
            found += [value] if mark and flag in narrowing else []
        elif before in VALUED:
            found += [word] if before in narrowing else []
        elif word in names:
            names.remove(word)
        else:
            found.append(address(word) if kind == REQUEST else word)
    if kind == REQUEST:
        found = found[:1]
    return list(dict.fromkeys(one[:80] for one in found if one))[:SELECTORS]


# What only asks, and what waits.


def _loops(parts: "list[Simple]") -> bool:
    """Whether the line tries until something is there, or pauses between tries."""
    loops = {part.words[0] for part in parts} & {"while", "until", "for", "foreach"}
    return bool(loops - {"for", "foreach"}) or (bool(loops) and any(part.words[0] in programs.WAITS for part in parts))


def _waits(part: Simple) -> bool:
    words = part.words
    name, first = words[0], _first(words)
    parts = set(name.replace("_", "-").split("-"))
    if (
        name in programs.POLLING
        or parts & set(programs.HEALTHY_WORDS)
        or any(word.split("-")[0] == programs.WAITING for word in (name, first, _first(words, 1)))
    ):
        return True
    if name == "tail" and any(word.startswith("-") and "f" in word.lower() for word in words[1:3]):
        return True
    if name == "gh":
        return first in {"run", "workflow"} or (first == "pr" and _first(words, 1) in programs.GH_POLLS)
    if name in {"docker", "podman"} and first == "compose":
        return _first(words, 1) in {"ps", "logs"}
    if first in programs.POLLS.get(name, ()) or {"--watch", "--wait", "--follow"} & set(words):
        return True
    if name == "aws" and any(word.startswith(("describe-", "get-", "wait", "list-")) for word in words[1:4]):
        return True
    return _kind(words) == REQUEST and any(
        mark in word.lower() for word in words[1:] for mark in programs.HEALTHY_WORDS
    )


def _probes(part: Simple) -> bool:
    words = part.words
    name, first = words[0], _first(words)
    if part.muted or name in programs.SETTING_UP:
        return True
    if name == "find":
        return not {"-delete", "-exec"} & set(words)
    if name in programs.PROBES or (len(words) == 2 and words[1] in programs.VERSION):
        return True
    if first in programs.ASKS.get(name, ()):
        return _act(words) == ""
    if name in {"python", "node", "ruby"} and words[1:2] in (("-c",), ("-e",)) and len(words) > 2:
        return len(words[2]) < LABEL and all(map(_only_loads, words[2].replace("\n", ";").split(";")))
    return _kind(words) == REQUEST and ("-I" in words or "--head" in words)


def _only_loads(statement: str) -> bool:
    """Whether a statement shows that a module is there, or its version, and does nothing else."""
    return (
        not statement.strip()
        or statement.strip().startswith(("import ", "from ", "require("))
        or "version" in statement
    )


def _forgives(parts: "list[Simple]") -> bool:
    """Whether the line itself says what to do when it does not go well: `… || true`, `… || echo none`."""
    return parts[-1].before == "||" and parts[-1].words[0] in {"true", ":", "echo", "printf", "exit"}


def _seeks(part: Simple) -> bool:
    name, rest = part.words[0], set(part.words[1:])
    if rest & {"-q", "--quiet", "-exec", "-X"} - ({"-q"} if name == "gh" else set()):
        return False  # it is silent by design, or does more than look
    if any(not path.startswith("/dev/") for path in part.writes):
        return False
    asked = name == "gh" and bool({"--jq", "-q"} & rest)
    return asked or name in programs.SEEKS or _first(part.words) in programs.SEEKING.get(name, ())


# What it does to the work.


_ASIDE = ("/tmp", "/dev", "&")  # noqa: S108
"""Where an output goes that is no file of the project."""


def _changes(part: Simple) -> bool:
    words = part.words
    if any(not path.startswith(_ASIDE) and not path.endswith((".log", ".txt")) for path in part.writes):
        return True
    if words[0] in {"sed", "perl", "gsed"}:
        return any(word.startswith(("-i", "-pi")) for word in words[1:])
    if words[0] in {"patch", "ed", "install-module"} or words[:2] == ("git", "apply"):
        return True
    return bool({"--fix", "--write", "-w", "--in-place"} & set(words[1:])) and words[0] != "curl"


def _bypasses(part: Simple) -> bool:
    words = part.words
    if any(word.startswith(("--dangerously", "core.hooksPath=", "HUSKY=0")) for word in words):
        return True
    return "git" in words and bool({"commit", "push", "merge"} & set(words)) and "--no-verify" in words


def _act(words: "tuple[str, ...]") -> str:
    name, first, rest = words[0], _first(words), set(words[1:])
    if name == "git":
        return _git(first, words, rest)
    if name in {"rm", "rmdir", "del", "rd", "remove-item", "trash", "unlink"}:
        deep = any(word.startswith(("-", "/")) and ("r" in word.lower() or word.lower() == "/s") for word in words[1:])
        return DELETES if deep or name != "rm" else DELETES if len(words) > 1 else ""
    if name == "find" and "-delete" in rest:
        return DELETES
    if name == "gh" and first == "pr" and "merge" in rest:
        return MERGES
    return INSTALLS if _kind(words) == programs.INSTALL else ""


def _git(first: str, words: "tuple[str, ...]", rest: "set[str]") -> str:
    if first == "commit" or (first in {"merge", "rebase", "cherry-pick"} and "--continue" in rest):
        return COMMITS
    if first == "push":
        forced = rest & {"-f", "--force"} or any(word.startswith("+") for word in words[2:])
        return "" if rest & {"-n", "--dry-run"} else FORCES if forced else PUSHES
    if first == "stash":
        does = _first(words, 1)
        if does in {"pop", "apply"}:
            return UNSTASHES
        return DROPS if does in {"drop", "clear"} else STASHES if does in {"", "push", "save"} else ""
    if first == "reset":
        return RESETS if rest & {"--hard", "--merge", "--keep"} else ""
    if first == "clean":
        dry = "--dry-run" in rest or any(word.startswith("-") and word[1:2] != "-" and "n" in word for word in rest)
        return "" if dry else CLEANS
    if first == "restore":
        return "" if "--staged" in rest and "--worktree" not in rest else DISCARDS
    if first == "checkout":
        return _checkout(words, rest)
    if first == "switch":
        return DISCARDS if rest & {"-f", "--force", "--discard-changes"} else SWITCHES
    if first == "worktree":
        return DROPS if "remove" in rest and rest & {"-f", "--force"} else ""
    return MERGES if first in {"merge", "rebase"} else ""


def _checkout(words: "tuple[str, ...]", rest: "set[str]") -> str:
    if rest & {"-b", "-B", "--orphan", "-t", "--track", "--ours", "--theirs"}:
        return SWITCHES
    named = [word for word in words[2:] if not word.startswith("-") and word != "checkout"]
    if "--" in rest or "." in rest or rest & {"-f", "--force"}:
        return DISCARDS
    paths = [word for word in named if "/" in word and "." in word.rsplit("/", 1)[-1]] or [
        word for word in named if "." in word and not word[0].isdigit() and not word.startswith("v")
    ]
    return DISCARDS if paths else SWITCHES


def _paths(words: "tuple[str, ...]") -> "list[str]":
    """The paths that an act names."""
    forced = {"-f", "--force", "--discard-changes"} & set(words) and "--" not in words
    if forced and _first(words) in {"checkout", "switch"}:
        return []  # a branch, whose files take the place of all
    after = words[words.index("--") + 1 :] if "--" in words else words[1:]
    skip = {"checkout", "restore", "clean", "stash", "reset", "push", "pop", "HEAD", "git", "drop"}
    return [word for word in after if not word.startswith("-") and word not in skip and word not in {".", "*", "./"}]
