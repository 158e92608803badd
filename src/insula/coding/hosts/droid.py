"""Factory droid (experimental, from its documents): Claude Code's events, but none for a tool that failed."""

from insula.coding.hosts.claude_code import answer, context
from insula.coding.hosts.fields import Payload, parse_event, said, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action

__all__ = ["answer", "context", "event"]

KINDS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "action",
    "Stop": "stop",
    "SessionEnd": "end",
}


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    found = parse_event(payload, KINDS)
    if found is None or found.kind != "action":
        return found
    return found.replace(actions=(_action(payload, at),))


def _action(payload: Payload, at: float) -> Action:
    """Whether it failed is told by its words alone."""
    return action(
        tool=text(payload, "tool_name"),
        input=payload.get("tool_input"),
        output=said(payload.get("tool_response")),
        at=at,
        id=text(payload, "tool_use_id"),
    )


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
