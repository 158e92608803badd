"""Claude Code 2.1: failures come as an event of their own; additional context reaches the model after every tool."""

from insula.hosts.fields import Payload, fields, said, text
from insula.step.action import Action, Event
from insula.step.fingerprint import action

KINDS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "action",
    "PostToolUseFailure": "action",
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
        agent=text(payload, "agent_id"),
        cwd=text(payload, "cwd"),
        source=text(payload, "source"),
        transcript=text(payload, "transcript_path"),
        action=_action(payload, name, at) if KINDS[name] == "action" else None,
    )


def _action(payload: Payload, name: str, at: float) -> Action:
    failed = name == "PostToolUseFailure"
    done = action(
        tool=text(payload, "tool_name"),
        input=payload.get("tool_input"),
        output=text(payload, "error")
        if failed
        else _output(fields(payload, "tool_response") or payload.get("tool_response")),
        at=at,
        ok=not failed,
        id=text(payload, "tool_use_id"),
    )
    return done.but(ran=False) if payload.get("is_interrupt") is True else done


def _output(response: object) -> str:
    if isinstance(response, dict) and "structuredPatch" in response:
        return ""  # an edit: the model sees a few lines of it, the payload has the whole file twice
    return said(response)


def answer(name: str, told: str) -> dict[str, object]:
    """What puts `told` before the model."""
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": told}}


def context(tail: str) -> tuple[int, int]:
    """Tokens in the context after the last reply in the end of a transcript, and the size of the window; 0 unknown."""
    from insula.hosts.transcripts import number

    start = tail.rfind('"usage":{')
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return sum(number(tail, name, start) for name in names) if start >= 0 else 0, 0
