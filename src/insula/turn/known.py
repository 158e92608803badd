"""What memory held for a message, and whether the response made use of it.

By words and by whom they are about, without a model: the line that answers has values of its own (a place, a number, a
name) beside the words of the question, and a response that uses it says one of them. Where that cannot be told (a value
in other words, in another language, to be worked out from the line) nothing is said.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from insula.memory.encoding import ASSISTANT, USER
from insula.memory.subject import GROUPS, people, whose
from insula.text.analysis import LANGUAGES, content_words, fold, term_of, words_of
from insula.text.answers import AskKind, carries, numbers_in, says_yes
from insula.text.coverage import Reply
from insula.text.grammar import UNSPACED
from insula.text.manner import asks_back, hedges, is_courtesy, untold
from insula.text.questions import Ask
from insula.turn.aim import is_of_user, wants_advice
from insula.turn.lines import TERSE, Line, bare, capitals, exact, line, names, numbers, undated, units
from insula.turn.values import Values, opposites, parted, says, side
from insula.types import Fault, Level, Recalled

MOST_LINES = 12
"""So many lines of memory are looked at."""

BRIEF = 6
"""A response of so few content words is all answer."""
PIECE_CHARS = 60
"""A response of so few characters may be a piece of the line."""
LENGTHY = 24
"""Content words of a response that explains, and does not claim to know somebody."""
SHORT = 24
"""Characters from which a response that neither uses memory nor speaks to the user is about something else."""

_VALUED: frozenset[AskKind] = frozenset({"place", "person", "name", "number", "time"})
_NAMED: frozenset[AskKind] = frozenset({"place", "person", "name"})
_STORED: frozenset[AskKind] = _VALUED | frozenset[AskKind]({"open", "list", "choice", "yes_no"})
"""What may be asked of what one was told; a poem or a program may not."""


class Use(NamedTuple):
    """What a response made of what memory held."""

    fault: Fault | None = None
    used: bool = False
    """Whether it says something of a line about those who were asked about."""


def use(asks: Sequence[Ask], message: str, reply: Reply, memory: Sequence[Recalled | str], level: Level) -> Use:
    """What a response made of what memory held.

    Args:
        asks: what the message asks.
        message: the message.
        reply: the response.
        memory: the lines that stood before the model, best first.
        level: how likely memory held what the message needs.
    """
    if reply.language not in LANGUAGES:
        return Use()
    lines = [line(_text(one), _raw(one), reply.language) for one in memory[:MOST_LINES] if _text(one).strip()]
    questions = [_Question(ask, message, reply, lines, level) for ask in asks]
    fault = next((fault for one in questions if (fault := one.fault()) is not None), None)
    return Use(fault, fault is None and any(one.uses_own for one in questions))


def is_personal(asks: Sequence[Ask], language: str) -> bool:
    """Whether a message asks about the user, or their people and things."""
    return any(ask.kind in _STORED and _about_user(ask, language) for ask in asks)


def _text(one: Recalled | str) -> str:
    return one if isinstance(one, str) else one.memory.line or one.memory.content


def _raw(one: Recalled | str) -> str:
    return undated(one if isinstance(one, str) else one.memory.line or one.memory.content)


class _Question:
    """One ask with what memory held for it and what came back."""

    def __init__(self, ask: Ask, message: str, reply: Reply, lines: Sequence[Line], level: Level) -> None:
        self.ask, self.message, self.reply, self.level = ask, message, reply, level
        self.language = reply.language
        self.asked = content_words(ask.text, self.language)
        self.whole = content_words(message, self.language)
        about = whose(ask.text, self.language, USER, ASSISTANT)
        self.owners = about.mentions or (frozenset({USER}) if _about_user(ask, self.language) else frozenset[str]())
        self.first = lines[0] if lines else None
        self.own, self.others = self._parted(lines)

    def fault(self) -> Fault | None:
        if wants_advice(self.ask, self.language) or self.ask.kind not in _STORED | {"request"}:
            return None
        if self.uses_own:
            return self._stale() or self._denied() or self._opposed()
        if (foreign := self._others_value()) is not None:
            return foreign
        if self.declined:
            return None if self.level == "low" else self._declined()
        if asks_back(self.reply.text, self.language):
            return None
        if (opposed := self._opposed() or self._other_value()) is not None:
            return opposed
        if self.level == "high" and self.own and self.own[0] is self.first:
            return self._ignored()
        if self.level == "low" or (self.level == "medium" and not self._answering()):
            return self._unsupported()
        return self._contradicted()

    @cached_property
    def declined(self) -> bool:
        """Whether the response says that it does not know, or was not told."""
        from insula.text.manner import declines

        text = self.reply.text[:300]
        return declines(text, self.language) or untold(text, self.language)

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

    # What a line says beside the question

    def _values(self, one: Line) -> frozenset[str]:
        """The words of a line that the question does not hold."""
        asked = {term_of(word, self.language) or word for word in self.whole}
        idle = self.whole | people(self.language).words.get("titles", frozenset())
        return frozenset(
            word for word in one.words if word not in idle and (term_of(word, self.language) or word) not in asked
        )

    def _telling_values(self, one: Line) -> bool:
        """Whether a line holds more than the question and a verb; in German a noun or a number tells."""
        values = self._values(one)
        if one.language != "de":
            return bool(values)
        return bool(one.numbers or capitals(one.text, one.language) & frozenset(map(fold, values)))

    def _carries(self, one: Line) -> bool:
        """Whether the response says something of a line that the question does not say already."""
        told = one.numbers - numbers(self.message, self.language)
        if told & self.numbers or self._quotes(one):
            return True
        measured = told and self.numbers and units(one.text) & units(self.reply.text)
        return not measured and any(self._says_word(word) for word in self._values(one) if not word.isdigit())

    def _quotes(self, one: Line) -> bool:
        """Whether the response is a piece of the line and nothing else."""
        said = bare(self.reply.text)
        return bool(said) and len(said) <= PIECE_CHARS and said in bare(one.text) and said not in bare(self.message)

    def _says_word(self, word: str) -> bool:
        if self.language in UNSPACED:
            return self.reply.has(word)
        term = term_of(word, self.language) or word
        return self.reply.has(term) or self.reply.has_related(fold(term))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return numbers(self.reply.text, self.language)

    @cached_property
    def names(self) -> frozenset[str]:
        return names(self.reply.text, self.language) - frozenset(map(fold, self.whole))

    @cached_property
    def uses_own(self) -> bool:
        return any(self._carries(each) for each in self.own)

    def _covers(self, one: Line) -> bool:
        """Whether a line holds all that the question asks about."""
        terms = {term_of(word, one.language) or word for word in one.words}
        return bool(self.ask.terms) and all(term in terms for term in self.ask.terms)

    def _answering(self) -> Line | None:
        """A line that plainly holds the answer, whatever the level."""
        found = (each for each in self.own if self._covers(each) and carries(self.ask.kind, each.text, each.language))
        return next(found, None)

    # What may be wrong

    def _others_value(self) -> Fault | None:
        """The value of somebody else's line, said of those who were asked about."""
        if self.declined and not self._asserts():
            return None
        for each in self.others:
            if self._carries_value(each) and not self._speaks_of(each):
                right = self.own[0].raw if self.own else each.raw
                return Fault(flag="other_person", about=right)
        return None

    def _carries_value(self, one: Line) -> bool:
        """Whether the response says a value of a line that no line of those asked about holds."""
        held = frozenset[str]().union(*(each.words for each in self.own))
        told = one.numbers - numbers(self.message, self.language)
        if told & self.numbers:
            return True
        beings = people(self.language).beings
        values = {word for word in self._values(one) - held if beings.get(fold(word), word) not in _people_of(one)}
        return any(self._says_word(word) for word in values)

    def _speaks_of(self, one: Line) -> bool:
        """Whether the response says whose it is: "your mother lives in Leeds" where the father was asked about."""
        about = whose(self.reply.text[:300].translate(_STRAIGHT), self.language, ASSISTANT, USER).mentions
        of = {path.replace(ASSISTANT, USER) for path in about}
        return any(subject in of for subject in one.subjects if subject not in {USER, *self.owners})

    def _asserts(self) -> bool:
        return bool((self.names or self.numbers) and not untold(self.reply.text, self.language))

    def _declined(self) -> Fault | None:
        """ "I don't know" though memory holds it."""
        known = self.own[0] if self.level == "high" and self.own else self._answering()
        if known is None or (self.ask.kind in {"number"} and not known.numbers):
            return None
        return Fault(flag="declined", about=known.raw)

    def _ignored(self) -> Fault | None:
        """Something else than what memory holds, or nothing of the kind."""
        first = self.own[0]
        if not self.owners and not self._covers(first):  # of the world, with a line that is only near it
            return None
        if self.ask.kind == "yes_no":
            return self._denied()
        if is_courtesy(self.reply.text, self.language):
            return Fault(flag="ignored_memory", about=first.raw)
        if first.language != self.language or not self._telling_values(first):
            return None
        if self.ask.kind in {"number", "time"}:
            return self._other_number(first)
        if self.ask.kind in _NAMED and (mine := names(first.text, first.language)):
            told = bool(mine) and (bool(self.names) or self.reply.size > BRIEF or not self._to_user())
            return Fault(flag="ignored_memory", about=first.raw) if told else None
        certain = not self._to_user() and len(self.reply.text) >= (SHORT // 3 if self.language in UNSPACED else SHORT)
        return (
            Fault(flag="ignored_memory", about=first.raw, certain=certain) if certain or self._covers(first) else None
        )

    def _other_number(self, first: Line) -> Fault | None:
        held = first.numbers
        if not held:
            return None if self.numbers or self._to_user() else Fault(flag="ignored_memory", about=first.raw)
        said = self.numbers - numbers(self.message, self.language)
        vague = not said and carries(self.ask.kind, self.reply.text, self.language) and self.reply.size <= TERSE
        worked_out = bool(said) and not self._about(first) and self.ask.kind == "number"
        return None if vague or worked_out else Fault(flag="ignored_memory", about=first.raw)

    def _contradicted(self) -> Fault | None:
        """Another value than the one that a line plainly holds, at any level."""
        known = self._answering()
        if known is None or self.ask.kind not in _VALUED or known.language != self.language:
            return None
        other = self.numbers and known.numbers if self.ask.kind in {"number", "time"} else None
        other = other or (self.ask.kind in _NAMED and self.names and names(known.text, known.language))
        return Fault(flag="ignored_memory", about=known.raw) if other else None

    def _stale(self) -> Fault | None:
        """The older of two lines on one matter, though the newer stands above it."""
        if len(self.own) < 2 or self.ask.kind not in _VALUED | {"open", "choice"}:
            return None
        if (rival := next(filter(self._outdated, self.own[1:]), None)) is not None and self._outdated(rival):
            return Fault(flag="ignored_memory", about=self.own[0].raw, certain=False)
        if self._carries(self.own[0]):
            return None
        newer, older = self.own[0], next(each for each in self.own if self._carries(each))
        same = _share(self.asked, newer, self.language) >= _share(self.asked, older, self.language) > 0
        if not (same or says("now", self.ask.text, self.language)) or _share(self.asked, older, self.language) == 0:
            return None
        mine = names(newer.text, newer.language) - frozenset(map(fold, self.whole))
        told = newer.numbers - numbers(self.message, self.language)
        rivals = (self.names and mine) or (self.numbers and told)
        return Fault(flag="ignored_memory", about=newer.raw, certain=False) if rivals else None

    def _outdated(self, older: Line) -> bool:
        """Whether the response gives the older line's measure or day, where the newest has another of the same."""
        newer, said = self.own[0], Values.of(self.reply.text, self.language)
        mine, other = Values.of(newer.text, newer.language), Values.of(older.text, older.language)
        same = _share(self.asked, newer, self.language) >= _share(self.asked, older, self.language)
        return same and said.is_of(other) and said.rivals(mine)

    def _other_value(self) -> Fault | None:
        """Another measure or day than the first line's, of the same kind ("platform 4" for "platform 14")."""
        if not self.own or self.own[0] is not self.first or not (self.owners or self._about(self.own[0])):
            return None
        held, said = (Values.of(text, self.language) for text in (self.own[0].text, self.reply.text))
        given = Values.of(self.message, self.language)
        if (
            said.rivals(held)
            and not said.is_of(given)
            and not any(said.is_of(Values.of(one.text, one.language)) for one in self.own[1:])
        ):
            return Fault(flag="ignored_memory", about=self.own[0].raw, certain=False)
        return None

    def _opposed(self) -> Fault | None:
        """What the line denies ("not a whippet, a spaniel"), or the opposite of what it says ("failed", "passed")."""
        if not self.own or self.own[0] is not self.first or says("negation", self.ask.text, self.language):
            return None
        line = self.own[0]
        if self._says_denied(line) or self._says_opposite(line):
            return Fault(flag="ignored_memory", about=line.raw, certain=False)
        return None

    def _says_denied(self, one: Line) -> bool:
        """Whether all that the response takes from a line is what the line denies, though it asserts something else."""
        denied, held = parted(one.text, one.language)
        denied, held = denied - held - self.whole, held - self.whole
        if not denied or not held or says("negation", self.reply.text, self.language):
            return False
        return any(map(self._says_word, denied)) and not any(map(self._says_word, held))

    def _says_opposite(self, one: Line) -> bool:
        if self.ask.kind != "yes_no" or says("negation", self.reply.text, self.language):
            return False
        said = says_yes(self.reply.text, self.language)
        for sides in opposites(self.language):
            asked, held, told = (side(sides, text) for text in (self.ask.text, one.text, self.reply.text))
            if asked is None or held is None:
                continue
            claimed = told if told is not None else asked if said else None
            if claimed is not None and claimed != held and not says("negation", one.text, one.language):
                return True
        return False

    def _denied(self) -> Fault | None:
        """ "Yes" where the line says no, and the other way round."""
        if self.ask.kind != "yes_no" or not self.own:
            return None
        said = says_yes(self.reply.text, self.language)
        first = self.own[0]
        if said is None or not self._about(first):
            return None
        negated = says("ended", first.text, first.language)
        asked_negated = says("ended", self.ask.text, self.language)
        if said == (negated == asked_negated):
            return None
        certain = not said if not negated else said
        if not negated and not self._covers(first):
            return None
        return Fault(flag="ignored_memory", about=first.raw, certain=certain and self._covers(first))

    def _about(self, one: Line) -> bool:
        """Whether a line speaks of what the question asks about."""
        held = {term_of(word, one.language) or word for word in one.words}
        return any(
            term in held or any(term[:5] == each[:5] for each in held if len(term) > 4) for term in self.ask.terms
        )

    def _unsupported(self) -> Fault | None:
        """A value said of the user or their people, though memory holds none."""
        if self._given() or not (_about_user(self.ask, self.language) or self._turned):
            return None
        if any(mark in self.reply.text for mark in "?？"):  # who asks back does not claim to know
            return None
        if hedges(self.reply.text[:300], self.language) or self.ask.kind not in _STORED - {"list"}:
            return None
        if self.reply.size > LENGTHY or (self.language in UNSPACED and not self._own_being()):
            return None
        if self.ask.kind == "yes_no":
            claims = says_yes(self.reply.text, self.language) is not None and self.reply.size <= 2 * BRIEF
        else:
            claims = self._claims()
        return Fault(flag="unsupported", certain=False) if claims else None

    @cached_property
    def _turned(self) -> bool:
        """Whether the response turns the verb that ends the question to "you" ("¿Dónde veraneo?": "Veraneas …")."""
        words = re.findall(r"\w+", self.ask.text.lower())
        endings = _YOU.get(self.language, ())
        if len(words) < 2 or not endings or not words[-1].endswith("o"):
            return False
        return any(words[-1][:-1] + ending in self.reply.words for ending in endings)

    def _own_being(self) -> bool:
        """Chinese and Japanese: whether "cat" is the user's cat, and not any cat."""
        generic = all(path.rpartition("/")[2] in GROUPS["pet"] for path in self.owners if path != USER)
        return not generic or any(word in self.ask.text for word in (*words_of("first", self.language), "うち", "我家"))

    def _given(self) -> bool:
        """Whether the message itself may hold what the answer needs."""
        return len(self.message) > 2 * len(self.ask.text) + 20 or bool(numbers_in(self.message))

    def _claims(self) -> bool:
        news = self.numbers or self.names
        if self.ask.kind in _VALUED:
            valued = bool(news) or (self.reply.size <= BRIEF and carries(self.ask.kind, self.reply.text, self.language))
            return valued and (self._to_user() or self.reply.size <= BRIEF or bool(self.names))
        return (bool(news) and self._to_user()) or (self.reply.size <= BRIEF and self._to_user())

    def _to_user(self) -> bool:
        """Whether the response speaks to the user, or of somebody by a pronoun."""
        words, language = self.reply.words, self.language
        if language in UNSPACED:
            spoken = (*words_of("second", language), "她", "他", "さん")
            return any(each in self.reply.text for each in spoken)
        if self._turned:
            return True
        known = people(language).words
        said = {fold(word) for word in words}
        told = said & (known["second"] | known["second_own"] | known["third"] | known["third_own"])
        return bool(told or words & words_of("second", language) or said & _polite(language))


_YOU: Mapping[str, tuple[str, ...]] = {"es": ("as", "es"), "pt": ("as", "es", "a", "e"), "it": ("i", "hi")}
"""What "I" in -o becomes where a pronoun is dropped."""
_STRAIGHT = str.maketrans("’", "'")


def _polite(language: str) -> frozenset[str]:
    """Polite and dropped forms that speak to somebody without naming them."""
    return (
        frozenset({"su", "sus", "le", "lei", "suo", "sua", "seu", "sie", "ihr", "ihre", "eres", "tienes", "vives"})
        if language
        in {
            "es",
            "it",
            "pt",
            "de",
        }
        else frozenset()
    )


def _people_of(one: Line) -> frozenset[str]:
    return frozenset(part for path in one.subjects for part in path.split("/"))


def _share(asked: frozenset[str], one: Line, language: str) -> int:
    held = {term_of(word, language) or word for word in one.words}
    return sum(1 for word in asked if (term_of(word, language) or word) in held)


def _about_user(ask: Ask, language: str) -> bool:
    """Whether a question is about the user, their people or their things."""
    if language not in LANGUAGES or wants_advice(ask, language):
        return False
    paths = whose(ask.text, language, USER, ASSISTANT).mentions
    return is_of_user(ask, language) or any(path.startswith(f"{USER}/") for path in paths)
