"""What a message wishes of the manner of answers, in the user's own plain words."""

from collections.abc import Awaitable, Callable, Sequence

from insula.memory import manner, related
from insula.memory.rows import Said
from insula.memory.vectors import Vector
from insula.memory.wishes import plain, wished
from insula.text.analysis import detect
from insula.text.marks import marked
from insula.text.payload import is_payload
from insula.text.wishing import Wish

PARTS = 6
"""Parts of a message whose meaning is asked for; a longer one is heard by its words."""


STANDING = 12
"""Wishes that stand, the latest, with which the meaning of a message is compared."""


def to_hear(content: str, language: str) -> tuple[str, ...]:
    """The parts of a message whose meaning `heard` asks for, as far as they can be told without the talk before."""
    said = () if is_payload(content) else tuple(part.text for part in marked(content, language))
    return said if len(said) <= PARTS else ()


async def heard(
    content: str,
    language: str,
    history: Sequence[Said],
    meaning: Callable[[str], Awaitable[Vector | None]],
    standing: Sequence[str] = (),
) -> tuple[Wish, ...]:
    """The wishes of a message; a payload's are its own, and none of the user's.

    Args:
        content: the message, redacted.
        language: its language, as far as it can be told.
        history: the session so far, oldest first.
        meaning: makes the vector of a text, where there is one to be had.
        standing: the words of the wishes that stand, the latest first.
    """
    if is_payload(content):
        return ()
    talk = [line for line in history if line.provenance != "tool"]
    previous = next((line.content for line in reversed(talk) if line.provenance == "user"), "")
    response = talk[-1].content if talk and talk[-1].provenance == "assistant" else ""
    tools = [line.content for line in history if line.provenance == "tool"]
    spoken = detect(previous, detect(content, language))
    said = marked(content, spoken)
    known = [(part, await meaning(part.text)) for part in said] if len(said) <= PARTS else ()
    found = wished(content, spoken, previous, response, tools, manner.chances(known))
    changing = [related.Said(part, vector) for part, vector in known if vector is not None]
    changing = [one for one in changing if found or related.may_change(one)]
    if not standing or not changing:
        return found
    vectors = [(text, await meaning(text)) for text in standing[:STANDING]]
    told = [(text, vector) for text, vector in vectors if vector is not None]
    return plain(related.with_related(found, changing, told), content, tools)
