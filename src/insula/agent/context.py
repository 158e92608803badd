"""What else stands in the request: the agent's own brief, and as much of the session as fits."""

from collections.abc import Sequence

from insula.llm.client import Prompt
from insula.llm.wire import Role
from insula.memory.storage.rows import TurnLine
from insula.metacognition import Turn
from insula.session.saved import Saved

HISTORY_CHARS = 6_000
"""Characters of the session that are sent along: about 1,500 tokens."""


def make_prompt(turn: Turn, base: str = "", history_chars: int = HISTORY_CHARS, text: str = "") -> Prompt:
    """The request of one turn: base, what metacognition says, the session, the message, and what to keep to in it.

    Of the session a slow model is sent less, which the turn is told. A text that the message is about stands before it.
    """
    instructions = "\n\n".join(part for part in (base, turn.instructions) if part)
    sent = recent_history(turn.history, int(history_chars * turn.controls.history_share))
    usual = recent_history(turn.history, int(history_chars * turn.engine.controls.history_share))
    unsent = _count_chars(usual) - _count_chars(sent)
    turn.note_saved("history_share", Saved(history_chars=unsent or None))
    about = f"{text.strip()}\n\n---\n\n" if text.strip() else ""
    return Prompt(instructions=instructions, history=sent, prompt=f"{about}{turn.prompt}")


def retry_prompt(asked: Prompt, response: str, sentence: str) -> Prompt:
    """The request that asks once more, at once: the same, with the response and what it lacks behind it."""
    said: list[tuple[Role, str]] = [*asked.history, ("user", asked.prompt), ("assistant", response)]
    return Prompt(instructions=asked.instructions, history=said, prompt=sentence)


def recent_history(lines: Sequence[TurnLine], room: int) -> list[tuple[Role, str]]:
    """The last lines that fit, oldest first, beginning with one of the user's.

    No response is left out for what the monitor made of it: one may be asked about, and the monitor may be wrong.
    """
    chosen: list[tuple[Role, str]] = []
    for line in reversed(lines):
        room -= len(line.content)
        if room < 0:
            break
        chosen.append(("assistant" if line.provenance == "assistant" else "user", line.content))
    chosen.reverse()
    while chosen and chosen[0][0] == "assistant":
        chosen.pop(0)
    return chosen


def _count_chars(lines: Sequence[tuple[Role, str]]) -> int:
    return sum(len(text) for _, text in lines)
