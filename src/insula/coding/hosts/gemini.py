"""Gemini CLI 0.61: other names of events; what is answered to a tool that failed is dropped."""

import re

from insula.coding.hosts.claude_code import answer
from insula.coding.hosts.fields import Payload, fields, parse_event, said, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action, digest
from insula.coding.step.outcome import exit_code

__all__ = ["SHELL", "answer", "context", "event", "unframed"]

KINDS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterTool": "action",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
SHELL = "run_shell_command"


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    found = parse_event(payload, KINDS)
    if found is None or found.kind != "action":
        return found
    failed = bool(fields(payload, "tool_response").get("error"))
    return found.replace(actions=(_action(payload, at, failed),), drops_output=failed)


def _action(payload: Payload, at: float, failed: bool) -> Action:
    response, tool = fields(payload, "tool_response"), text(payload, "tool_name")
    output, frame = said(response.get("llmContent")), ""
    if tool == SHELL:
        output, frame = unframed(output)
    code = exit_code(frame)
    done = action(
        tool=tool,
        input=payload.get("tool_input"),
        output=said(response["error"]) or output if failed else output,
        at=at,
        ok=not failed and code in {None, 0} and "Signal: " not in frame,
        code=code,
    )
    return done.replace(id=digest(f"{text(payload, 'timestamp')} {done.call} {done.result}"))  # it gives calls no id


_FRAME = r"(?:Exit Code|Signal|Background PIDs|Process Group PGID): [\w, ()]+$"


def unframed(output: str) -> tuple[str, str]:
    """What a command itself said, and the lines that the host puts after it; only those tell how it ended."""
    bare = output.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")
    lines, end = bare.removeprefix("Output: ").split("\n"), 0
    while end < len(lines) and re.match(_FRAME, lines[-1 - end]):
        end += 1
    return "\n".join(lines[: len(lines) - end]), "\n".join(lines[len(lines) - end :])


def context(tail: str) -> tuple[int, int]:
    """Tokens in the context after the last reply in the end of a transcript, and the size of the window; 0 unknown."""
    from insula.coding.hosts.transcripts import number

    start = tail.rfind('"tokens":{')
    return (number(tail, "total", start), 0) if start >= 0 else (0, 0)


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
