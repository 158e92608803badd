"""Which files are transcripts, of which host, and which of them make up one session: told by what they begin with."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from insula.coding.hosts import places
from insula.coding.replay import lines
from insula.coding.replay.lines import open_transcript
from insula.coding.replay.readers import BaseReader, Row, claude_code, codex, copilot, gemini, opencode
from insula.coding.replay.readers.gemini import CHATS
from insula.errors import InputError
from insula.foreign import NOT_PLAIN

CLAUDE_CODE, CODEX, COPILOT, GEMINI, OPENCODE = "claude-code", "codex", "copilot", "gemini", "opencode"
SUFFIXES = (".jsonl", ".json")
EVENTS = "events"
"""The name of any session of Copilot CLI: the folder is named after it."""
HEAD_LINES = 40
LEADS_OUT = "it is a link that leads out of the folder"
UNKNOWN = "it holds no session of Claude Code, Codex, Gemini CLI, Copilot CLI or OpenCode"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Format(NamedTuple):
    """The transcripts of a host."""

    folders: tuple[str, ...]
    """Where it keeps them, below its own folder; nowhere where they are in a database, and a person writes them out."""
    identify: Callable[[list[Row], str], tuple[str, str] | None]
    """Session and subagent, by the first lines and the name of the file."""
    reader: type[BaseReader]


FORMATS = {
    CODEX: Format(codex.FOLDERS, codex.identify_session, codex.CodexReader),
    GEMINI: Format(gemini.FOLDERS, gemini.identify_session, gemini.GeminiReader),
    COPILOT: Format(copilot.FOLDERS, copilot.identify_session, copilot.CopilotReader),
    OPENCODE: Format(opencode.FOLDERS, opencode.identify_session, opencode.OpenCodeReader),
    CLAUDE_CODE: Format(claude_code.FOLDERS, claude_code.identify_session, claude_code.ClaudeCodeReader),
}
"""In the order in which a file is tried: almost anything is a line of Claude Code's."""


class TranscriptFile(NamedTuple):
    """A file that holds a transcript, or the part of a subagent."""

    path: Path
    host: str
    session: str
    agent: str
    size: int
    modified: float
    document: bool = False
    """Whether it is one JSON document, and not a line for each event."""


class FoundTranscripts(NamedTuple):
    """What there is to be read."""

    sessions: list[list[TranscriptFile]]
    """Files that belong to one session are together; the order is that of the folders, and of time within them."""
    passed_over: dict[str, str]
    """Path -> why it holds no transcript."""


def find_transcripts(paths: Sequence[str | Path]) -> FoundTranscripts:
    """The transcripts under `paths`; where there are none, those in the folders of the hosts.

    Raises:
        InputError: a path does not exist.
    """
    sources, passed, given = list[TranscriptFile](), dict[str, str](), set(map(Path, paths))
    for path in _list_files(paths, passed) if paths else _list_own(passed):
        try:
            identified = identify_file(path)
        except OSError as error:
            identified = f"it cannot be read ({_describe_error(error)})"
        if isinstance(identified, TranscriptFile):
            sources.append(identified)
        elif path in given or _may_hold_session(path):
            passed[str(path)] = identified
    return FoundTranscripts(_group_files(sources), passed)


def _may_hold_session(path: Path) -> bool:
    """Whether somebody expects a session in it: most documents of JSON that stand in a folder are something else."""
    return path.suffix != ".json" or path.parent.name == CHATS


def list_folders() -> dict[str, list[Path]]:
    """Where each host keeps its transcripts."""
    return {
        host: [_get_folder(places.get_host(host)) / name for name in form.folders]
        for host, form in FORMATS.items()
        if form.folders
    }


def list_foreign(transcripts: FoundTranscripts) -> list[Path]:
    """The files that do not stand in a folder of this user's coding agents, wherever links lead."""
    own = _find_own_folders()
    return [source.path for sources in transcripts.sessions for source in sources if not _is_below(source.path, own)]


def _find_own_folders() -> list[str]:
    """The folders of this user's coding agents, wherever links lead."""
    return [os.path.realpath(folder) for folders in list_folders().values() for folder in folders]


def _is_below(path: str | Path, folders: Iterable[str]) -> bool:
    """Whether what a path leads to lies in one of some folders, which are no links."""
    return any(map(PurePath(os.path.realpath(path)).is_relative_to, folders))


def _get_folder(host: places.Host) -> Path:
    return host.find_settings().parents[len(PurePath(host.file).parts) - 1]


def _list_own(passed: dict[str, str]) -> Iterator[Path]:
    for host, folders in list_folders().items():
        for path in _list_files([folder for folder in folders if folder.is_dir()], passed):
            if host != GEMINI or CHATS in {path.parent.name, path.parent.parent.name}:
                yield path


def _list_files(paths: Iterable[str | Path], passed: dict[str, str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            yield from _list_below(path, passed)
        elif path.exists():
            yield path
        else:
            raise InputError(f"{str(path)!r} does not exist; give a transcript, or a folder that holds transcripts.")


def _list_below(folder: Path, passed: dict[str, str]) -> Iterator[Path]:
    def note_failure(error: OSError) -> None:
        passed[str(error.filename)] = f"it cannot be read ({_describe_error(error)})"

    own = _find_own_folders()  # in another folder somebody else may have put a link that leads to a key of the reader's
    home = () if _is_below(folder, own) else (os.path.realpath(folder), *own)
    for place, inside, names in os.walk(folder, onerror=note_failure):
        inside.sort()
        for path in (Path(place, name) for name in sorted(names) if name.endswith(SUFFIXES)):
            if not home or not path.is_symlink() or not path.is_file() or _is_below(path, home):
                yield path
            elif _may_hold_session(path):
                passed[str(path)] = LEADS_OUT


def _describe_error(error: OSError) -> str:
    return str(error.strerror or error)


def _group_files(sources: Iterable[TranscriptFile]) -> list[list[TranscriptFile]]:
    """Files of one session together, in the order in which the first of each comes."""
    groups: dict[tuple[str, str], list[TranscriptFile]] = {}
    for source in sorted(sources, key=lambda source: (str(_get_project_folder(source)), source.modified, source.path)):
        groups.setdefault((source.host, source.session), []).append(source)
    for group in groups.values():
        group.sort(key=lambda source: (source.agent, str(source.path)))
    return list(groups.values())


def _get_project_folder(source: TranscriptFile) -> Path:
    """The folder of a project: the files of subagents may stand further down."""
    parent = source.path.parent
    return parent.parents[1] if parent.name == "subagents" and len(parent.parents) > 1 else parent


def identify_file(path: Path) -> TranscriptFile | str:
    """What a file is, or why it holds no transcript.

    Raises:
        OSError: it cannot be read.
    """
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):  # asked before it is opened: to open a device may do something
        return NOT_PLAIN
    with open_transcript(path) as stream:
        start = stream.read(2)
    if not start:
        return "it is empty"
    if start in _UTF_16:
        return "it is UTF-16, which no host writes; convert it to UTF-8"
    rows, head = lines.read_head(path, HEAD_LINES), lines.read_document_head(path)
    known = _identify_rows([head] if head else rows, _name_file(path))
    if known is None:
        return UNKNOWN if rows or head else "no line at its beginning is a JSON object"
    return TranscriptFile(path, *_place_below_parent(path, *known), state.st_size, state.st_mtime, bool(head))


def _name_file(path: Path) -> str:
    """What a session is called by its file."""
    stem = path.name.split(".")[0]
    return path.absolute().parent.name if stem == EVENTS else stem


def _place_below_parent(path: Path, host: str, session: str, agent: str) -> tuple[str, str, str]:
    """A subagent of Gemini CLI stands in a folder named after the session that sent it."""
    if host == GEMINI and path.absolute().parents[1].name == CHATS:
        return host, path.absolute().parent.name, session
    return host, session, agent


def _identify_rows(rows: list[Row], stem: str) -> tuple[str, str, str] | None:
    """Host, session and subagent of a file that begins with these lines; None where it is no transcript."""
    return next(
        ((host, *identity) for host, form in FORMATS.items() if (identity := form.identify(rows, stem)) is not None),
        None,
    )
