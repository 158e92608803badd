"""OpenCode 1.18: our plugin (opencode.js) tells what happens, in the form that OpenCode tells it, and reads the answer.

A tool that throws ends no `tool.execute.after`; it stands only in the part of the message that has become an error.
What is said of it the plugin puts behind that error when the message goes to the model. Where a program that the model
wrote has called a tool, the program reads the result, and what is said of it waits for the next event.
"""

from insula.coding.hosts.fields import Payload, fields, text
from insula.coding.step.action import Action, Event
from insula.coding.step.fingerprint import action

KINDS = {
    "session.start": "start",
    "chat.message": "prompt",
    "tool.execute.after": "action",
    "tool.error": "action",
    "session.idle": "stop",
}


def event(payload: Payload, at: float) -> Event | None:
    """What the plugin tells; None where it is nothing that the senses need."""
    name, session = text(payload, "event"), text(payload, "session")
    if name not in KINDS or not session:
        return None
    return Event(
        kind=KINDS[name],
        name=name,
        session=session,
        agent=text(payload, "agent"),
        cwd=text(payload, "cwd"),
        source="startup" if name == "session.start" else "",
        actions=(_action(payload, name, at),) if KINDS[name] == "action" else (),
        drops_output=payload.get("drops_output") is True,
    )


def _action(payload: Payload, name: str, at: float) -> Action:
    call, result = fields(payload, "input"), fields(payload, "output")
    code = fields(result, "metadata").get("exit")
    code = code if isinstance(code, int) else None
    return action(
        tool=text(call, "tool"),
        input=call.get("args"),
        output=text(result, "error") if name == "tool.error" else text(result, "output"),
        at=at,
        ok=name != "tool.error" and result.get("isError") is not True and code in {None, 0},
        code=code,
        id=text(call, "callID"),
    )


def answer(name: str, told: str) -> dict[str, object]:
    """What the plugin reads and hands on."""
    return {"text": told}


def context(tail: str) -> tuple[int, int]:
    """OpenCode keeps its sessions in a database, which a hook does not open."""
    return 0, 0


remarks = None
"""It keeps no record that tells of interrupts."""
turn = None
"""It tells no turn; calls that overlap in time are one."""
ask = None
"""It has no question of its own that a hook could put."""
