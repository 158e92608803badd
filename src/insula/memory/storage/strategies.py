"""How strategies did, by model and class of problem: counts alone, and no word of a user (M4)."""

from collections.abc import Mapping

import sqlalchemy as sa

from insula.memory.retrieval.index import add_missing
from insula.memory.storage.rows import StrategyTally
from insula.memory.storage.schema import strategies
from insula.memory.storage.store import Store


class StoredRecords:
    """Records that stay in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self, model: str, kind: str) -> Mapping[str, StrategyTally]:
        """Successes and failures of each strategy that a model has tried on problems of a class."""
        return await self._store.run(read_tallies, model, kind)

    async def add(self, model: str, kind: str, strategy: str, success: bool) -> None:
        """Count one more outcome."""
        await self._store.run(count_outcome, model, kind, strategy, success, self._store.now())


def read_tallies(connection: sa.Connection, model: str, kind: str) -> dict[str, StrategyTally]:
    """Successes and failures of each strategy."""
    table = strategies.c
    query = sa.select(table.strategy, table.successes, table.failures).where(table.model == model, table.kind == kind)
    return {row.strategy: StrategyTally(row.successes, row.failures) for row in connection.execute(query)}


def count_outcome(connection: sa.Connection, model: str, kind: str, strategy: str, success: bool, at: float) -> None:
    """Count one more outcome."""
    key = {"model": model, "kind": kind, "strategy": strategy}
    add_missing(connection, strategies, {**key, "successes": 0, "failures": 0, "at": at})
    table = strategies.c
    more = {"successes": table.successes + int(success), "failures": table.failures + int(not success), "at": at}
    row = (table.model == model, table.kind == kind, table.strategy == strategy)
    connection.execute(sa.update(strategies).where(*row).values(more))
