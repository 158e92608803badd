"""What the pages call things, for people who never heard of metacognition."""

from collections.abc import Mapping
from typing import Any, Literal

from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD
from insula.value import is_list, is_object

Tone = Literal["sure", "good", "doubt", "poor"]

FLAGS = {
    "empty": "it is empty",
    "off_topic": "it does not address the question",
    "incomplete": "a part of the question is left unanswered",
    "wrong_language": "it is in another language than it should be",
    "forbidden_pattern": "it says something that the agent's identity forbids",
    "off_tone": "its tone is not the agent's",
    "too_short": "it is too short for what was asked",
    "too_long": "it is longer than was asked for",
    "repetition": "it repeats an earlier answer",
    "unsure": "the model itself was unsure of its words",
}
PARTS = {
    "responsiveness": "addresses the question",
    "completeness": "answers all of it",
    "consistency": "fits in language, tone and rules",
    "likelihood": "the model was sure of its words",
}
SIGNALS = {
    "meta:turn": "Answered",
    "meta:confidence-low": "Poor answer",
    "meta:impasse": "Stuck",
    "meta:reflection": "Reflected",
    "meta:snapshot": "Snapshot",
    "meta:adaptation": "Adapted",
}
LOUD = ("meta:confidence-low", "meta:impasse")
"""Signals that something went wrong."""
LEVERS = {
    "max_context_items": "memories per answer",
    "consolidation_threshold": "how notable a thing must be to be kept",
    "snapshot_interval": "turns between snapshots",
    "skipped_stages": "steps left out",
}
STAGES = {"embedding": "comparing meanings", "assessor_model": "asking a second model"}
REASONS = {
    "performance_degraded": "answers had become slow",
    "stm_high_utilization": "much was on its mind",
    "stable": "that was over",
}
STATES = {
    "proposed": "only proposed",
    "active": "told",
    "retired": "retired",
    "pinned": "pinned by you",
    "muted": "muted by you",
    "pruned": "forgotten",
}
STATUS = {"stored": "yes", "skipped": "no"}
TOPIC = 4
"""Words of a topic that are named."""
_GAP = "\N{NO-BREAK SPACE}"


def quality(score: float) -> tuple[str, Tone]:
    """How good an answer is, in a word, and in which tone that is shown."""
    if score >= PASS_THRESHOLD:
        return "good", "good"
    return ("doubtful", "doubt") if score >= HEDGE_THRESHOLD else ("poor", "poor")


def flag(name: str) -> str:
    """A flag of the self-monitor."""
    return FLAGS.get(name, name.replace("_", " "))


def signal(kind: str) -> str:
    """What was noticed."""
    return SIGNALS.get(kind, kind.removeprefix("meta:").replace("-", " ").capitalize())


def told(kind: str, reason: str, data: Mapping[str, Any]) -> str:
    """What was noticed, in a line: of a turn that is over, what was made of it."""
    sure, good = data.get("confidence"), data.get("assessment")
    if kind != "meta:turn" or not is_object(sure) or not is_object(good):
        return reason
    topic = data.get("topic")
    about = f"About {', '.join(map(str, topic[:TOPIC]))}: " if is_list(topic) and topic else ""
    return f"{about}{_share('sure', sure)}, {_share('good', good)}"


def _share(name: str, part: Mapping[str, Any]) -> str:
    score = part.get("score")
    return f"{name} {percent(score)}" if isinstance(score, int | float) else f"{name} unknown"


def percent(share: float) -> str:
    """63 %."""
    return f"{100 * share:.0f}{_GAP}%"


def milliseconds(value: float) -> str:
    """6 ms, 820 ms, 1.2 s."""
    if abs(value) < 1_000:
        return f"{value:.0f}{_GAP}ms"
    return f"{value / 1_000:.1f}{_GAP}s" if abs(value) < 60_000 else f"{value / 60_000:.1f}{_GAP}min"
