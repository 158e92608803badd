"""A text on its way into memory."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from insula.language.facts import find_fact_candidates, join_facts, select_facts
from insula.language.owner import ASSISTANT, USER, find_owners
from insula.language.statements import UPDATES, Statement
from insula.memory.retrieval.query import Encoding
from insula.memory.storage.vectors import Vector
from insula.screening import screen_text
from insula.text.analysis import Analysis
from insula.text.answers import carries_answer
from insula.text.questions import Ask, find_assertions
from insula.types import MemoryKind, Provenance, Recalled

if TYPE_CHECKING:
    from insula.memory.wishes import OwnWish

LINE_CHARS = 300
"""Characters of one memory that a prompt may show."""
REMEMBERED_CHARS = 20_000
"""Characters of a text that are analysed and remembered; the transcript holds all of it."""
SCREENED_CHARS = 4 * LINE_CHARS
"""Characters that are screened for it: what stands behind them is never shown."""
REPLY_CHARS = LINE_CHARS + 60
"""The same of a reply: what it may show, and room for what is not seen. A thousand characters cost 7 ms."""


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
    preferences: "tuple[OwnWish, ...]" = ()
    """How it says that answers are wanted, where no turn answers it."""


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
        told: of a user's message what it tells of their life, in their own words (`telling`): it alone may be shown.
            By default what can be told without a vector.
    """
    own = provenance == "user" and speaker == USER
    if own and told is None:
        told = join_facts(select_facts(find_fact_candidates(analysis), {}), analysis.language)
    text = analysis.text[: REPLY_CHARS if provenance == "assistant" else SCREENED_CHARS]
    shown = screen_text(text, LINE_CHARS)
    if own and told != text:
        line = screen_text((told or "")[:SCREENED_CHARS], LINE_CHARS)
        shown = line._replace(reasons=shown.reasons or line.reasons)
    kind: MemoryKind = "semantic" if stated else encoding.kind
    if own:
        kind = "semantic" if told else "episodic"
        encoding = encoding._replace(kind=kind)
    weight = estimate_importance(analysis, encoding, provenance, replies_to)
    said = provenance == "user"
    return NewItem(
        provenance=provenance,
        speaker=speaker,
        language=analysis.language,
        content=analysis.text,
        line=shown.text,
        withheld=shown.reasons,
        claims=encoding.dump_claims(),
        kind=kind,
        importance=weight,
        salience=compute_salience(
            weight,
            1.0 if said and states_change(stated) else estimate_novelty(encoding, recalled),
            measure_emphasis(analysis.text) if said else 0.0,
            personal=max(measure_personal(analysis), float(states_change(stated))) if said else 0.0,
        ),
        statements=tuple(stated),
    )


IMPORTANCE, NOVELTY, EMPHASIS, USE = 0.5, 0.25, 0.15, 0.1
"""Weights of the terms; `USE` is added for each use, so that what keeps being useful gets there too."""

PERSONAL = 0.1
"""Added to what a user says of themselves: "I have two daughters." is short, and nobody else can say it again."""

INFORMATION = 3.0
"""Pieces of information (terms, names, numbers) at which importance reaches 1 − 1/e."""

ANSWER = 2.0
"""Pieces of information that answering a question is worth: "Lisbon." says much after "Where do you live?"."""

EPISODIC, GENERATED = 0.3, 0.5
"""Share of the importance left to a text that asserts nothing, and to one that the assistant made."""

_EMPHASIS = re.compile(
    r"\b(?:remember|don'?t forget|important|never|always|keep in mind|note that|recuerda|no olvides|importante|nunca|"
    r"siempre|souviens|n'oublie|important|jamais|toujours|vergiss nicht|merk dir|wichtig|immer|niemals|lembre|"
    r"não esqueça|sempre|ricorda|non dimenticare)\b|记住|別忘|别忘|重要|覚えて|忘れないで",
    re.IGNORECASE,
)


def compute_salience(importance: float, novelty: float, emphasis: float, personal: float) -> float:
    """How much a new item deserves to be kept, in [0, 1], as is each of its reasons."""
    return min(IMPORTANCE * importance + NOVELTY * novelty + EMPHASIS * emphasis + PERSONAL * personal, 1.0)


def estimate_importance(
    analysis: Analysis, encoding: Encoding, provenance: Provenance, asked: Sequence[Ask] = ()
) -> float:
    """How much a text says, in [0, 1]; `asked` are the questions that it replies to."""
    answers = any(carries_answer(ask.kind, analysis.text, analysis.language) for ask in asked if ask.kind != "yes_no")
    pieces = len(encoding.terms) + len(encoding.names) + ANSWER * answers
    full = 1 - math.exp(-pieces / INFORMATION)
    if encoding.kind != "semantic" and not answers:
        full *= EPISODIC
    return full * (1.0 if provenance in {"user", "tool"} else GENERATED)


def estimate_novelty(encoding: Encoding, recalled: Sequence[Recalled]) -> float:
    """The share of a text's terms that the memory nearest to it does not hold, in [0, 1].

    What was only asked holds nothing, nor does what stands around a memory: the answer to a question is as new as if
    it had not been asked.
    """
    terms = encoding.terms
    if not terms:
        return 0.0
    held = (len(terms & memory.terms) for memory in recalled if memory.memory.kind == "semantic")
    return 1.0 - max(held, default=0) / len(terms)


def states_change(stated: Sequence[Statement]) -> bool:
    """Whether a text states that something changed, ended, is not so or was wrong: like what it renews, and yet new."""
    return any(UPDATES & statement.marks and statement.modality == "fact" for statement in stated)


def measure_personal(analysis: Analysis) -> float:
    """1 where a text states something of the one who speaks, or of somebody of theirs, else 0."""
    owners = (
        find_owners(sentence.text, analysis.language, USER, ASSISTANT).mentions
        for sentence in find_assertions(analysis)
    )
    return float(any(path.split("/")[0] == USER for mentions in owners for path in mentions))


def measure_emphasis(text: str) -> float:
    """1 where the speaker says that it matters ("remember", "never", "important"; eight languages), else 0."""
    return float(bool(_EMPHASIS.search(text)))
