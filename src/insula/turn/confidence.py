"""Feeling of knowing: before the response, how likely is it that memory holds what the message needs?

A small transparent model (`calibration.py`): named features of what was recalled, each in [0, 1] and each with a weight
that is never negative, in two halves: is it stored, and is it said of the person asked? Only what the user or a tool
asserted counts; what the assistant said, what was derived, and what was merely asked raise nothing (law 2).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from insula.calibration import adjust_probability, load_shipped, log_odds, raw_probability
from insula.claims import Claimed, say_claim
from insula.memory.relevance import holding_chance
from insula.memory.retrieval.query import Cue, Statistics
from insula.memory.retrieval.scoring import SubjectSides
from insula.memory.storage.store import Recollection
from insula.text.analysis import analyse_text
from insula.text.answers import is_told
from insula.text.wording import shorten_line
from insula.types import Calibration, Confidence, Identity, Level, Recalled

BEST_OF = 5
"""Memories whose terms count as found together."""

QUOTED = 60
"""Characters of a memory that a reason quotes."""

ANSWERS = 3
"""Memories that are looked at for the kind of thing asked for."""

LIKELIER = 0.5
"""Chance from which memory counts as holding the answer where no statement tells (talk of others): likelier than not.
Chosen on our own talks: of what was not told 83 to 86 % stay below, of what was 42 % (at 0.4: 49 to 53 %, 22 %), and
nine lines in ten that do not answer are made an answer of (docs/benchmarks/help.md)."""
SHORT = 0.01
"""By how much a score stays below a level that it must not reach."""

FAMILIAR = 10
"""Semantic memories on a topic at which it counts as wholly familiar."""


def estimate_confidence(
    cue: Cue,
    found: Recollection,
    *,
    context: frozenset[str] = frozenset(),
    identity: Identity | None = None,
    calibration: Calibration | None = None,
) -> Confidence:
    """The confidence for a cue.

    Args:
        found: what recall brought for it.
        context: the terms of the session so far; empty at a cold start.
        identity: its guidance on topics counts as knowledge.
        calibration: the coefficients; by default the shipped ones.
    """
    calibration = calibration or load_shipped()
    known = [recalled for recalled in found.recalled if is_evidence(recalled)]
    values = recall_features(cue, known, found, context, identity)
    said_of = owner_features(known, found.standing)
    fitted = calibration.documents if calibration.documents and of_documents(known) else calibration
    stored = raw_probability(fitted, values, said_of) if any(values.values()) else 0.0
    unadjusted = estimate_chance(stored, known, calibration)
    score = adjust_probability(calibration, unadjusted) if unadjusted else 0.0
    level: Level = "high" if score >= calibration.high else "medium" if score >= calibration.medium else "low"
    why = tuple(
        claimed.text for claimed in (*explain_line(known), *explain_confidence(cue, known, found.statistics, said_of))
    )
    return Confidence(level=level, score=score, reasons=why, unadjusted=unadjusted)


def lower_untold(confidence: Confidence, calibration: Calibration) -> Confidence:
    """The confidence where no line of what was found may stand before the model: what is reported is what is told."""
    if confidence.level == "low":
        return confidence
    score = min(confidence.score, calibration.medium - SHORT)
    return replace(confidence, level="low", score=score, reasons=(*confidence.reasons, _claim_reason("hidden").text))


def estimate_chance(stored: float, known: Sequence[Recalled], calibration: Calibration) -> float:
    """The chance that memory holds what is asked, before it is adjusted.

    Of the users' own talk it is that of the line that likeliest answers. One about somebody else than those asked about
    makes it no more than low; one that is a plan, may have changed since, or lacks the kind of value asked for, no more
    than medium. Of others' talk, what is not likelier than not is low.
    """
    judged = [(recalled.odds, recalled.parts) for recalled in known if recalled.odds is not None]
    if judged:
        return max(
            min(holding_chance(odds, is_predicted="expected" in parts), _chance_ceiling(parts, calibration))
            for odds, parts in judged
        )
    if of_documents(known) or stored >= LIKELIER:
        return stored
    return min(stored, calibration.medium - SHORT)


def _chance_ceiling(parts: Mapping[str, float], calibration: Calibration) -> float:
    """The highest chance that a line leaves, by what is known of it."""
    is_read = "about" in parts
    if is_read and not parts["about"]:
        return calibration.medium - SHORT
    doubts = ("lacks", "planned", "changed")
    return calibration.high - SHORT if any(parts.get(name) for name in doubts) else 1.0


def explain_line(known: Sequence[Recalled]) -> tuple[Claimed, ...]:
    """What the line that likeliest answers has to do with what is asked."""
    judged = [recalled for recalled in known if recalled.odds is not None and recalled.bearing != "other"]
    if not judged:
        return ()
    best = max(judged, key=lambda recalled: recalled.odds or 0.0)
    said = _claim_reason(best.bearing, line=_quote_line(best.memory.content))
    return (_claim_reason("ended", said=said.text, before=_quote_line(best.before)) if best.before else said,)


def of_documents(known: Sequence[Recalled]) -> bool:
    """Whether what was found are documents: tools brought all of it, and people told none."""
    return bool(known) and all(recalled.memory.provenance == "tool" for recalled in known)


def is_evidence(recalled: Recalled) -> bool:
    """Whether a memory may raise confidence: a user or a tool asserted it."""
    return recalled.memory.provenance in {"user", "tool"} and recalled.memory.kind == "semantic"


def recall_features(
    cue: Cue,
    known: Sequence[Recalled],
    recollection: Recollection,
    context: frozenset[str],
    identity: Identity | None,
) -> Mapping[str, float]:
    """The features of whether it is stored, each in [0, 1]; all zero where nothing is asked.

    Recall has weighed the evidence for each memory; what is left to ask is how good the best of them is, how far it
    stands out, and what lies around it.
    """
    held, top = terms_found(cue, known), known[:BEST_OF]
    odds = [math.exp(log_odds(recalled.score)) for recalled in known]
    return {
        "best": max((recalled.score for recalled in known), default=0.0),
        "covered": known[0].parts.get("overlap", 0.0) if known else 0.0,
        "margin": odds[0] / (1 + sum(odds)) if odds else 0.0,
        "agreement": sum(recalled.memory.session == top[0].memory.session for recalled in top) / BEST_OF
        if top
        else 0.0,
        "names": _overlap_share(cue.names & held, cue.names),
        "familiarity": measure_familiarity(held, recollection.statistics),
        "setting": max((_overlap_share(context & recalled.terms, context) for recalled in top), default=0.0),
        "guidance": float(bool(identity and touched_topics(cue, identity))),
    }


def owner_features(known: Sequence[Recalled], standing: SubjectSides) -> Mapping[str, float]:
    """The features of whether it is said of the person asked, each in [0, 1]; empty where no talker is asked about."""
    if not standing.told or not known:
        return {}
    return {"mentions": standing.mentions, "near": standing.near}


def terms_found(cue: Cue, known: Sequence[Recalled]) -> frozenset[str]:
    """The terms of the cue that the best few memories hold."""
    held = frozenset[str]().union(*(recalled.terms for recalled in known[:BEST_OF]))
    return frozenset(cue.forms[term] for term in held if term in cue.forms)


def measure_familiarity(held: frozenset[str], statistics: Statistics) -> float:
    """How often the topic stands in semantic memory, on a log scale up to `FAMILIAR`, in [0, 1]."""
    often = max((statistics.asserting.get(term, 0) for term in held), default=0)
    return min(math.log1p(often) / math.log1p(FAMILIAR), 1.0)


def touched_topics(cue: Cue, identity: Identity) -> list[str]:
    """The topics of the identity's guidance that a message touches."""
    return [topic for topic in identity.guidance if set(analyse_text(topic).terms) & set(cue.terms)]


def explain_confidence(
    cue: Cue,
    known: Sequence[Recalled],
    statistics: Statistics,
    said_of: Mapping[str, float],
) -> tuple[Claimed, ...]:
    """Why the confidence is what it is, most telling first, in plain words."""
    if not cue.terms:
        return (_claim_reason("none asked"),)
    if not statistics.memories and not known:
        return (_claim_reason("empty"),)
    if not known:
        return (_claim_reason("nothing"),)
    held = terms_found(cue, known)
    missing = [term for term in cue.terms if term not in held]
    said = [_claim_reason("nearest", line=_quote_line(known[0].memory.content))]
    if missing:
        said.append(_claim_reason("some words", held=len(held), all=len(cue.terms), missing=", ".join(missing[:4])))
    else:
        said.append(_claim_reason("all words"))
    if said_of and said_of["mentions"] + said_of["near"] < 1.0:
        said.append(_claim_reason("another"))
    if all(map(is_told, cue.kinds)) and any(recalled.parts.get("answer") for recalled in known[:ANSWERS]):
        said.append(_claim_reason("kind"))
    return tuple(said)


def _claim_reason(key: str, **values: object) -> Claimed:
    """A reason, in the words of the register."""
    return say_claim("why.sure", f"reason.{key}", **values)


def _quote_line(line: str) -> str:
    return f'"{shorten_line(line, QUOTED)}"'


def _overlap_share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 0.0
