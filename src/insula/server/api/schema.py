"""What the bodies of requests and answers are made of, and what a turn was, as the API and the page both say it."""

import json
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, PlainSerializer

from insula.agent.chat import MESSAGE_CHARS
from insula.memory.storage.store import NAME_CHARS
from insula.session.snapshot import Share, Stage
from insula.text.analysis import clean_text
from insula.turn.verdict import Kind, Tone
from insula.types import Flag, Level, Outcome, Parts

LARGEST = 2**63 - 1
"""SQLite's largest integer."""
PAGE = 50
"""Things on a page, where the request does not say."""


def _check_words(message: str) -> str:
    if not clean_text(message).strip():
        raise ValueError("there is nothing in it; write something")
    return message


Id = Annotated[int, Field(ge=0, le=LARGEST)]
"""What numbers a row."""
Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARS)]
"""Of a user, a session and the like."""
Said = Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS), AfterValidator(_check_words)]
"""What a user says."""
Limit = Annotated[int, Field(ge=1, le=200, description="How many at most.")]
Before = Annotated[Id | None, Field(description="Go on where a page ended: its `next`.")]


def _to_datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


Moment = Annotated[float, PlainSerializer(_to_datetime, return_type=datetime)]
"""Seconds since the epoch, told as a date with its time."""


@cache
def _load_examples() -> dict[str, Any]:
    return json.loads((files("insula.server.api") / "examples.json").read_text("utf-8"))


def _add_example(schema: dict[str, Any]) -> None:
    """Put the example of a model into its description; of one that is only part of another there is none."""
    if schema["title"] in _load_examples():
        schema["example"] = _load_examples()[schema["title"]]


class ApiModel(BaseModel):
    """What an answer holds, with its example from `examples.json`; made of any value with the same attributes."""

    model_config = ConfigDict(json_schema_extra=_add_example, from_attributes=True)


class RequestBody(ApiModel):
    """What a request holds, and nothing else."""

    model_config = ConfigDict(extra="forbid")


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
