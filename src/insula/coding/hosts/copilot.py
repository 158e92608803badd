"""GitHub Copilot CLI 1.0: names of its own, no name of the event, and text for the model at the top of the answer.

A command that fails comes as a success whose last line tells its exit code.
"""

from insula.coding.hosts.fields import Payload, fields, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action, digest

KINDS = {
    "sessionStart": "start",
    "userPromptSubmitted": "prompt",
    "postToolUse": "action",
    "postToolUseFailure": "action",
    "agentStop": "stop",
    "sessionEnd": "end",
}
_FIRST_TOLD_BY = {
    "toolResult": "postToolUse",
    "error": "postToolUseFailure",
    "stopReason": "agentStop",
    "reason": "sessionEnd",
    "source": "sessionStart",
    "prompt": "userPromptSubmitted",
}
"""The field that only this event has; the first one decides."""
_POLLS = frozenset(("read_bash", "read_powershell"))
"""Tools that ask how a command in the background gets on."""
_ENDED = " completed with exit code "


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    name = next((_FIRST_TOLD_BY[field] for field in _FIRST_TOLD_BY if field in payload), "")
    session = text(payload, "sessionId")
    if not name or not session or ("toolName" in payload) != (KINDS[name] == "action"):
        return None
    return Event(
        kind=KINDS[name],
        name=name,
        session=session,
        cwd=text(payload, "cwd"),
        source=text(payload, "source"),
        transcript=text(payload, "transcriptPath"),
        prompt=text(payload, "prompt") if KINDS[name] == "prompt" else "",
        actions=(_action(payload, name, at),) if KINDS[name] == "action" else (),
    )


def _action(payload: Payload, name: str, at: float) -> Action:
    result, tool = fields(payload, "toolResult"), text(payload, "toolName")
    output, code = _shell(text(result, "textResultForLlm"))
    done = action(
        tool=tool,
        input=payload.get("toolArgs"),
        output=text(payload, "error") if name == "postToolUseFailure" else output,
        at=at,
        ok=name == "postToolUse" and text(result, "resultType") in {"success", ""} and code in {None, 0},
        code=code,
    )
    # It gives calls no id. Of one call, all hooks get the same time; two equal calls differ in it.
    named = done.replace(id=digest(f"{payload.get('timestamp')} {done.call} {done.result}"))
    refused = text(result, "resultType") in {"denied", "rejected"}
    return named.replace(waits=named.waits or tool in _POLLS, ran=named.ran and not refused)


def _shell(output: str) -> tuple[str, int | None]:
    """What a command said, and its exit code, from `... <shellId: 1 completed with exit code 2>`."""
    said, mark, last = output.rpartition("<shellId: ")
    code = last.partition(_ENDED)[2].rstrip(">\n ")
    if not mark or not code.removeprefix("-").isdigit():
        return output, None
    return said, int(code)


def answer(name: str, told: str) -> dict[str, object]:
    """What puts `told` before the model; Copilot reads it at the top and nowhere else."""
    return {"additionalContext": told}


def context(tail: str) -> tuple[int, int]:
    """Its record of the session is named only when a turn has ended, so nothing is known while it runs."""
    return 0, 0


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
