"""The moment of value, run: an agent that is stuck until a note reaches it, and an answer that ignores memory.

The model is scripted: it goes on varying its fix until its input holds a note, and says what memory contradicts until
it is asked once more. All else is real: the hook is installed as in Claude Code and called as Claude Code calls it, the
commands run, and the notes and verdicts are Insula's. `tools/moving.py` draws the run for the first page.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any, Literal, NamedTuple

from insula import Metacognition, TurnResult
from insula.coding.step.digest import VARIABLE
from insula.testing import FrozenClock, memory_store
from insula.types import Controls

Kind = Literal["user", "model", "tool", "insula"]
Json = dict[str, Any]


class Line(NamedTuple):
    """Something that was said or done in the run."""

    kind: Kind
    """By whom."""
    text: str


FILES = {
    "price.py": """\
import json

RATES = json.load(open("rates.json"))


def gross(net):
    return round(net * (1 + RATES["vat"]), 2)
""",
    "rates.json": '{"vat": 0.17}\n',
    "test_price.py": """\
from unittest import TestCase

from price import gross


class Price(TestCase):
    def test_gross(self):
        self.assertEqual(gross(100), 119.0)
""",
}
TASK = "Make the test pass: 100 net is 119 gross."
TEST = "python3 -m unittest"
ROUNDINGS = ('round(net * (1 + RATES["vat"]), 1)', 'round(net + net * RATES["vat"], 2)', 'net * (1 + RATES["vat"])')
MOST_STEPS = 12

Step = tuple[str, str, Json]
"""What the scripted model says, the tool that it calls, and with what."""


def runs(said: str) -> Step:
    """The test is run."""
    return said, "Bash", {"command": TEST}


def edits(said: str, file: str, old: str, new: str) -> Step:
    """A file is changed."""
    return said, "Edit", {"file_path": file, "old_string": old, "new_string": new}


def stuck() -> Iterator[Step]:
    """Another way to round, and the test again, without end."""
    yield runs("I run the test first.")
    before = FILES["price.py"].partition("return ")[2].strip()
    says = chain(["It must be the rounding.", "Another way to round, then."], cycle(["And another."]))
    for said, after in zip(says, cycle(ROUNDINGS), strict=False):
        yield edits(said, "price.py", before, after)
        yield runs("")
        before = after


def turned() -> Iterator[Step]:
    """What the note suggests: away from what the attempts had in common."""
    yield "All my changes were to the rounding. Where does 117 come from?", "Bash", {"command": "cat rates.json"}
    yield edits("The rate is wrong, not the rounding.", "rates.json", "0.17", "0.19")
    yield runs("")


class Agent:
    """A coding agent that treats its hooks as Claude Code does.

    Args:
        folder: where its home and its project are made.
        hooked: whether Insula is installed in it.
    """

    def __init__(self, folder: Path, *, hooked: bool = True) -> None:
        self.home, self.project = folder, folder / "shop"
        (folder / ".claude").mkdir()
        self.project.mkdir()
        for name, content in FILES.items():
            (self.project / name).write_text(content)
        python = str(Path(sys.executable).parent)
        self.env = {"HOME": str(folder), "PATH": os.pathsep.join((python, os.environ["PATH"])), VARIABLE: "off"}
        self.hooks: Json = {}
        self.calls = 0
        if hooked:
            command = [sys.executable, "-m", "insula.cli", "install", "claude-code"]
            subprocess.run(command, env=self.env, cwd=self.project, check=True, capture_output=True)
            self.hooks = json.loads((folder / ".claude/settings.json").read_text())["hooks"]

    def work(self) -> Iterator[Line]:
        """What happens between the task and its end."""
        yield Line("user", TASK)
        self.told("UserPromptSubmit", prompt=TASK)
        script = stuck()
        for _ in range(MOST_STEPS):
            step = next(script, None)
            if step is None:
                return
            said, tool, given = step
            if said:
                yield Line("model", said)
            yield Line(
                "tool",
                f"$ {given['command']}" if tool == "Bash" else f"edit {given['file_path']}: {given['new_string']}",
            )
            output, event = self.act(tool, given)
            if output:
                yield Line("tool", output)
            batch = {"tool_calls": [{key: event[key] for key in ("tool_name", "tool_input", "tool_use_id")}]}
            note = self.told(**event) + self.told("PostToolBatch", **batch)
            if note:
                yield Line("insula", note)
                script = turned()

    def act(self, tool: str, given: Json) -> tuple[str, Json]:
        """The line that matters of what a tool says, and what the hooks are told of the call."""
        self.calls += 1
        call: Json = {"tool_name": tool, "tool_input": given, "tool_use_id": f"call {self.calls}"}
        if tool == "Edit":
            file = self.project / given["file_path"]
            file.write_text(file.read_text().replace(given["old_string"], given["new_string"]))
            call["tool_input"] = {**given, "file_path": str(file)}
            return "", {"event": "PostToolUse", **call, "tool_response": {"filePath": str(file)}}
        done = self.run(given["command"])
        output = (done.stdout + done.stderr).strip()
        shown = next((line for line in output.splitlines() if "Error:" in line), output.splitlines()[-1])
        if done.returncode:
            return shown, {"event": "PostToolUseFailure", **call, "error": f"Exit code {done.returncode}\n{output}"}
        return shown, {"event": "PostToolUse", **call, "tool_response": {"stdout": output, "stderr": ""}}

    def told(self, event: str, **payload: object) -> str:
        """What the hooks of an event put before the model."""
        about = {"session_id": "moment", "cwd": str(self.project), "hook_event_name": event, **payload}
        found = ""
        for hook in (one for group in self.hooks.get(event, []) for one in group["hooks"]):
            said = self.run(hook["command"], json.dumps(about)).stdout
            found += json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""
        return found

    def run(self, command: str, said: str = "") -> "subprocess.CompletedProcess[str]":
        """A command in the project."""
        return subprocess.run(
            command, shell=True, cwd=self.project, env=self.env, input=said, capture_output=True, text=True, check=False
        )


def coding(*, hooked: bool = True) -> list[Line]:
    """The first scene."""
    with tempfile.TemporaryDirectory() as folder:
        return list(Agent(Path(folder), hooked=hooked).work())


FACT = "My sister Ana lives in Lisbon."
QUESTION = "Where does my sister Ana live?"


def answers(asked: str) -> str:
    """What the scripted model says: something else than it was told, until it hears of it."""
    return "She lives in Lisbon." if "Lisbon" in asked else "Ana lives in Porto."


def judged(result: TurnResult) -> str:
    """What a person is told of an answer."""
    return result.verdict.text if result.verdict else ""


async def remembered() -> tuple[TurnResult, TurnResult]:
    """What became of the first answer and of the second: on a clock that stands, as a picture names the day."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, embed=None, holdout=0.0, controls=Controls(retry=1))
        async with mind.turn("me", "monday", FACT) as turn:
            turn.finish("How lovely.")
        clock.advance(86_400)
        async with mind.turn("me", "tuesday", QUESTION) as turn:
            first = turn.finish(answers(turn.prompt))
            return first, turn.finish(answers(first.again))


def remembering() -> list[Line]:
    """The second scene."""
    first, second = asyncio.run(remembered())
    return [
        Line("user", f"(monday) {FACT}"),
        Line("user", f"(tuesday) {QUESTION}"),
        Line("model", first.response),
        Line("insula", first.again),
        Line("model", second.response),
        Line("insula", f"✓ {judged(second)}"),
    ]


def main() -> None:
    """Print both scenes."""
    for scene in (coding(), remembering()):
        for line in scene:
            print(f"{line.kind:>6}  {line.text}")
        print()


if __name__ == "__main__":
    main()
