"""GitHub Copilot CLI 1.0: names of its own, no name of the event, and text for the model at the top of the answer.

A command that fails comes as a success whose last line tells its exit code.
"""

from insula.coding.hosts.dialects import BaseDialect
from insula.coding.hosts.payload import Payload, get_object, get_text
from insula.coding.step.action import Action, HookEvent
from insula.coding.step.digests import hash_text
from insula.coding.step.fingerprint import make_action

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


class CopilotDialect(BaseDialect):
    """What Copilot CLI sends and reads; it names its record of a session when a turn has ended, too late to be read."""

    def read_frame(self, payload: Payload) -> HookEvent | None:
        """The event, which is told by its fields."""
        name = next((_FIRST_TOLD_BY[field] for field in _FIRST_TOLD_BY if field in payload), "")
        kind, session = self.events.get(name, ""), get_text(payload, "sessionId")
        if not kind or not session or ("toolName" in payload) != (kind == "action"):
            return None
        return HookEvent(
            kind=kind,
            name=name,
            session=session,
            cwd=get_text(payload, "cwd"),
            source=get_text(payload, "source"),
            transcript=get_text(payload, "transcriptPath"),
            prompt=get_text(payload, "prompt") if kind == "prompt" else "",
        )

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call. It has no id; of one call, all hooks get the same time, and two equal calls differ in it."""
        result, tool = get_object(payload, "toolResult"), get_text(payload, "toolName")
        output, code = split_exit_code(get_text(result, "textResultForLlm"))
        outcome = get_text(result, "resultType")
        call = make_action(
            tool=tool,
            input=payload.get("toolArgs"),
            output=get_text(payload, "error") if name == "postToolUseFailure" else output,
            at=at,
            ok=name == "postToolUse" and outcome in {"success", ""} and code in {None, 0},
            code=code,
        )
        return call.replace(
            id=hash_text(f"{payload.get('timestamp')} {call.call} {call.result}"),
            waits=call.waits or tool in _POLLS,
            ran=call.ran and outcome not in {"denied", "rejected"},
        )

    def write_answer(self, name: str, text: str) -> dict[str, object]:
        """What puts a text before the model; Copilot reads it at the top and nowhere else."""
        return {"additionalContext": text}


DIALECT = CopilotDialect


def split_exit_code(output: str) -> tuple[str, int | None]:
    """What a command said, and its exit code, from `... <shellId: 1 completed with exit code 2>`."""
    said, mark, last = output.rpartition("<shellId: ")
    code = last.partition(_ENDED)[2].rstrip(">\n ")
    if not mark or not code.removeprefix("-").isdigit():
        return output, None
    return said, int(code)
