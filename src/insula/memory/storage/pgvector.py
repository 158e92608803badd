"""What pgvector does where a database has it: the memories nearest in meaning, found by the server.

Never required: without it, and for users with very many memories, processes hold the signs of vectors themselves
(`vectors.Neighbourhoods`), which finds the same but for ties. A trigger of the database keeps its table; a user's rows
are made when they are first asked for. Vectors stay where they are, as float16, for archives and the other database.
"""

import logging

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from insula.memory.storage.vectors import Vector

log = logging.getLogger(__name__)

FOUND = "meanings"
"""Its table, and the option of a connection that says whether pgvector serves it."""
MOST = 2_000
"""Memories of a user up to which the server compares all, in a millisecond; the signs of 10^5 take no longer."""

_PRESENT = sa.text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
_MADE = sa.text("SELECT to_regclass('meanings')")
_MAKE = (
    "CREATE TABLE meanings (memory_id bigint PRIMARY KEY, user_id bigint NOT NULL, meaning halfvec NOT NULL)",
    "CREATE INDEX ix_meanings_user_id ON meanings (user_id)",
    """CREATE POLICY insula_own ON meanings USING (
    (SELECT coalesce(current_setting('insula.whose', true), '') = '')
    OR user_id = (SELECT id FROM users WHERE name = current_setting('insula.whose', true)))""",
    "ALTER TABLE meanings ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE meanings FORCE ROW LEVEL SECURITY",
    # float16, little-endian: a sign, five bits of exponent, ten of fraction (IEEE 754)
    """CREATE FUNCTION insula_meaning(packed bytea) RETURNS halfvec LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
SELECT array_agg(
    CASE WHEN bits & 31744 = 0 THEN (bits & 1023) * 2.0::float8 ^ -24
         ELSE (1024 + (bits & 1023)) * 2.0::float8 ^ ((bits >> 10 & 31) - 25) END
    * CASE WHEN bits & 32768 = 0 THEN 1 ELSE -1 END ORDER BY at)::real[]::halfvec
FROM (SELECT at, get_byte(packed, 2 * at) + 256 * get_byte(packed, 2 * at + 1) AS bits
    FROM generate_series(0, length(packed) / 2 - 1) AS at) AS words $$""",
    """CREATE FUNCTION insula_mean() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP <> 'INSERT' THEN DELETE FROM meanings WHERE memory_id = OLD.id; END IF;
    IF TG_OP <> 'DELETE' AND length(NEW.vector) > 0
        AND EXISTS (SELECT 1 FROM meanings WHERE user_id = NEW.user_id) THEN
        INSERT INTO meanings VALUES (NEW.id, NEW.user_id, insula_meaning(NEW.vector)) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$""",
    """CREATE TRIGGER insula_mean AFTER INSERT OR UPDATE OF vector OR DELETE ON memories
FOR EACH ROW EXECUTE FUNCTION insula_mean()""",
)
_KNOWN = sa.text("SELECT 1 FROM meanings WHERE user_id = :user LIMIT 1")
_BEGIN = sa.text("SELECT id FROM users WHERE id = :user FOR NO KEY UPDATE")
_ALL = sa.text("""INSERT INTO meanings SELECT id, user_id, insula_meaning(vector) FROM memories
WHERE user_id = :user AND length(vector) > 0 ON CONFLICT DO NOTHING""")
_NEAREST = sa.text("""SELECT memory_id FROM meanings JOIN memories ON memories.id = memory_id
WHERE meanings.user_id = :user AND memories.user_id = :user AND promoted_at IS NOT NULL AND retired_at IS NULL
    AND vector_dims(meaning) = :dimensions
ORDER BY meaning <=> CAST(:vector AS halfvec), memory_id DESC LIMIT :limit""")


def make(connection: sa.Connection) -> bool:
    """Make what is needed where the extension is there; False where it is not, or where that may not be done."""
    if connection.execute(_PRESENT).scalar() is None:
        return False
    try:
        if connection.execute(_MADE).scalar() is None:
            with connection.begin_nested():
                for statement in _MAKE:
                    connection.exec_driver_sql(statement)
    except DBAPIError as error:
        log.warning("pgvector is there and goes unused: %s", error.orig)
        return False
    return True


def tables(connection: sa.Connection) -> tuple[str, ...]:
    """What holds something of what users said beside the tables that every store has."""
    return (FOUND,) if connection.get_execution_options().get(FOUND) else ()


def serves(connection: sa.Connection, memories: int) -> bool:
    """Whether it is asked for the nearest of a user with so many memories."""
    return bool(connection.get_execution_options().get(FOUND)) and memories <= MOST


def nearest(connection: sa.Connection, user_id: int, vector: Vector, limit: int) -> list[int]:
    """The ids of a user's long-term memories nearest to a vector, nearest first."""
    mine = {"user": user_id}
    if connection.execute(_KNOWN, mine).scalar() is None:
        connection.execute(_BEGIN, mine)  # what is written meanwhile waits, and is then added by the trigger
        connection.execute(_ALL, mine)
    asked = f"[{','.join(map(str, vector.tolist()))}]"
    values = mine | {"vector": asked, "dimensions": vector.size, "limit": limit}
    return list(connection.execute(_NEAREST, values).scalars())
