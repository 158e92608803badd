"""A turn that waits for its answer, as a value that can be stored and read by another process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from insula.errors import InputError
from insula.memory.storage.rows import Said
from insula.metacognition.opening import Opening
from insula.session.adaptation import Adaptation, Stage
from insula.session.conditions import Reason
from insula.session.saved import Lever, Saved
from insula.turn import insights, lessons
from insula.turn.instructions import Words
from insula.turn.mending import Mend
from insula.types import Confidence, Controls, Recalled


@dataclass(frozen=True, kw_only=True)
class Suspended:
    """What a turn is finished by, beside what is read anew: the analysis of the message, and the turns before."""

    v: Literal[2] = 2
    user: str
    session: str
    message: str
    model: str
    number: int
    is_read: bool = True
    """Whether memory could be read when it was begun."""
    words: Words
    confidence: Confidence
    recalled: tuple[Recalled, ...]
    history: tuple[Said, ...]
    personal: bool
    lessons: tuple[lessons.Used, ...]
    insights: tuple[insights.Recalled, ...]
    mend: Mend | None
    controls: Controls
    skipped: tuple[Stage, ...]
    adaptations: tuple[Adaptation, ...]
    conditions: tuple[Reason, ...] = ()
    saved: Mapping[Lever, Saved] = field(default_factory=dict[Lever, Saved])
    metadata: str = ""
    told: str = ""


@cache
def _form() -> TypeAdapter[Suspended]:
    return TypeAdapter(Suspended)


def dumped(turn: Opening, adaptations: tuple[Adaptation, ...], conditions: tuple[Reason, ...]) -> str:
    """An open turn as JSON, with the conditions that held and what they changed for it."""
    held = Suspended(
        user=turn.user,
        session=turn.session,
        message=turn.message,
        model=turn.model,
        number=turn.number,
        is_read=turn.is_read,
        words=turn.words,
        confidence=turn.confidence,
        recalled=turn.recalled,
        history=turn.history,
        personal=turn.personal,
        lessons=turn.lessons,
        insights=turn.insights,
        mend=turn.mend,
        controls=turn.controls,
        skipped=turn.skipped,
        adaptations=adaptations,
        conditions=conditions,
        saved=turn.saved,
        metadata=turn.metadata,
        told=turn.told,
    )
    return _form().dump_json(held).decode()


def loaded(kept: str) -> Suspended:
    """The turn that was dumped.

    Raises:
        InputError: the text is none, or of another version.
    """
    try:
        return _form().validate_json(kept)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "all of it"
        raise InputError(f"The text is no turn ({where}); give what `Turn.to_json` returned.") from error
