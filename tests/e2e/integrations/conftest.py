"""What each framework's file gives to the tests in `every_agent`: `Talk`, a conversation with an agent of it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from insula.metacognition import Blocking, Metacognition


@pytest.fixture
def mind() -> Iterator[Blocking]:
    with Metacognition.sync(":memory:", embed=None, holdout=0.0, claims=["doubt.missing"]) as mind:
        yield mind


@pytest.fixture
def talk(request: pytest.FixtureRequest, mind: Blocking) -> Callable[..., Any]:
    """Begins a conversation with an agent whose model is a server; options are those of the integration."""
    kind = getattr(request, "param", None) or request.module.Talk
    return lambda server, **options: kind(server, mind, **options)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test of all agents runs in each way to call one, and with each kind of agent."""
    module: Any = metafunc.module
    if "way" in metafunc.fixturenames:
        shown = "is_hedged" in metafunc.function.__name__  # what was streamed has been shown, and stays
        metafunc.parametrize("way", [way for way in module.WAYS if not (shown and "stream" in way)])
    if "talk" in metafunc.fixturenames and hasattr(module, "KINDS"):
        metafunc.parametrize("talk", module.KINDS, indirect=True)
