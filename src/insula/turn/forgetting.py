"""What a user asks to have forgotten: shown before it is erased, and erased with a yes (law 10)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from insula.claims import Claimed, say_claim
from insula.language.forget import ForgetRequest, name_terms
from insula.language.owner import ASSISTANT, SOMEBODY, USER, find_owners
from insula.memory.privacy.echoes import split_words
from insula.memory.relevance import ANSWERS, BESIDE
from insula.text.analysis import analyse_text
from insula.text.grammar import UNSPACED
from insula.text.wording import shorten_line
from insula.types import Memory, Recalled

MOST = 5
"""Lines that are offered at once."""
SHOWN_CHARS = 120
MUCH = 0.5
"""The share of what a message names that a line holds where it only may be a request: of 640 questions of the world two
that shared one word of several with a line were met with an offer."""
PART_CHARS = 5
"""Characters of a word with which another one begins, that both may mean the same."""
_YES = frozenset(["yes", "y", "sí", "si", "oui", "ja", "sim", "sì", "是", "是的", "好", "好的", "はい"])
_NO = frozenset(["no", "n", "non", "nein", "não", "nao"])
_NO_UNSPACED = ("不", "いいえ")
_BESIDE_YES = frozenset(
    (
        *("please", "do it", "por favor", "hazlo", "s'il te plaît", "s'il vous plaît", "fais-le", "faites-le"),
        *("bitte", "mach das", "mach es", "faz isso", "faça isso", "per favore", "fallo", "请", "お願いします"),
    )
)
"""An offer is taken by a message that is a yes, alone or with please or "do it" behind it, and refused by one that
begins with a no; what says more does neither."""
_ASSENT = re.compile(rf"(?:{'|'.join(sorted(_YES, reverse=True))})(?: (?:{'|'.join(sorted(_BESIDE_YES))}))*")
_BRIEF_WORDS, _BRIEF_CHARS = 4, 24
"""Size of a message that answers an offer, but neither with a yes nor with a no ("Thanks!", "I think so.")."""


class Remainder(NamedTuple):
    """The other sentences of a line of which some are erased."""

    text: str
    memory: Memory
    """The line."""


class ErasureOffer(NamedTuple):
    """What a user may have erased by a yes as their next message."""

    lines: tuple[str, ...]
    """What is shown."""
    memories: tuple[int, ...]
    """What is erased: the lines, and the request, which holds their words."""
    language: str
    """Of the request: what comes of it is said in the same."""
    staying: tuple[Remainder, ...] = ()
    """What else those lines say, which is remembered as it was."""
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
    """Whether a message is a yes, alone or with please or "do it", and nothing else."""
    return _ASSENT.fullmatch(_flatten_message(message)) is not None


def is_refusal(message: str) -> bool:
    """Whether a message begins with a no ("No, keep it.")."""
    words = _flatten_message(message)
    return words.split(" ", 1)[0] in _NO or words.startswith(_NO_UNSPACED)


def is_unclear(message: str) -> bool:
    """Whether a message may answer an offer, and is no question: who believes that it was taken is shown it again."""
    is_question = message.rstrip().endswith(("?", "？"))
    return len(message) <= _BRIEF_CHARS and len(message.split()) <= _BRIEF_WORDS and not is_question


def _flatten_message(message: str) -> str:
    return re.sub(r"[\s.!,。！、，]+", " ", message).replace("’", "'").strip().lower()


def offer_erasure(
    asked: ForgetRequest, language: str, recalled: Sequence[Recalled], said: Sequence[Memory]
) -> ForgetOutcome | None:
    """What a request to forget means, which a yes erases: what the user said just before it, or their lines that share
    words with what it names or that would answer a question for it.

    Args:
        asked: what it asks for.
        language: of its message.
        recalled: what it brought up, best first.
        said: what the user said in this session, newest first.

    Returns:
        None where it may be no such request, and names nothing that is stored.
    """
    if asked.scope == "all":
        return ForgetOutcome(language, is_all=True, request=asked.words) if asked.is_sure else None
    named = name_terms(asked.words, language)
    meant = _choose_named(recalled, named)
    if asked.scope == "before":
        shares = [memory for memory in meant if _shared(memory, named)]
        meant = shares or [memory for memory in said if memory.kind == "semantic"][:1]
        named = named if shares else frozenset[str]()
    if not asked.is_sure and not any(len(_shared(memory, named)) >= MUCH * len(named) > 0 for memory in meant):
        return None
    return offer_lines(meant, asked, language, named)


def offer_lines(meant: Sequence[Memory], asked: ForgetRequest, language: str, named: frozenset[str]) -> ForgetOutcome:
    """An offer to erase what is meant of some lines; none where there are no lines."""
    parts = [(memory, *_divide_line(memory, named)) for memory in meant]
    lines = tuple(shorten_line(erased, SHOWN_CHARS) for _, erased, _ in parts)
    staying = tuple(Remainder(rest, memory) for memory, _, rest in parts if rest)
    numbers = tuple(memory.id for memory in meant)
    offer = ErasureOffer(lines, numbers, language, staying) if meant else None
    return ForgetOutcome(language, offer, request=asked.words)


def _choose_named(recalled: Sequence[Recalled], named: frozenset[str]) -> list[Memory]:
    """The user's lines that are meant by what is named: of those that come nearest, each that would answer a question
    for it or shares a word with it, unless another one shares that word and more."""
    lines = [hit for hit in recalled if hit.memory.provenance == "user" and hit.memory.kind == "semantic"]
    best = max((hit.odds for hit in lines if hit.odds is not None), default=0.0)
    shared = {
        hit.memory.id: _shared(hit.memory, named) for hit in lines if hit.odds is None or hit.odds >= best - BESIDE
    }
    meant = [
        hit.memory
        for hit in lines
        if hit.memory.id in shared
        and (shared[hit.memory.id] or (hit.odds is not None and hit.odds >= ANSWERS))
        and not (shared[hit.memory.id] and any(shared[hit.memory.id] < others for others in shared.values()))
    ]
    return meant[:MOST]


def _shared(memory: Memory, named: frozenset[str]) -> frozenset[str]:
    """Which of some terms a line holds, or a part of ("Laktose" of "Laktosesache")."""
    words = split_words(f"{memory.content} {memory.line}")
    return frozenset(term for term in named if term in words or any(_is_part(term, word) for word in words))


def _is_part(term: str, word: str) -> bool:
    short, long = sorted((term, word), key=len)
    return len(short) >= PART_CHARS and long.startswith(short)


def _divide_line(memory: Memory, terms: frozenset[str]) -> tuple[str, str]:
    """What of a line is meant, and what else it says.

    A sentence stays if it shares no word with what is named, or if another one shares those words and more ("My sister
    lives in Lisbon." beside "I live in Porto."). All is meant where no sentence shares any. A sentence about "him" or
    "her" goes with the one before it.
    """
    line = analyse_text(memory.content)
    groups: list[list[str]] = []
    for sentence in line.sentences:
        subjects = find_owners(sentence.text, line.language, USER, ASSISTANT).subjects
        follows = bool(subjects) and all(path.startswith(SOMEBODY) for path in subjects)
        if groups and follows:
            groups[-1].append(sentence.text)
        else:
            groups.append([sentence.text])
    between = "" if line.language in UNSPACED else " "
    texts = [between.join(group) for group in groups]
    shared = [split_words(text) & terms for text in texts]
    if not any(shared):
        return memory.content, ""
    stays = [not words or any(words < others for others in shared) for words in shared]
    erased = between.join(text for text, does_stay in zip(texts, stays, strict=True) if not does_stay)
    return erased, between.join(text for text, does_stay in zip(texts, stays, strict=True) if does_stay)
