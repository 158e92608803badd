"""Tokens that were nobody's: each is logged, and the more of them come from an address, the longer they wait."""

import logging
import time
from collections.abc import Callable

from insula.caches import LatestEntries

log = logging.getLogger(__name__)

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
