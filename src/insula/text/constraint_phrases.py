"""How one demands a form in each language: patterns compiled from `constraints.json`.

There a device maps to alternatives of a regular expression. They are searched in lower or upper
case, with plain apostrophes.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files

from insula.text.grammar import UNSPACED, load_grammar
from insula.text.numerals import load_numerals

UNITS = ("words", "sentences", "paragraphs", "lines", "characters", "items")
FORMS = ("table", "bullets", "numbered", "upper", "lower")
ABSENT = ("emoji", "lists", "digits")
BOUNDS = ("exactly", "most", "below", "least", "about")
QUOTE = "[\"“„'‘«「『]\\s?(?P<{name}>[^\"“”'’»」』\\n]{{1,60}}?)\\s?[\"“”'’»」』]"
"""A word in quotation marks."""

_HINTS = (
    *("words", "sentences", "paragraphs", "lines", "characters", "items", "only", "without", "enumerate", "yes_no"),
    *("table", "bullets", "mention", "numbered", "upper", "lower", "begin", "end", "end_question", "steps_open"),
    *("no_more", "alone_bullets", "alone_table", "alone_numbered"),
)
ALONE = ("table", "bullets", "numbered")
"""Forms that a word by itself demands ("Bulleted, please")."""


_AND = {"en": "and", "es": "y", "fr": "et", "de": "und", "pt": "e", "it": "e"}
_Source = tuple[str, int]
"""A regular expression that is not compiled yet, and its flags."""


def _pattern_source(pattern: str, flags: int = 0) -> _Source:
    return pattern, flags


class _Patterns(dict[str, re.Pattern[str]]):
    """Regular expressions, each compiled when it is first asked for: a language that nobody writes costs nothing."""

    def __init__(self, sources: Iterator[tuple[str, _Source]]) -> None:
        super().__init__()
        self._sources = dict(sources)

    def __missing__(self, name: str) -> re.Pattern[str]:
        self[name] = pattern = re.compile(*self._sources[name])
        return pattern


class Table:
    """The phrases of one language, ready to search with."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.spaced = language not in UNSPACED
        self.raw = _load_phrases()[language]
        self._numbers = load_numerals(language)
        self._request = load_grammar(language).request
        self.question = load_grammar(language).question
        self.patterns: Mapping[str, re.Pattern[str]] = _Patterns(self._list_patterns())

    @cached_property
    def hint(self) -> re.Pattern[str]:
        """Without any of these phrases nothing is demanded."""
        hints = "|".join(self.raw[name] for name in _HINTS) + r"|json|\?"
        return self._search_pattern(hints.removesuffix(r"|\?")) if self.spaced else re.compile(hints, re.IGNORECASE)

    @cached_property
    def wish(self) -> re.Pattern[str]:
        """What wishes."""
        return self._search_pattern(self.raw["wish"])

    @cached_property
    def only(self) -> re.Pattern[str]:
        """What allows nothing else."""
        return self._search_pattern(self.raw["only"])

    @cached_property
    def each(self) -> re.Pattern[str]:
        """What makes a count one of each part."""
        return self._search_pattern(self.raw["each"])

    @cached_property
    def strict(self) -> re.Pattern[str]:
        """What says that a demand is meant to the letter."""
        return self._search_pattern("|".join((self.raw["only"], self.raw["exactly"], self.raw["reply"])))

    @cached_property
    def negation(self) -> re.Pattern[str]:
        """What leaves something out."""
        return self._search_pattern(self.raw["without"])

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """What a demand opens with that names its form."""
        named = ("in", "exactly", "most", "below", "least", "about", "only", "without", "upper", "bullets", "table")
        opening = "|".join(pattern for name in named if (pattern := self.raw[name]))
        return re.compile(
            rf"[\s(,.]*(?:(?:{self.raw['whole']}) )?(?:{opening})(?!\w)"
            if self.spaced
            else rf"[\s（，]*(?:{opening})|\d+文字|.{{1,12}}(?:以内|だけ|なし)",
            re.IGNORECASE,
        )

    @cached_property
    def list_joint(self) -> re.Pattern[str]:
        """What stands between the parts of a list."""
        return re.compile(rf",? (?:{self._conjunction}) |, " if self.spaced else "[,，、；;]")

    @cached_property
    def joined_last(self) -> re.Pattern[str]:
        """What stands before a question that follows another."""
        between = rf",? (?:{self._conjunction}) (?={self.question.pattern})" if self.spaced else "(?!)"
        return re.compile(between, re.IGNORECASE)

    @property
    def _conjunction(self) -> str:
        return _AND.get(self.language, "(?!)")

    @cached_property
    def enumeration(self) -> re.Pattern[str]:
        """Japanese says what to do at the end."""
        return re.compile(self.raw["enumerate"] if self.language == "ja" else "(?!)")

    def parse_number(self, word: str) -> int:
        """The number that a word or digits stand for; 0 for none."""
        return int(word) if word.isdigit() else self._numbers.get(word.lower(), 0)

    def is_request(self, clause: str) -> bool:
        """Whether a clause tells to do something."""
        if self.spaced:
            return bool(self._request.match(clause))
        return bool(self._request.search(clause)) or bool(clause)

    def tells_or_asks(self, clause: str) -> bool:
        """Whether a clause tells to do something, or asks something."""
        return self.is_request(clause) or bool(self.patterns["verbs"].match(clause) or self.question.match(clause))

    @cached_property
    def telling_opener(self) -> re.Pattern[str]:
        """What a sentence opens with that tells to answer or to list."""
        told = rf"(?:{self.raw['enumerate']}|{self.raw['reply']}|{self.raw['verbs']})"
        if not self.spaced:
            return re.compile(rf"[\s，、]*{told}" if self.language == "zh" else rf".*{told}")
        return re.compile(rf"\W*{told}(?!\w)", re.IGNORECASE)

    def _search_pattern(self, pattern: str) -> re.Pattern[str]:
        return re.compile(*self._phrase_source(pattern))

    def _phrase_source(self, pattern: str) -> _Source:
        return rf"(?<!\w)(?:{pattern})(?!\w)" if self.spaced else pattern, re.IGNORECASE

    @cached_property
    def quantity(self) -> re.Pattern[str]:
        """A count of something, with what bounds it."""
        raw = self.raw
        number = self._number_source()
        units = "|".join(f"(?P<{unit}>{raw[unit]})" for unit in UNITS)
        bounds = "|".join(f"(?P<{bound}>{raw[bound]})" for bound in BOUNDS)
        afters = "|".join(f"(?P<after_{bound}>{raw[key]})" for bound in BOUNDS if (key := f"after_{bound}") in raw)
        if self.spaced:
            told = rf"(?P<enumerate>{raw['enumerate']}) (?:\w+ )??|(?P<in>{raw['in']}) |(?P<of>{raw['of']}) "
            joint = r"(?: |(?P<hyphen>-))"
            range_of = rf"(?P<n>{number})(?:(?: (?:{raw['to']}) |\s?[-–]\s?)(?P<m>{number}))?"
            counted = rf"(?:(?P<between>[^\W\d]+) )?(?:{units})|(?(enumerate)(?P<noun>[^\W\d]+)|(?!))"
            return re.compile(
                rf"(?<!\w)(?:{told})?(?:(?:{bounds}) )?(?:{raw['between']} )?{range_of}{joint}(?:{counted})(?!\w)"
                rf"(?:,? (?:{afters})(?!\w))?",
                re.IGNORECASE,
            )
        after_in = raw.get("after_in", "(?!)")
        noun = "" if self.language == "zh" else "[をに]?"
        return re.compile(
            rf"(?:(?P<enumerate>{raw['enumerate']})|(?P<in>{raw['in']})|(?P<of>{raw['of']}))?(?:{bounds})?"
            rf"(?P<n>{number})(?:(?:{raw['to']})(?P<m>{number}))?(?:{units}){noun}(?:(?:{afters})|(?P<after_in>{after_in}))?"
        )

    def _list_patterns(self) -> Iterator[tuple[str, _Source]]:
        raw, quoted = self.raw, QUOTE.format(name="w")
        for name in (*FORMS, "end_question", "steps", "steps_open", "verbs", "reported", "only_alone", "no_less"):
            yield name, self._phrase_source(raw[name])
        yield from self._alone_patterns()
        yield from self._sole_patterns()
        without = raw["without"]
        for kind in ABSENT:
            yield (
                kind,
                self._phrase_source(
                    rf"(?:{without}) {raw['the']}(?:{raw[kind]})" if self.spaced else self._around_source(raw[kind])
                ),
            )
        end = r"(?=\s*(?:[.,;:!?，。；！？、]|$))"
        yield (
            "mention",
            _pattern_source(
                rf"(?<!\w)(?:{raw['mention']}){end}" if self.spaced else raw["mention"] + end * (self.language == "zh"),
                re.IGNORECASE if self.language != "de" else 0,
            ),
        )
        word, bare = raw["the_word"], raw["bare_word"]
        verb = r"(?=\s*(?:[.,;:!?]|$)|\s(?:zu|at|in)\s)"
        yield (
            "bare_word",
            self._phrase_source(
                rf"(?:{without}) {bare}{verb}"
                if self.spaced
                else rf"(?:{without}){bare}"
                if self.language == "zh"
                else rf"{bare}(?:{without})"
            ),
        )
        if self.spaced:
            yield "word", _pattern_source(rf"(?<!\w)(?:{without}) (?:(?:{word}) )*{quoted}", re.IGNORECASE)
            for border in ("begin", "end"):
                last = (
                    rf"|mit (?:dem wort )?{QUOTE.format(name='v')} (?:{raw[border + '_last']})"
                    if border + "_last" in raw
                    else ""
                )
                yield border, _pattern_source(rf"(?<!\w)(?:(?:{raw[border]}) {quoted}{last})", re.IGNORECASE)
        elif self.language == "zh":
            yield "word", _pattern_source(rf"(?:{without}){word}{quoted}(?:{word})")
            yield "begin", _pattern_source(rf"以{quoted}开[头始]")
            yield "end", _pattern_source(rf"以{quoted}结[尾束]")
        else:
            yield "word", _pattern_source(rf"{quoted}(?:{word})?(?:{without})")
            yield "begin", _pattern_source(rf"{quoted}(?:という(?:言葉|語))?(?:で|から)(?:始|はじ)め")
            yield "end", _pattern_source(rf"{quoted}(?:という(?:言葉|語))?で(?:終|締め)")

    def _alone_patterns(self) -> Iterator[tuple[str, _Source]]:
        """What is searched in a clause that demands something by itself."""
        raw, number = self.raw, self._number_source()
        gap, units = ("[ -]", "|".join(f"(?P<{unit}>{raw[unit]})" for unit in UNITS)) if self.spaced else ("", "")
        units = units or "|".join(f"(?P<{unit}>{raw[unit]})" for unit in UNITS)
        adjective = r"(?:(?P<between>[^\W\d_]+) )?" if self.spaced else "(?P<between>)"
        yield "count", self._phrase_source(rf"(?P<n>{number}){gap}{adjective}(?:{units})")
        yield "no_more", self._phrase_source(raw["no_more"])
        yield "filler", self._phrase_source("|".join(raw["filler"].split()) if self.spaced else raw["filler"])
        yield "compound", self._phrase_source(rf"(?P<n>{number})-(?:{units})" if self.spaced else "(?!)")
        yield "in_one", self._phrase_source(raw["in_one"])
        yield "yes_no_bare", self._phrase_source(raw["yes_no"])
        for form in ALONE:
            yield f"alone_{form}", self._phrase_source(raw[f"alone_{form}"])
        for bound in BOUNDS:
            yield f"bound_{bound}", self._phrase_source("|".join(filter(None, (raw[bound], raw.get(f"after_{bound}")))))
        noun = r" [^\W\d_]{3,}" if self.spaced else "[个种条部本家处座样款首位つ冊枚]|か所"
        told = rf"(?:{raw['verbs']}|{raw['enumerate']})"
        yield (
            "head",
            _pattern_source(
                rf"\W*(?:{told}[- ]?(?:{raw['to_me']})? ?)?(?:(?:{raw['exactly']}) )?(?P<n>{number})"
                rf"(?!{' ' if self.spaced else ''}(?:{raw['measure']}))(?:{noun})",
                re.IGNORECASE,
            ),
        )

    def _number_source(self) -> str:
        return rf"\d{{1,4}}|{'|'.join(sorted(map(re.escape, self._numbers), key=len, reverse=True))}"

    def _around_source(self, pattern: str) -> str:
        without = self.raw["without"]
        return rf"(?:{without})(?:任何|一个)?(?:{pattern})" if self.language == "zh" else rf"(?:{pattern})(?:{without})"

    def _sole_patterns(self) -> Iterator[tuple[str, _Source]]:
        raw = self.raw
        only, reply = raw["only"], raw["reply"]
        for name in ("sole", "sole_name", "sole_code"):
            if self.spaced:
                yield (
                    name,
                    self._phrase_source(rf"(?:{only}) (?:{reply} )?(?:{raw[name]})|(?:{raw[name]}),? (?:{only})"),
                )
            elif self.language == "zh":
                yield name, _pattern_source(rf"(?:{only})(?:{raw[name]})")
            else:
                yield name, _pattern_source(rf"(?:{raw[name]})(?:{only})")
        if self.spaced:
            yield "yes_no", self._phrase_source(rf"(?:{only}|{reply})[^.?!:]{{0,24}}? ?(?:{raw['yes_no']})(?: {only})?")
        elif self.language == "zh":
            yield "yes_no", _pattern_source(rf"(?:{only}|{reply})[^。？]{{0,8}}(?:{raw['yes_no']})")
        else:
            yield "yes_no", _pattern_source(rf"(?:{raw['yes_no']})(?:{only})?(?:で|と)?(?:{reply})")


@cache
def table_of(language: str) -> Table:
    return Table(language)


@cache
def _load_phrases() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.text") / "constraints.json").read_text("utf-8"))


def yes_words(language: str) -> re.Pattern[str]:
    """What an answer that is yes or no opens with."""
    return _yes_words(language)


@cache
def _yes_words(language: str) -> re.Pattern[str]:
    words = _load_phrases()[language]["yes_words"]
    return re.compile(rf"\W*(?:{words})(?!\w)" if language not in UNSPACED else rf"\W*(?:{words})", re.IGNORECASE)
