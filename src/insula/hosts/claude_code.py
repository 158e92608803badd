"""Claude Code 2.1: failures come as an event of their own; additional context reaches the model after every tool.

A call that the host itself turns down (an edit whose old text is not there) fires neither of the two events of a tool;
it stands only in the batch that is told at the end of each turn of the model. Copilot CLI and Cursor run the hooks in
Claude Code's settings, too, with payloads of their own; those are left to the hooks that they have themselves.
"""

from insula.hosts.fields import Payload, fields, objects, parse_event, said, text
from insula.step.action import Action, Event
from insula.step.fingerprint import action
from insula.step.person import INTERRUPT, Remark, rejection
from insula.value import is_list

KINDS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "action",
    "PostToolUseFailure": "action",
    "PostToolBatch": "action",
    "Stop": "stop",
    "SessionEnd": "end",
}


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    found = parse_event(payload, KINDS)
    if found is None or _is_of_another(payload):
        return None
    if found.kind != "action":
        return found
    outputs = (said(call.get("tool_response")) for call in objects(payload, "tool_calls"))
    return found.replace(
        actions=_actions(payload, found.name, at),
        remarks=tuple(remark for output in outputs if (remark := rejection(output)) is not None),
    )


def _is_of_another(payload: Payload) -> bool:
    """Whether Copilot CLI or Cursor sends it: Claude Code names its transcript in each payload, and no time."""
    if "cursor_version" in payload or "conversation_id" in payload:
        return True
    transcript = text(payload, "transcript_path")
    return "timestamp" in payload and (not transcript or "/.copilot/" in transcript)


_TURNED_DOWN = "<tool_use_error>"


def _actions(payload: Payload, name: str, at: float) -> tuple[Action, ...]:
    if name != "PostToolBatch":
        return (_action(payload, name, at),)
    calls = objects(payload, "tool_calls")
    told = ((call, said(call.get("tool_response"))) for call in calls)
    return tuple(_called(call, error, at, ok=False) for call, error in told if error.startswith(_TURNED_DOWN))


def _action(payload: Payload, name: str, at: float) -> Action:
    if name == "PostToolUse":
        return _called(payload, _output(payload.get("tool_response")), at, ok=True)
    done = _called(payload, text(payload, "error"), at, ok=False)
    return done.replace(ran=False) if payload.get("is_interrupt") is True else done


def _called(call: Payload, output: str, at: float, *, ok: bool) -> Action:
    return action(
        tool=text(call, "tool_name"),
        input=call.get("tool_input"),
        output=output,
        at=at,
        ok=ok,
        id=text(call, "tool_use_id"),
    )


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


_INTERRUPTED = "[Request interrupted by user"


def remarks(tail: str) -> tuple[Remark, ...]:
    """What the user did since the agent last spoke, by the end of a transcript: interrupts and rejections, in order."""
    import json

    found: list[Remark] = []
    for line in reversed(tail.splitlines()):
        if '"type":"assistant"' in line:
            break
        if _INTERRUPTED not in line and "The user doesn't want to" not in line:
            continue
        try:
            content = fields(json.loads(line), "message").get("content")
        except (ValueError, RecursionError, AttributeError):
            continue
        for each in reversed(content if is_list(content) else [content]):
            given = said(each)
            remark = rejection(given)
            if remark is not None or given.startswith(_INTERRUPTED):
                found.append(remark or Remark(kind=INTERRUPT))
    return tuple(reversed(found))
