"""How well a memory fits a cue: one number in [0, 1].

Each piece of evidence moves the log-odds that a memory holds what is asked, and only ever in one direction: term
overlap weighted by rarity, the same overlap in the turns around it (an answer follows the question it replies to),
who said it, about whom, when, the kind of answer it could give, embedding similarity, and base-level activation.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from insula.memory.activation import base_level, probability
from insula.memory.cue import Cue, Statistics, weights
from insula.text.questions import carries

SATURATION = 0.3
"""Term frequency at which a term has nearly half its weight; BM25's k1, normalised so that scores end at 1."""
LENGTH = 0.4
"""BM25's b: how far long memories are discounted (best of those tried on LoCoMo, see docs/benchmarks)."""
BEFORE, AFTER = 0.5, 0.25
"""Share of a term that the turn before, and the turn after, lend to a memory."""

EVIDENCE = {
    "speaker": 1.0,
    "owner": 0.6,
    "asserts": 1.5,
    "answer": 0.5,
    "moment": 0.7,
    "cosine": 3.0,
    "active": 0.6,
}
"""Log-odds that each further part adds; set by hand, none negative. See docs/benchmarks for what they reach."""
AGAINST = EVIDENCE["asserts"] + EVIDENCE["active"]
"""Taken off again, so that a fresh assertion with nothing else in its favour is worth its overlap."""

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_EDGE = 0.02


class Match(NamedTuple):
    """What of a cue stands in one text."""

    frequencies: Mapping[str, int]
    """Term of the cue -> how often."""
    length: int
    """Terms of the text."""
    owned: float
    """The best share of the cue's terms other than names in one sentence about the person asked."""
    others: float
    """The same in one sentence that is about somebody else."""


class Item(NamedTuple):
    """A candidate as it is read from the store, matched against the cue, with the turns around it."""

    id: int
    provenance: str
    kind: str
    speaker: str
    language: str
    content: str
    match: Match
    before: Match
    after: Match
    said_at: float
    uses: int
    used_at: str
    """Moments of use in seconds since the epoch, as a JSON list."""
    cosine: float = 0.0


NO_MATCH = Match({}, 0, 0.0, 0.0)


class Scored(NamedTuple):
    """A candidate's score in [0, 1] and the parts that made it, each in [0, 1]."""

    item: Item
    score: float
    parts: Mapping[str, float]


class Standing(NamedTuple):
    """The most that is said of the person asked, and of anybody else, among all candidates: both in [0, 1]."""

    owned: float = 0.0
    others: float = 0.0


def standing(items: Iterable[Item]) -> Standing:
    """Who the candidates are about; only what a user or a tool asserted counts."""
    asserted = [one.match for one in items if one.provenance in {"user", "tool"} and one.kind == "semantic"]
    return Standing(
        max((one.owned for one in asserted), default=0.0), max((one.others for one in asserted), default=0.0)
    )


def match(cue: Cue, content: Mapping[str, float], claims: str) -> Match:
    """Compare a cue with the claims of a text, as they are stored; `content` is from `cue.content_weights`."""
    frequencies: dict[str, int] = {}
    length, owned, others, forms = 0, 0.0, 0.0, cue.forms
    for line in claims.split("\n"):
        owners, _, terms = line.partition("\t")
        words = terms.split(" ")
        length += len(words)
        held = [forms[word] for word in words if word in forms]
        if not held:
            continue
        for term in held:
            frequencies[term] = frequencies.get(term, 0) + 1
        share = min(sum(content.get(term, 0.0) for term in set(held)), 1.0)
        if cue.owners.isdisjoint(owners.split(" ")):
            others = max(others, share)
        else:
            owned = max(owned, share)
    return Match(frequencies, length, owned, others)


def rank(cue: Cue, items: Sequence[Item], statistics: Statistics, now: float, limit: int) -> list[Scored]:
    """The best `limit` of `items`, best first; those without any overlap or similarity are left out."""
    shares = weights(cue, statistics)
    found = (score(cue, shares, item, statistics.mean_length, now) for item in items)
    return sorted((one for one in found if one.score > 0), key=lambda one: (-one.score, -one.item.id))[:limit]


def score(cue: Cue, shares: Mapping[str, float], item: Item, mean_length: float, now: float) -> Scored:
    """One candidate's score; see the module."""
    overlap = coverage(shares, item, mean_length)
    if overlap <= 0 and item.cosine <= 0:
        return Scored(item, 0.0, {})
    parts = {
        "overlap": overlap,
        "speaker": float(item.speaker.lower() in cue.speakers),
        "owner": item.match.owned,
        "other": item.match.others,
        "asserts": float(item.kind != "episodic"),
        "answer": float(any(carries(kind, item.content, item.language) for kind in cue.kinds)),
        "moment": moment(cue, item),
        "cosine": max(item.cosine, 0.0),
        "active": probability(base_level(json.loads(item.used_at), item.uses, item.said_at, now)),
    }
    odds = _logit(overlap) + sum(EVIDENCE[name] * parts[name] for name in EVIDENCE) - AGAINST
    return Scored(item, 1 / (1 + math.exp(-odds)), parts)


def coverage(shares: Mapping[str, float], item: Item, mean_length: float) -> float:
    """The share of the cue, by rarity, that the memory and the turns around it hold, in [0, 1]."""
    own, before, after = item.match.frequencies, item.before.frequencies, item.after.frequencies
    if not (own or before or after):
        return 0.0
    stretch = 1 - LENGTH + LENGTH * item.match.length / max(mean_length, 1.0)
    total = 0.0
    for term, share in shares.items():
        tf = own.get(term, 0) / stretch
        missing = (1 - tf / (tf + SATURATION)) * (1 - BEFORE * (term in before)) * (1 - AFTER * (term in after))
        total += share * (1 - missing)
    return min(total, 1.0)


def moment(cue: Cue, item: Item) -> float:
    """1 where the cue names the year in which the memory was said, else 0."""
    years = _YEAR.findall(cue.text)
    return float(bool(years) and str(datetime.fromtimestamp(item.said_at, UTC).year) in years)


def _logit(p: float) -> float:
    p = min(max(p, _EDGE), 1 - _EDGE)
    return math.log(p / (1 - p))
