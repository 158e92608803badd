"""The look back at the coding agents of this machine, done beside the server and kept for a while."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from insula.coding.hosts import places, switch
from insula.coding.replay.chapter import Overview, make_overview
from insula.coding.replay.find import FoundTranscripts, find_transcripts
from insula.coding.replay.gather import Gathered, gather_sessions

FRESH_SECONDS = 300.0
"""How long a look is good for."""


@dataclass(frozen=True, slots=True)
class LookbackState:
    """What was seen, or how far the look is."""

    view: Overview | None = None
    read: int = 0
    size: int = 0
    error: str = ""


class Lookback:
    """One look at a time, in a thread of its own.

    Args:
        search: finds the transcripts; by default those of this machine's coding agents.
    """

    def __init__(self, search: Callable[[], FoundTranscripts] = lambda: find_transcripts(())) -> None:
        self._search = search
        self._task: asyncio.Task[None] | None = None
        self._looked = LookbackState()
        self._at = 0.0

    def look_back(self) -> LookbackState:
        """What is known; begins a look where there is none, or only an old one."""
        stale = self._looked.view is None or time.monotonic() - self._at > FRESH_SECONDS
        if stale and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run_look())
        return self._looked

    async def _run_look(self) -> None:
        try:
            view = await asyncio.to_thread(self._read_transcripts)
        except Exception as error:  # noqa: BLE001 an odd transcript must not take the page with it; the reason is shown
            self._looked = LookbackState(error=f"The sessions cannot be read ({type(error).__name__}: {error}).")
            return
        self._looked, self._at = LookbackState(view), time.monotonic()

    def _read_transcripts(self) -> Overview:
        transcripts = self._search()
        size = sum(source.size for sources in transcripts.sessions for source in sources)
        read = 0

        def add_progress(bytes_: int) -> None:
            nonlocal read
            read += bytes_
            if self._looked.view is None:
                self._looked = LookbackState(read=read, size=size)

        gathered: Gathered = gather_sessions(transcripts, add_progress, switch.list_senses(places.find_home()))
        return make_overview(gathered.sessions, gathered.totals)
