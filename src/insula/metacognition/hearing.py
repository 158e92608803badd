"""What a message wishes of the manner of answers, in the user's own plain words."""

from collections.abc import Awaitable, Callable, Sequence

from insula.memory import manner
from insula.memory.rows import Said
from insula.memory.vectors import Vector
from insula.memory.wishes import wished
from insula.text.analysis import detect
from insula.text.payload import is_payload
from insula.text.wishing import Wish, parts

PARTS = 6
"""Parts of a message whose meaning is asked for; a longer one is heard by its words."""


def to_hear(content: str, language: str) -> tuple[str, ...]:
    """The parts of a message whose meaning `heard` asks for, as far as they can be told without the talk before."""
    said = () if is_payload(content) else parts(content, language)
    return said if len(said) <= PARTS else ()


async def heard(
    content: str, language: str, history: Sequence[Said], meaning: Callable[[str], Awaitable[Vector | None]]
) -> tuple[Wish, ...]:
    """The wishes of a message; a payload's are its own, and none of the user's.

    Args:
        content: the message, redacted.
        language: its language, as far as it can be told.
        history: the session so far, oldest first.
        meaning: makes the vector of a text, where there is one to be had.
    """
    if is_payload(content):
        return ()
    talk = [line for line in history if line.provenance != "tool"]
    previous = next((line.content for line in reversed(talk) if line.provenance == "user"), "")
    response = talk[-1].content if talk and talk[-1].provenance == "assistant" else ""
    tools = [line.content for line in history if line.provenance == "tool"]
    spoken = detect(previous, detect(content, language))
    said = parts(content, spoken)
    known = [(part, await meaning(part)) for part in said] if len(said) <= PARTS else ()
    return wished(content, spoken, previous, response, tools, manner.chances(known))
