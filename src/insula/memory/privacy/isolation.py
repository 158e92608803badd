"""On whose behalf the store is used: a server of PostgreSQL shows that user's rows alone, whatever is asked for (RLS).

Who came in through the door stays: what runs within cannot speak for somebody else. Where nobody is named the house
itself acts (the gate of the nights, commands), which sees all.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

WHOSE: ContextVar[str] = ContextVar("insula_whose", default="")
"""The name of the user; empty for the house."""
SETTING = "insula.whose"
"""The same for a transaction, as the policies of PostgreSQL read it."""


@contextmanager
def on_behalf_of(user: str) -> Generator[None]:
    """Within the block the store is used on behalf of a user, unless it is used on somebody's behalf already."""
    if WHOSE.get():
        yield
        return
    token = WHOSE.set(user)
    try:
        yield
    finally:
        WHOSE.reset(token)
