"""A text on its way into memory."""

from collections.abc import Sequence
from typing import NamedTuple

from insula.language.facts import find_fact_candidates, join_facts, select_facts
from insula.language.owner import USER
from insula.language.statements import Statement
from insula.memory.retrieval.encoding import Encoding
from insula.memory.salience import emphasis, importance, novelty, personal, renews, salience
from insula.memory.storage.vectors import Vector
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
    statements: tuple[Statement, ...] = ()
    """What it asserts, of a user or a tool."""
    score: float | None = None
    """The assessment, where it is a response."""
    metadata: str = ""
    """What the host says of it, as JSON."""
    source_id: str | None = None
    """By what it is known where it is taken in twice."""


def new_item(
    analysis: Analysis,
    encoding: Encoding,
    provenance: Provenance,
    speaker: str,
    recalled: Sequence[Recalled],
    replies_to: Sequence[Ask],
    stated: Sequence[Statement] = (),
    told: str | None = None,
) -> NewItem:
    """A text as it enters working memory, with its salience.

    Args:
        analysis: the text.
        encoding: its claims.
        provenance: whose word it is.
        speaker: who said it.
        recalled: what it brought up.
        replies_to: the questions before it.
        stated: what it asserts.
        told: of a user's message what it tells of their life, in their own words (`telling`): it alone may be shown.
            By default what can be told without a vector.
    """
    own = provenance == "user" and speaker == USER
    if own and told is None:
        told = join_facts(select_facts(find_fact_candidates(analysis), {}), analysis.language)
    shown = screen((told or "")[:SCREENED_CHARS] if own else analysis.text[:SCREENED_CHARS], LINE_CHARS)
    if own and (why := screen(analysis.text[:SCREENED_CHARS], LINE_CHARS).reasons):
        shown = shown._replace(reasons=why)
    kind: MemoryKind = "semantic" if stated else encoding.kind
    if own:
        kind = "semantic" if told else "episodic"
        encoding = encoding._replace(kind=kind)
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
        kind=kind,
        importance=weight,
        salience=salience(
            weight,
            1.0 if said and renews(stated) else novelty(encoding, recalled),
            emphasis(analysis.text) if said else 0.0,
            personal=max(personal(analysis), float(renews(stated))) if said else 0.0,
        ),
        statements=tuple(stated),
    )
