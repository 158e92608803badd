"""What a turn was, as the API and the page both say it: what judged it, what it had before it and what it cost."""

from pydantic import FiniteFloat

from insula.server.api.schema import ApiModel, Id
from insula.session.adaptation import Stage
from insula.session.snapshot import Share
from insula.turn.verdict import Kind, Tone
from insula.types import Flag, Level, Outcome, Parts


class ConfidenceEstimate(ApiModel):
    """How likely memory held what the message needed."""

    level: Level
    score: Share
    reasons: tuple[str, ...] = ()


class ShownFault(ApiModel):
    """A fault with what shows it."""

    flag: Flag
    about: str


class MonitorJudgement(ApiModel):
    """What the self-monitor thinks of the response."""

    score: Share
    flags: list[Flag]
    passed: bool
    parts: Parts
    unanswered: list[str]
    """Questions of the message that no part of the response matches."""
    outcome: Outcome = "passed"
    """`unclear`: what could not be told, which is neither hedged nor learned from."""
    faults: tuple[ShownFault, ...] = ()
    """The flags that something shows, each with what does: a line of memory, a demand of the message."""


class TurnVerdict(ApiModel):
    """What the turn came to, for a person."""

    kind: Kind
    text: str
    tone: Tone = "sure"
    """How it is meant: `good` where the answer says what was told, `doubt` where it says otherwise, else `sure`."""


class TurnSignal(ApiModel):
    """A signal of this turn."""

    kind: str
    reason: str


class RecalledMemory(ApiModel):
    """A memory that was recalled."""

    id: Id
    score: Share
    shown: bool
    """Whether it stood before the model; else it came up, and does not bear on the message."""


class LessonTold(ApiModel):
    """A lesson that the message brought up."""

    id: Id
    arm: str
    """`shown` to the model, or `withheld` by lot."""


class Tokens(ApiModel):
    """What the response cost."""

    input: int
    output: int


class Milliseconds(ApiModel):
    """What the turn took."""

    model: FiniteFloat
    added: FiniteFloat | None = None
    """By metacognition; the ledger keeps no count of it."""


class TurnLimits(ApiModel):
    """What the turn was allowed to use."""

    max_context_items: int
    consolidation_threshold: FiniteFloat
    stm_capacity: int
    retry: int = 0
    """How often the model may be asked once more in a turn."""
    history_share: float = 1.0
    """Share of the conversation that was sent along, of what usually is."""
    skipped: list[Stage]
    """Stages that it went without, under severe load."""
