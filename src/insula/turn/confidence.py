"""Feeling of knowing: before the response, how likely is it that memory holds what the message needs?

A small transparent model: named features of what was recalled, each in [0, 1] and each with a weight that is never
negative, through a logistic function. Only what the user or a tool asserted counts; what the assistant said, what was
derived, and what was merely asked raise nothing (law 2).
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from insula.memory.cue import Cue, Statistics, weights
from insula.memory.recall import Standing
from insula.memory.store import Recollection
from insula.text.analysis import analyse
from insula.types import Calibration, Confidence, Identity, Level, Recalled

BEST_OF = 5
"""Memories whose terms count as found together."""

QUOTED = 60
"""Characters of a memory that a reason quotes."""

FAMILIAR = 10
"""Semantic memories on a topic at which it counts as wholly familiar."""


@cache
def shipped() -> Calibration:
    """The calibration that Insula ships, with a word on what it was fitted on."""
    return Calibration(**json.loads((files("insula.turn") / "confidence.json").read_text("utf-8")))


def estimate(
    cue: Cue,
    found: Recollection,
    *,
    context: frozenset[str] = frozenset(),
    identity: Identity | None = None,
    calibration: Calibration | None = None,
) -> Confidence:
    """The confidence for a cue.

    Args:
        cue: what the message asks of memory.
        found: what recall brought for it.
        context: the terms of the session so far; empty at a cold start.
        identity: its guidance on topics counts as knowledge.
        calibration: the coefficients; by default the shipped ones.
    """
    calibration = calibration or shipped()
    known = [one for one in found.recalled if is_evidence(one)]
    values = features(cue, known, found, context, identity)
    odds = calibration.intercept + sum(calibration.weights.get(name, 0.0) * value for name, value in values.items())
    score = 1 / (1 + math.exp(-odds))
    level: Level = "high" if score >= calibration.high else "medium" if score >= calibration.medium else "low"
    return Confidence(level=level, score=score, reasons=reasons(cue, known, found.statistics, values))


def is_evidence(recalled: Recalled) -> bool:
    """Whether a memory may raise confidence: a user or a tool asserted it."""
    return recalled.memory.provenance in {"user", "tool"} and recalled.memory.kind == "semantic"


def features(
    cue: Cue,
    known: Sequence[Recalled],
    found: Recollection,
    context: frozenset[str],
    identity: Identity | None,
) -> Mapping[str, float]:
    """The features of the model, each in [0, 1]; all zero where nothing is asked."""
    shares = weights(cue, found.statistics)
    held = terms_found(cue, known)
    best = known[0] if known else None
    rest = [one.score for one in known[1:BEST_OF]]
    return {
        "best": best.score if best else 0.0,
        "found": sum(shares.get(term, 0.0) for term in held),
        "names": _share(cue.names & held, cue.names),
        "about": about(cue, found.standing) if known else 0.0,
        "answer": best.parts.get("answer", 0.0) if best else 0.0,
        "margin": best.score - sum(rest) / len(rest) if best and rest else 0.0,
        "familiarity": familiarity(held, found.statistics),
        "continuation": _share(context.intersection(cue.terms), frozenset(cue.terms)),
        "guidance": float(bool(identity and topics(cue, identity))),
    }


def terms_found(cue: Cue, known: Sequence[Recalled]) -> frozenset[str]:
    """The terms of the cue that the best few memories hold."""
    held = frozenset[str]().union(*(one.terms for one in known[:BEST_OF]))
    return frozenset(cue.forms[term] for term in held if term in cue.forms)


def about(cue: Cue, standing: Standing) -> float:
    """How much more is said of the person asked than of others, in [0, 1]; one half where it is all the same."""
    return (1 + standing.owned - standing.others) / 2 if cue.owners else 0.5


def familiarity(held: frozenset[str], statistics: Statistics) -> float:
    """How often the topic stands in semantic memory, on a log scale up to `FAMILIAR`, in [0, 1]."""
    often = max((statistics.asserting.get(term, 0) for term in held), default=0)
    return min(math.log1p(often) / math.log1p(FAMILIAR), 1.0)


def topics(cue: Cue, identity: Identity) -> list[str]:
    """The topics of the identity's guidance that a message touches."""
    return [topic for topic in identity.guidance if set(analyse(topic).terms) & set(cue.terms)]


def reasons(
    cue: Cue, known: Sequence[Recalled], statistics: Statistics, values: Mapping[str, float]
) -> tuple[str, ...]:
    """Why the confidence is what it is, most telling first, in plain words."""
    if not cue.terms:
        return ("nothing in the message asks for memory",)
    if not statistics.memories and not known:
        return ("nothing is stored yet",)
    if not known:
        return ("nothing stored bears on this",)
    held = terms_found(cue, known)
    missing = [term for term in cue.terms if term not in held]
    said = [f"{_quoted(known[0])} bears on this"]
    if missing:
        said.append(f"{len(held)} of {len(cue.terms)} content words are stored; not {', '.join(missing[:4])}")
    else:
        said.append("every content word is stored")
    if values["about"] < 0.5:
        said.append("it is not about the one asked")
    if values["answer"]:
        said.append("it holds the kind of thing asked for")
    return tuple(said)


def _quoted(one: Recalled) -> str:
    text = " ".join(one.memory.content.split())
    return f'"{text if len(text) <= QUOTED else text[: QUOTED - 1] + "…"}"'


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 0.0
