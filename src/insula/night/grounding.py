"""Whether what a model understood may be kept (R7), and may stand in a prompt at all (R9).

It may where the user's own words bear it out (`support`), where nothing that they want of all answers speaks against
it, and where it does not only repeat what a tool returned. A summary is compared word by word, by stems and without
function words, with the session that it is of.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from insula.memory.storage.vectors import Embed
from insula.night.support import Saying, contradicts, read_text, supporting, unsupported
from insula.redaction import kinds
from insula.screening import screen
from insula.text.analysis import Word, analyse, fold, term_of, words

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
    """The part of the text that is the user's own, where we put it into a sentence of ours."""
    quotes: tuple[str, ...] = ()
    """The user's words that it rests on, as its author has them."""


class Dropped(NamedTuple):
    """What was not kept, and why."""

    item: Item
    reason: str


class Ground(NamedTuple):
    """What a session holds that an item may rest on."""

    said: tuple[Saying, ...]
    foreign: frozenset[tuple[str, ...]] = frozenset()
    """Passages of what a tool returned or the user pasted, and did not say."""


class Evidence(NamedTuple):
    """The words of a session, in all the forms in which they can be met again."""

    forms: frozenset[str]
    languages: frozenset[str]


def evidence(said: Iterable[str]) -> Evidence:
    """What the lines of a transcript hold."""
    forms, languages = _forms_of(said)
    return Evidence(frozenset(forms), frozenset(languages))


def share(text: str, held: Evidence) -> float:
    """The share in [0, 1] of the content words of `text` that `held` has; 0 where it has no content words.

    Words of the frame ("user", "answer") count only where they were found: they are neither here nor there.
    """
    found = {word.term or word.text.lower(): _forms(word, held.languages) for word in _telling(text, held.languages)}
    met = {key for key, forms in found.items() if forms & held.forms}
    counted = met | {key for key, forms in found.items() if not forms & frame()}
    return len(met) / len(counted) if counted else 0.0


def sift(
    items: Sequence[Item], ground: Mapping[int, Ground], preferences: Sequence[str], embed: Embed | None
) -> tuple[list[Item], list[Dropped]]:
    """The items that may be kept, each with only the sessions that bear it out, and those that may not."""
    kept: list[Item] = []
    dropped: list[Dropped] = []
    for item in items:
        if reason := unfit(item, ground):
            dropped.append(Dropped(item, reason))
            continue
        text = read_text(" ".join(item.text.split()), embed, bids=bool(item.section))
        said = {session: ground[session].said for session in item.sessions}
        if reason := unsupported(text, item.quotes, said):
            dropped.append(Dropped(item, reason))
        elif item.section and contradicts(text, preferences, embed):
            dropped.append(Dropped(item, "says the opposite of what the user wants"))
        else:
            kept.append(item._replace(text=text.text, sessions=supporting(text, item.quotes, said)))
    return kept, dropped


def unfit(item: Item, ground: Mapping[int, Ground]) -> str:
    """Why an item may not be kept whatever it means, in a word or two; empty where it may."""
    if unsafe := harm(item.text):
        return unsafe
    if not any(map(str.isalnum, item.text)):
        return "says nothing"
    if len(item.text) > ITEM_CHARS:
        return "too long"
    if not item.sessions:
        return "cites nothing"
    if not ground.keys() >= set(item.sessions):
        return "unknown session"
    foreign = frozenset[tuple[str, ...]]().union(*(ground[session].foreign for session in item.sessions))
    return "foreign" if echoes(item.text, foreign) else ""


def echoes(text: str, foreign: frozenset[tuple[str, ...]]) -> bool:
    """Whether a text mostly repeats what a tool returned or the user pasted: that is nobody's experience."""
    found = passages(text)
    return bool(found) and len(found & foreign) >= ECHOES * len(found)


def passages(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of `ECHO` words of a text; where words are not told apart, of characters."""
    parts = _PART.findall(text.lower())
    return frozenset(tuple(parts[i : i + ECHO]) for i in range(len(parts) - ECHO + 1))


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
    raw: dict[str, str] = json.loads((files("insula.night") / "frame.json").read_text("utf-8"))
    found: set[str] = set()
    for language, listed in raw.items():
        for word in words(listed, language):
            found |= {word.term, fold(word.text.lower())}
    return frozenset(found - {""})
