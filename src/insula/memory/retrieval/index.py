"""Candidates by the words of a cue: one table of postings proposes on every database, so that all find the same.

A posting says how often a term stands in a memory of a user. No search can reach another's, and the rarity of a term
is that in the user's own memory.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as upsert  # SQLite's own statement reads the same

from insula.memory.item import USE
from insula.memory.retrieval.query import MEAN_LENGTH, Statistics, load_terms
from insula.memory.retrieval.scoring import KEPT_USES
from insula.memory.storage import postgres, sqlite
from insula.memory.storage.prepared import SQLITE, Prepared, is_among
from insula.memory.storage.rows import CandidateMemory
from insula.memory.storage.schema import in_working_memory, is_of, memories, postings, sessions, terms, users

CANDIDATES = 40
"""How many memories are proposed; the score that counts is `score_item`'s. Recall is no better with 64, and dearer."""

NEAREST = 16
"""How many more are proposed for their meaning alone, where there are embeddings."""
BATCHES = 5
"""Batches of the nearest, 4,064 memories, among which they are looked for."""

POSTINGS = 2_500
"""Occurrences that one search reads at most (2 ms at 10^5 memories), whatever is asked with which words."""

_K1, _B = 1.2, 0.75
"""Of BM25 (Robertson and Zaragoza 2009): how soon more of a term tells no more, how much a long text counts less."""
_FINENESS = 1_000_000
"""Weights are whole numbers of this fineness: their sums are the same in whatever order a database adds them."""

_MINE = memories.c.user_id == sa.bindparam("user")
_OWN = is_of(sa.bindparam("user"))
_IN_SESSION = sa.and_(_MINE, memories.c.session_id == sa.bindparam("session"))
_HITS = sa.union(
    sa.select(memories.c.id).where(_OWN, is_among(memories.c.id, "hits")),
    sa.select(memories.c.id).where(_IN_SESSION, in_working_memory()),
).cte("hits")
_AROUND = sa.union(
    sa.select(_HITS.c.id),
    sa.select(memories.c.id).where(_OWN, is_among(memories.c.id, "alone")),
    sa.select(memories.c.after_id).join_from(_HITS, memories, memories.c.id == _HITS.c.id),
    sa.select(memories.c.id).join_from(_HITS, memories, memories.c.after_id == _HITS.c.id),
).cte("around")
_PROPOSED = Prepared(
    sa.select(*(memories.c[name] for name in CandidateMemory._fields[:-1]), sessions.c.name)
    .join_from(_AROUND, memories, memories.c.id == _AROUND.c.id)
    .join(sessions, sessions.c.id == memories.c.session_id)
    .where(_OWN)
)

_LONG_TERM = Prepared(
    sa.select(memories.c.id, memories.c.vector).where(
        _OWN,
        is_among(memories.c.id, "ids"),
        memories.c.promoted_at.is_not(None),
        memories.c.retired_at.is_(None),
    )
)
_LATEST = Prepared(
    sa.select(postings.c.memory_id)
    .where(postings.c.user_id == sa.bindparam("user"), postings.c.term == sa.bindparam("term"))
    .order_by(postings.c.memory_id.desc())
    .limit(sa.bindparam("limit", type_=sa.Integer))
)
_USED = Prepared(
    sa.select(memories.c.id, memories.c.used_at, memories.c.salience).where(_OWN, is_among(memories.c.id, "ids"))
)
_TOUCH = Prepared(
    sa.update(memories)
    .where(memories.c.id == sa.bindparam("one"))
    .values(uses=memories.c.uses + 1, salience=sa.bindparam("worth"), used_at=sa.bindparam("moments"))
)
_UNPOST = sa.delete(postings).where(
    postings.c.user_id == sa.bindparam("user"),
    postings.c.term == sa.bindparam("word"),
    postings.c.memory_id == sa.bindparam("memory"),
)

_HERE = sa.and_(terms.c.user_id == users.c.id, is_among(terms.c.term, "wanted"))
_STATISTICS = Prepared(
    sa.select(users.c.memories, users.c.terms, terms.c.term, terms.c.memories.label("held"), terms.c.semantic)
    .select_from(users.outerjoin(terms, _HERE))
    .where(users.c.id == sa.bindparam("user"))
)
_ADDED = upsert(terms)
_COUNT = Prepared(
    _ADDED.on_conflict_do_update(
        index_elements=["user_id", "term"],
        set_={
            "memories": terms.c.memories + _ADDED.excluded.memories,
            "semantic": terms.c.semantic + _ADDED.excluded.semantic,
        },
    )
)


_TOTALS = Prepared(
    sa.update(users)
    .where(users.c.id == sa.bindparam("user"))
    .values(memories=users.c.memories + sa.bindparam("more"), terms=users.c.terms + sa.bindparam("longer"))
)
_POSTED = Prepared(sa.insert(postings))


def _dialect_of(connection: sa.Connection) -> Any:
    """The file that knows the database of a connection."""
    return sqlite if connection.dialect.name == SQLITE else postgres


def begin_write(connection: sa.Connection, user_id: int | None = None) -> None:
    """Begin to write, what is a user's where one is named: nobody else writes that until the transaction ends."""
    _dialect_of(connection).begin_write(connection, user_id)


def begin_read(connection: sa.Connection) -> None:
    """Begin to read: all that is read from now on is as it stands at one moment, whoever writes meanwhile."""
    _dialect_of(connection).begin_read(connection)


def reserve_ids(connection: sa.Connection, table: sa.Table, first: int, last: int) -> int:
    """What is to be added to some ids for them to be free in a table, and to stay so."""
    return _dialect_of(connection).reserve_ids(connection, table, first, last)


def check_room(connection: sa.Connection) -> None:
    """See, within a transaction, whether what is written now can be kept."""
    _dialect_of(connection).check_room(connection)


def drop_unused_terms(connection: sa.Connection) -> None:
    """Let go of the words of what was taken out: of terms that nothing holds any more."""
    connection.execute(sa.delete(terms).where(terms.c.memories <= 0))


def add_missing(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> None:
    """Insert a row unless its unique key is there: another process may be faster."""
    connection.execute(upsert(table).values(values).on_conflict_do_nothing())


def read_statistics(connection: sa.Connection, user_id: int, wanted: Iterable[str]) -> Statistics:
    """How much is indexed of a user, and where the wanted terms stand."""
    rows = _STATISTICS.fetch_rows(connection, {"user": user_id, "wanted": list(wanted)})
    total, length = rows[0][:2]
    held = [(term, memories_held, semantic) for *_, term, memories_held, semantic in rows if memories_held]
    return Statistics(
        memories=total,
        mean_length=length / total if total else MEAN_LENGTH,
        containing={term: memories_held for term, memories_held, _ in held},
        asserting={term: semantic for term, _, semantic in held},
    )


def list_candidates(
    connection: sa.Connection, user_id: int, session_id: int, proposed: Iterable[int], alone: Iterable[int] = ()
) -> list[CandidateMemory]:
    """The memories worth scoring: those that were found, the session's working memory, and the turns around them.

    Args:
        alone: more of them, without the turns around them.
    """
    values = {"user": user_id, "session": session_id, "hits": list(proposed), "alone": list(alone)}
    return [CandidateMemory(*row) for row in _PROPOSED.fetch_rows(connection, values)]


def long_term(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> list[tuple[int, bytes]]:
    """Those of some ids, in their order, that are in a user's long-term memory, with their vectors."""
    vectors: dict[int, bytes] = dict(_LONG_TERM.fetch_rows(connection, {"user": user_id, "ids": list(ids)}))
    return [(number, vectors[number]) for number in ids if number in vectors]


def search_terms(connection: sa.Connection, user_id: int, known: Statistics, limit: int) -> list[int]:
    """Ids of the memories that share the rarest of the terms that are held, best first.

    The rarest decide, by BM25, as long as they occur no more than `POSTINGS` times together. Where each of the terms is
    more common than that, none of them tells much: the latest occurrences of each are read, `POSTINGS` together, and
    those that hold the most of the terms come first, the latest of them before the others.
    """
    containing = known.containing
    if rare := _pick_rarest(containing):
        return _rank_by_bm25(connection, user_id, known, rare, limit)
    held = Counter[int]()
    for term in containing:
        values = {"user": user_id, "term": term, "limit": POSTINGS // len(containing)}
        held.update(_LATEST.fetch_values(connection, values))
    best = sorted(held.items(), key=itemgetter(1, 0), reverse=True)
    return [number for number, _ in best[:limit]]


def _rank_by_bm25(
    connection: sa.Connection, user_id: int, known: Statistics, rare: Iterable[str], limit: int
) -> list[int]:
    """Ids of the memories that hold some terms, best first by BM25; of those that are as good, the latest first."""
    rarities = {term: _term_rarity(known.memories, known.containing[term]) for term in rare}
    weights = {term: round(_FINENESS * rarity * (_K1 + 1)) for term, rarity in rarities.items()}
    values = {"user": user_id, "weights": json.dumps(weights), "limit": limit}
    dampings = {"short": _K1 * (1 - _B), "long": _K1 * _B / (known.mean_length or MEAN_LENGTH)}
    return _dialect_of(connection).BEST.fetch_values(connection, values | dampings)


def _term_rarity(total: int, held: int) -> float:
    """How much a term tells that stands in `held` of `total` memories: never less than nothing."""
    return math.log(1 + (total - held + 0.5) / (held + 0.5))


def _pick_rarest(containing: Mapping[str, int]) -> list[str]:
    """The terms to search for: from the rarest on, while they occur no more than `POSTINGS` times together."""
    ordered = sorted(containing.items(), key=lambda entry: entry[1])
    read = accumulate(count for _, count in ordered)
    return [term for (term, _), so_far in zip(ordered, read, strict=True) if so_far <= POSTINGS]


def record_use(connection: sa.Connection, user_id: int, ids: Sequence[int], at: float) -> None:
    """Record a use of memories: it feeds activation, and salience while they are in working memory."""
    values = [
        {
            "one": number,
            "worth": min(salience + USE, 1.0),
            "moments": json.dumps([*json.loads(used_at), at][-KEPT_USES:]),
        }
        for number, used_at, salience in _USED.fetch_rows(connection, {"user": user_id, "ids": list(ids)})
    ]
    if values:
        _TOUCH.write_rows(connection, values)


Entry = tuple[int, Sequence[str], bool]
"""A memory as it is indexed: its id, its terms with repeats, and whether it is semantic."""


def entries_of(*rows: Any) -> list[Entry]:
    """Rows of memories as they are indexed."""
    return [(row.id, load_terms(row.claims), row.kind == "semantic") for row in rows]


def add_entries(connection: sa.Connection, user_id: int, entries: Sequence[Entry]) -> None:
    """Index memories."""
    begin_write(connection, user_id)
    rows = [
        {"user_id": user_id, "term": term, "memory_id": number, "count": count, "length": len(words)}
        for number, words, _ in entries
        for term, count in sorted(Counter(words).items())
    ]
    if rows:
        _POSTED.write_rows(connection, rows)
    _count_entries(connection, user_id, entries)


def remove_entries(connection: sa.Connection, user_id: int, entries: Sequence[Entry]) -> None:
    """Take memories, given as they were added, out of the index."""
    begin_write(connection, user_id)
    rows = [{"user": user_id, "word": term, "memory": i} for i, words, _ in entries for term in sorted({*words})]
    if rows:
        connection.execute(_UNPOST, rows)
    _count_entries(connection, user_id, entries, -1)


def _count_entries(connection: sa.Connection, user_id: int, entries: Sequence[Entry], sign: int = 1) -> None:
    by_term: dict[str, list[int]] = {}
    for _, words, semantic in entries:
        for term in set(words):
            counts = by_term.setdefault(term, [0, 0])
            counts[0] += sign
            counts[1] += sign * semantic
    if by_term:
        rows = [{"user_id": user_id, "term": t, "memories": m, "semantic": s} for t, (m, s) in by_term.items()]
        _COUNT.write_rows(connection, rows)
    length = sign * sum(len(words) for _, words, _ in entries)
    _TOTALS.write_rows(connection, [{"user": user_id, "more": sign * len(entries), "longer": length}])
