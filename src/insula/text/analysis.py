"""A text, analysed once: language, sentences, terms, names.

The same terms are indexed, searched, scored and assessed, so that every part of Insula means the same by "word".
"""

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier
    from snowballstemmer import Stemmer

LANGUAGES = ("en", "es", "fr", "de", "pt", "it", "zh", "ja")
"""The languages with function words, stems and question types of their own."""

UNKNOWN = "unknown"
MIN_WORDS = 3
"""Below this many words a language is not guessed ("ok" would be Afrikaans)."""

SURE_WORDS = 6
"""Below this many words only a language of `LANGUAGES` is believed: ninety others are too easy to hit by chance."""

_STEMMERS = {
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "de": "german",
    "pt": "portuguese",
    "it": "italian",
}
_NAMES_LIKE_FUNCTION_WORDS = frozenset({"May", "Will", "US", "IT"})
_DETECT_CHARS = 600
_STEM_CACHE = 65_536

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\uac00-\ud7af\u1100-\u11ff"
_WORD = re.compile(rf"[{_CJK}{_KANA}々ー]+|[{_HANGUL}]+|[^\W_{_CJK}{_KANA}{_HANGUL}]+")
_CONTENT_RUN = re.compile(rf"[{_CJK}々]+|[\u30a0-\u30ffー]+")
_FENCE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def clean(text: str) -> str:
    """`text` as it can be stored and sent: no lone surrogates, no control characters, line ends as `\\n`."""
    text = _SURROGATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def without_code(text: str) -> str:
    """`text` with fenced blocks and inline code taken out."""
    return _FENCE.sub(" ", text) if "`" in text else text


class Word(NamedTuple):
    """One word as written, with its term; `term` is empty for a function word."""

    text: str
    term: str
    start: int

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its text, words, content terms in order, and the names of persons and things it holds."""

    text: str
    words: tuple[Word, ...]
    terms: tuple[str, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of a text without understanding it."""

    text: str
    language: str
    """An ISO 639-1 code, or "unknown"."""
    sentences: tuple[Sentence, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(term for sentence in self.sentences for term in sentence.terms)

    @property
    def names(self) -> frozenset[str]:
        """Terms written with a capital where none is due; empty in German, where every noun has one."""
        return frozenset[str]().union(*(sentence.names for sentence in self.sentences))


@cache
def _lexicon() -> dict[str, dict[str, frozenset[str]]]:
    raw: dict[str, dict[str, str]] = json.loads((files("insula.text") / "lexicon.json").read_text("utf-8"))
    return {code: {name: frozenset(words.split()) for name, words in lists.items()} for code, lists in raw.items()}


def words_of(kind: str, language: str) -> frozenset[str]:
    """The `function`, `first` or `second` (person) words of a language; those of English where it has none."""
    lexicon = _lexicon()
    return lexicon.get(language, lexicon["en"])[kind]


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # 0.4 s and 90 MB: once, and only when asked

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def warm_up() -> None:
    """Load the language model now (0.4 s), so that the first message does not wait for it."""
    detect("This sentence is here to be recognised.")
    stem("sentences", "en")


def detect(text: str, default: str = UNKNOWN) -> str:
    """The language of `text` as an ISO 639-1 code; `default` under three words or where it is mostly code."""
    prose = without_code(text)
    if len(prose) * 2 < len(text):
        return default
    sample = prose[:_DETECT_CHARS]
    if (script := _by_script(sample)) is not None:
        return script
    count = len(_WORD.findall(sample))
    if count < MIN_WORDS:
        return default
    language = _identifier().classify(sample)[0]
    return language if count >= SURE_WORDS or language in LANGUAGES else default


def _by_script(text: str) -> str | None:
    """Chinese, Japanese and Korean tell themselves apart by their characters, however short the text is."""
    cjk = sum(
        1 for ch in text if "\u3040" <= ch <= "\u30ff" or "\u4e00" <= ch <= "\u9fff" or "\uac00" <= ch <= "\ud7af"
    )
    if not cjk or cjk * 3 < sum(1 for ch in text if ch.isalpha()):
        return None
    if any("\uac00" <= ch <= "\ud7af" for ch in text):
        return "ko"
    return "ja" if any("\u3040" <= ch <= "\u30ff" for ch in text) else "zh"


@cache
def _stemmer(language: str) -> "Stemmer":
    from snowballstemmer import stemmer

    return stemmer(_STEMMERS[language])


@lru_cache(maxsize=_STEM_CACHE)
def stem(word: str, language: str) -> str:
    """The stem of a lower-case word, without accents ("café" and "cafe" are one term)."""
    if language in _STEMMERS:
        word = _stemmer(language).stemWord(word)
    if word.isascii():
        return word
    return "".join(ch for ch in unicodedata.normalize("NFKD", word) if not unicodedata.combining(ch)) or word


def analyse(text: str, *, default: str = "en") -> Analysis:
    """Analyse `text` whole; `default` is the language assumed where it cannot be told."""
    language = detect(text, default)
    pieces = (piece.strip() for piece in _SENTENCE.split(text))
    return Analysis(text, language, tuple(sentence(piece, language) for piece in pieces if piece))


def sentence(text: str, language: str) -> Sentence:
    """Analyse one sentence in a known language."""
    found = tuple(words(text, language))
    terms = tuple(word.term for word in found if word.term)
    return Sentence(text, found, terms, frozenset(_names(found, language)))


def words(text: str, language: str) -> Iterable[Word]:
    """The words of `text` in order; a run of Chinese or Japanese yields its overlapping pairs of characters."""
    function = words_of("function", language)
    for match in _WORD.finditer(text):
        run = match.group()
        if run[0] >= "\u3040" and _CONTENT_RUN.search(run):
            yield from _pairs(run, match.start(), function)
        else:
            lower = run.lower()
            keep = (lower not in function and (len(lower) > 1 or lower.isdigit()) and lower[0] < "\u3040") or (
                run in _NAMES_LIKE_FUNCTION_WORDS and match.start() > 0
            )
            yield Word(run, stem(lower, language) if keep else "", match.start())


def _pairs(run: str, offset: int, function: frozenset[str]) -> Iterable[Word]:
    for match in _CONTENT_RUN.finditer(run):
        part = match.group()
        start = offset + match.start()
        if len(part) == 1 or "\u30a0" <= part[0] <= "\u30ff":  # a katakana word stays whole
            yield Word(part, "" if part in function else part, start)
            continue
        for i in range(len(part) - 1):
            pair = part[i : i + 2]
            grammar = pair in function or (pair[0] in function and pair[1] in function)
            yield Word(pair, "" if grammar else pair, start + i)


def _names(found: tuple[Word, ...], language: str) -> Iterable[str]:
    """Capitalised content words, but not the first of a sentence unless another capital follows it at once."""
    if language == "de":
        return
    for i, word in enumerate(found):
        if not word.term or not word.capital or word.text[0] >= "\u3040":
            continue
        follower = found[i + 1] if i + 1 < len(found) else None
        if i > 0 or (follower is not None and follower.capital and follower.term):
            yield word.term
