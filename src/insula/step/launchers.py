"""What a command line runs in the end: launchers taken off, and the part of the project that they run it in.

`cd apps/web && pnpm --filter api exec vitest run` runs `vitest run` in `api`; `uv run --package core pytest`
runs pytest in `core`; `docker compose run --rm web make test` runs `make test`, `wsl -- bash -lc "go test"` Go's tests.
Lines within a line are commands of their own. Nothing here is cut, and nothing is run.
"""

from insula.step import programs
from insula.step.shell import Simple, simple_commands
from insula.value import Value

DEEPEST = 4
"""Shells within shells that are looked into."""


class Launched(Value):
    """A simple command without its launchers."""

    words: tuple[str, ...]
    before: str = ""
    """The operator before it, as in the line."""
    writes: tuple[str, ...] = ()
    muted: bool = False
    workspace: str = ""
    """The folder or the package that it runs in; empty where it runs where the line does, or in all of them."""
    launchers: tuple[str, ...] = ()
    """Words that were taken off, without the names of workspaces."""


def launched(line: str) -> tuple[Launched, ...]:
    """What a line runs, in its order; what only prepares (`cd`, `echo`) is among it."""
    found: list[Launched] = []
    places: dict[tuple[int, ...], str] = {(): ""}
    for part in _flat(simple_commands(line), 0):
        within = part.within
        around = next(within[:end] for end in range(len(within), -1, -1) if within[:end] in places)
        one = _without_launchers(part, places[around])
        if one is None:
            continue
        found.append(one)
        if one.words[0] in {"cd", "pushd", "set-location"}:
            places[within] = _entered(places[around], one.words)
    return tuple(found)


def _flat(parts: "tuple[Simple, ...]", depth: int) -> "list[Simple]":
    """The commands, with those of shells that are handed a line in the place of the shell."""
    found: list[Simple] = []
    for part in parts:
        inner = _inner(list(part.words)) if depth < DEEPEST else ""
        within = _flat(simple_commands(inner), depth + 1) if inner else []
        within = [one.replace(within=(*part.within, -len(found) - 1, *one.within)) for one in within]
        if within:
            within[0] = within[0].replace(before=part.before)
            within[-1] = within[-1].replace(
                writes=(*within[-1].writes, *part.writes), muted=within[-1].muted or part.muted
            )
        found += within or [part]
    return found


_SHELLS = frozenset("bash sh zsh dash ksh fish".split())
_POWERSHELLS = frozenset(("pwsh", "powershell"))


def _inner(words: "list[str]") -> str:
    """The line that a shell is handed; empty where the command is none."""
    place = _start(words)
    if place >= len(words):
        return ""
    name, rest = program(words[place]), words[place + 1 :]
    if name in _SHELLS:
        at = next((at for at, word in enumerate(rest[:4]) if _is_c(word)), -1)
        return rest[at + 1] if at >= 0 and len(rest) > at + 1 else ""
    if name in _POWERSHELLS:
        at = next((at for at, word in enumerate(rest) if word.lower() in {"-command", "-c"}), -1)
        return " ".join(rest[at + 1 :]) if at >= 0 else ""
    if name == "cmd" and len(rest) == 2 and rest[0].lower() in {"/c", "/k"}:
        return rest[1]
    if name == "nix-shell" and "--run" in rest[:-1]:
        return rest[rest.index("--run") + 1]
    return ""


def _is_c(word: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and word.endswith("c")


def _start(words: "list[str]") -> int:
    """The place of the program itself: behind variables, `sudo`, `wsl`, `docker compose run web`, `uv run`."""
    place = 0
    while place < len(words):
        step = _taken(words[place:])
        if not step:
            return place
        place += step
    return place


def _without_launchers(part: Simple, place: str) -> "Launched | None":
    words, workspace = list(part.words), ""
    taken: list[str] = []
    while words:
        if (before := _taken(words)) and before < len(words):
            workspace = _place_of(words[:before]) or workspace
            taken += words[:before]
            del words[:before]
            continue
        name = program(words[0])
        words[0] = name
        if name in programs.MANAGERS:
            own, words = _managed(name, words)
            workspace = own or workspace
            if words[0] == name:
                break
            taken.append(name)
        elif name in _POWERSHELLS and len(words) > 1:
            words = _script_of(words)
            if words[0] == name:
                break
        else:
            own, words = _placed(name, words)
            workspace = own or workspace
            break
    if not words:
        return None
    return Launched(
        words=tuple(words),
        before=part.before,
        writes=part.writes,
        muted=part.muted,
        workspace=_joined(place, workspace),
        launchers=tuple(taken),
    )


def program(word: str) -> str:
    """The name of a program without its folder, its ending and its version."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1].lower()
    name = name.removesuffix(".exe")
    for ending in (".cmd", ".bat", ".ps1"):
        stem = name.removesuffix(ending)
        name = stem if stem in programs.KNOWN or stem in programs.ALIASES else name
    name = "python" if name.startswith("python") and name[6:].replace(".", "").isdigit() else name
    return programs.ALIASES.get(name, name)


def _taken(words: "list[str]") -> int:
    """How many words stand before what they run: a variable, a wrapper, a runner, an interpreter, with its options."""
    first, name = words[0], program(words[0])
    if "=" in first and first.split("=", 1)[0].isidentifier():
        return 1
    if first.startswith("$") and words[1:2] == ["="]:  # PowerShell sets a variable
        return len(words) if first.lower().startswith("$env:") else 2
    if name in programs.WRAPPERS and not (name == "command" and words[1:2] in (["-v"], ["-V"])):
        return _past_options(words, 1, _TAKING)
    if name == "timeout" and len(words) > 2:
        place = 1
        while place < len(words) and (words[place].startswith("-") or words[place][:1].isdigit()):
            place += 1
        return place
    if name in {"docker", "podman", "docker-compose"}:
        return _contained(words, name)
    if name == "wsl":
        return _past_options(words, 1, programs.WSL_VALUED)
    if name == "cmd" and len(words) > 3 and words[1].lower() in {"/c", "/k"}:
        return 2
    if name in programs.RUNNERS:
        return _run_by(words, name)
    if name == "python" and "-m" in words[1:4] and len(words) > words.index("-m") + 1:
        return words.index("-m") + 1
    if name == "python" and program(next(iter(words[1:2]), "")) == "manage.py":
        return 1
    return _past_options(words, 1, _TAKING) if name == "xargs" else 0


_STARTED = programs.INTERPRETERS | {"manage.py"}
_TAKING = frozenset("-n -u -c -p --package --with --group --extra -I -P -L --python --env-file -e".split())
"""Options of what runs another program that take the next word with them."""


def _past_options(words: "list[str]", place: int, taking: "frozenset[str]") -> int:
    while place < len(words) and words[place].startswith("-"):
        if words[place] == "--":
            return place + 1
        place += 2 if words[place] in taking else 1
    return place


def _run_by(words: "list[str]", name: str) -> int:
    """How many words a runner takes: `uv run --package x`, `poetry -C api run`; 0 where it runs no program."""
    place = _past_options(words, 1, programs.PLACING | _TAKING)
    if place >= len(words) or words[place] not in programs.RUNNERS[name]:
        return 0
    end = _past_options(words, place + 1, programs.PLACING | _TAKING)
    if name == "direnv":
        end += 1  # `direnv exec FOLDER …`
    if "--" in words[end:] and name in programs.BEHIND_DASHES:
        end = words.index("--", end) + 1
    if end < len(words) and name in programs.SCRIPTS and program(words[end]) not in programs.KNOWN | _STARTED:
        return 0  # a script that the project has named
    return end if end < len(words) else 0


def _contained(words: "list[str]", name: str) -> int:
    """`docker compose run --rm web`, `docker exec -it web`: what follows the service runs on the same sources."""
    place = 1 if name == "docker-compose" else _past_options(words, 1, programs.DOCKER_VALUED)
    if name != "docker-compose":
        if place < len(words) and words[place] == "compose":
            place += 1
        elif place >= len(words) or words[place] != "exec":
            return 0
    place = _past_options(words, place, programs.DOCKER_VALUED)
    if place >= len(words) or words[place] not in {"run", "exec"}:
        return 0
    end = _past_options(words, place + 1, programs.DOCKER_VALUED) + 1
    return end if end < len(words) else 0


def _managed(name: str, words: "list[str]") -> "tuple[str, list[str]]":
    """The workspace of a package manager, and what it runs: another program, or its own words without those options."""
    workspace, kept, place, script = "", [name], 1, ""
    while place < len(words):
        word = words[place]
        flag, equals, value = word.partition("=")
        if word == "--" or (script and name != "npm"):
            kept += words[place:]
            break
        if flag in programs.MANAGED and not (flag == "-w" and name != "npm"):
            workspace = value if equals else next(iter(words[place + 1 : place + 2]), "")
            place += 1 if equals else 2
        elif word == "workspace" and kept == [name] and len(words) > place + 1:
            workspace, place = words[place + 1], place + 2
        elif kept == [name] and word in programs.EXECUTING.get(name, ()):
            return _named(workspace), words[_past_options(words, place + 1, _TAKING) :] or kept
        else:
            if not (kept == [name] and word in programs.PASSED_OVER):
                kept.append(word)
            script = script or ("" if word.startswith("-") or word in programs.RUNS else word)
            place += 1
    if script in programs.PROGRAMS and name in programs.RUN_BY_NAME and "run" not in kept[:2]:
        return _named(workspace), kept[kept.index(script) :]
    return _named(workspace), kept


def _placed(name: str, words: "list[str]") -> "tuple[str, list[str]]":
    """The part that a program itself is told to work in, and its words without that."""
    placing = programs.PLACED.get(name)
    if placing is None:
        return "", words
    workspace, kept, place = "", [name], 1
    while place < len(words):
        flag, equals, value = words[place].partition("=")
        if words[place] == "--":
            kept += words[place:]
            break
        if flag in placing:
            given = value if equals else next(iter(words[place + 1 : place + 2]), "")
            workspace = given.removesuffix("/Cargo.toml").removesuffix("Cargo.toml") or workspace
            place += 1 if equals else 2
        elif name == "cargo" and words[place].startswith("+"):
            place += 1
        else:
            kept.append(words[place])
            place += 1
    return _named(workspace), kept


def _script_of(words: "list[str]") -> "list[str]":
    """`pwsh -NoProfile -File build.ps1 -Fast`: the script and what it is given."""
    place = 1
    while place < len(words) and words[place].startswith("-"):
        if words[place].lower() in {"-file", "-f"}:
            place += 1
            break
        place += 2 if words[place].lower() in {"-executionpolicy", "-ep", "-workingdirectory", "-version"} else 1
    return words[place:] or words[:1]


# Where.


def _place_of(words: "list[str]") -> str:
    """The workspace that the words of a launcher name."""
    for place, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in programs.PLACING and flag not in {"-w", "-p"}:
            return _named(value if equals else next(iter(words[place + 1 : place + 2]), ""))
    return ""


def _named(workspace: str) -> str:
    """The name of a workspace without what selects more than it: `@acme/web...`, `./apps/web`, `{apps/web}`."""
    name = workspace.strip("{}").replace("\\", "/").removesuffix("...").removeprefix("...").strip("^").rstrip("/")
    name = name.removeprefix("./")
    return "" if name.startswith(("!", "[", "*")) or name in {"", ".", "*", "//"} else name


def _entered(place: str, words: "tuple[str, ...]") -> str:
    target = next((word for word in words[1:] if not word.startswith("-")), "")
    if not target or target.startswith(("$", "~", "`")):
        return ""
    return _joined(place, target.replace("\\", "/").rstrip("/") or "/")


def _joined(place: str, workspace: str) -> str:
    """A folder within a folder; a package's name stands alone."""
    if not workspace or not place:
        return workspace or place
    if workspace.startswith(("/", "@")) or workspace[1:3] == ":/":
        return workspace
    parts = place.split("/")
    for part in workspace.split("/"):
        if part == ".." and parts and parts[-1] not in {"", ".."}:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
