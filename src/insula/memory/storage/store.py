"""The store: a database, and the four repositories that read and write it.

Everything but `open` is reached through a user's id.
"""

import time
from collections.abc import Callable
from pathlib import Path

from insula.errors import InputError
from insula.memory.retrieval.retrieve import Recollection
from insula.memory.storage import statements
from insula.memory.storage.database import Database
from insula.memory.storage.repositories import GuidanceRepository, MemoryRepository, NightRepository, SessionRepository
from insula.memory.storage.rows import Place, TurnLine
from insula.redaction import holds_token, redact
from insula.text.analysis import clean_text

__all__ = ["Place", "Recollection", "Store", "TurnLine"]

NAME_CHARS = 200
_CACHED_PLACES = 1_000


class Store(Database):
    """Users, sessions, transcripts, memories and the ledger."""

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time) -> None:
        self._places: dict[tuple[str, str], Place] = {}
        super().__init__(path, now)
        self.sessions = SessionRepository(self)
        self.memories = MemoryRepository(self)
        self.nights = NightRepository(self)
        self.guidance = GuidanceRepository(self)

    async def resolve_place(self, user: str, session: str) -> Place:
        """The ids of a user and a session, made when they are new.

        Raises:
            InputError: a name is empty or longer than 200 characters.
        """
        if (known := self._places.get((user, session))) is not None:
            return known
        check_names(user, session)
        place = await self.run(statements.resolve_place, user, session, self.now())
        if len(self._places) >= _CACHED_PLACES:
            self._places.clear()
        return self._places.setdefault((user, session), place)

    def drop_cached(self) -> None:
        """Let go of what is held in memory of the database."""
        super().drop_cached()
        self._places.clear()


def check_types(**names: object) -> None:
    """Whether names and other words are texts at all.

    Raises:
        InputError: one of them is none.
    """
    for label, name in names.items():
        if not isinstance(name, str):
            raise InputError(f"The {label} {str(name)[:40]} is no text; give it as one, such as {str(name)[:40]!r}.")


def check_names(user: str, session: str) -> None:
    """Whether a user and a session may be called so.

    Raises:
        InputError: a name is no text, empty, too long, or holds what is not kept: a secret, a control character, a line
            end.
    """
    check_types(user=user, session=session)
    for label, name in (("user", user), ("session", session)):
        plain = clean_text(name).replace("\n", " ")
        if not name.strip() or len(name) > NAME_CHARS or plain != name or holds_token(name):
            shown = redact(plain)[:40]
            raise InputError(f"The {label} name {shown!r} cannot be used; give 1 to {NAME_CHARS} plain characters.")
