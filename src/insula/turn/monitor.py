"""The self-monitor: what a response is worth as an answer to its message, judged without a model.

It looks for what goes wrong plainly (an answer to another question, a question passed over, the wrong language, the
last answer once more) and lets everything finer pass. Outside the languages of `text.analysis.LANGUAGES` it judges
language, forbidden patterns, length and repetition, and is neutral on the rest.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import get_args

from insula.text.analysis import LANGUAGES, Analysis, analyse, content_words, detect, term_of
from insula.text.coverage import ANSWERED, Context, Cover, Reply, cover, cover_across, excused
from insula.text.languages import expected, in_wrong_language
from insula.text.manner import asks_back, declines, informal, is_courtesy, points_back, wants_again
from insula.text.noise import is_noise
from insula.text.questions import Ask, AskKind, asks, is_small_talk, statements
from insula.text.similarity import NEAR_DUPLICATE, near_duplicate, self_repetition, specificity
from insula.types import Assessment, Flag, Identity, Parts

RECENT = 5
"""So many of the last responses are looked through for a repetition (seed 000: "last N")."""

MIN_CHARS = 10
"""Shorter is suspicious where more is expected (seed 000: 10); a Chinese or Japanese character counts three."""

MAX_MESSAGE = 8_000
MAX_RESPONSE = 16_000
"""Of a longer text the beginning and the end are read, so that the cost stays bounded."""

MAX_BEFORE = 1_000
"""Of the last response so much is read for what the conversation is about."""

MAX_FORBIDDEN = 200_000
"""A response is searched for forbidden patterns up to here."""

LONGEST_FACT = 4_000
LONGEST_SMALL_TALK = 2_000
LONGEST = 24_000
LENGTHS_OF_MESSAGE = 4
"""A response is too long beyond these characters (to a plain question, to none, to any other), plus so many times the
length of the message."""

OFF_TOPIC = 0.5
"""Below this a response is not about what was asked."""

DECLINED = 0.75
"""What a declared "I do not know" or a question back is worth: it addresses the message and leaves it unanswered."""

COURTESY = 0.3
"""What "You're welcome! Anything else?" is worth as an answer."""

REACTION = 0.8
"""The least that a response to a mere statement is worth: conversation may turn."""

PLEASANTRY, REFUSAL = 0.95, 0.2
"""What any response to "thanks!" is worth, and what the refusal of nothing is."""

CIRCLING = 0.35
VAGUE = 0.06
"""What full self-repetition, and the vaguest words, take from responsiveness."""

LOOP = 0.5
"""From this share of repeated word triples on a response runs in circles."""

WRONG = 0.45
"""What remains of the score of a response in the wrong language or with a forbidden pattern: it must not pass."""

INCOMPLETE = 0.56
NEARLY_COMPLETE = 0.69
"""What remains when nothing, and when nearly everything asked was answered: an omission never passes."""

REPEATED = 0.55
MISSIZED = 0.75
OFF_TONE = 0.75
FLOOR = 0.25
"""What remains of the score of a response that addresses nothing, were it faultless otherwise."""

NEUTRAL = 0.85
"""What a response is worth that cannot be compared with its message."""

NOISE = 0.1
"""What noise is worth."""

_FOLLOW_UP = 3
"""Up to so many content words a question may go on from the last response."""

_KEYWORDS, _KEYWORD_SHARE = 8, 0.75
_TERSE = 40
_REFUSAL_CHARS = 200
_COURTESY_TERMS = 10
_COURTESY_CHARS = 120
_LOOP_CHARS = 120
_FEW_WORDS = 3
_FEW_CHARS = 24
_FACTS: frozenset[AskKind] = frozenset({"yes_no", "number", "person", "place", "time", "choice", "name"})
_EXPECT_MORE: frozenset[AskKind] = frozenset({"how_to", "why", "list", "code"})
_WORDY: frozenset[AskKind] = frozenset({"request", "list", "code"})
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NOTHING = Parts(responsiveness=0.0, completeness=0.0, consistency=0.0, length_ok=False, repetition=False)


def assess(
    message: str,
    response: str,
    recent_responses: Sequence[str] = (),
    identity: Identity = Identity(),  # noqa: B008 - frozen
) -> Assessment:
    """Assess a response as an answer to a message.

    Args:
        message: what the user said.
        response: what is about to be sent.
        recent_responses: earlier responses of the session, oldest first; the last `RECENT` count.
        identity: whose languages, voice and forbidden patterns to hold the response to.

    Returns:
        A score in [0, 1] (below 0.7 it does not pass), the faults found, the parts that made the score, and the
        questions and requests left unanswered, verbatim. An empty response scores 0.
    """
    asked = _Asked(analyse(_ends(message, MAX_MESSAGE)))
    if not response.strip():
        return Assessment(score=0.0, flags=("empty",), parts=_NOTHING, unanswered=tuple(ask.text for ask in asked.asks))
    turn = _Turn(asked, _ends(response, MAX_RESPONSE), list(recent_responses)[-RECENT:], identity)
    faults = _faults(turn, response)
    parts = Parts(
        responsiveness=_responsiveness(turn),
        completeness=_completeness(turn),
        consistency=_consistency(faults),
        length_ok=not faults & {"too_short", "too_long"},
        repetition="repetition" in faults,
    )
    return Assessment(score=score(parts), flags=_ordered(faults), parts=parts, unanswered=turn.unanswered)


def score(parts: Parts) -> float:
    """The score in [0, 1] that the parts make: each fault leaves a share of it, so it never falls as a part rises."""
    value = FLOOR + (1 - FLOOR) * parts.responsiveness
    if parts.completeness < 1:
        value *= INCOMPLETE + (NEARLY_COMPLETE - INCOMPLETE) * parts.completeness
    value *= WRONG + (1 - WRONG) * parts.consistency
    value *= REPEATED if parts.repetition else 1.0
    value *= 1.0 if parts.length_ok else MISSIZED
    return round(value, 4)


class _Asked:
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


class _Turn:
    """A message, its response and what went before, with what is worked out of them once."""

    def __init__(self, asked: _Asked, response: str, recent: list[str], identity: Identity) -> None:
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
        text = self.response if self.reply.size <= _TERSE else self.response[:_REFUSAL_CHARS]
        return declines(text, self.language) or asks_back(text, self.language)

    @cached_property
    def covers(self) -> tuple[Cover, ...]:
        """How far each topic of the message is covered, before any excuse."""
        topics, names = self.asked.topics, self.asked.analysis.names
        if not self.comparable:
            return cover_across(topics, self.reply, NEUTRAL)
        return cover(topics, self.reply, Context(names, _hints(self)))

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


def _ordered(faults: set[Flag]) -> tuple[Flag, ...]:
    order: list[Flag] = list(get_args(Flag))
    return tuple(sorted(faults, key=order.index))


def _ends(text: str, size: int) -> str:
    """A text of at most about `size` characters: three quarters from its beginning, one from its end."""
    return text if len(text) <= size else f"{text[: size * 3 // 4]}\n{text[-size // 4 :]}"


def _hints(turn: _Turn) -> float:
    """Words' worth of evidence, beside the ask's own words, that the response is about the message."""
    asked, reply, language = turn.asked, turn.reply, turn.language
    about = {term for ask in asked.topics for term in ask.terms}
    hints = 0.25 if points_back(reply.text, language) else 0.0
    beside = {term for term in asked.analysis.terms if term not in about and reply.has(term)}
    hints += min(2.0 if any(ask.kind in _WORDY for ask in asked.topics) else 1.0, 0.5 * len(beside))
    if turn.recent and len(about) <= _FOLLOW_UP and reply.found:
        before = reply.found & content_words(_ends(turn.recent[-1], MAX_BEFORE), language)
        news = sum(1 for word in before if term_of(word, language) not in about)
        hints += min(1.0, 4 * news / max(len(reply.found), _FOLLOW_UP))
    return hints


def _responsiveness(turn: _Turn) -> float:
    """Whether the response addresses this message, in [0, 1]; a little less where it circles or stays vague."""
    if turn.noise:
        return NOISE
    value = _addressed(turn) * (1 - CIRCLING * turn.circling)
    return value * (1 - VAGUE * (1 - specificity(turn.response)))


def _addressed(turn: _Turn) -> float:
    if not turn.covers:
        return _reaction(turn)
    topics = [each.topic for each in turn.covers]
    value = 0.6 * max(topics) + 0.4 * sum(topics) / len(topics)
    if _only_courtesy(turn):
        return min(value, COURTESY)
    return max(value, DECLINED) if value < DECLINED and turn.declined else value


def _only_courtesy(turn: _Turn) -> bool:
    """Whether a question is met with "You're welcome! Anything else?" alone."""
    few = turn.reply.size <= _COURTESY_TERMS
    return (
        few
        and bool(turn.asked.asks)
        and turn.comparable
        and is_courtesy(turn.response, turn.language)
        and not any(turn.reply.mentions(ask.terms) for ask in turn.asked.asks)
    )


def _reaction(turn: _Turn) -> float:
    """What a response is worth to a message that asks nothing."""
    if turn.asked.small_talk:
        return REFUSAL if is_small_talk(turn.asked.analysis) and _refuses(turn) else PLEASANTRY
    if not turn.comparable:
        return NEUTRAL
    taken_up = 1.0 if turn.reply.mentions(turn.asked.statements) else 0.0
    return REACTION + (1 - REACTION) * min(1.0, 0.5 * taken_up + 0.25 * _hints(turn))


def _refuses(turn: _Turn) -> bool:
    return declines(turn.response, turn.language) and len(turn.response) < _REFUSAL_CHARS


def _completeness(turn: _Turn) -> float:
    """The share of asks that were answered; 1 where nothing was asked."""
    total = len(turn.asked.asks)
    return 1 - len(turn.unanswered) / total if total else 1.0


def _consistency(faults: set[Flag]) -> float:
    if faults & {"wrong_language", "forbidden_pattern"}:
        return 0.0
    return OFF_TONE if "off_tone" in faults else 1.0


def _faults(turn: _Turn, response: str) -> set[Flag]:
    return set(_topical(turn)) | set(_formal(turn, response))


def _topical(turn: _Turn) -> Iterator[Flag]:
    if _off_topic(turn):
        yield "off_topic"
    if turn.unanswered:
        yield "incomplete"


def _off_topic(turn: _Turn) -> bool:
    if turn.noise:
        return True
    if not turn.covers:
        return _reaction(turn) < OFF_TOPIC
    return _only_courtesy(turn) or (max(each.topic for each in turn.covers) < OFF_TOPIC and not turn.declined)


def _formal(turn: _Turn, response: str) -> Iterator[Flag]:
    """The faults of form: language, forbidden patterns, tone, length and repetition."""
    if turn.wrong_language:
        yield "wrong_language"
    if any(pattern.search(response, 0, MAX_FORBIDDEN) for pattern in _patterns(turn.identity.forbidden)):
        yield "forbidden_pattern"
    if turn.identity.voice == "formal" and informal(turn.response, turn.language):
        yield "off_tone"
    if _too_short(turn):
        yield "too_short"
    if len(response) > _longest(turn):
        yield "too_long"
    if _repeats(turn):
        yield "repetition"


@lru_cache(maxsize=64)
def _patterns(forbidden: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """The identity's patterns that compile; those that do not are reported where the identity is read."""
    found: list[re.Pattern[str]] = []
    for pattern in forbidden:
        try:
            found.append(re.compile(pattern, re.IGNORECASE))
        except re.error:
            continue
    return tuple(found)


def _too_short(turn: _Turn) -> bool:
    text = turn.response.strip()
    if len(text) + 2 * len(_CJK.findall(text[:MIN_CHARS])) >= MIN_CHARS or turn.declined:
        return False
    return any(ask.kind in _EXPECT_MORE for ask in turn.asked.asks)


def _longest(turn: _Turn) -> int:
    """The upper bound of length, which grows with the message."""
    kinds = {ask.kind for ask in turn.asked.asks}
    bound = LONGEST if kinds - _FACTS else LONGEST_FACT if kinds else LONGEST_SMALL_TALK
    if not kinds and not turn.asked.small_talk:
        bound = LONGEST
    return bound + LENGTHS_OF_MESSAGE * len(turn.asked.analysis.text)


def _repeats(turn: _Turn) -> bool:
    """Whether the response says once more what was said before, unasked; or runs in circles itself."""
    if len(turn.response) >= _LOOP_CHARS and turn.circling >= LOOP:
        return True
    if not turn.recent or near_duplicate(turn.response, turn.recent) < NEAR_DUPLICATE:
        return False
    return not _may_repeat(turn)


def _may_repeat(turn: _Turn) -> bool:
    """A "Yes." or "You're welcome!" wears out by no use, and what is asked for again is said again."""
    text = turn.response.strip()
    if len(text.split()) <= _FEW_WORDS and len(text) + 2 * len(_CJK.findall(text)) <= _FEW_CHARS:
        return True
    if turn.asked.small_talk and len(text) <= _COURTESY_CHARS:
        return True
    return wants_again(turn.asked.analysis.text, turn.asked.analysis.language)
