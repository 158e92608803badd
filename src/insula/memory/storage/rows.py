"""What the statements of the store bring: one type for each kind of row."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from insula.guidance import Evidence, Life, assess_guidance
from insula.language.statements import Statement
from insula.text.wording import count_noun
from insula.types import MemoryKind, Provenance, SignalKind

NAME_DIGITS = 10
"""Digits of the name of a lesson, behind its first letter."""


def name_of(key: str, section: str) -> str:
    """The name of guidance with a key: that of a guideline, which SOUL.md marks, is its key."""
    return key if section else f"{key[:1]}{key.rpartition('/')[2][:NAME_DIGITS]}"


class StoredSession(NamedTuple):
    """A session as the night sees it."""

    id: int
    name: str
    messages: int
    last: int
    """Id of its last message."""
    ended_at: float
    summarised: int
    """Id of the last message that its summary has seen; 0 without one."""


class TranscriptLine(NamedTuple):
    """One line of a transcript, with its place on the ledger."""

    id: int
    turn: int
    provenance: Provenance
    content: str
    at: float
    score: float | None = None
    """The assessment of a response."""
    speaker: str = ""
    """`user` for the user; a name where others talk."""


class RememberedItem(NamedTuple):
    """An item of long-term memory, as far as consolidation looks at it."""

    id: int
    session_id: int
    kind: str
    provenance: Provenance
    speaker: str
    language: str
    content: str
    importance: float
    terms: frozenset[str]
    said_at: float
    uses: int
    used_at: tuple[float, ...]
    restored: bool = False
    """Whether a person brought it back."""


class Summarised(NamedTuple):
    """A summary as reflection reads it."""

    session_id: int
    content: str
    topics: tuple[str, ...]
    messages: int
    ended_at: float
    memory_id: int = 0
    """Of its text: a summary that was written later has a greater one."""


class Understood(NamedTuple):
    """An insight as it stands, with the sessions that bear it out."""

    id: int
    content: str
    sessions: tuple[int, ...]
    importance: float
    confidence: float


class StoredSignal(NamedTuple):
    """A signal on the ledger."""

    session_id: int
    turn: int
    kind: SignalKind
    data: Mapping[str, Any]
    """As it stands on the disk: a record of its kind (`insula.types`), perhaps of another version."""
    at: float


class StoredGuidance(NamedTuple):
    """A lesson as it stands, with what sessions say of it."""

    id: int
    key: str
    advice: str
    trigger: tuple[str, ...]
    section: str
    author: str
    mode: str
    citations: tuple[int, ...]
    created_at: float
    evidence: tuple[Evidence, ...]
    is_retired: bool = False

    @property
    def name(self) -> str:
        """The id by which people know it, in SOUL.md, in commands and in answers alike."""
        return name_of(self.key, self.section)

    def assess(self, now: float) -> Life:
        """Where it stands by what sessions say of it."""
        return assess_guidance(self.evidence, now, mode=self.mode)


class Change(NamedTuple):
    """What became of a memory."""

    author: str
    """`person`, `night`, or the name of what did it."""
    why: str
    at: datetime


class Revised(NamedTuple):
    """A state of something derived."""

    id: int
    author: str
    content: str
    evidence: Mapping[str, Any]
    at: float

    @property
    def why(self) -> str:
        """In words, where a person made it, or it is of guidance."""
        return str(self.evidence.get("why", ""))

    @property
    def changes(self) -> list[dict[str, Any]]:
        """Each line of a document that a night added, changed or dropped, with its reason."""
        return self.evidence.get("changes", [])

    @property
    def reasons(self) -> list[str]:
        """Why it waits for a person's word, where it does."""
        return [str(reason) for reason in self.evidence.get("reasons", [])]

    @property
    def summary(self) -> str:
        """Why, else how much was changed."""
        return self.why or (count_noun(len(self.changes), "change") if self.changes else "")


class Place(NamedTuple):
    """Where a turn happens: the user and session it belongs to."""

    user_id: int
    session_id: int
    user: str
    session: str


class Voices(NamedTuple):
    """Who talks in what is remembered of a user, and in which languages."""

    languages: frozenset[str]
    speakers: frozenset[str]


class Consolidated(NamedTuple):
    """What a turn moved to long-term memory, and what is left in working memory."""

    ages: tuple[float, ...]
    """Of each item that was promoted, in seconds since it was said."""
    saliences: tuple[float, ...]
    """Of each item that stays and was said lately: in as many turns as working memory holds exchanges."""


class LedgerEntry(NamedTuple):
    """A signal as it stands on the ledger."""

    id: int
    session: str
    turn: int
    kind: str
    reason: str
    at: float
    data: Mapping[str, Any]


class Sitting(NamedTuple):
    """A session, as a list of them shows it."""

    id: int
    name: str
    turns: int
    started_at: float
    last_at: float


class SessionStretch(NamedTuple):
    """A stretch of a session: its lines, and what was noticed in its turns."""

    lines: tuple[TranscriptLine, ...]
    noticed: tuple[LedgerEntry, ...]


class StoredPhaseReport(NamedTuple):
    """What a phase of a night reported."""

    id: int
    night: str
    phase: str
    report: Mapping[str, Any]
    at: float


class CandidateMemory(NamedTuple):
    """A memory that may be recalled, or stands beside one."""

    id: int
    session_id: int
    after_id: int | None
    kind: MemoryKind
    provenance: Provenance
    speaker: str
    language: str
    content: str
    line: str
    withheld: str
    claims: str
    importance: float
    confidence: float
    uses: int
    used_at: str
    vector: bytes | None
    said_at: float
    promoted_at: float | None
    retired_at: float | None
    metadata: str
    session: str
    """The name of its session."""


class StoredStatement(NamedTuple):
    """A statement as it is stored: of which memory, and when it was said."""

    memory: int
    said_at: float
    statement: Statement
    by_tool: bool = False
    ended_by: int = 0
    """The newer memory whose words end all that this one says, where the user's own model read so."""
    ended_at: float = 0.0


class Unstated(NamedTuple):
    """A memory whose statements are to come, and what was said just before it."""

    id: int
    content: str
    provenance: str
    speaker: str
    line: str
    """What of it is shown as a fact."""
    before: str
    before_speaker: str


class Unembedded(NamedTuple):
    """A memory whose vector is to come, and what was said just before it."""

    id: int
    content: str
    provenance: str
    before: str
    stated: tuple[str, ...] = ()
    """Those of its statements whose vectors are to come."""


class Embedded(NamedTuple):
    """The vectors that were made of it, packed."""

    row: Unembedded
    vector: bytes
    stated: Mapping[str, bytes] = {}


class Cited(NamedTuple):
    """A message that a lesson was learned from."""

    id: int
    session: str
    content: str
    at: float
    memory: int = 0
    """The number of its memory, by which a person erases it."""


class StrategyTally(NamedTuple):
    """How often a strategy succeeded and failed."""

    successes: int = 0
    failures: int = 0
