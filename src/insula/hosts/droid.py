"""Factory droid (experimental, from its documents): Claude Code's events, but none for a tool that failed."""

from insula.hosts.claude_code import answer, context
from insula.hosts.fields import Payload, said, text
from insula.step.action import Action, Event
from insula.step.fingerprint import action

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
    name, session = text(payload, "hook_event_name"), text(payload, "session_id")
    if name not in KINDS or not session:
        return None
    return Event(
        kind=KINDS[name],
        name=name,
        session=session,
        cwd=text(payload, "cwd"),
        source=text(payload, "source"),
        transcript=text(payload, "transcript_path"),
        actions=(_action(payload, at),) if KINDS[name] == "action" else (),
    )


def _action(payload: Payload, at: float) -> Action:
    """Whether it failed is told by its words alone."""
    return action(
        tool=text(payload, "tool_name"),
        input=payload.get("tool_input"),
        output=said(payload.get("tool_response")),
        at=at,
        id=text(payload, "tool_use_id"),
    )
