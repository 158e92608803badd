"""What stands in a response that nobody meant to say: a role marker, the prompt, the question again, half a word."""

import re
from collections.abc import Iterator
from functools import cache

from insula.text.analysis import LANGUAGES, analyse_text, without_code, words_of
from insula.text.answers import wants_again
from insula.text.grammar import UNSPACED, compile_words
from insula.text.questions import is_small_talk
from insula.text.tables import load_table
from insula.turn.exchange import Exchange
from insula.turn.similarity import near_duplicate
from insula.types import Fault

MAX_CHARS = 16_000
LONGER = 1.2
"""A response that is mostly its message, at most so many times as long, is an echo."""

_WORDS = "artefacts.json"
_SERVICE_TERMS = 10
"""Phrases of service hold so few content words."""
_SYMBOLS = 0x2000
_SPOKEN = 3
"""Words after "User:" that make a line of talk of it; fewer are a label."""
_TOLD_APART = 2
_MARKS = ("<|", "inst]", "<<", "</s>", "_of_turn>", "##")
"""One of these stands in every token of a template."""
_OPENING = 64
"""Characters by which most responses are told from an echo."""
_SENTENCE = re.compile(r"[.!?。！？…][\"'”’»」)\]]*\s+(?=\S)|[。！？]")
_ENDED = re.compile(r"[.!?。！？…:;~)\]}\"'”’»」』】|*`>%€$°\d\U0001f000-\U0001faff\u2600-\u27bf-]\s*$")
_EMPTY_ITEM = re.compile(r"\n\s*(?:\d{1,2}[.)]|[-*•])\s*$")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_BARE = re.compile(r"[\W_]+")
_TAIL_WORDS = 3
_CODED = re.compile(r"[=(){}<>$`]|[\w-]: ?[\w#'\"-]+;")
"""A line of code, which a semicolon may end."""
PROSE_WORDS = 12
"""From so many words on prose ends with a mark."""
_LISTED = 4
_QUOTES = "\"“„«'‘「『"
_COMMA = re.compile(r"[,，、;；]")


def check_artefacts(turn: Exchange) -> Iterator[Fault]:
    """What nobody meant to say: the prompt, the message once more, phrases of service in place of an answer, half a
    word."""
    if leaks_prompt(turn.response, turn.asked.text):
        yield Fault(flag="leak")
    if not any(character.isalnum() or ord(character) >= _SYMBOLS for character in turn.response):  # "???", and no emoji
        yield Fault(flag="off_topic")
    if is_echo(turn):
        yield Fault(flag="echo")
    if is_service(turn):
        yield Fault(flag="off_topic", certain=False)
    if cut_off(turn.response, turn.language):
        yield Fault(flag="incomplete", certain=False)


def is_echo(turn: Exchange) -> bool:
    """Whether the response is the message once more, though nobody wanted it said again."""
    asked, said = turn.asked.text, turn.response
    if turn.asked.small_talk or wants_again(asked, turn.language):
        return False
    handed_back = bool(turn.asked.asks) and any(mark in said for mark in "?？؟") and near_duplicate(said, [asked]) > 0
    return handed_back or echoes_message(said, asked)


def is_service(turn: Exchange) -> bool:
    """Whether a question is met with phrases of service alone ("Hello! How can I help you today?")."""
    if not turn.asked.asks or not turn.comparable or turn.reply.size > _SERVICE_TERMS:
        return False
    if any(turn.reply.mentions_any(ask.terms) for ask in turn.asked.asks):
        return False
    said = [each.text for each in analyse_text(turn.response, default=turn.language).sentences]
    served = [bool(_service_pattern(turn.language).search(text.replace("’", "'"))) for text in said]
    return any(served) and all(
        is_served or is_small_talk(analyse_text(text, default=turn.language))
        for text, is_served in zip(said, served, strict=True)
    )


def leaks_prompt(response: str, message: str) -> bool:
    """Whether a response holds a role marker or words of a prompt that its message does not hold."""
    text = without_code(response[:MAX_CHARS])
    matches = [match.group() for name in _likely_patterns(text) for match in _compile_pattern(name).finditer(text)]
    asked = message.lower()
    spoken_of = bool(matches) and _compile_pattern("tokens").search(asked) is not None  # "What does [INST] mean?"
    if any(each.strip().lower() not in asked for each in matches) and not spoken_of:
        return True
    marked = list(_compile_pattern("roles").finditer(text)) if ":" in text or "：" in text else []
    spoken = [match for match in marked if len(match["said"].split()) >= _SPOKEN or len(match["said"]) > 12]
    answering = load_table(_WORDS, __package__)["answering"].split("|")
    if not spoken or marked[0]["role"].lower() in message.lower():
        return False
    told_apart = len(marked) >= _TOLD_APART and marked[0].start() > 0
    return told_apart or any(match["role"].lower() in answering for match in spoken)


def _likely_patterns(text: str) -> Iterator[str]:
    """The patterns that may match a text: to look for what they cannot do without costs a hundredth of them."""
    lower = text.lower()
    if any(mark in lower for mark in _MARKS):
        yield "tokens"
    if any(word in lower for word in load_table(_WORDS, __package__)["prompt_words"].split("|")):
        yield "prompt"


def echoes_message(response: str, message: str) -> bool:
    """Whether a response is its message once more, word for word, once or again and again."""
    asked, opening = _strip_punctuation(message), _strip_punctuation(response[:_OPENING])
    if len(asked) < _TOLD_APART or not opening.startswith(asked[: len(opening)]):
        return False
    said = _strip_punctuation(response)
    rest = said.replace(asked, "").strip()
    return (
        said == asked
        or (not rest and len(said) > len(asked))
        or (bool(rest) and len(said) < LONGER * len(asked) and said.startswith(asked))
    )


def _strip_punctuation(text: str) -> str:
    return _BARE.sub(" ", text[:MAX_CHARS].lower()).strip()


def cut_off(response: str, language: str) -> bool:
    """Whether a response plainly breaks off: an open block of code, an empty item, a word that nothing may end with."""
    text = response.rstrip()
    if not text:
        return False
    if text.count("```") % 2:
        return True
    if _EMPTY_ITEM.search("\n" + text) and "\n" in text:
        return True
    if text[-1] == ";" and _CODED.search(text.rpartition("\n")[2]):
        return False
    if text[-1] in ",，、;；(（[" or text.endswith((" -", " –", " —")):
        return True
    if _ENDED.search(text) or language not in LANGUAGES or "```" in text:
        return False
    return _ends_dangling(text, language) or _lacks_end(text, language)


def _ends_dangling(text: str, language: str) -> bool:
    dangling = load_table(_WORDS, __package__)["dangling"][language].split()
    if language in UNSPACED:
        return (
            len(text) > 12 and not _SENTENCE.search(text[-2:]) and text.endswith(tuple(dangling)) and "\n" not in text
        )
    words = _WORD.findall(text[-40:])
    few = len(text.split()) <= _TAIL_WORDS
    return bool(words) and not few and words[-1] in dangling and text.endswith(words[-1])


def _lacks_end(text: str, language: str) -> bool:
    """Whether running prose of some length has no end: no lines of their own, no enumeration, title or quotation."""
    last = text.rpartition("\n")[2].strip()
    if (
        language in UNSPACED
        or "\n" in text.strip()
        or text[0] in _QUOTES
        or any(mark in last for mark in "|`")
        or "://" in last
    ):
        return False
    tail = _SENTENCE.split(last)[-1].strip()
    words = _WORD.findall(tail)
    pieces = [len(piece.split()) for piece in _COMMA.split(tail) if piece.strip()]
    function = sum(word.lower() in words_of("function", language) for word in words)
    listed = len(pieces) > 2 and max(pieces) <= _LISTED
    return len(words) >= PROSE_WORDS and 4 * function >= len(words) and not listed and tail[:1].isupper()


@cache
def _service_pattern(language: str) -> re.Pattern[str]:
    return compile_words(load_table(_WORDS, __package__)["service"][language], language, re.IGNORECASE)


@cache
def _compile_pattern(name: str) -> re.Pattern[str]:
    raw = load_table(_WORDS, __package__)[name]
    if name == "roles":
        raw = rf"^[ \t]*(?:\*\*)?(?P<role>{raw})(?:\*\*)?\s?[:：](?:\*\*)?[ \t]*(?P<said>[^\n]*)"
    return re.compile(raw, re.IGNORECASE | re.MULTILINE)
