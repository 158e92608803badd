"""What a user hands over to be worked on, or as somebody else's words, is data for the whole exchange, and not theirs.

What announces it stands before a colon or a line's end ("Fix the grammar: …"), or it is the whole message, and the
text comes in the next ones ("I'll send the contract in three parts"). A head tells it from what leads to words of the
user's own ("One more thing: …"); without vectors, only a lead of a word or two does.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from insula.language.heads import operating_point
from insula.text.analysis import analyse_text
from insula.text.pasted import behind_quotation, has_body, lead_of
from insula.types import Provenance

Hands = Callable[[str], float | None]
"""The chance that some words announce what is handed over; None where no vector tells."""
Waits = Callable[[str], bool]
"""Whether a short response may only wait for a text that was announced, and does not answer."""
SHORT, SHORT_UNSPACED = 2, 6
"""Words, or characters where words are not spaced, of a lead that announces nothing where no vector tells."""
LOOKED_BACK = 2
"""Messages of the user's before one that may announce it; each costs a vector in each turn."""
ANNOUNCING = 200
"""Characters of a message that announces a text and does not hold it, and of a response that only waits for one."""
_PARTS = re.compile(
    r"\b(?:part|parte|partie|teil)\s(\d{1,2})\s?(?:/|of|von|de|sur|su|di)\s?(\d{1,2})\b|\A\W*(\d{1,2})/(\d{1,2})\b"
    r"|[(\[](\d{1,2})/(\d{1,2})[)\]]|(?:第|その)(\d{1,2})\D{0,8}[共全](\d{1,2})",
    re.IGNORECASE,
)


def may_wait(_response: str) -> bool:
    """Every short response may, where nothing tells more."""
    return True


class SpokenLine(Protocol):
    """A line of a conversation."""

    @property
    def provenance(self) -> Provenance: ...
    @property
    def content(self) -> str: ...


@dataclass(frozen=True, slots=True)
class UsersWords:
    """What a user said themselves, the only text that becomes guidance; only `users_words` makes it."""

    text: str


def users_words(
    content: str, provenance: Provenance, before: Sequence[SpokenLine], hands: Hands, waits: Waits = may_wait
) -> UsersWords:
    """What of a line the user said themselves: nothing of anybody else's line, nor of what they hand over.

    Args:
        before: the lines of the session before it, oldest first.
        hands: the chance that words announce something, of those that `announcing_words` names.
        waits: whether a short response only waits for a text.
    """
    awaited = _is_awaited(before, hands, waits) and not _asks_something(content)
    return UsersWords("" if awaited or provenance != "user" else _without_body(content, hands))


def _without_body(content: str, hands: Hands) -> str:
    lead = lead_of(content)
    if lead and _hands_over(_last_sentence(lead), hands):
        return f"{lead}. {rest}" if (rest := behind_quotation(content[len(lead) :])) else lead
    return "" if _count_remaining(content) is not None else content


def announcing_words(content: str, before: Sequence[SpokenLine]) -> tuple[str, ...]:
    """The words that decide what of a message is the user's own, to be read by the head."""
    lead = lead_of(content)
    return tuple(
        dict.fromkeys((*([_last_sentence(lead)] if lead else []), *(line.content for line in _may_announce(before))))
    )


def users_lines(lines: Sequence[SpokenLine], hands: Hands, waits: Waits = may_wait) -> tuple[UsersWords, ...]:
    """What of each line of a session the user said themselves."""
    return tuple(
        users_words(line.content, line.provenance, lines[:place], hands, waits) for place, line in enumerate(lines)
    )


def _hands_over(lead: str, hands: Hands) -> bool:
    """Whether a lead hands over what follows it; unsure is yes."""
    if (likely := hands(lead)) is not None:
        return likely >= operating_point("handed", "cut")
    return not _is_short(lead)


def _is_short(words: str) -> bool:
    wide = any(char >= "\u3040" for char in words)
    return len(words) <= SHORT_UNSPACED if wide else len(words.split()) <= SHORT


def _announces_text(message: str, hands: Hands) -> bool:
    """Whether a message surely announces a text that comes in the next ones."""
    return not _asks_something(message) and (hands(message) or 0.0) >= operating_point("handed", "announce")


def _is_awaited(before: Sequence[SpokenLine], hands: Hands, may_only_wait: Waits) -> bool:
    """Whether a text was announced that has not come whole."""
    announced = {id(line) for line in _may_announce(before)}
    due, waits = 0, False
    for line in before:
        if line.provenance != "user":
            waits = waits and len(line.content) <= ANNOUNCING and may_only_wait(line.content)
        elif (parts := _count_remaining(line.content)) is not None:
            due = parts
        else:
            due = max(0, due - 1)
            waits = (waits and not _asks_something(line.content)) or (
                id(line) in announced and _announces_text(line.content, hands)
            )
    return due > 0 or waits


def _may_announce(before: Sequence[SpokenLine]) -> list[SpokenLine]:
    """The user's last messages that hold no text, before anything was there that they could be about."""
    announcers: list[SpokenLine] = []
    for line in before:
        if line.provenance == "user":
            if has_body(line.content) or len(line.content) > ANNOUNCING:
                break
            if not _asks_something(line.content) and not _is_short(line.content):
                announcers.append(line)
        elif len(line.content) > ANNOUNCING:
            break
    return announcers[-LOOKED_BACK:]


def _count_remaining(message: str) -> int | None:
    """How many parts are still to come after one that says which it is ("part 1 of 3"); None where it says nothing."""
    match = _PARTS.search(message[:ANNOUNCING].partition("\n")[0])
    if match is None:
        return None
    number, of = (int(each) for each in match.groups() if each)
    return of - number if 1 <= number <= of and of > 1 else None


def _last_sentence(lead: str) -> str:
    """The sentence of a lead that stands before the text."""
    sentences = analyse_text(lead).sentences
    return sentences[-1].text.strip() if sentences else lead


def _asks_something(message: str) -> bool:
    return message.rstrip().endswith(("?", "？"))
