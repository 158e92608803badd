"""A text on its way into memory."""

from collections.abc import Sequence
from typing import NamedTuple

from insula.memory.assertion import Statement
from insula.memory.encoding import USER, Encoding
from insula.memory.salience import emphasis, importance, novelty, personal, renews, salience
from insula.memory.vectors import Vector
from insula.screening import screen
from insula.text.analysis import Analysis, analyse
from insula.text.pasted import told_words
from insula.text.questions import Ask, statements
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
    statements: tuple[Statement, ...] = ()
    """What it asserts, of a user or a tool."""
    score: float | None = None
    """The assessment, where it is a response."""


def new_item(
    analysis: Analysis,
    encoding: Encoding,
    provenance: Provenance,
    speaker: str,
    recalled: Sequence[Recalled],
    replies_to: Sequence[Ask],
    stated: Sequence[Statement] = (),
) -> NewItem:
    """A text as it enters working memory, with its salience; `stated` is what it asserts."""
    shown = screen(analysis.text[:SCREENED_CHARS], LINE_CHARS)
    if provenance == "user" and speaker == USER:
        shown = shown._replace(text=_told(analysis, shown.text))
    weight = importance(analysis, encoding, provenance, replies_to)
    said = provenance == "user"
    return NewItem(
        provenance=provenance,
        speaker=speaker,
        language=analysis.language,
        content=analysis.text,
        line=shown.text,
        withheld=shown.reasons,
        claims=encoding.dump(),
        kind="semantic" if stated else encoding.kind,
        importance=weight,
        salience=salience(
            weight,
            1.0 if said and renews(stated) else novelty(encoding, recalled),
            emphasis(analysis.text) if said else 0.0,
            personal=max(personal(analysis), float(renews(stated))) if said else 0.0,
        ),
        statements=tuple(stated),
    )


def _told(analysis: Analysis, line: str) -> str:
    """The line of a user's message: of one that holds something pasted, what they state in their own words."""
    own = told_words(analysis.text)
    if own == analysis.text.strip():
        return line
    return screen(own, LINE_CHARS).text if own and statements(analyse(own, default=analysis.language)) else ""
