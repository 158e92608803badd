"""What a message wishes of the manner of answers, in the user's own plain words."""

from collections.abc import Sequence

from insula.memory.rows import Said
from insula.memory.wishes import wished
from insula.text.analysis import detect
from insula.text.payload import is_payload
from insula.text.wishing import Wish


def wishes_of(content: str, language: str, history: Sequence[Said]) -> tuple[Wish, ...]:
    """The wishes of a message; a payload's are its own, and none of the user's.

    Args:
        content: the message, redacted.
        language: its language, as far as it can be told.
        history: the session so far, oldest first.
    """
    if is_payload(content):
        return ()
    talk = [line for line in history if line.provenance != "tool"]
    previous = next((line.content for line in reversed(talk) if line.provenance == "user"), "")
    response = talk[-1].content if talk and talk[-1].provenance == "assistant" else ""
    tools = [line.content for line in history if line.provenance == "tool"]
    return wished(content, detect(previous, detect(content, language)), previous, response, tools)


def requests_before(history: Sequence[Said], language: str) -> tuple[Wish, ...]:
    """What the user asked of the manner of answers earlier in the session, where no later word of theirs ended it."""
    found: list[Wish] = []
    for place, line in enumerate(history):
        if line.provenance == "user":
            found += wishes_of(line.content, language, history[:place])
    standing = max((place for place, wish in enumerate(found) if wish.force == "standing"), default=-1)
    return tuple(wish for wish in found[standing + 1 :] if wish.force == "asked")
