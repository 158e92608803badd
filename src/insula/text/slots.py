"""What of an answer's manner some words speak of: its language, length, layout, units, and which way.

`slots.json` maps "slot.value" to alternatives of a regular expression, under a language or under "any"; `wishing.json`
holds what negates. A negated value of a pair ("Fahrenheit means nothing to me") is the other one.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from insula.text.analysis import LANGUAGES, detect
from insula.text.grammar import UNSPACED

MAX_CHARS = 600
"""A text is read up to here."""
PAIRS = {
    "temperature": ("celsius", "fahrenheit"),
    "system": ("metric", "imperial"),
    "clock": ("24", "12"),
    "length": ("short", "long"),
    "level": ("simple", "technical"),
    "formality": ("formal", "informal"),
    "case": ("lower", "upper"),
    "spelling": ("british", "american"),
}
"""Slots of two values: not the one is the other. Those with `on` and `off` are of the same kind."""
_GAP = 2
"""Words between what is spoken of and the verdict on it ("smileys in answers make me cringe")."""
_SWITCH = ("on", "off")
_EDGE = " \t\"'“”„‘’«»「」『』.,!?"
_BOUNDARY = re.compile(r"[,;:.!?…()，、；：。！？–—]| - ")
_NUMBER = re.compile(r"\d+|[一二三四五六七八九十百两]+")
_NAMED = re.compile(r"[a-z,] [A-Z][a-z]+ $")
_AMOUNT = re.compile(r"(?:\d|[一二三四五六七八九十百两几])[ \t]?\Z")
_MEASURED = frozenset({"system", "currency", "temperature"})
"""Slots of units: with an amount before it a unit measures something, and nothing is said of units."""
OF_TEXT = frozenset({"name", "opening", "closing", "word"})
"""Slots whose value is the person's own word."""


class Slot(NamedTuple):
    """One thing that some words say of the manner of an answer."""

    name: str
    value: str
    affirmed: bool
    """Whether it is wanted; of a slot of two values always, since not the one is the other."""
    said: str
    """The value that was named, wanted or not."""
    detail: str
    """A number, where the words say how much."""
    start: int
    end: int

    @property
    def wants(self) -> tuple[str, str, bool]:
        """What it asks for, whatever the words."""
        return self.name, self.value, self.affirmed


@lru_cache(maxsize=4_096)
def slots(text: str, language: str = "") -> tuple[Slot, ...]:
    """What a text says of the manner of an answer, in order; by the words of its own language where it is known."""
    plain = text[:MAX_CHARS].replace("’", "'")
    told = detect(plain, "") if not language else ""
    known = language if language in LANGUAGES else told
    if known in LANGUAGES and ((found := tuple(_apart(_found(plain, known)))) or known == language):
        return found
    read = (tuple(_apart(_found(plain, tongue))) for tongue in LANGUAGES)
    return max(read, key=_told, default=())


def without_slots(text: str, language: str) -> str:
    """A text without the words that speak of the manner of an answer."""
    left = text.replace("’", "'")
    for _, pattern in _patterns(language):
        left = pattern.sub(" ", left)
    return left


def _told(found: tuple[Slot, ...]) -> tuple[int, int]:
    """How much a reading tells: its slots, and how many of them its own words turn ("Sin emojis")."""
    return len(found), sum(slot.value != slot.said or not slot.affirmed for slot in found)


def _found(text: str, language: str) -> Iterator[Slot]:
    for key, pattern in _patterns(language):
        for match in pattern.finditer(text):
            name, _, value = key.partition(".")
            if name in _MEASURED and (
                _AMOUNT.search(text, max(0, match.start() - 2), match.start()) or _is_of_a_name(text, match)
            ):
                continue
            said = _own(match) if name in OF_TEXT else ""
            yield _read(text, language, name, said or value, match)


def _is_of_a_name(text: str, match: re.Match[str]) -> bool:
    """Whether a word for a unit ends a name: "say hello to Copper Mile"."""
    return match[0][:1].isupper() and _NAMED.search(text, 0, match.start()) is not None


def _own(match: re.Match[str]) -> str:
    """The person's own word in a match, in small letters; empty where it has none."""
    return next((word.strip(_EDGE).casefold() for word in match.groupdict().values() if word), "")


def _read(text: str, language: str, name: str, value: str, match: re.Match[str]) -> Slot:
    absolute, value = value.endswith("!"), value.rstrip("!")
    if name == "name":
        value = _shortened(value, language)
    wanted = absolute or not _negated(text, language, match.start(), match.end())
    number = _NUMBER.search(match[0]) if absolute else None
    pair = _SWITCH if value in _SWITCH else PAIRS.get(name)
    meant = pair[1 - pair.index(value)] if pair and not wanted else value
    return Slot(
        name,
        meant,
        wanted or pair is not None,
        value,
        number[0] if number else match[0].lower() if absolute else "",
        *match.span(),
    )


def _shortened(name: str, language: str) -> str:
    """A name without the words that go on behind it ("Captain when you answer")."""
    stops = says("name_stop", language)
    words: list[str] = []
    for word in name.split():
        if words and stops.fullmatch(word):
            break
        words.append(word)
    return " ".join(words)


def _negated(text: str, language: str, start: int, end: int) -> bool:
    """Whether what stands around a place turns it: a negation before it in its clause, or a verdict behind it."""
    edges = [0, *(boundary.end() for boundary in _BOUNDARY.finditer(text, 0, start))]
    before = text[edges[-1] : start]
    turns = [turn.end() for turn in says("turn", language).finditer(before)]
    if says("negative", language).search(before[turns[-1] if turns else 0 :]):
        return True
    if not turns and len(edges) > 1 and _stops(text[edges[-2] : edges[-1] - 1], language):
        return True
    follows = _BOUNDARY.search(text, end)
    after = text[end : follows.start() if follows else len(text)].lstrip()
    verdict = says("negative_after", language).search(after)
    if verdict is None or language in UNSPACED:
        return verdict is not None and verdict.start() == 0
    return len(after[: verdict.start()].split()) <= _GAP


def _stops(clause: str, language: str) -> bool:
    """Whether a clause bids to stop and leaves to the next one what ("Hör auf, mir Listen zu schicken")."""
    ends = [match.end() for match in says("stop", language).finditer(clause)]
    return bool(ends) and not clause[ends[-1] :].strip()


def _apart(found: Iterable[Slot]) -> Iterator[Slot]:
    """The slots in order, without those that lie within a longer one, or say again what one before them said."""
    kept: list[Slot] = []
    for slot in sorted(found, key=lambda one: (one.start - one.end, not one.detail)):
        if not any(slot.start < other.end and other.start < slot.end for other in kept):
            kept.append(slot)
    heard: set[tuple[str, str, bool]] = set()
    wanted = {slot.name for slot in kept if slot.affirmed}
    for slot in sorted(kept, key=lambda one: one.start):
        if slot.wants not in heard and (slot.affirmed or slot.name not in wanted or slot.name in ("name", "word")):
            heard.add(slot.wants)
            yield slot


@cache
def says(what: str, language: str) -> re.Pattern[str]:
    """A pattern of `wishing.json`."""
    phrases = _wishing()[language][what] or "(?!)"
    return re.compile(phrases if language in UNSPACED else rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)


@cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    raw: dict[str, dict[str, str]] = json.loads((files("insula.text") / "slots.json").read_text("utf-8"))
    listed = [*raw["any"].items(), *raw[language].items()]
    listed += [("length.short!", _wishing()[language]["limit"]), ("name.", _wishing()[language]["name"])]
    edge = "[A-Za-z0-9_]" if language in UNSPACED else r"\w"
    whole = language not in UNSPACED
    return tuple(
        (key, re.compile(rf"(?<!{edge})(?:{each})(?!{edge})" if whole or each.isascii() else each, re.IGNORECASE))
        for key, each in listed
    )


@cache
def _wishing() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.text") / "wishing.json").read_text("utf-8"))
