"""What else stands in the request: the agent's own brief, and as much of the session as fits."""

from collections.abc import Sequence

from insula.llm.client import Prompt
from insula.memory.store import Said
from insula.metacognition import Turn

BASE = "Answer the user's last message directly and briefly."
"""The base of the system prompt: the same in every turn, and so first."""

HISTORY_CHARS = 6_000
"""Characters of the session that are sent along: about 1,500 tokens."""


def prompt(turn: Turn, base: str = BASE) -> Prompt:
    """The request of one turn: base, what metacognition says, the session, the message."""
    instructions = "\n\n".join(part for part in (base, turn.instructions) if part)
    return Prompt(instructions=instructions, history=history(turn.history), prompt=turn.message)


def history(lines: Sequence[Said]) -> list[tuple[str, str]]:
    """The last lines that fit, oldest first, beginning with one of the user's."""
    chosen: list[tuple[str, str]] = []
    room = HISTORY_CHARS
    for line in reversed(lines):
        room -= len(line.content)
        if room < 0:
            break
        chosen.append(("assistant" if line.provenance == "assistant" else "user", line.content))
    chosen.reverse()
    while chosen and chosen[0][0] == "assistant":
        chosen.pop(0)
    return chosen
