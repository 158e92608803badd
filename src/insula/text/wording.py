"""How what was counted and done is put into words, on a terminal, on the page and by a night alike."""

import time
from collections.abc import Iterable


def count_noun(number: int, noun: str) -> str:
    """A number with its noun: "1 memory", "2 memories", "1,000 days"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def count_times(number: int) -> str:
    """How often something happened: "once", "twice", "3 times"."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def day_of(at: float) -> str:
    """A moment's day, as in 2026-01-31; empty for none."""
    return time.strftime("%Y-%m-%d", time.gmtime(at)) if at else ""


def join_parts(parts: Iterable[str]) -> str:
    """Some parts as one sentence; empty where all of them are."""
    said = "; ".join(part for part in parts if part)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def undo_by(command: str) -> str:
    """How a person takes a change back."""
    return f"(take it back: insula {command})"


def flatten_words(text: str) -> str:
    """A text in small letters, its words a space apart: two that are alike but for that say the same."""
    return " ".join(text.lower().split())


def shorten_line(text: str, most: int) -> str:
    """A text as one line of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
