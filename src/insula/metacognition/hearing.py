"""What a message wishes of the manner of answers, in the user's own plain words."""

from collections.abc import Mapping, Sequence

from insula.language.heads import point
from insula.memory.rows import Said
from insula.memory.wishes import plain, wished
from insula.redaction import without_markers
from insula.text.analysis import detect
from insula.text.payload import is_payload
from insula.text.wishing import Wish, speaks_a_part, standing_wish


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
    return wished(content, detect(previous, detect(content, language)), previous, response, _of_tools(history))


def _of_tools(history: Sequence[Said]) -> list[str]:
    return [line.content for line in history if line.provenance == "tool"]


def with_meant(
    found: Sequence[Wish], chances: Mapping[str, float], content: str, language: str, history: Sequence[Said]
) -> tuple[Wish, ...]:
    """The wishes of a message that its words tell, and those that its sentences surely mean in any words.

    Args:
        found: what words tell, by `wishes_of`.
        chances: of the sentences and clauses of the message, that each states a standing preference; of those that
            overlap the surest counts.
        content: the message, redacted; a payload's wishes are its own, and those of a part to play are the part's.
        language: its language.
        history: the session so far; what a tool said in it, or what reads like an attack, is no wish of the user's.
    """
    least = point("preference", "hear")
    sure = sorted((text for text, likely in chances.items() if likely >= least), key=lambda text: -chances[text])
    if not sure or is_payload(content) or speaks_a_part(content) or without_markers(content) != content:
        return tuple(found)
    heard = [one.words for one in found]
    meant: list[Wish] = []
    for text in sure:
        if not any(text in other or other in text for other in heard):
            heard.append(text)
            meant.append(standing_wish(text, language))
    return (*found, *plain(meant, content, _of_tools(history)))


def requests_before(history: Sequence[Said], language: str) -> tuple[Wish, ...]:
    """What the user asked of the manner of answers earlier in the session, where no later word of theirs ended it."""
    found: list[Wish] = []
    for place, line in enumerate(history):
        if line.provenance == "user":
            found += wishes_of(line.content, language, history[:place])
    standing = max((place for place, wish in enumerate(found) if wish.force == "standing"), default=-1)
    return tuple(wish for wish in found[standing + 1 :] if wish.force == "asked")
