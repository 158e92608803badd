"""The first line of a session costs the same whatever all others have said."""

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from insula.memory import statements
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.item import new_item
from insula.memory.store import Store
from insula.testing import memory_store
from insula.text.analysis import analyse

pytestmark = pytest.mark.anyio


async def plan_of_a_first_line(store: Store) -> str:
    """How the database goes about writing the memory of a session's first line."""
    place, analysis = await store.place("me", "new"), analyse("Ana lives in Lisbon.")
    item = new_item(analysis, encode(analysis, USER, ASSISTANT), "user", USER, (), ())

    def work(connection: sa.Connection) -> str:
        run: list[tuple[str, tuple[object, ...]]] = []

        def note(_: object, __: object, statement: str, parameters: tuple[object, ...], *___: object) -> None:
            run.append((statement, parameters))

        event.listen(connection, "before_cursor_execute", note)
        statements.write(connection, place, None, item, 0.0)
        event.remove(connection, "before_cursor_execute", note)
        statement, values = next(one for one in run if one[0].startswith("INSERT INTO memories"))
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
        return "\n".join(str(row) for row in plan)

    return await store.run(work)


async def test_the_line_before_it_is_looked_for_among_those_of_the_session() -> None:
    async with memory_store() as store:
        plan = await plan_of_a_first_line(store)
    assert "ix_memories_user_id_session_id_promoted_at (user_id=? AND session_id=?)" in plan
    assert "SCAN memories" not in plan
