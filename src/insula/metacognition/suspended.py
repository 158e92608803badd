"""A turn that waits for its answer, as a value that can be stored and read by another process."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError

from insula.errors import InputError
from insula.memory.storage.rows import TranscriptLine
from insula.session.conditions import Reason
from insula.session.snapshot import Adaptation, Lever, Saved, Stage
from insula.turn import guidance
from insula.turn.feedback import Feedback
from insula.turn.instructions import TurnInstructions
from insula.types import Confidence, Controls, Recalled

if TYPE_CHECKING:
    from insula.metacognition.turn import Turn


@dataclass(frozen=True, kw_only=True)
class SuspendedTurn:
    """What a turn is finished by, beside what is read anew: the analysis of the message, and the turns before.

    Each field but the version is the turn's attribute of that name.
    """

    v: Literal[2] = 2
    user: str
    session: str
    message: str
    model: str
    number: int
    is_read: bool = True
    """Whether memory could be read when it was begun."""
    words: TurnInstructions
    confidence: Confidence
    recalled: tuple[Recalled, ...]
    history: tuple[TranscriptLine, ...]
    personal: bool
    lessons: tuple[guidance.UsedGuidance, ...]
    insights: tuple[guidance.UsedGuidance, ...]
    mend: Feedback | None
    controls: Controls
    skipped: tuple[Stage, ...]
    adaptations: tuple[Adaptation, ...]
    conditions: tuple[Reason, ...] = ()
    saved: Mapping[Lever, Saved] = field(default_factory=dict[Lever, Saved])
    metadata: str = ""
    told: str = ""
    is_guest: bool = False


@cache
def _type_adapter() -> TypeAdapter[SuspendedTurn]:
    return TypeAdapter(SuspendedTurn)


def suspend_turn(turn: "Turn") -> str:
    """An open turn as JSON."""
    values: dict[str, Any] = {each.name: getattr(turn, each.name) for each in fields(SuspendedTurn) if each.name != "v"}
    return _type_adapter().dump_json(SuspendedTurn(**values)).decode()


def read_suspended(kept: str) -> SuspendedTurn:
    """The turn that was suspended.

    Raises:
        InputError: the text is none, or of another version.
    """
    try:
        return _type_adapter().validate_json(kept)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "all of it"
        raise InputError(f"The text is no turn ({where}); give what `Turn.to_json` returned.") from error
