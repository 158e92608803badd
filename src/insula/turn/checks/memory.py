"""Whether a response makes use of what memory held for its message.

By words and by whom they are about, without a model: the line that answers has values of its own (a place, a number, a
name) beside the words of the question, and a response that uses it says one of them. Where that cannot be told (a value
in other words, in another language, to be worked out from the line) nothing is said.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from insula.language.owner import ASSISTANT, GROUPS, USER, find_owners, load_lexicon
from insula.language.statements import Mark, find_marks
from insula.text.analysis import LANGUAGES, content_words, fold_accents, term_of, words_of
from insula.text.answers import (
    COUNTED,
    NAMED,
    SAID,
    VALUED,
    AskKind,
    carries_answer,
    declines_answer,
    says_untold,
    says_yes,
)
from insula.text.grammar import UNSPACED
from insula.text.questions import Ask
from insula.turn.exchange import Exchange, ReplyText
from insula.turn.remembered import (
    MemoryLine,
    asks_only_user,
    capitalised_words,
    find_names,
    find_numbers,
    find_units,
    is_about_user,
    read_line,
    split_by_person,
    wants_advice,
)
from insula.turn.values import ComparedText, ReplyBesideLine
from insula.types import Fault, Level

MOST_LINES = 12
"""So many lines of memory are looked at."""
ANSWER = 6
"""A response of so few content words is all answer."""
LENGTHY = 24
"""Content words of a response that explains, and does not claim to know somebody."""
HEAD_CHARS = 300
SHORT = 24
"""Characters from which a response that neither uses memory nor speaks to the user is about something else."""

_ENDED: frozenset[Mark] = frozenset({"negated", "ended"})
_STORED: frozenset[AskKind] = SAID | frozenset[AskKind]({"list", "yes_no"})
"""What may be asked of what one was told; a poem or a program may not."""


class MemoryUse(NamedTuple):
    """What a response made of what memory held."""

    fault: Fault | None = None
    used: bool = False
    """Whether it says something of a line about those who were asked about."""


def compare_with_memory(turn: Exchange) -> MemoryUse:
    """What a response made of what memory held; nothing where memory was not asked."""
    language = turn.reply.language
    if language not in LANGUAGES or turn.level is None:
        return MemoryUse()
    lines = [read_line(text, language) for text in turn.memory[:MOST_LINES] if text.strip()]
    questions = [_MemoryQuestion(ask, turn, turn.reply, lines, turn.level) for ask in turn.asked.asks]
    fault = next((fault for question in questions if (fault := question.find_fault()) is not None), None)
    return MemoryUse(fault, fault is None and any(question.uses_own for question in questions))


class _MemoryQuestion:
    """One ask with what memory held for it and what came back."""

    def __init__(self, ask: Ask, turn: Exchange, reply: ReplyText, lines: Sequence[MemoryLine], level: Level) -> None:
        self.ask, self.message, self.reply, self.level = ask, turn.asked.text, reply, level
        self.only_asks = turn.only_asks
        self.language = reply.language
        self.whole = content_words(self.message, self.language)
        self.given = find_numbers(self.message, self.language)
        about = find_owners(ask.text, self.language, USER, ASSISTANT)
        self.owners = about.mentions or (frozenset({USER}) if is_about_user(ask, self.language) else frozenset[str]())
        parts = [part for line in lines for part in split_by_person(line, self.owners)]
        self.own = [part for part in parts if not self.owners or part.may_be_of(self.owners)]
        self.others = [part for part in parts if part not in self.own]
        if not self.own and level == "high":
            self.own, self.others = self.others, []
        self.leads = bool(self.own) and self.own[0].raw == lines[0].raw
        """Whether the best line is about those who are asked about."""

    def find_fault(self) -> Fault | None:
        """What is wrong with what came back."""
        if wants_advice(self.ask, self.language) or self.ask.kind not in _STORED | {"request"}:
            return None
        if self.owners - frozenset({"?"}) == frozenset({ASSISTANT}):  # memory is of the user, and not of who answers
            return None
        if self.uses_own:
            return self._find_rival_value()
        if (foreign := self._others_value()) is not None:
            return foreign
        if self.declined:
            return self._find_needless_decline()
        if self.only_asks or any(map(self._carries_line, self.others)):
            return None  # what any line says that stood before the model is nothing that memory does not hold
        if (contradicted := self._find_rival_value()) is not None:
            return contradicted
        if self.level == "high" and self.leads:
            return self._find_ignored_memory()
        return self._find_unsupported() if self.level != "high" else None

    # What the response takes from a line

    @cached_property
    def uses_own(self) -> bool:
        """Whether it says something of a line about those who were asked about."""
        return any(self._carries_line(line) for line in self.own)

    def _carries_line(self, line: MemoryLine) -> bool:
        """Whether the response says something of a line that the question does not say already."""
        told = line.numbers - self.given
        if told & self.numbers:
            return True
        measured = told and self.numbers and self._units_in(line.text) & self._units_in(self.reply.text)
        return not measured and any(self._says_word(word) for word in self._value_words(line) if not word.isdigit())

    def _value_words(self, line: MemoryLine) -> frozenset[str]:
        """The words of a line that the question does not hold."""
        idle = self.whole | load_lexicon(self.language).words.get("titles", frozenset())
        return frozenset(word for word in line.words if word not in idle and self._term_of(word) not in self.asked)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The terms of the message."""
        return frozenset(map(self._term_of, self.whole))

    def _says_word(self, word: str) -> bool:
        """Whether the response says a word, in whatever form."""
        if self.language in UNSPACED:
            return self.reply.has_term(word)
        term = self._term_of(word)
        return self.reply.has_term(term) or self.reply.has_related(fold_accents(term))

    def _term_of(self, word: str) -> str:
        return term_of(word, self.language) or word

    def _units_in(self, text: str) -> frozenset[str]:
        return find_units(text, self.language)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers of the response."""
        return find_numbers(self.reply.text, self.language)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the response that the message does not hold."""
        return find_names(self.reply.text, self.language) - frozenset(map(fold_accents, self.whole))

    @cached_property
    def declined(self) -> bool:
        """Whether the response says that it does not know, or was not told."""
        text = self.reply.text[:HEAD_CHARS]
        return declines_answer(text, self.language) or says_untold(text, self.language)

    # What a line has to do with the question

    def _is_about(self, line: MemoryLine) -> bool:
        """Whether a line speaks of what the question asks about."""
        return any(self._holds_term(line, term) for term in self.ask.terms)

    def _covers_question(self, line: MemoryLine) -> bool:
        """Whether a line holds all that the question asks about."""
        return bool(self.ask.terms) and all(self._holds_term(line, term) for term in self.ask.terms)

    def _holds_term(self, line: MemoryLine, term: str) -> bool:
        held = {term_of(word, line.language) or word for word in line.words}
        return term in held or any(term[:5] == word[:5] for word in held if len(term) > 4)

    # The faults

    def _others_value(self) -> Fault | None:
        """The value of somebody else's line, said of those who were asked about."""
        if self.declined and (says_untold(self.reply.text, self.language) or not (self.names or self.numbers)):
            return None
        spoken_of = find_owners(self.reply.text[:HEAD_CHARS].replace("’", "'"), self.language, ASSISTANT, USER).mentions
        named = {path.replace(ASSISTANT, USER) for path in spoken_of} - self.owners - {USER}
        for line in self.others:  # "your mother lives in Leeds" where the father was asked about says whose it is
            if self._carries_anothers(line) and not line.subjects & named:
                return Fault(flag="other_person", about=self.own[0].raw if self.own else line.raw)
        return None

    def _carries_anothers(self, line: MemoryLine) -> bool:
        """Whether the response says a value of a line that no line of those asked about holds."""
        held = frozenset[str]().union(*(own.words for own in self.own))
        beings, about = load_lexicon(self.language).beings, {part for path in line.subjects for part in path.split("/")}
        own = {word for word in self._value_words(line) - held if beings.get(fold_accents(word), word) not in about}
        return bool((line.numbers - self.given) & self.numbers) or any(map(self._says_word, own))

    def _find_needless_decline(self) -> Fault | None:
        """ "I don't know" though memory holds it."""
        if self.level != "high" or not self.own or (self.ask.kind == "number" and not self.own[0].numbers):
            return None
        return Fault(flag="declined", about=self.own[0].raw)

    def _find_ignored_memory(self) -> Fault | None:
        """Something else than what memory holds, or nothing of the kind."""
        first = self.own[0]
        if not self.owners and not (
            self._covers_question(first) and (self.ask.kind in VALUED or len(self.ask.terms) > 1)
        ):
            return None  # of the world, with a line that is only near it
        if self.ask.kind == "yes_no":
            return self._find_denied()
        if first.language != self.language or not self._tells_more(first):
            return None
        about = self._is_about(first)
        if self.ask.kind in COUNTED:
            return None
        if find_names(first.text, first.language) and (self.ask.kind in NAMED or self.names):
            told = bool(self.names) or (self.reply.size > ANSWER or not self._speaks_to_user())
            return self._ignored_fault(first, certain=about and self.ask.kind in NAMED) if told else None
        certain = not self._speaks_to_user() and len(self.reply.text) >= SHORT // (
            3 if self.language in UNSPACED else 1
        )
        if self._shares_character(first) or not (certain or self._covers_question(first)):
            return None
        return self._ignored_fault(first, certain=certain and about and self.ask.kind != "open")

    def _ignored_fault(self, line: MemoryLine, *, certain: bool) -> Fault:
        return Fault(flag="ignored_memory", about=line.raw, certain=certain)

    def _tells_more(self, line: MemoryLine) -> bool:
        """Whether a line holds more than the question and a verb; in German a noun or a number tells."""
        own = self._value_words(line)
        if line.language != "de":
            return bool(own)
        return bool(line.numbers or capitalised_words(line.text, line.language) & frozenset(map(fold_accents, own)))

    def _shares_character(self, line: MemoryLine) -> bool:
        """Chinese and Japanese: whether a character of a line's values is in the response ("高いところ": "高所")."""
        own = frozenset("".join(self._value_words(line))) - frozenset(self.message) if self.language in UNSPACED else ()
        return any(character in self.reply.text for character in own)

    def _find_rival_value(self) -> Fault | None:
        """Another value in the place of the first line's, and nothing else."""
        if not self.leads or self.ask.kind not in SAID:
            return None
        first = self.own[0]
        if not self.owners and not self._is_about(first):
            return None
        beside = ReplyBesideLine(ComparedText(self.message, self.language), first.text, self.reply.text)
        others = [line.text for line in (*self.own[1:], *self.others)]
        return self._ignored_fault(first, certain=False) if beside.says_another(self.ask.kind, others) else None

    def _find_denied(self) -> Fault | None:
        """ "Yes" where the line says no, and the other way round."""
        first, said = self.own[0], says_yes(self.reply.text, self.language)
        negated = bool(_ENDED & find_marks(first.text, first.language))
        if not (self._covers_question(first) or (negated and self._is_about(first))):
            return None
        if said is None or said == (negated == bool(_ENDED & find_marks(self.ask.text, self.language))):
            return None
        return self._ignored_fault(first, certain=said == negated)

    def _find_unsupported(self) -> Fault | None:
        """A value said of the user or their people, though memory holds none."""
        if self.language in UNSPACED and not self._names_user():
            return None
        theirs = any(self.owners & line.subjects and any("/" in path for path in line.subjects) for line in self.own)
        if not (asks_only_user(self.ask, self.language) or theirs) or self.ask.kind not in _STORED - {"list"}:
            return None
        if any(mark in self.reply.text for mark in "?？") or self.reply.size > LENGTHY:  # who asks does not claim
            return None
        said = says_yes(self.reply.text, self.language)
        if self.reply.size <= 1 and self.ask.kind != "yes_no" and said is not None:
            return None  # "Okay." says nothing of anybody
        if said is False and self.ask.kind == "yes_no" and ASSISTANT in self.owners:
            return None  # "Have I told you of my sister?" is asked about what the assistant knows
        if self.ask.kind == "yes_no":
            claims = said is not None and self.reply.size <= 2 * ANSWER
        else:
            claims = carries_answer(self.ask.kind, self.reply.text, self.language)
        about = next((line.raw for line in self.own if self._is_about(line) or self.owners & line.subjects), "")
        return Fault(flag="unsupported", about=about, certain=False) if claims else None

    def _names_user(self) -> bool:
        """Chinese and Japanese: whether "cat" is the user's cat, and not any cat."""
        pets = all(path.rpartition("/")[2] in GROUPS["pet"] for path in self.owners if path != USER)
        return not pets or any(word in self.ask.text for word in (*words_of("first", self.language), "うち", "我家"))

    def _speaks_to_user(self) -> bool:
        """Whether the response speaks to the user, or of somebody by a pronoun."""
        words, language = self.reply.words, self.language
        if language in UNSPACED:
            return any(each in self.reply.text for each in (*words_of("second", language), "她", "他", "さん"))
        known = load_lexicon(language).words
        said = {fold_accents(word) for word in words}
        spoken = known["second"] | known["second_own"] | known["third"] | known["third_own"]
        return bool(said & spoken or words & words_of("second", language))
