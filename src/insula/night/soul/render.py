"""SOUL.md as the agent is told of it: the visible text, screened, without marks and comments, within 600 words."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from insula.caches import clear_on_erasure
from insula.night.soul.document import SECTIONS, Document, SoulLine
from insula.screening import Screened, screen_text

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
