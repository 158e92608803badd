"""The tables that all later versions change: `schema.make_tables` makes them, whole, where there are none."""

revision = "0012"
down_revision = None


def upgrade() -> None:
    """A store of this version has its tables."""
