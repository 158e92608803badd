"""How far two corrections ask for the same, told from their words."""

import re
from collections.abc import Iterator

from insula.text.analysis import LANGUAGES, detect_language, split_words
from insula.text.correction_phrases import Phrases, load_phrases
from insula.text.grammar import UNSPACED

MAX_CHARS = 400
"""They are compared up to here."""

_LIGHT = 0.25
"""What a word counts that every correction may hold."""

_CLAUSES = re.compile(r"[,;:，、；：–—.!?。！？\n]")


def wish_likeness(text: str, other: str) -> float:
    """How far two corrections ask for the same, in [0, 1]: their content words, each with whether it is negated.

    "Don't use emojis" and "no emojis, please" are alike; "use emojis" and "don't use emojis" are not. Words that every
    one holds ("use", "answer", "always") count a quarter.
    """
    first, second = known_language(text[:MAX_CHARS]), known_language(other[:MAX_CHARS])
    tokens = _signed_stems(text[:MAX_CHARS], first or second or "en")
    others = _signed_stems(other[:MAX_CHARS], second or first or "en")
    total = sum(tokens.values()) + sum(others.values())
    shared = sum(tokens[token] + others[token] for token in tokens.keys() & others.keys())
    return shared / total if total else 0.0


def known_language(text: str) -> str:
    """The language of a text where it can be told and has phrases, else nothing."""
    language = detect_language(text)
    return language if language in LANGUAGES else ""


def _signed_stems(text: str, language: str) -> dict[tuple[str, bool], float]:
    """Stems of content words, each with whether it is negated, and their weights."""
    known = load_phrases(language)
    tokens: dict[tuple[str, bool], float] = {}
    for clause in _CLAUSES.split(text.lower().replace("’", "'")):
        for stem, surface, negated in _sign_words(clause, language, known):
            tokens[stem, negated] = _LIGHT if surface in known.generic else 1.0
    return tokens


def _sign_words(clause: str, language: str, known: Phrases) -> Iterator[tuple[str, str, bool]]:
    if language in UNSPACED:
        negated = any(word in clause for word in known.negators)
        for word in split_words(clause, language):
            if word.term and not any(word.text in negator for negator in known.negators):
                yield word.term, word.text, negated
        return
    # "don't" would come apart at its apostrophe
    words = list(split_words(clause.replace("n't", "nt"), language))
    marks = {word.replace("'", "") for word in known.negators}
    negated = known.whole and any(word.text in marks for word in words)
    for word in words:
        if word.text in marks:
            negated = True
        elif word.term or word.text in known.generic:
            yield word.term or word.text, word.text, negated
