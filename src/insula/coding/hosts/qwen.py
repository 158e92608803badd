"""Qwen Code 0.24: Claude Code's events; a prompt that is none comes after each round of tools."""

from insula.coding.hosts.claude_code import answer
from insula.coding.hosts.fields import Payload, fields, parse_event, said, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action
from insula.coding.step.outcome import exit_code

__all__ = ["answer", "context", "event"]

KINDS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "action",
    "PostToolUseFailure": "action",
    "Stop": "stop",
    "SessionEnd": "end",
}
_SHELL = "run_shell_command"
_FRAME = (
    *("Command: ", "Directory: ", "Output: (empty)", "Error: (none)"),
    *("Exit Code: ", "Signal: (none)", "Process Group PGID: "),
)
_SPEAKS = ("Output: ", "Error: ")


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    found = parse_event(payload, KINDS)
    if found is None or (found.kind == "prompt" and not _is_of_a_person(payload)):
        return None
    if found.kind == "prompt":
        return found.replace(prompt=text(payload, "submitted_prompt") or found.prompt)
    return found.replace(actions=(_action(payload, found.name, at),)) if found.kind == "action" else found


def _is_of_a_person(payload: Payload) -> bool:
    return bool(text(payload, "prompt") or text(payload, "submitted_prompt"))


def _action(payload: Payload, name: str, at: float) -> Action:
    tool, failed = text(payload, "tool_name"), name == "PostToolUseFailure"
    output = text(payload, "error") if failed else said(fields(payload, "tool_response").get("llmContent"))
    done = action(
        tool=tool,
        input=payload.get("tool_input"),
        output=_bare(output) if tool == _SHELL else output,
        at=at,
        ok=not failed,
        code=exit_code(output) if tool == _SHELL and failed else None,
        id=text(payload, "tool_use_id"),
    )
    return done.replace(ran=False) if payload.get("is_interrupt") is True else done


def _bare(output: str) -> str:
    """What the command itself said, without the frame that the host puts round it."""
    lines = [line for line in output.split("\n") if not line.startswith(_FRAME)]
    return "\n".join(_unframed(line) for line in lines)


def _unframed(line: str) -> str:
    mark = next((mark for mark in _SPEAKS if line.startswith(mark)), "")
    return line[len(mark) :]


def context(tail: str) -> tuple[int, int]:
    """Tokens in the context after the last reply in the end of a transcript, and the size of the window; 0 unknown."""
    from insula.coding.hosts.transcripts import number

    start = tail.rfind('"usageMetadata":{')
    return (number(tail, "totalTokenCount", start), 0) if start >= 0 else (0, 0)


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
