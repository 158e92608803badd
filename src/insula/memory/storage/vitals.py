"""What a service instance writes down of itself: its snapshots, and its state across restarts (S8, S11)."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert  # SQLite's own statement reads the same

from insula.memory.storage.prepared import Prepared
from insula.memory.storage.schema import services, snapshots
from insula.value import is_object

KIND = "meta_reflection"
"""What a snapshot is stored as (seed 003)."""
FORGOTTEN = 30 * 86_400.0
"""Seconds after which the state of a service that is silent is forgotten."""
KEPT = 10_000
"""Snapshots of a service that stay in the store."""
_NEW = insert(services)
_STATE = Prepared(
    _NEW.on_conflict_do_update(index_elements=["name"], set_={"data": _NEW.excluded.data, "at": _NEW.excluded.at})
)
_SILENT = Prepared(sa.delete(services).where(services.c.at < sa.bindparam("before")))
_SNAPSHOT = Prepared(sa.insert(snapshots).returning(snapshots.c.id))
_OLDEST = Prepared(
    sa.delete(snapshots).where(snapshots.c.service == sa.bindparam("mine"), snapshots.c.id <= sa.bindparam("last"))
)


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
    _SILENT.write_rows(connection, [{"before": at - FORGOTTEN}])
    _STATE.write_rows(connection, [{"name": service, "data": dict(state), "at": at}])
    if snapshot is None:
        return
    row = {"turn_counter": snapshot["turn_counter"], "data": {"type": KIND, **snapshot}, "at": at}
    (added,) = _SNAPSHOT.fetch_values(connection, {"service": service, **row})
    _OLDEST.write_rows(connection, [{"mine": service, "last": added - KEPT}])
