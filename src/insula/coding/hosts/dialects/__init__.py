"""The dialects of coding agents: what each sends to a hook, and what it reads as an answer.

`EVENTS` is the table of hosts: each name is that of a file beside this one, with its class as `DIALECT`. What that
does not say is as Claude Code has it, or nothing. What a host's settings look like is in `places`, what it would send
to try a hook in `trials.json`; both have these names (`tests/hosts/test_dialects.py`). The hook loads one dialect in
milliseconds, so no `typing` and no `pathlib` stands here.
"""

import os
import re

from insula.coding.hosts.payload import get_text
from insula.coding.step.action import Action, HookEvent
from insula.coding.step.fingerprint import make_action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from insula.coding.hosts.payload import Payload
    from insula.coding.step.person import Remark

EVENTS: "Mapping[str, Mapping[str, str]]" = {
    "claude-code": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before",
        "SubagentStart": "subagent",
        "PostToolUse": "action",
        "PostToolUseFailure": "action",  # without it, no failure is ever seen
        "PostToolBatch": "action",  # without it, no edit that the host turned down
        "Stop": "stop",
        "SessionEnd": "end",
    },
    "codex": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before",
        "SubagentStart": "subagent",
        "PostToolUse": "action",
        "Stop": "stop",
        "SessionEnd": "end",
    },
    "gemini": {
        "SessionStart": "start",
        "BeforeAgent": "prompt",
        "AfterTool": "action",
        "AfterAgent": "stop",
        "SessionEnd": "end",
    },
    "copilot": {
        "sessionStart": "start",
        "userPromptSubmitted": "prompt",
        "postToolUse": "action",
        "postToolUseFailure": "action",
        "agentStop": "stop",
        "sessionEnd": "end",
    },
    "qwen": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PostToolUse": "action",
        "PostToolUseFailure": "action",
        "Stop": "stop",
        "SessionEnd": "end",
    },
    "opencode": {  # the names that our plugin gives them
        "session.start": "start",
        "chat.message": "prompt",
        "tool.execute.after": "action",
        "tool.error": "action",
        "session.idle": "stop",
    },
    "cline": {"PostToolUse": "action", "UserPromptSubmit": "prompt", "TaskComplete": "stop"},
    "cursor": {
        "sessionStart": "start",
        "beforeSubmitPrompt": "prompt",
        "postToolUse": "action",
        "postToolUseFailure": "action",
        "stop": "stop",
        "sessionEnd": "end",
    },
    "droid": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PostToolUse": "action",
        "Stop": "stop",
        "SessionEnd": "end",
    },
}
"""Host -> its names of the events that the hook is called for -> what each is for the hook."""
NAMES = tuple(EVENTS)
PROVEN = frozenset(NAMES) - {"cursor", "droid"}
"""Hosts whose client can be run against a model on this machine."""
TAIL = 64 * 1024
"""Bytes at the end of a host's record of a session that are looked at."""


class BaseDialect:
    """What the hook asks of a host's dialect; a method that is not overridden reads and answers as Claude Code does."""

    asks = False
    """Whether a hook can have the host put a question to its user before a call."""
    hears_stop = False
    """Whether the model hears what is answered to the end of its turn, once."""

    def __init__(self, events: "Mapping[str, str]") -> None:
        self.events = events
        """Its row of `EVENTS`."""

    def read_event(self, payload: "Payload", at: float) -> HookEvent | None:
        """What the host tells; None where it is nothing that the senses need."""
        event = self.read_frame(payload)
        if event is None or event.kind not in {"action", "before"}:
            return event
        return event.replace(actions=(self.read_action(payload, event.name, at),))

    def read_frame(self, payload: "Payload") -> HookEvent | None:
        """The event without its actions; None for one unheard of."""
        name, session = get_text(payload, "hook_event_name"), get_text(payload, "session_id")
        if name not in self.events or not session:
            return None
        kind = self.events[name]
        return HookEvent(
            kind=kind,
            name=name,
            session=session,
            agent=get_text(payload, "agent_id"),
            cwd=get_text(payload, "cwd"),
            source=get_text(payload, "source"),
            transcript=get_text(payload, "transcript_path"),
            prompt=get_text(payload, "prompt") if kind == "prompt" else "",
            said=get_text(payload, "last_assistant_message"),
            drops_output=kind == "stop" and (not self.hears_stop or payload.get("stop_hook_active") is True),
            mode=get_text(payload, "permission_mode"),
            pending=bool(payload.get("background_tasks")),
        )

    def read_action(self, payload: "Payload", name: str, at: float) -> Action:
        """The call of a tool that an event of that name tells of."""
        raise NotImplementedError

    def write_answer(self, name: str, text: str) -> dict[str, object]:
        """What puts a text before the model, in answer to an event of that name."""
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}

    def write_question(self, name: str, text: str) -> dict[str, object]:
        """What lets the host ask the user before a call, where it `asks`."""
        return self.write_answer(name, text)

    def read_context(self, tail: str) -> tuple[int, int]:
        """Tokens in the context after the last reply and the size of the window, by the end of the host's record; 0
        where it does not say, or a hook is not told of the record."""
        return 0, 0

    def read_turn(self, tail: str, call: str) -> str:
        """The model's turn that a call is of, by the end of the host's record; empty where it names none, so that calls
        that overlap in time are one."""
        return ""

    def read_remarks(self, tail: str) -> "tuple[Remark, ...]":
        """Interrupts and rejections since the agent last spoke, by the end of the host's record."""
        return ()


def load_dialect(name: str) -> BaseDialect:
    """The dialect of a host; `__import__`, because importlib would cost a millisecond.

    Raises:
        LookupError: there is no such host.
    """
    if name not in NAMES:
        raise LookupError(name)
    return __import__(get_module(name), None, None, ("DIALECT",)).DIALECT(EVENTS[name])


def get_module(name: str) -> str:
    """The module that holds the dialect of a host."""
    return f"{__name__}.{name.replace('-', '_')}"


def read_call(
    payload: "Payload", at: float, output: str = "", ok: bool | None = None, code: int | None = None
) -> Action:
    """The action that a call was, of a payload with Claude Code's names."""
    return make_action(
        tool=get_text(payload, "tool_name"),
        input=payload.get("tool_input"),
        output=output,
        at=at,
        ok=ok,
        code=code,
        id=get_text(payload, "tool_use_id"),
    )


# The host's own record of a session: only numbers and what the user did are taken from it.


def read_tail(path: str) -> str:
    """The end of a transcript; empty where it cannot be read, as a pipe cannot, at which nobody may ever write."""
    from insula.foreign import opened

    try:
        with os.fdopen(opened(path), "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL))
            return file.read(TAIL).decode("utf-8", "replace").replace('": ', '":')
    except (OSError, ValueError):
        return ""


def find_number(text: str, name: str, start: int) -> int:
    """The first whole number of that name from `start` on; 0 where there is none, or where `start` is -1."""
    match = re.compile(f'"{name}":(\\d{{1,12}})\\b').search(text, start) if start >= 0 else None
    return int(match[1]) if match else 0
