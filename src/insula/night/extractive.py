"""A summary without a model: the sentences that hold most of what was talked about, as said by whom."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from insula.night.grounding import frame
from insula.night.transcript import Spoken
from insula.redaction import without_markers
from insula.screening import screen
from insula.text.analysis import Analysis, analyse, without_code

SENTENCES = 3
FEWEST_TOPICS, TOPICS = 3, 7
QUOTE_CHARS = 200
"""Characters of one quoted sentence."""
FEWEST_TERMS = 2
"""Content words of a sentence that says something by itself."""

_VOICE = {"user": 1.0, "assistant": 0.6, "tool": 0.3}
"""How much a line counts by who said it: a session is about what the user came for. Set by hand."""
_DAMPING = 3
"""Words by which every sentence is taken to be longer: the mean weight alone would choose the shortest."""
_TOLD = 0.3
"""What a word still weighs when a sentence that holds it was chosen."""
_LONG_WORD = 6
"""Letters from which a word is as telling as any; frequent words are short (Zipf)."""
_NAME = 1.5
"""How much more telling a name is."""
_UNSPACED = "\u3040"
"""From this character on scripts write no spaces, and a term is a pair of characters or a word of katakana."""


class Extract(NamedTuple):
    """What a session was about, in its own words."""

    summary: str
    topics: tuple[str, ...]


class _Part(NamedTuple):
    """A sentence with its place, its speaker and its distinct terms."""

    place: int
    by: str
    text: str
    terms: frozenset[str]


class _Read(NamedTuple):
    by: str
    analysis: Analysis


def extract(lines: Sequence[Spoken]) -> Extract | None:
    """The two or three central sentences of a session and its most telling words; None where nothing can be read."""
    found = [_Read(line.by, _analysed(line.raw)) for line in lines]
    weights = _weights(found)
    chosen = _central(_parts(found), weights)
    quotes = [_quote(part.text, part.by) for part in chosen] or _first(lines)
    if not quotes:
        return None
    return Extract(" ".join(quotes), telling(found, weights))


def _analysed(raw: str) -> Analysis:
    """The prose of a line; of its code where it is nothing else."""
    text = without_markers(raw)
    prose = analyse(without_code(text))
    return prose if prose.terms else analyse(text)


def _weights(found: Sequence[_Read]) -> dict[str, float]:
    """How much was said about each term: a line counts once, by who said it."""
    weights: defaultdict[str, float] = defaultdict(float)
    for read in found:
        for term in set(read.analysis.terms):
            weights[term] += _VOICE.get(read.by, 0.0)
    return dict(weights)


def _parts(found: Sequence[_Read]) -> list[_Part]:
    every = [(read.by, sentence) for read in found for sentence in read.analysis.sentences]
    parts = [_Part(place, by, part.text, frozenset(part.terms)) for place, (by, part) in enumerate(every)]
    return [part for part in parts if len(part.terms) >= FEWEST_TERMS] or [part for part in parts if part.terms]


def _central(parts: Sequence[_Part], weights: Mapping[str, float]) -> list[_Part]:
    """Sentences in order, each chosen for what those before it do not hold (SumBasic, Nenkova and Vanderwende 2005)."""
    left = dict(weights)
    rest: list[_Part] = list(parts)
    chosen: list[_Part] = []
    while rest and len(chosen) < SENTENCES:
        best = max(rest, key=lambda part: (_score(part, left), -part.place))
        chosen.append(best)
        rest = [part for part in rest if part.text != best.text]
        left.update({term: left[term] * _TOLD for term in best.terms})
    return sorted(chosen, key=lambda part: part.place)


def _score(part: _Part, weights: Mapping[str, float]) -> float:
    said = sum(weights[term] for term in part.terms) / (len(part.terms) + _DAMPING)
    return said * _VOICE.get(part.by, 0.0)


def _quote(text: str, by: str) -> str:
    return f"“{screen(text, QUOTE_CHARS).text}” ({by})"


def _first(lines: Sequence[Spoken]) -> list[str]:
    """The first lines as they are, of a session without words ("👍")."""
    return [_quote(line.text, line.by) for line in lines if line.text][:SENTENCES]


def telling(found: Sequence[_Read], weights: Mapping[str, float]) -> tuple[str, ...]:
    """The most telling terms, as words: those of the user, and others only where these are few."""
    written, names = _written(found)
    score = {
        term: weights[term] * _specific(term, word) * (_NAME if term in names else 1.0)
        for term, word in written.items()
    }
    users = {term for read in found if read.by == "user" for term in read.analysis.terms}
    chosen: list[str] = []
    for term in sorted(score, key=lambda term: (term not in users, -score[term], term)):
        enough = len(chosen) >= (TOPICS if term in users else FEWEST_TOPICS)
        if not enough and not _overlaps(term, chosen):
            chosen.append(written[term])
    return tuple(chosen)


def _written(found: Sequence[_Read]) -> tuple[dict[str, str], frozenset[str]]:
    """Each term as it is written most often, and which of them are names."""
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    names: set[str] = set()
    for read in found:
        names |= read.analysis.names
        for word in (word for part in read.analysis.sentences for word in part.words):
            if word.term and not word.term.isdigit() and word.term not in frame():
                forms[word.term][word.text] += 1
    words = {term: counts.most_common(1)[0][0] for term, counts in forms.items()}
    return {t: w if t in names else w.lower() for t, w in words.items()}, frozenset(names)


def _specific(term: str, word: str) -> float:
    return 1.0 if term[0] >= _UNSPACED else min(1.0, len(word) / _LONG_WORD)


def _overlaps(term: str, chosen: Sequence[str]) -> bool:
    """Whether a pair of characters shares a word with one that was chosen: 東京, 京都."""
    if term[0] < _UNSPACED:
        return False
    return any(term[0] == other[-1] or term[-1] == other[0] for other in chosen)
