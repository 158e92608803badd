"""What a service instance writes down of itself: its snapshots, and its state across restarts (S8, S11)."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert  # SQLite's own statement reads the same

from insula.memory.storage.schema import services, snapshots
from insula.value import is_object

KIND = "meta_reflection"
"""What a snapshot is stored as (seed 003)."""
FORGOTTEN = 30 * 86_400.0
"""Seconds after which the state of a service that is silent is forgotten."""
KEPT = 10_000
"""Snapshots of a service that stay in the store."""


def read_state(connection: sa.Connection, service: str) -> Mapping[str, Any]:
    """The state that a service wrote last, else that of any other; empty where there is none."""
    own = sa.case((services.c.name == service, 0), else_=1)
    query = sa.select(services.c.data).order_by(own, services.c.at.desc()).limit(1)
    state = connection.execute(query).scalar()
    return state if is_object(state) else {}


def write_state(
    connection: sa.Connection,
    service: str,
    state: Mapping[str, Any],
    snapshot: Mapping[str, Any] | None,
    at: float,
) -> None:
    """Write the state in place of the one before, and a snapshot behind those before; others' stay as they are."""
    connection.execute(sa.delete(services).where(services.c.at < at - FORGOTTEN))
    new = insert(services).values(name=service, data=dict(state), at=at)
    connection.execute(
        new.on_conflict_do_update(index_elements=["name"], set_={"data": new.excluded.data, "at": new.excluded.at})
    )
    if snapshot is None:
        return
    row = {"turn_counter": snapshot["turn_counter"], "data": {"type": KIND, **snapshot}, "at": at}
    added = connection.execute(sa.insert(snapshots).values(service=service, **row).returning(snapshots.c.id))
    oldest = added.scalar_one() - KEPT
    connection.execute(sa.delete(snapshots).where(snapshots.c.service == service, snapshots.c.id <= oldest))
