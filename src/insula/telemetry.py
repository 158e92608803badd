"""What Insula counts about itself: every metric name stands in this table."""

from prometheus_client import CollectorRegistry, Counter, Histogram

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class Telemetry:
    """Counters and histograms in a registry of their own, so that two instances do not share numbers."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
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
