"""Whether what was understood stands in what it cites (R7), and may stand in a prompt at all (R9).

An insight is compared word by word, by stems and without function words, with what its sessions hold: the user's lines
and the summary. Nothing here knows what a sentence means; it knows words that come from nowhere.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from insula.redaction import kinds
from insula.screening import screen
from insula.text.analysis import Word, analyse, fold, term_of, words

FOUND = 0.5
"""Share of the content words of an item that its sessions must hold together. Advice has words of its own ("verify",
"prefer") beside those of what it is about, so it cannot be near 1; at one half at most every second word is new."""
SUPPORTS = 0.25
"""Share that a session must hold by itself to count as one that the item cites: naming all sessions proves nothing."""
ECHO = 4
"""So many words in a row are a passage; in languages that write no spaces, so many characters."""
ECHOES = 0.5
"""Share of the passages of an item that stand in foreign text, from which it only repeats that."""
ITEM_CHARS = 300
"""A longer item is an essay; it is dropped and never cut."""

_LINK = re.compile(r"\w\w+://|\bwww\.\w|\]\(|\bmailto:|\bdata:\w+/", re.IGNORECASE)
_PART = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_JOINERS = frozenset("\u200c\u200d")
"""Two format characters that scripts and emoji need; `screen` sees where they are misused."""


class Item(NamedTuple):
    """Something proposed, with the sessions that it cites."""

    text: str
    sessions: tuple[int, ...]
    section: str = ""
    """Of SOUL.md; empty for an insight."""
    about: str = ""
    """The part of the text that is not a form of ours; empty where all of it is to be found."""


class Dropped(NamedTuple):
    """What was not kept, and why."""

    item: Item
    reason: str


class Evidence(NamedTuple):
    """The words of a session, in all the forms in which they can be met again."""

    forms: frozenset[str]
    languages: frozenset[str]
    foreign: frozenset[tuple[str, ...]] = frozenset()
    """Passages of what a tool returned or the user pasted, and did not say."""


NOTHING = Evidence(frozenset(), frozenset())


def evidence(said: Iterable[str], retold: str = "", foreign: Iterable[str] = ()) -> Evidence:
    """What a session holds.

    Args:
        said: lines of the transcript.
        retold: its summary. The words in which any summary speaks of any conversation ("the user asked") are evidence
            of nothing unless somebody said them.
        foreign: what tools returned and users pasted: the words that a summary has from there are evidence of nothing.
    """
    forms, languages = _forms_of(said)
    again, spoken = _forms_of([retold])
    others, _ = _forms_of(brought := list(foreign))
    passages = frozenset(each for text in brought for each in _passages(text))
    return Evidence(frozenset(forms | (again - frame() - others)), frozenset(languages | spoken), passages)


def together(several: Iterable[Evidence]) -> Evidence:
    """What some sessions hold together."""
    found = list(several)
    return Evidence(
        NOTHING.forms.union(*(one.forms for one in found)),
        NOTHING.languages.union(*(one.languages for one in found)),
        NOTHING.foreign.union(*(one.foreign for one in found)),
    )


def share(text: str, held: Evidence) -> float:
    """The share in [0, 1] of the content words of `text` that `held` has; 0 where it has no content words.

    Words of the frame ("user", "answer") count only where they were found: they are neither here nor there.
    """
    found = {word.term or word.text.lower(): _forms(word, held.languages) for word in _telling(text, held.languages)}
    met = {key for key, forms in found.items() if forms & held.forms}
    counted = met | {key for key, forms in found.items() if not forms & frame()}
    return len(met) / len(counted) if counted else 0.0


def sift(items: Sequence[Item], sessions: Mapping[int, Evidence]) -> tuple[list[Item], list[Dropped]]:
    """The items that may be kept, each with only the sessions that support it, and those that may not."""
    kept: list[Item] = []
    dropped: list[Dropped] = []
    for item in items:
        if reason := flaw(item, sessions):
            dropped.append(Dropped(item, reason))
        else:
            kept.append(item._replace(text=" ".join(item.text.split()), sessions=supporting(item, sessions)))
    return kept, dropped


def flaw(item: Item, sessions: Mapping[int, Evidence]) -> str:
    """Why an item may not be kept, in a word or two; empty where it may."""
    if unsafe := harm(item.text):
        return unsafe
    if len(item.text) > ITEM_CHARS:
        return "too long"
    if not item.sessions:
        return "cites nothing"
    if not sessions.keys() >= set(item.sessions):
        return "unknown session"
    held = together(sessions[session] for session in item.sessions)
    if echoes(item.about or item.text, held):
        return "foreign"
    return "" if share(item.about or item.text, held) >= FOUND else "ungrounded"


def supporting(item: Item, sessions: Mapping[int, Evidence]) -> tuple[int, ...]:
    """Those of the cited sessions that hold enough of the item by themselves; at least the best one."""
    shares = {session: share(item.about or item.text, sessions[session]) for session in set(item.sessions)}
    best = max(shares.values())
    return tuple(sorted(session for session, found in shares.items() if found >= min(SUPPORTS, best)))


def echoes(text: str, held: Evidence) -> bool:
    """Whether a text mostly repeats what a tool returned or the user pasted: that is nobody's experience."""
    passages = _passages(text)
    return bool(passages) and len(passages & held.foreign) >= ECHOES * len(passages)


def _passages(text: str) -> set[tuple[str, ...]]:
    """The runs of `ECHO` words of a text; where words are not told apart, of characters."""
    parts = _PART.findall(text.lower())
    return {tuple(parts[i : i + ECHO]) for i in range(len(parts) - ECHO + 1)}


def harm(text: str) -> str:
    """Why a text that a model wrote may not stand in any prompt; empty where it may (R9)."""
    if kinds(text):
        return "secret"
    if reasons := screen(text, max(1, len(text))).reasons:
        return reasons[0]
    if _LINK.search(text):
        return "link"
    if any(unicodedata.category(ch) in {"Cf", "Co", "Cs"} and ch not in _JOINERS for ch in text):
        return "hidden"
    return ""


def _telling(text: str, languages: Iterable[str]) -> list[Word]:
    """The content words of `text`; by the grammar of the evidence where it has none by its own."""
    default = min(languages, default="en")
    language = analyse(text, default=default).language
    found = list(words(text, language))
    telling = [word for word in found if word.term]
    return telling or [word for word in found if any(term_of(word.text, other) for other in languages)]


def _forms(word: Word, languages: Iterable[str]) -> set[str]:
    """The forms in which a word may stand in evidence of these languages."""
    terms = {term_of(word.text, language) for language in languages}
    return (terms | {word.term, fold(word.text.lower())}) - {""}


def _forms_of(texts: Iterable[str]) -> tuple[set[str], set[str]]:
    forms: set[str] = set()
    languages: set[str] = set()
    for text in texts:
        analysis = analyse(text)
        for sentence in analysis.sentences:
            forms.update(sentence.terms)
            forms.update(fold(word.text.lower()) for word in sentence.words)
        if analysis.terms:
            languages.add(analysis.language)
    return forms, languages


@cache
def frame() -> frozenset[str]:
    """The words in which summaries speak of conversations, and their stems."""
    raw: dict[str, str] = json.loads((files("insula.sleep") / "frame.json").read_text("utf-8"))
    found: set[str] = set()
    for language, listed in raw.items():
        for word in words(listed, language):
            found |= {word.term, fold(word.text.lower())}
    return frozenset(found - {""})
