"""SOUL.md: the guidelines that the night learned and a person's own words, in one document that loses no byte.

A document is its lines as they stand. A line that the night wrote carries a mark, `<!-- i:ID.CHECK -->`, that nobody
sees in the rendered page; the check is a digest of the line's words. A line without a mark, or whose words a person
changed, is the person's, and so is everything else in the file: those lines are never changed, moved or removed.

SOUL.md as the agent is told of it: the visible text, screened, without marks and comments, within 600 words."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Literal, get_args

from insula.caches import clear_on_erasure
from insula.errors import InputError
from insula.memory.wishes import WISH
from insula.screening import Screened, screen_text

Section = Literal["Personality", "Interaction principles", "Known patterns", "Growth areas"]
SECTIONS: tuple[Section, ...] = get_args(Section)
Kind = Literal["item", "heading", "text", "blank", "yours", "locked"]

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
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)  # one that is not closed must not reach our marks
_MARK = re.compile(r"<!--[ \t]*i:([0-9a-z_]{1,40})\.([0-9a-f]{4})[ \t]*-->")
_HEADING = re.compile(r" {0,3}#{1,2}[ \t]+(.*?)[ \t#]*\Z")
_ITEM = re.compile(r" {0,3}(?:[-*+•]|\d{1,3}[.)])[ \t]+(\S.*)\Z")
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


@dataclass(frozen=True, slots=True)
class Document:
    """A text read as guidelines; two texts that differ in a byte are two documents."""

    lines: tuple[SoulLine, ...] = ()

    @property
    def derived(self) -> tuple[SoulLine, ...]:
        """The guidelines that the night wrote."""
        return tuple(line for line in self.lines if line.derived)

    @property
    def learned(self) -> tuple[SoulLine, ...]:
        """Of these, what it learned itself: all but the user's preferences, which it only shows."""
        return tuple(line for line in self.derived if not is_preference(line.id))

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
    section: Section | None = None
    is_locked = is_yours = False
    ids = set[str]()
    lines: list[SoulLine] = []
    for raw, seen in zip(_LINE.findall(text), _visible_lines(text), strict=True):
        if lock := _LOCK.match(_bare(raw)):
            is_locked = not lock[1]
            lines.append(SoulLine(raw=raw, kind="locked", section=section))
        elif not is_locked and (heading := _HEADING.match(seen)):
            title = heading[1].strip()
            is_yours = title.casefold() == "yours"
            section = next((each for each in SECTIONS if each.casefold() == title.casefold()), None)
            kind, text = ("yours", "") if is_yours else ("heading", title)
            lines.append(SoulLine(raw=raw, kind=kind, section=section, text=text))
        elif is_locked or is_yours:
            lines.append(SoulLine(raw=raw, kind="locked", section=section, text=seen.rstrip()))
        else:
            lines.append(_read_line(raw, seen, section, ids))
    return Document(tuple(lines))


def _visible_lines(text: str) -> list[str]:
    """Each line as a reader sees it: without comments, also those of several lines, and without its end."""
    without = _COMMENT.sub(lambda comment: "\0".join(["", *_END.findall(comment[0]), ""]), text)
    return [_bare(line).replace("\0", "").partition("<!--")[0] for line in _LINE.findall(without)]


def _bare(raw: str) -> str:
    return raw.rstrip("\r\n").lstrip("\ufeff")


def _read_line(raw: str, seen: str, section: Section | None, ids: set[str]) -> SoulLine:
    """A line that is neither a heading nor locked; `ids` are those of the lines before it."""
    item = _ITEM.match(seen.rstrip())
    text = item[1] if item else seen.strip()
    marks = _MARK.findall(_bare(raw))
    name, checksum = marks[0] if len(marks) == 1 else ("", "")
    is_whole = checksum == line_checksum(name, text) and _MARK.sub("", _bare(raw)).rstrip() == seen.rstrip()
    derived = bool(item and section and name) and name not in ids and is_whole
    ids.add(name)
    kind: Kind = "item" if item else "text" if _bare(raw).strip() else "blank"
    return SoulLine(raw=raw, kind=kind, section=section, text=text, id=name, derived=derived)


def is_preference(name: str) -> bool:
    """Whether a line is that of a preference, by its id."""
    return name.startswith(WISH[:1])


def line_checksum(name: str, text: str) -> str:
    """What a mark says of the words of its line."""
    return sha256(f"{name}\0{text}".encode("utf-8", "replace")).hexdigest()[:4]


def file_digest(text: str | bytes) -> str:
    """What a file is known by."""
    return sha256(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).hexdigest()


# How it changes: the night's own lines alone; a person's keep every byte.


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulChange:
    """A guideline of the night in which two documents differ."""

    kind: Literal["added", "changed", "removed"]
    text: str
    """After the change; of what was removed, as it was."""
    before: str = ""
    id: str
    why: str = ""


def diff_documents(old: Document, new: Document, why: Mapping[str, str] | None = None) -> tuple[SoulChange, ...]:
    """What the guidelines of the night differ in between two documents.

    Args:
        why: id -> the reason to show.
    """
    reasons, before, after = why or {}, *({line.id: line.text for line in each.derived} for each in (old, new))
    return tuple(
        SoulChange(
            kind="removed" if name not in after else "changed" if name in before else "added",
            text=after.get(name, before.get(name, "")),
            before=before.get(name, "") if name in after else "",
            id=name,
            why=reasons.get(name, ""),
        )
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )


def taken_out(last: Document, document: Document) -> frozenset[str]:
    """The ids of guidelines of the night that a person deleted or rewrote since the night wrote `last`."""
    return frozenset(line.id for line in last.derived) - frozenset(line.id for line in document.derived)


def revise_document(
    document: Document,
    *,
    remove: Iterable[str] = (),
    reword: Mapping[str, str] | None = None,
    add: Iterable[tuple[Section, str, str]] = (),
) -> Document:
    """The document with guidelines of the night taken out, reworded and added; a person's lines keep every byte.

    Args:
        document: as it stands; one without a line becomes a new one from `TEMPLATE`.
        reword: id -> the new words.
        add: section, id and words of each, in order; new ones stand last in their section.
    """
    gone, words, new = frozenset(remove), reword or {}, list(add)
    if not document.lines and new:
        document = parse_document(TEMPLATE)
    end = next((match[0] for line in document.lines if (match := _END.search(line.raw))), "\n")
    lines = [line for line in document.lines if not (line.derived and line.id in gone)]
    lines = [
        replace(line, raw=_render_item(line.id, words[line.id], end)) if line.derived and line.id in words else line
        for line in lines
    ]
    for section in SECTIONS:
        if items := [_render_item(name, text, end) for where, name, text in new if where == section]:
            lines = _place_items(lines, section, items, end)
    return parse_document("".join(line.raw for line in lines))


def _render_item(name: str, text: str, end: str) -> str:
    return f"- {text} <!-- i:{name}.{line_checksum(name, text)} -->{end}"


def _place_items(lines: list[SoulLine], section: Section, items: list[str], end: str) -> list[SoulLine]:
    """The lines with items at the end of a section, which is made where it is missing."""
    at = _end_of(lines, section)
    if at is None:
        at = _place_of(lines, section)
        gap = [end] if at and lines[at - 1].kind != "blank" else []
        items = [*gap, f"## {section}{end}", end, *items]
    elif lines[at - 1].kind == "heading":
        if at < len(lines) and lines[at].kind == "blank":
            at += 1
        else:
            items = [end, *items]
    if at < len(lines) and lines[at].kind != "blank":
        items = [*items, end]
    if at and not lines[at - 1].raw.endswith(("\r", "\n")):
        items = [end, *items]
    made = [SoulLine(raw=raw, kind="text" if raw.strip() else "blank", section=section) for raw in items]
    return [*lines[:at], *made, *lines[at:]]


def _end_of(lines: Sequence[SoulLine], section: Section) -> int | None:
    """After the last line of a section that is neither blank nor locked."""
    places = [i for i, line in enumerate(lines) if line.section == section and line.kind not in ("blank", "locked")]
    return places[-1] + 1 if places else None


def _place_of(lines: Sequence[SoulLine], section: Section) -> int:
    """Where a missing section goes: after those before it, else before those after it, else before what is locked."""
    order = SECTIONS.index(section)
    for other in reversed(SECTIONS[:order]):
        if (at := _end_of(lines, other)) is not None:
            return at
    later = SECTIONS[order:]
    firsts = (i for i, line in enumerate(lines) if line.kind in ("yours", "locked") or line.section in later)
    return next(firsts, len(lines))


def render_document(document: Document) -> str:
    """The text of a document: for a document that was read, the text that it was read from."""
    return "".join(line.raw for line in document.lines)


WORDS = 600
"""The most that the agent is told (R4; seed 004: 400 to 600)."""
OWN = "Your user's own words"
"""The heading of what stands under `## Yours`."""
HEADINGS = sum(1 + len(title.split()) for title in (*SECTIONS, OWN))
"""Words of the headings of all sections."""
_WINDOW = 3
"""Lines that are screened together: an order may be spread over some of them."""
_LONG_WORD = 24
"""A run of more characters without a space counts as several words."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_GAP = re.compile(r"\n{3,}")
_LONG_HEADING = 60


def count_words(text: str) -> int:
    """How many words a text counts for: two characters of an unspaced script are one, and so is any run of spaces'.

    Bullets and hashes count, so that no reader of the text counts more.
    """
    return sum(_word_weight(word) for word in text.split())


def _word_weight(word: str) -> int:
    unspaced = 0 if word.isascii() else len(_UNSPACED.findall(word))
    return max(1, -(-unspaced // 2), len(word) // _LONG_WORD)


def count_told_words(lines: Iterable[SoulLine]) -> int:
    """The words that lines count for when they are told, their bullets included."""
    return sum(count_words(line.text) + (line.kind == "item") for line in lines if line.text)


def count_heading_words(document: Document) -> int:
    """The words that headings take, whatever stands under them: those of the sections, and a person's."""
    titles = [title for line in document.lines if (title := _title_of(line))]
    more = [title for i, title in enumerate(titles) if title not in (*SECTIONS, OWN) or title in titles[:i]]
    return HEADINGS + sum(count_words(f"# {title}") for title in more)


def _title_of(line: SoulLine) -> str:
    """The title of a heading; empty for any other line."""
    return OWN if line.kind == "yours" else line.section or line.text if line.kind == "heading" else ""


@clear_on_erasure
@lru_cache(maxsize=16)
def prompt_text(document: Document, without: frozenset[str] = frozenset()) -> str:
    """What stands under `## Behavioral Guidelines`; empty where there is nothing to tell.

    Lines are told whole or not at all: a person's first, then the guidelines of the night in their order, as long as
    there is room. Text that must not stand in a prompt is left out, wherever it came from.

    Args:
        without: ids of guidelines that are told elsewhere, or no more.
    """
    lines = [line for line in document.lines if not (line.derived and line.id in without)]
    room = WORDS - count_heading_words(document)
    chosen: dict[int, str] = {}
    for i, line in sorted(enumerate(lines), key=lambda pair: pair[1].derived):
        if not line.text or _title_of(line):
            continue
        weight = count_told_words([line])
        if weight <= room and not _screen_line(line.text).reasons:
            room -= weight
            chosen[i] = _format_line(line)
    for i in _list_harmful_together(lines, chosen):
        del chosen[i]
    return _GAP.sub("\n\n", "\n".join(_laid_out(lines, chosen))).strip("\n")


def _format_line(line: SoulLine) -> str:
    """One line as the agent reads it; what is a person's own place keeps how it is indented."""
    safe = _screen_line(line.text).text
    if line.kind == "locked":
        return line.text[: len(line.text) - len(line.text.lstrip(" \t"))] + safe
    return f"- {safe}" if line.kind == "item" else safe


@clear_on_erasure
@lru_cache(maxsize=2_048)
def _screen_line(text: str) -> Screened:
    return screen_text(text, len(text))


def _list_harmful_together(lines: Sequence[SoulLine], chosen: Mapping[int, str]) -> set[int]:
    """Lines that are harmless alone and an order together: a person's, or else the last."""
    order = sorted(chosen)
    harmful = set[int]()
    for start in range(max(0, len(order) - 1)):
        window = [i for i in order[start : start + _WINDOW] if i not in harmful]
        if _screen_line("\n".join(lines[i].text for i in window)).reasons:
            harmful.update([i for i in window if not lines[i].derived] or window[-1:])
    return harmful


def _laid_out(lines: Sequence[SoulLine], chosen: Mapping[int, str]) -> Iterator[str]:
    """The chosen lines under the headings that have something under them."""
    heading = ""
    for i, line in enumerate(lines):
        if title := _title_of(line):
            heading = title if line.section or title == OWN or _is_fit(title) else ""
        elif i in chosen:
            if heading:
                yield f"\n### {heading}\n"
            heading = ""
            yield chosen[i]
        elif not line.text:
            yield ""


def _is_fit(heading: str) -> bool:
    screened = screen_text(heading, _LONG_HEADING)
    return len(heading) <= _LONG_HEADING and not screened.reasons and screened.text == heading
