"""A message, its response and what went before, with what the checks work out of them once."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from insula.text.analysis import LANGUAGES, Analysis, content_words, detect_language, fold_accents, term_of
from insula.text.answers import declines_answer, says_untold
from insula.text.constraints import find_constraints, only_limits
from insula.text.grammar import UNSPACED
from insula.text.languages import expected_languages, in_wrong_language
from insula.text.questions import Ask, find_asks, find_assertions, is_small_talk
from insula.types import Identity, Level

BRIEF = 3
"""Up to so many content words a reply is judged by its kind alone."""

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
CLAUSE_END = re.compile(r"[.,;:!?、，。；]+(?:\s|$|(?<=[、，。；])|(?=[\u3040-\u9fff]))")

_BEGINNING = 3
_OPENING = 600
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_JOINTS = re.compile(
    r"(?<=[.!?])\s+|(?<=[。！？])|\n+|;|[，、；]|,\s+(?=(?:and|but|y|e|et|und|aber|mas|ma|pero|mais|o|ou|oder|or)\s)"
)
_WORDS_AND_NUMBERS = re.compile(r"[^\W_]+")


class ReplyText:
    """A reply as the asks see it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.found = content_words(text, language)

    @cached_property
    def size(self) -> int:
        """How many content words it holds; of Chinese, whose runs yield a pair per character, half as many."""
        return len(self.found) // 2 if self.language == "zh" else len(self.found)

    def has_term(self, term: str) -> bool:
        """Whether a word with this term occurs; only words that begin alike are stemmed."""
        if term in self.found:
            return True
        return any(term_of(word, self.language) == term for word in self._by_beginning.get(term[:_BEGINNING], ()))

    def mentions_any(self, about: Iterable[str]) -> bool:
        """Whether any of some terms, or a word related to one, occurs."""
        return any(self.has_term(term) or self.has_related(term) for term in about)

    def has_related(self, term: str) -> bool:
        """Whether a longer form of a term, or one with the same first five letters, occurs."""
        return (len(term) > 3 and term in self._joined) or (len(term) > 6 and f" {term[:5]}" in self._joined)

    @cached_property
    def sentences(self) -> tuple["ReplyText", ...]:
        return self._split_pieces(_ENDS)

    @cached_property
    def clauses(self) -> tuple["ReplyText", ...]:
        """Its sentences, parted where they go on with "…, and"."""
        return self._split_pieces(_JOINTS)

    def _split_pieces(self, ends: re.Pattern[str]) -> tuple["ReplyText", ...]:
        return tuple(ReplyText(piece, self.language) for piece in ends.split(self.text) if any(map(str.isalnum, piece)))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word near its beginning, in lower case."""
        return frozenset(_WORDS_AND_NUMBERS.findall(self.text[:_OPENING].lower()))

    @cached_property
    def _joined(self) -> str:
        return fold_accents(" " + " ".join(self.found))

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = {}
        if self.language not in UNSPACED:
            for word in self.found:
                begins = word[:_BEGINNING]
                index.setdefault(begins if begins.isascii() else fold_accents(begins), []).append(word)
        return index


MAX_MESSAGE = 8_000
MAX_RESPONSE = 16_000
"""Of a longer text the beginning and the end are read, so that the cost stays bounded."""
MAX_BEFORE = 1_000
"""Of an earlier response so much is read for what the conversation is about."""
REFUSAL_CHARS = 200
"""Who refuses says so within so many characters."""

_TERSE = 40
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
_WORDS = re.compile(r"[^\W\d_]+")


def cut_middle(text: str, size: int) -> str:
    """A text of at most about `size` characters: three quarters from its beginning, one from its end."""
    return text if len(text) <= size else f"{text[: size * 3 // 4]}\n{text[-size // 4 :]}"


class AskedMessage:
    """The message as the monitor sees it."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.text = analysis.text
        self.language = analysis.language
        self.demands = find_constraints(analysis)
        self.asks = self._find_asks()

    def _find_asks(self) -> tuple[Ask, ...]:
        """Its asks; what only says how to answer them ("Just the number.") is none of them."""
        asks = find_asks(self.analysis)
        formal = {_plain_words(demand.text) for demand in self.demands}
        own = tuple(
            ask
            for ask in asks
            if ask.kind != "request" or not (_plain_words(ask.text) in formal or only_limits(ask.text, self.language))
        )
        return own or asks

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """The terms of what the message asserts."""
        return tuple(term for sentence in find_assertions(self.analysis) for term in sentence.terms)

    @cached_property
    def small_talk(self) -> bool:
        """Whether it neither asks nor asserts anything ("thanks!")."""
        return not self.asks and (is_small_talk(self.analysis) or not self.statements)


def _plain_words(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


class Exchange:
    """A message, its response, what went before and what memory held."""

    def __init__(
        self,
        asked: AskedMessage,
        response: str,
        recent: Sequence[str],
        identity: Identity,
        memory: Sequence[str] = (),
        level: Level | None = None,
    ) -> None:
        self.asked = asked
        self.whole = response
        self.response = cut_middle(response, MAX_RESPONSE)
        self.recent = recent
        self.identity = identity
        self.memory = memory
        self.level: Level | None = level
        self.wanted = expected_languages(asked.analysis, identity.languages)
        self.is_foreign = in_wrong_language(self.response, self.wanted)
        self.language = self._response_language()
        self.reply = ReplyText(self.response, self.language)

    def _response_language(self) -> str:
        """The response's language: the message's, where that is what was wanted and nothing speaks against it."""
        own = self.asked.language
        usual = not self.is_foreign and self.wanted.languages <= {own}
        return own if usual else detect_language(self.response, own)

    @cached_property
    def comparable(self) -> bool:
        """Whether message and response share words at all: both in one known language, and no translation asked for."""
        own = self.asked.language
        foreign = self.wanted.translated or (self.wanted.wished and own not in self.wanted.languages)
        return own in LANGUAGES and not foreign and self.language == own

    @cached_property
    def shared(self) -> int:
        """How many content words the response takes up from the message and the last responses."""
        before = {word for text in self.recent for word in content_words(cut_middle(text, MAX_BEFORE), self.language)}
        terms = {term_of(word, self.language) for word in before & self.reply.found}
        return len(terms.union(term for term in self.asked.analysis.terms if self.reply.has_term(term)))

    @cached_property
    def declined(self) -> bool:
        """Whether the response says that it cannot answer, or asks what was meant: a long one says so at once."""
        text = self.response if self.reply.size <= _TERSE else self.response[:REFUSAL_CHARS]
        return declines_answer(text, self.language) or says_untold(text, self.language) or self.only_asks

    @cached_property
    def only_asks(self) -> bool:
        """Whether a response does nothing but ask back ("For how many people, and when?")."""
        sentences = [each for each in _SENTENCE.findall(self.response) if any(map(str.isalnum, each))]
        return bool(self.asked.asks and sentences) and all(each.rstrip().endswith(("?", "？")) for each in sentences)
