"""Runs in the normal form of research: one JSON object per line, each with its steps."""

from collections.abc import Iterator

from insula.coding.hosts.payload import get_objects, get_text
from insula.coding.replay.readers import Row, TranscriptCall

SPACING = 1.0
"""Seconds between two calls of a run without a clock: what repeats there is not taken for waiting."""
_ACI = frozenset(
    ("open", "goto", "scroll_up", "scroll_down", "create", "edit", "search_dir", "search_file", "find_file", "submit")
)
"""The commands of SWE-agent's interface: tools, though it types them into its shell."""


def read_calls(row: Row) -> Iterator[TranscriptCall]:
    """The calls of a run, on a clock of its own: seconds from its beginning."""
    name = get_text(row, "set")
    for number, step in enumerate(get_objects(row, "steps")):
        yield _read_call(name, step, number)


def _read_call(name: str, step: Row, number: int) -> TranscriptCall:
    tool, arguments = _read_tool(name, get_text(step, "tool"), get_text(step, "action"))
    code, output = step.get("rc"), get_text(step, "obs")
    reward = step.get("reward")
    return TranscriptCall(
        tool=tool,
        input=arguments,
        output=f"Exit code {code}\n{output}" if code else output,  # so Claude Code words a failure
        at=SPACING * (number + 1),
        ok=code == 0 if isinstance(code, int) else None,
        thought=get_text(step, "thought"),
        reward=float(reward) if isinstance(reward, int | float) else 0.0,
        place=number,
    )


def _read_tool(name: str, tool: str, action: str) -> tuple[str, dict[str, str]]:
    word = action.split(maxsplit=1)[0] if action.strip() else ""
    if tool == "shell" and "sweagent" in name and word in _ACI:
        return word, {"command": action}
    if tool in {"bash", "shell", "ctf"}:
        return "Bash", {"command": action}
    return tool, {"query" if tool == "sql" else "code" if tool == "python" else "input": action}
