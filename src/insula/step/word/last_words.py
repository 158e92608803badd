"""What an agent says when it stops, clause by clause: what it says that it did, what it says that it did not."""

import re

from insula.step.word import heads
from insula.step.word.table import table
from insula.value import Value

DID, NOT, OTHER = "did", "not", "other"
READ = 6_000
MOST = 80
SURE = 0.6


class Told(Value):
    """A clause of an agent's last words."""

    text: str
    means: str
    sentence: str


def told(said: str) -> "tuple[Told, ...]":
    """The clauses of an agent's last words, with what each means; code, quotations and tables are none of its words."""
    text = re.sub(r"```.*?(?:```|\Z)|(?m:^[ \t]*[|>].*$)", " ", said[-READ:], flags=re.DOTALL)
    text = re.sub(r"\*\*|__|(?m:^#+ )", "", text)
    found: list[Told] = []
    for line in text.split("\n"):
        for sentence in re.split(r"(?<=[.!?…])\s+|(?<=[。！？])", re.sub(r"^\s*(?:[-*•·✓✔✅☑]|\d+[.)])\s*", "", line)):
            for piece in re.split(table()["told"], sentence):
                if any(map(str.isalnum, piece)) and len(piece) <= 300:
                    found.append(_told(piece.strip(), sentence.strip()))
                if len(found) >= MOST:
                    return tuple(found)
    return tuple(found)


def _told(text: str, sentence: str) -> Told:
    if sentence.endswith(("?", "？")):
        return Told(text=text, means=OTHER, sentence=sentence)
    chances = heads.score("report", text)
    means = max(chances, key=lambda one: chances[one])
    return Told(text=text, means=means if chances[means] >= SURE else OTHER, sentence=sentence)


def asks(said: str) -> bool:
    """Whether the agent ends with a question, or says that it waits for an answer."""
    lines = [line.strip() for line in said.strip().split("\n") if line.strip()]
    return bool(lines) and (
        lines[-1].rstrip("*_ )").endswith(("?", "？")) or any(line.endswith(("?", "？")) for line in lines[-3:])
    )
