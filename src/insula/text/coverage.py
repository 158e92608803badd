"""How far a reply covers what was asked: each ask is matched to the reply by its kind and by what it is about.

The evidence is lexical. What a reply shares with an ask tells much about a long reply (of MTRAG's references with
twenty or more content words 2 % share none, of replies to other questions 85 %) and nothing about a short one
("Lisbon."), where the kind alone must do: the two judgements are blended by length.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from insula.text.analysis import LANGUAGES, content_words, fold, term_of, words_of
from insula.text.answers import AskKind, affirms, carries, has_shape, name_count, numbers_in
from insula.text.grammar import UNSPACED, grammar
from insula.text.manner import asks_back, declines, is_anaphoric, untold, wants_words
from insula.text.questions import Ask

ANSWERED = 0.5
"""From this coverage on an ask counts as answered."""

BRIEF = 3
"""Up to so many content words a reply is judged by its kind alone."""

LONG = 10
"""From so many content words on it is judged by what it shares with the ask."""

_PRIOR = 0.5
_SECOND_HAND = 0.8
"""What a related word counts against the same word ("Mongolian" for "Mongolia")."""

_CHARACTER = 0.3
"""What a shared character counts."""

_EXPECT_MORE: frozenset[AskKind] = frozenset({"request", "how_to", "why", "list", "code"})
_WORD_ENOUGH = 0.8
"""What a brief reply of the right kind is worth, where it shares nothing with the ask."""

_WORD_TOO_LITTLE = 0.35
_FANCY = 0.7
"""The least that a story is worth as a response to "write a story": it need not take up the words it was asked with."""

_ABOUT_PERSONS: frozenset[AskKind] = frozenset({"yes_no", "choice", "open", "name", "person", "place", "time", "list"})
_PERSON = 0.5
"""Words' worth of evidence that "I" gives in an answer to "you"."""

PERSONAL = 2
"""A person's answer about themselves shares words with the question only when it is so many times longer."""

_SHAPE = 1.0
"""Words' worth of evidence that the form of a reply gives: numbered steps answer some how-to."""

_FULL = 2
_UNSHAPED = 0.3
"""How much the words of a brief reply count towards a list, steps, reasons or code that it does not hold."""

_UNADDRESSED = 0.5
"""What it is worth where "you" is asked about and no "I" answers."""

_UNCARRIED: dict[AskKind, float] = {
    "number": 0.35,
    "time": 0.45,
    "place": 0.6,
    "person": 0.6,
    "name": 0.45,
    "code": 0.45,
    "list": 0.6,
    "why": 0.75,
    "how_to": 0.75,
}
"""The most that a reply covers which holds nothing of the kind asked for; below `ANSWERED` where that settles it."""


class Cover(NamedTuple):
    """How far a reply covers an ask."""

    topic: float
    """In [0, 1]: whether the reply is about it at all."""
    value: float
    """In [0, 1]: whether it also holds what was asked for."""


class Reply:
    """A reply as the asks see it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.found = content_words(text, language)

    @cached_property
    def size(self) -> int:
        """How many content words it holds; of Chinese, whose runs yield a pair per character, half as many."""
        return len(self.found) // 2 if self.language == "zh" else len(self.found)

    def has(self, term: str) -> bool:
        """Whether a word with this term occurs; only words that begin alike are stemmed."""
        if term in self.found:
            return True
        return any(term_of(word, self.language) == term for word in self._by_beginning.get(term[:_BEGINNING], ()))

    def mentions(self, about: Iterable[str]) -> bool:
        """Whether any of some terms, or a word related to one, occurs."""
        return any(self.has(term) or self.has_related(term) for term in about)

    def has_related(self, term: str) -> bool:
        """Whether a longer form of a term, or one with the same first five letters, occurs."""
        return (len(term) > 3 and term in self._joined) or (len(term) > 6 and f" {term[:5]}" in self._joined)

    def has_character(self, term: str) -> bool:
        """Whether a character of a Chinese or Japanese term occurs: many words share one that carries the meaning."""
        return self.language in UNSPACED and any(character in self._joined for character in term)

    @cached_property
    def sentences(self) -> tuple["Reply", ...]:
        return self._pieces(_ENDS)

    @cached_property
    def clauses(self) -> tuple["Reply", ...]:
        """Its sentences, parted where they go on with "…, and"."""
        return self._pieces(_JOINTS)

    def _pieces(self, ends: re.Pattern[str]) -> tuple["Reply", ...]:
        return tuple(Reply(piece, self.language) for piece in ends.split(self.text) if any(map(str.isalnum, piece)))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word near its beginning, in lower case."""
        return frozenset(_WORDS.findall(self.text[:_OPENING].lower()))

    @cached_property
    def _joined(self) -> str:
        return fold(" " + " ".join(self.found))

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = {}
        if self.language not in UNSPACED:
            for word in self.found:
                begins = word[:_BEGINNING]
                index.setdefault(begins if begins.isascii() else fold(begins), []).append(word)
        return index


class Context(NamedTuple):
    """What besides the ask itself speaks for a reply being about it."""

    names: Collection[str]
    """Terms of the message that are names: they count double, as numbers do."""
    hints: float = 0.0
    """Words' worth of other evidence for a lone ask: the reply refers back, or goes on from the last response."""


_NAMED: frozenset[AskKind] = frozenset({"place", "person", "name"})
_CARRIED: frozenset[AskKind] = frozenset({"number", "time", *_NAMED})
_BEGINNING = 3
_TRACE = 2
_SENTENCES = 64
_LEFT_OVER = 0.6
_NOTHING_LEFT = 0.3
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_JOINTS = re.compile(
    r"(?<=[.!?])\s+|(?<=[。！？])|\n+|;|[，、；]|,\s+(?=(?:and|but|y|e|et|und|aber|mas|ma|pero|mais|o|ou|oder|or)\s)"
)
_WORDS = re.compile(r"[^\W_]+")
_OPENING = 600


def cover(asks: Sequence[Ask], reply: Reply, context: Context) -> tuple[Cover, ...]:
    """How far `reply` covers each of `asks`, in order."""
    if len(asks) == 1:
        return (_cover(asks[0], asks[0].terms, reply, context),)
    own = [_own(ask, asks) for ask in asks]
    context = context._replace(hints=0.0)
    found = [_cover(ask, about, reply, context) for ask, about in zip(asks, own, strict=True)]
    silent = [i for i, about in enumerate(own) if not reply.mentions(about)]
    if silent:
        left = _left(own, reply)
        for i in silent:
            enough = _left_for(i, asks, len(own[i]), reply, left)
            value = max(found[i].value, _LEFT_OVER) if enough else min(found[i].value, _NOTHING_LEFT)
            found[i] = Cover(found[i].topic, value)
            left = left[1:] if enough and reply.size <= LONG else left
    return tuple(found)


def _left(own: Sequence[Sequence[str]], reply: Reply) -> list[Reply]:
    """The pieces of a reply that take up no ask's own words; of a brief one its clauses, each good for one ask."""
    pieces = reply.sentences if reply.size > LONG else reply.clauses
    return [piece for piece, claimed in _claims(own, pieces) if not claimed]


def cover_across(asks: Sequence[Ask], reply: Reply, neutral: float) -> tuple[Cover, ...]:
    """How far a reply in another language covers each ask: words cannot be compared, but a number can be missed."""
    return tuple(Cover(neutral, neutral if _has_number(ask, reply) else _UNCARRIED["number"]) for ask in asks)


def _has_number(ask: Ask, reply: Reply) -> bool:
    return ask.kind != "number" or reply.language not in LANGUAGES or carries("number", reply.text, reply.language)


def excused(asks: Sequence[Ask], reply: Reply) -> frozenset[int]:
    """The asks (by position) of which the reply says that it cannot answer, or asks what was meant.

    A sentence that declines without taking up any ask's own words speaks of them all.
    """
    speak = (declines, untold, asks_back)
    pieces = reply.sentences[:_SENTENCES]
    declining = [piece for piece in pieces if any(says(piece.text, piece.language) for says in speak)]
    everything = frozenset(range(len(asks)))
    claims = _claims([_own(ask, asks) for ask in asks], declining) if declining else ()
    return frozenset[int]().union(*(claimed or everything for _, claimed in claims))


def _claims(own: Sequence[Sequence[str]], pieces: Sequence[Reply]) -> list[tuple[Reply, frozenset[int]]]:
    """Each piece of a reply with the positions of the asks whose own words it takes up."""
    return [
        (piece, frozenset(i for i, about in enumerate(own) if piece.mentions(about))) for piece in pieces[:_SENTENCES]
    ]


def _own(ask: Ask, asks: Sequence[Ask]) -> tuple[str, ...]:
    """The terms that tell an ask from the others; all of its terms where none does."""
    others = {term for other in asks if other is not ask for term in other.terms}
    return tuple(term for term in ask.terms if term not in others) or ask.terms


def _cover(ask: Ask, about: Sequence[str], reply: Reply, context: Context) -> Cover:
    personal = _is_personal(ask, reply)
    hints = context.hints + (_SHAPE if has_shape(ask.kind, reply.text) else 0.0) + (_PERSON if personal else 0.0)
    shared, total = _shared(about, reply, context.names)
    evidence = (shared + _PRIOR + hints) / (total + 1 + hints)
    carried = carries(ask.kind, reply.text, reply.language)
    brief = _of_brief(ask, reply, carried, personal is not False)
    brief += (1 - brief) * 0.6 * evidence
    long = LONG * PERSONAL if personal else LONG
    topic = _blend(brief, _of_long(evidence), reply.size, long) if about else max(brief, _WORD_ENOUGH)
    topic = max(topic, _FANCY) if _is_fanciful(ask, reply) else topic
    return Cover(topic, topic if carried else min(topic, _UNCARRIED.get(ask.kind, 1.0)))


def _is_personal(ask: Ask, reply: Reply) -> bool | None:
    """Whether "you" is answered with "I", or "I" with "you"; `None` where neither is spoken of.

    An "I" answers no question for a fact about something else.
    """
    if ask.kind not in _ABOUT_PERSONS:
        return None
    asked = frozenset(_WORDS.findall(ask.text.lower()))
    first, second = words_of("first", reply.language), words_of("second", reply.language)
    if asked & second:
        return bool(reply.words & first)
    if asked & first:
        return bool(reply.words & second)
    return False if ask.kind in _CARRIED and reply.words & first else None


def _shared(about: Sequence[str], reply: Reply, names: Collection[str]) -> tuple[float, float]:
    """The weight of the terms that the reply takes up, and of all of them."""
    shared = total = 0.0
    for term in dict.fromkeys(about):
        weight = 2.0 if term in names or (term.isdigit() and len(term) > 1) else 1.0
        total += weight
        if reply.has(term):
            shared += weight
        elif reply.has_related(term):
            shared += weight * _SECOND_HAND
        elif reply.has_character(term):
            shared += weight * _CHARACTER
    return shared, total


def _of_brief(ask: Ask, reply: Reply, carried: bool, addressed: bool) -> float:
    if not addressed and reply.size > BRIEF:
        return _UNADDRESSED
    told = ask.kind == "open" and wants_words(ask.text, reply.language)
    if not told and (ask.kind not in _EXPECT_MORE or _agrees(ask, reply)):
        return _WORD_ENOUGH
    spare = 1 if told or ask.kind == "request" else 0  # the "Sure" before what is told
    fullness = min(1.0, max(0, reply.size - spare) / _FULL) * (1.0 if carried else _UNSHAPED)
    return _WORD_TOO_LITTLE + (_WORD_ENOUGH - _WORD_TOO_LITTLE) * fullness


def _agrees(ask: Ask, reply: Reply) -> bool:
    """Whether a request to do something is met with "Done" or "Sure"."""
    return ask.kind == "request" and affirms(reply.text, reply.language) and not wants_words(ask.text, reply.language)


def _is_fanciful(ask: Ask, reply: Reply) -> bool:
    known = reply.language in LANGUAGES and ask.kind == "request" and reply.size > BRIEF
    return known and bool(grammar(reply.language).creative.search(ask.text))


def _blend(of_brief: float, of_long: float, length: int, long: int) -> float:
    weight = min(1.0, max(0.0, (length - BRIEF) / (long - BRIEF)))
    return (1 - weight) * of_brief + weight * of_long


def _of_long(evidence: float) -> float:
    """Evidence of 1/8 (none of three words) is off topic, 1/4 (none of one) undecided, 5/8 (two of three) enough."""
    if evidence < 0.25:
        return max(0.1, 0.2 + (evidence - 0.125) * 3.2)
    if evidence < 0.625:
        return 0.6 + (evidence - 0.25) * 0.8
    return 0.9 + (evidence - 0.625) * 0.25


def _left_for(index: int, asks: Sequence[Ask], weight: int, reply: Reply, left: Sequence[Reply]) -> bool:
    """Whether the reply answers an ask none of whose own words it takes up, with sentences left by the other asks.

    In a brief reply something of its kind is enough ("Ulaanbaatar, 1.6 million."); in a long one it must stand in a
    sentence of its own, and an ask with several words of its own would have left a trace.
    """
    ask = asks[index]
    rank = sum(1 for other in asks[:index] if other.kind == ask.kind or {other.kind, ask.kind} <= _NAMED)
    if has_shape(ask.kind, reply.text) or (not weight and ask.kind in _EXPECT_MORE):
        return True
    if not weight or (weight <= _TRACE and ask.kind not in _CARRIED and _is_linked(ask, reply)):
        return len(reply.sentences) >= len(asks)
    if reply.size > LONG:
        few = weight <= (_TRACE if ask.kind in _CARRIED else 1)
        return few and any(carries(ask.kind, each.text, each.language) for each in left)
    match ask.kind:
        case "number":
            return len(numbers_in(reply.text)) > rank
        case "place" | "person" | "name" if reply.language in UNSPACED:
            return len(reply.clauses) > rank
        case "place" | "person" | "name":
            return name_count(reply.text, reply.language, _words(asks)) > rank
        case "time" | "why" | "how_to" | "list" | "code":
            return carries(ask.kind, reply.text, reply.language) and (bool(left) or rank == 0)
        case "yes_no":
            return bool(left) or affirms(reply.text, reply.language)
        case _:
            return bool(left)


def _is_linked(ask: Ask, reply: Reply) -> bool:
    """Whether an ask refers to what another is about ("and how did he get there?")."""
    return is_anaphoric(_WORDS.findall(ask.text.lower()), reply.language)


def _words(asks: Sequence[Ask]) -> list[str]:
    return [word for ask in asks for word in _WORDS.findall(ask.text.lower())]
