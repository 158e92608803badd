"""SOUL.md as text: byte for byte for its file, and as the agent is told of it.

The agent is told the visible text, screened, without marks and comments, within 600 words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from insula.caches import clear_on_erasure
from insula.night.soul.document import SECTIONS, Document, SoulLine
from insula.screening import Reason, Screened, screen_text

WORDS = 600
"""The most that the agent is told (R4; seed 004: 400 to 600)."""
OWN = "Your user's own words"
"""The heading of what stands under `## Yours`."""
_HEADING = 3
"""The level of headings below `## Behavioral Guidelines`."""
_WINDOW = 3
"""Lines that are screened together: an order may be spread over some of them."""
_LONG_WORD = 24
"""A run of more characters without a space counts as several words."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_GAP = re.compile(r"\n{3,}")
_LONG_HEADING = 60
_INDENT = re.compile(r"[ \t]*")


class Withheld(NamedTuple):
    """A line that the agent is not told, and why."""

    text: str
    why: tuple[Reason, ...]
    """Empty where there was no room."""


class RenderedSoul(NamedTuple):
    """What the agent is told, and what not."""

    text: str
    withheld: tuple[Withheld, ...]


def render_document(document: Document) -> str:
    """The text of a document: for a document that was read, the text that it was read from."""
    return "".join(line.raw for line in document.lines)


def count_words(text: str) -> int:
    """How many words a text counts for: two characters of an unspaced script are one, and so is any run of spaces'.

    Bullets and hashes count, so that no reader of the text counts more.
    """
    return sum(_word_weight(word) for word in text.split())


def _word_weight(word: str) -> int:
    unspaced = 0 if word.isascii() else len(_UNSPACED.findall(word))
    return max(1, -(-unspaced // 2), len(word) // _LONG_WORD)


def prompt_text(document: Document, without: frozenset[str] = frozenset()) -> str:
    """What stands under `## Behavioral Guidelines`; empty where there is nothing to tell.

    Args:
        without: ids of those that are told elsewhere, or no more.
    """
    left = tuple(line for line in document.lines if not (line.derived and line.id in without))
    return render_told(replace(document, lines=left) if without else document).text


@clear_on_erasure
@lru_cache(maxsize=16)
def render_told(document: Document) -> RenderedSoul:
    """What the agent is told of a document, and which lines were withheld.

    Lines are told whole or not at all: a person's first, then the guidelines of the night in their order, as long as
    there is room. Text that must not stand in a prompt is left out, wherever it came from.
    """
    withheld: dict[int, Withheld] = {}
    room = WORDS - count_heading_words(document)
    chosen: dict[int, str] = {}
    for i, line in sorted(enumerate(document.lines), key=lambda pair: pair[1].derived):
        if not line.text or line.kind == "heading":
            continue
        weight = line_words(line)
        reasons = _screen_line(line.text).reasons if weight <= room else ()
        if reasons or weight > room:
            withheld[i] = Withheld(line.text, reasons)
            continue
        room -= weight
        chosen[i] = _format_line(line)
    for i, reasons in _screen_together(document.lines, chosen):
        del chosen[i]
        withheld[i] = Withheld(document.lines[i].text, reasons)
    text = _GAP.sub("\n\n", "\n".join(_laid_out(document.lines, chosen))).strip("\n")
    return RenderedSoul(text, tuple(withheld[i] for i in sorted(withheld)))


def line_words(line: SoulLine) -> int:
    """The words that a line counts for when it is told, its bullet or hashes included."""
    return count_words(line.text) + (line.kind == "item" or line.level > 0)


def _format_line(line: SoulLine) -> str:
    """One line as the agent reads it."""
    safe = _screen_line(line.text).text
    if line.kind in ("locked", "code") and not line.level:
        indent = _INDENT.match(line.text)
        return (indent[0] if indent else "") + safe
    if line.level:
        return f"{'#' * max(_HEADING + 1, line.level)} {safe}"
    return f"- {safe}" if line.kind == "item" else safe


@clear_on_erasure
@lru_cache(maxsize=2_048)
def _screen_line(text: str) -> Screened:
    return screen_text(text, len(text))


def _screen_together(lines: Sequence[SoulLine], chosen: dict[int, str]) -> Iterator[tuple[int, tuple[Reason, ...]]]:
    """Lines that are harmless alone and an order together: a person's, or else the last."""
    order = sorted(chosen)
    withheld: dict[int, tuple[Reason, ...]] = {}
    for start in range(max(0, len(order) - 1)):
        window = [i for i in order[start : start + _WINDOW] if i not in withheld]
        whole = "\n".join(lines[i].text for i in window)
        if reasons := _screen_line(whole).reasons:
            own = [i for i in window if not lines[i].derived]
            withheld.update((i, reasons) for i in own or window[-1:])
    return iter(withheld.items())


def _laid_out(lines: Sequence[SoulLine], chosen: dict[int, str]) -> Iterator[str]:
    """The chosen lines under the headings that have something under them."""
    heading: str | None = None
    for i, line in enumerate(lines):
        if line.kind == "heading":
            heading = screen_text(line.text, _LONG_HEADING).text if line.section or _is_fit(line.text) else None
        elif line.kind == "locked" and line.level and not line.text:
            heading = OWN
        elif i in chosen:
            if heading:
                yield f"\n{'#' * _HEADING} {heading}\n"
            heading = None
            yield chosen[i]
        elif not line.text:
            yield ""


def _is_fit(heading: str) -> bool:
    return len(heading) <= _LONG_HEADING and not screen_text(heading, _LONG_HEADING).reasons


def count_told_words(lines: Iterable[SoulLine]) -> int:
    """The words that lines count for when they are told."""
    return sum(line_words(line) for line in lines if line.text)


def count_heading_words(document: Document) -> int:
    """The words that headings take, whatever stands under them: those of the sections, and a person's."""
    seen: set[str] = set()
    more = 0
    for line in document.lines:
        if line.kind == "heading" or (line.kind == "locked" and line.level and not line.text):
            title = line.section or line.text or OWN
            more += count_words(f"# {title}") if title in seen or not (line.section or title == OWN) else 0
            seen.add(title)
    return HEADINGS + more


HEADINGS = sum(1 + len(title.split()) for title in (*SECTIONS, OWN))
"""Words of the headings of all sections."""
