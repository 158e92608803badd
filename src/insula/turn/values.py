"""What a response says beside a question and a remembered line, told without understanding either.

A response is taken from a line where a sentence of it says something that the question does not, and nothing that
neither line nor question says, and where no other sentence brings a number, a day or a month of its own; not where the
line holds several values of a sort, and it says some of them. It says another value where all it says beside line and
question stands in the place of the line's value: a number, a day or a month, or a name where somebody or a name is
asked for.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache, cached_property
from itertools import groupby

from insula.language.owner import ASSISTANT, USER, find_owners, may_be_same, names_among
from insula.language.statements import find_marks
from insula.text.analysis import content_words, fold_accents, term_of, words_of
from insula.text.answers import COUNTED, PICKED, AskKind, load_numerals
from insula.text.grammar import UNSPACED
from insula.turn.remembered import (
    SORTS,
    capitalised_words,
    find_names,
    find_numbers,
    find_units,
    find_values,
    slot_words,
)

_NAMES: frozenset[AskKind] = frozenset({"name", "person"})
"""Where one name excludes another. Who lives in Porto lives in Portugal, too: a place is surely another one only where
a line of somebody else holds it."""
_FEW = 2
"""So many words at most stand in the place of a name that a line holds ("Dr Meneses")."""

_SENTENCE = re.compile(r"(?<=[.!?…])(?<![A-Z][a-z]\.)\s+|(?<=[。！？])|\n+")
"""Where a sentence ends; "Dr. Huang" is within one."""
_MARK = re.compile(r"[?？]")
_SYMBOL = re.compile(r"[€$£¥%]")
MUCH = 0.5
"""The share of what a line says and its question does not that an answer without number, day or name holds at least."""
_WORD = re.compile(r"\w+")
_FIGURES = re.compile(r"\d[./-]\d")
"""A date in figures, which says a month as well, or a number with a fraction."""
NOON = 12
FACTORS = frozenset({4, 7, 12, 24, 30, 52, 60, 365})
"""What a number may be multiplied by to say the same over another time ("720 a month": "8,640 a year")."""
_DIGITS, _SPELLED = 10, 2
_SPOKEN = re.compile("[我你您妳她他它的是在了叫有吗呢]")
"""Chinese for who speaks, who is spoken to and of, and what binds them to a value."""
_NUMERAL = re.compile("[0-9一二三四五六七八九十百]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")


class ComparedText:
    """What a text says, as far as two texts can be compared without understanding either."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.language = text, language

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words by their stems, without accents, numbers and pronouns."""
        if self.language in UNSPACED:
            found = content_words(_SPOKEN.sub(" ", self.text), self.language)
            return frozenset(word for word in found if not _HIRAGANA.fullmatch(word) and not _NUMERAL.search(word))
        found = (word.rpartition("'")[2] for word in content_words(self.text.replace("’", "'"), self.language))
        known = load_numerals(self.language).keys() | _pronouns(self.language)
        stems = (fold_accents(term_of(word, self.language) or word) for word in found if word and word not in known)
        return frozenset(stem for stem in stems if not stem[0].isdigit())

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers in digits."""
        return find_numbers(self.text, self.language)

    @cached_property
    def days(self) -> frozenset[tuple[str, str]]:
        """The months and days of the week that it names, each with its sort."""
        values = find_values(self.text, self.language)
        return frozenset((sort, value) for sort in SORTS for value in values[sort])

    @cached_property
    def names(self) -> frozenset[str]:
        """Its capitalised words, by their stems."""
        parts = (word.rpartition("'")[2] for word in capitalised_words(self.text.replace("’", "'"), self.language))
        return frozenset(fold_accents(term_of(part, self.language) or part) for part in parts if len(part) > 1)

    @cached_property
    def is_negated(self) -> bool:
        """Whether it denies something."""
        return "negated" in find_marks(self.text, self.language)

    def find_owners(self, me: str, you: str) -> frozenset[str]:
        """Whose it is: the user, and those of theirs that it names."""
        mentions = (path.replace(ASSISTANT, USER) for path in find_owners(self.text, self.language, me, you).mentions)
        return frozenset(path for path in mentions if path == USER or path.startswith(f"{USER}/"))


@cache
def _pronouns(language: str) -> frozenset[str]:
    return words_of("first", language) | words_of("second", language)


class ReplyBesideLine:
    """A response beside a question and what a line says of those whom the question is about."""

    def __init__(self, question: ComparedText, line: str, response: str) -> None:
        language = question.language
        self.question, self.language = question, language
        self.response = ComparedText(response, language)
        self.of = question.find_owners(USER, ASSISTANT)
        parts = [ComparedText(part, language) for part in _split_sentences(line)]
        about = [part.text for part in parts if not self.of or _is_about(part.find_owners(USER, ASSISTANT), self.of)]
        self.line = ComparedText(" ".join(about), language)

    @cached_property
    def shared(self) -> int:
        """How many words of the question the line holds."""
        return len(self.question.words & self.line.words)

    @cached_property
    def is_taken(self) -> bool:
        """Whether the response is taken from the line."""
        if self.line.is_negated != self.response.is_negated or not self._is_of_same or self._picks_one:
            return False
        sentences = [ComparedText(part, self.language) for part in _split_sentences(self.response.text)]
        return not self._new_numbers and not self._new_days and any(map(self._is_sentence_taken, sentences))

    @property
    def _picks_one(self) -> bool:
        """Whether the line holds several values of a sort, and the response says some of them: perhaps the wrong ones
        ("I live in Faro, and was born in Braga.")."""
        line, response, question = self.line, self.response, self.question
        sorts = [(line.numbers, response.numbers, question.numbers), (line.days, response.days, question.days)]
        if self.language != "de":  # where nouns are written large, names cannot be told from them
            sorts.append((self._line_names, response.words, question.words))
        return any((held - asked) & said and held - asked - said for held, said, asked in sorts)

    @cached_property
    def _line_names(self) -> frozenset[str]:
        """The names that the line holds within its sentences; without those of people where the response says none."""
        found = find_names(self.line.text, self.language)
        people = names_among(find_owners(self.line.text, self.language, USER, ASSISTANT).mentions) & found
        names, persons = (
            frozenset(fold_accents(term_of(name, self.language) or name) for name in some) for some in (found, people)
        )
        return names - persons if persons.isdisjoint(self.response.words) else names

    @cached_property
    def says_new_name(self) -> bool:
        """Whether the response holds a name that neither line nor question does."""
        names = (term_of(name, self.language) or name for name in find_names(self.response.text, self.language))
        return any(not self._is_known(fold_accents(name)) for name in names)

    def _is_sentence_taken(self, sentence: ComparedText) -> bool:
        """Whether a sentence says something of the line, and nothing that neither it nor the question says."""
        if _MARK.search(sentence.text) or any(not self._is_known(word) for word in sentence.words):
            return False
        if set(_SYMBOL.findall(sentence.text)) - set(_SYMBOL.findall(self.line.text)) and _SYMBOL.search(
            self.line.text
        ):
            return False
        return self._says_much(sentence)

    def _says_much(self, text: ComparedText) -> bool:
        """Whether a text says a number, a day or a name of the line, or half the words that the question does not."""
        if (self.line.days & text.days) - self.question.days:
            return True
        if (self.line.numbers & text.numbers) - self.question.numbers:
            return True
        if self.language in UNSPACED:
            return self._says_value(text)
        held = self.line.words - self.question.words - self._slots
        said = held & text.words
        named = self.language != "de" and not self._line_names.isdisjoint(said)
        return named or (bool(said) and len(said) >= MUCH * len(held))

    def _says_value(self, text: ComparedText) -> bool:
        """Whether a text says a word of the line that the question does not."""
        if self.language in UNSPACED:
            return any(word in self.line.text and word not in self.question.text for word in text.words)
        return not (self.line.words & text.words).isdisjoint(self.line.words - self.question.words - self._slots)

    def _is_known(self, word: str) -> bool:
        """Whether line or question hold a word, or it is what such a value is called."""
        if self.language in UNSPACED and (word in self.line.text or word in self.question.text):
            return True
        return word in self.line.words or word in self.question.words or word in self._slots

    @cached_property
    def _slots(self) -> frozenset[str]:
        return slot_words(self.language)

    @cached_property
    def _new_numbers(self) -> frozenset[str]:
        return self.response.numbers - self.line.numbers - self.question.numbers

    @cached_property
    def _new_days(self) -> frozenset[tuple[str, str]]:
        return self.response.days - self.line.days - self.question.days

    @property
    def _is_of_same(self) -> bool:
        """Whether the response speaks of nobody else among the user and their people."""
        known = self.of | self.line.find_owners(USER, ASSISTANT)
        return self.language in UNSPACED or _are_same(self.response.find_owners(ASSISTANT, USER), known | {USER})

    def says_another(self, kind: AskKind, others: Sequence[str]) -> bool:
        """Whether the response says another value in the place of the line's; see the module.

        Args:
            kind: what is asked for.
            others: the other remembered lines, of which it may be.
        """
        response, line = self.response, self.line
        if _MARK.search(response.text) or len(_split_sentences(response.text)) > 1 or not self._is_of_same:
            return False
        if line.is_negated or response.is_negated or not line.text or kind in {"request", "list"}:
            return False
        new = {word for word in response.words if not self._is_known(word)}
        named = [ComparedText(other, self.language) for other in others]
        if kind == "place":
            return self._says_another_name(new) and any(self._is_of_others(other, new) for other in named)
        if any(self._are_in(other, new) for other in named):
            return False
        if self._new_days or self._new_numbers:
            return self._says_another_day(new) or self._says_another_number(new, kind)
        return self._says_another_name(new) if kind in _NAMES else kind in PICKED and self._says_another_word(new)

    def _are_in(self, other: ComparedText, new: Collection[str]) -> bool:
        """Whether another line holds any of the new words, numbers or days."""
        return bool(other.words & set(new) or other.numbers & self._new_numbers or other.days & self._new_days)

    def _is_of_others(self, other: ComparedText, new: Collection[str]) -> bool:
        """Whether another line holds the new words, and is of somebody else."""
        owners = other.find_owners(USER, ASSISTANT)
        return other.words >= set(new) and bool(owners) and not _are_same(owners, self.of)

    def _says_another_day(self, new: Collection[str]) -> bool:
        """Whether one day of the week, or one month, stands for another, with at most that word new."""
        if len(new) > 1 or (self._new_numbers and not self.line.numbers):
            return False
        for sort in SORTS:
            mine, theirs = ({day for day in text.days if day[0] == sort} for text in (self.response, self.line))
            if len(mine) == len(theirs) == 1 and mine != theirs and mine <= self._new_days:
                return True
        return False

    def _says_another_number(self, new: Collection[str], kind: AskKind) -> bool:
        """Whether other numbers stand for those of the line; where a number is asked for, a verb may be new, too."""
        held = self.line.numbers - self.question.numbers
        if not held or not held.isdisjoint(self.response.numbers) or len(new) > (kind in COUNTED):
            return False
        if self._new_days or _FIGURES.search(self.response.text) or (kind != "time" and self._shares_day):
            return False
        in_words = not any(map(str.isdigit, self.response.text)) and (
            len(self.response.numbers) > 1 or any(len(number) > _SPELLED for number in held)
        )
        return bool(self._new_numbers) and not in_words and not self._may_follow(kind)

    @property
    def _shares_day(self) -> bool:
        return not self.line.days.isdisjoint(self.response.days)

    def _may_follow(self, kind: AskKind) -> bool:
        """Whether a number of the response may be worked out from one of the line: in other units, over another time,
        or from a date."""
        mine, theirs = (find_units(text.text, self.language) for text in (self.response, self.line))
        if mine and theirs and mine.isdisjoint(theirs):
            return True
        said, held = ([*map(int, filter(_is_whole, text.numbers))] for text in (self.response, self.line))
        if any(map(_is_year, said)) != any(map(_is_year, held)):
            return True
        if any(sort == "months" for sort, _ in self.line.days) and not self.response.days:
            return True
        beside = {1, NOON} if kind == "number" else {NOON}  # a year older, or without the one who says it
        return any(_may_be_made(number, other, beside) for number in said for other in held)

    def _says_another_name(self, new: Collection[str]) -> bool:
        """Whether a name stands for the one name of the line."""
        held = self.line.names - self.question.words
        if not held & self.line.words or not held.isdisjoint(self.response.words):
            return False
        words = [fold_accents(term_of(word, self.language) or word) for word in _WORD.findall(self.line.text.lower())]
        runs = [is_name for is_name, _ in groupby(words, held.__contains__)]
        return sum(runs) == 1 and not self.response.names.isdisjoint(new) and len(new) <= _FEW

    def _says_another_word(self, new: Collection[str]) -> bool:
        """Whether response and line say the same of a thing but for one word ("My bike is green": "… is red")."""
        held = self.line.words - self.question.words - self._slots
        alike = self.question.words & self.line.words & self.response.words
        return (
            bool(alike)
            and len(new) == len(held) == 1
            and self.language not in UNSPACED
            and not self._says_value(self.response)
        )


def _is_whole(number: str) -> bool:
    return number.isdecimal() and len(number) < _DIGITS


def _is_year(number: int) -> bool:
    return 1900 <= number < 2100


def _may_be_made(said: int, held: int, beside: Collection[int]) -> bool:
    """Whether a number may follow from another: so much more or less, or so many times it."""
    low, high = sorted((said, held))
    return high - low in beside or (low > 0 and high % low == 0 and high // low in FACTORS)


def _split_sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _is_about(owners: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether a part of a line is about those who are asked about, and nobody else but the user who says it."""
    kin, sought = ({path for path in paths if path != USER} for paths in (owners, asked))
    if not sought or not owners:
        return not kin
    return bool(kin) and _are_same(frozenset(kin), asked)


def _are_same(owners: frozenset[str], other: frozenset[str]) -> bool:
    return all(any(may_be_same(path, also) for also in other) for path in owners)
