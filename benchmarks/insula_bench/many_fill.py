"""A store of very many memories on PostgreSQL, copied in and not written one by one: minutes, and not days.

The rows are those that `write_message` and `promote_items` would write. What is said is put together from the sentences
of our own talks and from words that stand in a known share of all memories.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import psycopg

from insula.errors import InputError
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_statements
from insula.memory.item import LINE_CHARS, new_item
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.query import encode_claims, load_terms
from insula.memory.storage import facts
from insula.memory.storage.vectors import Vector, embed_normalised, pack_vector
from insula.text.analysis import analyse_text
from insula_bench import talks
from insula_bench.progress import progress, steps

SEED = 7
COMMON = {"67 %": (0.67, "breakfast"), "2 %": (0.02, "harvest")}
"""Words by the share of all memories in which they stand."""
TWO = 0.5
"""Share of the memories that hold two sentences."""
SESSION = 30
"""Memories of a session."""
HEAVY = "heavy"
"""The user with many more than others."""
AT_ONCE = 4_000
"""Memories that are copied at once."""
_HOUR = 3_600.0
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_SAID = ("id", "user_id", "session_id", "provenance", "speaker", "content", "said_at")
COLUMNS = {
    "users": ("id", "name", "memories", "terms", "created_at"),
    "sessions": ("id", "user_id", "name", "started_at"),
    "messages": (*_SAID, "turn"),
    "memories": (
        *(*_SAID, "message_id", "after_id", "kind", "language", "line", "claims", "importance", "confidence"),
        *("salience", "uses", "used_at", "vector", "promoted_at", "stated"),
    ),
    "statements": (
        *("user_id", "memory_id", "subject", "subjects", "mentions", "language", "modality", "marks", "terms"),
        *("text", "vector"),
    ),
    "terms": ("user_id", "term", "memories", "semantic"),
    "postings": ("user_id", "term", "memory_id", "count", "length"),
}
"""What is copied, each table after those that it refers to."""


class Part(NamedTuple):
    """A sentence that memories are put together from."""

    text: str
    claims: str
    terms: tuple[str, ...]
    semantic: bool
    stated: tuple[str, ...]
    """Its statements as they are copied, from the subject on."""
    vector: Vector


class Ids:
    """The last id of each table."""

    def __init__(self) -> None:
        self.user = self.session = self.memory = 0


def fill(url: str, users: int, memories: int, heavy: int) -> None:
    """Copy in so many memories: `heavy` of one user, the rest of `users` others in equal shares.

    Raises:
        InputError: somebody is stored there already.
    """
    chance = random.Random(SEED)
    said, common = parts(), [(share, part_of(f"There was the {word}.")) for share, word in COMMON.values()]
    sizes = [(f"u{number}", (memories - heavy) // users) for number in range(users)] + [(HEAVY, heavy)]
    with psycopg.connect(url) as connection:
        if connection.execute("SELECT 1 FROM users LIMIT 1").fetchone():
            raise InputError("The database holds users already; give an empty one.")
        _force(connection, "NO FORCE")  # rows are not copied into a table that is guarded
        rows = {table: list[str]() for table in COLUMNS}
        ids = Ids()
        with progress(users + 1, "users are copied in") as step:
            for name, size in sizes:
                drawn = [_drawn(chance, said, common) for _ in range(size)]
                for _ in _person(rows, ids, name, drawn):
                    _copy(connection, rows)
                step()
        _copy(connection, rows, least=1)
        for table, last in (("users", ids.user), ("sessions", ids.session)):
            _count_on(connection, table, last)
        for table in ("messages", "memories"):
            _count_on(connection, table, ids.memory)
        _force(connection, "FORCE")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def parts() -> list[Part]:
    """The sentences of our talks that say something."""
    lines = [line.text for talk in (*talks.of_two(), *talks.with_assistant()) for line in talk.lines]
    texts = dict.fromkeys(
        sentence.text for line in lines for sentence in analyse_text(line).sentences if sentence.terms
    )
    return [part_of(text) for text in steps(list(texts), "sentences are embedded")]


def part_of(text: str) -> Part:
    """A sentence as it is copied."""
    analysis = analyse_text(text)
    told = extract_statements(analysis, USER, ASSISTANT)
    item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), (), told)
    stated = [one._replace(vector=embed_normalised(embed_text, one.text)) for one in told]
    rows = tuple(_line(tuple(row[name] for name in COLUMNS["statements"][2:])) for row in facts.as_stored(0, 0, stated))
    terms = tuple(load_terms(item.claims))
    return Part(text, item.claims, terms, item.kind == "semantic", rows, embed_normalised(embed_text, text))


def _drawn(chance: random.Random, parts: Sequence[Part], common: Sequence[tuple[float, Part]]) -> tuple[Part, ...]:
    said = chance.sample(parts, 2 if chance.random() < TWO else 1)
    return (*said, *(part for share, part in common if chance.random() < share))


def _person(rows: dict[str, list[str]], ids: Ids, name: str, drawn: Sequence[tuple[Part, ...]]) -> Iterator[None]:
    """Put down the rows of one user, some at a time."""
    ids.user += 1
    held, semantic = Counter[str](), Counter[str]()
    for said in drawn:
        terms = {term for part in said for term in part.terms}
        held.update(terms)
        if any(part.semantic for part in said):
            semantic.update(terms)
    length = sum(len(part.terms) for said in drawn for part in said)
    began = 1.7e9
    rows["users"].append(_line((ids.user, name, len(drawn), length, began)))
    rows["terms"] += [_line((ids.user, term, count, semantic[term])) for term, count in sorted(held.items())]
    for number, said in enumerate(drawn):
        at = began + number * _HOUR
        if number % SESSION == 0:
            ids.session += 1
            rows["sessions"].append(_line((ids.session, ids.user, f"s{number // SESSION}", at)))
        _memory(rows, ids, said, number % SESSION, at)
        if len(rows["memories"]) >= AT_ONCE:
            yield
    yield


def _memory(rows: dict[str, list[str]], ids: Ids, said: Sequence[Part], turn: int, at: float) -> None:
    """Put down the rows of one memory."""
    ids.memory += 1
    here, content = ids.memory, " ".join(part.text for part in said)
    head = (here, ids.user, ids.session, "user", USER, content, at)
    kind = "semantic" if any(part.semantic for part in said) else "episodic"
    vector = sum((part.vector for part in said[1:]), said[0].vector)
    claims = "\n".join(part.claims for part in said)
    packed_vector = pack_vector(vector / max(float(vector @ vector) ** 0.5, 1e-9))
    rows["messages"].append(_line((*head, turn + 1)))
    rows["memories"].append(
        _line(
            (
                *(*head, here, here - 1 if turn else None, kind, "en", content[:LINE_CHARS], claims, 0.5, 1.0),
                *(0.5, 1, f"[{at!r}]", packed_vector, at, True),
            )
        )
    )
    rows["statements"] += [f"{ids.user}\t{here}\t{one}" for part in said for one in part.stated]
    terms = Counter(term for part in said for term in part.terms)
    length = terms.total()
    rows["postings"] += [f"{ids.user}\t{term}\t{here}\t{count}\t{length}\n" for term, count in sorted(terms.items())]


def _line(values: Sequence[Any]) -> str:
    """A row as it is copied."""
    return "\t".join(map(_plain, values)) + "\n"


def _plain(value: Any) -> str:
    if value is None:
        return "\\N"
    return f"\\\\x{value.hex()}" if isinstance(value, bytes) else str(value).translate(_ESCAPES)


def _copy(connection: psycopg.Connection, rows: dict[str, list[str]], least: int = AT_ONCE) -> None:
    """Copy in what was put down, once it is enough."""
    if len(rows["memories"]) < least:
        return
    with connection.cursor() as cursor:
        for table, columns in COLUMNS.items():
            with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()) as copy:
                copy.write("".join(rows[table]))
            rows[table].clear()


def _force(connection: psycopg.Connection, how: str) -> None:
    for table in COLUMNS:
        connection.execute(f"ALTER TABLE {table} {how} ROW LEVEL SECURITY".encode())


def _count_on(connection: psycopg.Connection, table: str, last: int) -> None:
    """Let ids that come later begin behind those that were copied."""
    connection.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, last])
