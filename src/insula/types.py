"""The nouns that cross folders: frozen values, no behaviour beyond what their own fields decide."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NotRequired, Required, TypedDict

Provenance = Literal["user", "assistant", "tool", "derived"]
"""Where a text came from. Derived text (generated from other records) never becomes evidence (law 2)."""

MemoryKind = Literal["episodic", "semantic", "procedural", "insight", "meta_reflection"]
"""Tulving's kinds, and two of our own. Semantic memories assert something; episodic ones only happened."""

MemoryState = Literal["long-term", "working", "retired"]
"""Where a memory stands; what is retired was merged, forgotten or erased."""
MemoryMode = Literal["", "pinned", "muted"]
"""A person's word on a memory, if any."""

Level = Literal["high", "medium", "low"]
Bearing = Literal["answers", "history", "bears", "other"]
"""What a memory has to do with what is asked: it answers, did once, bears on it, or is another matter."""
Outcome = Literal["passed", "doubtful", "unclear"]
"""What came of an assessment; "unclear": nothing speaks against the response but its distance from the message's words,
which tells too little to doubt it."""

Voice = Literal["plain", "formal", "warm"]

Flag = Literal[
    "empty",
    "off_topic",
    "incomplete",
    "ignored_memory",
    "declined",
    "other_person",
    "unsupported",
    "constraint",
    "incorrect",
    "leak",
    "echo",
    "wrong_language",
    "forbidden_pattern",
    "off_tone",
    "too_short",
    "too_long",
    "repetition",
    "unsure",
]

PASS_THRESHOLD = 0.7
"""An assessment at or above this passes (seed 000: 0.7)."""

HEDGE_THRESHOLD = 0.5
"""From here up to `PASS_THRESHOLD` a response is hedged; below it is flagged (seed 000: 0.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the agent is. A person writes it, Insula never edits it; by default nothing is said."""

    name: str = ""
    about: str = ""
    """One or two sentences that complete "You are NAME, …"; without a name, "You are …"."""
    voice: Voice = "plain"
    """The manner of the hedges, and what counts as off tone."""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes that it may answer in, its own first; empty: that of the message."""
    forbidden: tuple[str, ...] = ()
    """Regular expressions, case-insensitive; a response that matches one is flagged, and never blocked."""
    guidance: Mapping[str, str] = field(default_factory=dict[str, str])
    """Topic -> what the agent should do about it; shown when a message touches the topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """An item of long-term or working memory, as recalled."""

    id: int
    kind: MemoryKind
    provenance: Provenance
    speaker: str
    """Who said it: "user", "assistant", the name of a tool, or a person's name."""
    content: str
    said_at: datetime
    session: str
    importance: float
    confidence: float
    line: str
    """The content as it may stand in a prompt: one visible line, cut and without secrets."""
    withheld: tuple[str, ...] = ()
    """Why it may not: what it was screened for when it was written."""
    uses: int = 0
    state: MemoryState = "long-term"
    mode: MemoryMode = ""
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict[str, str | int | float | bool])
    """What the host said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory with its score in [0, 1] and the parts that made the score."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    terms: frozenset[str] = frozenset()
    """The content terms of the memory, as they are indexed."""
    bearing: Bearing = "bears"
    until: datetime | None = None
    """When the user said that it is over."""
    before: str = ""
    """The line that it ended."""
    odds: float | None = None
    """The log-odds that it answers what is asked; None where that is not judged, as of others' talk."""
    excerpt: str = ""
    """What of its line is told where the rest is about others than those asked about; else the whole line is."""

    @property
    def told(self) -> str:
        """What of the memory is told, in the words in which it was said."""
        return self.excerpt or self.memory.line


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """Feeling of knowing, before the response: how likely memory holds what the message needs."""

    level: Level
    score: float
    """A probability in [0, 1]."""
    reasons: tuple[str, ...]
    unadjusted: float = 0.0
    """The score before the user's own outcomes adjust it; nights learn from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Coefficients of the model that turns features of recall into a `Confidence` score.

    The score is the chance that what is asked is stored, times, where a person is asked about, the chance that it is
    said of that person: each a logistic function of named features.
    """

    intercept: float
    weights: Mapping[str, float]
    """Feature of whether it is stored -> weight, none negative."""
    whose_intercept: float = 0.0
    whose_weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """Feature of whether it is said of the person asked -> weight, none negative; empty leaves that half out."""
    shift: float = 0.0
    slope: float = 1.0
    """The log-odds of the product are multiplied by `slope`, then `shift` is added: what a user's outcomes refit."""
    high: float = 0.7
    """Score from which confidence is high (seed 000's code: 0.7)."""
    medium: float = 0.4
    """Score from which it is medium (seed 000's code: 0.4)."""
    fitted_on: str = ""
    """What the coefficients were fitted on, in words."""
    documents: "Calibration | None" = None
    """The coefficients of both halves where documents are asked and not people's talk; None for the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the self-monitor looked at; the scores are in [0, 1]."""

    responsiveness: float
    completeness: float
    consistency: float
    length_ok: bool
    repetition: bool
    likelihood: float | None = None
    """How likely the response is right by the model's own log-probabilities; None where it returns none, or nothing
    was asked that one can be right or wrong about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that a response lacks or does wrong."""

    flag: Flag
    about: str = ""
    """What shows it: the line of memory that should have been used, or the demand of the message that is not kept."""
    certain: bool = True
    """Whether it may bring the score below `HEDGE_THRESHOLD`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A judgement of one response, after it was made."""

    score: float
    flags: tuple[Flag, ...]
    parts: Parts
    unanswered: tuple[str, ...] = ()
    """Questions and requests of the message that no part of the response matches, verbatim."""
    faults: tuple[Fault, ...] = ()
    """The flags that something shows, each with what does."""
    unclear: bool = False
    """Whether nothing speaks against the response but that it shares too little with the words of the message."""
    used: bool = False
    """Whether it says something that memory held on what was asked."""
    modest: bool = False
    """Whether it says that it does not know, or asks back."""

    @property
    def passed(self) -> bool:
        """Whether the score reaches `PASS_THRESHOLD`."""
        return self.score >= PASS_THRESHOLD

    @property
    def outcome(self) -> Outcome:
        """Passed, doubtful, or what could not be told: that is neither hedged nor learned from."""
        return "passed" if self.passed else "unclear" if self.unclear else "doubtful"


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """What one turn may use; never changed (law 6)."""

    max_context_items: int = 16
    """Recalled memories put before the model (seed 003: 16)."""
    consolidation_threshold: float = 0.55
    """Salience from which a working-memory item is promoted (seed 003: 0.55)."""
    stm_capacity: int = 32
    """Items a session's working memory holds."""
    retry: int = 0
    """How often a host may ask once more in a turn, 0 or 1; `TurnResult.again` says with what."""
    history_share: float = 1.0
    """Share of the conversation that a host should send of what it usually sends."""


SignalKind = Literal[
    "meta:turn", "meta:confidence-low", "meta:impasse", "meta:reflection", "meta:judged", "session:adaptation"
]
TURN: Literal["meta:turn"] = "meta:turn"
CONFIDENCE_LOW: Literal["meta:confidence-low"] = "meta:confidence-low"
IMPASSE: Literal["meta:impasse"] = "meta:impasse"
REFLECTION: Literal["meta:reflection"] = "meta:reflection"
JUDGED: Literal["meta:judged"] = "meta:judged"
ADAPTATION: Literal["session:adaptation"] = "session:adaptation"


class Arm(TypedDict):
    """A piece of guidance in a turn: told, or withheld by lot."""

    id: int
    arm: str


class Mended(TypedDict):
    """The sentence on what the turn before had left, and what came of it."""

    flag: str
    arm: str
    mended: bool


class TurnRecord(TypedDict, total=False):
    """What the ledger holds of a turn: figures, ids, and under `quoted` whatever is erased with a message."""

    hedged: Required[bool]
    lessons: list[Arm]
    insights: list[Arm]
    confidence: Mapping[str, object]
    unadjusted: float
    assessment: Mapping[str, object]
    verdict: str
    claims: list[str]
    """What was claimed in the turn, by the ids of the register."""
    mend: Mended
    topic: list[str]
    recalled: list[dict[str, object]]
    controls: Mapping[str, object]
    usage: Mapping[str, int]
    seconds: float
    quoted: Mapping[str, object]


class PoorRecord(TypedDict):
    """A response that scored low."""

    score: float
    flags: list[Flag]
    unanswered: list[str]


class ImpasseRecord(TypedDict, total=False):
    """A session, or a method, that is stuck."""

    topic: list[str]
    quoted: Mapping[str, object]
    """The problem of a method that is stuck, for the next turn; erased with any message."""


class ReflectionRecord(TypedDict):
    """What a night understood."""

    insights: int
    candidates: int
    operations: int


class AdaptationRecord(TypedDict):
    """A lever that was moved."""

    lever: str
    reason: str
    before: object
    after: object
    saved: NotRequired[Mapping[str, int]]
    """In the turn in which it was moved."""


class JudgedRecord(TypedDict):
    """A person's own word on an answer."""

    right: bool


SignalRecord = TurnRecord | PoorRecord | ImpasseRecord | ReflectionRecord | JudgedRecord | AdaptationRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Something noticed, as it stands on the append-only ledger and as subscribers receive it."""

    kind: SignalKind
    user: str
    session: str
    turn: int
    reason: str
    at: datetime
    data: SignalRecord = field(default_factory=ImpasseRecord)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was spent: calls, tokens and wall seconds."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    seconds_to_first_token: float | None = None
    """Of the first call, where it was streamed without unseen thinking before; else None."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            seconds=self.seconds + other.seconds,
            seconds_to_first_token=other.seconds_to_first_token
            if self.seconds_to_first_token is None
            else self.seconds_to_first_token,
        )
