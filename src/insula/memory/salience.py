"""What deserves long-term memory: one formula over importance, novelty, emphasis, whose it is, and use (S0)."""

import math
import re
from collections.abc import Sequence

from insula.language.modality import UPDATES
from insula.language.statements import Statement
from insula.memory.retrieval.encoding import Encoding, persons
from insula.text.analysis import Analysis
from insula.text.questions import Ask, carries, statements
from insula.types import Provenance, Recalled

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

_FIRST_PERSON = re.compile(
    r"\b(?:tengo|soy|estoy|voy|vivo|trabajo|prefiero|tenho|sou|estou|vou|moro|trabalho|prefiro|ho|sono|sto|vado|lavoro|"
    r"preferisco)\b",
    re.IGNORECASE,
)
"""Verbs that say "I" where the pronoun is left out (es, pt, it)."""
_DROPS_PRONOUNS = frozenset({"es", "pt", "it"})


def salience(importance: float, novelty: float, emphasis: float, uses: int = 0, personal: float = 0.0) -> float:
    """How much an item deserves to be kept, in [0, 1]; all but `uses` are in [0, 1]."""
    kept = IMPORTANCE * importance + NOVELTY * novelty + EMPHASIS * emphasis + PERSONAL * personal
    return min(kept + USE * uses, 1.0)


def importance(analysis: Analysis, encoding: Encoding, provenance: Provenance, asked: Sequence[Ask] = ()) -> float:
    """How much a text says, in [0, 1]; `asked` are the questions that it replies to."""
    answers = any(carries(ask.kind, analysis.text, analysis.language) for ask in asked if ask.kind != "yes_no")
    pieces = len(encoding.terms) + len(encoding.names) + ANSWER * answers
    full = 1 - math.exp(-pieces / INFORMATION)
    if encoding.kind != "semantic" and not answers:
        full *= EPISODIC
    return full * (1.0 if provenance in {"user", "tool"} else GENERATED)


def novelty(encoding: Encoding, recalled: Sequence[Recalled]) -> float:
    """The share of a text's terms that the memory nearest to it does not hold, in [0, 1].

    What was only asked holds nothing, nor does what stands around a memory: the answer to a question is as new as if
    it had not been asked.
    """
    terms = encoding.terms
    if not terms:
        return 0.0
    held = (len(terms & one.terms) for one in recalled if one.memory.kind == "semantic")
    return 1.0 - max(held, default=0) / len(terms)


def renews(stated: Sequence[Statement]) -> bool:
    """Whether a text states that something changed, ended, is not so or was wrong: like what it renews, and yet new."""
    return any(UPDATES & one.marks and one.modality == "fact" for one in stated)


def personal(analysis: Analysis) -> float:
    """1 where a text states something in the first person, else 0."""
    drops = analysis.language in _DROPS_PRONOUNS
    return float(
        any(
            "me" in persons(sentence, analysis.language, "me", "") or (drops and _FIRST_PERSON.search(sentence.text))
            for sentence in statements(analysis)
        )
    )


def emphasis(text: str) -> float:
    """1 where the speaker says that it matters ("remember", "never", "important"; eight languages), else 0."""
    return float(bool(_EMPHASIS.search(text)))
