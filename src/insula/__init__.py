"""Metacognition for LLM agents.

Public names are resolved on first use (PEP 562), because a hook imports this package for every tool call.
"""

TYPE_CHECKING = False  # importing `typing` would cost more than all the rest

__version__ = "0.1.0"

_PUBLIC = {
    "Metacognition": "insula.metacognition",
    "Blocking": "insula.metacognition",
    "Turn": "insula.metacognition",
    "TurnResult": "insula.metacognition",
    "assess": "insula.turn.monitor",
    "Chat": "insula.agent.chat",
    "Identity": "insula.types",
    "Assessment": "insula.types",
    "Confidence": "insula.types",
    "Controls": "insula.types",
    "Memory": "insula.types",
    "Recalled": "insula.types",
    "Signal": "insula.types",
    "Usage": "insula.types",
    "Change": "insula.memory.storage.rows",
    "Deleted": "insula.operations.memories",
    "Filters": "insula.memory.storage.filters",
    "InputError": "insula.errors",
    "InsulaError": "insula.errors",
    "MemoryPage": "insula.operations.memories",
    "NotFound": "insula.errors",
    "SearchHit": "insula.metacognition.searching",
    "SearchResult": "insula.metacognition.searching",
    "StoreError": "insula.errors",
    "Verdict": "insula.turn.verdict",
}

if TYPE_CHECKING:
    from insula.agent.chat import Chat as Chat
    from insula.errors import InputError as InputError
    from insula.errors import InsulaError as InsulaError
    from insula.errors import NotFound as NotFound
    from insula.errors import StoreError as StoreError
    from insula.memory.storage.filters import Filters as Filters
    from insula.memory.storage.rows import Change as Change
    from insula.metacognition import Blocking as Blocking
    from insula.metacognition import Metacognition as Metacognition
    from insula.metacognition import Turn as Turn
    from insula.metacognition import TurnResult as TurnResult
    from insula.metacognition.searching import SearchHit as SearchHit
    from insula.metacognition.searching import SearchResult as SearchResult
    from insula.operations.memories import Deleted as Deleted
    from insula.operations.memories import MemoryPage as MemoryPage
    from insula.turn.monitor import assess as assess
    from insula.turn.verdict import Verdict as Verdict
    from insula.types import Assessment as Assessment
    from insula.types import Confidence as Confidence
    from insula.types import Controls as Controls
    from insula.types import Identity as Identity
    from insula.types import Memory as Memory
    from insula.types import Recalled as Recalled
    from insula.types import Signal as Signal
    from insula.types import Usage as Usage


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return ["__version__", *sorted(_PUBLIC)]
