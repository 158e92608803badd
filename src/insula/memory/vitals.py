"""What a service instance writes down of itself: its snapshots, and its state across restarts (S8, S11)."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from insula.memory.schema import services, snapshots
from insula.value import is_object

KIND = "meta_reflection"
"""What a snapshot is stored as (seed 003)."""
KEPT = 10_000
"""Snapshots of a service that stay in the store."""


def read(connection: sa.Connection, service: str) -> Mapping[str, Any]:
    """The state that was written last; empty where there is none."""
    found = connection.execute(sa.select(services.c.data).where(services.c.name == service)).scalar()
    return found if is_object(found) else {}


def write(
    connection: sa.Connection,
    service: str,
    state: Mapping[str, Any],
    snapshot: Mapping[str, Any] | None,
    at: float,
) -> None:
    """Write the state in place of the one before, and a snapshot behind those before."""
    connection.execute(sa.delete(services).where(services.c.name == service))
    connection.execute(sa.insert(services).values(name=service, data=dict(state), at=at))
    if snapshot is None:
        return
    row = {"turn_counter": snapshot["turn_counter"], "data": {"type": KIND, **snapshot}, "at": at}
    added = connection.execute(sa.insert(snapshots).values(service=service, **row).returning(snapshots.c.id))
    oldest = added.scalar_one() - KEPT
    connection.execute(sa.delete(snapshots).where(snapshots.c.service == service, snapshots.c.id <= oldest))
