"""What a message demands of the form of its answer: counts, lengths, formats, "only", "without", ordered steps.

Only what the user asks for in their own words counts: not what is quoted, pasted or said of other texts ("What did the
author say in three words?"). The phrases of each language stand in `constraints.json` as alternatives of a regular
expression; what a constraint means is the same in all of them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, cast, get_args

from insula.text.analysis import LANGUAGES, Analysis, sentence, without_code
from insula.text.grammar import UNSPACED, grammar
from insula.text.questions import AskKind, asks_in

Unit = Literal["words", "sentences", "paragraphs", "lines", "characters", "items"]
Form = Literal["table", "json", "bullets", "numbered", "upper", "lower"]
Sole = Literal["number", "name", "code", "yes_no"]
Absent = Literal["emoji", "lists", "tables", "digits", "headings", "codes", "exclamations", "commas"]
Kind = Literal[
    Unit, Form, Sole, Absent, "opens_yes_no", "word", "letter", "begin", "end", "end_question", "steps", "language"
]
UNITS: tuple[Unit, ...] = get_args(Unit)
FORMS: tuple[Form, ...] = ("table", "bullets", "numbered", "upper", "lower")
ABSENT: tuple[Absent, ...] = get_args(Absent)

MOST = 8
"""Constraints of one message that are read; nobody keeps more."""
MAX_SENTENCES = 24
"""Sentences of a message that are read."""
MAX_CHARS = 400
"""A longer sentence is pasted."""

EXACT = 12
"""Up to this number "in three sentences" means three; "in 100 words" means about so many."""
TOLERANCE, WIDE_TOLERANCE = 0.2, 0.5
"""How far one may be from such a number, and from one that is called rough."""

_WISHED: frozenset[AskKind] = frozenset({"request", "list", "code", "how_to", "why", "open", "choice"})
_TOLD: frozenset[AskKind] = frozenset({"request", "list", "code"})
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”|„[^“”\n]{0,200}[“”]|«[^»\n]{0,200}»|「[^」\n]{0,200}」")
_QUOTE = "[\"“„'‘«「『]\\s?(?P<{name}>[^\"“”'’»」』\\n]{{1,60}}?)\\s?[\"“”'’»」』]"
_COLON = re.compile(r"[:：](?=\s|$|[\u3040-\u9fff「“\"])")
_FRAGMENT = 9
"""Words of a fragment that demands something by itself: "Exactly five words, please." """
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
    what: str = ""
    """The word, letter or phrase that is demanded or unwanted."""
    language: str = "en"


def constraints(message: Analysis) -> tuple[Constraint, ...]:
    """The demands of a message, in order; none where its language is not known."""
    if message.language not in LANGUAGES:
        return ()
    found: dict[tuple[Kind, str], Constraint] = {}
    for text in _own_sentences(message):
        for one in _read(text, message.language):
            found.setdefault((one.kind, one.what), one)
    return tuple(found.values())[:MOST]


def _own_sentences(message: Analysis) -> Iterator[str]:
    """The sentences that the user asks something with, each without what is pasted behind its colon."""
    message_text = without_code(message.text) if "```" in message.text else ""
    for each in message.sentences[:MAX_SENTENCES]:
        text = each.text.replace("’", "'")
        if len(text) > MAX_CHARS or (message_text and each.text not in message_text):
            continue
        head, pasted = _before_paste(text, message.language)
        yield head
        if pasted:
            return


def _before_paste(text: str, language: str) -> tuple[str, bool]:
    """What stands before the colon of "Summarise this in two sentences: …", and whether there was one."""
    colon = _COLON.search(_QUOTED.sub(lambda found: " " * len(found[0]), text))
    if colon is None or colon.start() < 4:
        return text, False
    head = text[: colon.start()]
    rules = grammar(language)
    requested = rules.request.search(head) is not None
    return (head, not text[colon.end() :].strip() or bool(requested)) if requested else (text, False)


def _read(text: str, language: str) -> Iterator[Constraint]:
    plain = _QUOTED.sub(lambda found: " " * len(found[0]), text)
    table = _table(language)
    kinds = _kinds(text, language)
    wished = bool(table.wish.search(plain) or table.told.match(plain)) or _is_fragment(plain, table)
    if not (kinds & _WISHED or wished or (kinds and table.strict.search(plain))):
        return
    asked = table.question.search(plain) is not None and not wished
    yield from _counted(plain, text, kinds, wished, table)
    if not asked and "code" not in kinds:
        yield from _formed(plain, table)
    yield from _sole(plain, table)
    yield from _absent(plain, text, table)
    yield from _bordered(text, table)
    if kinds & _TOLD and not asked:
        yield from _stepped(plain, table)


def _kinds(text: str, language: str) -> frozenset[AskKind]:
    return frozenset(ask.kind for ask in asks_in(sentence(text, language), language))


def _is_fragment(text: str, table: "_Table") -> bool:
    """Whether a few words demand a form by themselves ("Exactly five words." "No emojis.")."""
    few = len(text.split()) <= _FRAGMENT and len(text) <= 60
    return few and bool(table.opening.match(text))


def _counted(text: str, whole: str, kinds: frozenset[AskKind], wished: bool, table: "_Table") -> Iterator[Constraint]:
    for match in table.quantity.finditer(text):
        groups = match.groupdict()
        unit = cast(Unit, next((unit for unit in UNITS if groups.get(unit)), "items"))
        bound = next((name for name in _BOUNDS if groups.get(name)), "")
        after = next((name for name in _BOUNDS if groups.get(f"after_{name}")), "")
        told = bool(groups["enumerate"]) or (bool(groups["of"]) and bool(kinds & _TOLD))
        asked = bool(kinds) and not kinds & _TOLD and not wished
        placed = bool(groups["in"] or groups.get("after_in"))
        if asked:  # "what did he say in three words?" demands nothing; "what is DNS, in three words?" does
            placed = placed and text[: match.start()].rstrip()[-1:] in {"", ",", "，", "、"}
        told = told or (unit == "items" and bool(table.enumerated.search(text, match.end())))
        if not (bound or after or told or placed):
            continue
        if kinds and not kinds & _WISHED and not (wished or bound == "exactly"):
            continue
        if unit == "characters" and table.spaced and not (bound or after):
            continue
        number, upto = table.number(groups["n"]), table.number(groups["m"] or "")
        if groups["enumerate"] and unit == "words" and not (bound or after) and number <= EXACT:
            unit = "items"
        aside = groups.get("between") or ""
        if not number or (unit == "items" and number < 2) or (number == 1 and aside and not table.number(aside)):
            continue
        least, most = _range(number, upto, after or bound)
        yield Constraint(unit, whole[match.start() : match.end()].strip(), least, most, "", table.language)


def _range(number: int, upto: int, bound: str) -> tuple[int, int]:
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


def _formed(text: str, table: "_Table") -> Iterator[Constraint]:
    for form in FORMS:
        match = table.patterns[form].search(text)
        if match and not table.negated.search(text, max(0, match.start() - 24), match.start()):
            yield Constraint(form, match.group().strip(), language=table.language)
    if match := _JSON.search(text):
        yield Constraint("json", match.group().strip(" .!"), language=table.language)


def _sole(text: str, table: "_Table") -> Iterator[Constraint]:
    kinds: tuple[tuple[Sole, str], ...] = (("number", "sole"), ("name", "sole_name"), ("code", "sole_code"))
    for kind, name in kinds:
        if match := table.patterns[name].search(text):
            yield Constraint(kind, match.group().strip(), language=table.language)
    if match := table.patterns["yes_no"].search(text):
        kind: Kind = "yes_no" if table.only.search(match.group()) else "opens_yes_no"
        yield Constraint(kind, match.group().strip(), language=table.language)


def _absent(text: str, whole: str, table: "_Table") -> Iterator[Constraint]:
    for kind in ABSENT:
        if match := table.patterns[kind].search(text):
            yield Constraint(kind, match.group().strip(), language=table.language)
    for match in table.patterns["word"].finditer(whole):
        yield Constraint("word", match.group().strip(), what=match["w"].strip(" .,"), language=table.language)
    if match := table.patterns["letter"].search(whole):
        yield Constraint("letter", match.group().strip(), what=match["c"], language=table.language)


def _bordered(text: str, table: "_Table") -> Iterator[Constraint]:
    borders: tuple[Literal["begin", "end"], ...] = ("begin", "end")
    for kind in borders:
        if match := table.patterns[kind].search(text):
            yield Constraint(kind, match.group().strip(), what=match["w"].strip(), language=table.language)
    if match := table.patterns["end_question"].search(text):
        yield Constraint("end_question", match.group().strip(), language=table.language)


def _stepped(text: str, table: "_Table") -> Iterator[Constraint]:
    """Ordered steps ("first define it, then give an example, finally …"), where each is told to be done."""
    if not table.patterns["steps_open"].search(text):
        return
    marks = list(table.patterns["steps"].finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    told = sum(
        1
        for mark, end in zip(marks, ends, strict=True)
        if table.request(text[mark.end() : end].strip(" ,，、")) or table.request(text[: mark.start()][-40:].strip())
    )
    if len(marks) >= 2 and told >= 2:
        yield Constraint("steps", text.strip(), len(marks), language=table.language)


_BOUNDS = ("exactly", "most", "below", "least", "about")


class _Table:
    """The phrases of one language, ready to search with."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.spaced = language not in UNSPACED
        self.raw = _data()[language]
        self._numbers = {word: int(value) for word, value in (pair.split("=") for pair in self.raw["numbers"].split())}
        self._request = grammar(language).request
        self.question = grammar(language).question
        self.wish = self._search(self.raw["wish"])
        self.told = self._told()
        self.only = self._search(self.raw["only"])
        self.strict = self._search("|".join((self.raw["only"], self.raw["exactly"], self.raw["reply"])))
        self.negated = self._search(self.raw["without"])
        named = ("in", "exactly", "most", "below", "least", "about", "only", "without", "upper", "bullets", "table")
        opening = "|".join(pattern for name in named if (pattern := self.raw[name]))
        self.opening = re.compile(
            rf"[\s(,.]*(?:{opening})(?!\w)"
            if self.spaced
            else rf"[\s（，]*(?:{opening})|\d+文字|.{{1,12}}(?:以内|だけ|なし)",
            re.IGNORECASE,
        )
        self.enumerated = re.compile(self.raw["enumerate"] if language == "ja" else "(?!)")
        """Japanese says what to do at the end."""
        self.quantity = self._quantity()
        self.patterns: Mapping[str, re.Pattern[str]] = dict(self._patterns())

    def number(self, word: str) -> int:
        """The number that a word or digits stand for; 0 for none."""
        return int(word) if word.isdigit() else self._numbers.get(word.lower(), 0)

    def request(self, clause: str) -> bool:
        """Whether a clause tells to do something."""
        if self.spaced:
            return bool(self._request.match(clause))
        return bool(self._request.search(clause)) or bool(clause)

    def _told(self) -> re.Pattern[str]:
        """What a sentence opens with that tells to answer or to list."""
        told = rf"(?:{self.raw['enumerate']}|{self.raw['reply']})"
        if not self.spaced:
            return re.compile(rf"[\s，、]*{told}" if self.language == "zh" else rf".*{told}")
        return re.compile(rf"\W*{told}(?!\w)", re.IGNORECASE)

    def _search(self, pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)" if self.spaced else pattern, re.IGNORECASE)

    def _quantity(self) -> re.Pattern[str]:
        raw = self.raw
        words = "|".join(sorted(map(re.escape, self._numbers), key=len, reverse=True))
        number = rf"\d{{1,4}}|{words}"
        units = "|".join(f"(?P<{unit}>{raw[unit]})" for unit in UNITS)
        bounds = "|".join(f"(?P<{bound}>{raw[bound]})" for bound in _BOUNDS)
        afters = "|".join(f"(?P<after_{bound}>{raw[key]})" for bound in _BOUNDS if (key := f"after_{bound}") in raw)
        if self.spaced:
            told = rf"(?P<enumerate>{raw['enumerate']}) (?:\w+ )??|(?P<in>{raw['in']}) |(?P<of>{raw['of']}) "
            range_of = rf"(?P<n>{number})(?:(?: (?:{raw['to']}) |\s?[-–]\s?)(?P<m>{number}))?"
            what = rf"(?:(?P<between>[^\W\d]+) )?(?:{units})|(?(enumerate)(?P<noun>[^\W\d]+)|(?!))"
            return re.compile(
                rf"(?<!\w)(?:{told})?(?:(?:{bounds}) )?(?:{raw['between']} )?{range_of} (?:{what})(?!\w)"
                rf"(?:,? (?:{afters})(?!\w))?",
                re.IGNORECASE,
            )
        after_in = raw.get("after_in", "(?!)")
        noun = "" if self.language == "zh" else "[をに]?"
        return re.compile(
            rf"(?:(?P<enumerate>{raw['enumerate']})|(?P<in>{raw['in']})|(?P<of>{raw['of']}))?(?:{bounds})?"
            rf"(?P<n>{number})(?:(?:{raw['to']})(?P<m>{number}))?(?:{units}){noun}(?:(?:{afters})|(?P<after_in>{after_in}))?"
        )

    def _patterns(self) -> Iterator[tuple[str, re.Pattern[str]]]:
        raw, quoted = self.raw, _QUOTE.format(name="w")
        for name in (*FORMS, "end_question", "steps", "steps_open"):
            yield name, self._search(raw[name])
        yield from self._sole_patterns()
        without = raw["without"]
        for kind in ABSENT:
            yield kind, self._search(rf"(?:{without}) (?:{raw[kind]})" if self.spaced else self._around(raw[kind]))
        word, letter = raw["the_word"], raw["the_letter"]
        if self.spaced:
            yield "word", re.compile(rf"(?<!\w)(?:{without}) (?:(?:{word}) )*{quoted}", re.IGNORECASE)
            yield (
                "letter",
                re.compile(
                    rf"(?<!\w)(?:{without}) (?:\w+ )?(?:{letter}) [\"“„'«]?\s?(?P<c>[^\W\d_])\s?[\"”“'»]?(?!\w)",
                    re.IGNORECASE,
                ),
            )
            yield "begin", re.compile(rf"(?<!\w)(?:{raw['begin']}) {quoted}", re.IGNORECASE)
            yield "end", re.compile(rf"(?<!\w)(?:{raw['end']}) {quoted}", re.IGNORECASE)
        elif self.language == "zh":
            yield "word", re.compile(rf"(?:{without}){word}{quoted}(?:{word})")
            yield "letter", re.compile(rf"(?:{without})(?:{letter})[“\"「]?(?P<c>[A-Za-z])")
            yield "begin", re.compile(rf"以{quoted}开[头始]")
            yield "end", re.compile(rf"以{quoted}结[尾束]")
        else:
            yield "word", re.compile(rf"{quoted}(?:{word})?(?:{without})")
            yield "letter", re.compile(rf"(?:{letter})[「『]?(?P<c>[A-Za-z])[」』]?(?:{without})")
            yield "begin", re.compile(rf"{quoted}(?:という(?:言葉|語))?(?:で|から)(?:始|はじ)め")
            yield "end", re.compile(rf"{quoted}(?:という(?:言葉|語))?で(?:終|締め)")

    def _around(self, what: str) -> str:
        without = self.raw["without"]
        return rf"(?:{without})(?:任何|一个)?(?:{what})" if self.language == "zh" else rf"(?:{what})(?:{without})"

    def _sole_patterns(self) -> Iterator[tuple[str, re.Pattern[str]]]:
        raw = self.raw
        only, reply = raw["only"], raw["reply"]
        for name in ("sole", "sole_name", "sole_code"):
            if self.spaced:
                yield name, self._search(rf"(?:{only}) (?:{reply} )?(?:{raw[name]})|(?:{raw[name]}),? (?:{only})")
            elif self.language == "zh":
                yield name, re.compile(rf"(?:{only})(?:{raw[name]})")
            else:
                yield name, re.compile(rf"(?:{raw[name]})(?:{only})")
        if self.spaced:
            yield "yes_no", self._search(rf"(?:{only}|{reply})[^.?!:]{{0,24}}? ?(?:{raw['yes_no']})(?: {only})?")
        elif self.language == "zh":
            yield "yes_no", re.compile(rf"(?:{only}|{reply})[^。？]{{0,8}}(?:{raw['yes_no']})")
        else:
            yield "yes_no", re.compile(rf"(?:{raw['yes_no']})(?:{only})?(?:で|と)?(?:{reply})")


@cache
def _table(language: str) -> _Table:
    return _Table(language)


@cache
def _data() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.text") / "constraints.json").read_text("utf-8"))


def yes_words(language: str) -> re.Pattern[str]:
    """What an answer that is yes or no opens with."""
    return _yes_words(language)


@cache
def _yes_words(language: str) -> re.Pattern[str]:
    words = _data()[language]["yes_words"]
    return re.compile(rf"\W*(?:{words})(?!\w)" if language not in UNSPACED else rf"\W*(?:{words})", re.IGNORECASE)


def number_words(text: str, language: str) -> set[int]:
    """The numbers that stand in a text as words, but for one, which is an article as well."""
    if language not in LANGUAGES:
        return set()
    return {
        value for match in _number_words(language).finditer(text) if (value := _table(language).number(match[0])) > 1
    }


@cache
def _number_words(language: str) -> re.Pattern[str]:
    words = (pair.split("=")[0] for pair in _data()[language]["numbers"].split())
    any_word = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(any_word if language in UNSPACED else rf"(?<!\w)(?:{any_word})(?!\w)", re.IGNORECASE)
