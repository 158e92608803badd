"""What Insula changed about itself under load, in words, as terminal and page say it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insula.session.snapshot import Adaptation, Cause, Figures, Lever, Stage

LEVERS: Mapping[Lever, str] = {
    "max_context_items": "memories per answer",
    "consolidation_threshold": "importance needed for long-term memory",
    "snapshot_interval": "turns between snapshots",
    "history_share": "share of the conversation sent",
    "retry": "second answers",
    "skipped_stages": "steps put off or left out",
}
CAUSES: Mapping[Cause, str] = {
    "performance_degraded": "the model had become slow",
    "stm_high_utilization": "working memory was nearly full",
    "stable": "all was well",
}
STAGES: Mapping[Stage, str] = {
    "embedding": "reading the answer for its meaning",
    "assessor_model": "asking a second model",
}
LEAST_MS = 1.0
"""Milliseconds below which turns are as fast as before."""
LEAST_SHARE = 0.01
"""Share of working memory below which it is as full as before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptationWords:
    """A change that Insula made to itself, in words."""

    at: float
    what: str
    change: str
    why: str
    saved: str
    afterwards: str
    of_interval: bool
    """Whether it only moved the next snapshot."""


def describe_adaptations(adaptations: Sequence[Adaptation]) -> list[AdaptationWords]:
    """What was changed, the latest first."""
    return [
        AdaptationWords(
            at=adaptation.at,
            what=LEVERS.get(adaptation.lever, adaptation.lever),
            change=f"{_describe_value(adaptation.before)} → {_describe_value(adaptation.after)}",
            why=CAUSES.get(adaptation.reason, adaptation.reason),
            saved=adaptation.saved.words if adaptation.saved else "",
            afterwards=_describe_effect(adaptation.effect),
            of_interval=adaptation.lever == "snapshot_interval",
        )
        for adaptation in sorted(adaptations, key=lambda adaptation: -adaptation.at)
    ]


def _describe_value(value: float | Sequence[Stage]) -> str:
    if isinstance(value, int | float):
        return f"{value:g}"
    return ", ".join(STAGES.get(stage, stage) for stage in value) or "none"


def _describe_effect(effect: Figures | None) -> str:
    """The difference that the next snapshot showed; it is no cause, and is not called one."""
    if effect is None:
        return "not known before the next snapshot"
    slower, fuller = effect.latency_p95_ms, effect.stm_utilization
    if slower is None and fuller is None:
        return "nothing to compare"
    said: list[str] = []
    if slower and abs(slower) >= LEAST_MS:
        said.append(f"turns {describe_duration(abs(slower))} {'slower' if slower > 0 else 'faster'}")
    if fuller and abs(fuller) >= LEAST_SHARE:
        said.append(f"working memory {100 * abs(fuller):.0f} points {'fuller' if fuller > 0 else 'emptier'}")
    return "; ".join(said) or "as before"


def describe_duration(milliseconds: float) -> str:
    """6 ms, 820 ms, 1.2 s, 2.5 min."""
    gap = "\N{NO-BREAK SPACE}"
    if abs(milliseconds) < 1_000:
        return f"{milliseconds:.0f}{gap}ms"
    if abs(milliseconds) < 60_000:
        return f"{milliseconds / 1_000:.1f}{gap}s"
    return f"{milliseconds / 60_000:.1f}{gap}min"
