"""A text on its way into memory."""

from collections.abc import Sequence
from typing import NamedTuple

from insula.memory.encoding import Encoding
from insula.memory.salience import emphasis, importance, novelty, salience
from insula.memory.vectors import Vector
from insula.screening import screen
from insula.text.analysis import Analysis
from insula.text.questions import Ask
from insula.types import MemoryKind, Provenance, Recalled

LINE_CHARS = 300
"""Characters of one memory that a prompt may show."""
REMEMBERED_CHARS = 20_000
"""Characters of a text that are analysed and remembered; the transcript holds all of it."""
SCREENED_CHARS = 4 * LINE_CHARS
"""Characters that are screened for it: what stands behind them is never shown."""


class NewItem(NamedTuple):
    """A text to be remembered, encoded."""

    provenance: Provenance
    speaker: str
    language: str
    content: str
    line: str
    """What a prompt may show of it."""
    withheld: tuple[str, ...]
    """Why a prompt may not."""
    claims: str
    kind: MemoryKind
    importance: float
    salience: float
    vector: Vector | None = None
    score: float | None = None
    """The assessment, where it is a response."""


def new_item(
    analysis: Analysis,
    encoding: Encoding,
    provenance: Provenance,
    speaker: str,
    recalled: Sequence[Recalled],
    replies_to: Sequence[Ask],
) -> NewItem:
    """A text as it enters working memory, with its salience."""
    shown = screen(analysis.text[:SCREENED_CHARS], LINE_CHARS)
    weight = importance(analysis, encoding, provenance, replies_to)
    return NewItem(
        provenance=provenance,
        speaker=speaker,
        language=analysis.language,
        content=analysis.text,
        line=shown.text,
        withheld=shown.reasons,
        claims=encoding.dump(),
        kind=encoding.kind,
        importance=weight,
        salience=salience(
            weight, novelty(encoding, recalled), emphasis(analysis.text) if provenance == "user" else 0.0
        ),
    )
