"""What commands that open the memory have in common."""

import json
import logging
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from insula import foreign
from insula import settings as settings_module
from insula.errors import SettingsError
from insula.llm.budget import Account, Budget, Prices
from insula.night.soul.file import FILE
from insula.redaction import redact
from insula.settings import Settings
from insula.step.fingerprint import digest

DATABASE = "insula.db"
LOG_FILE = "insula.log"
USERS = "users"
"""The folder with a folder of each user."""
PLAIN = 40
"""Characters of a user's name that may name a folder."""


def memory_of(settings: Settings | None = None) -> str:
    """Where memory is: the server that the settings name, else a file in Insula's folder."""
    named = (settings or settings_module.load()).store
    return named.get_secret_value() if named else str(settings_module.home() / DATABASE)


def is_memory() -> bool:
    """Whether there is a memory already; to look at how all stands makes none."""
    settings = settings_module.load()
    return settings.store is not None or (settings_module.home() / DATABASE).is_file()


def soul_of(user: str) -> Path:
    """Where a user's SOUL.md lies: in a folder of their own."""
    plain = user.isascii() and user.replace("-", "").replace("_", "").isalnum() and len(user) <= PLAIN
    return settings_module.home() / USERS / (user if plain else f"x{digest(user, 16)}") / FILE


def counted(number: int, noun: str) -> str:
    """A number of things, in words: "1 change", "2 changes"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
    """The caps that a person set.

    Raises:
        SettingsError: a cap on cost without prices.
    """
    budget = Budget(
        calls=settings.max_calls,
        tokens=settings.max_total_tokens,
        seconds=settings.max_seconds,
        cost=settings.max_cost,
    )
    priced = settings.price_input or settings.price_output
    if settings.max_cost is not None and not priced:
        raise SettingsError("A cap on cost needs prices; set price_input and price_output, for a million tokens each.")
    prices = Prices(input_per_million=settings.price_input, output_per_million=settings.price_output)
    return Account(budget=budget, prices=prices if priced else None)
