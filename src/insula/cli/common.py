"""What commands that open the memory have in common."""

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TypeVar

from insula import foreign
from insula import settings as settings_module
from insula.caches import clear_on_erasure
from insula.cli.input_history import InputHistory
from insula.coding.step.digests import hash_text
from insula.llm.budget import Account, Budget
from insula.llm.local import weights_of
from insula.memory.privacy import custody
from insula.memory.privacy.custody import UserFiles
from insula.memory.storage.store import Store
from insula.night.soul.file import FILE
from insula.redaction import redact
from insula.settings import Settings

HOST, PORT, PROXY_PORT = "127.0.0.1", 8787, 8788
"""Where the server and the proxy listen if nothing else is said: on this machine alone, at ports seldom taken."""
DATABASE = "insula.db"
LOG_FILE = "insula.log"
USERS = "users"
"""The folder with a folder of each user."""
PLAIN = 40
"""Characters of a user's name that may name a folder."""
T = TypeVar("T")

input_history = clear_on_erasure(InputHistory())
"""What was typed into chats; it goes with whatever a command, or the server that it starts, erases."""


def memory_of(settings: Settings | None = None) -> str:
    """Where memory is: the server that the settings name, else a file in Insula's folder."""
    named = (settings or settings_module.load_settings()).store
    return named.get_secret_value() if named else str(settings_module.home() / DATABASE)


def is_memory() -> bool:
    """Whether there is a memory already; to look at how all stands makes none."""
    settings = settings_module.load_settings()
    return settings.store is not None or (settings_module.home() / DATABASE).is_file()


def soul_of(user: str) -> Path:
    """Where a user's SOUL.md lies: in a folder of their own."""
    plain = user.isascii() and user.replace("-", "").replace("_", "").isalnum() and len(user) <= PLAIN
    return settings_module.home() / USERS / (user if plain else f"x{hash_text(user, 16)}") / FILE


def house_of(user: str) -> UserFiles:
    """Where the files about a user lie."""
    home = settings_module.home()
    return UserFiles(home, soul_of(user), home / LOG_FILE)


def with_store(work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the memory, do some work with it, and close it."""
    settings_module.check_home(settings_module.home())

    async def run_work() -> T:
        async with await Store.open(memory_of()) as store:
            await finish_erasure(store)
            return await work(store)

    return asyncio.run(run_work())


async def finish_erasure(store: Store) -> None:
    """Finish an erasure that was stopped, and say so."""
    if user := custody.find_unfinished_erasure(settings_module.home()):
        left = await custody.resume_erasure(store, user, house_of(user))
        print(f"insula: An erasure was stopped halfway; it is finished now. {left}".strip(), file=sys.stderr)


def model_understands(name: str) -> bool:
    """Whether a model is asked to understand anybody: an embedded one writes fluently, not truly; `test` nothing."""
    return name != "test" and weights_of(name) is None


class JsonLines(logging.Formatter):
    """One JSON object a line, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if record.exc_info:
            line["error"] = redact(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class LogFile(logging.FileHandler):
    """A file of lines; where it cannot be written, on a full disk say, what is to be logged is lost and no more."""

    def _open(self) -> TextIOWrapper:
        """Open the file, for its owner's eyes alone."""
        with suppress(OSError):
            Path(self.baseFilename).touch(mode=0o600)
            Path(self.baseFilename).chmod(0o600)
        return super()._open()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, if that is possible."""
        with suppress(OSError):
            super().emit(record)

    def close(self) -> None:
        """Let go of the file, though what was left to write is lost."""
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 the name is the base class's
        """Say nothing on the terminal."""


def log_to(path: Path, level: int = logging.WARNING) -> None:
    """Send what fails inside to a file; a person at the terminal sees its one sentence and no more."""
    handler: logging.Handler = logging.NullHandler()
    with suppress(OSError):
        foreign.private(path.parent)
        if (users := path.parent / USERS).is_dir():
            users.chmod(0o700)
        handler = LogFile(path, encoding="utf-8", errors="replace", delay=True)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("insula").setLevel(level)


def account_of(settings: Settings) -> Account:
    """The caps that a person set."""
    budget = Budget(calls=settings.max_calls, tokens=settings.max_total_tokens, seconds=settings.max_seconds)
    return Account(budget=budget)
