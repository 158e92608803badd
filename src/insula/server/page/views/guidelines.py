"""SOUL.md as a page shows it: the document, what changed in it, and what waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import zip_longest
from typing import Literal

from insula.coding.replay import figures
from insula.memory.storage.rows import Revised
from insula.night.soul import document as soul
from insula.operations.guidance import GuidanceItem
from insula.server.page.views.words import describe_author

AROUND = 2
"""Unchanged lines that are shown on each side of a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLine:
    """A line of the document as a reader sees it."""

    kind: Literal["heading", "item", "text"]
    text: str
    learned: bool
    """Whether the night wrote it; else it is a person's."""
    card: GuidanceItem | None = None
    """What is known of it, and what a person can do with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRevision:
    """A state of the document."""

    id: int
    when: str
    author: str
    why: str
    diff: list[str]
    """Against the state before it."""


def document_lines(text: str, cards: Mapping[str, GuidanceItem] | None = None) -> list[DocumentLine]:
    """The document without its comments and marks, and without headings that nothing stands under.

    Args:
        cards: what was learned, by its id.
    """
    known = cards or {}
    lines = [line for line in soul.parse_document(text).lines if line.text]
    return [
        DocumentLine(
            kind="text" if line.kind not in ("heading", "item") else line.kind,
            text=line.text,
            learned=line.derived,
            card=known.get(line.id) if line.derived else None,
        )
        for line, following in zip_longest(lines, lines[1:])
        if line.kind != "heading" or (following is not None and following.kind != "heading")
    ]


def compare_documents(before: str, after: str) -> list[str]:
    """What changed between two states, line by line, with a little of what surrounds it; the first sign says how."""
    changed = unified_diff(_visible_lines(before), _visible_lines(after), lineterm="", n=AROUND)
    return list(changed)[2:]


def _visible_lines(text: str) -> list[str]:
    bullets: Mapping[str, str] = {"heading": "## ", "item": "- "}
    return [f"{bullets.get(line.kind, '')}{line.text}" for line in document_lines(text)]


def list_revisions(past: Sequence[Revised]) -> list[DocumentRevision]:
    """Every state, newest first, each with what it changed.

    Args:
        past: the states, newest first.
    """
    before = [*(state.content for state in past), ""][1:]
    return [
        DocumentRevision(
            id=state.id,
            when=figures.format_time(state.at),
            author=describe_author(state.author),
            why=state.summary,
            diff=compare_documents(earlier, state.content),
        )
        for state, earlier in zip(past, before, strict=True)
    ]
