"""Gemini CLI 0.61: other names of events; what is answered to a tool that failed is dropped."""

import re

from insula.coding.hosts.dialects import BaseDialect, find_number, read_call
from insula.coding.hosts.payload import Payload, collect_text, get_object, get_text
from insula.coding.step.action import Action, HookEvent
from insula.coding.step.digests import hash_text
from insula.coding.step.outcome import read_exit_code

_SHELL = "run_shell_command"
_FRAME = r"(?:Exit Code|Signal|Background PIDs|Process Group PGID): [\w, ()]+$"


class GeminiDialect(BaseDialect):
    """What Gemini CLI sends and reads."""

    def read_event(self, payload: Payload, at: float) -> HookEvent | None:
        """What the host tells; whether it drops the answer hangs on the outcome of the call."""
        event = super().read_event(payload, at)
        return event.replace(drops_output=_is_failed(payload)) if event and event.kind == "action" else event

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call; it has no id, but its time is the same for all hooks."""
        response, failed = get_object(payload, "tool_response"), _is_failed(payload)
        output = collect_text(response.get("llmContent"))
        output, code, fine = read_outcome(output, get_text(payload, "tool_name"), not failed)
        call = read_call(payload, at, collect_text(response.get("error")) or output if failed else output, fine, code)
        return call.replace(id=hash_text(f"{get_text(payload, 'timestamp')} {call.call} {call.result}"))

    def read_context(self, tail: str) -> tuple[int, int]:
        """The tokens of the last request and reply; the window is not told."""
        return find_number(tail, "total", tail.rfind('"tokens":{')), 0


DIALECT = GeminiDialect


def _is_failed(payload: Payload) -> bool:
    return bool(get_object(payload, "tool_response").get("error"))


def read_outcome(output: str, tool: str, fine: bool) -> tuple[str, int | None, bool]:
    """What a tool itself said, its exit code, and whether it went well, which the lines behind a command tell, too."""
    if tool != _SHELL:
        return output, None, fine
    output, frame = _strip_frame(output)
    code = read_exit_code(frame)
    return output, code, fine and code in {None, 0} and "Signal: " not in frame


def _strip_frame(output: str) -> tuple[str, str]:
    """What a command itself said, and the lines that the host puts after it; only those tell how it ended."""
    bare = output.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")
    lines, end = bare.removeprefix("Output: ").split("\n"), 0
    while end < len(lines) and re.match(_FRAME, lines[-1 - end]):
        end += 1
    return "\n".join(lines[: len(lines) - end]), "\n".join(lines[len(lines) - end :])
