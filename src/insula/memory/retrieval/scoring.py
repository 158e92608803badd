"""How well a memory fits a cue: one number in [0, 1].

Each piece of evidence moves the log-odds that a memory holds what is asked, and only ever in one direction: term
overlap weighted by rarity, the same overlap in the turns around it (an answer follows the question it replies to) and
in its whole session, who said it, about whom, when, the kind of answer it could give, embedding similarity, and
base-level activation.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from insula.caches import clear_on_erasure
from insula.language.owner import short_name
from insula.memory.retrieval.query import Cue, Statistics, When, content_weights, weigh_terms
from insula.memory.storage.rows import CandidateMemory
from insula.text.answers import carries_answer

SATURATION = 0.3
"""Term frequency at which a term has nearly half its weight; BM25's k1, normalised so that scores end at 1."""
LENGTH = 0.4
"""BM25's b: how far long memories are discounted (best of those tried on LoCoMo, see docs/benchmarks)."""
BEFORE, AFTER = 0.5, 0.25
"""Share of a term that the turn before, and the turn after, lend to a memory."""

PARTS = ("speaker", "owner", "around", "topic", "asserts", "answer", "moment", "active")
"""Evidence beside the overlap, each in [0, 1]; see `score_item`."""
PART = 1.5
"""Log-odds that each part adds where it is whole: the same for all. Equal weights predict about as well as fitted ones
(Dawes 1979), and so they do here; docs/benchmarks/confidence.md shows what other values give."""
EXPECTED = 2
"""Parts that a fresh assertion has anyway (`asserts`, `active`). They are taken off again, with what the best of the
candidates can have of `topic`, so that a memory with nothing else in its favour is worth its overlap. Where somebody
asked has spoken, `speaker` is taken off, too: what the words of others lack."""

MONTH, YEAR, DAY = 0.6, 0.2, 0.2
"""What a named month, year and day are worth of `time_fit`; a year alone says little where most was said in it."""
LATER = 0.5
"""What is left of it in the month after: people tell of June in July."""
DAYS_AFTER = 3
"""The same for days."""

_EDGE = 0.02
_NOTHING = frozenset[str]()


class MatchedClaim(NamedTuple):
    """A claim that holds something of the cue: the people it is about, and the terms of the cue in it."""

    owners: frozenset[str]
    terms: frozenset[str]


class Match(NamedTuple):
    """What of a cue stands in one text."""

    frequencies: Mapping[str, int]
    """Term of the cue -> how often."""
    length: int
    """Terms of the text."""
    owned: float
    """The best share of the cue's terms other than names in one sentence about the person asked."""
    claims: tuple[MatchedClaim, ...] = ()


NO_MATCH = Match({}, 0, 0.0)


class Item(NamedTuple):
    """A candidate as it is read from the store, matched against the cue, with the turns around it."""

    row: CandidateMemory
    match: Match
    before: Match = NO_MATCH
    after: Match = NO_MATCH
    cosine: float = 0.0


class ScoredItem(NamedTuple):
    """A candidate's score in [0, 1] and the parts that made it, each in [0, 1]."""

    item: Item
    score: float
    parts: Mapping[str, float]


class SubjectSides(NamedTuple):
    """What is said of the person asked beside what is said of anybody else, among all candidates."""

    mentions: float = 0.5
    """The share of the mentions of the cue's words that is about the person asked, in [0, 1]; a half where none is."""
    near: float = 0.5
    """How much more of the cue stands together about the person asked, in a turn and those around it, in [0, 1]."""
    told: bool = False
    """Whether people talk here, so that the two tell something; a document says "I" and "Paris" of nobody's life."""


def find_subjects(cue: Cue, items: Sequence[Item], content: Mapping[str, float]) -> SubjectSides:
    """Whom the candidates are about; only what a user or a tool asserted counts.

    Args:
        content: what each term is worth, from `cue.content_weights`.
    """
    asserted = [item for item in items if item.row.provenance in {"user", "tool"} and item.row.kind == "semantic"]
    voices = frozenset(short_name(item.row.speaker) for item in asserted)
    if not cue.owners or not any(item.row.provenance == "user" for item in asserted):
        return SubjectSides()
    turns = {id(turn): turn for item in asserted for turn in (item.match, item.before, item.after) if turn.claims}
    told = [(id(item.match), id(item.before), id(item.after)) for item in asserted]
    mine, theirs = (
        Side(content, {number: _said_of(turn, cue.owners, voices, asked=asked) for number, turn in turns.items()}, told)
        for asked in (True, False)
    )
    return SubjectSides(
        mentions=sum(
            share * (mine.counts[term] + 1) / (mine.counts[term] + theirs.counts[term] + 2)
            for term, share in content.items()
        ),
        near=(1 + mine.near - theirs.near) / 2,
        told=True,
    )


def _said_of(turn: Match, owners: frozenset[str], voices: frozenset[str], *, asked: bool) -> frozenset[str]:
    """The terms of the cue in the claims of a turn that are about those asked about, or about others alone."""
    said = [claim.terms for claim in turn.claims if is_about(claim.owners, owners, voices) is asked]
    return said[0] if len(said) == 1 else _NOTHING.union(*said)


class Side:
    """The claims of the candidates that are about the person asked and nobody else, or the other way round.

    Args:
        said: of each turn the terms of the cue on this side.
        told: of each memory its turn, the one before and the one after.
    """

    def __init__(
        self, content: Mapping[str, float], said: Mapping[int, frozenset[str]], told: Sequence[tuple[int, int, int]]
    ) -> None:
        self.counts = Counter(chain.from_iterable(said.get(own, _NOTHING) for own, _, _ in told))
        """In how many memories each term stands on this side."""
        together = {_NOTHING.union(*(said.get(turn, _NOTHING) for turn in turns)) for turns in told}
        self.near = max((min(sum(content.get(term, 0.0) for term in terms), 1.0) for terms in together), default=0.0)
        """The best share of the cue in a memory and those around it."""


@clear_on_erasure
@lru_cache(maxsize=1_024)
def is_about(owners: frozenset[str], asked: frozenset[str], voices: frozenset[str]) -> bool | None:
    """Whether a claim is about those asked; None where it speaks of one of the talkers and of the other, too.

    Args:
        voices: those who talk. Asked about somebody else ("my sister Ana"), a claim may be about a talker as well.
    """
    mine = not asked.isdisjoint(owners)
    if mine and asked & voices and owners & voices - asked:
        return None
    return mine


def match_claims(cue: Cue, content: Mapping[str, float], claims: str) -> Match:
    """Compare a cue with the claims of a text, as they are stored; `content` is from `cue.content_weights`."""
    frequencies: dict[str, int] = {}
    length, owned, forms, sought = 0, 0.0, cue.forms, cue.forms.keys()
    holding: list[MatchedClaim] = []
    for line in claims.split("\n"):
        owners, _, terms = line.partition("\t")
        words = terms.split(" ")
        length += len(words)
        if sought.isdisjoint(words):
            continue
        held = [forms[word] for word in words if word in forms]
        for term in held:
            frequencies[term] = frequencies.get(term, 0) + 1
        claim = MatchedClaim(frozenset(owners.split(" ")), frozenset(held))
        holding.append(claim)
        if not cue.owners.isdisjoint(claim.owners):
            owned = max(owned, min(sum(content.get(term, 0.0) for term in claim.terms), 1.0))
    return Match(frequencies, length, owned, tuple(holding))


class Scene(NamedTuple):
    """What the candidates have in common, seen before each is scored."""

    mean_length: float
    heard: bool = False
    """Whether any of them is in the words of someone asked; then those of the others lose by it."""
    topics: Mapping[int, float] = MappingProxyType({})
    """Session -> the share of the cue that it speaks of, in [0, 1]."""
    topic: float = 0.0
    """The greatest of them."""


def describe_scene(cue: Cue, items: Sequence[Item], statistics: Statistics) -> Scene:
    """The scene of some candidates."""
    content = content_weights(cue, statistics)
    spoken: dict[int, set[str]] = {}
    for item in items:
        if item.row.provenance in {"user", "tool"}:  # what the assistant says of a topic raises nothing (law 2)
            spoken.setdefault(item.row.session_id, set()).update(item.match.frequencies)
    topics = {session: min(sum(content.get(term, 0.0) for term in terms), 1.0) for session, terms in spoken.items()}
    heard = any(short_name(item.row.speaker) in cue.speakers for item in items)
    return Scene(statistics.mean_length, heard, topics, max(topics.values(), default=0.0))


def score_items(cue: Cue, items: Sequence[Item], statistics: Statistics, now: float) -> dict[int, ScoredItem]:
    """The scores of memories, by their id; those without any overlap or similarity are left out."""
    shares, seen = weigh_terms(cue, statistics), describe_scene(cue, items, statistics)
    scored = {item.row.id: score_item(cue, shares, item, seen, now) for item in items}
    return {number: each for number, each in scored.items() if each.score > 0}


def score_item(cue: Cue, shares: Mapping[str, float], item: Item, seen: Scene, now: float) -> ScoredItem:
    """One candidate's score; see the module."""
    overlap = cue_coverage(shares, item, seen.mean_length)
    if overlap <= 0 and item.cosine <= 0:
        return ScoredItem(item, 0.0, {})
    row = item.row
    asserts, spoken = float(row.kind != "episodic"), float(short_name(row.speaker) in cue.speakers)
    parts = {
        "overlap": overlap,
        "speaker": spoken,
        "owner": item.match.owned * asserts,
        "around": max(item.before.owned, item.after.owned) * spoken,
        "topic": seen.topics.get(row.session_id, 0.0),
        "asserts": asserts,
        "answer": float(any(carries_answer(kind, row.content, row.language) for kind in cue.kinds)),
        "moment": time_fit(cue.when, row.said_at),
        "cosine": max(item.cosine, 0.0),
        "active": retrieval_probability(base_level(_read_moments(row.used_at), row.uses, row.said_at, now)),
    }
    expected = EXPECTED + seen.heard + seen.topic
    # What is said in other words counts as the words would: a part of the question is missing where both miss it.
    held = 1 - (1 - overlap) * (1 - parts["cosine"])
    odds = _log_odds(held) + PART * (sum([parts[name] for name in PARTS]) - expected)
    return ScoredItem(item, 1 / (1 + math.exp(-odds)), parts)


def _read_moments(used_at: str) -> list[float]:
    """The numbers of a JSON list: hundreds are read for each cue, and JSON's own reader takes four times as long."""
    return [float(moment) for moment in used_at.strip("[]").split(",") if moment]


def cue_coverage(shares: Mapping[str, float], item: Item, mean_length: float) -> float:
    """The share of the cue, by rarity, that the memory and the turns around it hold, in [0, 1]."""
    own, before, after = item.match.frequencies, item.before.frequencies, item.after.frequencies
    if not (own or before or after):
        return 0.0
    stretch = 1 - LENGTH + LENGTH * item.match.length / max(mean_length, 1.0)
    total = 0.0
    for term, share in shares.items():
        if term in own or term in before or term in after:
            tf = own.get(term, 0) / stretch
            missing = (1 - tf / (tf + SATURATION)) * (1 - BEFORE * (term in before)) * (1 - AFTER * (term in after))
            total += share * (1 - missing)
    return min(total, 1.0)


def time_fit(when: When, said_at: float) -> float:
    """How well the time that a cue names fits the moment in which a memory was said, in [0, 1]."""
    if not when.months and not when.years:
        return 0.0
    said = datetime.fromtimestamp(said_at, UTC)
    before = (said.month - 2) % 12 + 1
    month = 1.0 if said.month in when.months else LATER if before in when.months else 0.0
    day = month == 1.0 and any(0 <= said.day - named <= DAYS_AFTER for named in when.days)
    return MONTH * month + YEAR * (said.year in when.years) + DAY * day


def _log_odds(p: float) -> float:
    p = min(max(p, _EDGE), 1 - _EDGE)
    return math.log(p / (1 - p))


DECAY = 0.5
"""d, the decay of each use (Anderson and Schooler 1991; ACT-R's default)."""

KEPT_USES = 8
"""Recent uses kept one by one; the older ones are summed in closed form (Petrov 2006)."""

SCALE = 1.0
"""Activation noise s: how steeply activation turns into a probability of retrieval (ACT-R: 0.25–1)."""

THRESHOLD = -2.0
"""Retrieval threshold τ in units of ln(hours): used once a day and a half ago stands at one half."""

_HOUR = 3600.0
_SOONEST = 1.0 / 60.0


def base_level(uses: Sequence[float], count: int, created: float, now: float) -> float:
    """B = ln Σ t⁻ᵈ over all uses, in ln(hours⁻ᵈ).

    Args:
        uses: times of the most recent uses in seconds since the epoch, the creation among them, newest last.
        count: how often it was used in all, at least `len(uses)`.
        created: when it was created, in seconds since the epoch.
    """
    ages = [max((now - use) / _HOUR, _SOONEST) for use in uses]
    total = sum([age**-DECAY for age in ages])
    if (older := count - len(ages)) > 0:
        life, oldest = max((now - created) / _HOUR, _SOONEST), max(ages, default=_SOONEST)
        if life > oldest:
            spread = (life ** (1 - DECAY) - oldest ** (1 - DECAY)) / ((1 - DECAY) * (life - oldest))
            total += older * spread
    return math.log(total) if total > 0 else -math.inf


def retrieval_probability(activation: float) -> float:
    """Probability of retrieval in [0, 1]: ACT-R's 1 / (1 + e^((τ − B) / s))."""
    return 1.0 / (1.0 + math.exp(min((THRESHOLD - activation) / SCALE, 60.0)))
