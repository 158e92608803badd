"""Which languages an answer may be in, and whether it plainly is in another.

Whether a text is in the wrong language is asked of prose alone (no code, quotations, links or names), in up to three
places, and answered yes only where most of them are surely in a language that was not to be expected.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, cast

from insula.text.analysis import UNKNOWN, Analysis, Sentence, detect_language, without_code
from insula.text.questions import asks_in
from insula.text.tables import load_table

MAX_CHARS = 4_000
"""A translation is looked for in the answer up to here."""

MAX_SENTENCES = 32
"""So many sentences at each end of a message are read for the language that it asks for."""

SURE_OF_MESSAGE = 0.5
"""The identifier's probability from which it is believed of a message; close kin share the rest."""

SURE_OF_ANSWER = 0.6
"""The same of an answer, which is accused of something."""

_NONE = frozenset[str]()
_SENTENCE = 1_000
_GLANCE = 40
_LONG = 80
_WINDOW = 360
_WINDOWS = 3
_MIN_LETTERS = 4
_MIN_FOREIGN = 2
_MIN_LATIN_WORDS = 4
_MIN_LOWER_WORDS = 2
"""With fewer, a text in Latin letters is a list of names, which have no language."""
_QUOTE = re.compile(r"[\"“„«「『][^\"“”«»」』\n]{1,400}[\"”“»」』]")
_LINK = re.compile(r"https?://\S+")
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN = re.compile("[\u0370-\u1fff\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufdff]")
_LATIN = "latin"
_LETTER = re.compile(r"[^\W\d_]")
_LOWER_LATIN = re.compile(r"(?<![\w./@-])[a-zß-ɏḀ-ỿ]{2,}(?![\w./@-])")


class _Table(NamedTuple):
    """What `languages.json` says, ready to search with."""

    names: dict[str, str]
    kin: dict[str, frozenset[str]]
    scripts: dict[str, str]
    foreign: re.Pattern[str]
    unspaced: re.Pattern[str]
    into: re.Pattern[str]
    translate: re.Pattern[str]
    spoken: re.Pattern[str]
    negated: re.Pattern[str]


@cache
def _load_table() -> _Table:
    raw = load_table("languages.json")
    names = {name: code for code, words in cast(dict[str, str], raw["names"]).items() for name in words.split()}
    any_name = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    spaced = "|".join(name for name in any_name.split("|") if name[0] < "\u3040")
    unspaced = "|".join(name for name in any_name.split("|") if name[0] >= "\u3040")
    kin = [frozenset(group.split()) for group in cast(list[str], raw["kin"])]
    foreign = "|".join(f"(?P<{name}>[{span}]+)" for name, span in cast(dict[str, str], raw["ranges"]).items())
    into = (
        rf"(?<!\w)(?:(?i:(?P<into>{raw['into']})|(?P<to>{raw['to']})) ?(?P<spaced>(?i:{spaced}))(?!\w)(?! [A-ZÀ-Ö]\w)"
        rf"|(?i:{raw['use']}) (?P<used>(?i:{spaced}))(?=\s*(?:[.,;:!?]|$)| (?:to|for|please|only)\b))"
        rf"|(?:用|以|成|为|說|说){{1,2}}(?P<zh>{unspaced})|(?P<ja>{unspaced})(?:で|に)"
    )
    return _Table(
        names=names,
        kin={code: frozenset().union(*(group for group in kin if code in group)) for group in kin for code in group},
        scripts=raw["scripts"],
        foreign=re.compile(foreign),
        unspaced=re.compile(unspaced),
        into=re.compile(into),
        translate=re.compile(raw["translate"], re.IGNORECASE),
        spoken=re.compile(rf"(?<!\w)(?:{raw['spoken']})(?!\w)|怎么说|意思|何と言|意味", re.IGNORECASE),
        negated=re.compile(rf"(?:{raw['not']})\W+(?:\w+\W+){{0,2}}$", re.IGNORECASE),
    )


_KANJI = 12
_ITEMS = re.compile(r"[\n、,，・/]|\d[.)．]")


class Expected(NamedTuple):
    """The languages an answer may be in; none at all means that any will do."""

    languages: frozenset[str]
    """ISO 639-1 codes; "latin" stands for any that is written so."""
    translated: bool
    """Whether a translation was asked for, which may come within an answer in the language of the message."""
    wished: bool
    """Whether the message asks for a language, and not merely is in one."""
    scripts: frozenset[str]
    """Scripts of the message other than Latin: an answer may quote them."""


def expected_languages(message: Analysis, own: Sequence[str] = ()) -> Expected:
    """The languages that an answer to `message` may be in.

    Args:
        own: the languages of the agent's identity, the first being its own; empty: that of the message.

    Returns:
        The language asked for ("in French, please"); else those of the message, with any it names; else, where the
        message's language is unknown, the agent's.
    """
    read = _outer_sentences(message)
    text = " ".join(sentence.text for sentence in read)
    scripts, translated = frozenset(_count_scripts(text)), bool(_load_table().translate.search(text))
    named = _named_languages(text)
    wished = _wished_language(read, message.language) if named else _NONE
    if wished or translated:
        return Expected(wished, translated, bool(wished), scripts)
    languages = frozenset(_languages_of(read))
    if not languages:
        return Expected(frozenset(own) or _languages_by_script(text), False, False, scripts)
    outside = frozenset(own[:1]) if not languages & frozenset(own) else frozenset[str]()
    return Expected(languages | named | outside, False, False, scripts)


def _named_languages(text: str) -> frozenset[str]:
    """The languages that a text names."""
    names = _load_table().names
    spaced = frozenset(names[word] for word in _WORD.findall(text.lower()) if word in names)
    if _FOREIGN.search(text) is None:
        return spaced
    return spaced | frozenset(names[match.group()] for match in _load_table().unspaced.finditer(text))


def _outer_sentences(message: Analysis) -> list[Sentence]:
    """The sentences at both ends of a message: what it asks for stands there, and pasted text between."""
    sentences = message.sentences
    if len(sentences) > 2 * MAX_SENTENCES:
        sentences = sentences[:MAX_SENTENCES] + sentences[-MAX_SENTENCES:]
    return [sentence for sentence in sentences if len(sentence.text) <= _SENTENCE]


def _wished_language(sentences: list[Sentence], language: str) -> frozenset[str]:
    """The language that the message asks the answer to be in, if any: the last that it names so."""
    table, wished = _load_table(), frozenset[str]()
    for sentence in sentences:
        text = sentence.text
        for match in table.into.finditer(text):
            name = match["spaced"] or match["used"] or match["zh"] or match["ja"]
            if match["to"] and not table.translate.search(text):
                continue
            if not table.negated.search(text, max(0, match.start() - 40), match.start()) and not _asks_about_language(
                sentence, language
            ):
                wished = frozenset({table.names[name.lower()]})
    return wished


def _asks_about_language(sentence: Sentence, language: str) -> bool:
    """Whether a sentence asks about a language ("How do you say cat in French?") rather than for an answer in it."""
    if _load_table().translate.search(sentence.text):
        return False
    kinds = {ask.kind for ask in asks_in(sentence, language)}
    return kinds == {"yes_no"} or bool(_load_table().spoken.search(sentence.text))


def _languages_of(sentences: list[Sentence]) -> Iterator[str]:
    """The languages of the message: of the whole, of its first and last sentence, and without what it quotes."""
    texts = [sentence.text for sentence in sentences]
    text = "\n".join(texts)
    parts = [text, *(part for part in (texts[:1] + texts[-1:]) if len(part) > _LONG)]
    if (plain := _without_asides(text)) != text:
        parts.append(plain)
    return (language for part in parts if (language := detect_language(part, least=SURE_OF_MESSAGE)) != UNKNOWN)


def _languages_by_script(text: str) -> frozenset[str]:
    """The languages written as a message is whose own language cannot be told."""
    script, letters = _main_script(text)
    if script == _LATIN:
        return frozenset({_LATIN}) if letters >= _MIN_LETTERS else frozenset()
    return frozenset(language for language, written in _load_table().scripts.items() if written == script)


def in_wrong_language(text: str, wanted: Expected) -> bool:
    """Whether `text` is plainly in a language other than those wanted; false where that cannot be told."""
    if not wanted.languages:
        return False
    if wanted.translated and any(detect_language(part) in wanted.languages for part in _translation_parts(text)):
        return False
    verdicts: list[bool | None] = []
    for window in _sample_windows(_strip_code(text)):
        verdicts.append(_judge_piece(window, wanted))
        if verdicts.count(True) * 2 > _WINDOWS:
            return False
    return verdicts.count(False) > verdicts.count(True)


def _strip_code(text: str) -> str:
    prose = without_code(text)
    if len(prose) * 2 < len(text):
        return ""
    plain = _without_asides(prose)
    return plain if len(plain) * 2 > len(prose) else prose


def _without_asides(text: str) -> str:
    """`text` without its quotations and links."""
    if '"' in text or not text.isascii():
        text = _QUOTE.sub(" ", text)
    return _LINK.sub(" ", text) if "http" in text else text


def _sample_windows(text: str) -> Iterable[str]:
    """Up to three pieces of a text: its beginning, middle and end."""
    text = text.strip()
    if len(text) <= _WINDOW * _WINDOWS:
        return (text,)
    middle = (len(text) - _WINDOW) // 2
    return (text[:_WINDOW], text[middle : middle + _WINDOW], text[-_WINDOW:])


def _judge_piece(text: str, wanted: Expected) -> bool | None:
    """Whether a piece is in a wanted language; `None` where it cannot be told."""
    script, count = _main_script(text)
    if count < (_MIN_LETTERS if script == _LATIN else _MIN_FOREIGN):
        return None
    if script not in {_load_table().scripts.get(language, _LATIN) for language in wanted.languages}:
        quoted = script in wanted.scripts and not (wanted.wished and not wanted.translated)
        if quoted or (script == _LATIN and not _latin_prose(text)):
            return None
        return False
    if script not in {_LATIN, "han"} or _LATIN in wanted.languages:
        return True
    if script == _LATIN and len(_LOWER_LATIN.findall(text)) < _MIN_LOWER_WORDS:
        return None
    language = detect_language(text, least=SURE_OF_ANSWER)
    if language == UNKNOWN:
        return None
    if wanted.languages & (_load_table().kin.get(language, _NONE) | {language}):
        return True
    return None if _kanji_only(text, wanted) else False


def _latin_prose(text: str) -> bool:
    """Whether Latin letters make sentences and not only names ("iPhone 15 Pro Max")."""
    return len(_LOWER_LATIN.findall(text)) >= _MIN_LATIN_WORDS


def _kanji_only(text: str, wanted: Expected) -> bool:
    """A few characters without kana may be Japanese as well as Chinese."""
    listed = max((len(piece) for piece in _ITEMS.split(text)), default=0)
    return "ja" in wanted.languages and listed < _KANJI


def _main_script(text: str) -> tuple[str, int]:
    """The script with the most letters, and how many; of Latin only whether there are a few."""
    if _FOREIGN.search(text) is None:
        return _LATIN, len(_LETTER.findall(text[:_GLANCE]))
    counts = _count_scripts(text)
    counts[_LATIN] = len(_LETTER.findall(text)) - sum(counts.values())
    return max(counts.items(), key=lambda item: item[1])


def _count_scripts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    if _FOREIGN.search(text) is not None:
        for match in _load_table().foreign.finditer(text):
            name = cast(str, match.lastgroup)
            counts[name] = counts.get(name, 0) + len(match.group())
    return counts


def _translation_parts(text: str) -> Iterator[str]:
    """The lines, quotations and clauses after a colon of a text: where a translation may stand."""
    for line in text[:MAX_CHARS].splitlines()[:32]:
        yield line
        yield from (match.group() for match in _QUOTE.finditer(line))
        _, _, after = line.partition(":")
        if after:
            yield after
