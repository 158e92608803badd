"""Cline CLI 3.0 (experimental): one program per event, and several commands or files in one call of a tool.

What is said at the start of a task does not reach its model, so only a tool's end is answered.
"""

from insula.coding.hosts.fields import Payload, fields, objects, said, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action
from insula.value import is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOLD_BY = {
    "userPromptSubmit": "prompt",
    "postToolUse": "action",
    "taskComplete": "stop",
}
"""The field that only this event has."""
_NAMES = {"prompt": "UserPromptSubmit", "action": "PostToolUse", "stop": "TaskComplete"}
_FRAME = ("[Command exited with code ", "[stderr]")


def event(payload: Payload, at: float) -> Event | None:
    """What the host tells; None where it is nothing that the senses need."""
    kind = next((_TOLD_BY[field] for field in _TOLD_BY if field in payload), "")
    task = text(payload, "taskId")
    if not kind or not task:
        return None
    roots = payload.get("workspaceRoots")
    return Event(
        kind=kind,
        name=_NAMES[kind],
        session=text(fields(payload, "sessionContext"), "rootSessionId") or task,
        agent=text(payload, "agent_id") if text(payload, "parent_agent_id") else "",
        cwd=roots[0] if is_list(roots) and roots and isinstance(roots[0], str) else "",
        prompt=text(fields(payload, "userPromptSubmit"), "prompt"),
        actions=(_action(payload, at),) if kind == "action" else (),
    )


def _action(payload: Payload, at: float) -> Action:
    call, older = fields(payload, "tool_result"), fields(payload, "postToolUse")
    results = objects(call, "output") or [fields(call, "output")]
    errors = [each for each in results if each.get("success") is False]
    output = said(call.get("output")) or text(older, "result")
    return action(
        tool=text(call, "name") or text(older, "toolName"),
        input=_input(call.get("input", older.get("parameters"))),
        output=text(call, "error") or _bare(output),
        at=at,
        ok=not errors and not call.get("error") and older.get("success") is not False,
        code=_code(text(errors[0], "error")) if errors else None,
        id=text(call, "id"),
    )


def _input(given: "Any") -> "Any":
    """The arguments by the names that other hosts have for them."""
    if not is_object(given):
        return given
    commands, files = given.get("commands"), objects(given, "files")
    if is_list(commands):
        return {"command": commands}
    return {"path": [text(each, "path") for each in files], "files": files} if files else given


def _bare(output: str) -> str:
    return "\n".join(line for line in output.split("\n") if not line.startswith(_FRAME))


def _code(error: str) -> int | None:
    """The exit code in `Command exited with code 2`."""
    last = error.rpartition(" code ")[2]
    return int(last) if last.isdigit() and len(last) < 6 else None


def answer(name: str, told: str) -> dict[str, object]:
    """What puts `told` before the model."""
    return {"cancel": False, "contextModification": told}


def context(tail: str) -> tuple[int, int]:
    """A hook is not told where its record of the session is."""
    return 0, 0


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
