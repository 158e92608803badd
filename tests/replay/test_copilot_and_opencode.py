"""Sessions of Copilot CLI and OpenCode are read as far as they go, though cut, resumed, forked or of later versions."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula
from transcripts import Row, stamp, write

START = int(time.time()) - 86_400
CWD = "/home/dev/project"


def figures(*paths: Path) -> dict[str, Any]:
    return run_insula("replay", *paths, "--json").json


class Copilot:
    """A session of Copilot CLI that grows line by line, a second each."""

    def __init__(self, name: str = "c0") -> None:
        self.name, self.rows, self._calls = name, list[Row](), 0
        self.add("session.start", {"sessionId": name, "version": 1, "context": {"cwd": CWD}})

    def add(self, kind: str, data: Row, **more: str) -> "Copilot":
        at, last = stamp(START + len(self.rows)), f"{self.name}-{len(self.rows)}"
        row = {"type": kind, "data": data, "id": last, "timestamp": at, "parentId": None}
        self.rows.append({**row, **more})
        return self

    def says(self, prompt: str, **more: str) -> "Copilot":
        return self.add("user.message", {"content": prompt, "transformedContent": f"<now/>{prompt}", **more})

    def calls(self, tool: str, output: str, *, error: str = "", agent: str = "", **given: str) -> "Copilot":
        self._calls += 1
        call, mark = f"call-{self.name}-{self._calls}", {"agentId": agent} if agent else {}
        self.add(
            "assistant.message", {"messageId": f"m{self._calls}", "content": "I will.", "toolRequests": []}, **mark
        )
        self.add("tool.execution_start", {"toolCallId": call, "toolName": tool, "arguments": given}, **mark)
        ended = {"success": False, "error": {"message": output, "code": error}} if error else {"success": True}
        result = {} if error else {"result": {"content": output, "detailedContent": output}}
        return self.add("tool.execution_complete", {"toolCallId": call, **ended, **result}, **mark)

    def fails(self, times: int) -> "Copilot":
        for number in range(times):
            said = (
                f"cat: missing-{number}.txt: No such file or directory\n<shellId: {number} completed with exit code 1>"
            )
            self.calls("bash", said, command=f"cat missing-{number}.txt")
        return self

    def written(self, folder: Path) -> Path:
        return write(folder / self.name / "events.jsonl", *self.rows)


class OpenCode:
    """A session of OpenCode, as it is exported."""

    def __init__(self, name: str = "ses_1", parent: str = "") -> None:
        self.info: Row = {"id": name, "projectID": "p", "directory": CWD, "title": "t", "version": "1.2.20"}
        self.info |= {"parentID": parent} if parent else {}
        self.messages, self.at = list[Row](), START * 1_000

    def add(self, role: str, *parts: Row, **info: object) -> "OpenCode":
        self.at += 1_000
        parts = tuple({"id": f"prt_{self.at}_{number}", **part} for number, part in enumerate(parts))
        about = {"role": role, "id": f"msg_{self.at}", "sessionID": self.info["id"], "time": {"created": self.at}}
        self.messages.append({"info": {**about, **info}, "parts": list(parts)})
        return self

    def says(self, prompt: str, **more: object) -> "OpenCode":
        return self.add("user", {"type": "text", "text": prompt, **more})

    def calls(self, tool: str, output: str, *, code: int | None = None, status: str = "completed", **given: str):
        metadata = {"exit": code} if code is not None else {}
        state: Row = {"status": status, "input": given, "error" if status == "error" else "output": output}
        state |= {"metadata": metadata, "time": {"start": self.at + 1_100, "end": self.at + 1_500}}
        part = {"type": "tool", "callID": f"call_{self.at}", "tool": tool, "state": state}
        tokens = {"input": 100, "output": 10, "cache": {"read": 50, "write": 0}}
        return self.add("assistant", {"type": "step-start"}, {"type": "text", "text": "Now."}, part, tokens=tokens)

    def fails(self, times: int) -> "OpenCode":
        for number in range(times):
            said = f"cat: missing-{number}.txt: No such file or directory"
            self.calls("bash", said, code=1, command=f"cat missing-{number}.txt")
        return self

    def document(self) -> str:
        return json.dumps({"info": self.info, "messages": self.messages}, indent=2)

    def written(self, folder: Path, name: str = "") -> Path:
        path = folder / f"{name or self.info['id']}.json"
        path.write_text(self.document(), "utf-8")
        return path


# Both alike.


@pytest.mark.parametrize("host", ["copilot", "opencode"])
def test_calls_outcomes_and_where_the_agent_was_stuck_are_told(host: str, tmp_path: Path) -> None:
    session = (Copilot() if host == "copilot" else OpenCode()).says("Mend the parser.").fails(6)
    session.calls("bash", "ok\n<shellId: 9 completed with exit code 0>", command="make build").written(tmp_path)
    told = figures(tmp_path)
    assert (told["hosts"], told["tool_uses"], told["errors"], told["prompts"]) == ({host: 1}, 7, 6, 1)
    assert not told["incomplete"] and not [name for name in told["skipped"] if name.startswith("unknown")]
    (moment,) = told["worst"]
    assert moment["what"] == "bash cat missing-0.txt" and moment["project"] == "project"
    assert " turns in a row ended in similar errors." in moment["said"]


@pytest.mark.parametrize("host", ["copilot", "opencode"])
def test_what_a_person_turned_down_stopped_or_corrected_is_theirs(host: str, tmp_path: Path) -> None:
    if host == "copilot":
        session = Copilot().says("Mend the parser.").calls("bash", "ok", command="ls")
        session.add("tool.execution_start", {"toolCallId": "x", "toolName": "bash", "arguments": {"command": "npm i"}})
        denied = {"kind": "denied-interactively-by-user", "feedback": "No, use pnpm instead."}
        session.add("permission.completed", {"toolCallId": "x", "result": denied})
        session.add("tool.execution_complete", {"toolCallId": "x", "success": False, "error": {"code": "denied"}})
        session.add("abort", {"reason": "user_initiated"})
    else:
        said = "The user rejected permission to use this specific tool call with the following feedback: No, use pnpm."
        session = OpenCode().says("Mend the parser.").calls("bash", "ok", command="ls")
        session.calls("bash", said, status="error", command="npm i")
        session.add("assistant", error={"name": "MessageAbortedError", "data": {}})
    session.says("Never use npm here.").written(tmp_path)
    told = figures(tmp_path)
    assert (told["interrupts"], told["rejections"], told["prompts"]) == (1, 1, 2)


@pytest.mark.parametrize("host", ["copilot", "opencode"])
def test_what_the_client_says_in_the_users_name_is_not_theirs(host: str, tmp_path: Path) -> None:
    if host == "copilot":
        session = Copilot().says("Load it.", source="skill-pdf").says("Go.")
    else:
        session = OpenCode().says("The file was edited.", synthetic=True).says("Go.")
    session.calls("bash", "ok", command="ls").written(tmp_path)
    assert figures(tmp_path)["prompts"] == 1


@pytest.mark.parametrize("host", ["copilot", "opencode"])
def test_a_compaction_ends_what_was_in_the_context(host: str, tmp_path: Path) -> None:
    session = (Copilot() if host == "copilot" else OpenCode()).says("Go.").fails(3)
    if isinstance(session, Copilot):
        session.add("session.compaction_complete", {"success": True})
    else:
        session.add("assistant", {"type": "text", "text": "Summary."}, summary=True)
    session.fails(1).written(tmp_path)
    told = figures(tmp_path)
    assert (told["tool_uses"], told["errors"]) == (4, 4)
    assert not [name for name in told["skipped"] if name.startswith("unknown")]


@pytest.mark.parametrize("host", ["copilot", "opencode"])
def test_what_a_later_version_adds_is_named_and_the_rest_is_read(host: str, tmp_path: Path) -> None:
    session = (Copilot() if host == "copilot" else OpenCode()).says("Go.").calls("bash", "ok", command="ls")
    if isinstance(session, Copilot):
        session.add("hologram.shown", {"of": []}).add("tool.execution_complete", {"toolCallId": 7})
    else:
        session.add("assistant", {"type": "hologram"}).add("oracle").messages.append({"info": 3, "parts": "x"})
        session.messages.insert(0, {"parts": [7]})
    session.calls("bash", "ok", command="pwd").written(tmp_path)
    told = figures(tmp_path)
    assert (told["sessions"], told["prompts"]) == (1, 1) and told["tool_uses"] == 2
    assert [name for name in told["skipped"] if name.startswith("unknown")]


# Copilot CLI.


def test_a_session_of_copilot_without_its_beginning_goes_by_its_folder(tmp_path: Path) -> None:
    session = Copilot("c7").says("Go.").fails(5)
    write(tmp_path / "c7/events.jsonl", *session.rows[1:])
    (moment,) = figures(tmp_path)["worst"]
    assert moment["session"] == "c7"


def test_a_cut_line_of_copilot_loses_itself_alone(tmp_path: Path) -> None:
    path = Copilot().says("Go.").fails(3).written(tmp_path)
    path.write_bytes(path.read_bytes()[:-40])
    told = figures(path)
    assert (told["tool_uses"], told["errors"]) == (3, 2)


def test_a_subagent_of_copilot_has_senses_of_its_own(tmp_path: Path) -> None:
    session = Copilot().says("Go.")
    for number in range(4):
        session.calls(
            "bash", f"no-{number}: not found", error="failure", agent=f"agent-{number}", command=f"no-{number}"
        )
    session.add("user.message", {"content": "Look into it."}, agentId="agent-0").written(tmp_path)
    told = figures(tmp_path)
    assert (told["errors"], told["prompts"], told["worst"]) == (4, 1, [])


def test_tokens_of_copilot_are_those_that_its_end_counts(tmp_path: Path) -> None:
    usage = {"inputTokens": 900, "cacheReadTokens": 600, "outputTokens": 50}
    session = Copilot().says("Go.").calls("bash", "ok", command="ls")
    session.add("session.shutdown", {"modelMetrics": {"m": {"usage": usage}}, "currentTokens": 700}).written(tmp_path)
    assert figures(tmp_path)["tokens"] == 350


# OpenCode.


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_document_that_breaks_off_is_read_up_to_there(share: float, tmp_path: Path) -> None:
    path = OpenCode().says("Go.").fails(20).written(tmp_path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    told = figures(path)
    assert 20 * share - 3 < told["tool_uses"] < 21
    assert "breaks off" in told["incomplete"][str(path)]


def test_a_document_is_known_by_what_it_holds_whatever_it_is_called(tmp_path: Path) -> None:
    document = OpenCode().says("Go.").fails(2).document()
    (tmp_path / "full.jsonl").write_text(document, "utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/line.json").write_text(f"Exporting session\n{json.dumps(json.loads(document))}", "utf-8")
    (tmp_path / "package.json").write_text('{"name": "x"}', "utf-8")
    told = figures(tmp_path)
    assert (told["sessions"], told["files"], told["tool_uses"], told["passed_over"]) == (1, 2, 2, {})


def test_a_fork_counts_only_what_is_new(tmp_path: Path) -> None:
    first = OpenCode("ses_1").says("Go.").fails(2)
    first.written(tmp_path)
    fork = OpenCode("ses_2")
    fork.messages, fork.at = list(first.messages), first.at
    fork.calls("bash", "ok", command="ls").written(tmp_path)
    told = figures(tmp_path)
    assert (told["sessions"], told["tool_uses"], told["prompts"], told["tokens"]) == (2, 3, 1, 3 * 110)


def test_a_session_exported_again_tells_what_came_since(tmp_path: Path) -> None:
    session = OpenCode().says("Go.").calls("bash", "", status="running", command="make")
    session.written(tmp_path, "before")
    (call,) = [part for part in session.messages[-1]["parts"] if part["type"] == "tool"]
    call["state"] |= {"status": "completed", "output": "make: *** no rule", "metadata": {"exit": 2}}
    session.calls("bash", "ok", command="ls").written(tmp_path, "later")
    told = figures(tmp_path)
    assert (told["sessions"], told["files"], told["tool_uses"], told["errors"]) == (1, 2, 2, 1)


def test_a_subagent_of_opencode_belongs_to_the_session_that_sent_it(tmp_path: Path) -> None:
    OpenCode("ses_1").says("Go.").calls("task", "done", prompt="Look.").written(tmp_path)
    OpenCode("ses_2", "ses_1").says("Look.").calls("read", "x", filePath="a.py").written(tmp_path)
    told = figures(tmp_path)
    assert (told["sessions"], told["files"], told["tool_uses"], told["prompts"]) == (1, 2, 2, 1)


@pytest.mark.parametrize("host", ["copilot", "opencode"])
def test_what_was_said_broken_and_left_open_is_told(host: str, tmp_path: Path) -> None:
    patch = f"*** Begin Patch\n*** Update File: {CWD}/migrations/1.py\n@@\n-a\n+b\n*** End Patch"
    session = (Copilot() if host == "copilot" else OpenCode()).says("Never touch migrations/. Update CHANGELOG.md.")
    if isinstance(session, Copilot):
        session.calls("edit", "ok", path=f"{CWD}/migrations/1.py", old_str="a", new_str="b")
        session.add("assistant.message", {"messageId": "z", "content": "It is done."})
    else:
        session.calls("apply_patch", "ok", patchText=patch).add("assistant", {"type": "text", "text": "It is done."})
    session.written(tmp_path)
    told = figures(tmp_path)
    assert (told["given"], told["broken"], told["unmet"]) == (2, 1, 1)
