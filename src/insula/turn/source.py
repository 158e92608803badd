"""Which remembered line an answer is taken from, or contradicts: told to a person only where both are sure.

The form is strict: one question for a value, one line of the user's own that answers it, and a sentence of the answer
that says nothing but that value in the words of line and question. Everything else is left unsaid.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from insula.language.owner import ASSISTANT, USER, find_owners, may_be_same, names_among
from insula.language.statements import find_marks
from insula.text.analysis import LANGUAGES, analyse_text, content_words, fold_accents, term_of, words_of
from insula.text.answers import COUNTED, SAID, AskKind
from insula.text.grammar import UNSPACED
from insula.text.questions import Ask, find_asks
from insula.turn.remembered import capitalised_words, find_numbers, slot_words, wants_advice
from insula.types import Flag, Recalled

_MEASURED: frozenset[AskKind] = COUNTED | frozenset[AskKind]({"place"})
_AGAINST: frozenset[Flag] = frozenset({"ignored_memory", "other_person", "unsupported"})
"""What the monitor says of an answer that holds something else."""

_SENTENCE = re.compile(r"(?<=[.!?…])(?<![A-Z][a-z]\.)\s+|(?<=[。！？])|\n+")
"""Where a sentence ends; "Dr. Huang" is within one."""
_MARK = re.compile(r"[?？]")
_SYMBOL = re.compile(r"[€$£¥%]")
_RUN = re.compile(r"[\w\d]+")
_SPOKEN = frozenset("你您妳的是在了叫有吗呢")
_KANA = re.compile(r"[\u3040-\u309fー、。！\s]")


class AnswerSource(NamedTuple):
    """A remembered line with what an answer has to do with it."""

    memory: Recalled
    holds: bool
    """Whether the answer says its value; else it says another one."""


class _AnsweringStatement(NamedTuple):
    """A question with the one statement that answers it."""

    ask: Ask
    text: str
    language: str
    owners: frozenset[str]


def find_source(
    message: str,
    response: str,
    recalled: Sequence[Recalled],
    shown: Collection[int],
    flags: Sequence[Flag],
    default: str,
) -> AnswerSource | None:
    """The line that a response says the value of, or another value than; None where that is not sure.

    Args:
        response: the answer, as the model gave it.
        recalled: what was recalled, best first.
        default: the language of a message too short to tell.
    """
    answering = [hit for hit in recalled if hit.memory.id in shown and _is_own(hit)]
    if len(answering) != 1 or _MARK.search(response):
        return None
    told = _find_statement(message, answering[0].told, default)
    if told is None or _is_negated(told, response):
        return None
    sentences = _split_sentences(response)
    others = [hit.memory.line for hit in recalled if hit is not answering[0]]
    others += [part for part in _split_sentences(answering[0].memory.line) if told.text not in part]
    if not flags and any(_says_value(told, part) for part in sentences) and not _says_others(told, response, others):
        return AnswerSource(answering[0], holds=True)
    against = not _AGAINST.isdisjoint(flags) and not any(_holds_value(told, part) for part in sentences)
    if against and len(sentences) == 1 and _says_another(told, sentences[0], others):
        return AnswerSource(answering[0], holds=False)
    return None


def _is_own(recalled: Recalled) -> bool:
    """Whether a memory is the user's own word and likely answers."""
    memory = recalled.memory
    return (
        recalled.bearing == "answers"
        and memory.provenance == "user"
        and memory.speaker == USER
        and recalled.until is None
    )


def _find_statement(message: str, line: str, default: str) -> _AnsweringStatement | None:
    """The one question of a message with the one sentence of a line that is about the same and of the same people."""
    analysis = analyse_text(message, default=default)
    language = analysis.language
    asked = find_asks(analysis)
    if language not in LANGUAGES or len(asked) != 1 or asked[0].kind not in SAID or wants_advice(asked[0], language):
        return None
    owners = _owners_of(asked[0].text, language, USER, ASSISTANT)
    mine = [part for part in _split_sentences(line) if _is_about(part, asked[0].text, owners, language)]
    if len(mine) > 1:
        terms = frozenset(asked[0].terms)
        mine = [part for part in mine if terms & frozenset(analyse_text(part, default=language).terms)]
    if len(mine) != 1:
        return None
    return _AnsweringStatement(asked[0], mine[0], language, owners or _owners_of(mine[0], language, USER, ASSISTANT))


def _is_about(part: str, question: str, owners: frozenset[str], language: str) -> bool:
    """Whether a sentence of a line is about those who are asked about, or about whom the question names."""
    if owners:
        return _are_same(_owners_of(part, language, USER, ASSISTANT), owners)
    names = _capitalised_names(question, language)
    return bool(names) and names <= _content_words(part, language)


def _split_sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _owners_of(text: str, language: str, me: str, you: str) -> frozenset[str]:
    """Whose a text is: the user, and those of theirs that it names."""
    mentions = (path.replace(ASSISTANT, USER) for path in find_owners(text, language, me, you).mentions)
    return frozenset(path for path in mentions if path == USER or path.startswith(f"{USER}/"))


def _are_same(owners: frozenset[str], other: frozenset[str]) -> bool:
    return all(any(may_be_same(path, also) for also in other) for path in owners)


def _is_negated(told: _AnsweringStatement, response: str) -> bool:
    """Whether line or answer denies something: what is denied is no value."""
    return any("negated" in find_marks(text, told.language) for text in (told.text, response))


def _says_value(told: _AnsweringStatement, sentence: str) -> bool:
    """Whether a sentence says the value of a statement and nothing else."""
    return _holds_value(told, sentence) and not _further_words(told, sentence) and _is_of_owners(told, sentence)


def _holds_value(told: _AnsweringStatement, sentence: str) -> bool:
    """Whether the whole value of a statement stands in a sentence."""
    value = _value_words(told)
    if told.language in UNSPACED:
        return bool(value) and all(run in sentence for run in value)
    held = _content_words(sentence, told.language) | find_numbers(sentence, told.language)
    return bool(value) and value <= held


def _value_words(told: _AnsweringStatement) -> frozenset[str]:
    """What a statement says that its question does not: its numbers and names, else its words."""
    language, asked = told.language, told.ask.text
    if language in UNSPACED:
        left = "".join(" " if char in asked or _KANA.match(char) else char for char in told.text)
        return frozenset(_RUN.findall(left))
    exact = find_numbers(told.text, language) - find_numbers(asked, language)
    exact |= (
        _capitalised_names(told.text, language)
        - _content_words(asked, language)
        - _idle_words(language)
        - _named_people(told)
    )
    known = _content_words(asked, language) | _idle_words(language)
    return exact or _content_words(told.text, language) - known


def _named_people(told: _AnsweringStatement) -> frozenset[str]:
    """The names of the people in a statement, which are a value only where a name or somebody is asked for."""
    if told.ask.kind not in _MEASURED:
        return frozenset()
    return names_among(find_owners(told.text, told.language, USER, ASSISTANT).mentions)


def _capitalised_names(text: str, language: str) -> frozenset[str]:
    """The capitalised words of a text, without what is bound to them by an apostrophe ("J'habite")."""
    parts = (word.rpartition("'")[2] for word in capitalised_words(text.replace("’", "'"), language))
    return frozenset(part for part in parts if len(part) > 1)


def _content_words(text: str, language: str) -> frozenset[str]:
    """The content words of a text as they stand and by their stems, without accents."""
    words = content_words(text.replace("’", "'"), language)
    known = frozenset(map(fold_accents, words)) | frozenset(
        term_of(word, language) or fold_accents(word) for word in words
    )
    return known | frozenset(word.rpartition("'")[2] for word in known)


def _idle_words(language: str) -> frozenset[str]:
    """Words that carry no value: what a slot is called, and pronouns."""
    return slot_words(language) | frozenset(
        map(fold_accents, words_of("first", language) | words_of("second", language))
    )


def _further_words(told: _AnsweringStatement, sentence: str) -> frozenset[str]:
    """What a sentence says that neither the statement nor its question does: another name, number or word."""
    language = told.language
    if language in UNSPACED:
        known = frozenset(told.text + told.ask.text) | _SPOKEN
        return frozenset(char for char in sentence if char.isalnum() and char not in known and not _KANA.match(char))
    known = _content_words(told.text, language) | _content_words(told.ask.text, language) | _idle_words(language)
    stems = frozenset(
        term_of(fold_accents(word), language) or fold_accents(word) for word in content_words(sentence, language)
    )
    new = {word for word in stems if word not in known and not word[:1].isdigit()}
    new |= find_numbers(sentence, language) - find_numbers(told.text, language) - find_numbers(told.ask.text, language)
    return frozenset(new) | (frozenset(_SYMBOL.findall(sentence)) - frozenset(_SYMBOL.findall(told.text)))


def _is_of_owners(told: _AnsweringStatement, sentence: str) -> bool:
    """Whether a sentence of the answer speaks of nobody else among the user and their people."""
    return told.language in UNSPACED or _are_same(_owners_of(sentence, told.language, ASSISTANT, USER), told.owners)


def _says_others(told: _AnsweringStatement, response: str, others: Sequence[str]) -> bool:
    """Whether a name or number of another remembered line stands in a response."""
    language = told.language
    said = _capitalised_names(response, language) | find_numbers(response, language)
    own = (
        _content_words(told.text, language)
        | _content_words(told.ask.text, language)
        | find_numbers(told.text, language)
    )
    return any(
        said & (_capitalised_names(line, language) | find_numbers(line, language)) - own - _idle_words(language)
        for line in others
    )


def _says_another(told: _AnsweringStatement, sentence: str, others: Sequence[str]) -> bool:
    """Whether a sentence says another value of the same kind: one number for one, one name for one.

    Of a place only what stands in another remembered line is surely another one: who lives in Porto lives in Portugal.
    """
    language = told.language
    value, new = _value_words(told), _further_words(told, sentence)
    if language in UNSPACED or len(value) != 1 or len(new) != 1 or not _is_of_owners(told, sentence):
        return False
    if told.ask.kind in COUNTED:
        return value <= find_numbers(told.text, language) and new <= find_numbers(sentence, language)
    names = new <= frozenset(term_of(name, language) or name for name in _capitalised_names(sentence, language))
    known = any(new <= _content_words(line, language) for line in others)
    return names and (known or told.ask.kind == "name")
