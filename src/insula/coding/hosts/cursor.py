"""Cursor (experimental, from its documents): flat entries, and text for the model under a name of its own.

Its own client lists the events whose context it takes; people report that the editor drops some of them. What is to be
said to a failed tool or a prompt, where it is least sure to be heard, waits for the next successful call.
"""

import json

from insula.coding.hosts.fields import Payload, said, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action
from insula.value import is_list, is_object

KINDS = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "postToolUse": "action",
    "postToolUseFailure": "action",
    "stop": "stop",
    "sessionEnd": "end",
}


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    name, session = text(payload, "hook_event_name"), text(payload, "conversation_id") or text(payload, "session_id")
    if name not in KINDS or not session:
        return None
    roots = payload.get("workspace_roots")
    root = roots[0] if is_list(roots) and roots and isinstance(roots[0], str) else ""
    return Event(
        kind=KINDS[name],
        name=name,
        session=session,
        cwd=text(payload, "cwd") or root,
        prompt=text(payload, "prompt") if KINDS[name] == "prompt" else "",
        actions=(_action(payload, name, at),) if KINDS[name] == "action" else (),
        drops_output=name in {"postToolUseFailure", "beforeSubmitPrompt"},
    )


def _action(payload: Payload, name: str, at: float) -> Action:
    output, code = _output(payload)
    failed = name == "postToolUseFailure"
    done = action(
        tool=text(payload, "tool_name"),
        input=payload.get("tool_input"),
        output=text(payload, "error_message") if failed else output,
        at=at,
        ok=False if failed or code else True if code == 0 else None,
        code=code,
        id=text(payload, "tool_use_id"),
    )
    refused = payload.get("is_interrupt") is True or text(payload, "failure_type") == "permission_denied"
    return done.replace(ran=False) if refused else done


def _output(payload: Payload) -> tuple[str, int | None]:
    """What a tool gave back, which is JSON in a text, and the exit code of a command."""
    given = payload.get("tool_output")
    try:
        value = json.loads(given) if isinstance(given, str) and given[:1] in {"{", "["} else given
    except (ValueError, RecursionError):
        value = given
    code = value.get("exitCode", value.get("exit_code")) if is_object(value) else None
    return said(value), code if isinstance(code, int) else None


def answer(name: str, told: str) -> dict[str, object]:
    """What puts `told` before the model."""
    return {"additional_context": told}


def context(tail: str) -> tuple[int, int]:
    """Nothing is known of its transcripts."""
    return 0, 0


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
