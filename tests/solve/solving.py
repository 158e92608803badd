"""What the tests of the methods share: a problem, and how a request to a model is shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from insula.testing import Request, ScriptedModel
from insula_solve import StrategyTally

PROBLEM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"


def asked(model: ScriptedModel) -> list[tuple[object, ...]]:
    """Tokens, temperature and the first line of each request."""
    return [(*_settings(request), request.prompt.strip().splitlines()[-1][:60]) for request in model.requests]


def schedule(model: ScriptedModel, begins: str) -> list[tuple[object, ...]]:
    """Tokens and temperature of the requests whose prompt holds some words."""
    return [_settings(request) for request in model.requests if begins in request.prompt]


def _settings(request: Request) -> tuple[object, object]:
    return request.settings.get("max_tokens"), request.settings.get("temperature")


def scores(*values: float | str, evaluation: str = "It holds.") -> str:
    """A verifier's reply; one value stands for all four."""
    four: Sequence[float | str] = values * 4 if len(values) == 1 else values
    names = ("Coherence", "Plausibility", "Consistency", "Goal-conduciveness")
    lines = [f"{name}: {value}" for name, value in zip(names, four, strict=True)]
    return "\n".join(["<evaluate>", *lines, f"Evaluation: {evaluation}", "</evaluate>"])


class MemoryRecords:
    """Records for as long as the process lives."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], dict[str, StrategyTally]] = {}

    async def read(self, model: str, kind: str) -> Mapping[str, StrategyTally]:
        """The tally of each strategy that a model has tried on problems of a class."""
        return dict(self._tallies.get((model, kind), {}))

    async def add(self, model: str, kind: str, strategy: str, success: bool) -> None:
        """Count one more outcome."""
        tallies = self._tallies.setdefault((model, kind), {})
        won, lost = tallies.get(strategy, StrategyTally())
        tallies[strategy] = StrategyTally(won + success, lost + (not success))


class MemoryPool:
    """Replies for as long as the process lives.

    Attributes:
        hits: how often a reply was found.
    """

    def __init__(self) -> None:
        self._replies: dict[str, Any] = {}
        self.hits = 0

    def get(self, key: str) -> Any:
        """The reply under a key, if there is one."""
        found = self._replies.get(key)
        self.hits += found is not None
        return found

    def put(self, key: str, generation: Any) -> None:
        """Keep a reply."""
        self._replies[key] = generation
