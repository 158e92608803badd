"""Changes of SOUL.md: the night's own lines taken out, reworded and added, and what differs between two documents.

A person's lines keep every byte.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from insula.night.soul.document import (
    END,
    SECTIONS,
    TEMPLATE,
    Document,
    Section,
    SoulLine,
    line_checksum,
    parse_document,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulChange:
    """One difference between two documents."""

    kind: Literal["added", "changed", "removed"]
    author: Literal["night", "person"]
    text: str
    """After the change; of what was removed, as it was."""
    before: str = ""
    section: Section | None = None
    id: str = ""
    why: str = ""


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
    end = next((match[0] for line in document.lines if (match := END.search(line.raw))), "\n")
    lines = [_reword_line(line, words, end) for line in document.lines if not (line.derived and line.id in gone)]
    for section in SECTIONS:
        if items := [_make_item(section, name, text, end) for where, name, text in new if where == section]:
            lines = _place_items(lines, section, items, end)
    return parse_document("".join(line.raw for line in lines))


def _make_item(section: Section | None, name: str, text: str, end: str) -> SoulLine:
    raw = f"- {text} <!-- i:{name}.{line_checksum(name, text)} -->{end}"
    return SoulLine(raw=raw, kind="item", section=section, text=text, id=name, derived=True)


def _reword_line(line: SoulLine, words: Mapping[str, str], end: str) -> SoulLine:
    return _make_item(line.section, line.id, words[line.id], end) if line.derived and line.id in words else line


def _place_items(lines: list[SoulLine], section: Section, items: list[SoulLine], end: str) -> list[SoulLine]:
    """The lines with items at the end of a section, which is made where it is missing."""
    blank = SoulLine(raw=end, kind="blank")
    at = _end_of(lines, section)
    if at is None:
        at = _place_of(lines, section)
        heading = SoulLine(raw=f"## {section}{end}", kind="heading", section=section, text=section, level=2)
        gap = [blank] if at and lines[at - 1].kind != "blank" else []
        items = [*gap, heading, blank, *items]
    elif lines[at - 1].kind == "heading":
        if at < len(lines) and lines[at].kind == "blank":
            at += 1
        else:
            items = [blank, *items]
    if at < len(lines) and lines[at].kind != "blank":
        items = [*items, blank]
    return [*_close_lines(lines[:at], end), *items, *lines[at:]]


def _close_lines(lines: list[SoulLine], end: str) -> list[SoulLine]:
    """The lines, the last of which has an end."""
    return [*lines, SoulLine(raw=end, kind="blank")] if lines and not END.search(lines[-1].raw) else lines


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
    return next((i for i, line in enumerate(lines) if line.kind == "locked" or line.section in later), len(lines))


def diff_documents(old: Document, new: Document, why: Mapping[str, str] | None = None) -> tuple[SoulChange, ...]:
    """What a reader sees changed between two documents: guidelines by their id, a person's lines as they stand.

    Args:
        why: id -> the reason to show.
    """
    before, after = ({line.id: line for line in each.derived} for each in (old, new))
    rewritten = {line.id: line for line in new.own if line.id}
    reasons = why or {}
    changes = [
        _make_change(before.get(name), after.get(name) or rewritten.get(name), reasons.get(name, ""))
        for name in dict.fromkeys([*before, *after])
        if _line_words(before.get(name)) != _line_words(after.get(name))
    ]
    return (*changes, *_own_changes(old, new, before.keys() - after.keys()))


def _line_words(line: SoulLine | None) -> tuple[str, Section | None] | None:
    return (line.text, line.section) if line else None


def _make_change(before: SoulLine | None, after: SoulLine | None, why: str) -> SoulChange:
    line = after or before
    assert line is not None  # noqa: S101 one of the two documents holds it
    return SoulChange(
        kind="changed" if before and after else "added" if after else "removed",
        author="night" if line.derived else "person",
        text=line.text,
        before=before.text if before and after else "",
        section=line.section,
        id=line.id,
        why=why or ("" if line.derived else "a person rewrote it"),
    )


def _own_changes(old: Document, new: Document, gone: Iterable[str]) -> Iterable[SoulChange]:
    known = frozenset(gone)
    before, after = list(old.own), [line for line in new.own if line.id not in known]
    for line in _missing_lines(before, after):
        yield SoulChange(kind="removed", author="person", text=line.text, section=line.section)
    for line in _missing_lines(after, before):
        yield SoulChange(kind="added", author="person", text=line.text, section=line.section)


def _missing_lines(lines: Iterable[SoulLine], others: Iterable[SoulLine]) -> Iterable[SoulLine]:
    """The lines whose text the others do not hold, or not so often."""
    left = Counter(line.text for line in others)
    for line in lines:
        left[line.text] -= 1
        if left[line.text] < 0:
            yield line


def taken_out(last: Document, document: Document) -> frozenset[str]:
    """The ids of guidelines of the night that a person deleted or rewrote since the night wrote `last`."""
    return frozenset(line.id for line in last.derived) - frozenset(line.id for line in document.derived)
