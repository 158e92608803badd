"""Claude Code 2.1: failures come as an event of their own; additional context reaches the model after every tool.

A turn of the model ends with a batch event (PostToolBatch), which lists its calls; without one, the transcript names
the message that a call is of. A call that the host itself turns down (an edit whose old text is not there, a
permission) fires neither of the two events of a tool; it stands only in the batch. Copilot CLI and Cursor run the hooks
in Claude Code's settings, too, with payloads of their own; those are left to the hooks that they have themselves.
"""

from insula.coding.hosts.dialects import BaseDialect, find_number, read_call
from insula.coding.hosts.payload import Payload, collect_text, get_object, get_objects, get_seconds, get_text
from insula.coding.step.action import Action, HookEvent
from insula.coding.step.fingerprint import get_target
from insula.coding.step.outcome import is_denied, is_error
from insula.value import is_list, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.coding.step.person import Remark

_TURNED_DOWN = ("<tool_use_error>", "Permission to use ")
"""How the result of a call begins that the host itself turned down: no other event tells of it."""
_INTERRUPTED = "[Request interrupted by user"
_REJECTED = "The user doesn't want to"
_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class ClaudeCodeDialect(BaseDialect):
    """What Claude Code sends and reads."""

    asks = True
    hears_stop = True

    def read_event(self, payload: Payload, at: float) -> HookEvent | None:
        """What the host tells; a batch tells of the calls that it turned down or that the user did."""
        if _is_of_another(payload):
            return None
        if payload.get("hook_event_name") != "PostToolBatch":
            event = super().read_event(payload, at)
            interrupted = event is not None and event.kind == "action" and payload.get("is_interrupt") is True
            return event.replace(remarks=_note_interrupt()) if event is not None and interrupted else event
        event = self.read_frame(payload)
        return _read_batch(event, get_objects(payload, "tool_calls"), at) if event is not None else None

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call, with its outcome by the name of the event."""
        if name == "PreToolUse":
            return _read_call(payload, at, "", ok=True)
        if name == "PostToolUse":
            response = payload.get("tool_response")
            fine = not is_of_another_server(payload) or not is_error(response)
            return _read_call(payload, at, _read_output(response), ok=fine)
        call = _read_call(payload, at, get_text(payload, "error"), ok=False)
        return call.replace(ran=False, denied=False) if payload.get("is_interrupt") is True else call

    def write_question(self, name: str, text: str) -> dict[str, object]:
        """What lets the host put its own question to the user before a call."""
        decision = {"permissionDecision": "ask", "permissionDecisionReason": text}
        return {"hookSpecificOutput": {"hookEventName": name, **decision}}

    def read_context(self, tail: str) -> tuple[int, int]:
        """The tokens of the last request and reply; the window is not told."""
        start = tail.rfind('"usage":{')
        return sum(find_number(tail, name, start) for name in _TOKENS), 0

    def read_turn(self, tail: str, call: str) -> str:
        """The message of the model that the call stands in."""
        place = tail.rfind(f'"id":"{call}"') if call else -1
        start, end = tail.rfind("\n", 0, place) + 1, tail.find("\n", place)
        line = tail[start : end if end > 0 else len(tail)]
        if place < 0 or '"type":"assistant"' not in line:  # newer clients name it last
            return ""
        head = tail.rfind('"id":"msg_', start, place)
        return tail[head + 6 : tail.find('"', head + 6)][:80] if head >= 0 else ""

    def read_remarks(self, tail: str) -> "tuple[Remark, ...]":
        """Interrupts and rejections in the lines behind the agent's last one, in order."""

        from insula.coding.step.person import read_rejection

        remarks: list[Remark] = []
        for line in reversed(tail.splitlines()):
            if '"type":"assistant"' in line:
                break
            if _INTERRUPTED not in line and _REJECTED not in line:
                continue
            try:
                content = get_object(load_json(line), "message").get("content")
            except (ValueError, RecursionError, AttributeError):
                continue
            for part in reversed(content if is_list(content) else [content]):
                text = collect_text(part)
                remark = read_rejection(text)
                if remark is not None:
                    remarks.append(remark)
                elif text.startswith(_INTERRUPTED):
                    remarks += _note_interrupt()
        return tuple(reversed(remarks))


DIALECT = ClaudeCodeDialect


def _read_call(payload: Payload, at: float, output: str, *, ok: bool) -> Action:
    return read_call(payload, at, output, ok).replace(seconds=get_seconds(payload, "duration_ms"))


def _read_batch(event: HookEvent, calls: list[Payload], at: float) -> HookEvent:
    """The end of a turn: its calls by their ids, and those of them that no other event tells of."""
    from insula.coding.step.person import read_rejection

    outputs = [(call, collect_text(call.get("tool_response"))) for call in calls]
    remarks = (read_rejection(output, get_target(call.get("tool_input"))) for call, output in outputs)
    return event.replace(
        actions=tuple(_read_call(call, at, output, ok=False) for call, output in outputs if _is_turned_down(output)),
        remarks=tuple(remark for remark in remarks if remark is not None),
        batch=tuple(get_text(call, "tool_use_id") for call in calls),
    )


def _note_interrupt() -> "tuple[Remark, ...]":
    from insula.coding.step.person import INTERRUPT, Remark

    return (Remark(kind=INTERRUPT),)


def _is_of_another(payload: Payload) -> bool:
    """Whether Copilot CLI or Cursor sends it: Claude Code names its transcript in each payload, and no time."""
    if "cursor_version" in payload or "conversation_id" in payload:
        return True
    transcript = get_text(payload, "transcript_path")
    return "timestamp" in payload and (not transcript or "/.copilot/" in transcript)


def _is_turned_down(output: str) -> bool:
    return output.startswith(_TURNED_DOWN) or is_denied(output)


def is_of_another_server(payload: Payload) -> bool:
    """Whether a tool is one of MCP, whose errors may come as results."""
    return get_text(payload, "tool_name").startswith("mcp__")


def _read_output(response: object) -> str:
    if isinstance(response, dict) and "structuredPatch" in response:
        return ""  # an edit: the model sees a few lines of it, the payload has the whole file twice
    return collect_text(response)
