"""Qwen Code 0.24: Claude Code's events; a prompt that is none comes after each round of tools."""

from insula.coding.hosts.dialects import BaseDialect, find_number, read_call
from insula.coding.hosts.payload import Payload, collect_text, get_object, get_text
from insula.coding.step.action import Action, HookEvent
from insula.coding.step.outcome import read_exit_code

_SHELL = "run_shell_command"
_FRAME = (
    *("Command: ", "Directory: ", "Output: (empty)", "Error: (none)"),
    *("Exit Code: ", "Signal: (none)", "Process Group PGID: "),
)
_SPEAKS = ("Output: ", "Error: ")


class QwenDialect(BaseDialect):
    """What Qwen Code sends and reads."""

    def read_frame(self, payload: Payload) -> HookEvent | None:
        """The event; None for a prompt of no person's."""
        event = super().read_frame(payload)
        if event is None or event.kind != "prompt":
            return event
        prompt = get_text(payload, "submitted_prompt") or event.prompt
        return event.replace(prompt=prompt) if prompt else None

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call, without the frame that the host puts round what a command said."""
        shell, failed = get_text(payload, "tool_name") == _SHELL, name == "PostToolUseFailure"
        response = get_object(payload, "tool_response")
        output = get_text(payload, "error") if failed else collect_text(response.get("llmContent"))
        code = read_exit_code(output) if shell and failed else None
        call = read_call(payload, at, _strip_frame(output) if shell else output, not failed, code)
        return call.replace(ran=False) if payload.get("is_interrupt") is True else call

    def read_context(self, tail: str) -> tuple[int, int]:
        """The tokens of the last request and reply; the window is not told."""
        return find_number(tail, "totalTokenCount", tail.rfind('"usageMetadata":{')), 0


DIALECT = QwenDialect


def _strip_frame(output: str) -> str:
    lines = (line for line in output.split("\n") if not line.startswith(_FRAME))
    return "\n".join(line[len(next(filter(line.startswith, _SPEAKS), "")) :] for line in lines)
