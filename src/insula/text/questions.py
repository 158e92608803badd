"""What a message asks, and what it says: its questions, requests and statements.

Outside the languages of `analysis.LANGUAGES` a question is what bears a question mark, and its kind is "open".
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, cast

from insula.caches import clear_on_erasure
from insula.text.analysis import LANGUAGES, AnalysedWord, Analysis, Sentence, words_of
from insula.text.answers import AskKind
from insula.text.grammar import UNSPACED, Grammar, load_grammar

MAX_ASKS = 64
"""A message is read up to this many asks; nobody answers more at once."""

MAX_SENTENCES = 512
"""A message is read up to this many sentences."""

MAX_SENTENCE = 2_000
"""A longer "sentence" is pasted material: it asks nothing and states nothing that can be cited."""

_MARK = re.compile(r"[?？؟⁇⁉❓՞፧\u037e]")
_QUOTED = re.compile(
    r"\"[^\"\n]{0,400}\"|“[^”\n]{0,400}”|„[^“”\n]{0,400}[“”]|«[^»\n]{0,400}»|「[^」\n]{0,400}」|『[^』\n]{0,400}』|`[^`\n]{0,400}`"
)
_BULLET = re.compile(
    r"\s*(?:(?:[-*•–>]|#{1,6}|\(?(?:\d{1,2}|[a-zA-Z])[.):])\s+|[（(]?[一二三四五六七八九十\d]{1,2}[）)、．.](?=\D)\s*)+"
)
_EDGE = " \t\n,;:，；：、—–-"
_ELLIPTICAL = re.compile(r"(?:は|呢)[\s?？]*$")
"""Names what is asked about, and leaves the question to the listener ("私の血液型は?")."""
_SHORT = 2
_FORMED: frozenset[AskKind] = frozenset({"request", "list", "code"})


class Ask(NamedTuple):
    """One question or request: its text as it stands in the message, its kind, and the terms of what it is about."""

    text: str
    kind: AskKind
    terms: tuple[str, ...]


class _ClauseAsk(NamedTuple):
    """The kind of a clause, and the span of it that says what is asked about (without "could you write")."""

    kind: AskKind
    start: int
    end: int


def find_asks(analysis: Analysis) -> tuple[Ask, ...]:
    """Every question and request of a message, in order.

    At most `MAX_SENTENCES` sentences are read and `MAX_ASKS` asks returned, so that the cost stays bounded whatever
    is pasted. Code and quoted speech ask nothing, nor does what follows "Translate this:"; a sentence that reports a
    question is none, and one that only announces questions ("Answer these questions:") gives way to them.
    """
    asks: list[Ask] = []
    for sentence in _prose_sentences(analysis.sentences):
        if asks and _ends_open(asks[-1], analysis.text):
            if not _announces_text(asks[-1], analysis.language):
                break
            asks.extend(new := asks_in(sentence, analysis.language))
            if new:
                del asks[-len(new) - 1]
        else:
            asks.extend(asks_in(sentence, analysis.language))
        if len(asks) >= MAX_ASKS:
            break
    return tuple(asks[:MAX_ASKS])


def find_assertions(analysis: Analysis) -> tuple[Sentence, ...]:
    """The sentences that assert something: no question or request, no greeting, thanks or backchannel ("ok cool")."""
    known = analysis.language in LANGUAGES
    small_talk = load_grammar(analysis.language).backchannel if known else frozenset[str]()
    return tuple(
        sentence
        for sentence in _prose_sentences(analysis.sentences)
        if _is_assertion(sentence, small_talk) and not asks_in(sentence, analysis.language)
    )


def is_small_talk(analysis: Analysis) -> bool:
    """Whether a message is nothing but greeting, thanks or backchannel; so short a one may be in any known language."""
    words = _split_words(analysis.text)
    languages = LANGUAGES if len(words) <= _SHORT else {analysis.language} & set(LANGUAGES)
    return any(_is_small_talk(analysis.text, words, language) for language in languages)


def _is_small_talk(text: str, words: list[str], language: str) -> bool:
    small_talk, function = load_grammar(language).backchannel, words_of("function", language)
    polite = any(word in small_talk for word in words) and all(word in small_talk or word in function for word in words)
    return polite or text.strip(" \n!！。.,，~～…").lower() in small_talk


def _is_assertion(sentence: Sentence, small_talk: frozenset[str]) -> bool:
    if sentence.text.strip(" \n!！。.,，~～…").lower() in small_talk:
        return False
    return any(word.term and word.text.lower() not in small_talk for word in sentence.words)


def _prose_sentences(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences outside fenced code, as far as they are read."""
    fenced = False
    for _, sentence in zip(range(MAX_SENTENCES), sentences, strict=False):
        if sentence.text.count("```") % 2:
            fenced = not fenced
        elif not fenced and len(sentence.text) <= MAX_SENTENCE:
            yield sentence


def _ends_open(ask: Ask, text: str) -> bool:
    """Whether a request ends with a colon, so that what follows is what it speaks of."""
    after = text.find(ask.text) + len(ask.text)
    return ask.kind in {"request", "list"} and text[after : after + 1] in {":", "："}


def _announces_text(ask: Ask, language: str) -> bool:
    return language not in LANGUAGES or bool(load_grammar(language).announces.search(ask.text))


@clear_on_erasure
@lru_cache(maxsize=512)
def asks_in(sentence: Sentence, language: str) -> tuple[Ask, ...]:
    """The asks of one sentence in a language, those that it joins told apart; none of a reported question."""
    return tuple(_read_asks(sentence, language))


def _read_asks(sentence: Sentence, language: str) -> Iterator[Ask]:
    text = _blank_quotations(sentence.text)
    marked = bool(_MARK.search(text))
    if language not in LANGUAGES:
        if marked:
            yield Ask(sentence.text, "open", sentence.terms)
        return
    if not marked and _classify_clause(text[_past_bullet(text) :], marked, language) is None:
        return
    for start, end in _ask_spans(text, marked, language):
        if (asked := _classify_clause(text[start:end], marked, language)) is not None:
            about = range(start + asked.start, start + asked.end)
            words = [word for word in sentence.words if word.term and word.start in about]
            yield Ask(
                sentence.text[start:end].strip(_EDGE), asked.kind, tuple(_asked_terms(words, asked.kind, language))
            )


def _asked_terms(words: Iterable[AnalysedWord], kind: AskKind, language: str) -> Iterator[str]:
    """What is asked about: not the form that a request wants it in, and of Chinese no pair that holds a particle."""
    artifacts, particles = load_grammar(language).artifacts, load_grammar(language).particles
    for word in words:
        formal = kind in _FORMED and (word.text.lower() in artifacts or word.text.isdigit())
        if not formal and not (particles and particles.intersection(word.text)):
            yield word.term


def _blank_quotations(text: str) -> str:
    """`text` at the same length with quoted speech blanked and apostrophes made one, unless all of it is quoted."""
    text = text.replace("’", "'")
    blanked = _QUOTED.sub(lambda match: " " * len(match.group()), text)
    return blanked if any(map(str.isalnum, blanked)) else text


def _ask_spans(text: str, marked: bool, language: str) -> Iterator[tuple[int, int]]:
    """The spans of the asks that a sentence may join, in order; the whole sentence where it joins none."""
    start = _past_bullet(text)
    for joint in load_grammar(language).joint.finditer(text, start):
        if joint.lastgroup == "relative" and not marked:
            continue
        if _parts_asks(text[start : joint.start()], joint, text[joint.end() :], language):
            yield start, joint.start()
            start = joint.end()
    yield start, len(text)


def _past_bullet(text: str) -> int:
    bullet = _BULLET.match(text)
    return bullet.end() if bullet else 0


def _parts_asks(before: str, joint: re.Match[str], after: str, language: str) -> bool:
    """Whether a joint parts two asks: each side must ask about something of its own."""
    rules = load_grammar(language)
    if language in UNSPACED:
        return all(rules.question.search(side) or rules.request.search(side) for side in (before, after))
    body = _strip_opening(before, rules)
    if joint.lastgroup == "verb" and not rules.request.match(body):
        return False
    asked = _classify_clause(before, not joint.group().strip().startswith((",", ";")), language)
    if asked is None or (asked.kind == "yes_no" and rules.inverts and not rules.inverted.match(body)):
        return False
    words, function = _split_words(before[asked.start : asked.end]), words_of("function", language)
    content = any(word not in function for word in words)
    return content and not rules.question.fullmatch(words[-1]) and any(map(str.isalnum, after))


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _strip_opening(clause: str, rules: Grammar) -> str:
    """`clause` without the greetings and courtesies before what is asked."""
    while (match := rules.opener.match(clause)) is not None and match.end():
        clause = clause[match.end() :]
    return clause.lstrip(" ¿¡")


def _classify_clause(clause: str, marked: bool, language: str) -> _ClauseAsk | None:
    """What a clause asks for, or `None` where it asks nothing."""
    if not any(map(str.isalnum, clause)):
        return None
    return (_asked_unspaced if language in UNSPACED else _asked_spaced)(clause, marked, load_grammar(language))


def _asked_spaced(clause: str, marked: bool, rules: Grammar) -> _ClauseAsk | None:
    body = _strip_opening(clause, rules)
    if rules.rhetorical.match(body):
        return None
    told = rules.tell.match(body)
    rest = _strip_opening(body[told.end() :].lstrip(_EDGE), rules) if told else body
    if (question := rules.question.match(rest)) is not None:
        if not (marked or told) and rules.no_question.match(rest):
            return None
        return _ClauseAsk(cast(AskKind, question.lastgroup), len(clause) - len(rest), len(clause))
    if (request := rules.request.match(body)) is not None:
        return _ClauseAsk(cast(AskKind, request.lastgroup), len(clause) - len(body) + request.end(), len(clause))
    if told and rest:
        return _ClauseAsk("request", len(clause) - len(rest), len(clause))
    kind = _kind_inverted(body, marked, rules)
    return None if kind is None else _ClauseAsk(kind, 0, len(clause))


def _kind_inverted(body: str, marked: bool, rules: Grammar) -> AskKind | None:
    """The kind of a clause that opens with no interrogative: yes/no, a choice, or an interrogative further on."""
    inverted = rules.inverted.match(body)
    several = len(body.split()) > _SHORT
    if not marked:
        return "yes_no" if inverted and several and body.rstrip()[-1:] not in {".", "!"} else None
    if rules.choice.search(body) and several:
        return "choice"
    if inverted:
        return "yes_no"
    if (later := rules.question.search(body)) is not None and _is_interrogative(later, body, rules):
        return cast(AskKind, later.lastgroup)
    return "yes_no" if several else "open"


def _is_interrogative(later: re.Match[str], body: str, rules: Grammar) -> bool:
    """Whether an interrogative within a question asks, and does not merely join ("¿Crees que…?")."""
    if rules.inverts:
        return True
    return (
        later.group().startswith("¿")
        or body[: later.start()].rstrip().endswith(",")
        or not _split_words(body[later.end() :])
    )


def _is_polite(question: re.Match[str]) -> bool:
    """Whether the interrogative may only make a request polite ("能…吗？")."""
    return question.lastgroup == "yes_no"


def _asked_unspaced(clause: str, marked: bool, rules: Grammar) -> _ClauseAsk | None:
    """Chinese and Japanese: the interrogative stands anywhere, the request at the head or at the end."""
    if rules.rhetorical.search(clause):
        return None
    told = rules.tell.search(clause)
    request, question = rules.request.search(clause), rules.question.search(clause)
    asking = marked or bool(told) or (bool(rules.unmarked.search(clause)) and not rules.no_question.search(clause))
    if question is not None and asking and not (request and (request.lastgroup != "request" or _is_polite(question))):
        return _ClauseAsk(cast(AskKind, question.lastgroup), 0, len(clause))
    if request is not None and request.start() == 0:
        return _ClauseAsk(cast(AskKind, request.lastgroup), request.end(), len(clause))
    if request is not None:
        return _ClauseAsk(cast(AskKind, request.lastgroup), 0, request.start())
    if told is not None:
        return _ClauseAsk("request", 0, told.start() or len(clause))
    kind: AskKind = "open" if _ELLIPTICAL.search(clause) else "yes_no"
    return _ClauseAsk(kind, 0, len(clause)) if asking else None
