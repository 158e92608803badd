"""SOUL.md: the guidelines that the night learned and a person's own words, in one document that loses no byte.

A document is its lines as they stand. A line that the night wrote carries a mark, `<!-- i:ID.CHECK -->`, that nobody
sees in the rendered page; the check is a digest of the line's words. A line without a mark, or whose words a person
changed, is the person's, and so is everything else in the file: those lines are never changed, moved or removed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from insula.errors import InputError

Section = Literal["Personality", "Interaction principles", "Known patterns", "Growth areas"]
SECTIONS: tuple[Section, ...] = get_args(Section)
Kind = Literal["item", "heading", "text", "blank", "comment", "code", "locked"]

TEMPLATE = "\n".join(
    (
        "<!-- The agent's guidance. Insula writes it anew at night from what several sessions back, and touches",
        "     only its own lines, which end in a mark like i:1f0a…; change one, or take its mark off, and it is yours;",
        "     delete one and it stays out. What stands under “## Yours”, up to the next ## heading, or between",
        "     a line with the comment “locked” and one with the comment “/locked”, is told to the agent and never",
        "     touched. -->",
        "",
        *(f"## {section}\n" for section in SECTIONS),
        "## Yours",
        "",
    )
)
"""A new document; a person may change all of it."""

MOST_CHARS = 256 * 1024
"""A longer text is no document of guidelines, whatever it is."""
_MOST_PROBLEMS = 20
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
END = re.compile(r"(?:\r\n|\r|\n)\Z")
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)  # one that is not closed must not reach our marks
_MARK = re.compile(r"<!--[ \t]*i:([0-9a-z_]{1,40})\.([0-9a-f]{4})[ \t]*-->")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*\Z")
_ITEM = re.compile(r" {0,3}(?:[-*+•]|\d{1,3}[.)])[ \t]+(\S.*)\Z")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_LOCK = re.compile(r"[ \t]*<!--[ \t]*(/?)locked[ \t]*-->[ \t]*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulLine:
    """One line of the document."""

    raw: str
    """As it stands in the file, its end included."""
    kind: Kind
    section: Section | None = None
    text: str = ""
    """What a reader sees of it, without bullet or hashes."""
    id: str = ""
    """Of the guideline; on a person's line, of that which the person rewrote."""
    derived: bool = False
    """Whether the night wrote it and nobody has changed it since."""
    level: int = 0
    """Of a heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text read as guidelines; two texts that differ in a byte are two documents."""

    lines: tuple[SoulLine, ...] = ()
    problems: tuple[str, ...] = ()
    """What was not understood; it stays as it is and counts as the person's."""

    @property
    def derived(self) -> tuple[SoulLine, ...]:
        """The guidelines that the night wrote."""
        return tuple(line for line in self.lines if line.derived)

    @property
    def own(self) -> tuple[SoulLine, ...]:
        """What a person wrote and the agent is told."""
        return tuple(line for line in self.lines if line.text and not line.derived and line.kind != "heading")

    @property
    def rewritten(self) -> frozenset[str]:
        """The ids of guidelines whose words a person changed."""
        return frozenset(line.id for line in self.lines if line.id and not line.derived)


def parse_document(text: str) -> Document:
    """Read a text, whatever it is.

    Raises:
        InputError: it is longer than `MOST_CHARS`.
    """
    if len(text) > MOST_CHARS:
        raise InputError(f"SOUL.md has {len(text):,} characters and {MOST_CHARS:,} are the most; shorten it.")
    return _SoulReader(text).read_document()


class _SoulReader:
    """Goes through a text once, with what is open at each line: a comment, a fence, a locked part, a section."""

    def __init__(self, text: str) -> None:
        self._raws: list[str] = _LINE.findall(text)
        self._seen, self._commented = _without_comments(text, self._raws)
        self._problems: list[str] = []
        self._section: Section | None = None
        self._locked = self._yours = self._fenced = False
        self._ids: set[str] = set()

    def read_document(self) -> Document:
        fences = [i for i, seen in enumerate(self._seen) if _FENCE.match(seen)]
        self._last_fence = fences[-1] if fences else -1
        lines = tuple(self._read_line(i) for i in range(len(self._raws)))
        return Document(lines=lines, problems=tuple(self._problems[:_MOST_PROBLEMS]))

    def _read_line(self, i: int) -> SoulLine:
        raw, seen = self._raws[i], self._seen[i]
        bare = END.sub("", raw).lstrip("\ufeff")
        lock = _LOCK.match(bare) if not self._fenced else None
        if lock:
            self._locked = not lock[1]
            return SoulLine(raw=raw, kind="locked", section=self._section)
        if self._locked:
            return SoulLine(raw=raw, kind="locked", section=self._section, text=seen.rstrip())
        if self._commented[i]:
            return SoulLine(
                raw=raw, kind="locked" if self._yours else "comment", section=self._section, text=seen.strip()
            )
        return self._read_visible(i, raw, bare, seen)

    def _read_visible(self, i: int, raw: str, bare: str, seen: str) -> SoulLine:
        fence = bool(_FENCE.match(seen))
        if fence and not self._fenced and i == self._last_fence:
            self._note_problem(i, "a block of code is not closed; it is taken for text")
            fence = False
        if fence or self._fenced:
            self._fenced = self._fenced != fence
            return SoulLine(
                raw=raw, kind="locked" if self._yours else "code", section=self._section, text=seen.rstrip()
            )
        if heading := _HEADING.match(seen):
            return self._read_heading(raw, len(heading[1]), heading[2].strip())
        if self._yours:
            return SoulLine(raw=raw, kind="locked", text=seen.rstrip())
        if "<!--" in seen:
            self._note_problem(i, "a comment is not closed; the agent is not told what follows in the line")
            seen = seen[: seen.index("<!--")]
        return self._read_prose(i, raw, bare, seen)

    def _read_heading(self, raw: str, level: int, title: str) -> SoulLine:
        if level > 2:
            kind: Kind = "locked" if self._yours else "text"
            return SoulLine(raw=raw, kind=kind, section=self._section, text=title, level=level)
        self._yours = title.casefold() == "yours"
        self._section = next((each for each in SECTIONS if each.casefold() == title.casefold()), None)
        if self._yours:
            return SoulLine(raw=raw, kind="locked", level=level)
        return SoulLine(raw=raw, kind="heading", section=self._section, text=title, level=level)

    def _read_prose(self, i: int, raw: str, bare: str, seen: str) -> SoulLine:
        item = _ITEM.match(seen.rstrip())
        text = item[1] if item else seen.strip()
        marks = _MARK.findall(bare)
        if "<!-- i:" in bare and len(marks) != 1:
            self._note_problem(i, "its mark is broken; the line is taken for yours")
        if not text and not marks:
            return SoulLine(raw=raw, kind="blank" if not bare.strip() else "comment", section=self._section)
        name, seal = marks[0] if len(marks) == 1 else ("", "")
        derived = bool(item and self._section and name and name not in self._ids) and seal == line_checksum(name, text)
        self._ids.add(name)
        kind: Kind = "item" if item else "text"
        return SoulLine(raw=raw, kind=kind, section=self._section, text=text, id=name, derived=derived)

    def _note_problem(self, i: int, problem: str) -> None:
        self._problems.append(f"Line {i + 1} of SOUL.md is not understood: {problem}.")


def _without_comments(text: str, raws: Sequence[str]) -> tuple[list[str], list[bool]]:
    """Each line as a reader sees it, and whether it belongs to a comment of several lines."""
    spans = (match.span() for match in _COMMENT.finditer(text))
    span = next(spans, None)
    seen: list[str] = []
    commented: list[bool] = []
    at = 0
    for raw in raws:
        parts, start, end, several = list[str](), at, at + len(raw), False
        while span and span[0] < end:
            parts.append(text[start : max(start, span[0])])
            several |= span[0] < at or span[1] > end
            start = max(start, min(end, span[1]))
            if span[1] > end:
                break
            span = next(spans, None)
        parts.append(text[start:end])
        seen.append(END.sub("", "".join(parts)).lstrip("\ufeff"))
        commented.append(several)
        at = end
    return seen, commented


def line_checksum(name: str, text: str) -> str:
    """What a mark says of the words of its line."""
    return sha256(f"{name}\0{text}".encode("utf-8", "replace")).hexdigest()[:4]


def file_digest(text: str | bytes) -> str:
    """What a file is known by."""
    return sha256(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).hexdigest()
