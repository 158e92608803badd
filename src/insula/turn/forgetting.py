"""What a user asks to have forgotten: shown before it is erased, and erased with a yes (law 10)."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from insula.claims import Claimed, say_claim
from insula.language.forget import Forget
from insula.memory.privacy.echoes import split_words
from insula.types import Memory, Recalled

MOST = 5
"""Lines that are offered at once."""
SHOWN_CHARS = 120
_YES = frozenset(["yes", "y", "sí", "si", "oui", "ja", "sim", "sì", "是", "是的", "好", "好的", "はい"])
_NO = frozenset(["no", "n", "non", "nein", "não", "nao", "不", "不是", "不要", "いいえ"])
"""An offer is taken, or refused, by a message that is one of these words and nothing else."""
_BRIEF_WORDS, _BRIEF_CHARS = 4, 24
"""Size of a message that answers an offer, but neither with a yes nor with a no alone ("Yes, please.", "Thanks!")."""


class ErasureOffer(NamedTuple):
    """What a user may have erased by a yes as their next message."""

    lines: tuple[str, ...]
    """What is shown."""
    memories: tuple[int, ...]
    """What is erased: the lines, and the request, which holds their words."""
    language: str
    """Of the request: what comes of it is said in the same."""
    is_repeated: bool = False
    """Whether it was made before, and answered by neither a yes nor a no."""


class ForgetOutcome(NamedTuple):
    """What became of a request to forget."""

    language: str
    offer: ErasureOffer | None = None
    erased: int = 0
    is_declined: bool = False
    is_all: bool = False
    """Whether it asks for everything to be forgotten, which is done elsewhere."""

    request: str = ""
    """What of the message asks; empty where it answers what was offered before."""

    def is_in_request(self, words: str) -> bool:
        """Whether words of the message are a part of the request, which is no fact and no preference."""
        return bool(self.request) and words.strip(" .!?。！？").casefold() in self.request.casefold()

    @property
    def told(self) -> Claimed:
        """What the model is told."""
        return self._say_outcome("forget", done="done", declined="declined", all_="all", offer="found", nothing="none")

    @property
    def under_reply(self) -> Claimed:
        """What the person is told."""
        return self._say_outcome(
            "forget.offer", done="erased", declined="kept", all_="everything", offer="offer", nothing="nothing"
        )

    def _say_outcome(self, claim: str, *, done: str, declined: str, all_: str, offer: str, nothing: str) -> Claimed:
        if self.erased:
            return say_claim(claim, done, self.language, number=self.erased)
        if self.offer:
            return say_claim(claim, offer, self.language, lines=" · ".join(f"“{line}”" for line in self.offer.lines))
        return say_claim(claim, declined if self.is_declined else all_ if self.is_all else nothing, self.language)


def is_assent(message: str) -> bool:
    """Whether a message is a yes and nothing else."""
    return _flatten_message(message) in _YES


def is_refusal(message: str) -> bool:
    """Whether a message is a no and nothing else."""
    return _flatten_message(message) in _NO


def is_unclear(message: str) -> bool:
    """Whether a message may answer an offer, and is no question: who believes that it was taken is shown it again."""
    is_question = message.rstrip().endswith(("?", "？"))
    return len(message) <= _BRIEF_CHARS and len(message.split()) <= _BRIEF_WORDS and not is_question


def _flatten_message(message: str) -> str:
    return re.sub(r"[\s.!,。！、]+", " ", message).strip().lower()


def find_meant(
    asked: Forget, terms: Collection[str], recalled: Sequence[Recalled], before: Sequence[Memory], likely: float
) -> list[Memory]:
    """What a request means: what the user said just before, or their lines that share words with what it names or
    that would answer a question for it.

    Args:
        asked: what it asks for.
        recalled: what it brought up, best first.
        before: what the user asserted in this session, newest first.
    """
    if asked == "before":
        return list(before[:1])
    own = [
        recalled_memory
        for recalled_memory in recalled
        if recalled_memory.memory.provenance == "user" and recalled_memory.memory.kind == "semantic"
    ]
    meant = [
        hit.memory
        for hit in own
        if split_words(hit.memory.content) & set(terms) or (hit.odds is not None and hit.odds >= likely)
    ]
    return meant[:MOST]


def shorten_line(text: str) -> str:
    """A line as it is shown."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"
