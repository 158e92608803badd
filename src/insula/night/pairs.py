"""Pairs of wishes that words leave in doubt, and what becomes of them once a model was asked what the newer one makes
of the older (R8). Pure: an answer is a proposal, and is refused where it is the opposite of what the words say, touches
a person's decision or takes away too much for one night."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from insula.memory.storage.changes import Change, Retired
from insula.memory.storage.rows import Kept
from insula.memory.wishes import WHY, backed, entry, is_of_one_matter, is_wish, stands, words
from insula.night.agreement import opposite
from insula.night.operations import NIGHT, room
from insula.text.relations import doubt, relation
from insula.text.wishing import Relation, Wish

MOST = 12
"""Pairs that are asked about in one night, the most doubtful."""
AGAIN = "the user said it again in other words"
READ = "as the model reads it"


class Later(NamedTuple):
    """What the user said later than some wish that stands."""

    message: int
    wish: Wish
    kept: Kept | None
    """As it stands on the ledger; None where no turn took it for a wish."""


class Pair(NamedTuple):
    """A wish that stands, and what was said later."""

    old: Kept
    new: Later


class Settled(NamedTuple):
    """What the answers change, what was done for them, and what was refused and why."""

    changes: list[Change]
    done: list[tuple[Pair, Relation]]
    refused: list[tuple[Pair, str]]


def doubtful(later: Iterable[Later], kept: Iterable[Kept], retired: Iterable[Kept]) -> list[Pair]:
    """The pairs to ask about, the most doubtful first.

    Args:
        later: what was said since the last night.
        kept: the user's guidance.
        retired: what stood before: what took one of these back has been heard.
    """
    standing = [one for one in kept if is_wish(one)]
    before = [words(one) for one in retired if is_wish(one)]
    found: list[tuple[float, Pair]] = []
    for new in later:
        if new.wish.lifts and any(relation(new.wish, text) == "lifts" for text in before):
            continue
        older = (one for one in standing if max(one.citations, default=0) < new.message)
        pairs = ((doubt(new.wish, words(one)), one) for one in older if is_of_one_matter(new.wish, one))
        found += [(much, Pair(one, new)) for much, one in pairs if much]
    return [pair for _, pair in sorted(found, key=lambda each: (-each[0], -each[1].new.message))[:MOST]]


def settled(pairs: Sequence[Pair], answers: Sequence[Relation], kept: Iterable[Kept], now: float) -> Settled:
    """What a model's answers on some pairs change."""
    standing = {one.key: one for one in kept if is_wish(one)}
    left = room(len(standing))
    found = Settled([], [], [])
    for pair, answer in zip(pairs, answers, strict=True):
        if answer == "unrelated":
            continue
        why = _flaw(pair, answer, standing, left)
        if why:
            found.refused.append((pair, why))
            continue
        changes = _changes(pair, answer, now)
        gone = [one.key for one in changes if isinstance(one, Retired)]
        left -= len(gone)
        for key in gone:
            standing.pop(key, None)
        found.changes.extend(changes)
        found.done.append((pair, answer))
    return found


def _flaw(pair: Pair, answer: Relation, standing: Mapping[str, Kept], left: int) -> str:
    """Why an answer changes nothing; empty where it may."""
    old, new = pair
    if old.key not in standing or (new.kept and new.kept.key not in standing):
        return "touched already"
    if old.mode or old.author == "person":
        return "a person's own"
    if answer == "same":
        return "says the opposite" if opposite(new.wish.words, words(old)) else ""
    if answer != "lifts" and new.kept and not stands(new.kept):
        return "wished for once"
    return "more than one night may retire" if left < 1 else ""


def _changes(pair: Pair, answer: Relation, now: float) -> list[Change]:
    old, new = pair
    if answer == "same":
        return _joined(old, new)
    why = f"{WHY[answer]}, {READ}"
    if answer == "lifts":
        return [Retired(old.key, NIGHT, why, new.kept.key if new.kept else "", new.message)]
    place = new.kept or entry(new.wish._replace(force="standing"), new.message, now)
    made: list[Change] = [] if new.kept else [backed(place)]
    return [*made, Retired(old.key, NIGHT, why, place.key, new.message)]


def _joined(old: Kept, new: Later) -> list[Change]:
    """Two that say the same as one with the messages of both: the newer, unless only the older holds for good."""
    if new.kept is None:
        return [backed(old, new.message)]
    first, other = (old, new.kept) if stands(old) and not stands(new.kept) else (new.kept, old)
    return [backed(first, *other.citations), Retired(other.key, NIGHT, f"{AGAIN}, {READ}", first.key, new.message)]
