"""Where hooks live: Insula's folder of hook state, each coding agent's settings file, the project that it is for."""

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from insula import folders
from insula.coding.hosts.dialects import EVENTS
from insula.errors import InputError

HOME = ".insula"
"""The folder of hook state in the user's home, unless `INSULA_HOME` moves it."""
SHIM = "hook/run.py"
"""Never moved: hosts that trust a hook by the text of its command would ask again."""
LONGEST = 10_000
"""Characters of a command line that is looked at: two paths, quoted."""
SECONDS = 5
"""What a host may wait for a hook; it takes a hundredth of that."""


_SECONDS = {("codex", "SessionEnd"): 1}  # clamped to 3; above its own default it warns


@dataclass(frozen=True, slots=True)
class On:
    """An event that the hook is called for."""

    event: str
    matcher: str | None = None
    seconds: int = SECONDS


@dataclass(frozen=True, slots=True)
class HookCommand:
    """The command line of an installed hook."""

    python: str
    home: str
    host: str

    def __str__(self) -> str:
        # `|| true`: a missing script makes Python exit with 2, by which a host blocks the prompt. So a session that
        # still runs after `uninstall`, or somebody who deletes the folder, is left in peace.
        return f"{shlex.quote(self.python)} -I -S {shlex.quote(f'{self.home}/{SHIM}')} {self.host} || true"


def read_command(text: object) -> HookCommand | None:
    """What an installed command line says; None where it has not the form that ours have."""
    try:
        words = shlex.split(text) if isinstance(text, str) and len(text) <= LONGEST else []
    except ValueError:
        return None
    if words[5:] not in ([], ["||", "true"]) or words[1:3] != ["-I", "-S"] or len(words) < 5:
        return None
    python, script, host = words[0], words[3], words[4]
    if host not in HOSTS or not script.endswith(f"/{SHIM}"):
        return None
    if not all(Path(path).is_absolute() for path in (python, script)):
        return None  # a relative one is another in each folder
    return HookCommand(python, script.removesuffix(f"/{SHIM}"), host)


def write_in_group(on: On, command: str, scale: int) -> object:
    """A hook as Claude Code has it: in a group under a matcher."""
    handler = {"type": "command", "command": command, "timeout": on.seconds * scale}
    return {**({"matcher": on.matcher} if on.matcher else {}), "hooks": [handler]}


def write_flat(on: On, command: str, scale: int) -> object:
    """A hook as Copilot has it: alone, under the shell that runs it."""
    return {"type": "command", "bash": command, "timeoutSec": on.seconds * scale}


def write_bare(on: On, command: str, scale: int) -> object:
    """A hook as Cursor has it: the command alone.

    Without a timeout, as documents and programs disagree whether one is in seconds; the hook ends itself in time.
    """
    return {"command": command}


EVENT = "{event}"
"""In the name of a script: one file for each event, named after it."""


@dataclass(frozen=True, slots=True)
class Host:
    """A coding agent, and how its hooks are written down."""

    id: str
    name: str
    binary: str
    variable: str
    """The environment variable that moves its folder."""
    folder: str
    """Its folder in the home of the user, and in a project."""
    file: str
    project_file: str
    matchers: tuple[tuple[str, str], ...] = ()
    """Events that are of some tools alone, and of which."""
    called_for: tuple[str, ...] = ()
    """The events that a script of ours takes in, where those are not the ones that it tells the hook."""
    project_folder: str = ""
    """Its folder in a project, where that has another name."""
    below: str = ""
    """Folder within the one that the variable names."""
    scale: int = 1
    """Units of its timeouts in a second."""
    entry: Callable[[On, str, int], object] = write_in_group
    empty: str = "{}\n"
    """A settings file in which nothing stands yet."""
    script: str = ""
    """Where its hooks are files of their own and no entries in a settings file: what they are made of."""
    trust: str = ""
    """What the user has to do before it runs the hooks."""
    unproven: str = ""
    """Of an experimental host: what nobody has seen work."""

    def find_settings(self, project: Path | None = None) -> Path:
        """Its settings file, or the first of its scripts: the user's own, or that of a project."""
        if project is not None:
            path = project / (self.project_folder or self.folder) / self.project_file
        elif named := os.environ.get(self.variable):
            path = Path(named).expanduser().absolute() / self.below / self.file
        else:
            path = Path.home() / self.folder / self.file
        return path.with_name(path.name.replace(EVENT, self.events[0].event))

    @property
    def events(self) -> tuple[On, ...]:
        """The events that the hook is called for."""
        names = self.called_for or EVENTS[self.id]
        matchers = dict(self.matchers)
        return tuple(On(name, matchers.get(name), _SECONDS.get((self.id, name), SECONDS)) for name in names)

    @property
    def per_event(self) -> bool:
        """Whether it has a script for each event."""
        return self.file.endswith(EVENT)


VERSIONED = '{\n  "version": 1\n}\n'

HOSTS = {
    host.id: host
    for host in (
        Host(
            id="claude-code",
            name="Claude Code",
            binary="claude",
            variable="CLAUDE_CONFIG_DIR",
            folder=".claude",
            file="settings.json",
            project_file="settings.local.json",
            matchers=(
                ("PreToolUse", "Bash|Edit|Write|MultiEdit|NotebookEdit"),
                ("PostToolUse", "*"),
                ("PostToolUseFailure", "*"),
            ),
        ),
        Host(
            id="codex",
            name="Codex",
            binary="codex",
            variable="CODEX_HOME",
            folder=".codex",
            file="hooks.json",
            project_file="hooks.json",
            trust="Open Codex and run /hooks to trust them: until then it skips them without a word.",
            matchers=(("PreToolUse", "Bash|apply_patch"),),
        ),
        Host(
            id="gemini",
            name="Gemini CLI",
            binary="gemini",
            variable="GEMINI_CLI_HOME",
            below=".gemini",
            folder=".gemini",
            file="settings.json",
            project_file="settings.json",
            scale=1000,
            matchers=(("AfterTool", "*"),),
        ),
        Host(
            id="copilot",
            name="Copilot CLI",
            binary="copilot",
            variable="COPILOT_HOME",
            folder=".copilot",
            file="hooks/insula.json",
            project_folder=".github",
            project_file="hooks/insula.json",
            entry=write_flat,
            empty=VERSIONED,
        ),
        Host(
            id="qwen",
            name="Qwen Code",
            binary="qwen",
            variable="QWEN_HOME",
            folder=".qwen",
            file="settings.json",
            project_file="settings.json",
            scale=1000,
            matchers=(("PostToolUse", "*"), ("PostToolUseFailure", "*")),
        ),
        Host(
            id="opencode",
            name="OpenCode",
            binary="opencode",
            variable="XDG_CONFIG_HOME",
            below="opencode",
            folder=".config/opencode",
            file="plugins/insula.js",
            project_folder=".opencode",
            project_file="plugins/insula.js",
            script="opencode.js",
            called_for=("chat.message", "tool.execute.after", "event"),
        ),
        Host(
            id="cline",
            name="Cline",
            binary="cline",
            variable="CLINE_DIR",
            folder=".cline",
            file="hooks/{event}",
            project_folder=".clinerules",
            project_file="hooks/{event}",
            script="cline.sh",
            unproven="its editor was never run, and its command line told no prompt of the user's; learned rules are "
            "not told at the start of a task, because its model does not get to see what is said there",
        ),
        Host(
            id="cursor",
            name="Cursor",
            binary="cursor-agent",
            variable="",
            folder=".cursor",
            file="hooks.json",
            project_file="hooks.json",
            entry=write_bare,
            empty=VERSIONED,
            unproven="nothing of it was run: payloads and answers are those of its documents, and people report that "
            "its editor drops what hooks say to the model",
        ),
        Host(
            id="droid",
            name="Factory droid",
            binary="droid",
            variable="",
            folder=".factory",
            file="settings.json",
            project_file="settings.local.json",
            unproven="nothing of it was run: payloads and answers are those of its documents",
            matchers=(("PostToolUse", "*"),),
        ),
    )
}


def get_host(name: str | None) -> Host:
    """The coding agent of that name.

    Raises:
        InputError: there is none.
    """
    if name not in HOSTS:
        known = ", ".join(HOSTS)
        said = f"There are no hooks for {name!r}" if name else "No coding agent is named"
        raise InputError(f"{said}; name one of {known}.")
    return HOSTS[name]


def find_home() -> Path:
    """The folder of hook state: `INSULA_HOME`, else `~/.insula`, as an absolute path.

    Raises:
        SettingsError: it would not be one.
    """
    return folders.folder(lambda: Path.home() / HOME)


# The project that a settings file is for.


def find_root(folder: Path | None = None) -> Path:
    """The project that a folder is in, as the hook sees it: the nearest folder above with a `.git`, else itself.

    Args:
        folder: the present one by default.
    """
    start = folder or Path.cwd()
    return next((above for above in (start, *start.parents) if (above / ".git").exists()), start)


def get_project(host: Host, file: Path) -> Path | None:
    """The folder of the project that a settings file is for; None for the user's own."""
    if file == host.find_settings():
        return None
    depth = len(host.find_settings(Path()).parts)
    folder = file.parents[depth - 1] if len(file.parents) >= depth else None
    return folder if folder and host.find_settings(folder) == file else None


def describe_project(folder: Path) -> str:
    """Its path, with what should give pause about it."""
    name = str(folder) if str(folder).isprintable() else repr(str(folder))
    if no_project := _explain_no_project(folder):
        return f"{name}, {no_project}"
    return name if (folder / ".git").exists() else f"{name}, which is no git repository: this folder alone"


def check_project(folder: Path) -> Path:
    """The folder, after a look whether it can be a project.

    Raises:
        InputError: it is the home folder, or the root of all.
    """
    if no_project := _explain_no_project(folder):
        raise InputError(
            f"The project here would be {str(folder)!r}, {no_project}; go into the folder of a project (`git init` "
            "makes one), or leave --project out to install for all of them."
        )
    return folder


def _explain_no_project(folder: Path) -> str:
    if folder.resolve() == Path.home().resolve():
        return "which is your home folder"
    return "which is the root of all folders" if folder == folder.parent else ""
