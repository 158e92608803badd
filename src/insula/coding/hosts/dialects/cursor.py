"""Cursor (experimental, from its documents): flat entries, and text for the model under a name of its own.

Its own client lists the events whose context it takes; people report that the editor drops some of them. What is to be
said to a failed tool or a prompt, where it is least sure to be heard, waits for the next successful call.
"""

from insula.coding.hosts.dialects import BaseDialect, read_call
from insula.coding.hosts.payload import Payload, collect_text, get_first_text, get_text
from insula.coding.step.action import Action, HookEvent
from insula.value import is_object, load_json


class CursorDialect(BaseDialect):
    """What Cursor sends and reads."""

    def read_frame(self, payload: Payload) -> HookEvent | None:
        """The event, with what may be dropped of the answer to it."""
        name = get_text(payload, "hook_event_name")
        session = get_text(payload, "conversation_id") or get_text(payload, "session_id")
        if name not in self.events or not session:
            return None
        return HookEvent(
            kind=self.events[name],
            name=name,
            session=session,
            cwd=get_text(payload, "cwd") or get_first_text(payload, "workspace_roots"),
            prompt=get_text(payload, "prompt") if self.events[name] == "prompt" else "",
            drops_output=name in {"postToolUseFailure", "beforeSubmitPrompt"},
        )

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call; an exit code decides."""
        output, code = _read_output(payload)
        failed = name == "postToolUseFailure"
        ok = False if failed or code else True if code == 0 else None
        call = read_call(payload, at, get_text(payload, "error_message") if failed else output, ok, code)
        refused = payload.get("is_interrupt") is True or get_text(payload, "failure_type") == "permission_denied"
        return call.replace(ran=False) if refused else call

    def write_answer(self, name: str, text: str) -> dict[str, object]:
        """What puts a text before the model."""
        return {"additional_context": text}


DIALECT = CursorDialect


def _read_output(payload: Payload) -> tuple[str, int | None]:
    """What a tool gave back, which is JSON in a text, and the exit code of a command."""
    given = payload.get("tool_output")
    try:
        value = load_json(given) if isinstance(given, str) and given[:1] in {"{", "["} else given
    except (ValueError, RecursionError):
        value = given
    code = value.get("exitCode", value.get("exit_code")) if is_object(value) else None
    return collect_text(value), code if isinstance(code, int) else None
