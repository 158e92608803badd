"""OpenCode 1.18: our plugin (opencode.js) tells what happens, in the form that OpenCode tells it, and reads the answer.

A tool that throws ends no `tool.execute.after`; it stands only in the part of the message that has become an error.
What is said of it the plugin puts behind that error when the message goes to the model. Where a program that the model
wrote has called a tool, the program reads the result, and what is said of it waits for the next event. Its sessions are
in a database, which a hook does not open.
"""

from insula.coding.hosts.dialects import BaseDialect
from insula.coding.hosts.payload import Payload, get_object, get_text
from insula.coding.step.action import Action, HookEvent
from insula.coding.step.fingerprint import make_action


class OpenCodeDialect(BaseDialect):
    """What our plugin in OpenCode sends and reads."""

    def read_frame(self, payload: Payload) -> HookEvent | None:
        """The event as the plugin tells it."""
        name, session = get_text(payload, "event"), get_text(payload, "session")
        if name not in self.events or not session:
            return None
        return HookEvent(
            kind=self.events[name],
            name=name,
            session=session,
            agent=get_text(payload, "agent"),
            cwd=get_text(payload, "cwd"),
            source="startup" if name == "session.start" else "",
            drops_output=payload.get("drops_output") is True,
        )

    def read_action(self, payload: Payload, name: str, at: float) -> Action:
        """The call; an exit code decides."""
        call, result, threw = get_object(payload, "input"), get_object(payload, "output"), name == "tool.error"
        code = get_object(result, "metadata").get("exit")
        code = code if isinstance(code, int) else None
        return make_action(
            tool=get_text(call, "tool"),
            input=call.get("args"),
            output=get_text(result, "error" if threw else "output"),
            at=at,
            ok=not threw and result.get("isError") is not True and code in {None, 0},
            code=code,
            id=get_text(call, "callID"),
        )

    def write_answer(self, name: str, text: str) -> dict[str, object]:
        """What the plugin reads and hands on."""
        return {"text": text}


DIALECT = OpenCodeDialect
