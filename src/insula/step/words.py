"""Small words of our texts."""

_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def counted(count: int) -> str:
    """A number as it is written in a sentence."""
    return _SMALL[count] if 0 <= count < len(_SMALL) else str(count)


def listed(names: "tuple[str, ...]") -> str:
    """Names in a row: `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
