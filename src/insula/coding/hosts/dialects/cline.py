"""Cline CLI 3.0 (experimental): one program per event, and several commands or files in one call of a tool.

What is said at the start of a task does not reach its model, so only a tool's end is answered. A hook is not told where
its record of the session is.
"""

from insula.coding.hosts.dialects import BaseDialect
from insula.coding.hosts.payload import Payload, collect_text, get_first_text, get_object, get_objects, get_text
from insula.coding.step.action import Action, HookEvent
from insula.coding.step.fingerprint import make_action
from insula.value import is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOLD_BY = {
    "userPromptSubmit": "UserPromptSubmit",
    "postToolUse": "PostToolUse",
    "taskComplete": "TaskComplete",
}
"""The field that only this event has."""
_FRAME = ("[Command exited with code ", "[stderr]")


class ClineDialect(BaseDialect):
    """What Cline sends and reads."""

    def read_frame(self, payload: Payload) -> HookEvent | None:
        """The event, which is told by its fields."""
        name = next((_TOLD_BY[field] for field in _TOLD_BY if field in payload), "")
        task = get_text(payload, "taskId")
        if not name or not task:
            return None
        return HookEvent(
            kind=self.events[name],
            name=name,
            session=get_text(get_object(payload, "sessionContext"), "rootSessionId") or task,
            agent=get_text(payload, "agent_id") if get_text(payload, "parent_agent_id") else "",
            cwd=get_first_text(payload, "workspaceRoots"),
            prompt=get_text(get_object(payload, "userPromptSubmit"), "prompt"),
        )

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call, by the newer of two forms in which it comes."""
        call, older = get_object(payload, "tool_result"), get_object(payload, "postToolUse")
        results = get_objects(call, "output") or [get_object(call, "output")]
        errors = [result for result in results if result.get("success") is False]
        output = collect_text(call.get("output")) or get_text(older, "result")
        return make_action(
            tool=get_text(call, "name") or get_text(older, "toolName"),
            input=_read_input(call.get("input", older.get("parameters"))),
            output=get_text(call, "error") or _strip_frame(output),
            at=at,
            ok=not errors and not call.get("error") and older.get("success") is not False,
            code=_read_code(get_text(errors[0], "error")) if errors else None,
            id=get_text(call, "id"),
        )

    def write_answer(self, name: str, text: str) -> dict[str, object]:
        """What puts a text before the model."""
        return {"cancel": False, "contextModification": text}


DIALECT = ClineDialect


def _read_input(given: "Any") -> "Any":
    """The arguments by the names that other hosts have for them."""
    if not is_object(given):
        return given
    commands, files = given.get("commands"), get_objects(given, "files")
    if is_list(commands):
        return {"command": commands}
    return {"path": [get_text(file, "path") for file in files], "files": files} if files else given


def _strip_frame(output: str) -> str:
    return "\n".join(line for line in output.split("\n") if not line.startswith(_FRAME))


def _read_code(error: str) -> int | None:
    """The exit code in `Command exited with code 2`."""
    last = error.rpartition(" code ")[2]
    return int(last) if last.isdigit() and len(last) < 6 else None
