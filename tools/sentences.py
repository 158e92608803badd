"""The sentences of the docs that are too long to be read once, by page: `python tools/sentences.py [WORDS] [PAGE…]`.

A sentence of more than 30 words (or of as many as are named first) is best split. Code, quotations and the targets of
links count as one word; a cell of a table, an item of a list and what stands behind a colon are sentences of their own.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_WORDS = 30
FENCE = re.compile(r"^```.*?^```$|^ {4}[^\n]*$", re.M | re.S)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
QUOTED = re.compile(r"`[^`]*`|“[^”]*”|\"[^\"]*\"")
BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )|\s*\|\s*")
END = re.compile(r"(?<=[.!?:;])\**\s+")


def list_sentences(text: str) -> Iterator[str]:
    """The sentences of a page, from top to bottom."""
    for paragraph in BREAK.split(FENCE.sub("", text)):
        plain = QUOTED.sub("…", LINK.sub(r"\1", " ".join(paragraph.split())))
        yield from END.split(plain)


def count_words(sentence: str) -> int:
    """How many words a sentence has; signs alone are none."""
    return sum(1 for word in sentence.split() if re.search(r"\w|…", word))


def main(arguments: list[str]) -> None:
    """Print the long sentences of each page, the longest first."""
    most = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else MOST_WORDS
    pages = [Path(page) for page in arguments] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        counted = [(count_words(text), text) for text in list_sentences(page.read_text("utf-8"))]
        long = [(words, text) for words, text in counted if words > most]
        for words, text in sorted(long, reverse=True):
            print(f"{page.resolve().relative_to(ROOT)}: {words} words: {text}")


if __name__ == "__main__":
    main(sys.argv[1:])
