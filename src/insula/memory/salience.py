"""What deserves long-term memory: one formula over importance, novelty, emphasis and use (S0)."""

import math
import re
from collections.abc import Sequence

from insula.memory.encoding import Encoding
from insula.text.analysis import Analysis
from insula.text.questions import Ask, carries
from insula.types import Provenance, Recalled

IMPORTANCE, NOVELTY, EMPHASIS, USE = 0.5, 0.25, 0.15, 0.1
"""Weights of the four terms; `USE` is added for each use, so that what keeps being useful gets there too."""

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


def salience(importance: float, novelty: float, emphasis: float, uses: int = 0) -> float:
    """How much an item deserves to be kept, in [0, 1]; all but `uses` are in [0, 1]."""
    return min(IMPORTANCE * importance + NOVELTY * novelty + EMPHASIS * emphasis + USE * uses, 1.0)


def importance(analysis: Analysis, encoding: Encoding, provenance: Provenance, asked: Sequence[Ask] = ()) -> float:
    """How much a text says, in [0, 1]; `asked` are the questions that it replies to."""
    answers = any(carries(ask.kind, analysis.text, analysis.language) for ask in asked if ask.kind != "yes_no")
    pieces = len(encoding.terms) + len(encoding.names) + ANSWER * answers
    full = 1 - math.exp(-pieces / INFORMATION)
    if encoding.kind != "semantic" and not answers:
        full *= EPISODIC
    return full * (1.0 if provenance in {"user", "tool"} else GENERATED)


def novelty(encoding: Encoding, recalled: Sequence[Recalled]) -> float:
    """The share of a text's terms that the memory nearest to it does not hold, in [0, 1]."""
    terms = encoding.terms
    if not terms:
        return 0.0
    nearest = max((one.parts.get("overlap", 0.0) for one in recalled if one.memory.kind == "semantic"), default=0.0)
    return 1.0 - nearest


def emphasis(text: str) -> float:
    """1 where the speaker says that it matters ("remember", "never", "important"; eight languages), else 0."""
    return float(bool(_EMPHASIS.search(text)))
