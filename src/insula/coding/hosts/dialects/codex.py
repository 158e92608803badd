"""Codex CLI 0.169: Claude Code's events, but a failed command looks like any other, and only its words tell."""

from insula.coding.hosts.dialects import BaseDialect, find_number, read_call
from insula.coding.hosts.dialects.claude_code import is_of_another_server
from insula.coding.hosts.payload import Payload, collect_text, get_text
from insula.coding.step.action import Action
from insula.coding.step.fingerprint import list_patched
from insula.coding.step.outcome import is_error
from insula.value import is_object


class CodexDialect(BaseDialect):
    """What Codex sends and reads."""

    hears_stop = True

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call; a patch goes by its file."""
        tool, given = get_text(payload, "tool_name"), payload.get("tool_input")
        call = {**payload, "tool_input": read_patch(given) if tool == "apply_patch" else given}
        if name == "PreToolUse":
            return read_call(call, at, ok=True)
        response = payload.get("tool_response")
        failed = is_of_another_server(payload) and is_error(response)
        return read_call(call, at, collect_text(response), ok=False if failed else None)

    def write_answer(self, name: str, text: str) -> dict[str, object]:
        """What puts a text before the model; at the end of a turn it goes on with that, once, as Claude Code does."""
        return {"decision": "block", "reason": text} if name == "Stop" else super().write_answer(name, text)

    def read_context(self, tail: str) -> tuple[int, int]:
        """The tokens of the last request and reply, and the window."""
        start = tail.rfind('"last_token_usage":{')
        return find_number(tail, "total_tokens", start), find_number(tail, "model_context_window", start)


DIALECT = CodexDialect


def read_patch(given: object) -> object:
    """The arguments of a patch, which come as its text or in a field: it goes by its first file."""
    texts = [given.get(name) for name in ("command", "input")] if is_object(given) else [given]
    patch = next((text for text in texts if isinstance(text, str)), "")
    return {"path": next((path for _, path in list_patched(patch)), ""), "command": patch}
