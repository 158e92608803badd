"""What a user asks to have forgotten: heard by a head, shown before it is erased, and erased with a yes (law 10)."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from insula.claims import Claimed, say
from insula.language.heads import chance, point
from insula.memory.privacy.echoes import words_of
from insula.memory.storage.vectors import Vector
from insula.types import Memory, Recalled

MOST = 5
"""Lines that are offered at once."""
SHOWN_CHARS = 120
_YES = frozenset(["yes", "y", "sí", "si", "oui", "ja", "sim", "sì", "是", "是的", "好", "好的", "はい"])
"""An offer is taken by a message that is one of these words and nothing else."""


class Offer(NamedTuple):
    """What a user may have erased by a yes as their next message."""

    lines: tuple[str, ...]
    """What is shown."""
    memories: tuple[int, ...]
    """What is erased: the lines, and the request, which holds their words."""


class Heard(NamedTuple):
    """What became of a request to forget."""

    offer: Offer | None = None
    erased: int = 0

    def told(self, language: str) -> Claimed:
        """What the model is told."""
        if self.erased:
            return say("forget", "done", language, number=self.erased)
        if self.offer:
            return say("forget", "found", language, lines=_listed(self.offer))
        return say("forget", "none", language)

    def under_reply(self, language: str) -> Claimed:
        """What the person is told."""
        if self.erased:
            return say("forget.offer", "erased", language, number=self.erased)
        if self.offer:
            return say("forget.offer", "offer", language, lines=_listed(self.offer))
        return say("forget.offer", "nothing", language)


def is_request(pieces: Mapping[str, Vector]) -> bool:
    """Whether a message asks to have something forgotten, or not stored; never where there are no vectors.

    Args:
        pieces: its sentences and clauses, each with its vector.
    """
    chances = [found for text, vector in pieces.items() if (found := chance("forget", text, vector)) is not None]
    return max(chances, default=0.0) >= point("forget", "offer")


def is_assent(message: str) -> bool:
    """Whether a message is a yes and nothing else."""
    return re.sub(r"[\s.!,。！、]+", " ", message).strip().lower() in _YES


def find_meant(terms: Collection[str], recalled: Sequence[Recalled], before: Sequence[Memory]) -> list[Memory]:
    """What a request means: the user's lines that share words with it, else what they said just before.

    Args:
        terms: of the request.
        recalled: what it brought up, best first.
        before: what the user asserted in this session, newest first.
    """
    own = [one.memory for one in recalled if one.memory.provenance == "user" and one.memory.kind == "semantic"]
    sharing = [memory for memory in own if words_of(memory.content) & set(terms)]
    return sharing[:MOST] or list(before[:1])


def _listed(offer: Offer) -> str:
    return " · ".join(f"“{line}”" for line in offer.lines)


def short(text: str) -> str:
    """A line as it is shown."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"
