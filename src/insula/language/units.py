"""The pieces of a message that the heads read, each by its own vector: sentences in the user's own words, and clauses.

A question often stands behind something else: "Write me an out-of-office note, and when is my flight?"
"""

import re
from collections.abc import Iterator

from insula.text.analysis import Analysis, analyse_text
from insula.text.grammar import UNSPACED
from insula.text.pasted import told_words

MOST = 12
"""Pieces of one message: the first and the last sentences, where most of what is asked stands."""
LONG, LONG_UNSPACED = 40, 16
"""Characters from which a sentence is read clause by clause, too."""
_WORDS, _SIGNS = 4, 5
"""Words, or characters where words are not spaced, that a clause has at least."""
_BETWEEN = re.compile(r"(?<=[,;:—–，、；：])\s*")


def split_units(analysis: Analysis) -> tuple[str, ...]:
    """The pieces of a message, without what is pasted or quoted in it; at most `MOST`."""
    told = told_words(analysis.text)
    if not told:
        return ()
    own = analysis if told == analysis.text.strip() else analyse_text(told, default=analysis.language)
    said = [sentence.text for sentence in own.sentences if any(map(str.isalpha, sentence.text))]
    half = MOST // 2
    kept = said if len(said) <= MOST else [*said[:half], *said[-half:]]
    clauses = (clause for text in kept for clause in _split_clauses(text, own.language))
    return tuple(dict.fromkeys((*kept, *clauses)))[:MOST]


def _split_clauses(text: str, language: str) -> Iterator[str]:
    unspaced = language in UNSPACED
    if len(text) <= (LONG_UNSPACED if unspaced else LONG):
        return
    parts = [part.strip() for part in _BETWEEN.split(text)]
    long = [part for part in parts if (len(part) >= _SIGNS if unspaced else len(part.split()) >= _WORDS)]
    if len(parts) > 1:
        yield from long
