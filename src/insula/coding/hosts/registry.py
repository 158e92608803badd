"""The coding agents that there are hooks for: each name stands here, and everything else that knows a host asks here.

A dialect is the module that knows what a host sends and reads. What a host's settings look like is in `places`, what it
would send to try a hook in `probe`; both are checked against these names (`tests/hosts/test_registry.py`).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.coding.hosts.dialect import Dialect


NAMES = ("claude-code", "codex", "gemini", "copilot", "qwen", "opencode", "cline", "cursor", "droid")
EXPERIMENTAL = frozenset(("cline", "cursor", "droid"))
"""Hosts of which something was never seen to work."""
PROVEN = frozenset(NAMES) - {"cursor", "droid"}
"""Hosts whose client can be run against a model on this machine."""


def module(name: str) -> str:
    """The module that is the dialect of a host."""
    return f"insula.coding.hosts.{name.replace('-', '_')}"


def dialect(name: str) -> "Dialect":
    """The dialect of a host; `__import__`, because importlib would cost a millisecond.

    Raises:
        LookupError: there is no such host.
    """
    if name not in NAMES:
        raise LookupError(name)
    return __import__(module(name), None, None, ("event",))


if TYPE_CHECKING:  # each is checked against the protocol
    from insula.coding.hosts import claude_code, cline, codex, copilot, cursor, droid, gemini, opencode, qwen

    _DIALECTS: tuple[Dialect, ...] = (claude_code, codex, gemini, copilot, qwen, opencode, cline, cursor, droid)
