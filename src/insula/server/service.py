"""What the server serves: one agent, whose users it keeps apart."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from insula.agent.chat import Chat
from insula.memory.storage.store import Store
from insula.memory.storage.unread import TOKENS_A_DAY
from insula.metacognition import Metacognition
from insula.server.live import LiveLedger
from insula.server.tokens import Attempts, Keys
from insula.server.turns import RunningTurns

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names by which this machine alone is reached."""
_FILE = re.compile(r"""(['"])(?=/|[A-Za-z]:\\)(?:(?!\1).)*[/\\]((?:(?!\1)[^/\\])+)\1""")
"""A file as our errors quote it, with its folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The agent and what a server needs to know about it; one value, handed to `create_app`."""

    chat: Chat
    model: str
    """The name of the model, as a person wrote it."""
    soul_of: Callable[[str], Path | None]
    """Where a user's SOUL.md lies; None keeps it in the store alone."""
    keys: Keys = field(default_factory=Keys)
    """Who may come in. Where there is any token, each request needs one, and it says who the user is."""
    home: Path | None = None
    """Insula's folder, where what is done to guidance and data is written down; None for nowhere."""
    hosts: tuple[str, ...] = LOOPBACK
    """Names that may stand in a Host header, without a port."""
    understands: bool = False
    """Whether the model is one that can summarise and reflect; else the night does without."""
    understanding: str = "night"
    """When it reads what was said: `off`, `night` or `idle`."""
    understanding_tokens: int = TOKENS_A_DAY
    """Tokens that reading one user's lines may take in a day."""
    zone_of: Callable[[str], tzinfo | None] = lambda _: None
    """Where a user sleeps; None for where the machine stands."""
    nightly: bool = False
    """Whether nights run by themselves, in quiet hours; else only when somebody asks for one."""
    live: LiveLedger = field(default_factory=LiveLedger)
    turns: RunningTurns = field(default_factory=RunningTurns)
    attempts: Attempts = field(default_factory=Attempts)

    @property
    def mind(self) -> Metacognition:
        """What watches and steers the agent."""
        return self.chat.metacognition

    @property
    def store(self) -> Store:
        """Where all that is kept stands."""
        return self.mind.store

    def hide_machine(self, sentence: str) -> str:
        """A sentence of ours as users may read it: where they have tokens, the machine is not theirs, and files are
        told without the folders that they lie in; the log has them.
        """
        return _FILE.sub(r"\1\2\1", sentence) if self.keys else sentence
