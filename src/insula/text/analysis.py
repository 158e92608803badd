"""A text, analysed once: language, sentences, terms, names.

The same terms are indexed, searched, scored and assessed, so that every part of Insula means the same by "word".
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from insula.caches import clear_on_erasure
from insula.errors import StoreFull
from insula.text.tables import load_table

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier
    from snowballstemmer import Stemmer

LANGUAGES = ("en", "es", "fr", "de", "pt", "it", "zh", "ja")
"""The languages with function words, stems and question types of their own."""

UNKNOWN = "unknown"
MIN_WORDS = 3
"""Below this many words a language is not guessed ("ok" would be Afrikaans), unless a question gives it away."""

SURE_WORDS = 6
"""Below this many words the identifier must be sure (`SURE`), or a function word must agree: names have no language."""

SURE = 0.6
"""The identifier's probability from which it is believed of a short text (wrong on 2 of 1,000 such English phrases)."""

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
_TERM_CACHE = 65_536
_DETECT_CACHE = 512

_PLAIN_SHARE = 0.25
"""A text with this share of votes for one language, and `_PLAIN_LEAD` times those for any other, is in it."""

_PLAIN_LEAD = 1.6
_PLAIN_WORDS = 2.5
_FEW_WORDS, _FEW_SHARE = 1.5, 0.5

_KANA_SHARE = 12
"""Japanese has at least one kana in so many characters; Chinese may hold one as an ornament."""

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\uac00-\ud7af\u1100-\u11ff"
_WORD = re.compile(rf"[{_CJK}{_KANA}々ー]+|[{_HANGUL}]+|[^\W_{_CJK}{_KANA}{_HANGUL}]+")
_CONTENT_RUN = re.compile(rf"[{_CJK}々]+|[\u30a0-\u30ffー]+")
_SPACED_WORD = re.compile(r"[^\W_]+")
_UNSPACED_CHAR = re.compile(rf"[{_CJK}{_KANA}{_HANGUL}]")
_CJK_RUN = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+")
_KANA_CHAR = re.compile("[\u3040-\u30ff]")
_HANGUL_CHAR = re.compile("[\uac00-\ud7af]")
_LATIN = re.compile("[A-Za-z]")
_FENCE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_END = re.compile(
    r"[.!?…؟।](?<![.!?…؟।]{2})[.!?…؟।]*+(?:[\"'”’»)\]]*+\s+|(?=¿))|[。！？]++[」』”）]*|(?<![?!])[?!]++(?=[\u3040-\u30ff\u3400-\u9fff「『《])|\n\s*"
)
_NO_END = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|\d{1,2}|Dr|Mr|Mrs|Ms|Prof|St|vs|etc|e\.g|i\.e|approx|Sr|Sra|Dra|Ud|p\.ej|z\.B|d\.h|bzw|Nr|ca"
    r"|Mme|cf|p\.ex|(?:[A-Z]\.)+[A-Z])\.$"
)
_NUMBERED = re.compile(r"(?!\s*\d{1,2}[.)]\s)[^\n]*[^\W\d][^\n]*(?<!:)\s\d{1,2}\.$")
_NONE = frozenset[str]()
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202d\u202e]")
"""What a terminal obeys, and what shows a text in another order than it has: an override of its direction."""


def clean_text(text: str) -> str:
    """`text` as it can be stored and sent: no lone surrogates, no control characters, line ends as `\\n`."""
    text = _SURROGATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def without_code(text: str) -> str:
    """`text` with fenced blocks and inline code taken out."""
    return _FENCE.sub(" ", text) if "`" in text else text


class AnalysedWord(NamedTuple):
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
    words: tuple[AnalysedWord, ...]
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
def _load_lexicon() -> dict[str, dict[str, frozenset[str]]]:
    lexicon: dict[str, dict[str, str]] = load_table("lexicon.json")
    return {code: {name: frozenset(words.split()) for name, words in lists.items()} for code, lists in lexicon.items()}


def words_of(kind: str, language: str) -> frozenset[str]:
    """The `function`, `first` or `second` (person) words of a language; those of English where it has none."""
    lexicon = _load_lexicon()
    return lexicon.get(language, lexicon["en"])[kind]


@cache
def _load_identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # 0.4 s and 90 MB: once, and only when asked

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:  # it is unpacked into a temporary file
        raise StoreFull(
            f"The model that tells languages cannot be unpacked ({error.strerror or error}); make room in the folder "
            "for temporary files, or name another with TMPDIR."
        ) from error


def warm_up() -> None:
    """Load the language model now (0.4 s), so that the first message that needs it does not wait."""
    _load_identifier()
    detect_language("This sentence is here to be recognised.")
    stem_word("sentences", "en")


def detect_language(text: str, default: str = UNKNOWN, *, least: float = 0.0) -> str:
    """The language of `text` as an ISO 639-1 code; `default` where it is mostly code, or too short to tell.

    Plain texts of the spaced languages of `LANGUAGES` are told by their function words alone, which costs a fifth
    of asking the identifier.

    Args:
        text: any text; its first 600 characters count.
        default: what to return where the language cannot be told.
        least: the probability in [0, 1] below which the identifier is not believed.
    """
    prose = without_code(text)
    if len(prose) * 2 < len(text):
        return default
    return _detect_sample(prose[:_DETECT_CHARS], least, default) or default


@clear_on_erasure
@lru_cache(maxsize=_DETECT_CACHE)
def _detect_sample(sample: str, least: float, default: str) -> str | None:
    if (script := _by_script(sample)) is not None:
        return script
    words = _WORD.findall(sample.lower())
    if len(words) < MIN_WORDS:
        return _of_question(sample, words)
    plain, votes = _by_function_words(words)
    if plain is not None:
        return plain
    language, probability = _load_identifier().classify(sample)
    if probability < least:
        return None
    if len(words) >= SURE_WORDS or probability >= SURE or votes.get(language, 0) or not _LATIN.search(sample):
        return language
    return None if least else _likeliest_of_voted(sample, votes, default)


def _likeliest_of_voted(sample: str, votes: dict[str, float], default: str) -> str | None:
    """Of the languages that most function words of a short text speak for the default, or the one that the identifier
    holds likelier: "Call me Nina." is English to who speaks it, though "me" is Portuguese as well.

    Asked of all, the identifier takes "Olvida mi alergia." for Portuguese, which has no "mi".
    """
    most = max(votes.values())
    voted = [language for language, _ in _load_identifier().rank(sample) if votes.get(language, 0) == most > 0]
    return default if default in voted else next(iter(voted), None)


def _of_question(text: str, words: list[str]) -> str | None:
    """The language of a question too short to guess from, where a word of it is a function word of one alone."""
    if "¿" in text:
        return "es"
    languages = {_function_index().get(word, ()) for word in words} - {()} if "?" in text else set[tuple[str, ...]]()
    return next(iter(languages))[0] if len(languages) == 1 and all(len(pair) == 1 for pair in languages) else None


def _by_script(text: str) -> str | None:
    """Chinese, Japanese and Korean tell themselves apart by their characters, however short the text is."""
    if text.isascii():
        return None
    cjk = sum(map(len, _CJK_RUN.findall(text)))
    if not cjk or cjk * 3 < sum(map(str.isalpha, text)):
        return None
    if len(_HANGUL_CHAR.findall(text)) * 3 >= cjk:
        return "ko"
    return "ja" if len(_KANA_CHAR.findall(text)) * _KANA_SHARE >= cjk else "zh"


@cache
def _function_index() -> dict[str, tuple[str, ...]]:
    """Function word -> the spaced languages that have it."""
    index: dict[str, tuple[str, ...]] = {}
    for language in _STEMMERS:
        for word in words_of("function", language):
            index[word] = (*index.get(word, ()), language)
    return index


def _by_function_words(words: list[str]) -> tuple[str | None, dict[str, float]]:
    """The language whose function words make up enough of a text, if one clearly does; and every language's votes.

    A word of one language alone is a whole vote, one that several share ("la") is half a vote for each.
    """
    index = _function_index()
    votes = dict.fromkeys(_STEMMERS, 0.0)
    for word in words:
        if languages := index.get(word):
            vote = 1.0 if len(languages) == 1 else 0.5
            for language in languages:
                votes[language] += vote
    first, second = sorted(votes.values(), reverse=True)[:2]
    enough = first >= _PLAIN_WORDS and first >= _PLAIN_SHARE * len(words)
    if (enough or first >= max(_FEW_WORDS, _FEW_SHARE * len(words))) and first >= _PLAIN_LEAD * second:
        return max(votes, key=votes.__getitem__), votes
    return None, votes


@cache
def _load_stemmer(language: str) -> "Stemmer":
    from snowballstemmer import stemmer

    return stemmer(_STEMMERS[language])


def stem_word(word: str, language: str) -> str:
    """The stem of a lower-case word, without accents ("café" and "cafe" are one term)."""
    if language in _STEMMERS:
        word = _load_stemmer(language).stemWord(word)
    return fold_accents(word)


class _Terms(dict[str, str]):
    """Word as written -> its term in one language; a term is worked out once."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.function = words_of("function", language)

    def __missing__(self, run: str) -> str:
        if len(self) >= _TERM_CACHE:
            self.clear()
        lower = run.lower()
        if lower != run:
            self[run] = term = self[lower]
            return term
        content = lower not in self.function and (len(lower) > 1 or lower.isdigit()) and lower[0] < "\u3040"
        self[run] = term = stem_word(lower, self.language) if content or _HANGUL_CHAR.match(run) else ""
        return term


@clear_on_erasure
@cache
def _terms_in(language: str) -> _Terms:
    return _Terms(language)


def analyse_text(text: str, *, default: str = "en") -> Analysis:
    """Analyse `text` whole; `default` is the language assumed where it cannot be told."""
    language = detect_language(text, default)
    return Analysis(
        text, language, tuple(analyse_sentence(piece, language) for piece in _split_sentences(text, language))
    )


def _split_sentences(text: str, language: str) -> Iterator[str]:
    """The sentences of `text` as they stand in it."""
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, match) or _ends_in_number(text[start:], match.start() - start, language):
            if piece := text[start : match.end()].strip():
                yield piece
            start = match.end()
    if piece := text[start:].strip():
        yield piece


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    """Whether a mark ends a sentence: not after "e.g." or an initial, nor within one that goes on after a quotation."""
    mark = match.group()
    if "\n" in mark:
        return True
    if mark[0] == "." and mark[1:2].isspace():
        return not _NO_END.search(text, max(0, match.start() - 12), match.start() + 1)
    quoted = mark.rstrip()[-1] not in ".!?…؟।。！？"
    return not (quoted and text[match.end() : match.end() + 1].islower())


def _ends_in_number(text: str, end: int, language: str) -> bool:
    """Whether the full stop at `end` is one behind a number ("I take a 39. I live in Graz."), and makes it no ordinal.

    A number that begins a line, and others in that line, count items. German has ordinals ("9. November"): there a
    word that is no noun must follow.
    """
    told = _NUMBERED.match(text, text.rfind("\n", 0, end) + 1, end + 1)
    following = _SPACED_WORD.match(text, end + 2) if told and text[end + 1 : end + 2].isspace() else None
    if following is None or language not in LANGUAGES or not following.group()[0].isupper():
        return False
    return language != "de" or following.group().lower() in words_of("function", language)


@clear_on_erasure
@lru_cache(maxsize=512)
def analyse_sentence(text: str, language: str) -> Sentence:
    """Analyse one sentence in a known language; a turn asks of each twice, and again of those before it."""
    words = tuple(split_words(text, language))
    return Sentence(text, words, tuple(word.term for word in words if word.term), _find_names(words, language))


def content_words(text: str, language: str) -> frozenset[str]:
    """The distinct content words of `text` in lower case and unstemmed: a fifth of the cost of its terms.

    Where words are not spaced these are its terms.
    """
    if _UNSPACED_CHAR.search(text):
        return frozenset(word.term for word in split_words(text, language) if word.term)
    words = set(_SPACED_WORD.findall(text.lower())) - words_of("function", language)
    return frozenset(word for word in words if len(word) > 1 or word.isdigit())


def term_of(word: str, language: str) -> str:
    """The term of one spaced word; empty for a function word."""
    return _terms_in(language)[word]


def fold_accents(text: str) -> str:
    """`text` without accents, as terms are."""
    if text.isascii():
        return text
    return _combining_marks().sub("", unicodedata.normalize("NFKD", text)) or text


@cache
def _combining_marks() -> re.Pattern[str]:
    """The characters that combine with the one before; those beyond the basic plane are no letters' marks."""
    return re.compile(f"[{''.join(ch for ch in map(chr, range(0x300, 0x10000)) if unicodedata.combining(ch))}]+")


def split_words(text: str, language: str) -> Iterator[AnalysedWord]:
    """The words of `text` in order; a run of Chinese or Japanese yields its overlapping pairs of characters."""
    table = _terms_in(language)
    for match in _WORD.finditer(text):
        run = match.group()
        if run[0] >= "\u3040" and _CONTENT_RUN.search(run):
            yield from _character_pairs(run, match.start(), table.function)
        else:
            term = table[run]
            if not term and run in _NAMES_LIKE_FUNCTION_WORDS and match.start() > 0:
                term = stem_word(run.lower(), language)
            yield AnalysedWord(run, term, match.start())


def _character_pairs(run: str, offset: int, function: frozenset[str]) -> Iterator[AnalysedWord]:
    for match in _CONTENT_RUN.finditer(run):
        part = match.group()
        start = offset + match.start()
        if len(part) == 1 or "\u30a0" <= part[0] <= "\u30ff":  # a katakana word stays whole
            yield AnalysedWord(part, "" if part in function else part, start)
            continue
        for i in range(len(part) - 1):
            pair = part[i : i + 2]
            grammar = pair in function or (pair[0] in function and pair[1] in function)
            yield AnalysedWord(pair, "" if grammar else pair, start + i)


def _find_names(words: tuple[AnalysedWord, ...], language: str) -> frozenset[str]:
    """Capitalised content words, but not the first of a sentence unless another capital follows it at once."""
    if language == "de":
        return _NONE
    names = {word.term for word in words[1:] if word.term and word.text[0].isupper()}
    if names and words[0].term and words[0].capital and words[1].capital and words[1].term:
        names.add(words[0].term)
    return frozenset(names)


def surface_forms(terms: Iterable[str], texts: Sequence[str]) -> list[str]:
    """Some terms as the texts that they come from write them: a stem ("kilometr") is no word, and nobody reads one.

    A term that stands in none of them is left out.
    """
    forms: dict[str, str] = {}
    for text in texts:
        for sentence in analyse_text(text).sentences:
            for word in sentence.words:
                forms.setdefault(word.term, word.text.lower())
    together = " ".join(texts)
    words = (forms.get(term) or (term if _is_whole(term, together) else "") for term in terms)
    return list(dict.fromkeys(word for word in words if word))


def _is_whole(term: str, text: str) -> bool:
    """Whether a term is what was written: of Chinese and Japanese, which are not stemmed."""
    return not term.isascii() and term in text
