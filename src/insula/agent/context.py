"""What else stands in the request: the agent's own brief, and as much of the session as fits."""

from collections.abc import Sequence

from insula.llm.client import Prompt
from insula.llm.wire import Role
from insula.memory.store import Said
from insula.metacognition import Turn
from insula.types import HEDGE_THRESHOLD

HISTORY_CHARS = 6_000
"""Characters of the session that are sent along: about 1,500 tokens."""


def prompt(turn: Turn, base: str = "", history_chars: int = HISTORY_CHARS) -> Prompt:
    """The request of one turn: base, what metacognition says, the session, the message, and what to keep to in it."""
    instructions = "\n\n".join(part for part in (base, turn.instructions) if part)
    return Prompt(instructions=instructions, history=history(turn.history, history_chars), prompt=reminded(turn))


def reminded(turn: Turn) -> str:
    """The message with the turn's reminder behind it."""
    return f"{turn.message}\n\n({turn.reminder})" if turn.reminder else turn.message


def history(lines: Sequence[Said], room: int) -> list[tuple[Role, str]]:
    """The last lines that fit, oldest first, beginning with one of the user's.

    A response that was flagged is left out: a model imitates what it finds, its own failures first.
    """
    chosen: list[tuple[Role, str]] = []
    for line in reversed(lines):
        if line.score is not None and line.score < HEDGE_THRESHOLD:
            continue
        room -= len(line.content)
        if room < 0:
            break
        chosen.append(("assistant" if line.provenance == "assistant" else "user", line.content))
    chosen.reverse()
    while chosen and chosen[0][0] == "assistant":
        chosen.pop(0)
    return chosen
