"""Codex CLI 0.169: Claude Code's events, but a failed command looks like any other, and only its words tell."""

from insula.coding.hosts.dialects import BaseDialect, find_number, read_call
from insula.coding.hosts.dialects.claude_code import is_of_another_server
from insula.coding.hosts.payload import Payload, collect_text, get_object, get_text
from insula.coding.step.action import Action
from insula.coding.step.fingerprint import list_patched
from insula.coding.step.outcome import is_error


class CodexDialect(BaseDialect):
    """What Codex sends and reads."""

    hears_stop = True

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call; a patch goes by its file."""
        call = {**payload, "tool_input": _read_input(payload)}
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


def _read_input(payload: Payload) -> object:
    given = payload.get("tool_input")
    if get_text(payload, "tool_name") != "apply_patch":
        return given
    patch = given if isinstance(given, str) else get_text(get_object(payload, "tool_input"), "command")
    return {"path": next(iter(list_patched(patch)), ""), "command": patch}
