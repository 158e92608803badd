"""What memory held for a message, and whether the response made use of it.

By words and by whom they are about, without a model: the line that answers has values of its own (a place, a number, a
name) beside the words of the question, and a response that uses it says one of them. Where that cannot be told (a value
in other words, in another language, to be worked out from the line) nothing is said.
"""

from collections.abc import Sequence
from typing import NamedTuple

from insula.memory.encoding import ASSISTANT, USER
from insula.memory.subject import people
from insula.text.analysis import LANGUAGES, fold, words_of
from insula.text.answers import AskKind, carries, says_yes
from insula.text.coverage import Reply
from insula.text.grammar import UNSPACED
from insula.text.manner import (
    acknowledges,
    asks_back,
    generalises,
    hedges,
    is_courtesy,
    no_access,
    told_partly,
    untold,
)
from insula.text.questions import Ask, is_casual
from insula.turn.aim import asks_only_user, wants_advice
from insula.turn.held import Question, about_user
from insula.turn.lines import TERSE, Line, beside_quotations, capitals, line, names, numbers, people_of, shared
from insula.turn.measures import may_follow
from insula.turn.rivals import beside, counted_alike, differs, own_verb
from insula.turn.values import Values, opposites, parted, says, side
from insula.types import Fault, Level, Recalled

MOST_LINES = 12
"""So many lines of memory are looked at."""

BRIEF = 6
"""A response of so few content words is all answer."""
LENGTHY = 24
"""Content words of a response that explains, and does not claim to know somebody."""
_OPENING = 30
SHORT = 24
"""Characters from which a response that neither uses memory nor speaks to the user is about something else."""

_VALUED: frozenset[AskKind] = frozenset({"place", "person", "name", "number", "time"})
_NAMED: frozenset[AskKind] = frozenset({"place", "person", "name"})
_SAID: frozenset[AskKind] = _VALUED | frozenset[AskKind]({"open", "choice"})
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
    lines = [line(text, reply.language) for text in map(_text, memory[:MOST_LINES]) if text.strip()]
    asked = [ask for ask in asks if not is_casual(ask, reply.language) or (lines and about_user(ask, reply.language))]
    questions = [_Judged(ask, message, reply, lines, level) for ask in asked]
    fault = next((fault for one in questions if (fault := one.fault()) is not None), None)
    if fault is None and (beside := beside_quotations(reply, lines)) is not None:
        fault = next(filter(None, (_Judged(ask, message, beside, lines, level).unlike_quoted() for ask in asked)), None)
    return Use(fault, fault is None and any(one.uses_own for one in questions))


def is_personal(asks: Sequence[Ask], language: str) -> bool:
    """Whether a message asks about the user, or their people and things."""
    return any(ask.kind in _STORED and about_user(ask, language) for ask in asks)


def _text(one: Recalled | str) -> str:
    return one if isinstance(one, str) else one.memory.line or one.memory.content


class _Judged(Question):
    """What may be wrong with what came back."""

    def fault(self) -> Fault | None:
        if wants_advice(self.ask, self.language) or self.ask.kind not in _STORED | {"request"}:
            return None
        if self.owners - frozenset({"?"}) == frozenset({ASSISTANT}):  # memory is of the user, and not of who answers
            return None
        if self.declined and no_access(self.reply.text, self.language):
            return None if self.level == "low" else self._declined()
        if self.uses_own:
            return (
                self._stale()
                or self._denied()
                or self._opposed()
                or self._other_name()
                or self._rival()
                or self._vague()
                or self._other_being()
                or self._undone()
            )
        if (foreign := self._others_value()) is not None:
            return foreign
        if self.declined:
            return None if self.level == "low" else self._declined()
        if asks_back(self.reply.text, self.language):
            return None
        doubted = self._opposed() or self._other_value() or self._rival() or self._vague()
        doubted = doubted or self._other_being() or self._undone()
        if doubted is not None:
            return doubted
        if self.level == "high" and self.own and self.own[0] is self.first:
            return self._ignored()
        if self.level == "low" or (self.level == "medium" and not self.answering()):
            return self._unsupported()
        return self._contradicted()

    def unlike_quoted(self) -> Fault | None:
        """What a response says beside a line that it quotes, where that is another value ("… but you live in Rome")."""
        fault = self.fault()
        again = self.ask.kind in {"number", "time"} or all(map(self.reply.has, self.ask.terms))
        if fault is None or fault.flag != "ignored_memory" or not again or not (self.numbers or self.names):
            return None
        return Fault(flag=fault.flag, about=fault.about, certain=False)

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
        values = {word for word in self.values(one) - held if beings.get(fold(word), word) not in people_of(one)}
        return any(self.says_word(word) for word in values)

    def _speaks_of(self, one: Line) -> bool:
        """Whether the response says whose it is: "your mother lives in Leeds" where the father was asked about."""
        return any(subject in self.spoken_of for subject in one.subjects if subject not in {USER, *self.owners})

    def _asserts(self) -> bool:
        return bool((self.names or self.numbers) and not untold(self.reply.text, self.language))

    def _declined(self) -> Fault | None:
        """ "I don't know" though memory holds it."""
        if self.ask.kind not in _VALUED and told_partly(self.reply.text, self.language):
            return None
        known = self.own[0] if self.level == "high" and self.own else self.answering()
        if known is None or (self.ask.kind in {"number"} and not known.numbers):
            return None
        return Fault(flag="declined", about=known.raw)

    def _ignored(self) -> Fault | None:
        """Something else than what memory holds, or nothing of the kind."""
        first = self.own[0]
        if self.ask.kind in _SAID and self.reply.size <= BRIEF and acknowledges(self.reply.text, self.language):
            return Fault(flag="ignored_memory", about=first.raw, certain=False)
        if not self.owners and not self._is_on(first):  # of the world, with a line that is only near it
            return None
        if self.ask.kind == "yes_no":
            return self._denied()
        if is_courtesy(self.reply.text, self.language):
            return Fault(flag="ignored_memory", about=first.raw)
        if first.language != self.language or not self.telling_values(first):
            return None
        if self.ask.kind in {"number", "time"}:
            return self._other_number(first)
        if self.ask.kind in _NAMED and (mine := names(first.text, first.language)):
            told = bool(mine) and (bool(self.names) or self.reply.size > BRIEF or not self.to_user())
            return Fault(flag="ignored_memory", about=first.raw, certain=self.is_about(first)) if told else None
        certain = not self.to_user() and len(self.reply.text) >= (SHORT // 3 if self.language in UNSPACED else SHORT)
        if self.shares_character(first) or not (certain or self.covers(first)):
            return None
        certain = certain and self.ask.kind != "open"  # what follows from a line may share no word with it
        return Fault(flag="ignored_memory", about=first.raw, certain=certain and self.is_about(first))

    def _is_on(self, one: Line) -> bool:
        """Whether a line is on what is asked of nobody in particular; one word in common ("going") does not say so."""
        return self.covers(one) and (self.ask.kind in _VALUED or len(self.ask.terms) > 1)

    def _other_number(self, first: Line) -> Fault | None:
        certain = self.is_about(first)
        if not first.numbers:
            told = self.numbers or self.to_user()
            return None if told else Fault(flag="ignored_memory", about=first.raw, certain=certain)
        follows = may_follow(self.reply.text, first.text, self.message, self.language)
        if follows and not generalises(self.reply.text, self.language):
            return None
        said = self.numbers - numbers(self.message, self.language)
        vague = not said and carries(self.ask.kind, self.reply.text, self.language) and self.reply.size <= TERSE
        follows = bool(said) and not certain and self.ask.kind == "number"
        return None if vague or follows else Fault(flag="ignored_memory", about=first.raw, certain=certain)

    def _contradicted(self) -> Fault | None:
        """Another value than the one that a line plainly holds, at any level."""
        known = self.answering()
        if known is None or self.ask.kind not in _VALUED or known.language != self.language:
            return None
        other = self.numbers and known.numbers if self.ask.kind in {"number", "time"} else None
        if other and may_follow(self.reply.text, known.text, self.message, self.language):
            return None
        other = other or (self.ask.kind in _NAMED and self.names and names(known.text, known.language))
        return Fault(flag="ignored_memory", about=known.raw) if other else None

    def _stale(self) -> Fault | None:
        """The older of two lines on one matter, though the newer stands above it."""
        if len(self.own) < 2 or self.ask.kind not in _VALUED | {"open", "choice"}:
            return None
        if (rival := next(filter(self._outdated, self.own[1:]), None)) is not None and self._outdated(rival):
            return Fault(flag="ignored_memory", about=self.own[0].raw, certain=False)
        if self.carried(self.own[0]):
            return None
        newer, older = self.own[0], next(each for each in self.own if self.carried(each))
        same = shared(self.asked, newer, self.language) >= shared(self.asked, older, self.language) > 0
        if not (same or says("now", self.ask.text, self.language)) or shared(self.asked, older, self.language) == 0:
            return None
        mine = names(newer.text, newer.language) - frozenset(map(fold, self.whole))
        told = newer.numbers - numbers(self.message, self.language)
        rivals = (self.names and mine) or (self.numbers and told)
        return Fault(flag="ignored_memory", about=newer.raw, certain=False) if rivals else None

    def _other_name(self) -> Fault | None:
        """Words of the line about another name than the line's ("You moved to Porto last weekend")."""
        if self.ask.kind not in _NAMED or not self.carried(self.own[0]) or self.own[0].language != self.language:
            return None
        mine = names(self.own[0].text, self.language) - frozenset(map(fold, self.whole))
        said = capitals(self.reply.text, self.language)
        rivals = bool(mine and self.names) and mine.isdisjoint(said) and not self._quotes(self.own[0])
        rivals = rivals and not any(map(self.says_word, mine))  # "Fußmatte" for "Matte"
        return Fault(flag="ignored_memory", about=self.own[0].raw, certain=False) if rivals else None

    def _rival(self) -> Fault | None:
        """One value of a sort (a number, a month, a time of day) where the first line has one other, and no line it."""
        if not self.own or self.own[0] is not self.first or self.reply.size > BRIEF or self.ask.kind not in _SAID:
            return None
        first = self.own[0]
        near = beside(self.asked, first.text, first.language)
        personal = bool(self.owners) or near != first.text or own_verb(self.ask.text, self.language)
        if not personal and not counted_alike(self.ask.text, first.text, self.language):
            return None
        others = [self.message, *(one.text for one in (*self.own[1:], *self.others))]
        others += [first.text] if near == first.text else []
        kind = self.ask.kind
        rivals = differs(self.reply.text, near, others, self.language, dated=kind == "time", counted=kind == "number")
        rivals = rivals and not may_follow(self.reply.text, near, self.message, self.language)
        return Fault(flag="ignored_memory", about=first.raw, certain=False) if rivals else None

    def _other_being(self) -> Fault | None:
        """Somebody else of the user's than the line names, where it is asked who ("Your sister hears badly")."""
        if self.ask.kind != "person" or not self.own or self.own[0] is not self.first or self.level != "high":
            return None
        first = self.own[0]
        named = self.spoken_of
        held = frozenset[str]().union(*first.clauses)
        strange = bool(named) and named.isdisjoint(held) and all(path.startswith(f"{USER}/") for path in named)
        told = first.subjects and self.covers(first) and not self.names & capitals(first.text, first.language)
        return Fault(flag="ignored_memory", about=first.raw, certain=False) if strange and told else None

    def _undone(self) -> Fault | None:
        """ "Not yet", though the line says that it is done."""
        if self.ask.kind != "yes_no" or not self.owners or not self.own or self.own[0] is not self.first:
            return None
        first = self.own[0]
        done = says("done", first.text, first.language) and not says("negation", first.text, first.language)
        yet = says("not_yet", self.reply.text[:_OPENING], self.language) and done
        return Fault(flag="ignored_memory", about=first.raw, certain=False) if yet and self.level == "high" else None

    def _vague(self) -> Fault | None:
        """What is true of such things in general, where a line holds the user's own."""
        if not self.own or self.own[0] is not self.first or self.level != "high" or self.ask.kind not in _SAID:
            return None
        first, said = self.own[0], self.reply
        mine = first.numbers | names(first.text, first.language)
        spoken = said.words & words_of("second", said.language) | said.words & people(said.language).words.get(
            "second_own", frozenset()
        )
        if (self.uses_own and not mine) or mine & (self.numbers | capitals(said.text, said.language)) or spoken:
            return None
        personal = bool(self.owners) or (self.language in UNSPACED and self.is_about(first))
        vague = personal and self.reply.size > BRIEF // 2 and generalises(said.text, said.language)
        return Fault(flag="ignored_memory", about=first.raw, certain=False) if vague else None

    def _outdated(self, older: Line) -> bool:
        """Whether the response gives the older line's measure or day, where the newest has another of the same."""
        newer, said = self.own[0], Values.of(self.reply.text, self.language)
        mine, other = Values.of(newer.text, newer.language), Values.of(older.text, older.language)
        if not (said.is_of(other) and said.rivals(mine)):
            return False
        return shared(self.asked, newer, self.language) >= shared(self.asked, older, self.language)

    def _other_value(self) -> Fault | None:
        """Another measure or day than the first line's, of the same kind ("platform 4" for "platform 14")."""
        if not self.own or self.own[0] is not self.first or not (self.owners or self.is_about(self.own[0])):
            return None
        if may_follow(self.reply.text, self.own[0].text, self.message, self.language):
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
        return any(map(self.says_word, denied)) and not any(map(self.says_word, held))

    def _says_opposite(self, one: Line) -> bool:
        if self.ask.kind not in {"yes_no", "open", "choice"} or says("negation", self.reply.text, self.language):
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
        if said is None or not self.is_about(first):
            return None
        negated = says("ended", first.text, first.language)
        asked_negated = says("ended", self.ask.text, self.language)
        if said == (negated == asked_negated):
            return None
        certain = not said if not negated else said
        if not negated and not self.covers(first):
            return None
        return Fault(flag="ignored_memory", about=first.raw, certain=certain and self.covers(first))

    def _unsupported(self) -> Fault | None:
        """A value said of the user or their people, though memory holds none."""
        theirs = any(self.owners & one.subjects and any("/" in path for path in one.subjects) for one in self.own)
        if self.given() or not (asks_only_user(self.ask, self.language) or self.turned or theirs):
            return None
        if any(mark in self.reply.text for mark in "?？"):  # who asks back does not claim to know
            return None
        if hedges(self.reply.text[:300], self.language) or self.ask.kind not in _STORED - {"list"}:
            return None
        if self.reply.size > LENGTHY or (self.language in UNSPACED and not self.own_being()):
            return None
        if self.ask.kind == "yes_no":
            claims = says_yes(self.reply.text, self.language) is not None and self.reply.size <= 2 * BRIEF
        else:
            claims = self._claims()
        return Fault(flag="unsupported", about=self._beside(), certain=False) if claims else None

    def _beside(self) -> str:
        """The line on what is asked that does not hold what the response claims; empty where there is none."""
        return next((each.raw for each in self.own if self.is_about(each) or self.owners & each.subjects), "")

    def _claims(self) -> bool:
        news = self.numbers or self.names
        if self.ask.kind in _VALUED:
            valued = bool(news) or (self.reply.size <= BRIEF and carries(self.ask.kind, self.reply.text, self.language))
            return valued and (self.to_user() or self.reply.size <= BRIEF or bool(self.names))
        return (bool(news) and self.to_user()) or (self.reply.size <= BRIEF and self.to_user())
