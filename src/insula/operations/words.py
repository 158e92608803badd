"""Numbers and moments in words, as terminal and page alike say them."""

import time


def count_noun(number: int, noun: str) -> str:
    """A number of things: "1 change", "2 changes", "2 memories"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def count_times(number: int) -> str:
    """How often something happened: "once", "twice", "3 times"."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def day_of(at: float) -> str:
    """A moment's day, as in 2026-01-31; empty for none."""
    return time.strftime("%Y-%m-%d", time.gmtime(at)) if at else ""
