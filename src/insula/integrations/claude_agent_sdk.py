"""The Claude Agent SDK: the hooks of Claude Code in the process of the agent, without a process per call.

    options = ClaudeAgentOptions(hooks=insula.integrations.claude_agent_sdk.hooks())

The SDK has no callback for the start of a session, so learned rules are not told there: they are with the hooks that
`insula install claude-code` puts into the settings, where `setting_sources` names those. With both, each call still
counts and is answered once.
"""

import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from insula.hosts import hook, places
from insula.hosts.files import private_folder
from insula.integrations.extras import needed

if TYPE_CHECKING:
    HookMatcher = Any
    """Of the SDK, which need not be installed."""

NAME, RANGE = "the Claude Agent SDK", "claude-agent-sdk>=0.2,<1"
HOST = "claude-code"
"""The SDK runs Claude Code, and its callbacks get what the hooks of that get."""
EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop")
THREADS = 8
"""Events that are answered at the same time, in threads that are not taken from the agent's."""
MOST_RUNNING = 2 * THREADS
"""From so many on, most of them left behind on a disk that hangs, no more goes near it."""

Callback = Callable[[Mapping[str, Any], str | None, Any], Awaitable[dict[str, Any]]]


def hooks(home: Path | None = None) -> "dict[str, list[HookMatcher]]":
    """What `ClaudeAgentOptions(hooks=...)` takes.

    Args:
        home: the folder of hook state; `INSULA_HOME`, else `~/.insula`, by default.

    Raises:
        SettingsError: the folder cannot be made.
        ImportError: the SDK is not installed.
    """
    matcher = _matcher()
    callback = _callback(str(private_folder(home or places.home())))
    return {event: [matcher(hooks=[callback], timeout=2 * hook.PATIENCE)] for event in EVENTS}


def _matcher() -> "Callable[..., HookMatcher]":
    return cast("Callable[..., HookMatcher]", needed("claude_agent_sdk", NAME, RANGE).HookMatcher)


def _callback(home: str) -> Callback:
    from anyio import CapacityLimiter, move_on_after, to_thread
    from anyio.lowlevel import RunVar

    limiters: RunVar[CapacityLimiter | None] = RunVar("insula", None)  # a limiter belongs to an event loop
    running: set[object] = set()

    async def tell(payload: Mapping[str, Any], tool_use_id: str | None, context: object) -> dict[str, Any]:
        """Answers one event; whatever goes wrong, the agent goes on as without it (law 4)."""
        try:
            limiter = limiters.get() or CapacityLimiter(THREADS)
            limiters.set(limiter)
            with move_on_after(hook.PATIENCE):
                work = partial(_answer, home, payload, running)
                return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
        except Exception as error:  # such as no thread to be had
            hook.count(home, HOST, error)
        return {}

    return tell


def _answer(home: str, payload: Mapping[str, Any], running: set[object]) -> dict[str, Any]:
    if len(running) >= MOST_RUNNING:
        return {}
    call, began = object(), time.monotonic()
    running.add(call)
    try:
        if hook.off(home, os.environ.get("INSULA_OFF", "")):
            return {}
        told = hook.respond(home, HOST, dict(payload), time.time())
        if time.monotonic() - began > hook.PATIENCE:
            raise TimeoutError  # nobody waits for it any more
        return json.loads(told) if told else {}
    except Exception as error:  # the edge of law 4: counted, and told by `insula doctor`
        hook.count(home, HOST, error)
        return {}
    finally:
        running.discard(call)
