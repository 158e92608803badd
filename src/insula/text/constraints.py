"""What a message demands of the form of its answer: counts and lengths, a table, JSON, a list, a value and no more.

Only what the user asks for in their own words counts: not what is quoted, pasted or said of other texts ("What did the
author say in three words?"). The phrases of each language stand in `constraints.json` as alternatives of a regular
expression; what a constraint means is the same in all of them. Which demands are read was settled by what people ask
for: in 5,358 messages of real conversations nine demands of ten are one of these.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Literal, NamedTuple

from insula.text.analysis import LANGUAGES, Analysis, analyse_sentence, without_code
from insula.text.answers import AskKind, load_numerals
from insula.text.grammar import UNSPACED, Grammar, compile_words, load_grammar
from insula.text.questions import asks_in
from insula.text.tables import load_table

MOST = 8
"""Constraints of one message that are read; nobody keeps more."""
MAX_SENTENCES = 24
"""Sentences of a message that are read."""
MAX_CHARS = 400
"""A longer sentence is pasted."""
UNSURE_CHARS = 60
"""The language of a shorter message is often a guess."""
EXACT = 12
"""Up to this number "in three sentences" means three; "in 100 words" means about so many."""
TOLERANCE, WIDE_TOLERANCE = 0.2, 0.5
"""How far one may be from such a number, and from one that is called rough."""

Unit = Literal["words", "sentences", "paragraphs", "lines", "characters", "items"]
UNITS: tuple[Unit, ...] = ("words", "sentences", "paragraphs", "lines", "characters", "items")
Form = Literal["table", "bullets", "numbered"]
FORMS: tuple[Form, ...] = ("table", "bullets", "numbered")
BOUNDS = ("exactly", "most", "below", "least", "about")
Kind = Unit | Form | Literal["json", "brief", "questions"]

_WISHED: frozenset[AskKind] = frozenset({"request", "list", "code", "how_to", "why", "open", "choice"})
_TOLD: frozenset[AskKind] = frozenset({"request", "list", "code"})
BRIEFEST = 3
"""Words of a number with its unit, or of a yes."""
_BRIEF: dict[AskKind, int] = {"number": BRIEFEST, "yes_no": BRIEFEST, "time": 5, "name": 5, "person": 5, "place": 5}
"""Words of an answer to which nothing but a value is wanted, by what is asked."""
_AND = {"en": "and", "es": "y", "fr": "et", "de": "und", "pt": "e", "it": "e"}
_QUOTED = re.compile(
    r"(?<!\w)'[^'\n]{2,200}'(?!\w)|\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”|„[^“”\n]{0,200}[“”]|«[^»\n]{0,200}»|「[^」\n]{0,200}」"
)
_CLAUSE = re.compile(r"[,;:.!?，、；：。！？]")
_COLON = re.compile(r"[:：](?=\s|$|[\u3040-\u9fff「“\"])")
_NAMED_VALUE = re.compile(
    r"[\s:,]*(?:(?:with|con|par|mit|com)\s+)?(?:(?:the|el|los|las?|les?|l'|die|das|de[nr]|il|lo|gli|i|os?|as?)\b|(?:yes|s[ií]|oui|ja|sim|sì)\b)",
    re.IGNORECASE,
)
"""What stands behind "only" where it says which value is wanted: a definite article or a yes."""
_FRAGMENT = 9
"""Words of a fragment that demands something by itself: "Exactly five words, please." """
_NEAR = 16
"""Characters behind a count within which "each" makes it one of a part."""
_RELATIVE = 4
"""Characters at the end of a form, where a relative pronoun may stand ("un tableau qui …")."""
_JSON = re.compile(
    r"(?<!\w)(?:as|in|into|en|como|au|als|im|em|come|formato?|format|valid|only|just|nur|solo|só|seulement|以|用|返回|输出)"
    r"[ -]?(?:\w+ )?(?i:json)(?!\w)|(?i:json)(?:形式|格式)?(?:で|输出|返回)|(?i:json)(?:[ -]format|-Format)?[.!]?\s*$",
)


class Constraint(NamedTuple):
    """One demand on the form of an answer."""

    kind: Kind
    text: str
    """As it stands in the message."""
    least: int = 0
    most: int = 0
    """0: no upper bound."""
    language: str = "en"


class Phrases:
    """The phrases of one language, each compiled when it is first asked for."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.spaced = language not in UNSPACED
        self.raw: dict[str, str] = load_table("constraints.json")[language]
        self._numbers = load_numerals(language)

    @cached_property
    def grammar(self) -> Grammar:
        """How one asks in it; of the languages that a short message might be in, most are asked for the hint alone."""
        return load_grammar(self.language)

    @cached_property
    def hint(self) -> re.Pattern[str]:
        """Without any of these phrases nothing is demanded."""
        return self._compile("|".join(self.raw[name] for name in (*UNITS, *FORMS, "enumerate")) + "|json")

    @cached_property
    def strict(self) -> re.Pattern[str]:
        """What says that a demand is meant to the letter."""
        return self._compile("|".join((self.raw["only"], self.raw["exactly"], self.raw["reply"])))

    @cache  # noqa: B019 there is one of each language
    def pattern(self, name: str) -> re.Pattern[str]:
        """The phrases of a name: what wishes (`wish`), allows nothing else (`only`),
        tells to answer (`verbs`), makes a count one of each part (`each`), a demand somebody else's (`reported`), or
        asks for a form."""
        return self._compile(self.raw[name])

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """What a demand opens with that names its form."""
        named = ("in", *BOUNDS, "only", "bullets", "table")
        opening = "|".join(pattern for name in named if (pattern := self.raw[name]))
        return re.compile(
            rf"[\s(,.]*(?:{opening})(?!\w)"
            if self.spaced
            else rf"[\s（，]*(?:{opening})|\d+文字|.{{1,12}}(?:以内|だけ|なし)",
            re.IGNORECASE,
        )

    @cached_property
    def telling_opener(self) -> re.Pattern[str]:
        """What a sentence opens with that tells to answer or to list."""
        told = rf"(?:{self.raw['enumerate']}|{self.raw['reply']}|{self.raw['verbs']})"
        if not self.spaced:
            return re.compile(rf"[\s，、]*{told}" if self.language == "zh" else rf".*{told}")
        return re.compile(rf"\W*{told}(?!\w)", re.IGNORECASE)

    @cached_property
    def list_joint(self) -> re.Pattern[str]:
        """What stands between the parts of a list."""
        return re.compile(rf",? (?:{_AND[self.language]}) |, " if self.spaced else "[,，、；;]")

    @cached_property
    def enumeration(self) -> re.Pattern[str]:
        """Japanese says what to do at the end."""
        return re.compile(self.raw["enumerate"] if self.language == "ja" else "(?!)")

    @cached_property
    def quantity(self) -> re.Pattern[str]:
        """A count of something, with what bounds it."""
        raw = self.raw
        number = rf"\d{{1,4}}|{'|'.join(sorted(map(re.escape, self._numbers), key=len, reverse=True))}"
        units = "|".join(f"(?P<{unit}>{raw[unit]})" for unit in UNITS)
        bounds = "|".join(f"(?P<{bound}>{raw[bound]})" for bound in BOUNDS)
        afters = "|".join(f"(?P<after_{bound}>{raw[key]})" for bound in BOUNDS if (key := f"after_{bound}") in raw)
        if self.spaced:
            told = rf"(?P<enumerate>{raw['enumerate']}) (?:\w+ )??|(?P<in>{raw['in']}) |(?P<of>{raw['of']}) "
            range_of = rf"(?P<n>{number})(?:(?: (?:{raw['to']}) |\s?[-–]\s?)(?P<m>{number}))?"
            counted = rf"(?:(?P<between>[^\W\d]+) )?(?:{units})|(?(enumerate)(?P<noun>[^\W\d]+)|(?!))"
            return re.compile(
                rf"(?<!\w)(?:{told})?(?:(?:{bounds}) )?(?:{raw['between']} )?{range_of}"
                rf"(?: |(?P<hyphen>-))(?:{counted})(?!\w)(?:,? (?:{afters})(?!\w))?",
                re.IGNORECASE,
            )
        noun = "" if self.language == "zh" else "[をに]?"
        return re.compile(
            rf"(?:(?P<enumerate>{raw['enumerate']})|(?P<in>{raw['in']})|(?P<of>{raw['of']}))?(?:{bounds})?"
            rf"(?P<n>{number})(?:(?:{raw['to']})(?P<m>{number}))?(?:{units}){noun}"
            rf"(?:(?:{afters})|(?P<after_in>{raw.get('after_in', '(?!)')}))?"
        )

    def parse_number(self, word: str) -> int:
        """The number that a word or digits stand for; 0 for none."""
        return int(word) if word.isdigit() else self._numbers.get(word.lower(), 0)

    def _compile(self, pattern: str) -> re.Pattern[str]:
        return compile_words(pattern, self.language, re.IGNORECASE)


@cache
def load_phrases(language: str) -> Phrases:
    """The phrases of one of the known languages."""
    return Phrases(language)


def find_constraints(message: Analysis) -> tuple[Constraint, ...]:
    """The demands of a message, in order; none where its language is not known."""
    if message.language not in LANGUAGES:
        return ()
    constraints = _find_in_message(message, message.language)
    unsure = len(message.text) <= UNSURE_CHARS and message.language not in UNSPACED
    if not constraints and unsure:
        others = [
            _find_in_message(message, each)
            for each in LANGUAGES
            if each not in {*UNSPACED, message.language} and load_phrases(each).hint.search(message.text)
        ]
        constraints = next(filter(None, others), ())
    return constraints


def only_limits(ask: str, language: str) -> bool:
    """Whether a few words only say what is wanted of an answer to something else ("Just the number.")."""
    few = len(ask.split()) <= _FRAGMENT and len(ask) <= UNSURE_CHARS
    return few and language in LANGUAGES and bool(load_phrases(language).pattern("only").search(ask))


def _find_in_message(message: Analysis, language: str) -> tuple[Constraint, ...]:
    constraints: dict[Kind, Constraint] = {}
    for text in _own_sentences(message, language):
        for constraint in _read_sentence(text, load_phrases(language)):
            constraints.setdefault(constraint.kind, constraint)
    if "table" in constraints:  # its lines are rows, and its head is none
        constraints.pop("lines", None)
    if (brief := _brief_constraint(message, language)) is not None:
        constraints["brief"] = brief
    told = (each for each in constraints.values() if not _is_of_parts(each, message.text))
    return tuple(told)[:MOST]


def _brief_constraint(message: Analysis, language: str) -> Constraint | None:
    """The value that alone is wanted ("Just the number: …", "… Yes or no only.")."""
    told, most = "", set[int]()
    for sentence in message.sentences[:MAX_SENTENCES]:
        head, *rest = _COLON.split(sentence.text, maxsplit=1)
        if only_limits(head, language) and _names_value(head, language) and not head.endswith(("?", "？")):
            told = head
        else:
            rest = [sentence.text]
        asks = (ask for text in rest for ask in asks_in(analyse_sentence(text, language), language))
        most |= {_BRIEF[ask.kind] for ask in asks if ask.kind in _BRIEF}
    counted = load_phrases(language).quantity.search(told)
    if not told or len(most) != 1 or (counted and any(counted[unit] for unit in UNITS)):
        return None
    return Constraint("brief", told, 0, most.pop(), language)


def _names_value(text: str, language: str) -> bool:
    """Whether what alone is wanted is named ("just the year", "yes or no only") or asked for ("reply only with a
    number"): "Just got in." wants nothing."""
    if language in UNSPACED or load_grammar(language).request.search(text):
        return True
    ends = [match.end() for match in load_phrases(language).pattern("only").finditer(text)]
    return any(not text[end:].strip(" .!,") or _NAMED_VALUE.match(text, end) for end in ends)


def _question_constraints(text: str, phrases: Phrases) -> Iterator[Constraint]:
    """Several questions in one sentence ("Who wrote it, when, and what is it about?")."""
    pieces = [piece.strip(" ¿?？") for piece in phrases.list_joint.split(text)]
    asking = [piece for piece in pieces if phrases.grammar.question.match(piece)]
    if len(pieces) > 2 and len(asking) > 1 and asking[0] == pieces[0]:
        yield Constraint("questions", text.strip(), len(asking), language=phrases.language)


def _is_of_parts(constraint: Constraint, text: str) -> bool:
    """Whether a count is one of each part of the answer ("six letters each"), which are not told apart here."""
    at = text.replace("’", "'").find(constraint.text)
    each = load_phrases(constraint.language).pattern("each")
    return constraint.kind in UNITS and at >= 0 and bool(each.search(text, at, at + len(constraint.text) + _NEAR))


def _own_sentences(message: Analysis, language: str) -> Iterator[str]:
    """The sentences that the user asks something with, each without what is pasted behind its colon."""
    outside_code = without_code(message.text) if "```" in message.text else ""
    for each in message.sentences[:MAX_SENTENCES]:
        text = each.text.replace("’", "'")
        if len(text) > MAX_CHARS or (outside_code and each.text not in outside_code):
            continue
        colon = _COLON.search(_drop_quotations(text))
        head = text[: colon.start()] if colon else ""
        if colon is None or colon.start() < _RELATIVE or not load_grammar(language).request.search(head):
            if head and len(head.split()) <= _FRAGMENT and len(head) <= UNSURE_CHARS:
                yield head  # "Ten words: when did …?"
            yield text
            continue
        yield head
        return


def _drop_quotations(text: str) -> str:
    return _QUOTED.sub(lambda match: " " * len(match[0]), text)


def _read_sentence(text: str, phrases: Phrases) -> Iterator[Constraint]:
    """The demands of a sentence, but for those that somebody else made ("My teacher wants exactly 300 words")."""
    if text.endswith("?") and "," in text:
        yield from _question_constraints(text, phrases)
    if phrases.hint.search(text) is None:
        return
    plain = _drop_quotations(text)
    reported = [match.start() for match in phrases.pattern("reported").finditer(text)]
    for constraint in _sentence_constraints(plain, text, phrases):
        at = text.find(constraint.text)
        if not any(start < at and not _CLAUSE.search(text, start, at) for start in reported):
            yield constraint


def _sentence_constraints(plain: str, text: str, phrases: Phrases) -> Iterator[Constraint]:
    asks = asks_in(analyse_sentence(text, phrases.language), phrases.language)
    kinds: frozenset[AskKind] = frozenset(ask.kind for ask in asks)
    if not (wished := _is_wished(plain, kinds, phrases)) and not (
        kinds & _WISHED or (kinds and phrases.strict.search(plain))
    ):
        return
    yield from _count_constraints(plain, text, kinds, wished, phrases)
    if "code" not in kinds and (wished or not phrases.grammar.question.search(plain)):
        yield from _form_constraints(plain, phrases)


def _is_wished(plain: str, kinds: frozenset[AskKind], phrases: Phrases) -> bool:
    """Whether a sentence wishes something: by a word for it, as a few words that name a form, or before what is asked
    ("In ten words, describe the sky")."""
    wishes = phrases.pattern("wish").search(plain) or phrases.telling_opener.match(plain)
    if wishes:
        return True
    if not phrases.spaced and phrases.pattern("verbs").search(plain) and plain[-1] not in "?？":
        return True
    if any(
        (counted := phrases.quantity.match(clause.strip())) and len(clause[counted.end() + 1 :].split()) <= 1
        for clause in _CLAUSE.split(plain)
    ):  # "…, ten words max"
        return True
    if not phrases.opening.match(plain):
        return False
    asked = plain.partition(",")[2].strip(" ¿")
    grammar = phrases.grammar
    stands_before = bool(asked) and bool(grammar.request.match(asked) or grammar.question.match(asked))
    return stands_before or (len(plain.split()) <= _FRAGMENT and len(plain) <= UNSURE_CHARS)


def _count_constraints(
    text: str, whole: str, kinds: frozenset[AskKind], wished: bool, phrases: Phrases
) -> Iterator[Constraint]:
    for match in phrases.quantity.finditer(text):
        groups = match.groupdict()
        named: list[Unit] = [unit for unit in UNITS if groups.get(unit)]
        unit: Unit = named[0] if named else "items"
        bound = next((name for name in BOUNDS if groups.get(name)), "")
        after = next((name for name in BOUNDS if groups.get(f"after_{name}")), "")
        wanted = kinds & _TOLD or phrases.telling_opener.match(text)
        told = bool(groups["enumerate"]) or (bool(groups["of"]) and bool(wanted))
        asked = bool(kinds) and not kinds & _TOLD and not wished
        placed = bool(groups["in"] or groups.get("after_in") or groups.get("hyphen"))
        placed = placed or (not phrases.spaced and bool(phrases.pattern("verbs").match(text, match.end())))
        if asked:  # "what did he say in three words?" demands nothing; "what is DNS, in three words?" does
            placed = placed and text[: match.start()].rstrip()[-1:] in {"", ",", "，", "、"}
        told = told or (unit == "items" and bool(phrases.enumeration.search(text, match.end())))
        if not (bound or after or told or placed):
            continue
        if kinds and not kinds & _WISHED and not (wished or bound == "exactly"):
            continue
        if unit == "characters" and phrases.spaced and not (bound or after):
            continue
        number, upto = phrases.parse_number(groups["n"]), phrases.parse_number(groups["m"] or "")
        if groups["enumerate"] and unit == "words" and not (bound or after) and number <= EXACT:
            unit = "items"
        aside = groups.get("between") or ""
        if bound == "about" and number < EXACT:  # "a story about two words"
            continue
        lone = number == 1 and aside and not phrases.parse_number(aside)
        if not number or lone or (unit == "items" and number < 2):
            continue
        least, most = range_of(number, upto, after or bound)
        yield Constraint(unit, whole[match.start() : match.end()].strip(), least, most, phrases.language)


def _form_constraints(text: str, phrases: Phrases) -> Iterator[Constraint]:
    for form in FORMS:
        match = phrases.pattern(form).search(text)
        if match is None or phrases.grammar.question.search(match.group()[:-_RELATIVE]):  # "in welcher Tabelle"
            continue
        yield Constraint(form, match.group().strip(), language=phrases.language)
    if match := _JSON.search(text):
        yield Constraint("json", match.group().strip(" .!"), language=phrases.language)


def range_of(number: int, upto: int, bound: str) -> tuple[int, int]:
    """The least and the most that a number with its bound allows."""
    match bound:
        case "most":
            return 0, upto or number
        case "below":
            return 0, number - 1
        case "least":
            return number, 0
        case "exactly":
            return number, upto or number
        case "about":
            return int(number * (1 - WIDE_TOLERANCE)), int((upto or number) * (1 + WIDE_TOLERANCE)) + 1
        case _ if number <= EXACT:
            return number, max(upto, number)
        case _:
            return int(number * (1 - TOLERANCE)), int((upto or number) * (1 + TOLERANCE)) + 1
