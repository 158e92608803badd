"""How phases put what they did into words: small pieces that several of them use."""

from collections.abc import Iterable


def count_noun(number: int, noun: str) -> str:
    """A number with its noun: "1 memory", "2 memories"."""
    return f"{number} {noun if number == 1 else f'{noun[:-1]}ies' if noun.endswith('y') else f'{noun}s'}"


def join_parts(parts: Iterable[str]) -> str:
    """Some parts as one sentence; empty where all of them are."""
    said = "; ".join(part for part in parts if part)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def undo_by(command: str, name: str) -> str:
    """How a person takes a change back."""
    return f"(take it back: insula {command} {name})"
