"""The tables of an older store, brought up to date in the transaction of whoever opens it."""

from pathlib import Path

import sqlalchemy as sa


def upgrade_tables(connection: sa.Connection) -> None:
    """Bring the tables up to date in the transaction that is under way: a kill leaves the old ones, or the new.

    Alembic (0.2 s of CPU) is imported here alone, so only where the tables are older.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
