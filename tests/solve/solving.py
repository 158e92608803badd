"""What the tests of the methods share: a problem, and how a request to a model is shown."""

from collections.abc import Sequence
from typing import Any

from insula.testing import Request, ScriptedModel

PROBLEM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"


class MemoryPool(dict[str, Any]):
    """Replies for as long as a test lasts, and how often one was found."""

    hits = 0

    def get(self, key: str, default: Any = None) -> Any:
        """The reply under a key, if there is one."""
        self.hits += key in self
        return super().get(key, default)

    def put(self, key: str, generation: Any) -> None:
        """Keep a reply."""
        self[key] = generation


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
