"""A response as the questions of its message see it: its words, in whatever form, and its sentences."""

import re
from collections.abc import Iterable
from functools import cached_property

from insula.text.analysis import content_words, fold_accents, term_of
from insula.text.grammar import UNSPACED

BRIEF = 3
"""Up to so many content words a reply is judged by its kind alone."""

_BEGINNING = 3
_OPENING = 600
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_JOINTS = re.compile(
    r"(?<=[.!?])\s+|(?<=[。！？])|\n+|;|[，、；]|,\s+(?=(?:and|but|y|e|et|und|aber|mas|ma|pero|mais|o|ou|oder|or)\s)"
)
_WORDS = re.compile(r"[^\W_]+")


class ReplyText:
    """A reply as the asks see it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.found = content_words(text, language)

    @cached_property
    def size(self) -> int:
        """How many content words it holds; of Chinese, whose runs yield a pair per character, half as many."""
        return len(self.found) // 2 if self.language == "zh" else len(self.found)

    def has_term(self, term: str) -> bool:
        """Whether a word with this term occurs; only words that begin alike are stemmed."""
        if term in self.found:
            return True
        return any(term_of(word, self.language) == term for word in self._by_beginning.get(term[:_BEGINNING], ()))

    def mentions_any(self, about: Iterable[str]) -> bool:
        """Whether any of some terms, or a word related to one, occurs."""
        return any(self.has_term(term) or self.has_related(term) for term in about)

    def has_related(self, term: str) -> bool:
        """Whether a longer form of a term, or one with the same first five letters, occurs."""
        return (len(term) > 3 and term in self._joined) or (len(term) > 6 and f" {term[:5]}" in self._joined)

    @cached_property
    def sentences(self) -> tuple["ReplyText", ...]:
        return self._split_pieces(_ENDS)

    @cached_property
    def clauses(self) -> tuple["ReplyText", ...]:
        """Its sentences, parted where they go on with "…, and"."""
        return self._split_pieces(_JOINTS)

    def _split_pieces(self, ends: re.Pattern[str]) -> tuple["ReplyText", ...]:
        return tuple(ReplyText(piece, self.language) for piece in ends.split(self.text) if any(map(str.isalnum, piece)))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word near its beginning, in lower case."""
        return frozenset(_WORDS.findall(self.text[:_OPENING].lower()))

    @cached_property
    def _joined(self) -> str:
        return fold_accents(" " + " ".join(self.found))

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = {}
        if self.language not in UNSPACED:
            for word in self.found:
                begins = word[:_BEGINNING]
                index.setdefault(begins if begins.isascii() else fold_accents(begins), []).append(word)
        return index
