"""A corpus of secrets that are nobody's: templates in `fixtures/secrets_*.txt`, filled in with a seed.

They are made when they are read, so that no scanner takes a file of this repository for a leak.
"""

import random
import re
from pathlib import Path
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

FOLDER = Path(__file__).parent / "fixtures"
ALPHABETS = {
    "a": ascii_letters + digits,
    "u": ascii_uppercase + digits,
    "U": ascii_uppercase + "234567",
    "l": ascii_lowercase + digits,
    "z": ascii_lowercase,
    "h": "0123456789abcdef",
    "d": digits,
    "b": ascii_letters + digits + "_-",
    "s": ascii_letters + digits + "+/",
    "v": ascii_uppercase + "234567",
}
_PART = re.compile(r"\{([a-zU])(\d+)\}")
_SECRET = re.compile("«(.*?)»", re.DOTALL)


class Case(NamedTuple):
    """A text, and what in it is secret."""

    text: str
    secrets: tuple[str, ...]
    line: str


def cases(half: str, seed: int = 21) -> list[Case]:
    """The cases of a half: `held`, `tuning` or `shapes`."""
    return _filled(f"secrets_{half}.txt", seed)


def look_alikes(seed: int = 21) -> list[Case]:
    """Texts in which nothing is secret, though it looks as if something were."""
    return _filled("without_secrets.txt", seed)


def _filled(name: str, seed: int) -> list[Case]:
    chance = random.Random(seed)
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [_case(line, chance) for line in lines if line and not line.startswith("#")]


def _case(line: str, chance: random.Random) -> Case:
    filled = _PART.sub(lambda part: _random(part[1], int(part[2]), chance), _written(line))
    return Case(_SECRET.sub(r"\1", filled), tuple(_SECRET.findall(filled)), line)


def _written(line: str) -> str:
    return line.replace(r"\n", "\n").replace(r"\t", "\t").replace("{e}", "\x1b")


def _random(kind: str, length: int, chance: random.Random) -> str:
    """As generators make them: long ones of letters and digits have both."""
    while True:
        text = "".join(chance.choices(ALPHABETS[kind], k=length))
        both = any(char in digits for char in text) and any(char not in digits for char in text)
        if length < 12 or kind in "dz" or (both and text[0] not in "-_" and text[-1] not in "-_"):
            return text


def left(text: str, secret: str) -> bool:
    """Whether a third of a secret, and four characters at least, still stands in a text."""
    length = max(4, min(len(secret), len(secret) // 3))
    return any(secret[start : start + length] in text for start in range(len(secret) - length + 1))
