"""A store as of somebody who has talked for years, written in bulk: a million memories in minutes.

Each memory is two sentences of real lines, drawn at random, and perhaps some common words. What a sentence claims and
states, and its vector, is worked out once; a memory's vector is the mean of its sentences'. Of the transcript there is
none: recall reads long-term memory alone.
"""

import random
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from insula.language.owner import ASSISTANT, USER
from insula.language.statements import Statement, extract_statements
from insula.memory.item import LINE_CHARS
from insula.memory.retrieval import index
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.query import encode_claims, load_terms
from insula.memory.storage import facts
from insula.memory.storage.rows import Place
from insula.memory.storage.schema import memories, statements
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Array, Vector, embed_normalised, pack_vector
from insula.text.analysis import analyse_text
from insula_bench.progress import steps

BATCH = 10_000
CACHE_KB = 600_000
"""Of the file while it is written: what is indexed comes in no order."""
MIDDLING = 0.5
"""Importance and salience of all of them, which recall does not read."""


class Sentence(NamedTuple):
    """A sentence that memories are put together from."""

    text: str
    claims: str
    terms: tuple[str, ...]
    kind: str
    stated: tuple[Statement, ...]
    vector: Vector


class Line(NamedTuple):
    """A memory to be written."""

    number: int
    sentences: Sequence[Sentence]
    vector: Vector

    @property
    def text(self) -> str:
        return " ".join(one.text for one in self.sentences)

    @property
    def is_asserted(self) -> bool:
        return any(one.kind == "semantic" for one in self.sentences)


def sentence(text: str) -> Sentence:
    """A sentence that the user says, encoded."""
    analysis, vector = analyse_text(text), embed_normalised(embed_text, text)
    encoding = encode_claims(analysis, USER, ASSISTANT)
    stated = tuple(one._replace(vector=vector) for one in extract_statements(analysis, USER, ASSISTANT))
    claims = encoding.dump_claims()
    kind = "semantic" if stated else encoding.kind
    return Sentence(text, claims, tuple(load_terms(claims)), kind, stated, vector)


def lines(
    made: Sequence[Sentence], common: Mapping[float, Sequence[Sentence]], size: int, chance: random.Random
) -> Iterator[Line]:
    """Memories made of sentences, and of those that stand in a share of all of them."""
    usual = [(share, one) for share, some in common.items() for one in some]
    for number in range(1, size + 1):
        one, other = chance.sample(made, 2)
        said = [word for share, word in usual if chance.random() < share]
        yield Line(number, (one, other, *said), _unit(one.vector + other.vector))


async def fill(store: Store, place: Place, new: Iterable[Line], size: int) -> None:
    """Write `size` memories of a place."""
    lines = iter(steps(new, f"writing {size:,} memories", size))
    await store.run(lambda connection: connection.exec_driver_sql(f"PRAGMA cache_size=-{CACHE_KB}").close())
    while batch := list(islice(lines, BATCH)):
        await store.run(_write, place, batch, store.now() - size)


def floor(path: Path, new: Iterable[Line]) -> None:
    """Write the texts of memories into SQLite's own full-text index, and nothing else."""
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE VIRTUAL TABLE texts USING fts5(content, content='')")
        raw.executemany("INSERT INTO texts (rowid, content) VALUES (?, ?)", ((one.number, one.text) for one in new))


def _unit(vector: Array) -> Vector:
    return vector / (np.linalg.norm(vector) or 1.0)


def _write(connection: sa.Connection, place: Place, lines: Sequence[Line], began: float) -> None:
    connection.execute(sa.insert(memories), [_row(place, line, began + line.number) for line in lines])
    stated = (
        facts.as_stored(place.user_id, line.number, chain.from_iterable(one.stated for one in line.sentences))
        for line in lines
    )
    connection.execute(sa.insert(statements), list(chain.from_iterable(stated)))
    entries = [
        (line.number, [term for one in line.sentences for term in one.terms], line.is_asserted) for line in lines
    ]
    index.add_entries(connection, place.user_id, entries)


def _row(place: Place, line: Line, at: float) -> dict[str, Any]:
    text = line.text
    return {
        "id": line.number,
        "user_id": place.user_id,
        "session_id": place.session_id,
        "after_id": line.number - 1 or None,
        "kind": "semantic" if line.is_asserted else "episodic",
        "provenance": "user",
        "speaker": USER,
        "language": "en",
        "content": text,
        "line": text[:LINE_CHARS],
        "claims": "\n".join(one.claims for one in line.sentences if one.claims),
        "importance": MIDDLING,
        "confidence": 1.0,
        "salience": MIDDLING,
        "uses": 1,
        "used_at": f"[{at!r}]",
        "vector": pack_vector(line.vector),
        "said_at": at,
        "promoted_at": at,
        "stated": True,
    }
