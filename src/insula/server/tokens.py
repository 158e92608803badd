"""Tokens: whose they are, kept as digests, each with a name, a date and an end, in one file of Insula's folder.

Who has a token may read all that is known of its user, so the file is for its owner's eyes alone, and what stands in it
opens nothing. While the file is there, nobody comes in without a token, though none is left in it.

A token that is nobody's is logged, and the more of them come from an address, the longer they wait.
"""

import logging
import os
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from insula import foreign
from insula.caches import LatestEntries
from insula.errors import InputError, SettingsError
from insula.files import replace_file

log = logging.getLogger(__name__)

FILE = "tokens.json"
PREFIX = "insula_"
"""What a token begins with, so that it is known for one where it was left lying."""
RANDOM_BYTES = 24
"""192 bits: nobody guesses them, so a digest without salt tells nothing."""
DAY = 86_400.0
NAME_CHARS = 60
MOST_BYTES = 5_000_000
OTHERS = 0o077
"""The bits of a mode that let anybody but the owner at a file."""


class Token(BaseModel):
    """What is kept of a token: all but the token."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """What a person calls it; of those in force no two are called the same."""
    user: str
    digest: str
    made: float
    expires: float | None
    """When it ends, in seconds since the epoch; None for never."""
    operator: bool = False
    """Whether it shows how the nights of all users go: for who looks after the server."""

    def is_valid(self, now: float) -> bool:
        """Whether it still opens anything."""
        return self.expires is None or now < self.expires


NONE_LEFT = "No token is left, so nobody comes in; make one with `insula token new NAME`."
"""Said wherever somebody stands before a door that opens to nobody."""

_TOKENS = TypeAdapter(tuple[Token, ...])


def digest_token(token: str) -> str:
    """What is kept of a token's text."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def read_tokens(path: Path) -> tuple[Token, ...]:
    """The tokens in a file; none where there is no file."""
    try:
        check_private(path)
        return _TOKENS.validate_json(foreign.read(path, MOST_BYTES))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise SettingsError(f"The tokens in {str(path)!r} cannot be read ({foreign.why(error)}); mend that.") from error
    except ValidationError as error:
        raise SettingsError(
            f"What stands in {str(path)!r} are no tokens; take the file away, and make new ones: insula token new NAME."
        ) from error


def check_private(path: Path) -> None:
    """See that a file with tokens is for its owner's eyes alone."""
    mode = path.stat().st_mode & 0o777
    if os.name == "posix" and mode & OTHERS:
        raise SettingsError(
            f"Others on this machine may read the tokens in {str(path)!r} (mode {mode:o}), so it is not used; take "
            f"that from them with `chmod 600 {path}`, and make new tokens if anybody else was there."
        )


def write_tokens(path: Path, tokens: Sequence[Token]) -> None:
    """Put tokens into a file, whole or not at all, for its owner's eyes alone."""
    try:
        foreign.private(path.parent)
        with replace_file(path) as file:
            file.write(_TOKENS.dump_json(tuple(tokens), indent=1, exclude_defaults=True))
    except OSError as error:
        raise SettingsError(f"The tokens cannot be written to {str(path)!r} ({foreign.why(error)}).") from error


def add_token(
    known: Sequence[Token], user: str, name: str, now: float, days: float, *, operator: bool = False
) -> tuple[str, tuple[Token, ...]]:
    """A new token's text, which is told once, and all tokens with it.

    Args:
        name: what to call it; empty for a number.
        days: after which it ends; 0 for never.
        operator: whether it shows how the nights of all users go, too.
    """
    taken = {kept_token.name for kept_token in known if kept_token.is_valid(now)}
    name = name or next(f"{user}-{number}" for number in range(1, len(known) + 2) if f"{user}-{number}" not in taken)
    if len(name) > NAME_CHARS + len(user) or not name.isprintable():
        raise InputError(f"A token's name has at most {NAME_CHARS} characters that can be seen; choose another.")
    if name in taken:
        raise InputError(f"There is a token {name!r} already; name this one otherwise, or revoke that one first.")
    text = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    expires = now + days * DAY if days else None
    token = Token(name=name, user=user, digest=digest_token(text), made=now, expires=expires, operator=operator)
    return text, (*(kept_token for kept_token in known if kept_token.name != name), token)


def remove_token(known: Sequence[Token], name: str) -> tuple[Token, ...]:
    """All tokens but one."""
    left = tuple(token for token in known if token.name != name)
    if len(left) == len(known):
        raise InputError(f"There is no token {name!r}; `insula token list` shows those that there are.")
    return left


@dataclass(slots=True, eq=False)
class Keys:
    """Who may come in now: what stands in the file, read anew when it has changed.

    A file that cannot be used opens nothing, and is said once.
    """

    path: Path | None = None
    now: Callable[[], float] = time.time
    _stamp: tuple[int, ...] | None = None
    _kept: tuple[Token, ...] = ()

    def __bool__(self) -> bool:
        """Whether a request needs a token."""
        return self.file_stamp() is not None

    @property
    def are_gone(self) -> bool:
        """Whether requests need a token, and none is in force: the last one was revoked, erased, or is over."""
        return bool(self) and not any(token.is_valid(self.now()) for token in self._read_tokens())

    def file_stamp(self) -> tuple[int, ...] | None:
        """What tells the file as it is now from any other; None where there is none."""
        try:
            status = self.path.stat() if self.path else None
        except OSError:
            return None
        return (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode) if status else None

    def find_token(self, text: str) -> Token | None:
        """The token in force of a text; all are compared, in constant time, so that the time taken tells nothing."""
        wanted, found = digest_token(text), None
        for token in self._read_tokens():
            if compare_digest(token.digest, wanted) and token.is_valid(self.now()):
                found = token
        return found

    def _read_tokens(self) -> tuple[Token, ...]:
        stamp = self.file_stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._kept = read_tokens(self.path) if self.path else ()
            except SettingsError as error:
                log.error("%s", error)
                self._kept = ()
        return self._kept


def revoke_user(path: Path, user: str) -> int:
    """Take a user's tokens out of a file; returns how many there were."""
    known = read_tokens(path)
    left = [token for token in known if token.user != user]
    if len(left) < len(known):
        write_tokens(path, left)
    return len(known) - len(left)


WINDOW_SECONDS = 600.0
"""For how long a failure counts."""
FREE = 3
"""Failures in that time that wait no longer than a person who mistyped would notice."""
FIRST_SECONDS = 1.0
MOST_SECONDS = 15.0
MOST_FAILURES = 50
"""In that time, from which on there is no more waiting, but a refusal at once: those who wait cost memory."""
ADDRESSES = 1_000
"""Addresses that are remembered."""


class Attempts:
    """How often an address failed of late. A right token never waits."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures = LatestEntries[str, list[float]](ADDRESSES)

    def note_failure(self, address: str) -> float | None:
        """Take a failure in; returns how many seconds its answer waits, or None where there were too many."""
        since = self._now() - WINDOW_SECONDS
        failures = [at for at in self._failures.get(address, ()) if at > since][-MOST_FAILURES:]
        failures.append(self._now())
        self._failures[address] = failures
        log.warning("A sign-in failed: a token from %s is nobody's; %d in ten minutes.", address, len(failures))
        return None if len(failures) > MOST_FAILURES else delay_seconds(len(failures))


def delay_seconds(failures: int) -> float:
    """Seconds that the answer to the last of so many failures waits."""
    return min(FIRST_SECONDS * max(1, failures - FREE), MOST_SECONDS)
