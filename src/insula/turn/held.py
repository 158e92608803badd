"""A question with what memory held for it and what came back: whose a line is, what the response takes from it."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from insula.memory.encoding import ASSISTANT, USER
from insula.memory.subject import GROUPS, people, whose
from insula.text.analysis import LANGUAGES, content_words, fold, term_of, words_of
from insula.text.answers import carries, numbers_in
from insula.text.coverage import Reply
from insula.text.grammar import UNSPACED
from insula.text.manner import declines, untold
from insula.text.questions import Ask
from insula.turn.aim import wants_advice
from insula.turn.lines import Line, bare, by_person, capitals, exact, line, may_be_of, names, numbers, units
from insula.types import Level

_HEAD_CHARS = 300
PIECE_CHARS = 60
"""A response of so few characters may be a piece of the line."""


class Question:
    """One ask with what memory held for it and what came back."""

    def __init__(self, ask: Ask, message: str, reply: Reply, lines: Sequence[Line], level: Level) -> None:
        self.ask, self.message, self.reply, self.level = ask, message, reply, level
        self.language = reply.language
        self.asked = content_words(ask.text, self.language)
        self.whole = content_words(message, self.language)
        about = whose(ask.text, self.language, USER, ASSISTANT)
        self.owners = about.mentions or (frozenset({USER}) if about_user(ask, self.language) else frozenset[str]())
        self.first = lines[0] if lines else None
        self.own, self.others = self._parted([part for each in lines for part in self._by_person(each)])

    @cached_property
    def declined(self) -> bool:
        """Whether the response says that it does not know, or was not told."""
        text = self.reply.text[:300]
        return declines(text, self.language) or untold(text, self.language)

    def _by_person(self, one: Line) -> list[Line]:
        """A line that tells of those who are asked about and of others, in its parts; else as it is."""
        parts = by_person(one) if self.owners else []
        if len(parts) < 2:
            return [one]
        of_them = [may_be_of(part.clauses, self.owners) for part in parts]
        related = all(any(path.startswith(f"{USER}/") for of in part.clauses for path in of) for part in parts)
        if not related or all(of_them) or not any(of_them):
            return [one]
        return [line(part.text, one.language, one.raw) for part in parts]

    def _parted(self, lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
        """The lines about those who are asked about, and those about others."""
        telling = self._telling(lines)
        own: list[Line] = []
        others: list[Line] = []
        for each in lines:
            of_them = not self.owners or each.may_be_of(self.owners)
            else_named = bool(telling) and not telling & exact(each.text, self.language) and self._names_another(each)
            (own if of_them and not else_named else others).append(each)
        if not own and self.level == "high" and not any(map(self._another_name, others)):
            return others, []
        return own, others

    def _names_another(self, one: Line) -> bool:
        """Whether every clause of a line names somebody."""
        if all(one.clauses):
            return True
        roots = {path.partition("/")[0] for path in self.owners} - {USER}
        return bool(roots) and len(one.clauses) == 1 and bool(capitals(one.text, one.language) - roots)

    def _another_name(self, one: Line) -> bool:
        """Whether a line begins with a name that is not the one asked about ("Ben is 1.90 tall" for Carla)."""
        asked = {path for path in self.owners if path != USER and "/" not in path}
        first = one.text.split(maxsplit=1)[0].rstrip("'s,:") if one.text.strip() else ""
        named = fold(first.lower()) in {fold(each) for each in one.subjects}
        return bool(asked) and named and fold(first.lower()) not in {fold(each) for each in asked}

    def _telling(self, lines: Sequence[Line]) -> frozenset[str]:
        """The names and people of the question that stand in some of the lines and not in others."""
        beings = people(self.language).beings
        asked = {word for word in exact(self.ask.text, self.language) if word in beings}
        asked |= {root for path in self.owners if (root := path.partition("/")[0]) != USER}
        held = {
            word: [bool({word, word.removesuffix("s")} & exact(each.text, self.language)) for each in lines]
            for word in asked
        }
        return frozenset(word for word, some in held.items() if any(some) and not all(some))

    def values(self, one: Line) -> frozenset[str]:
        """The words of a line that the question does not hold."""
        asked = {term_of(word, self.language) or word for word in self.whole}
        idle = self.whole | people(self.language).words.get("titles", frozenset())
        return frozenset(
            word for word in one.words if word not in idle and (term_of(word, self.language) or word) not in asked
        )

    def telling_values(self, one: Line) -> bool:
        """Whether a line holds more than the question and a verb; in German a noun or a number tells."""
        values = self.values(one)
        if one.language != "de":
            return bool(values)
        return bool(one.numbers or capitals(one.text, one.language) & frozenset(map(fold, values)))

    def carried(self, one: Line) -> bool:
        """Whether the response says something of a line that the question does not say already."""
        told = one.numbers - numbers(self.message, self.language)
        if told & self.numbers or self._quotes(one):
            return True
        measured = told and self.numbers and units(one.text) & units(self.reply.text)
        return not measured and any(self.says_word(word) for word in self.values(one) if not word.isdigit())

    def _quotes(self, one: Line) -> bool:
        """Whether the response is a piece of the line and nothing else."""
        said = self.piece
        return bool(said) and said in bare(one.text) and said not in bare(self.message)

    def shares_character(self, one: Line) -> bool:
        """Chinese and Japanese: whether a character of a line's values is in the response ("高いところ": "高所")."""
        own = frozenset("".join(self.values(one))) - frozenset(self.message) if self.language in UNSPACED else ()
        return any(character in self.reply.text for character in own)

    @cached_property
    def piece(self) -> str:
        """The response without its punctuation, where it is as short as a piece of a line; else empty."""
        said = bare(self.reply.text) if len(self.reply.text) <= 2 * PIECE_CHARS else ""
        return said if len(said) <= PIECE_CHARS else ""

    def says_word(self, word: str) -> bool:
        if self.language in UNSPACED:
            return self.reply.has(word)
        term = term_of(word, self.language) or word
        return self.reply.has(term) or self.reply.has_related(fold(term))

    @cached_property
    def spoken_of(self) -> frozenset[str]:
        """Whom the response speaks of, as the user would put it."""
        said = whose(self.reply.text[:_HEAD_CHARS].replace("’", "'"), self.language, ASSISTANT, USER).mentions
        return frozenset(path.replace(ASSISTANT, USER) for path in said)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return numbers(self.reply.text, self.language)

    @cached_property
    def names(self) -> frozenset[str]:
        return names(self.reply.text, self.language) - frozenset(map(fold, self.whole))

    @cached_property
    def uses_own(self) -> bool:
        return any(self.carried(each) for each in self.own)

    def covers(self, one: Line) -> bool:
        """Whether a line holds all that the question asks about."""
        terms = {term_of(word, one.language) or word for word in one.words}
        return bool(self.ask.terms) and all(term in terms for term in self.ask.terms)

    def answering(self) -> Line | None:
        """A line that plainly holds the answer, whatever the level."""
        found = (each for each in self.own if self.covers(each) and carries(self.ask.kind, each.text, each.language))
        return next(found, None)

    def is_about(self, one: Line) -> bool:
        """Whether a line speaks of what the question asks about."""
        held = {term_of(word, one.language) or word for word in one.words}
        return any(
            term in held or any(term[:5] == each[:5] for each in held if len(term) > 4) for term in self.ask.terms
        )

    @cached_property
    def turned(self) -> bool:
        """Whether the response turns the verb that ends the question to "you" ("¿Dónde veraneo?": "Veraneas …")."""
        words = re.findall(r"\w+", self.ask.text.lower())
        endings = _YOU.get(self.language, ())
        if len(words) < 2 or not endings or not words[-1].endswith("o"):
            return False
        return any(words[-1][:-1] + ending in self.reply.words for ending in endings)

    def own_being(self) -> bool:
        """Chinese and Japanese: whether "cat" is the user's cat, and not any cat."""
        generic = all(path.rpartition("/")[2] in GROUPS["pet"] for path in self.owners if path != USER)
        return not generic or any(word in self.ask.text for word in (*words_of("first", self.language), "うち", "我家"))

    def given(self) -> bool:
        """Whether the message itself may hold what the answer needs."""
        return len(self.message) > 2 * len(self.ask.text) + 20 or bool(numbers_in(self.message))

    def to_user(self) -> bool:
        """Whether the response speaks to the user, or of somebody by a pronoun."""
        words, language = self.reply.words, self.language
        if language in UNSPACED:
            spoken = (*words_of("second", language), "她", "他", "さん")
            return any(each in self.reply.text for each in spoken)
        if self.turned:
            return True
        known = people(language).words
        said = {fold(word) for word in words}
        told = said & (known["second"] | known["second_own"] | known["third"] | known["third_own"])
        return bool(told or words & words_of("second", language) or said & _polite(language))


_YOU: Mapping[str, tuple[str, ...]] = {"es": ("as", "es"), "pt": ("as", "es", "a", "e"), "it": ("i", "hi")}
"""What "I" in -o becomes where a pronoun is dropped."""
_SPOKEN = frozenset({"su", "sus", "le", "lei", "suo", "sua", "seu", "sie", "ihr", "ihre", "eres", "tienes", "vives"})
"""Polite and dropped forms that speak to somebody without naming them."""


_ANYBODY = frozenset({f"{USER}/person"})
"""Whom "the first woman in space" may be: nobody of the user's."""


def _polite(language: str) -> frozenset[str]:
    return _SPOKEN if language in {"es", "it", "pt", "de"} else frozenset()


def about_user(ask: Ask, language: str) -> bool:
    """Whether a question is about the user, their people or their things."""
    if language not in LANGUAGES or wants_advice(ask, language):
        return False
    paths = whose(ask.text, language, USER, ASSISTANT).mentions
    return any(path == USER or path.startswith(f"{USER}/") for path in paths - _ANYBODY)
