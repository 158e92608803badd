"""A command line as the simple commands that it runs in the end: enough of the shell to tell what is run, and no more.

Read by hand and in one pass, because the hook pays for each call: no `shlex`. What is quoted stays one word,
here-documents and comments fall away, redirections are told apart from words, and nothing is ever run.

Then launchers are taken off, and the part of the project that they run it in is noted: `cd apps/web && pnpm --filter
api exec vitest run` runs `vitest run` in `api`; `docker compose run --rm web make test` runs `make test`.
"""

from insula.coding.step import programs
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

READ = 4_000
"""Characters of a command that are looked at."""
MOST = 40
"""Simple commands of a line that are told apart."""


class SimpleCommand(Value):
    """One simple command of a line."""

    words: tuple[str, ...]
    before: str = ""
    """The operator before it: `&&`, `||`, `;`, `|`, `&`, or none."""
    outputs: tuple[str, ...] = ()
    """Files that its output goes to."""
    muted: bool = False
    """Whether its complaints are thrown away (`2>/dev/null`)."""
    within: tuple[int, ...] = ()
    """The parentheses that it stands in, by number: what is entered there is left with them."""
    workspace: str = ""
    """The folder or the package that it runs in; empty where it runs where the line does, or in all of them."""
    launchers: tuple[str, ...] = ()
    """Words that were taken off, without the names of workspaces."""

    @property
    def program(self) -> str:
        """The program that it runs."""
        return self.words[0]


def split_commands(line: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of a line, in their order."""
    return tuple(_ShellReader(line[:READ]).commands)


class _ShellReader:
    def __init__(self, line: str) -> None:
        self.commands: list[SimpleCommand] = []
        self._line, self._at = line, 0
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._before, self._outputs, self._muted = "", list[str](), False
        self._redirect, self._ends = "", list[str]()
        self._within: tuple[int, ...] = ()
        while self._at < len(line) and len(self.commands) < MOST:
            self._read_char(line[self._at])
        self._end_command(";")

    def _read_char(self, char: str) -> None:
        self._at += 1
        if char in " \t\r":
            self._flush_word()
        elif char == "\\":
            self._read_escape()
        elif char in "'\"":
            self._read_quote(char)
        elif char == "#" and self._word is None:
            self._at = self._find_mark("\n", self._at)
        elif char == "\n":
            self._end_command(";")
            self._skip_documents()
        elif char in ";|&":
            self._read_operator(char)
        elif char in "<>":
            self._read_redirection(char)
        elif char in "()" and not (self._word and self._word[-1] == "$"):
            self._end_command(self._before or ";")
            self._within = (*self._within, self._at) if char == "(" else self._within[:-1]
        elif char == "(":
            self._read_substitution()
        else:
            self._add_text(char)

    def _add_text(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _find_mark(self, mark: str, start: int) -> int:
        end = self._line.find(mark, start)
        return len(self._line) if end < 0 else end

    def _read_escape(self) -> None:
        following = self._line[self._at : self._at + 1]
        if following.isalnum() or following in {".", "_"}:  # nobody escapes a letter: a path of Windows
            self._add_text("/")
            return
        self._at += 1
        if following not in {"\n", "\r", ""}:
            self._add_text(following)

    def _read_quote(self, mark: str) -> None:
        end = self._find_mark(mark, self._at)
        while mark == '"' and self._line[end - 1 : end] == "\\" and end < len(self._line):
            end = self._find_mark(mark, end + 1)
        self._add_text(self._line[self._at : end])
        self._at = end + 1

    def _read_substitution(self) -> None:
        depth = 1
        while self._at < len(self._line) and depth:
            depth += {"(": 1, ")": -1}.get(self._line[self._at], 0)
            self._at += 1
        self._add_text("(…)")

    def _read_operator(self, char: str) -> None:
        following = self._line[self._at : self._at + 1]
        if char == "&" and following == ">":  # &>file
            return
        if char == "&" and self._redirect:  # 2>&1
            self._add_text("&")
            return
        if following == char:
            self._at += 1
            self._end_command(char * 2 if char != ";" else ";")
        else:
            self._end_command(char)

    def _read_redirection(self, char: str) -> None:
        number = "".join(self._word or ())
        if number.isdigit():
            self._word = None
        self._flush_word()
        if self._line.startswith("<", self._at) and char == "<":
            self._at += 1
            if self._line.startswith("<", self._at):  # <<< a word
                self._at += 1
                self._redirect = "<"
            else:
                self._redirect = "<<"
            return
        if self._line.startswith(char, self._at):
            self._at += 1
        self._redirect = f"{number if number.isdigit() else ''}{char}"

    def _flush_word(self) -> None:
        if self._word is None:
            return
        word, self._word = "".join(self._word), None
        redirect, self._redirect = self._redirect, ""
        if not redirect:
            self._words.append(word)
        elif redirect == "<<":
            self._ends.append(word.lstrip("-"))
        elif word in {"/dev/null", "$null"}:
            self._muted = self._muted or redirect == "2>"
        elif redirect.endswith(">") and not word.startswith("&"):
            self._outputs.append(word)

    def _end_command(self, operator: str) -> None:
        self._flush_word()
        self._redirect = ""
        if self._words:
            words, outputs = tuple(self._words), tuple(self._outputs)
            self.commands.append(
                SimpleCommand(words=words, before=self._before, outputs=outputs, muted=self._muted, within=self._within)
            )
        self._words, self._outputs, self._muted, self._before = [], [], False, operator

    def _skip_documents(self) -> None:
        for end in self._ends:
            while self._at < len(self._line):
                stop = self._find_mark("\n", self._at)
                line, self._at = self._line[self._at : stop], stop + 1
                if line.strip() == end:
                    break
        self._ends = []


DEEPEST = 4
"""Shells within shells that are looked into."""


def list_commands(line: str) -> tuple[SimpleCommand, ...]:
    """What a line runs, without launchers and in its order; what only prepares (`cd`, `echo`) is among it."""
    commands: list[SimpleCommand] = []
    places: dict[tuple[int, ...], str] = {(): ""}
    for part in _flatten_shells(split_commands(line), 0):
        within = part.within
        around = next(within[:end] for end in range(len(within), -1, -1) if within[:end] in places)
        command = _strip_launchers(part, places[around])
        commands.append(command)
        if command.program in {"cd", "pushd", "set-location"}:
            places[within] = _enter_folder(places[around], command.words)
    return tuple(commands)


def _flatten_shells(parts: "tuple[SimpleCommand, ...]", depth: int) -> "list[SimpleCommand]":
    """The commands, with those of shells that are handed a line in the place of the shell."""
    commands: list[SimpleCommand] = []
    for part in parts:
        inner = _find_inner_line(list(part.words)) if depth < DEEPEST else ""
        within = _flatten_shells(split_commands(inner), depth + 1) if inner else []
        within = [command.replace(within=(*part.within, -len(commands) - 1, *command.within)) for command in within]
        if within:
            within[0] = within[0].replace(before=part.before)
            within[-1] = within[-1].replace(
                outputs=(*within[-1].outputs, *part.outputs), muted=within[-1].muted or part.muted
            )
        commands += within or [part]
    return commands


_PLACING = programs.PLACING - {"-w", "-p"}
_SHELLS = frozenset("bash sh zsh dash ksh fish".split())
_POWERSHELLS = frozenset(("pwsh", "powershell"))


def _find_inner_line(words: "list[str]") -> str:
    """The line that a shell is handed; empty where the command is none."""
    place = _find_program(words)
    if place >= len(words):
        return ""
    name, rest = name_program(words[place]), words[place + 1 :]
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


def _find_program(words: "list[str]") -> int:
    """The place of the program itself: behind variables, `sudo`, `wsl`, `docker compose run web`, `uv run`."""
    place = 0
    while place < len(words):
        step = _count_launchers(words[place:])
        if not step:
            return place
        place += step
    return place


def _strip_launchers(part: SimpleCommand, place: str) -> SimpleCommand:
    """A command without what launches it, in the workspace that this names."""
    words, workspace = list(part.words), ""
    taken: list[str] = []
    while words:
        if (before := _count_launchers(words)) and before < len(words):
            workspace = _clean_workspace(_take_option(words[:before], _PLACING)[0]) or workspace
            taken += words[:before]
            del words[:before]
            continue
        name = name_program(words[0])
        words[0] = name
        if name in programs.MANAGERS:
            own, words = _split_manager(name, words)
            workspace = own or workspace
            if words[0] == name:
                break
            taken.append(name)
        elif name in _POWERSHELLS and len(words) > 1:
            words = _find_script(words)
            if words[0] == name:
                break
        else:
            own, words = _split_placing(name, words)
            workspace = own or workspace
            break
    return part.replace(words=tuple(words), workspace=_join_folders(place, workspace), launchers=tuple(taken))


def name_program(word: str) -> str:
    """The name of a program without its folder, its ending and its version."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1].lower()
    name = name.removesuffix(".exe")
    for ending in (".cmd", ".bat", ".ps1"):
        stem = name.removesuffix(ending)
        name = stem if stem in programs.KNOWN or stem in programs.ALIASES else name
    name = "python" if name.startswith("python") and name[6:].replace(".", "").isdigit() else name
    return programs.ALIASES.get(name, name)


def _count_launchers(words: "list[str]") -> int:
    """How many words stand before what they run: a variable, a wrapper, a runner, an interpreter, with its options."""
    first, name = words[0], name_program(words[0])
    if "=" in first and first.split("=", 1)[0].isidentifier():
        return 1
    if first.startswith("$") and words[1:2] == ["="]:  # PowerShell sets a variable
        return len(words) if first.lower().startswith("$env:") else 2
    if name in programs.WRAPPERS and not (name == "command" and words[1:2] in (["-v"], ["-V"])):
        return _skip_options(words, 1, _TAKING)
    if name == "timeout" and len(words) > 2:
        place = 1
        while place < len(words) and (words[place].startswith("-") or words[place][:1].isdigit()):
            place += 1
        return place
    if name in {"docker", "podman", "docker-compose"}:
        return _count_container_words(words, name)
    if name == "wsl":
        return _skip_options(words, 1, programs.WSL_VALUED)
    if name == "cmd" and len(words) > 3 and words[1].lower() in {"/c", "/k"}:
        return 2
    if name in programs.RUNNERS:
        return _count_runner_words(words, name)
    if name == "python" and "-m" in words[1:4] and len(words) > words.index("-m") + 1:
        return words.index("-m") + 1
    if name == "python" and name_program(next(iter(words[1:2]), "")) == "manage.py":
        return 1
    return _skip_options(words, 1, _TAKING) if name == "xargs" else 0


_STARTED = programs.INTERPRETERS | {"manage.py"}
_TAKING = frozenset("-n -u -c -p --package --with --group --extra -I -P -L --python --env-file -e".split())
"""Options of what runs another program that take the next word with them."""


def _skip_options(words: "list[str]", place: int, taking: "frozenset[str]") -> int:
    while place < len(words) and words[place].startswith("-"):
        if words[place] == "--":
            return place + 1
        place += 2 if words[place] in taking else 1
    return place


def _count_runner_words(words: "list[str]", name: str) -> int:
    """How many words a runner takes: `uv run --package x`, `poetry -C api run`; 0 where it runs no program."""
    place = _skip_options(words, 1, programs.PLACING | _TAKING)
    if place >= len(words) or words[place] not in programs.RUNNERS[name]:
        return 0
    end = _skip_options(words, place + 1, programs.PLACING | _TAKING)
    if name == "direnv":
        end += 1  # `direnv exec FOLDER …`
    if "--" in words[end:] and name in programs.BEHIND_DASHES:
        end = words.index("--", end) + 1
    if end < len(words) and name in programs.SCRIPTS and name_program(words[end]) not in programs.KNOWN | _STARTED:
        return 0  # a script that the project has named
    return end if end < len(words) else 0


def _count_container_words(words: "list[str]", name: str) -> int:
    """`docker compose run --rm web`, `docker exec -it web`: what follows the service runs on the same sources."""
    place = 1 if name == "docker-compose" else _skip_options(words, 1, programs.DOCKER_VALUED)
    if name != "docker-compose":
        if place < len(words) and words[place] == "compose":
            place += 1
        elif place >= len(words) or words[place] != "exec":
            return 0
    place = _skip_options(words, place, programs.DOCKER_VALUED)
    if place >= len(words) or words[place] not in {"run", "exec"}:
        return 0
    end = _skip_options(words, place + 1, programs.DOCKER_VALUED) + 1
    return end if end < len(words) else 0


def _split_manager(name: str, words: "list[str]") -> "tuple[str, list[str]]":
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
            return _clean_workspace(workspace), words[_skip_options(words, place + 1, _TAKING) :] or kept
        else:
            if not (kept == [name] and word in programs.PASSED_OVER):
                kept.append(word)
            script = script or ("" if word.startswith("-") or word in programs.RUNS else word)
            place += 1
    if script in programs.PROGRAMS and name in programs.RUN_BY_NAME and "run" not in kept[:2]:
        return _clean_workspace(workspace), kept[kept.index(script) :]
    return _clean_workspace(workspace), kept


def _split_placing(name: str, words: "list[str]") -> "tuple[str, list[str]]":
    """The part that a program itself is told to work in, and its words without that."""
    given, kept = _take_option(words, programs.PLACED.get(name, ()))
    if name == "cargo":  # `+nightly` names a compiler
        kept = [word for word in kept if word[:1] != "+"]
        given = given.removesuffix("Cargo.toml")
    return _clean_workspace(given), kept


def _take_option(words: "Sequence[str]", flags: "Collection[str]") -> "tuple[str, list[str]]":
    """What the last of some options is given, and the words without them."""
    given, kept, place = "", list[str](), 0
    while place < len(words):
        flag, equals, value = words[place].partition("=")
        if flag == "--":
            break
        if flag in flags:
            given = value if equals else "".join(words[place + 1 : place + 2])
            place += 1 if equals else 2
        else:
            kept.append(words[place])
            place += 1
    return given, [*kept, *words[place:]]


def _find_script(words: "list[str]") -> "list[str]":
    """`pwsh -NoProfile -File build.ps1 -Fast`: the script and what it is given."""
    place = 1
    while place < len(words) and words[place].startswith("-"):
        if words[place].lower() in {"-file", "-f"}:
            place += 1
            break
        place += 2 if words[place].lower() in {"-executionpolicy", "-ep", "-workingdirectory", "-version"} else 1
    return words[place:] or words[:1]


# Where.


def _clean_workspace(workspace: str) -> str:
    """The name of a workspace without what selects more than it: `@acme/web...`, `./apps/web`, `{apps/web}`."""
    name = workspace.strip("{}").replace("\\", "/").removesuffix("...").removeprefix("...").strip("^").rstrip("/")
    name = name.removeprefix("./")
    return "" if name.startswith(("!", "[", "*")) or name in {"", ".", "*", "//"} else name


def _enter_folder(place: str, words: "tuple[str, ...]") -> str:
    target = next((word for word in words[1:] if not word.startswith("-")), "")
    if not target or target.startswith(("$", "~", "`")):
        return ""
    return _join_folders(place, target.replace("\\", "/").rstrip("/") or "/")


def _join_folders(place: str, workspace: str) -> str:
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
