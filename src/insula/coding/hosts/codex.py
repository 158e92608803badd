"""Codex CLI 0.169: Claude Code's events, but a failed command looks like any other, and only its words tell."""

from insula.coding.hosts.claude_code import answer as nested
from insula.coding.hosts.claude_code import before, of_another_server
from insula.coding.hosts.fields import Payload, fields, parse_event, said, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action, patched
from insula.coding.step.outcome import error_in

__all__ = ["answer", "context", "event"]

KINDS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before",
    "SubagentStart": "subagent",
    "PostToolUse": "action",
    "Stop": "stop",
    "SessionEnd": "end",
}


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    found = parse_event(payload, KINDS)
    if found is not None and found.kind == "stop":
        return found.replace(drops_output=payload.get("stop_hook_active") is True)
    if found is not None and found.kind == "before":
        return found.replace(actions=before({**payload, "tool_input": _input(payload)}, at))
    if found is None or found.kind != "action":
        return found
    return found.replace(actions=(_action(payload, at),))


def _action(payload: Payload, at: float) -> Action:
    response = payload.get("tool_response")
    return action(
        tool=text(payload, "tool_name"),
        input=_input(payload),
        output=said(response),
        at=at,
        ok=False if of_another_server(payload) and error_in(response) else None,
        id=text(payload, "tool_use_id"),
    )


def _input(payload: Payload) -> object:
    """The arguments; a patch goes by its file."""
    given = payload.get("tool_input")
    if text(payload, "tool_name") != "apply_patch":
        return given
    patch = given if isinstance(given, str) else text(fields(payload, "tool_input"), "command")
    return {"path": next(iter(patched(patch)), ""), "command": patch}


def answer(name: str, told: str) -> dict[str, object]:
    """What puts `told` before the model; at the end of a turn it goes on with that, once, as Claude Code does."""
    return {"decision": "block", "reason": told} if name == "Stop" else nested(name, told)


def context(tail: str) -> tuple[int, int]:
    """Tokens in the context after the last reply in the end of a transcript, and the size of the window; 0 unknown."""
    from insula.coding.hosts.transcripts import number

    start = tail.rfind('"last_token_usage":{')
    return (number(tail, "total_tokens", start), number(tail, "model_context_window", start)) if start >= 0 else (0, 0)


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
