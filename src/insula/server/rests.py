"""Between turns: who has said nothing for a minute is read by their own model, where the settings say so (K3a)."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

from insula.errors import BudgetExceeded, InsulaError
from insula.memory.storage import unread
from insula.night.understanding import REST_SECONDS, read_next_lines
from insula.server.service import Service
from insula.server.timer import run_beside

log = logging.getLogger(__name__)

LOOK_SECONDS = 15.0
"""How often it is looked who rests."""
AT_ONCE = 2
"""Users whose lines are read at once: conversations come first."""
MOST = 100
"""Users that one look finds; the others are found by the next."""
AGAIN_SECONDS, SPENT_SECONDS = 300.0, 3_600.0
"""How long a user waits whose lines could not be read, and whose tokens of the day are spent."""


@asynccontextmanager
async def run_rests(service: Service) -> AsyncGenerator[None]:
    """Lines are read between turns as long as the block lasts, where that is wanted and a model is there for it."""
    wanted = service.understanding == "idle" and service.understands
    async with run_beside(Rests(service).run_forever() if wanted else None):
        yield


class Rests:
    """Knows whom it tried in vain; what is to be read stands in the store, and survives restarts."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._store = service.chat.metacognition.store
        self._again: dict[str, float] = {}

    async def run_forever(self) -> None:
        """Look who rests, again and again; no failure ends it."""
        while True:
            try:
                await self.read_resting()
            except Exception:
                self._count_failure()
                log.exception("It could not be seen who rests; it is tried again.")
            await asyncio.sleep(LOOK_SECONDS)

    async def read_resting(self) -> None:
        """Read the next lines of those who rest, a few at once, whoever has waited longest first."""
        now = self._store.now()
        self._again = {user: at for user, at in self._again.items() if now < at}
        resting = await self._store.read(unread.list_resting, now, REST_SECONDS, MOST + len(self._again))
        users = iter([user for user in resting if user not in self._again])
        await asyncio.gather(*(self._work_users(users) for _ in range(AT_ONCE)))

    async def _work_users(self, users: Iterator[str]) -> None:
        for user in users:
            await self._read_user(user)

    async def _read_user(self, user: str) -> None:
        """Read the next lines of a user, within their own boundary."""
        chat, now = self._service.chat, self._store.now()
        try:
            await read_next_lines(
                self._store,
                user,
                chat.model,
                account=chat.account,
                embed=chat.metacognition.engine.embed,
                tokens=self._service.understanding_tokens,
            )
        except BudgetExceeded:
            self._again[user] = now + SPENT_SECONDS
        except InsulaError as error:
            self._again[user] = now + AGAIN_SECONDS
            self._count_failure()
            log.warning("Lines could not be read: %s", type(error).__name__)
        except Exception:
            self._again[user] = now + AGAIN_SECONDS
            self._count_failure()
            log.exception("Lines could not be read; it is tried again.")

    def _count_failure(self) -> None:
        self._service.chat.metacognition.engine.telemetry.failures.labels("understanding").inc()
