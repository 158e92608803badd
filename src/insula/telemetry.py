"""What Insula counts and traces about itself: every name of a metric, span and attribute stands in this file.

Traces need OpenTelemetry's SDK in the host's process. Without it a span costs a few microseconds. Nothing that a user,
a model or a tool wrote is ever in one: attributes are numbers, words of ours, and the names of models. Where neither
OpenTelemetry nor Prometheus' client is installed (both are of the extra `telemetry`), nothing is counted or traced.
"""

from collections.abc import Mapping
from contextvars import Token
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from opentelemetry import context, trace
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, StatusCode
    from prometheus_client import CollectorRegistry, Counter, Histogram
else:
    from insula import unobserved

    try:
        from opentelemetry import context, trace
        from opentelemetry.trace import SpanKind, StatusCode
    except ImportError:
        context = trace = SpanKind = StatusCode = unobserved.NOTHING
    try:
        from prometheus_client import CollectorRegistry, Counter, Histogram
    except ImportError:
        CollectorRegistry = Counter = Histogram = unobserved.NOTHING

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Buckets of what metacognition adds to a turn."""
TURN_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
"""Buckets of a whole turn with its model: up to the default `timeout` of a response."""
MODELS = 16
"""Models that have a series of their own; further ones share `OTHER`, so that no label grows without bound."""
OTHER = "other"

TURN: Final = "insula.turn"
RECALL: Final = "insula.recall"
EMBEDDING: Final = "insula.embedding"
WRITE: Final = "insula.write"
ASSESSMENT: Final = "insula.assessment"
FINISH: Final = "insula.finish"
NIGHT: Final = "insula.night"
PHASE: Final = "insula.night.phase"
CHAT: Final = "chat"
"""A call of a model; as the conventions for generative AI have it, its span is named "chat MODEL"."""

ATTRIBUTES: Mapping[str, str] = {
    # of a turn, from recall to the last write
    "number": "insula.turn.number",
    "level": "insula.confidence.level",
    "hedged": "insula.hedged",
    "promoted": "insula.promoted",
    # of recall
    "limit": "insula.recall.limit",
    "recalled": "insula.recall.memories",
    # of the making of vectors
    "texts": "insula.embedding.texts",
    # of an assessment
    "score": "insula.assessment.score",
    "flags": "insula.assessment.flags",
    # of a night and its phases
    "phase": "insula.night.phase",
    "state": "insula.night.state",
    # of a call of a model; the names that are not ours are those of the conventions for generative AI
    "purpose": "insula.purpose",
    "operation": "gen_ai.operation.name",
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "finish_reasons": "gen_ai.response.finish_reasons",
}
"""The keyword of an attribute -> its name in a trace."""
ERROR_TYPE: Final = "error.type"
"""The class of what was raised, and not its message, which may quote somebody."""
Known = str | int | float | bool | tuple[str, ...]
Attribute = Known | None

_tracer = trace.get_tracer("insula")


class Telemetry:
    """Counters and histograms in a registry of their own, so that two instances do not share numbers."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.turns = Counter("insula_turns", "Turns, by level of confidence.", ["level"], registry=self.registry)
        self.signals = Counter("insula_signals", "Signals on the ledger, by kind.", ["kind"], registry=self.registry)
        self.flags = Counter("insula_flags", "Flags of the self-monitor.", ["flag"], registry=self.registry)
        self.failures = Counter(
            "insula_failures", "Failures of Insula that were kept from the host.", ["where"], registry=self.registry
        )
        self.added = Histogram(
            "insula_added_seconds",
            "What metacognition adds to a turn, outside the model.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.latency = Histogram(
            "insula_turn_seconds",
            "A whole turn, its model's response included.",
            ["model"],
            buckets=TURN_SECONDS,
            registry=self.registry,
        )
        self.snapshots = self._make_counter("metacog_snapshots_total", "Snapshots taken.")
        self.advisories = self._make_counter(
            "metacog_advisory_items_total", "Advisories on what turns went without; the model is told of none."
        )
        self.stm_high = self._make_counter("metacog_stm_high_util_events_total", "Turns with a full working memory.")
        self.degraded = self._make_counter(
            "metacog_performance_degraded_events_total", "Turns with a model much slower than usual."
        )
        self.adaptive_retrieval = self._make_counter(
            "adaptive_retrieval_applied_total", "Turns with a lowered retrieval limit."
        )
        self._models: set[str] = set()

    def note_turn(self, model: str, seconds: float) -> None:
        """Note how long a whole turn took."""
        if len(self._models) < MODELS:
            self._models.add(model)
        self.latency.labels(model if model in self._models else OTHER).observe(seconds)

    def _make_counter(self, name: str, about: str) -> Counter:
        return Counter(name, about, registry=self.registry)


class Span:
    """One stretch of work in a trace, current while its block runs; what is raised in it passes through."""

    def __init__(self, name: str, kind: SpanKind, attributes: Mapping[str, Attribute]) -> None:
        self._name, self._kind = name, kind
        self._attributes = _name_attributes(attributes)
        self._span = trace.INVALID_SPAN
        self._token: Token[Context] | None = None

    def __enter__(self) -> Self:
        # What the SDK would record of an exception holds its message; see `ERROR_TYPE`.
        self._span = _tracer.start_span(self._name, kind=self._kind, attributes=self._attributes)
        if self._span.get_span_context().is_valid:
            self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def add_attributes(self, **attributes: Attribute) -> None:
        """Add what is known only now, under the keywords of `ATTRIBUTES`; None is left out."""
        self._span.set_attributes(_name_attributes(attributes))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None:
            self._span.set_attribute(ERROR_TYPE, kind.__qualname__)
            self._span.set_status(StatusCode.ERROR)
        if self._token is not None:
            context.detach(self._token)
        self._span.end()


def open_span(name: str, **attributes: Attribute) -> Span:
    """A span of ours, to be entered with `with`.

    Args:
        attributes: under the keywords of `ATTRIBUTES`; None is left out.
    """
    return Span(name, SpanKind.INTERNAL, attributes)


def open_call_span(model: str, **attributes: Attribute) -> Span:
    """The span of a call of a model, to be entered with `with`."""
    return Span(f"{CHAT} {model}", SpanKind.CLIENT, {"operation": CHAT, "model": model, **attributes})


def _name_attributes(attributes: Mapping[str, Attribute]) -> dict[str, Known]:
    """The attributes under their names in a trace: looked up though nobody listens, so that any test finds a typo."""
    return {ATTRIBUTES[key]: value for key, value in attributes.items() if value is not None}
