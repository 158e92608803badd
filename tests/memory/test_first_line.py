"""The first line of a session, and a page of memories, cost the same however much was said."""

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from insula.language.owner import ASSISTANT, USER
from insula.memory.item import new_item
from insula.memory.retrieval.encoding import encode_claims
from insula.memory.storage import statements, views
from insula.memory.storage.filters import Filter
from insula.memory.storage.store import Store
from insula.testing import memory_store
from insula.text.analysis import analyse_text

pytestmark = pytest.mark.anyio


async def plan_of_a_first_line(store: Store) -> str:
    """How the database goes about writing the memory of a session's first line."""
    place, analysis = await store.resolve_place("me", "new"), analyse_text("Ana lives in Lisbon.")
    item = new_item(analysis, encode_claims(analysis, USER, ASSISTANT), "user", USER, (), ())

    def work(connection: sa.Connection) -> str:
        run: list[tuple[str, tuple[object, ...]]] = []

        def note(_: object, __: object, statement: str, parameters: tuple[object, ...], *___: object) -> None:
            run.append((statement, parameters))

        event.listen(connection, "before_cursor_execute", note)
        statements.write_message(connection, place, None, item, 0.0)
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


async def test_a_page_of_memories_is_read_in_its_order_and_not_sorted_from_all_of_them() -> None:
    async with memory_store() as store:
        plan = await store.run(plan_of_a_page)
    assert "ix_memories_user_id_id (user_id=? AND id<?)" in plan
    assert "TEMP B-TREE" not in plan


def plan_of_a_page(connection: sa.Connection) -> str:
    """How the database goes about a page of memories."""
    run: list[tuple[str, tuple[object, ...]]] = []

    def note(_: object, __: object, statement: str, parameters: tuple[object, ...], *___: object) -> None:
        run.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    views.list_memories(connection, "me", Filter(), 1_000, 50)
    event.remove(connection, "before_cursor_execute", note)
    statement, values = next(one for one in run if "ORDER BY memories.id DESC" in one[0])
    return "\n".join(str(row) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values))
