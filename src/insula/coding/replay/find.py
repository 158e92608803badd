"""Which files are transcripts, of which host, and which of them make up one session: told by what they begin with."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from lzma import LZMAError
from pathlib import Path, PurePath
from typing import NamedTuple

from insula.coding.hosts import places
from insula.coding.hosts.payload import get_object, get_text
from insula.coding.replay import lines
from insula.coding.replay.events import Row
from insula.coding.replay.opening import opened
from insula.errors import InputError
from insula.foreign import NOT_PLAIN

CLAUDE_CODE = "claude-code"
CODEX = "codex"
GEMINI = "gemini"
TRAJECTORY = "trajectory"
SESSIONS = "sessions"
"""A file that holds one Claude Code session per line."""
DOCUMENT = "document"
"""A session of Gemini CLI in one JSON document."""

SUFFIXES = (".jsonl", ".jsonl.xz")
HEAD_LINES = 40
_FOLDERS = {CLAUDE_CODE: ("projects",), CODEX: ("sessions", "archived_sessions"), GEMINI: ("tmp",)}
_KINDS = frozenset(
    ("user", "assistant", "system", "summary", "progress", "attachment", "file-history-snapshot", "queue-operation")
)
"""What the first lines of a transcript of Claude Code may be."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([\w.:-]{1,200})"')
CHATS = "chats"
"""Where Gemini CLI keeps the transcripts of a project."""


class Source(NamedTuple):
    """A file that holds a transcript, or the part of a subagent."""

    path: Path
    form: str
    """A host, `trajectory`, `sessions` or `document`."""
    session: str
    agent: str
    size: int
    modified: float


class Found(NamedTuple):
    """What there is to be read."""

    sessions: list[list[Source]]
    """Files that belong to one session are together; the order is that of the folders, and of time within them."""
    passed_over: dict[str, str]
    """Path -> why it holds no transcript."""


def find(paths: Sequence[str | Path]) -> Found:
    """The transcripts under `paths`; where there are none, those in the folders of the hosts.

    Raises:
        InputError: a path does not exist.
    """
    sources, passed = list[Source](), dict[str, str]()
    known = set[tuple[int, int]]()
    for path in _files(paths, passed) if paths else _own(passed):
        try:
            found = None if _is_known(path, known) else source(path)
        except (OSError, EOFError, LZMAError) as error:
            found = f"it cannot be read ({_plain(error)})"
        if isinstance(found, Source):
            sources.append(found)
        elif found:
            passed[str(path)] = found
    return Found(_grouped(sources), passed)


def _is_known(path: Path, known: set[tuple[int, int]]) -> bool:
    """Whether the same file was found before, by another name or by a link."""
    state = path.stat()
    file = state.st_dev, state.st_ino
    if file in known:
        return True
    known.add(file)
    return False


def folders() -> dict[str, list[Path]]:
    """Where each host keeps its transcripts."""
    homes = {host: places.get_host(host).settings().parent for host in _FOLDERS}
    return {host: [homes[host] / name for name in names] for host, names in _FOLDERS.items()}


def foreign(found: Found) -> list[Path]:
    """The files that do not stand in a folder of this user's coding agents, wherever links lead."""
    own = [os.path.realpath(place) for places_ in folders().values() for place in places_]
    files = [(one.path, PurePath(os.path.realpath(one.path))) for sources in found.sessions for one in sources]
    return [path for path, real in files if not any(real.is_relative_to(place) for place in own)]


def unread() -> list[str]:
    """The coding agents that are here and whose sessions nothing reads."""
    return [host.name for name, host in places.HOSTS.items() if name not in _FOLDERS and _folder_of(host).is_dir()]


def _folder_of(host: places.Host) -> Path:
    return host.settings().parents[len(PurePath(host.file).parts) - 1]


def _own(passed: dict[str, str]) -> Iterator[Path]:
    for host, places_ in folders().items():
        for path in _files([one for one in places_ if one.is_dir()], passed):
            if host != GEMINI or CHATS in {path.parent.name, path.parent.parent.name}:
                yield path


def _files(paths: Iterable[str | Path], passed: dict[str, str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            yield from _below(path, passed)
        elif path.exists():
            yield path
        else:
            raise InputError(f"{str(path)!r} does not exist; give a transcript, or a folder that holds transcripts.")


def _below(folder: Path, passed: dict[str, str]) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        passed[str(error.filename)] = f"it cannot be read ({_plain(error)})"

    for place, inside, names in os.walk(folder, onerror=failed):
        inside.sort()
        for name in sorted(names):
            old = name.endswith(".json") and name.startswith("session-") and place.endswith(CHATS)
            if name.endswith(SUFFIXES) or old:
                yield Path(place, name)


def _plain(error: Exception) -> str:
    return str(getattr(error, "strerror", "") or error or type(error).__name__)


def _grouped(sources: Iterable[Source]) -> list[list[Source]]:
    """Files of one session together, in the order in which the first of each comes."""
    groups: dict[tuple[str, str], list[Source]] = {}
    for one in sorted(sources, key=lambda one: (str(_folder(one)), one.modified, str(one.path))):
        alone = one.form in {TRAJECTORY, SESSIONS}
        form = GEMINI if one.form == DOCUMENT else one.form  # a document may have been written anew as lines
        groups.setdefault((form, str(one.path) if alone else one.session), []).append(one)
    for group in groups.values():
        group.sort(key=lambda one: (one.agent, str(one.path)))
    return list(groups.values())


def _folder(source: Source) -> Path:
    """The folder of a project: the files of subagents may stand further down."""
    parent = source.path.parent
    return parent.parents[1] if parent.name == "subagents" and len(parent.parents) > 1 else parent


def source(path: Path) -> Source | str:
    """What a file is, or why it holds no transcript.

    Raises:
        OSError, EOFError, lzma.LZMAError: it cannot be read.
    """
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):  # asked before it is opened: to open a device may do something
        return NOT_PLAIN
    with opened(path) as stream:
        start = stream.read(2)
    if not start:
        return "it is empty"
    if start in _UTF_16:
        return "it is UTF-16, which no host writes; convert it to UTF-8"
    if path.name.endswith(".json"):
        return Source(path, DOCUMENT, _session_of(path), "", state.st_size, state.st_mtime)
    known = _known(lines.head(path, HEAD_LINES), path.name.split(".")[0])
    if isinstance(known, str):
        return known
    return Source(path, *_below_its_parent(path, *known), state.st_size, state.st_mtime)


def _session_of(path: Path) -> str:
    """The session of a document, as it says near its beginning."""
    with opened(path) as stream:
        named = _SESSION_ID.search(stream.read(lines.HEAD))
    return named[1].decode("utf-8", "replace") if named else path.stem


def _below_its_parent(path: Path, form: str, session: str, agent: str) -> tuple[str, str, str]:
    """A subagent of Gemini CLI stands in a folder named after the session that sent it."""
    if form == GEMINI and path.absolute().parents[1].name == CHATS:
        return form, path.absolute().parent.name, session
    return form, session, agent


def _known(rows: list[Row], stem: str) -> tuple[str, str, str] | str:
    """Form, session and subagent of a file that begins with these lines."""
    if not rows:
        return "no line at its beginning is a JSON object"
    first = rows[0]
    if "steps" in first and "id" in first:
        return TRAJECTORY, stem, ""
    if isinstance(first.get("events"), list) and "session_id" in first:
        return SESSIONS, stem, ""
    if "mistake_step" in first or ("_file" in first and "data" in first):
        return "it holds chats between agents, which only `insula bench stuck` reads"
    for row in rows:
        if named := _codex(row) or _gemini(row):
            return named
    if any(get_text(row, "type") in _KINDS and ("uuid" in row or _is_aside(row)) for row in rows):
        return CLAUDE_CODE, *_claude_code(rows, stem)
    return "it holds no session of Claude Code, Codex or Gemini CLI, and no runs with steps"


def _is_aside(row: Row) -> bool:
    return any(name in row for name in ("sessionId", "leafUuid", "messageId"))


def _claude_code(rows: list[Row], stem: str) -> tuple[str, str]:
    named = [get_text(row, "sessionId") for row in rows if get_text(row, "sessionId")]
    agents = [get_text(row, "agentId") for row in rows if get_text(row, "agentId")]
    session = stem if stem in named or not named else named[0]
    return session, agents[0] if agents and len(agents) == sum("uuid" in row for row in rows) else ""


def _codex(row: Row) -> tuple[str, str, str] | None:
    if row.get("type") == "session_meta" and (meta := get_object(row, "payload")):
        own, root = get_text(meta, "id"), get_text(meta, "session_id")
        spawned = get_object(get_object(get_object(meta, "source"), "subagent"), "thread_spawn")
        root = get_text(spawned, "parent_thread_id") or root or own
        return CODEX, root or own, own if own != root else ""
    if "type" not in row and "instructions" in row and "timestamp" in row and get_text(row, "id"):
        return CODEX, get_text(row, "id"), ""
    return None


def _gemini(row: Row) -> tuple[str, str, str] | None:
    if "projectHash" not in row or "sessionId" not in row:
        return None
    agent = get_text(row, "kind") if get_text(row, "kind") != "main" else ""
    return GEMINI, get_text(row, "sessionId"), agent
