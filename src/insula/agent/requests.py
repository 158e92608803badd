"""The exact request of each turn, part by part, kept for a while so that a person can see what the model was told.

One file a user, beside their SOUL.md: for its owner's eyes alone, without secrets, bounded, and gone with the first
memory that is erased, since any of its parts may quote it.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from insula import foreign
from insula.files import append_line, replace_file
from insula.llm.client import Prompt
from insula.redaction import take_from_line
from insula.value import is_list, is_object

MOST_BYTES = 2_000_000
"""Of one file: some hundred requests. Beyond it the older half goes."""
CHARS_PER_TOKEN = 4
"""About, in English; the provider's own count stands with what the turn took."""
YOURS, SO_FAR = "your message", "the conversation so far: "
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


class RequestPart(NamedTuple):
    """A piece of a request."""

    source: str
    """Where it is from, in words a person knows."""
    text: str

    @property
    def tokens(self) -> int:
        """About how many it takes."""
        return -(-len(self.text) // CHARS_PER_TOKEN)


def split_request(asked: Prompt, message: str) -> list[RequestPart]:
    """A request in the order in which the model reads it, each piece with its source."""
    parts = [*_split_sections(asked.instructions)]
    parts += [RequestPart(SO_FAR + role, text) for role, text in asked.history]
    before, here, after = asked.prompt.partition(message)
    if not here:
        return [*parts, RequestPart(YOURS, asked.prompt)]
    around = (("what is put before it", before), (YOURS, here), ("what is put behind it", after))
    return [*parts, *(RequestPart(source, text) for source, text in around if text.strip())]


def _split_sections(instructions: str) -> Iterator[RequestPart]:
    marks = [*_SECTION.finditer(instructions)]
    first = marks[0].start() if marks else len(instructions)
    if instructions[:first].strip():
        yield RequestPart("who it is, and what it was told of this turn", instructions[:first].strip())
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(instructions)
        yield RequestPart(mark[1].strip(), instructions[mark.start() : end].strip())


class KeptRequests:
    """Where the requests of each user are kept.

    Args:
        path_of: the file of a user; None for nowhere.
    """

    def __init__(self, path_of: Callable[[str], Path | None]) -> None:
        self._path_of = path_of

    def keep_request(
        self, user: str, session: str, turn: int, asked: Sequence[RequestPart], memories: Collection[str] = ()
    ) -> None:
        """Keep the request of a turn, without secrets; without parts, that no model was asked.

        Args:
            memories: the lines in it that quote memories.

        Raises:
            OSError: it cannot be written.
        """
        if (path := self._path_of(user)) is None:
            return
        record = {"session": session, "turn": turn, "parts": [*_take_secrets(asked, memories)]}
        foreign.private(path.parent)
        _shorten_file(path)
        append_line(path, json.dumps(record).encode())

    def find_request(self, user: str, session: str, turn: int) -> list[RequestPart] | None:
        """The request of a turn, empty where no model was asked; None where none is kept."""
        path = self._path_of(user)
        for line in reversed(_read_lines(path)) if path else ():
            with suppress(ValueError):
                record = json.loads(line)
                if is_object(record) and (record.get("session"), record.get("turn")) == (session, turn):
                    known = record.get("parts")
                    return (
                        [RequestPart(str(entry[0]), str(entry[1])) for entry in known if is_list(entry)]
                        if is_list(known)
                        else None
                    )
        return None

    def forget_user(self, user: str) -> None:
        """Let go of all requests of a user."""
        if (path := self._path_of(user)) is not None:
            path.unlink(missing_ok=True)


def _take_secrets(parts: Sequence[RequestPart], memories: Collection[str]) -> Iterator[tuple[str, str]]:
    """Parts without their secrets, those among them that answer what was said before; those of the session are gone."""
    said, secrets = list[tuple[bool, str]](), dict[str, str]()
    for part in parts:
        text, is_own = part.text, part.source in (YOURS, f"{SO_FAR}user")
        if part.source == YOURS:
            text, secrets = take_from_line(text, said, secrets)
        elif not part.source.startswith(SO_FAR):  # a session comes out of the store, where no secret goes in
            text, secrets = _take_from_section(text, memories, secrets)
        said.append((is_own, text))
        yield part.source, text


def _take_from_section(text: str, memories: Collection[str], told: dict[str, str]) -> tuple[str, dict[str, str]]:
    """A section without its secrets. Memories come out of the store, too, and are most of it: only where there is a
    secret in what stands beside them is all of it read."""
    beside = "\n".join(line for line in text.split("\n") if line not in memories)
    clean, secrets = take_from_line(beside, (), told)
    return (text, secrets) if clean == beside else take_from_line(text, (), told)


def _read_lines(path: Path) -> list[bytes]:
    try:
        return foreign.read(path, 2 * MOST_BYTES).splitlines()
    except OSError:
        return []


def _shorten_file(path: Path) -> None:
    if path.exists() and path.stat().st_size > MOST_BYTES:
        lines = _read_lines(path)
        with replace_file(path) as file:
            file.write(b"\n".join([*lines[len(lines) // 2 :], b""]))
