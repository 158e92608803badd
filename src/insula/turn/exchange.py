"""A message, its response and what went before, with what the monitor works out of them once."""

from functools import cached_property

from insula.text.analysis import LANGUAGES, Analysis, content_words, detect, term_of
from insula.text.coverage import ANSWERED, Context, Cover, Reply, cover, cover_across, excused
from insula.text.languages import expected, in_wrong_language
from insula.text.manner import asks_back, declines, points_back
from insula.text.noise import is_noise
from insula.text.questions import Ask, AskKind, asks, is_small_talk, statements
from insula.text.similarity import near_duplicate, self_repetition
from insula.types import Identity

MAX_MESSAGE = 8_000
MAX_RESPONSE = 16_000
"""Of a longer text the beginning and the end are read, so that the cost stays bounded."""

MAX_BEFORE = 1_000
"""Of an earlier response so much is read for what the conversation is about."""

NEUTRAL = 0.85
"""What a response is worth that cannot be compared with its message."""

_FOLLOW_UP = 3
"""Up to so many content words a question may go on from the last response."""

_KEYWORDS, _KEYWORD_SHARE = 8, 0.75
_TERSE = 40
REFUSAL_CHARS = 200
_WORDY: frozenset[AskKind] = frozenset({"request", "list", "code"})


def ends(text: str, size: int) -> str:
    """A text of at most about `size` characters: three quarters from its beginning, one from its end."""
    return text if len(text) <= size else f"{text[: size * 3 // 4]}\n{text[-size // 4 :]}"


class Asked:
    """The message as the monitor sees it."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.asks = asks(analysis)
        self.supported = analysis.language in LANGUAGES

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """The terms of what the message asserts."""
        return tuple(term for sentence in statements(self.analysis) for term in sentence.terms)

    @cached_property
    def small_talk(self) -> bool:
        """Whether it neither asks nor asserts anything ("thanks!")."""
        return not self.asks and (is_small_talk(self.analysis) or not self.statements)

    @cached_property
    def topics(self) -> tuple[Ask, ...]:
        """Its asks; a bare list of keywords is one, though nothing of it can be left out."""
        if self.asks or self.small_talk:
            return self.asks
        words = [word for sentence in self.analysis.sentences for word in sentence.words]
        content = sum(1 for word in words if word.term)
        keywords = (
            len(self.analysis.sentences) == 1 and content >= _KEYWORD_SHARE * len(words) and len(words) <= _KEYWORDS
        )
        return (Ask(self.analysis.text, "open", self.statements),) if keywords else ()


class Exchange:
    """A message, its response and what went before, with what is worked out of them once."""

    def __init__(self, asked: Asked, response: str, recent: list[str], identity: Identity) -> None:
        self.asked = asked
        self.response = response
        self.recent = recent
        self.identity = identity
        self.wanted = expected(asked.analysis, identity.languages)
        self.wrong_language = in_wrong_language(response, self.wanted)
        self.language = self._language()
        self.reply = Reply(response, self.language)

    def _language(self) -> str:
        """The response's language: the message's, where that is what was wanted and nothing speaks against it."""
        own = self.asked.analysis.language
        usual = not self.wrong_language and self.wanted.languages <= {own}
        return own if usual else detect(self.response, own)

    @cached_property
    def comparable(self) -> bool:
        """Whether message and response share words at all: both in one known language, and no translation asked for."""
        own = self.asked.analysis.language
        foreign = self.wanted.translated or (self.wanted.wished and own not in self.wanted.languages)
        return self.asked.supported and not foreign and self.language == own

    @cached_property
    def shared(self) -> int:
        """How many content words the response takes up from the message and the last responses."""
        before = {word for text in self.recent for word in content_words(ends(text, MAX_BEFORE), self.language)}
        terms = {term_of(word, self.language) for word in before & self.reply.found}
        return len(terms.union(term for term in self.asked.analysis.terms if self.reply.has(term)))

    @cached_property
    def circling(self) -> float:
        return self_repetition(self.response)

    @cached_property
    def noise(self) -> bool:
        """Whether the response says nothing: gibberish, or the question handed back."""
        return is_noise(self.response) or (bool(self.asked.asks) and self._echoes())

    def _echoes(self) -> bool:
        asks_itself = any(mark in self.response for mark in "?？؟")
        return asks_itself and near_duplicate(self.response, [self.asked.analysis.text]) > 0

    @cached_property
    def declined(self) -> bool:
        """Whether the response says that it cannot answer, or asks what was meant: a long one says so at once."""
        text = self.response if self.reply.size <= _TERSE else self.response[:REFUSAL_CHARS]
        return declines(text, self.language) or asks_back(text, self.language)

    @cached_property
    def covers(self) -> tuple[Cover, ...]:
        """How far each topic of the message is covered, before any excuse."""
        topics, names = self.asked.topics, self.asked.analysis.names
        if not self.comparable:
            return cover_across(topics, self.reply, NEUTRAL)
        return cover(topics, self.reply, Context(names, self.hints))

    @cached_property
    def unanswered(self) -> tuple[str, ...]:
        """The asks that nothing in the response answers, unless it says why or asks back."""
        if self.noise:
            return tuple(ask.text for ask in self.asked.asks)
        missed = [i for i, _ in enumerate(self.asked.asks) if self.covers[i].value < ANSWERED]
        if missed and (self.declined or len(self.asked.asks) > 1):
            pardoned = excused(self.asked.asks, self.reply)
            missed = [i for i in missed if i not in pardoned]
        return tuple(self.asked.asks[i].text for i in missed)

    @cached_property
    def hints(self) -> float:
        """Words' worth of evidence, beside the ask's own words, that the response is about the message."""
        asked, reply, language = self.asked, self.reply, self.language
        about = {term for ask in asked.topics for term in ask.terms}
        hints = 0.25 if points_back(reply.text, language) else 0.0
        beside = {term for term in asked.analysis.terms if term not in about and reply.has(term)}
        hints += min(2.0 if any(ask.kind in _WORDY for ask in asked.topics) else 1.0, 0.5 * len(beside))
        if self.recent and len(about) <= _FOLLOW_UP and reply.found:
            before = reply.found & content_words(ends(self.recent[-1], MAX_BEFORE), language)
            news = sum(1 for word in before if term_of(word, language) not in about)
            hints += min(1.0, 4 * news / max(len(reply.found), _FOLLOW_UP))
        return hints
