"""A message, its response and what went before, with what the monitor works out of them once."""

import re
from collections.abc import Sequence
from functools import cached_property

from insula.text.analysis import LANGUAGES, Analysis, content_words, detect, fold, term_of, words_of
from insula.text.answers import carries, says_yes
from insula.text.artefacts import cut_off, echoes, leaks
from insula.text.constraints import constraints
from insula.text.coverage import ANSWERED, BRIEF, LONG, Context, Cover, Reply, cover, cover_across, excused
from insula.text.grammar import UNSPACED, grammar
from insula.text.languages import expected, in_wrong_language
from insula.text.manner import (
    asks_back,
    declines,
    harmful,
    of_world,
    opens_with_subject,
    points_back,
    reasons,
    refuses,
    untold,
    wants_again,
    wants_two,
)
from insula.text.noise import is_noise
from insula.text.questions import Ask, AskKind, asks, is_casual, is_small_talk, statements
from insula.text.similarity import near_duplicate, self_repetition
from insula.turn.known import is_personal
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
_ALONE = 2
_HINTED = 0.5
"""Words' worth of evidence from which a response goes on from what was said."""
_PARTS = 2
_PAIRED = 8
"""Characters of a Chinese or Japanese answer that holds one thing."""
_AMOUNT = re.compile(r"\d[\d.,]*")
_NAMED = 8
"""Content words of an answer that is little more than what was asked for."""
_EXPLAINED: frozenset[AskKind] = frozenset({"why", "request"})
_PART = re.compile(r"\n+|;|；|(?<=[.!?])\s+(?=\S)|(?<=[。！？])|(?:^|\s)\d[.)]\s")
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
_LABEL = re.compile(r"^[\s*#_-]*([^\n:：.!?]{2,40}?)[*_]*[:：][*_]*\s*\S", re.MULTILINE)
"""What a line says first of what follows it ("Shopping list: …")."""
_JOINED = re.compile(r",\s*(?:(?:and|y|et|und|e|ed)\s)?|\s(?:and|y|et|und|e|ed)\s|[，、；;]")
_WORDS = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"[\"“„«「『][^\"“”„«»「」『』]{4,}[\"”“»」』][.。]?")
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s", re.M)
_CLAUSE = re.compile(r"[.,;:!?、，。；]+(?:\s|$|(?<=[、，。；])|(?=[\u3040-\u9fff]))")
_AND = re.compile(r"\s(?:and|y|e|et|und|ed)\s")
_TOLD: frozenset[AskKind] = frozenset({"number", "time", "place", "person", "name"})
"""Kinds of things of which it can be told whether a text holds one."""
_PICKED: frozenset[AskKind] = frozenset({"open", "choice"})
_UNANSWERED_BY_YES: frozenset[AskKind] = frozenset(
    {"number", "person", "place", "time", "name", "list", "how_to", "why", "code"}
)
_WORDY: frozenset[AskKind] = frozenset({"request", "list", "code"})


def _bare(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(term_of(word, language) or word for word in content_words(text, language))


def ends(text: str, size: int) -> str:
    """A text of at most about `size` characters: three quarters from its beginning, one from its end."""
    return text if len(text) <= size else f"{text[: size * 3 // 4]}\n{text[-size // 4 :]}"


class Asked:
    """The message as the monitor sees it."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.demands = constraints(analysis)
        self.asks = self._asks()
        self.supported = analysis.language in LANGUAGES

    def _asks(self) -> tuple[Ask, ...]:
        """Its asks; what only says how to answer them ("Just the number.") is none of them."""
        found = asks(self.analysis)
        formal = {_bare(one.text) for one in self.demands}
        own = tuple(ask for ask in found if _bare(ask.text) not in formal or ask.kind != "request")
        return own if own and len(own) < len(found) else found

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
    def echo(self) -> bool:
        """Whether the response is the message once more, though nobody wanted it said again."""
        text = self.asked.analysis.text
        return not self.asked.small_talk and not wants_again(text, self.language) and echoes(self.response, text)

    @cached_property
    def leak(self) -> bool:
        """Whether something of the prompt stands in the response."""
        return leaks(self.response, self.asked.analysis.text)

    @cached_property
    def cut_off(self) -> bool:
        return cut_off(self.response, self.language)

    @cached_property
    def yes_alone(self) -> bool:
        """Whether "Yes." is all the answer to what cannot be answered so."""
        asks = self.asked.asks
        if not asks or self.declined or self.reply.size > 1 or says_yes(self.response, self.language) is None:
            return False
        return len(self.response.split()) <= _ALONE and all(map(self._needs_more, asks))

    def _needs_more(self, ask: Ask) -> bool:
        """Whether an ask cannot be answered by yes or no: of a choice one that names no two ("which bus …")."""
        picked = ask.kind == "choice" and self.asked.supported
        opened = picked and grammar(self.asked.analysis.language).question.match(ask.text.lstrip("¿ "))
        return ask.kind in _UNANSWERED_BY_YES or bool(opened)

    @cached_property
    def refused(self) -> bool:
        """Whether a harmless request is turned down with no reason that is one."""
        text, language = self.response[:REFUSAL_CHARS], self.language
        asked = self.asked.analysis.text
        needless = untold(text, language) and of_world(asked, self.asked.analysis.language)
        turned_down = needless or refuses(text, language)
        if not self.asked.asks or len(self.response) > REFUSAL_CHARS or not turned_down:
            return False
        if harmful(asked, self.asked.analysis.language) or is_personal(self.asked.asks, self.asked.analysis.language):
            return False
        return untold(text, language) or not reasons(text, language)

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
        return any(says(text, self.language) for says in (declines, untold, asks_back)) or self._only_asks

    @property
    def _only_asks(self) -> bool:
        """Whether a response to a request does nothing but ask ("For how many people, and when?")."""
        made = bool(self.asked.asks) and not any(mark in self.asked.analysis.text for mark in "?？")
        sentences = [each for each in _SENTENCE.findall(self.response) if any(map(str.isalnum, each))]
        return made and bool(sentences) and all(each.rstrip().endswith(("?", "？")) for each in sentences)

    @cached_property
    def unlabelled(self) -> str:
        """What was asked for beside the one part that the response names before a colon; empty where nothing was."""
        labels = {fold(word) for label in _LABEL.findall(self.response) for word in _WORDS.findall(label.lower())}
        asks = self.asked.asks
        if not labels or not self.comparable or len(asks) > _PARTS or any(ask.kind not in _WORDY for ask in asks):
            return ""
        parts = [part.strip() for ask in asks for part in _JOINED.split(ask.text) if part.strip()]
        named = [
            bool(_stems(part, self.language) & {term_of(word, self.language) or word for word in labels})
            for part in parts
        ]
        left = [part for part, told in zip(parts, named, strict=True) if not told and not self._touches(part)]
        return left[0] if any(named) and left and len(_LABEL.findall(self.response)) < len(parts) else ""

    def _touches(self, part: str) -> bool:
        terms = _stems(part, self.language)
        return not terms or any(self.reply.has(term) for term in terms) or self.reply.mentions(terms)

    @cached_property
    def covers(self) -> tuple[Cover, ...]:
        """How far each topic of the message is covered, before any excuse."""
        topics, names = self.asked.topics, self.asked.analysis.names
        if not self.comparable:
            return cover_across(topics, self.reply, NEUTRAL)
        return cover(topics, self.reply, Context(names, self.hints))

    @cached_property
    def unanswered(self) -> tuple[str, ...]:
        """The asks that nothing in the response answers, unless it says why or asks back.

        A lone question is missed only where the response is about it and lacks what it asks for ("how many", "when"):
        that the words are far apart does not say that it is no answer.
        """
        asks = self.asked.asks
        if self.noise or self.echo:
            return tuple(ask.text for ask in asks)
        missed = [i for i, _ in enumerate(asks) if self.covers[i].value < ANSWERED]
        missed = [i for i in missed if len(asks) == 1 or not is_casual(asks[i], self.asked.analysis.language)]
        if missed and (self.declined or len(asks) > 1):
            pardoned = excused(asks, self.reply)
            missed = [i for i in missed if i not in pardoned]
        if self._fragment and not self.declined:
            if len({ask.kind for ask in asks} - {"yes_no"}) > 1:
                return tuple(ask.text for ask in asks[1:])
            if len(asks) == 1 and wants_two(asks[0].text, self.language):
                return (asks[0].text,)
        if len(asks) == 1 and missed and not self._lacks(asks[0]):
            return ()
        return () if self._parted(missed) else tuple(asks[i].text for i in missed)

    @property
    def _fragment(self) -> bool:
        """Whether a response is one value and nothing more, so that it cannot answer two things ("2,962 metres.")."""
        if not self.comparable or len([each for each in _CLAUSE.split(self.response) if each.strip()]) != 1:
            return False
        if self.language in UNSPACED:
            said = _AMOUNT.sub("0", self.response.strip(" 。！!"))
            return len(said) <= _PAIRED and not carries("list", self.response, self.language)
        function = words_of("function", self.language)
        words = [word for word in self.response.split() if word.lower().strip(".!") not in function]
        return len(words) <= _PARTS and "\n" not in self.response.strip()

    def _lacks(self, ask: Ask) -> bool:
        """Whether the response is about a lone question and yet lacks the kind of thing it asks for."""
        if self.declined or "```" in self.response or ask.kind not in _TOLD:
            return False
        return self.covers[0].topic >= ANSWERED and not carries(ask.kind, self.response, self.language)

    def _parted(self, missed: Sequence[int]) -> bool:
        """Whether the response goes through as many parts as were asked for: "Bram Stoker, 1897." """
        asks = self.asked.asks
        if not missed or len(asks) < _PARTS or not self.comparable:
            return False
        if sum(1 for line in _PART.split(self.response) if any(map(str.isalnum, line))) >= len(asks):
            return self.reply.size <= LONG or bool(_ITEM.search(self.response))
        clauses = [each for each in _CLAUSE.split(self.response) if any(map(str.isalnum, each))]
        clauses = [part for each in clauses for part in _AND.split(each)]
        brief = self.reply.size <= BRIEF * len(asks)
        return (
            brief
            and len(clauses) >= len(asks)
            and all(
                asks[i].kind in _TOLD | _PICKED and carries(asks[i].kind, self.response, self.language) for i in missed
            )
        )

    @cached_property
    def apart(self) -> bool:
        """Whether a response of some length shares no word with what was asked, nor goes on from what was said."""
        if not self.comparable or not self.covers or self.declined or "```" in self.response:
            return False
        if _QUOTED.fullmatch(self.response.strip()):  # what was made, and nothing said about it
            return False
        if self.reply.size <= BRIEF or self.hints >= _HINTED:
            return False
        return not self.reply.mentions({term for ask in self.asked.topics for term in ask.terms})

    @cached_property
    def far(self) -> bool:
        """Whether it besides opens with a subject of its own.

        Of right answers many share no word ("Blot it, cover it with salt"); few of them begin like an article on
        something else.
        """
        if not self.apart or any(map(self._own_subject, self.asked.topics)):
            return False
        return opens_with_subject(self.response, self.language)

    def _own_subject(self, ask: Ask) -> bool:
        """Whether a right answer may begin with a subject of its own: an explanation, or the very thing asked for."""
        if ask.kind in _EXPLAINED:
            return True
        first = _CLAUSE.split(self.response)[0].split()
        if ask.kind in _PICKED and self.language not in UNSPACED and len(first) <= BRIEF:  # "The Volga, 3,530 km."
            return True
        named = ask.kind in _TOLD and self.reply.size <= _NAMED
        return named and carries(ask.kind, self.response, self.language)

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
