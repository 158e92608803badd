"""Claude Code 2.1: failures come as an event of their own; additional context reaches the model after every tool.

A turn of the model ends with a batch event (PostToolBatch), which lists its calls; without one, the transcript names
the message that a call is of. A call that the host itself turns down (an edit whose old text is not there, a
permission) fires neither of the two events of a tool; it stands only in the batch. Copilot CLI and Cursor run the hooks
in Claude Code's settings, too, with payloads of their own; those are left to the hooks that they have themselves.
"""

from insula.coding.hosts.fields import Payload, fields, objects, parse_event, said, seconds, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action, target_of
from insula.coding.step.outcome import denied, error_in
from insula.value import is_list

KINDS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before",
    "SubagentStart": "subagent",
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
    if found.kind == "stop":
        return found.replace(drops_output=payload.get("stop_hook_active") is True)
    if found.kind == "before":
        return found.replace(actions=before(payload, at))
    if found.kind != "action":
        return found
    if found.name != "PostToolBatch":
        return found.replace(actions=(_action(payload, found.name, at),), remarks=_stopped(payload))
    from insula.coding.step.person import rejection

    calls = objects(payload, "tool_calls")
    told = [(call, said(call.get("tool_response"))) for call in calls]
    return found.replace(
        actions=tuple(_called(call, error, at, ok=False) for call, error in told if _turned_down(error)),
        remarks=tuple(
            remark
            for call, output in told
            if (remark := rejection(output, target_of(call.get("tool_input")))) is not None
        ),
        batch=tuple(text(call, "tool_use_id") for call in calls),
    )


def before(payload: Payload, at: float) -> tuple[Action, ...]:
    """The call that is about to be made."""
    return (_called(payload, "", at, ok=True),)


def _stopped(payload: Payload) -> "tuple[Remark, ...]":
    if payload.get("is_interrupt") is not True:
        return ()
    from insula.coding.step.person import INTERRUPT, Remark

    return (Remark(kind=INTERRUPT),)


def _is_of_another(payload: Payload) -> bool:
    """Whether Copilot CLI or Cursor sends it: Claude Code names its transcript in each payload, and no time."""
    if "cursor_version" in payload or "conversation_id" in payload:
        return True
    transcript = text(payload, "transcript_path")
    return "timestamp" in payload and (not transcript or "/.copilot/" in transcript)


_TURNED_DOWN = ("<tool_use_error>", "Permission to use ")
"""How the result of a call begins that the host itself turned down: no other event tells of it."""


def _turned_down(output: str) -> bool:
    return output.startswith(_TURNED_DOWN) or denied(output)


def _action(payload: Payload, name: str, at: float) -> Action:
    if name == "PostToolUse":
        response = payload.get("tool_response")
        return _called(payload, _output(response), at, ok=not of_another_server(payload) or not error_in(response))
    done = _called(payload, text(payload, "error"), at, ok=False)
    return done.replace(ran=False, denied=False) if payload.get("is_interrupt") is True else done


def of_another_server(payload: Payload) -> bool:
    """Whether a tool is one of MCP, whose errors may come as results."""
    return text(payload, "tool_name").startswith("mcp__")


def _called(call: Payload, output: str, at: float, *, ok: bool) -> Action:
    return action(
        tool=text(call, "tool_name"),
        input=call.get("tool_input"),
        output=output,
        at=at,
        ok=ok,
        id=text(call, "tool_use_id"),
        seconds=seconds(call, "duration_ms"),
    )


def _output(response: object) -> str:
    if isinstance(response, dict) and "structuredPatch" in response:
        return ""  # an edit: the model sees a few lines of it, the payload has the whole file twice
    return said(response)


def answer(name: str, told: str) -> dict[str, object]:
    """What puts `told` before the model."""
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": told}}


def ask(name: str, told: str) -> dict[str, object]:
    """What lets the host put its own question to the user before a call."""
    decision = {"permissionDecision": "ask", "permissionDecisionReason": told}
    return {"hookSpecificOutput": {"hookEventName": name, **decision}}


def context(tail: str) -> tuple[int, int]:
    """Tokens in the context after the last reply in the end of a transcript, and the size of the window; 0 unknown."""
    from insula.coding.hosts.transcripts import number

    start = tail.rfind('"usage":{')
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return sum(number(tail, name, start) for name in names) if start >= 0 else 0, 0


def turn(tail: str, call: str) -> str:
    """The message of the model that a call stands in, by the end of a transcript; empty where it is not there."""
    place = tail.rfind(f'"id":"{call}"') if call else -1
    start, end = tail.rfind("\n", 0, place) + 1, tail.find("\n", place)
    if (
        place < 0 or '"type":"assistant"' not in tail[start : end if end > 0 else len(tail)]
    ):  # newer clients name it last
        return ""
    head = tail.rfind('"id":"msg_', start, place)
    return tail[head + 6 : tail.find('"', head + 6)][:80] if head >= 0 else ""


_INTERRUPTED = "[Request interrupted by user"


def remarks(tail: str) -> "tuple[Remark, ...]":
    """What the user did since the agent last spoke, by the end of a transcript: interrupts and rejections, in order."""
    import json

    from insula.coding.step.person import INTERRUPT, Remark, rejection

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


TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.coding.step.person import Remark
