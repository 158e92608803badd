"""The Claude Agent SDK: the hooks of Claude Code in the process of the agent, without a process per call.

    mind = await Metacognition.open("insula.db")
    options = ClaudeAgentOptions(hooks=hooks(mind, user="ana"))

With a mind, each message of the user's is a turn: what is told of it goes behind the message, and the last words of the
agent are assessed. They have been shown by then, and stay. Without one, `hooks()`, there are the senses alone.

The SDK tells of no start of a session, so learned rules come with the hooks that `insula install claude-code` puts into
the settings, where `setting_sources` names those. With both, each call still counts and is answered once.
"""

import json
import os
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from insula.caches import LatestEntries
from insula.coding.hosts import hook, places
from insula.coding.hosts.dialects import load_dialect
from insula.coding.hosts.files import make_private_folder
from insula.coding.hosts.payload import get_text
from insula.integrations.guest import TALKS, USER, Guest, GuestInjection, import_extra, talking
from insula.metacognition import Blocking, Metacognition

if TYPE_CHECKING:
    HookMatcher = Any  # of the SDK, which need not be installed

__all__ = ["hooks", "talking"]

NAME, RANGE = "the Claude Agent SDK", "claude-agent-sdk>=0.2.110,<1"
HOST = "claude-code"  # which the SDK runs: its callbacks get what the hooks of that get
EVENTS = (
    "UserPromptSubmit",
    "PreToolUse",
    "SubagentStart",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Stop",
)
UNASKED = "dontAsk"
TURN_EVENTS = ("UserPromptSubmit", "PreCompact", "Stop")
THREADS = 8  # in which events are answered at the same time; none of them is taken from the agent's
MOST_RUNNING = 2 * THREADS  # from so many on, most of them left behind on a disk that hangs, no more goes near it

Callback = Callable[[Mapping[str, Any], str | None, Any], Awaitable[dict[str, Any]]]


def hooks(
    mind: Metacognition | Blocking | None = None,
    *,
    user: str = USER,
    exempt: Collection[str] = (),
    home: Path | None = None,
) -> "dict[Any, list[HookMatcher]]":
    """What `ClaudeAgentOptions(hooks=...)` takes.

    Args:
        mind: from `Metacognition.open` or `Metacognition.sync`; without one there are the senses alone.
        user: whose memory is used, where `talking` does not say; the session is the SDK's own.
        exempt: names of tools that the senses pass over.
        home: the folder of hook state; `INSULA_HOME`, else `~/.insula`, by default.

    Raises:
        SettingsError: the folder cannot be made.
        ImportError: the SDK is not installed.
    """
    matcher = cast("Callable[..., HookMatcher]", import_extra("claude_agent_sdk", NAME, RANGE).HookMatcher)
    sensing = _make_callback(str(make_private_folder(home or places.find_home())), frozenset(exempt))
    parts = [
        (sensing, EVENTS),
        *([(SdkTurns(Guest(mind, user=user)).answer_event, TURN_EVENTS)] if mind is not None else ()),
    ]
    heard = dict.fromkeys(event for _, events in parts for event in events)
    hooks_found = {event: [callback for callback, events in parts if event in events] for event in heard}
    return {event: [matcher(hooks=each, timeout=2 * hook.PATIENCE)] for event, each in hooks_found.items()}


class SdkTurns:
    """The turns of the SDK's sessions: begun by what the user says, finished by the agent's last words."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._told = LatestEntries[str, GuestInjection](TALKS)

    async def answer_event(
        self, payload: Mapping[str, Any], tool_use_id: str | None, context: object
    ) -> dict[str, Any]:
        """Answers one event, in time or not at all."""
        from anyio import move_on_after

        try:
            with move_on_after(hook.PATIENCE):
                return await self._finish_answered(dict(payload))
        except Exception as error:
            hook.count_failure(str(places.find_home()), HOST, error)
        return {}

    async def _finish_answered(self, payload: dict[str, Any]) -> dict[str, Any]:
        session, name = get_text(payload, "session_id"), get_text(payload, "hook_event_name")
        before = self._told.get(session, GuestInjection())
        if name == "PreCompact":  # what stood in the conversation may be gone from it
            self._told[session] = before._replace(system="")
        elif name == "Stop":
            await self._guest.run_awaited(self._guest.after_model(before, get_text(payload, "last_assistant_message")))
        elif said := get_text(payload, "prompt").strip():
            told = self._told[session] = await self._guest.run_awaited(
                self._guest.before_message(said, session or None)
            )
            new = told.system if told.system != before.system else ""
            behind = "\n\n".join(filter(None, (new, told.behind)))
            return load_dialect(HOST).write_answer(name, behind) if behind else {}
        return {}


def _make_callback(home: str, exempt: Collection[str]) -> Callback:
    from anyio import CapacityLimiter, move_on_after, to_thread
    from anyio.lowlevel import RunVar

    limiters: RunVar[CapacityLimiter | None] = RunVar("insula", None)  # a limiter belongs to an event loop
    running: set[object] = set()

    async def answer_event(payload: Mapping[str, Any], tool_use_id: str | None, context: object) -> dict[str, Any]:
        """Answers one event; whatever goes wrong, the agent goes on as without it (law 4)."""
        try:
            limiter = limiters.get() or CapacityLimiter(THREADS)
            limiters.set(limiter)
            with move_on_after(hook.PATIENCE):
                work = partial(_answer_payload, home, payload, running, exempt)
                return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
        except Exception as error:  # such as no thread to be had
            hook.count_failure(home, HOST, error)
        return {}

    return answer_event


def _answer_payload(
    home: str, payload: Mapping[str, Any], running: set[object], exempt: Collection[str]
) -> dict[str, Any]:
    if len(running) >= MOST_RUNNING:
        return {}
    call, began = object(), time.monotonic()
    running.add(call)
    try:
        given = dict(payload)
        if hook.is_switched_off(home, os.environ.get("INSULA_OFF", "")) or given.get("tool_name") in exempt:
            return {}
        if given.get("hook_event_name") == "PreToolUse":  # a question refuses the call where the program asks nobody
            given["permission_mode"] = UNASKED
        told = hook.respond(home, HOST, given, time.time())
        if time.monotonic() - began > hook.PATIENCE:
            raise TimeoutError  # nobody waits for it any more
        return json.loads(told) if told else {}
    except Exception as error:  # the edge of law 4: counted, and told by `insula doctor`
        hook.count_failure(home, HOST, error)
        return {}
    finally:
        running.discard(call)
