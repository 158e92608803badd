"""What a phase of the night changes, as values: a phase decides, and the store writes all of it, or nothing."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from insula.types import SignalKind, SignalRecord


class Summary(NamedTuple):
    """What a session was about (R0)."""

    session_id: int
    content: str
    topics: tuple[str, ...]
    messages: int
    up_to: int
    """Id of the last message that it has seen."""


class Merge(NamedTuple):
    """Memories that say the same become one; the others are retired, and stay as its sources."""

    kept: int
    others: tuple[int, ...]
    why: str


class Forget(NamedTuple):
    """A memory is retired; `restore_memory` brings it back."""

    memory_id: int
    why: str


class InsightChange(NamedTuple):
    """Something understood about how to work with the user (R3), with the sessions it cites."""

    content: str
    topics: tuple[str, ...]
    sessions: tuple[int, ...]
    importance: float
    confidence: float


class LessonChange(NamedTuple):
    """Guidance that was learned; one with the same key gains the citations, and a lesson takes the trigger and advice,
    which say what all its citations have in common."""

    key: str
    advice: str
    trigger: tuple[str, ...]
    """Terms of a message; of a guideline the topics of the talks that it was learned in."""
    section: str
    """Of SOUL.md; empty for a lesson."""
    author: str
    """`derived` or `person`."""
    citations: tuple[int, ...]
    """Ids of the user's messages."""


class Retired(NamedTuple):
    """Guidance that is told no more, with a record of what it was (law 8); saying it again brings it back."""

    key: str
    author: str
    """`user` where the user's newest word did it, `person` where a command did, `night`."""
    why: str
    by: str = ""
    """Key of what took its place."""
    message: int = 0
    """Id of the message that said so."""


class Reworded(NamedTuple):
    """Guidance has other words, and its old ones are kept."""

    key: str
    advice: str
    why: str


class Noted(NamedTuple):
    """An entry on the ledger of signals, at the end of a session (K8)."""

    session_id: int
    kind: SignalKind
    reason: str
    data: SignalRecord


class Lived(NamedTuple):
    """What a session says of a lesson whose trigger appeared in it."""

    lesson_id: int
    session_id: int
    arm: str
    happened: bool


class RevisionChange(NamedTuple):
    """A state of something derived, so that it can be undone (law 8)."""

    subject: str
    author: str
    content: str
    evidence: Mapping[str, object]
    after: int | None = None
    """Id of the state that it was made from, 0 for none: where another one stands by then, the phase has failed, and
    nothing of it is written. None is written whatever stands."""


Change = Summary | Merge | Forget | InsightChange | LessonChange | Retired | Reworded | Noted | Lived | RevisionChange
Changes = Sequence[Change]
